/* task.h - what an agent can be asked to compute on its records. A task knows nothing of budgets,
 * noise or the wire: it hands an exact integer vector and its sensitivity to the gate. */

#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include "base/status.h"
#include "base/why.h"
#include "job/job.h"
#include "learn/dataset.h"

#include <stddef.h>
#include <stdint.h>

/* An exact answer: private until the gate has added the noise that a grant paid for. */
struct private_vector {
    int64_t *value; /* (count) in grid units, owned */
    size_t count;
    int64_t low; /* public bounds of every value; the gate clips to them */
    int64_t high;
    uint64_t sensitivity_l1; /* replace-one, grid units, computed from public numbers alone */
};

/* The rows a round looks at, in the job's public order: what its charge is for. */
struct task_rows {
    uint64_t first;
    uint64_t count;
};

struct task_input {
    const struct job *job;
    const struct stage *stage;
    uint32_t within;            /* the round's number inside its stage */
    const struct dataset *data; /* (m, d) all records */
    const size_t *order;        /* (m) the job's public permutation of the rows */
    const double *experts;      /* (expert_count, d) what `losses` judges; NULL for `fit` */
    size_t expert_count;
};

/**
 * Computes a round's exact answer. The time it takes and whether it succeeds depend on sizes alone.
 *
 * Fails with STATUS_INVALID (a shape or a size the job does not allow; nothing about the values),
 * STATUS_NO_MEMORY.
 * Privacy: task_sensitivity bounds what one replaced record moves.
 */
MUST_USE enum status task_run(struct private_vector *out, const struct task_input *input,
                              struct why *why);

/** Decides before anything runs whether the task can be carried out on record_count records: solver
 * iterations, ranges, batches. Fails with STATUS_INVALID. */
MUST_USE enum status task_check(const struct stage *stage, size_t record_count,
                                size_t feature_count, struct why *why);

/** Bounds how far one replaced record can move the answer of round `within`, by public numbers: the
 * sensitivity that task_run's vector will carry. expert_count: what `losses` judges. Fails with
 * STATUS_INVALID. */
MUST_USE enum status task_sensitivity(uint64_t *sensitivity_l1, const struct stage *stage,
                                      uint32_t within, size_t record_count, size_t feature_count,
                                      size_t expert_count, struct why *why);

/** Returns the rows that round `within` of a stage looks at, of record_count. */
struct task_rows task_rows(const struct stage *stage, uint32_t within, size_t record_count);

/** Wipes and frees; private_vector_free(NULL) does nothing. */
void private_vector_free(struct private_vector *vector);

#endif
