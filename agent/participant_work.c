/* What a worker computes on the records, and the moment at which its result is looked at: whatever others may notice of a
 * computation happens then. */

#include "agent/participant_state.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "job/work.h"

#include <inttypes.h>
#include <string.h>

/* What the records were: a pass over them, and over them alone, is paid for once. Where raw cells are
 * asked about, these too: they may change where no feature does. */
static void dataset_digest(struct digest *digest, const struct dataset *data)
{
    const size_t m = data->record_count;
    uint8_t shape[16];
    struct slice parts[] = {{shape, sizeof shape},
                            {data->x, m * data->feature_count * sizeof *data->x},
                            {data->y, m * sizeof *data->y},
                            {data->raw, m * data->column_count * sizeof *data->raw},
                            {data->raw_label, m * sizeof *data->raw_label}};
    store_u64(shape, m);
    store_u64(shape + 8, data->feature_count);
    digest_sha256(digest, parts, data->raw == NULL ? 3 : data->raw_label == NULL ? 4 : 5);
}

/* Reads the records, and says beforehand how long that may take by public numbers. */
static void load(const struct participant *p, struct work *work)
{
    const struct source *source = &p->options.source;
    const uint64_t longest_ms =
        source->longest_ms == NULL ? 0 : source->longest_ms(source->self, &p->job.schema);

    if (longest_ms > READ_MS_MAX) {
        why_set(&work->why,
                "reading the table may take more than a day, by the dictionary's numbers: lower "
                "`records` or `line_bytes`");
        work->status = longest_ms == UINT64_MAX ? STATUS_NO_MEMORY : STATUS_INVALID;
        return;
    }
    work->longest_ms = longest_ms;
    work->status = source->load(source->self, &work->data, &p->job.schema, &work->why);
    if (work->status == STATUS_OK) {
        dataset_digest(&work->data_digest, &work->data);
    }
}

void work_run(void *self)
{
    struct participant *p = self;
    struct work *work = &p->work;

    if (work->kind == WORK_LOAD) {
        load(p, work);
    } else {
        work->status = task_run(&work->vector, &work->input, &work->why);
    }
}

/* What a computation's end is hidden in: a slot, or for the records the slots that reading them takes at most. */
static int64_t hiding_ms(const struct participant *p)
{
    const uint64_t slot_ms = p->options.policy->answer_slot_ms;
    return (int64_t)(slot_ms * (p->work.longest_ms / slot_ms + 1));
}

/* When what was computed may be looked at: at once, where the time that it took is public. */
static int64_t due_ms(const struct participant *p, int64_t now_ms)
{
    const int64_t hide_ms = hiding_ms(p);
    const int64_t times = (now_ms - p->invited_ms + hide_ms - 1) / hide_ms;
    if (p->work.kind == WORK_TASK && work_time_is_public(p->work.input.stage)) {
        return now_ms;
    }
    return p->invited_ms + (times > 0 ? times : 1) * hide_ms;
}

enum status work_on_worked(struct participant *p, const struct event *event)
{
    CHECK(p->work.kind != WORK_NONE && !p->work.done);
    p->work.done = true;
    p->work.due_ms = due_ms(p, event->now_ms);
    return p->work.status == STATUS_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_OK;
}

static void tell_overrun(const struct participant *p)
{
    const int64_t times = (p->work.due_ms - p->invited_ms) / hiding_ms(p);
    if (times <= 1 || (p->work.kind == WORK_TASK && work_time_is_public(p->work.input.stage))) {
        return;
    }
    if (p->work.kind == WORK_LOAD) {
        log_event(p->options.log, LOG_WARN, "reading-overrun", NULL,
                  "reading the table took longer than its bound of %" PRId64
                  " ms: is the disk slow, or are lines far longer than line_bytes?",
                  hiding_ms(p));
        return;
    }
    log_event(p->options.log, LOG_WARN, "slot-overrun", NULL,
              "round %" PRIu32 " takes %" PRId64 " slots: raise answer_slot_ms", p->round + 1,
              times);
}

enum status work_take(struct participant *p, const struct event *event, struct effects *effects)
{
    enum status status = STATUS_OK;
    tell_overrun(p);
    if (p->policy_changed) { /* nothing is charged under a policy that is no longer the site's */
        participant_abandon_round(p);
    } else {
        status = p->work.kind == WORK_LOAD ? job_on_loaded(p, event, effects)
                                           : round_on_worked(p, event, effects);
    }
    dataset_free(&p->work.data);
    private_vector_free(&p->work.vector);
    memset(&p->work, 0, sizeof p->work);
    return status;
}
