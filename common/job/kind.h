/* kind.h - what the tasks differ in, one table entry each: how a stage is read and checked, and how
 * its answers are bounded. The agent's part is agent/task_*, the coordinator's
 * coordinator/strategy_*. Inside job only. */

#ifndef JOB_KIND_H
#define JOB_KIND_H

#include "job/draft.h"
#include "job/round.h"

struct stage_kind {
    enum task task;
    enum round_input input;
    bool is_drawn; /* under central trust: round.h */
    unsigned
        strategies;  /* bits by enum strategy; the lowest one is what a stage has that names none */
    unsigned trusts; /* bits by enum job_trust */
    unsigned units;  /* bits by enum job_unit */

    /** Reads what only this task has, and sets rounds, batch, batches and the charge. */
    enum status (*build)(const struct drafting *drafting, size_t index);

    /** The rows of a round; NULL where they are the stage's batches in their order, round_rows. */
    struct round_rows (*rows)(const struct stage *stage, uint32_t within);

    size_t (*answer_count)(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count);
    enum status (*bounds)(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why);
};

extern const struct stage_kind stage_fit;
extern const struct stage_kind stage_losses;
extern const struct stage_kind stage_online;
extern const struct stage_kind stage_predict;
extern const struct stage_kind stage_query;
extern const struct stage_kind stage_select;
extern const struct stage_kind stage_statistics;
extern const struct stage_kind stage_update;

/** Returns the entry of a task. */
const struct stage_kind *stage_kind(enum task task);

/** Answers whether a task learns models of a map's features. */
bool stage_learns(enum task task);

/** Reads `batch` into the stage, whose `first` and `batches` are set. A share becomes that of the fewest
 * records an agent may have. Fails with STATUS_INVALID. */
MUST_USE enum status stage_take_batch(const struct drafting *drafting, size_t index);

/** Reads a stage's forecasters, if it has any, before build. */
MUST_USE enum status stage_set_forecasters(const struct drafting *drafting, size_t index);

/** Once all stages are built: plans the plays of losses stages under central trust, and lowers their
 * eta until an agent's ledger will admit the whole job; of all stages of a known horizon alike, in
 * whatever order they are. */
MUST_USE enum status stage_set_draws(const struct drafting *drafting);

/** After that: finds the noise of the Gaussian one, which takes what the others leave of
 * the job's limit, by what an agent's ledger will admit. */
MUST_USE enum status stage_set_sigma(const struct drafting *drafting);

/** Refuses a loss that only judges. */
MUST_USE enum status stage_check_learnable(const struct drafting *drafting, size_t index);

/** Reads what fit and predict share: a round and a charge per lambda, tolerance, experts. */
MUST_USE enum status stage_build_fits(const struct drafting *drafting, size_t index);

/** Read lambdas into the stage, none twice; and the experts made of each, or of an update's model. */
MUST_USE enum status stage_build_lambdas(const struct drafting *drafting, size_t index);
MUST_USE enum status stage_build_experts(const struct drafting *drafting, size_t index);

/** Makes the stage's charge one for Gaussian noise; stage_set_sigma does the rest. */
MUST_USE enum status stage_take_gaussian(const struct drafting *drafting, size_t index);

#define STAGE_SHARE_TOO_SMALL                                                                      \
    "leaves an answer less than a millionth of epsilon: raise it, or list fewer lambdas"

/* What closing a round may take of the coordinator, which does nothing else meanwhile: some ten
 * seconds. */
enum { STAGE_FLOPS_MAX_LOG2 = 36 };

/* draft.h's refusals, for one stage. */
MUST_USE enum status stage_refuse(const struct drafting *drafting, size_t index, const char *key,
                                  const char *remedy);
bool stage_has(const struct drafting *drafting, size_t index, const char *key);

/** Copies a list to the job. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status stage_keep(double **out, const double *list, size_t count);
bool stage_has_twice(const double *list, size_t count);

#endif
