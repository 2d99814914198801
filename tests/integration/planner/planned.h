/* planned.h - a job as `hedgerow plan job` reads it, two agents with records, and a round of its last stage
 * answered by the agents' own task and gate, the curator and the strategy. */

#ifndef TESTS_INTEGRATION_PLANNER_PLANNED_H
#define TESTS_INTEGRATION_PLANNER_PLANNED_H

#include "agent/gate.h"
#include "cli/plan_job.h"
#include "coordinator/curator.h"
#include "task/answer.h"
#include "task/close.h"
#include "tests/support/seeded_random.h"

enum { AGENTS = 2, RECORDS = 80, VALUES_MAX = 256 };

struct way {
    const char *unit;
    const char *trust;
    const char *label;
    const char *features; /* Fourier; NULL: the plain three */
    const char *repeated; /* in which @ stands for 40 */
    const char *before;   /* stages */
    const char *stage;    /* the one that is looked at */
    double bounded;       /* of the printed noise: a worst case that these records do not reach */
};

/* Records, a planned job, and the stage that is looked at. w = round_width */
struct planned {
    struct job_plan plan;
    const struct stage *stage;
    size_t index; /* of the stage */
    uint32_t first_round;
    size_t experts;
    double *experts_weights; /* (experts + 1, w) */
    struct dataset data[AGENTS];
    size_t order[RECORDS];
    struct peer agent[AGENTS];
    struct seeded_random seeded;
    struct random random;
    struct private_vector exact[AGENTS]; /* of the round that is looked at */
};

/** Plans the way's job, with records, experts and noise drawn from the seed. */
void planned_init(struct planned *bench, const struct way *way, uint64_t seed);
void planned_free(struct planned *bench);

/** Computes every agent's exact answer to the stage's round `within`; the caller frees them. */
void planned_compute(struct planned *bench, uint32_t within);

/** Adds one agent's answer, as it leaves the gate, to the sum; and what a curator adds. */
void planned_answer(int64_t *sum, struct planned *bench, size_t agent, uint32_t within);
void planned_add_noise(int64_t *sum, struct planned *bench, uint32_t within);

/** Writes what the coordinator releases of a sum, exact or noisy, in the unit of the printed lines; returns
 * how many numbers, at most VALUES_MAX. */
size_t planned_close(double *value, const struct planned *bench, int64_t *sum, uint32_t within);

#endif
