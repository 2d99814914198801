/* regret.h - how much worse than always playing the best expert, so far and at most. */

#ifndef EXPERTS_REGRET_H
#define EXPERTS_REGRET_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct regret {
    double *loss; /* (k) cumulative; owned */
    size_t count;
    double expected; /* sum over rounds of <p_t, l_t> */
    uint64_t rounds;
};

/** Starts with no round seen. Fails with STATUS_NO_MEMORY. CHECKs count >= 1. */
MUST_USE enum status regret_init(struct regret *regret, size_t count);
void regret_free(struct regret *regret);

/** Adds a round: the probabilities p_t (k) it was played with, which come from the rounds before
 * it, and the losses l_t (k) that were then released. */
void regret_observe(struct regret *regret, const double *probability, const double *loss);

/** Returns (1/T)(sum <p_t, l_t> - min_i sum l_t(i)) on the losses given, noise included; 0 for T =
 * 0. May be negative in a lucky run. */
double regret_average(const struct regret *regret);

struct regret_bound {
    double tight;    /* eta/8 + ln k/(eta T) + noise: Hoeffding's lemma */
    double textbook; /* eta + ln k/(eta T) + noise: Dwork and Roth (11.1) */
    double noise;    /* what the noise on the losses adds; about eta sigma^2/2; 0 without noise */
};

/**
 * Bounds the average regret of RWM(eta) on k experts over T rounds. One bound holds for two
 * expected values: of the true losses' regret, and of the regret that regret_average prints, on
 * noisy losses.
 *
 * prior_least  in  in (0, 1/k]: the smallest share of weight an expert began with; 1/k when equal,
 * else it takes the place of 1/k in the formula
 * sigma  in  >= 0: the standard deviation of the noise on one expert's mean loss in one round, a
 * sum of independent discrete Laplace variables; where rounds differ, the root of the mean
 * variance, if no round has more than n times that mean, n the fewest answers in a round. A grid
 * step's share of the mean loss is at most 1/eta.
 *
 * Proof. Let c_t = l_t + N_t be what is seen, N_t independent of the past, E exp(-eta N_t(i)) <=
 * M_t. For EVERY i, whatever the c_t: sum <p_t, c_t> - sum c_t(i) <= ln(1/p_1(i))/eta + sum mix_t,
 * where mix_t = <p_t, c_t> + (1/eta) ln sum_j p_t(j) exp(-eta c_t(j)). Given the past, Jensen's
 * inequality gives E mix_t <= <p_t, l_t> + (1/eta) ln(sum_j p_t(j) exp(-eta l_t(j)) M_t) <= eta/8 +
 * ln M_t/eta. The printed regret takes the i that is best on the noisy losses; the true one a fixed
 * i, and E <p_t, c_t> = E <p_t, l_t>. A sum of n discrete Laplace variables of step h and variance
 * v in all has ln M = -n ln(1 - (v/n)(cosh(eta h) - 1)/h^2) = sum_j a^j/(j n^(j-1)), a = v
 * (cosh(eta h) - 1)/h^2 <= v eta^2 (cosh(1) - 1); if a_t <= n mean(a), then mean(a_t^j)/n^(j-1) <=
 * mean(a)^j, so that the mean of ln M_t is at most -ln(1 - mean(a)). Nor is the noise term ever
 * more than 1 + sigma sqrt(k/T), since the losses lie in [0,1] and E max_i |sum_t N_t(i)| <= sigma
 * sqrt(k T).
 *
 * Returns all zero for k = 1. CHECKs rounds >= 1, sigma >= 0, and eta > 0 when k > 1.
 */
struct regret_bound regret_bound(size_t count, double prior_least, uint64_t rounds, double eta,
                                 double sigma);

#endif
