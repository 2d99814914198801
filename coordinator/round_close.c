/* From the last answer to the release: the outcome is made beside the loop, committed, and only then told. What a
 * commit changes in memory is done by outcome_add, the same function that recovery uses. */

#include "base/check.h"
#include "base/exit_code.h"
#include "coordinator/round_state.h"
#include "task/close.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum status coordinator_release(struct coordinator *c, struct member *member,
                                struct effects *effects)
{
    struct message release = {.kind = MESSAGE_RELEASE};
    CHECK(c->outcome.rounds_closed > 0);
    release.as.release.job = c->outcome.job_name.id;
    release.as.release.round = c->outcome.rounds_closed - 1;
    release.as.release.last = c->outcome.finished;
    release.as.release.failed = c->outcome.failed;
    release.as.release.experts = c->outcome.artifact;
    release.as.release.chosen = c->outcome.chosen;
    cohort_mark_untold(&c->cohort, member, TELL_RELEASE, false);
    return coordinator_send(effects, &member->peer, &release, (struct slice){0});
}

enum status coordinator_list_agents(struct record *record, const struct coordinator *c)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    const struct cohort *cohort = &c->cohort;
    size_t count = cohort_count(cohort, STANDING_ANSWERED);
    record->as.round.agent = calloc(count + 1, sizeof *record->as.round.agent);
    record->as.round.away =
        stage->turns > 0 ? calloc(count + 1, sizeof *record->as.round.away) : NULL;
    if (record->as.round.agent == NULL || (stage->turns > 0 && record->as.round.away == NULL)) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < cohort->count; i++) {
        const struct member *member = &cohort->member[i];
        if (member->standing != STANDING_ANSWERED || member->handed) {
            continue;
        }
        record->as.round.agent[record->as.round.agent_count++] = member->peer;
        record->as.round.records += member->records;
        if (stage->turns > 0 && !member->looked) {
            record->as.round.away[record->as.round.away_count++] = member->peer;
        }
    }
    return STATUS_OK;
}

static enum status list_all(struct coordinator *c)
{
    const enum status status = coordinator_list_agents(&c->committing, c);
    return status == STATUS_OK ? collecting_list(&c->committing, c) : status;
}

static void begin_record(struct coordinator *c, const struct event *event, bool failed)
{
    c->committing = (struct record){.kind = RECORD_ROUND, .wall_ms = event->wall_ms};
    c->committing.as.round.job = c->outcome.job_name.id;
    c->committing.as.round.round = c->outcome.rounds_closed;
    c->committing.as.round.failed = failed;
    c->committing.as.round.cancelled = failed && c->cancelled_by[0] != '\0';
    c->committing.as.round.duration_ms = (uint32_t)(event->now_ms - c->opened_ms);
    masks_host_free(c->masks);
    c->masks = NULL;
    coordinator_enter(c, failed ? PHASE_CLOSING : PHASE_WORKING);
}

void coordinator_tell_failed(const struct coordinator *c, const char *cause)
{
    const bool cancelled = c->cancelled_by[0] != '\0' || c->outcome.cancelled;
    log_event(c->options.log, cancelled ? LOG_WARN : LOG_ERROR,
              cancelled ? "job-cancelled" : "job-failed", NULL,
              "%s: the job ends here; charges of those who answered stay spent", cause);
}

enum status coordinator_fail_because(struct coordinator *c, const struct event *event,
                                     const char *cause, struct effects *effects)
{
    coordinator_tell_failed(c, cause);
    begin_record(c, event, true);
    (void)snprintf(c->committing.as.round.cause, RECORD_CAUSE_BYTES, "%s", cause);
    enum status status = list_all(c);
    aggregate_free(&c->aggregate);
    cohort_forget_answers(&c->cohort);
    return status == STATUS_OK ? coordinator_commit(c, effects, (struct slice){0}) : status;
}

void coordinator_note_cancelled(struct coordinator *c, struct slice by)
{
    const char *text = by.data;
    size_t size = 0;
    while (size < by.size && size < CANCELLED_BY_BYTES - 1 && text[size] >= ' ' &&
           text[size] <= '~') { /* the record takes one printable line */
        c->cancelled_by[size] = text[size];
        size++;
    }
    c->cancelled_by[size] = '\0';
    if (by.size > 0 && size == 0) {
        (void)snprintf(c->cancelled_by, sizeof c->cancelled_by, "an operator");
    }
}

