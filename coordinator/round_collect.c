/* A job that several coordinators serve. One leads: it closes rounds. The others are collectors: each holds agents of its own,
 * adds their answers up, and commits the sum with the agents' names. The one that leads adds these sums to its own. Sums are
 * integers, so the parts may come in any order.
 *
 * A collector closes no round. It follows the journal of the one that leads, and computes from it what its agents are asked
 * and told. Its parts of a round are records beside that journal. It hands one in when nobody is awaited, or at the deadline;
 * what comes later goes into a further part. After a death it reads its own parts first, and asks nobody who is in one. */

#include "base/text.h"
#include "coordinator/round_state.h"
#include "job/round.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool coordinator_collects(const struct coordinator *c)
{
    return c->options.collector != NULL && c->options.collector[0] != '\0';
}

enum status collecting_begin(struct collecting *collecting, const struct peer *name, size_t count)
{
    if (count == 0) {
        return STATUS_OK;
    }
    collecting->of = calloc(count, sizeof *collecting->of);
    if (collecting->of == NULL) {
        return STATUS_NO_MEMORY;
    }
    collecting->count = count;
    for (size_t i = 0; i < count; i++) {
        collecting->of[i].peer = name[i];
    }
    return STATUS_OK;
}

void collecting_free(struct collecting *collecting)
{
    free(collecting->of);
    free(collecting->agent);
    free(collecting->away);
    *collecting = (struct collecting){0};
}

void collecting_begin_round(struct collecting *collecting)
{
    free(collecting->agent);
    free(collecting->away);
    collecting->agent = collecting->away = NULL;
    collecting->agent_count = collecting->away_count = 0;
    collecting->records = 0;
    collecting->handed = 0;
    collecting->parts = 0;
    collecting->settled = false;
    for (size_t i = 0; i < collecting->count; i++) {
        collecting->of[i].settled = false;
    }
}

static bool awaits(const struct collected *collected)
{
    return !collected->settled && collected->missed < MISSED_MAX;
}

const char *collecting_why(const struct collected *collected)
{
    return collected->settled    ? NULL
           : !collected->present ? "a collector, says nothing"
                                 : "a collector, has not handed everything in";
}

bool collecting_is_complete(const struct collecting *collecting)
{
    size_t in = 0;
    while (in < collecting->count && !awaits(&collecting->of[in])) {
        in++;
    }
    return in == collecting->count;
}

bool collecting_is_present(const struct collecting *collecting)
{
    size_t i = 0;
    while (i < collecting->count && !collecting->of[i].present) {
        i++;
    }
    return i < collecting->count;
}

void collecting_note_missed(struct collecting *collecting)
{
    for (size_t i = 0; i < collecting->count; i++) {
        collecting->of[i].missed += awaits(&collecting->of[i]);
    }
}

size_t coordinator_count_ready(const struct coordinator *c)
{
    size_t count = cohort_count_ready(&c->cohort);
    for (size_t i = 0; i < c->collecting.count; i++) {
        const struct collected *of = &c->collecting.of[i];
        count += of->present ? (size_t)of->ready : 0;
    }
    return count;
}

size_t coordinator_count_answered(const struct coordinator *c)
{
    return cohort_count(&c->cohort, STANDING_ANSWERED) +
           (coordinator_collects(c) ? 0 : c->collecting.agent_count);
}

bool collecting_has(const struct collecting *collecting, const struct peer *agent)
{
    return collecting->agent_count > 0 && bsearch(agent, collecting->agent, collecting->agent_count,
                                                  sizeof *agent, text_order) != NULL;
}

static struct collected *find(struct collecting *collecting, const char *name)
{
    for (size_t i = 0; i < collecting->count; i++) {
        if (strcmp(collecting->of[i].peer.name, name) == 0) {
            return &collecting->of[i];
        }
    }
    return NULL;
}

