/* What of the machine is shown. The worker's own part - whether it is done, and what it made - is not looked at. */

#include "agent/participant_state.h"

const char *const participant_phases[] = {JOB_STATES(STATE_WORD)};
const size_t participant_phase_count = JOB_PHASE_COUNT;

const char *const participant_round_phases[] = {ROUND_STATES(STATE_WORD)};
const size_t participant_round_phase_count = ROUND_PHASE_COUNT;

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