enum status coordinator_cancel_if_due(struct coordinator *c, const struct event *event,
                                      struct effects *effects)
{
    char cause[RECORD_CAUSE_BYTES];
    const bool due = c->phase == PHASE_JOINING || c->phase == PHASE_KEYING ||
                     c->phase == PHASE_OPEN || c->phase == PHASE_OPENING;
    if (c->cancelled_by[0] == '\0' || !due || coordinator_collects(c)) {
        return STATUS_OK;
    }
    if (c->phase == PHASE_JOINING) {
        c->opened_ms = event->now_ms;
    }
    (void)snprintf(cause, sizeof cause, "cancelled by %s", c->cancelled_by);
    return coordinator_fail_because(c, event, cause, effects);
}

enum status coordinator_fail(struct coordinator *c, const struct event *event,
                             struct effects *effects)
{
    size_t answered = coordinator_count_answered(c);
    bool joining = c->phase == PHASE_JOINING;
    char missing[MISSING_BYTES];
    char cause[RECORD_CAUSE_BYTES];

    coordinator_tell_missing(c, event->now_ms, missing, sizeof missing);
    const bool keying = c->phase == PHASE_KEYING;
    const size_t least = coordinator_least(c);
    const bool late = joining && event->now_ms >= c->deadline_ms;
    const bool settled = c->masks != NULL && masks_host_is_settled(c->masks);
    (void)snprintf(cause, sizeof cause,
                   "round %" PRIu32 ": %zu agents %s, the job needs %zu (%s); missing: %s",
                   c->outcome.rounds_closed + 1,
                   joining  ? coordinator_count_ready(c)
                   : keying ? cohort_count(&c->cohort, STANDING_KEYED)
                            : answered,
                   late      ? "were ready before the join deadline"
                   : joining ? "were ready and the others declined"
                   : keying  ? "sent their keys"
                             : "answered",
                   least,
                   settled ? "all whose sum was to be opened"
                   : least > c->options.job->cohort_min
                       ? "signatures: above half of the sites plus cohort.dishonest"
                       : "cohort.minimum",
                   missing[0] != '\0' ? missing : "nobody on the list");
    if (joining) {
        c->opened_ms = event->now_ms;
    }
    return coordinator_fail_because(c, event, cause, effects);
}

void coordinator_free_work(struct coordinator *c)
{
    struct work *work = &c->work;
    closing_own_free(work->own, work->closing.own_count);
    closing_free(&work->closing);
    *work = (struct work){.own = NULL};
}

static enum status start_work(struct coordinator *c, const struct stage *stage, uint32_t within,
                              struct effects *effects)
{
    struct closing *closing = &c->work.closing;
    *closing = (struct closing){.job = c->options.job,
                                .stage = stage,
                                .within = within,
                                .outcome = &c->outcome,
                                .random = c->options.random,
                                .payer = curator_payer(c->curator),
                                .count = c->aggregate.count,
                                .record = &c->committing};
    enum status status = aggregate_take(&c->aggregate, &closing->sum);
    /* The step needs most memory. What agents fetched for this round is of no use to them any more. */
    outcome_forget_shown(&c->outcome);
    if (status == STATUS_OK) {
        status = cohort_take_own_answers(&c->work.own, &closing->own_count, &c->cohort);
    }
    closing->own = c->work.own;
    cohort_forget_answers(&c->cohort);
    return status == STATUS_OK && effects_add(effects, EFFECT_WORK) == NULL ? STATUS_NO_MEMORY
                                                                            : status;
}

void coordinator_work(void *self)
{
    struct coordinator *c = self;
    struct work *work = &c->work;
    struct closing *closing = &work->closing;
    work->status =
        curator_add_noise(c->curator, closing->sum, closing->count, closing->record->as.round.round,
                          closing->outcome->expert_count, &work->why);
    if (work->status == STATUS_OK) {
        work->status = task_close(closing->job, closing->stage)->close(closing);
    }
}

/* What the strategy made goes to the journal: new rows of the experts as the record's blob. */
static enum status commit_closing(struct coordinator *c, struct closing *closing,
                                  struct effects *effects)
{
    c->commit_rows = closing->rows;
    c->commit_rows_bytes = closing->row_count * closing->row_width * 8;
    closing->rows = NULL;
    c->committing.as.round.blob_bytes = c->commit_rows_bytes;
    coordinator_enter(c, PHASE_CLOSING);
    return coordinator_commit(c, effects, (struct slice){c->commit_rows, c->commit_rows_bytes});
}

