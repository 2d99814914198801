/* How the coordinator begins: what its journal says is taken back, and then it names the job or goes on where the journal
 * ends. Of a masked round the journal keeps the roster and the survivors until the round is closed. */

#include "coordinator/round_state.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char JOB_LABEL[] = "hedgerow job 1";

/* What agents have to come back after a restart, though the job's time to wait for them is over: its first round may be
 * under way, and paid for. */
enum { RETURN_MS = 30000 };

static void keep_time(struct coordinator *c, const struct record *record)
{
    if (record->kind == RECORD_JOB) {
        c->begun_wall_ms = record->wall_ms;
    }
    if (record->wall_ms > c->known_wall_ms) {
        c->known_wall_ms = record->wall_ms;
    }
}

/* What is left of whole_ms, for which the job waits for agents, counted from its beginning. A clock that was set back has nothing to say: the
 * latest time in the journal has passed in any case. */
static int64_t join_left_ms(const struct coordinator *c, int64_t wall_ms, int64_t whole_ms)
{
    const int64_t join_ms = c->options.job->join_deadline_ms;
    const int64_t least_ms = join_ms < RETURN_MS ? join_ms : RETURN_MS;
    const int64_t known_ms = wall_ms > c->known_wall_ms ? wall_ms : c->known_wall_ms;
    const int64_t over_ms = c->begun_wall_ms >= 0 ? known_ms - c->begun_wall_ms : 0;
    return over_ms > whole_ms - least_ms ? least_ms : whole_ms - over_ms;
}

void coordinator_drop_kept(struct coordinator *c)
{
    free(c->kept.roster);
    c->kept = (struct kept_masks){.roster = NULL};
}

void coordinator_free_masks(struct coordinator *c)
{
    masks_host_free(c->masks);
    c->masks = NULL;
    coordinator_drop_kept(c);
}

enum status coordinator_forget_masks(struct coordinator *c, uint32_t round)
{
    const bool over = c->kept.roster != NULL && c->kept.round <= round;
    const uint64_t sequence = c->kept.sequence;
    if (!over) {
        return STATUS_OK;
    }
    coordinator_drop_kept(c);
    return stale_add(&c->stale, sequence, false);
}

static bool is_this_round(const struct coordinator *c, uint32_t round)
{
    return c->kept.roster != NULL && c->kept.round == round;
}

/* Takes a roster or a list of survivors. */
static enum status restore_masks(struct coordinator *c, const struct record *record,
                                 uint64_t sequence, struct slice blob)
{
    if (record->kind == RECORD_SURVIVORS) {
        if (is_this_round(c, record->as.survivors.round)) {
            memcpy(c->kept.survivors.byte, record->as.survivors.set.byte, MASKS_SET_BYTES);
            c->kept.settled = true;
        }
        return STATUS_OK;
    }
    enum status status = coordinator_forget_masks(c, record->as.roster.round);
    if (status != STATUS_OK || blob.size == 0) {
        return status; /* its round is closed, or the journal's end says that it is not */
    }
    c->kept.roster = malloc(blob.size);
    if (c->kept.roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(c->kept.roster, blob.data, blob.size);
    c->kept.size = blob.size;
    c->kept.round = record->as.roster.round;
    c->kept.width = record->as.roster.width == MASKS_32 ? MASKS_32 : MASKS_64;
    c->kept.sequence = sequence;
    return STATUS_OK;
}

enum status coordinator_begin_masks(struct coordinator *c)
{
    const struct job *job = c->options.job;
    const struct masks_terms terms = {
        .job = c->outcome.job_name.id,
        .round = c->outcome.rounds_closed,
        .sites_least = job->cohort_min,
        .dishonest = job->dishonest,
        .honest = job->honest,
        .width = is_this_round(c, c->outcome.rounds_closed) ? c->kept.width : MASKS_64};
    CHECK(c->masks == NULL);
    enum status status = masks_host_new(&c->masks, &terms, &c->invitation);
    if (status == STATUS_OK && is_this_round(c, c->outcome.rounds_closed)) {
        status = masks_host_restore(c->masks, (struct slice){c->kept.roster, c->kept.size});
        if (status == STATUS_OK && c->kept.settled &&
            masks_host_settle(c->masks, &c->kept.survivors, NULL) != STATUS_OK) {
            status = STATUS_CORRUPT;
        }
    }
    return status;
}

enum status coordinator_on_record(struct coordinator *c, const struct event *event)
{
    struct record record;
    enum status status = wire_decode_record(&record, event->as.record.body);
    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_JOB &&
        !digest_equal(&record.as.job.job.text_digest, &c->text_digest)) {
        log_event(c->options.log, LOG_ERROR, "journal-of-another-job", NULL,
                  "the journal belongs to another job text: give this job a state folder of its "
                  "own, or bring the old text back");
        status = STATUS_FOREIGN;
    } else if (record.kind == RECORD_ROSTER || record.kind == RECORD_SURVIVORS) {
        status = restore_masks(c, &record, event->as.record.sequence, event->as.record.blob);
    } else {
        status = outcome_add(&c->outcome, c->options.job, &record, event->as.record.blob);
    }
    if (status == STATUS_OK) {
        keep_time(c, &record);
    }
    if (status == STATUS_OK && record.kind == RECORD_ROUND) {
        status = coordinator_forget_masks(c, record.as.round.round);
    }
    if (status == STATUS_OK && record.kind == RECORD_ROUND && record.as.round.failed) {
        memcpy(c->failed_because, record.as.round.cause, sizeof c->failed_because);
    }
    if (status == STATUS_OK && record.kind == RECORD_ROUND && !record.as.round.failed &&
        !coordinator_collects(c)) {
        status =
            coordinator_keep_state(c, event->as.record.sequence, event->as.record.blob.size > 0);
        if (status == STATUS_OK) {
            status = curator_restore(c->curator, record.as.round.round, &c->outcome.hedge_before,
                                     &c->outcome.hedge);
        }
    }
    record_free(&record);
    return status;
}

