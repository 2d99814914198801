/* work.h - what a stage asks of one agent's machine at most, by public numbers alone: operations and
 * memory. Agents decline by it what would not fit, and planners print it. */

#ifndef JOB_WORK_H
#define JOB_WORK_H

#include "job/job.h"

struct work_size {
    uint64_t records; /* of the agent, as many as it admits to */
    size_t agents;    /* whose models may be among the experts */
};

struct work_need {
    double flops; /* floating-point operations of one round, about, on the worst records */
    double bytes; /* of memory, the records and the answer included; the program itself is not */
};

/**
 * Tells what one round of stage `index` needs, the dearest of the stage's.
 *
 * Fails with STATUS_INVALID where the solver would refuse: see erm_plan and kernel_plan.
 * Ensures that every array counts whose size grows with records, features, classes or experts, while
 * the records are read and while a round is computed, whichever takes more.
 */
MUST_USE enum status work_of_stage(struct work_need *out, const struct job *job, size_t index,
                                   struct work_size size, struct why *why);

/**
 * Tells the largest memory of all stages.
 *
 * stage  out  the first that needs it
 *
 * Fails as work_of_stage.
 */
MUST_USE enum status work_memory(double *bytes, size_t *stage, const struct job *job,
                                 struct work_size size, struct why *why);

/**
 * Answers whether the time that one round of a stage takes an agent depends on public numbers alone:
 * sizes, never a value of a record. Such an answer leaves as soon as it is durable; the others wait
 * for a public slot.
 */
bool work_time_is_public(const struct stage *stage);

#endif
