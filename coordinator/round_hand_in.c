/* A collector's part of a round, from its agents' answers to the record that closes it. */

#include "base/text.h"
#include "coordinator/round_state.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An agent is asked no longer once its name has cost this many parts. */
enum { DOUBLED_MAX = 2 };

void coordinator_mark_handed(struct coordinator *c)
{
    if (!coordinator_collects(c) || c->phase != PHASE_OPEN) {
        return;
    }
    c->collecting.handed = 0;
    for (size_t i = 0; i < c->collecting.agent_count; i++) {
        struct member *member = cohort_find(&c->cohort, &c->collecting.agent[i]);
        if (member != NULL && member->standing == STANDING_SILENT) {
            cohort_set_standing(&c->cohort, member, STANDING_ANSWERED);
            member->handed = true;
        }
    }
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        c->collecting.handed += member->handed;
        if (member->doubled >= DOUBLED_MAX && member->standing == STANDING_SILENT) {
            cohort_set_standing(&c->cohort, member, STANDING_DECLINED);
        }
    }
}

static enum status hand_in(struct coordinator *c, const struct event *event,
                           struct effects *effects)
{
    uint8_t *sum = NULL;
    size_t bytes = 0;
    struct record listed = {.kind = RECORD_ROUND};
    enum status status = coordinator_list_agents(&listed, c);
    if (status == STATUS_OK) {
        status = aggregate_pack(&c->aggregate, &sum, &bytes);
    }
    if (status != STATUS_OK) {
        record_free(&listed);
        return status;
    }
    c->commit_rows = (void *)sum;
    c->commit_rows_bytes = bytes;
    c->committing = (struct record){.kind = RECORD_PARTIAL,
                                    .wall_ms = event->wall_ms,
                                    .as.partial = {.job = c->outcome.job_name.id,
                                                   .round = c->outcome.rounds_closed,
                                                   .agent = listed.as.round.agent,
                                                   .agent_count = listed.as.round.agent_count,
                                                   .away = listed.as.round.away,
                                                   .away_count = listed.as.round.away_count,
                                                   .records = listed.as.round.records,
                                                   .blob_bytes = bytes}};
    memcpy(c->committing.as.partial.collector, c->options.collector,
           strlen(c->options.collector) + 1);
    coordinator_enter(c, PHASE_CLOSING);
    return coordinator_commit(c, effects, (struct slice){c->commit_rows, bytes});
}

/* Behind its deadline answers trickle in: they are handed in together. */
enum { TRICKLE_MS = 1000 };

static size_t count_fresh(const struct coordinator *c)
{
    return cohort_count(&c->cohort, STANDING_ANSWERED) - c->collecting.handed;
}

enum status coordinator_hand_in_if_due(struct coordinator *c, const struct event *event,
                                       struct effects *effects)
{
    const bool complete = c->cohort.admitted == 0 ||
                          cohort_count(&c->cohort, STANDING_ANSWERED) >= c->answers_max ||
                          cohort_is_complete(&c->cohort, event->now_ms, c->options.settle_ms);
    const size_t fresh = count_fresh(c);
    c->collecting.settled = complete && fresh == 0;
    return fresh > 0 && (complete || event->now_ms >= coordinator_hands_in_ms(c))
               ? hand_in(c, event, effects)
               : STATUS_OK;
}

int64_t coordinator_hands_in_ms(const struct coordinator *c)
{
    const int64_t next_ms = c->collecting.handed_ms + TRICKLE_MS;
    if (count_fresh(c) == 0) {
        return INT64_MAX;
    }
    return c->collecting.handed > 0 && next_ms > c->deadline_ms ? next_ms : c->deadline_ms;
}

void coordinator_end_if_over(struct coordinator *c, int64_t now_ms)
{
    if (c->phase == PHASE_FOLLOWING && c->outcome.finished) {
        coordinator_enter(c, PHASE_OVER);
        c->deadline_ms = now_ms + c->options.linger_ms;
        log_event(c->options.log, c->outcome.failed ? LOG_ERROR : LOG_INFO, "job-over", NULL,
                  "the job is over%s", c->outcome.failed ? ": it failed" : "");
    }
}

/* Parts of the next round are numbered anew. */
static void forget_parts(struct coordinator *c)
{
    c->collecting.parts = 0;
    for (size_t i = 0; i < c->cohort.count; i++) {
        c->cohort.member[i].part = 0;
    }
}