enum status coordinator_on_start(struct coordinator *c, const struct event *event,
                                 struct effects *effects)
{
    c->started_ms = event->now_ms;
    if (coordinator_collects(c)) {
        coordinator_enter(c, PHASE_FOLLOWING);
        coordinator_end_if_over(c, event->now_ms);
        return STATUS_OK;
    }
    if (!c->outcome.begun) {
        struct job_name *name = &c->committing.as.job.job;
        c->committing = (struct record){.kind = RECORD_JOB, .wall_ms = event->wall_ms};
        enum status status = random_fill(c->options.random, name->nonce.byte, DIGEST_BYTES);
        if (status != STATUS_OK) {
            return status;
        }
        struct slice parts[] = {
            {JOB_LABEL, sizeof JOB_LABEL - 1}, {name->nonce.byte, DIGEST_BYTES}, c->options.text};
        digest_sha256(&name->id, parts, 3);
        name->text_digest = c->text_digest;
        name->text_bytes = (uint32_t)c->options.text.size;
        c->committing.as.job.trees = true;
        c->committing.as.job.shares = true;
        c->committing.as.job.protocol = PROTOCOL_VERSION;
        c->committing.as.job.text = malloc(c->options.text.size);
        if (c->committing.as.job.text == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(c->committing.as.job.text, c->options.text.data, c->options.text.size);
        coordinator_enter(c, PHASE_NAMING);
        return coordinator_commit(c, effects, (struct slice){0});
    }
    if (c->outcome.state_is_old) {
        return STATUS_CORRUPT; /* the latest state is dropped only for a later one */
    }
    stale_forget(&c->stale, effects); /* left by deaths between a commit and its forgetting */
    if (c->outcome.finished) {
        coordinator_enter(c, PHASE_OVER);
        c->deadline_ms = event->now_ms + c->options.linger_ms;
        if (c->outcome.failed) {
            /* There is nothing to fetch: the cause again, and out. */
            c->deadline_ms = event->now_ms;
            coordinator_tell_failed(c, c->failed_because[0] != '\0'
                                           ? c->failed_because
                                           : "the journal says that this job failed before");
        }
        return STATUS_OK;
    }
    if (c->outcome.rounds_closed == 0 ||
        c->cancelled_by[0] != '\0') { /* no round opens: it may be what cannot */
        coordinator_enter(c, PHASE_JOINING);
        const int64_t join_ms = c->options.job->join_deadline_ms;
        const int64_t patient_ms = join_ms + c->options.job->patience_ms;
        c->deadline_ms = event->now_ms + join_left_ms(c, event->wall_ms, join_ms);
        c->patient_ms = event->now_ms + join_left_ms(c, event->wall_ms, patient_ms);
        return STATUS_OK;
    }
    log_event(c->options.log, LOG_INFO, "job-resumed", NULL,
              "rounds in the journal: %" PRIu32 "; going on with the next",
              c->outcome.rounds_closed);
    return coordinator_open(c, event->now_ms, c->options.job->deadline_ms, effects);
}
