/* What of the machine is shown: what its log tells of agents and rounds, and no number of records. */

#include "coordinator/round_state.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

const char *const coordinator_phases[] = {PHASE_STATES(STATE_WORD)};
const size_t coordinator_phase_count = PHASE_COUNT;

/* clang-format off */
#define AGENT_STATES(STATE) \
    STATE(AGENT_ABSENT, "not connected", 0) \
    STATE(AGENT_SILENT, "silent", 0) \
    STATE(AGENT_NOT_READY, "not ready", 0) \
    STATE(AGENT_READY, "ready", 0) \
    STATE(AGENT_KEYED, "keys sent", 0) \
    STATE(AGENT_OFFERED, "answer offered", 0) \
    STATE(AGENT_ANSWERED, "answered", 0) \
    STATE(AGENT_DECLINED, "declined", 0) \
    STATE(AGENT_REFUSED, "broke the protocol", 0) \
    STATE(AGENT_UNLISTED, "not in the roster", 0) \
    STATE(AGENT_CUT, "cut for an attack", 0)
/* clang-format on */
enum agent_state { AGENT_STATES(STATE_NAME) AGENT_STATE_COUNT };

const char *const coordinator_agent_states[] = {AGENT_STATES(STATE_WORD)};
const size_t coordinator_agent_state_count = AGENT_STATE_COUNT;

const struct outcome *coordinator_look_outcome(const struct coordinator *coordinator)
{
    return &coordinator->outcome;
}

struct coordinator_view coordinator_look(const struct coordinator *coordinator)
{
    const struct coordinator *c = coordinator;
    const uint32_t planned = job_round_count(c->options.job);
    const uint32_t closed = c->outcome.rounds_closed;
    const size_t came = c->cohort.ready + c->cohort.refusing;
    uint32_t within;
    return (struct coordinator_view){
        .phase = coordinator_phases[c->phase],
        .id = c->outcome.job_name.id,
        .stage =
            closed < planned ? task_name(job_stage_of(c->options.job, closed, &within)->task) : "",
        .closed = closed,
        .planned = planned,
        .failed = c->outcome.failed,
        .ready = cohort_count_ready(&c->cohort),
        .ready_all = coordinator_count_ready(c),
        .undecided = coordinator_collects(c) ? coordinator_count_undecided(c, c->stepped_ms) : 0,
        .unready = c->cohort.seen > came ? c->cohort.seen - came : 0,
        .refusing = c->cohort.refusing,
        .open = c->phase == PHASE_OPEN ? (uint64_t)closed + 1 : 0,
        .settled = c->phase == PHASE_OPEN && c->collecting.settled ? (uint64_t)closed + 1 : 0,
        .answers = cohort_count(&c->cohort, STANDING_ANSWERED),
        .deadline_ms = c->deadline_ms,
        .over = c->outcome.finished,
        .collector_count = c->collecting.count,
        .agent_count = c->cohort.count};
}

const char *coordinator_look_collector(const struct coordinator *coordinator, size_t index,
                                       uint64_t *ready)
{
    const struct collected *of = &coordinator->collecting.of[index];
    *ready = of->present ? of->ready : 0;
    return of->peer.name;
}

void coordinator_look_refusing(const struct coordinator *coordinator, char *text, size_t size)
{
    const struct cohort *cohort = &coordinator->cohort;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < cohort->count && cohort->refusing > 0; i++) {
        const struct member *member = &cohort->member[i];
        if (!member->admitted || member->declines == 0) {
            continue;
        }
        const char *and = used > 0 ? ", " : "";
        if (used + strlen(and) + strlen(member->peer.name) + sizeof ", ..." > size) {
            (void)snprintf(text + used, size - used, "%s", used > 0 ? ", ..." : "");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", and, member->peer.name);
    }
}

/* As round_wait.c says it in the log. */
static enum agent_state state_of(const struct member *member, int64_t now_ms)
{
    switch (member->standing) {
    case STANDING_ANSWERED:
        return AGENT_ANSWERED;
    case STANDING_UNLISTED:
        return AGENT_UNLISTED;
    case STANDING_DECLINED:
        return AGENT_DECLINED;
    case STANDING_REFUSED:
        return AGENT_REFUSED;
    case STANDING_COUNT:
    case STANDING_SILENT:
    case STANDING_OFFERED:
    case STANDING_PULLING:
    case STANDING_KEYED:
        break;
    }
    if (member->cut) {
        return AGENT_CUT;
    }
    if (!member->seen) {
        return AGENT_ABSENT;
    }
    if (member->standing == STANDING_OFFERED || member->standing == STANDING_PULLING) {
        return AGENT_OFFERED;
    }
    if (member->standing == STANDING_KEYED) {
        return AGENT_KEYED;
    }
    if (member->declines > 0) {
        return AGENT_DECLINED;
    }
    if (now_ms - member->heard_ms >= SILENT_MS) {
        return AGENT_SILENT;
    }
    return member->ready ? AGENT_READY : AGENT_NOT_READY;
}

const char *coordinator_look_agent(const struct coordinator *coordinator, size_t index,
                                   int64_t now_ms, size_t *state)
{
    CHECK(index < coordinator->cohort.count);
    const struct member *member = &coordinator->cohort.member[index];
    *state = (size_t)state_of(member, now_ms);
    return member->peer.name;
}