void coordinator_handed_in(struct coordinator *c, int64_t now_ms)
{
    const struct record *part = &c->committing;
    log_event(c->options.log, LOG_INFO, "part-collected", NULL,
              "round %" PRIu32 ": %" PRIu32 " answers are added up and handed in",
              part->as.partial.round + 1, part->as.partial.agent_count);
    c->collecting.parts++;
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        const bool answered = member->standing == STANDING_ANSWERED;
        member->part = answered && !member->handed ? c->collecting.parts : member->part;
        member->handed = answered;
    }
    c->collecting.handed = cohort_count(&c->cohort, STANDING_ANSWERED);
    c->collecting.handed_ms = now_ms;
    const bool stays = part->as.partial.round == c->outcome.rounds_closed;
    record_free(&c->committing);
    free(c->commit_rows);
    c->commit_rows = NULL;
    c->commit_rows_bytes = 0;
    if (!stays) {
        aggregate_free(&c->aggregate);
        cohort_forget_answers(&c->cohort);
        forget_parts(c); /* its round was closed before: the next record is of another one */
    }
    coordinator_enter(c, stays ? PHASE_OPEN : PHASE_FOLLOWING);
    coordinator_end_if_over(c, now_ms);
}

/* Its names are sorted (collecting_list). */
static bool lists(const struct record *record, const struct peer *agent)
{
    return record->as.round.agent_count > 0 &&
           bsearch(agent, record->as.round.agent, record->as.round.agent_count, sizeof *agent,
                   text_order) != NULL;
}

static void note_doubled(struct coordinator *c, struct member *member)
{
    if (++member->doubled == DOUBLED_MAX) {
        log_event(c->options.log, LOG_ERROR, "agent-twice", member->peer.name,
                  "is on the list of collector %s, whose log this is, and another coordinator of "
                  "this job counts an agent of this name: what was handed in here with its answer "
                  "did not count. It is asked no more here until a round is closed without this "
                  "name; remedy: take it off one of the lists",
                  c->options.collector);
    }
}

/* Another one may have missed that round alone: then the next part that is refused is enough. */
static void note_absent(struct coordinator *c, struct member *member)
{
    log_event(c->options.log, LOG_INFO, "agent-once", member->peer.name,
              "a round was closed without this name: collector %s asks it again",
              c->options.collector);
    member->doubled = DOUBLED_MAX - 1;
}

/* A part counts whole or not at all. If a round has only some of its names, the part did not count: these names are of
 * answers that others have handed in. If the part counted, no name is there twice. An agent that was not asked here for this
 * reason has its name in a round as long as another coordinator counts it. */
static void judge_doubled(struct coordinator *c, const struct record *record, bool *refused)
{
    for (size_t i = 0; i < c->cohort.count; i++) {
        const struct member *member = &c->cohort.member[i];
        CHECK(member->part <= c->collecting.parts);
        if (member->part > 0 && !lists(record, &member->peer)) {
            refused[member->part] = true;
        }
    }
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        const bool has = (member->part > 0 || member->doubled > 0) && lists(record, &member->peer);
        if (member->part > 0 && has && refused[member->part]) {
            note_doubled(c, member);
        } else if (member->part > 0 && has) {
            member->doubled = 0; /* its answer here counts */
        } else if (member->part == 0 && member->doubled >= DOUBLED_MAX && !has) {
            note_absent(c, member);
        }
    }
}

static bool has_doubled(const struct coordinator *c)
{
    size_t i = 0;
    while (i < c->cohort.count && c->cohort.member[i].doubled == 0) {
        i++;
    }
    return i < c->cohort.count;
}

static enum status find_doubled(struct coordinator *c, const struct event *event)
{
    const size_t room = (size_t)c->collecting.parts + 1;
    struct record record;
    enum status status = STATUS_OK;
    if (c->collecting.parts == 0 && !has_doubled(c)) {
        return STATUS_OK;
    }
    status = wire_decode_record(&record, event->as.record.body);
    if (status != STATUS_OK) {
        return status;
    }
    bool *refused = calloc(room, sizeof *refused);
    status = refused == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK && record.as.round.agent_count > 0) {
        judge_doubled(c, &record, refused);
    }
    free(refused);
    record_free(&record);
    return status;
}

enum status coordinator_follow(struct coordinator *c, const struct event *event,
                               uint32_t closed_before)
{
    enum status status = STATUS_OK;
    if (c->outcome.rounds_closed == closed_before) {
        return STATUS_OK; /* the job's own record */
    }
    if (!c->outcome.failed) {
        status = find_doubled(c, event);
    }
    if (c->phase == PHASE_OPEN) {
        if (count_fresh(c) > 0) {
            log_event(c->options.log, LOG_WARN, "round-without", NULL,
                      "round %" PRIu32 " was closed before %zu answers here were handed in",
                      closed_before + 1, count_fresh(c));
        }
        if (!c->outcome.failed && event->now_ms >= c->deadline_ms) { /* its agents had their time */
            cohort_note_missed(&c->cohort, c->opened_ms, event->now_ms, c->options.settle_ms);
        }
        aggregate_free(&c->aggregate);
        cohort_forget_answers(&c->cohort);
        coordinator_enter(c, PHASE_FOLLOWING);
    }
    c->followed_ms = event->now_ms;
    collecting_begin_round(&c->collecting);
    forget_parts(c);
    coordinator_end_if_over(c, event->now_ms);
    coordinator_tell_all(c, TELL_RELEASE);
    return status;
}