/* Nothing of an exact sum outlives this: it is noisy, or wiped. */
enum status coordinator_on_worked(struct coordinator *c, struct effects *effects)
{
    CHECK(c->phase == PHASE_WORKING);
    enum status status = c->work.status;
    if (status == STATUS_OK) {
        status = commit_closing(c, &c->work.closing, effects);
    }
    if (c->work.why.text[0] != '\0') {
        log_event(c->options.log, LOG_ERROR, "noise-not-paid", NULL, "round %" PRIu32 ": %s",
                  c->outcome.rounds_closed + 1, c->work.why.text);
    }
    coordinator_free_work(c);
    return status;
}

enum status coordinator_close(struct coordinator *c, const struct event *event,
                              struct effects *effects)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    begin_record(c, event, false);
    enum status status = list_all(c);
    return status == STATUS_OK ? start_work(c, stage, within, effects) : status;
}

enum status coordinator_close_if_due(struct coordinator *c, const struct event *event,
                                     struct effects *effects)
{
    if (coordinator_collects(c)) {
        return coordinator_hand_in_if_due(c, event, effects);
    }
    switch (coordinator_judge_round(c, event->now_ms)) {
    case VERDICT_WAIT:
        return STATUS_OK;
    case VERDICT_FAIL:
        return coordinator_fail(c, event, effects);
    case VERDICT_CLOSE:
        break;
    }
    return c->masks != NULL ? coordinator_settle(c, event, effects)
                            : coordinator_close(c, event, effects);
}

enum status coordinator_keep_state(struct coordinator *c, uint64_t sequence, bool holds)
{
    enum status status = STATUS_OK;
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed - 1, &within);

    const bool keeps = task_close(c->options.job, stage)->keeps_state;

    if (keeps && within > 0 && c->state_sequence > 0) {
        status = stale_add(&c->stale, c->state_sequence, false);
    }
    c->state_sequence = keeps && holds ? sequence : 0;
    return status;
}

static enum status on_round_committed(struct coordinator *c, const struct event *event,
                                      struct effects *effects)
{
    double *rows = c->commit_rows;
    enum status status =
        outcome_add_own(&c->outcome, c->options.job, &c->committing, &rows, c->commit_rows_bytes);
    c->commit_rows = rows; /* NULL: it is the outcome's now */

    if (status == STATUS_OK) {
        status = coordinator_forget_masks(c, c->committing.as.round.round);
    }
    if (status == STATUS_OK && !c->committing.as.round.failed) {
        status = coordinator_keep_state(c, event->as.committed.sequence, true);
        stale_forget(&c->stale, effects);
    }
    if (status != STATUS_OK) {
        return status;
    }
    coordinator_tell_closed(c, &c->committing);
    record_free(&c->committing);
    free(c->commit_rows);
    c->commit_rows = NULL;
    c->commit_rows_bytes = 0;
    coordinator_tell_all(c, TELL_RELEASE);
    if (c->outcome.finished) {
        coordinator_enter(c, PHASE_OVER);
        c->deadline_ms = event->now_ms + c->options.linger_ms;
        return coordinator_tell_next(c, event->now_ms, effects);
    }
    return coordinator_open(c, event->now_ms, c->options.job->deadline_ms, effects);
}

enum status coordinator_on_committed(struct coordinator *c, const struct event *event,
                                     struct effects *effects)
{
    free(c->commit_body);
    c->commit_body = NULL;
    if (coordinator_collects(c)) {
        coordinator_handed_in(c, event->now_ms);
        return STATUS_OK;
    }
    if (c->phase == PHASE_CLOSING) {
        return on_round_committed(c, event, effects);
    }
    if (c->phase == PHASE_LISTING || c->phase == PHASE_SETTLING) {
        return coordinator_masks_committed(c, event, effects);
    }
    CHECK(c->phase == PHASE_NAMING);
    enum status status =
        outcome_add(&c->outcome, c->options.job, &c->committing, (struct slice){0});
    record_free(&c->committing);
    coordinator_enter(c, PHASE_JOINING);
    c->deadline_ms = event->now_ms + c->options.job->join_deadline_ms;
    c->patient_ms = c->deadline_ms + c->options.job->patience_ms;
    return status;
}
