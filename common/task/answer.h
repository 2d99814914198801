/* answer.h - what an agent can be asked to compute on its records. Linked into agents alone. A task knows nothing of budgets,
 * noise or the wire: it hands an exact integer vector and its sensitivity to the gate. */

#ifndef TASK_ANSWER_H
#define TASK_ANSWER_H

#include "base/random.h"
#include "base/status.h"
#include "base/why.h"
#include "job/round.h"
#include "learn/dataset.h"
#include "query/predicate.h"

#include <stddef.h>
#include <stdint.h>

/* An exact answer: private until the gate has added the noise that a grant paid for. */
struct private_vector {
    int64_t *value; /* (count) in grid units, owned */
    size_t count;
    struct round_groups
        groups; /* and which of them: what the gate places the numbers by, after the noise */
    uint32_t group;
    bool away;   /* it is the other sites' turn: no number of it is looked at */
    int64_t low; /* public bounds of every value; the gate clips to them */
    int64_t high;
    uint64_t sensitivity; /* of job/round.h: replace-one, grid units, from public numbers alone */
};

struct task_input {
    const struct job *job;
    const struct stage *stage;
    uint32_t within; /* the round's number inside its stage */
    uint32_t slot;   /* of this agent among those that are asked, as the coordinator says */
    bool away;       /* it is the others' turn: no record is looked at, and the answer is public */
    const struct dataset *data;  /* (m, d) all records */
    const size_t *order;         /* (m) the job's public permutation of the rows */
    const struct random *random; /* for the coins of Poisson sampling */
    const double *experts;       /* (expert_count, width), or the stage's state (round_state_count):
                                   the round's input; NULL without one */
    size_t expert_count;
    struct why *why; /* of a failure; may be NULL */
};

/** Returns record i of the public order as questions see it; borrows the data, which keep raw values. */
static inline struct row task_row(const struct task_input *input, uint64_t i)
{
    const struct dataset *data = input->data;
    const size_t at = input->order[i];
    return (struct row){.cell = data->raw + at * data->column_count,
                        .column_count = data->column_count,
                        .label = data->raw_label != NULL ? data->raw_label[at] : data->y[at],
                        .place = i,
                        .feature = data->x + at * data->feature_count,
                        .feature_count = data->feature_count};
}

/**
 * A task's own part: writes the round's values (round_answer_count; of a round that is shared out, those of a group), zero before, on the grid. Fails with STATUS_INVALID,
 * STATUS_NO_MEMORY, STATUS_NO_RANDOM. A select stage among experts asks losses for its own.
 */
#define ANSWER_PART(NAME, name)                                                                    \
    MUST_USE enum status answer_##name(int64_t *value, const struct task_input *input);
TASK_LIST(ANSWER_PART)
#undef ANSWER_PART

/* One model's part of an answer: out (width) is zero before the first model. */
typedef enum status task_solve(double *out, const struct task_input *input,
                               const struct dataset *data);

/**
 * For tasks: writes each output's part of an answer, width numbers, on the stage's grid. Of several classes each has a model
 * against the rest: solve gets the labels 1 of the class and -1 of the others. Fails as solve does, and with STATUS_NO_MEMORY.
 * Privacy: what is made on the way is wiped.
 */
MUST_USE enum status task_answer_outputs(int64_t *value, const struct task_input *input,
                                         size_t width, task_solve *solve);

/**
 * Computes a round's exact answer. The time it takes and whether it succeeds depend on sizes alone.
 *
 * Fails with STATUS_INVALID (a shape or a size the job does not allow; nothing about the values),
 * STATUS_NO_MEMORY.
 * Privacy: round_bounds says how far one replaced record moves it.
 */
MUST_USE enum status task_run(struct private_vector *out, const struct task_input *input,
                              struct why *why);

/** Decides before anything runs whether every round of the stage can be carried out on record_count
 * records: solver iterations, ranges, batches. Fails with STATUS_INVALID. */
MUST_USE enum status task_check(const struct job *job, const struct stage *stage,
                                size_t record_count, struct why *why);

/** Wipes and frees; private_vector_free(NULL) does nothing. */
void private_vector_free(struct private_vector *vector);

#endif