/* Rounds wait again for one that is back, or that has answers. */
static void note_standing(struct coordinator *c, struct collected *of, const struct standing_of *is)
{
    const uint64_t open = (uint64_t)c->outcome.rounds_closed + 1;
    const bool was_there = of->present && of->ready > 0;
    if (is->present && is->ready > 0 && !was_there) {
        of->missed = 0;
        log_event(c->options.log, LOG_INFO, "collector-present", is->peer.name,
                  "has %" PRIu64 " agents that are ready", is->ready);
    } else if (of->present && !is->present && c->phase != PHASE_OVER) {
        log_event(c->options.log, LOG_WARN, "collector-silent", is->peer.name,
                  "says nothing more: rounds wait for it until their deadlines, twice");
    }
    of->present = is->present;
    of->ready = is->ready;
    of->undecided = is->undecided;
    of->settled = is->settled == open;
    if (of->settled || (is->open == open && is->answers > 0)) {
        of->missed = 0;
    }
}

/* The one that leads has a round open: so has a collector, with a little less time, as its part has to be there before. */
static enum status follow_open(struct coordinator *c, const struct event *event,
                               const struct standing_of *lead, struct effects *effects)
{
    enum { BEFORE = 8 }; /* a part of the time that is left */
    if (c->phase != PHASE_FOLLOWING || !lead->present ||
        lead->open != (uint64_t)c->outcome.rounds_closed + 1 || !c->outcome.begun ||
        c->outcome.state_is_old) {
        return STATUS_OK;
    }
    const int64_t most_ms = (int64_t)c->options.job->deadline_ms + c->options.job->patience_ms;
    const int64_t left_ms = lead->left_ms < 0         ? 0
                            : lead->left_ms > most_ms ? most_ms
                                                      : lead->left_ms;
    return coordinator_open(c, event->now_ms, left_ms - left_ms / BEFORE, effects);
}

enum status coordinator_on_standings(struct coordinator *c, const struct event *event,
                                     struct effects *effects)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < event->as.standings.count && status == STATUS_OK; i++) {
        const struct standing_of *is = &event->as.standings.of[i];
        struct collected *of = find(&c->collecting, is->peer.name);
        if (of != NULL) {
            note_standing(c, of, is);
        } else if (coordinator_collects(c) && is->peer.name[0] == '\0') {
            status = follow_open(c, event, is, effects);
        }
    }
    return status;
}

/* Where a job says a share, each answer is about as many records as its agent's dictionary makes of it. */
static bool records_fit(const struct coordinator *c, uint64_t records, size_t agents)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    return stage->batch_nano == 0
               ? records == 0
               : records >= (uint64_t)stage->batch * agents &&
                     records <= (uint64_t)round_batch(stage, stage->records_most) * agents;
}

/* Returns why a collector's part cannot be added; NULL: it can. */
static const char *why_not(const struct coordinator *c, const struct record *record,
                           struct slice blob)
{
    const struct peer *agent = record->as.partial.agent;
    const uint32_t count = record->as.partial.agent_count;
    if (blob.size != record->as.partial.blob_bytes || !aggregate_fits(&c->aggregate, blob.size)) {
        return "its sum has another size";
    }
    if (coordinator_count_answered(c) + count > c->answers_max) {
        return "the round's sum has no room for so many answers";
    }
    if (!records_fit(c, record->as.partial.records, count)) {
        return "it is about more or fewer records than the job allows";
    }
    for (size_t i = 0; i < count; i++) {
        if (!job_asks(c->options.job, agent[i].name)) {
            return "it has an answer of an agent whom the job does not ask";
        }
        if (collecting_has(&c->collecting, &agent[i]) ||
            cohort_has_answered(&c->cohort, &agent[i])) {
            return "it has an answer of an agent whose answer is in the sum already; remedy: each "
                   "agent on one list alone";
        }
    }
    return NULL;
}

