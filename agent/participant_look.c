/* What of the machine is shown. The worker's own part - whether it is done, and what it made - is not looked at. */

#include "agent/participant_state.h"

#include <assert.h>

const char *const participant_phases[] = {
    [JOB_NONE] = "no job",
    [JOB_FETCHING] = "fetching the job",
    [JOB_LOADING] = "reading the records",
    [JOB_WAITING] = "waiting for a person",
    [JOB_UNFIT] = "unfit",
    [JOB_REFUSED] = "refused",
    [JOB_READY] = "ready",
    [JOB_OVER] = "over",
};
const size_t participant_phase_count = sizeof participant_phases / sizeof participant_phases[0];
static_assert(sizeof participant_phases / sizeof participant_phases[0] == JOB_PHASE_COUNT,
              "a word for each state");

const char *const participant_round_phases[] = {
    [ROUND_IDLE] = "none",       [ROUND_FETCHING] = "fetching", [ROUND_KEYING] = "keying",
    [ROUND_KEYED] = "keyed",     [ROUND_WORKING] = "working",   [ROUND_COMMITTING] = "committing",
    [ROUND_WAITING] = "waiting", [ROUND_OFFERED] = "offered",   [ROUND_SIGNING] = "signing",
    [ROUND_SIGNED] = "signed",   [ROUND_DECLINED] = "declined",
};
const size_t participant_round_phase_count =
    sizeof participant_round_phases / sizeof participant_round_phases[0];
static_assert(sizeof participant_round_phases / sizeof participant_round_phases[0] ==
                  ROUND_PHASE_COUNT,
              "a word for each state");

/* The text of the job has been read. */
static bool has_job(const struct participant *p)
{
    return p->job_phase != JOB_NONE && p->job_phase != JOB_FETCHING;
}

struct participant_view participant_look(struct participant *participant, int64_t wall_ms)
{
    struct participant *p = participant;
    return (struct participant_view){.phase = participant_phases[p->job_phase],
                                     .round_phase = participant_round_phases[p->round_phase],
                                     .job = has_job(p) ? p->job.name : "",
                                     .id = p->name.id,
                                     .round = p->round,
                                     .in_round = p->round_phase != ROUND_IDLE,
                                     .ledger = gate_ledger(p->gate, wall_ms)};
}
