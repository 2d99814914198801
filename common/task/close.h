/* close.h - what a round's sum becomes, close.c in each task's folder: new experts after `fit`, the model to
 * broadcast after `losses`. Under local trust the sum is noisy as it arrives; under central trust
 * the curator has made it so. Nothing here costs privacy but a draw under central trust, which takes
 * the curator's grant. Linked into the coordinator alone. */

#ifndef TASK_CLOSE_H
#define TASK_CLOSE_H

#include "base/random.h"
#include "job/round.h"
#include "task/outcome.h"

struct curator;
struct grant;

/* What pays for a draw, where round_is_drawn: coordinator/curator.h. */
struct closing_payer {
    struct curator *curator;
    enum status (*spend)(struct curator *curator, struct grant **grant, uint32_t round,
                         struct why *why);
    enum status (*open_play)(struct curator *curator, uint32_t round, struct why *why);
    enum status (*spend_play)(struct curator *curator, struct grant **grant,
                              const struct hedge_state *state, const struct stage *stage,
                              struct why *why);
};

/* An agent's own released answer, in grid steps. */
struct closing_own {
    int64_t *step;    /* (s) owned */
    uint32_t records; /* that it looks at, where the job says a share; else 0 */
};

/* A round at its end. w = round_width, s = round_stage_width */
struct closing {
    const struct job *job;
    const struct stage *stage;
    uint32_t within;
    const struct outcome *outcome; /* before this round */
    const struct closing_own
        *own; /* (own_count) in the order of the record's agents; where the stage
                                      keeps answers by name */
    size_t own_count;
    const struct random *random;
    struct closing_payer payer;
    int64_t *sum; /* (count) of the answers; owned, may be taken */
    size_t count;
    struct record *record; /* in/out: agent_count is set; chosen and sum are the strategy's */
    double *rows;          /* out: the record's blob, (row_count, row_width), owned */
    size_t row_count;
    size_t row_width; /* w; of `update` the optimiser's state's */
};

struct task_close {
    bool keeps_state; /* each round's rows take the place of those of the round before */

    const struct task_close *drawn; /* the entry where round_is_drawn; NULL: this one */

    /** Sets what the stage's first round starts from; may be NULL. Fails with STATUS_NO_MEMORY. */
    enum status (*start)(struct outcome *outcome, const struct stage *stage);

    /** Decides. Fails with STATUS_NO_RANDOM, STATUS_NO_MEMORY. */
    enum status (*close)(struct closing *closing);

    /** Adds the closed round's record to the outcome: what close decided, read back from the journal
     * or just committed. Fails with STATUS_CORRUPT, STATUS_NO_MEMORY. */
    enum status (*add)(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob);

    /** Writes what the history tells of the round beyond who answered, after add; may be NULL. Fails
     * with STATUS_NO_MEMORY. */
    enum status (*describe)(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record);
    bool
        is_shown; /* describe tells a loss and a weight of each expert, or answers alone, and needs no earlier round: OUTCOME_SHOWS has it */
};

#define CLOSE_PART(NAME, name) extern const struct task_close task_close_##name;
TASK_LIST(CLOSE_PART)
#undef CLOSE_PART
extern const struct task_close task_close_losses_drawn; /* losses under central trust */

/** What both start from: adds the stage's forecasters to the experts. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status closing_add_forecasters(struct outcome *outcome, const struct stage *stage);

/** Returns the entry of a stage. */
const struct task_close *task_close(const struct job *job, const struct stage *stage);

/** For tell: after the last round of a losses stage that judges directions (loss linear) says how often
 * each was played, LinearLearner's answer. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status closing_tell_plays(struct outcome_round *round, const struct outcome *outcome,
                                        const struct job *job, const struct record *record);

/** Adds words to what the history says of a round, after `between` where something stands already. Fails
 * with STATUS_NO_MEMORY. */
MUST_USE enum status closing_note(struct outcome_round *round, const char *between,
                                  const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Returns how many records a round's answers look at together. */
uint64_t closing_records(const struct stage *stage, const struct record *record);

/** Keeps the sum in the record: it is released. */
void closing_keep_sum(struct closing *closing);

/** Writes a model's moved thresholds (shift_count, s) after it, for two classes or a number. */
void closing_shift(double *model, const struct closing *closing);

/** Makes the stage's models (row_count, s) the record's blob, wide enough for every stage's map. Takes
 * rows. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status closing_keep_rows(struct closing *closing, double *rows, size_t row_count);

/** Names the experts that a round of fit or predict has made: the average's, its moved thresholds', the
 * agents' own. made: what goes before the lambda, "" or "distilled, ". */
void closing_name_fits(struct outcome_expert *expert, const struct stage *stage, uint32_t within,
                       const struct record *record, const char *made);

/** Returns the noise on every number of the round's sum, from public numbers alone: what an agent with
 * the fewest records that the job allows may have added, once for each agent under local trust. Of a
 * judgement among the outcome's experts. */
struct query_noise closing_noise(const struct outcome *outcome, const struct job *job,
                                 const struct stage *stage, uint32_t within, uint32_t agent_count);

/** Frees what a closing owns. */
void closing_free(struct closing *closing);

/** Frees the answers (count) and their list. closing_own_free(NULL, 0) does nothing. */
void closing_own_free(struct closing_own *own, size_t count);

/** Turns integer sums into means: sum 2^-grid_bits / divisor, in the same memory, which becomes the
 * caller's. */
double *closing_take_means(struct closing *closing, double divisor);

#endif