/* list: (*count) by name, owned. */
static enum status merge(struct peer **list, size_t *count, const struct peer *more, size_t extra)
{
    if (extra == 0) {
        return STATUS_OK;
    }
    struct peer *grown = realloc(*list, (*count + extra) * sizeof *grown);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(grown + *count, more, extra * sizeof *grown);
    *list = grown;
    *count += extra;
    qsort(grown, *count, sizeof *grown, text_order);
    return STATUS_OK;
}

static enum status add_agents(struct collecting *collecting, const struct record *record)
{
    const enum status status = merge(&collecting->agent, &collecting->agent_count,
                                     record->as.partial.agent, record->as.partial.agent_count);
    collecting->records += record->as.partial.records;
    return status == STATUS_OK ? merge(&collecting->away, &collecting->away_count,
                                       record->as.partial.away, record->as.partial.away_count)
                               : status;
}

static enum status add_partial(struct coordinator *c, struct collected *of,
                               const struct record *record, struct slice blob)
{
    const char *because = why_not(c, record, blob);
    if (because != NULL) {
        log_event(c->options.log, LOG_ERROR, "collector-refused", of->peer.name,
                  "%" PRIu32 " answers that it collected are not counted in round %" PRIu32 ": %s",
                  record->as.partial.agent_count, c->outcome.rounds_closed + 1, because);
        return STATUS_OK;
    }
    enum status status = aggregate_add_part(&c->aggregate, blob);
    if (status == STATUS_OK) {
        status = add_agents(&c->collecting, record);
    }
    if (status == STATUS_OK) {
        of->missed = 0;
        log_event(c->options.log, LOG_DEBUG, "collector-counted", of->peer.name,
                  "brings %" PRIu32 " answers to round %" PRIu32, record->as.partial.agent_count,
                  c->outcome.rounds_closed + 1);
    }
    return status;
}

/* The open round at the leader; the next one at a collector that has handed it in. */
static enum status take_partial(struct coordinator *c, const struct event *event,
                                const struct record *record)
{
    const char *name = event->as.partial.collector.name;
    struct collected *of = find(&c->collecting, name);
    if (record->kind != RECORD_PARTIAL || strcmp(record->as.partial.collector, name) != 0 ||
        !digest_equal(&record->as.partial.job, &c->outcome.job_name.id)) {
        log_event(c->options.log, LOG_ERROR, "collector-refused", name,
                  "what it committed is of another job or collector: it is not counted");
        return STATUS_OK;
    }
    if (record->as.partial.round != c->outcome.rounds_closed) {
        return STATUS_OK;
    }
    if (coordinator_collects(c)) {
        return c->phase == PHASE_FOLLOWING ? add_agents(&c->collecting, record) : STATUS_OK;
    }
    return of != NULL && c->phase == PHASE_OPEN ? add_partial(c, of, record, event->as.partial.blob)
                                                : STATUS_OK;
}

enum status coordinator_on_partial(struct coordinator *c, const struct event *event)
{
    struct record record;
    enum status status = wire_decode_record(&record, event->as.partial.body);
    if (status != STATUS_OK) {
        log_event(c->options.log, LOG_ERROR, "collector-refused", event->as.partial.collector.name,
                  "what it committed cannot be read (%s); remedy: one version of hedgerow for all "
                  "that serve a job",
                  status_text(status));
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    }
    status = take_partial(c, event, &record);
    record_free(&record);
    return status;
}

enum status collecting_list(struct record *record, const struct coordinator *c)
{
    const struct collecting *more = &c->collecting;
    size_t count = record->as.round.agent_count;
    size_t away = record->as.round.away_count;
    enum status status = merge(&record->as.round.agent, &count, more->agent, more->agent_count);
    if (status == STATUS_OK) {
        status = merge(&record->as.round.away, &away, more->away, more->away_count);
    }
    record->as.round.agent_count = (uint32_t)count;
    record->as.round.away_count = (uint32_t)away;
    record->as.round.records += more->records;
    return status;
}
