/* study_hedge.h - one play of ten experts by any strategy, on losses that are fixed beforehand. For the
 * study of regret. */

#ifndef STUDY_HEDGE_H
#define STUDY_HEDGE_H

#include "base/status.h"
#include "base/why.h"
#include "experts/hedge_play.h"
#include "noise/laplace.h"

enum { STUDY_EXPERTS = 10, STUDY_KINDS = 3, STUDY_AGENT_RECORDS = 100 };

/* How a play goes wrong, for tests. */
enum study_fault {
    STUDY_SOUND,
    STUDY_BLIND,   /* never looks at a loss */
    STUDY_PEEKING, /* the losses look at the play first */
    STUDY_HASTY    /* twice the eta that is planned, where no privacy binds it */
};

/* The strategies of experts/hedge.h, then these two. */
enum { STUDY_NOT_PRIVATE = HEDGE_STRATEGIES, STUDY_LOCAL, STUDY_WAYS };

/* Everything a play needs. The first five are the caller's, the rest is prepared. */
struct study_hedge {
    unsigned way;
    unsigned kind;
    uint64_t rounds;
    enum study_fault fault;
    bool expects;          /* the outcome's mean is wanted, too */
    struct hedge_run game; /* of the private ways; the others use `one` alone */
    double eta;            /* not private, local */
    double sigma;          /* local: of the noise on a mean loss */
    struct noise_laplace noise;
};

/* One play: its regret per round, and the mean of it over the draws. */
struct study_outcome {
    double regret;
    double expected; /* 0 unless asked for */
};

/**
 * Plans a way of playing for epsilon 1, and delta 10^-6 where the way has one. Kinds of losses: 0
 * stochastic: fair coins, expert 3's better by a tenth; 1 switching: every tenth of the rounds another
 * expert is best, 3 in all; 2 adversarial: fixed by somebody who knows the strategy and its eta: two
 * halves take turns in losing, and at the end all experts but one lose.
 *
 * bound  out  of the average regret in the mean
 *
 * Fails with STATUS_INVALID.
 */
MUST_USE enum status study_hedge_prepare(struct study_hedge *play, double *bound, struct why *why);

/** Plays once. Private ways pay for every draw from a ledger of (1, 2 10^-6), whose filter keeps half
 * of delta for charges chosen as they go. Fails with STATUS_NO_MEMORY, STATUS_EXHAUSTED (the plan would
 * cost more). */
MUST_USE enum status study_hedge_run(struct study_outcome *outcome, const struct study_hedge *play,
                                     uint64_t seed, struct why *why);

#endif
