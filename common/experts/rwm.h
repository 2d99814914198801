/* rwm.h - Randomized Weighted Majority, "Hedge": play expert i with probability proportional to
 * exp(-eta L_i), L_i its losses so far. Here it works on losses that arrive private (local or
 * distributed trust), so it is post-processing and its floating point can leak nothing. Under
 * central trust the draw itself would be the release, and would have to be exact. */

#ifndef EXPERTS_RWM_H
#define EXPERTS_RWM_H

#include "base/random.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* k = count */
struct rwm {
    double *loss; /* (k) cumulative; owned */
    size_t count;
    double eta;
    uint64_t rounds; /* seen so far */
};

/** Returns sqrt(8 ln k/T), the eta that is best when privacy asks for nothing; 0 when k = 1: there
 * is nothing to choose. Rounded down. */
double rwm_eta_free(size_t count, uint64_t rounds);

/** Returns sqrt(8 ln k/(T (1 + 4 sigma^2))), the best eta when the losses carry noise of standard
 * deviation sigma: it minimises eta/8 + ln k/(eta T) + eta sigma^2/2, which is then at most
 * sqrt(ln k/(2T)) + sigma sqrt(2 ln k/T). Rounded down. */
double rwm_eta_noisy(size_t count, uint64_t rounds, double sigma);

/** Starts with all losses 0. Fails with STATUS_NO_MEMORY. CHECKs count >= 1, eta >= 0 and finite.
 */
MUST_USE enum status rwm_init(struct rwm *rwm, size_t count, double eta);
void rwm_free(struct rwm *rwm);

/** Gives the experts unequal weights (k) to begin with, as if their losses so far had differed: the
 * regret bound then has ln(1/smallest prior share) in place of ln k. CHECKs that each weight is
 * positive and finite, that no round was seen, and eta > 0 when k > 1. */
void rwm_set_prior(struct rwm *rwm, const double *weight);

/** Adds one round's losses (k); mean losses, nominally in [0,1], noise may carry them outside.
 * CHECKs that they are finite. */
void rwm_observe(struct rwm *rwm, const double *loss);

/** Writes the probabilities (k): softmax of -eta L, safe for any finite L (algorithm 16;
 * algorithm 15, a factor a round, gives the same). */
void rwm_probabilities(double *probability, const struct rwm *rwm);

/**
 * Writes for each expert how far the noise on the losses may have moved its probability: the one that the losses without noise
 * would give lies in low .. high for about 95 of 100 draws of the noise, whatever the losses are.
 *
 * low, high    out  (count)
 * probability  in   (count) of rwm_probabilities
 * deviation    in   >= 0, finite: eta times the noise's standard deviation on each cumulative loss, independent between experts
 *
 * Source: the delta method on the log odds (rwm_bars.c). It tells of the noise alone, and nothing of sampling.
 */
void rwm_bars(double *low, double *high, const double *probability, size_t count, double deviation);

/** Draws an expert from rwm_probabilities with 53 random bits. Fails with STATUS_NO_RANDOM. */
MUST_USE enum status rwm_draw(const struct rwm *rwm, const struct random *random, size_t *expert);

/** Returns the expert of least cumulative loss, which has the largest weight; the first one of a
 * tie. */
size_t rwm_leader(const struct rwm *rwm);

#endif
