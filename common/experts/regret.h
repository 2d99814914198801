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

MUST_USE enum status regret_init(struct regret *regret, size_t count);
void regret_free(struct regret *regret);

/** Adds a round: the probabilities p_t (k) it was played with, which come from the rounds before
 * it, and the losses l_t (k) that were then released. */
void regret_observe(struct regret *regret, const double *probability, const double *loss);

/** Returns (1/T)(sum <p_t, l_t> - min_i sum l_t(i)) on the losses given, noise included; 0 for T =
 * 0. May be slightly negative in a lucky run. */
double regret_average(const struct regret *regret);

struct regret_bound {
    double tight;    /* eta/8 + ln k/(eta T), Hoeffding's lemma; + noise */
    double textbook; /* eta + ln k/(eta T), Dwork and Roth (11.1); + noise */
    double noise;    /* what the noise on the losses adds; 0 without */
};

/**
 * Bounds the average regret of RWM(eta) on k experts over T rounds whose mean losses carry
 * independent noise of standard deviation sigma per expert and round.
 *
 * Returns all zero for k = 1. CHECKs rounds >= 1, and eta > 0 when k > 1.
 */
struct regret_bound regret_bound(size_t count, uint64_t rounds, double eta, double sigma);

#endif
