/* pld.h - accounting by privacy-loss distributions: the tightest accountant, with every error of
 * truncation, discretisation and transform on the safe side. */

#ifndef COMPOSITION_PLD_H
#define COMPOSITION_PLD_H

#include "account/event.h"
#include "account/rounding.h"

#include <stdbool.h>

/* Which of the two numbers is asked for, and at which value of the other. */
struct composition_question {
    bool wants_epsilon; /* else delta */
    double at;
    bool quick; /* coarser grids, for searches, which ask often: the bounds hold as well */
};

/** Returns whether the accountant covers this event: every mechanism unsampled, LAPLACE, GAUSSIAN and
 * EXPONENTIAL also sampled, PURE and DISCRETE_LAPLACE then by their amplified epsilon. low is 0 where
 * the pair of an event is only an upper bound: EXPONENTIAL, and what is replaced in a sample. */
bool pld_covers(const struct privacy_event *event);

/**
 * Bounds the smallest epsilon at which the composition of all events is (epsilon, delta)-DP.
 *
 * out     out  low <= truth <= high; high can be INFINITY (delta beyond what is left after the
 *              events' own deltas)
 * events  in   (count) valid, covered; both CHECKed
 * delta   in   0 <= delta < 1
 *
 * Fails with STATUS_NO_MEMORY.
 * Ensures high <= 1.001 truth + 1e-12 unsampled, 1.01 truth sampled, within the ranges that
 * tests/vectors/dp_vectors.json spans; up to 10^4 runs of one event, epsilon below 1000: inside the
 * band of every reference value there, relative 1e-8 above it at most, sampled 1e-6. low of runs with
 * a density is as near (10^6 sampled Gaussians: within 0.3 % of high); of lists of more than
 * 128 different events, or of single losses between grid points, some percent below.
 * Cost: 10^6 runs of one event below 100 ms, 10^4 about as much; 1,000 different events 0.5 s.
 */
MUST_USE enum status pld_epsilon(struct interval *out, const struct privacy_event *events,
                                 size_t count, double delta);

/** The same the other way: bounds the smallest delta at this epsilon >= 0. */
MUST_USE enum status pld_delta(struct interval *out, const struct privacy_event *events,
                               size_t count, double epsilon);

#endif
