/* work.h - what a stage asks of one agent's machine at most, by public numbers alone: operations and
 * memory. Agents decline by it what would not fit, and planners print it. */

#ifndef JOB_WORK_H
#define JOB_WORK_H

#include "job/job.h"

struct work_size {
    uint64_t records; /* of the agent, as many as its dictionary states */
    size_t agents;    /* whose models may be among the experts */
};

struct work_need {
    double flops; /* floating-point operations of one round, about, on the worst records */
    double bytes; /* of memory, the records and the answer included; the program itself is not */
};

/**
 * Tells what one round of stage `index` needs, the largest of the stage's.
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

/* Who is connected to a coordinator while a job runs. */
struct work_fleet {
    size_t agents;    /* that the job asks */
    size_t connected; /* all, these included */
    uint64_t
        window_bytes; /* the most that waits for an agent that fetches: what it has asked for, and has not had */
    uint64_t waiting_bytes; /* the most that waits for all together */
};

/** Returns how many bytes agents fetch at once, at most: the widest state of a stage, or the experts at the job's end. */
double work_fetched_bytes(const struct job *job, size_t agents);

/** Returns about how much memory a coordinator takes without a job: itself, and a connection for each agent, by what
 * tests/bench/federation/bench_many.c found. */
double work_of_connections(size_t connected);

/** Returns how much waits for the agents of a job while all fetch at once. */
double work_of_fetching(const struct job *job, struct work_fleet fleet);

/** Returns about how much memory a coordinator takes: its connections, some vectors of the widest round, and what waits for
 * agents while all fetch at once. Answers kept by name and each agent's own experts come on top. */
double work_of_coordinator(const struct job *job, struct work_fleet fleet);

/**
 * Tells the most operations of one round, of those stages whose time is not public: these must fit into a public
 * slot (answer_slot_ms), or the slot does not hide how long they took.
 *
 * stage  out  the first that needs it; flops is 0 where no stage needs a slot
 *
 * Fails as work_of_stage.
 */
MUST_USE enum status work_to_hide(double *flops, size_t *stage, const struct job *job,
                                  struct work_size size, struct why *why);

/** Returns the milliseconds of a slot that `flops` operations need, at `speed` operations a second, at least 1. They
 * are given WORK_SLOT_FACTOR times as long, for the machine has other work, too. */
uint64_t work_slot_ms(double flops, double speed);

enum { WORK_SLOT_FACTOR = 2 };

/**
 * Answers whether the time that one round of a stage takes an agent depends on public numbers alone:
 * sizes, never a value of a record. Such an answer leaves as soon as it is durable; the others wait
 * for a public slot.
 */
bool work_time_is_public(const struct stage *stage);

#endif
