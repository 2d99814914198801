/* bar.h - how far noise can have carried a released sum: standard deviations, tails, and the bars of
 * an answer. Everything is computed from public numbers alone. */

#ifndef QUERY_BAR_H
#define QUERY_BAR_H

#include <stdbool.h>
#include <stdint.h>

enum { QUERY_DRAWS_MAX = 10000 };

/* The noise on each coordinate of a released sum. */
struct query_noise {
    bool is_gaussian;    /* else Laplace; both discrete */
    double scale;        /* of one draw, unit: grid steps: Laplace scale, or sigma; finite, > 0 */
    uint32_t draws;      /* 1 .. QUERY_DRAWS_MAX: local trust: one for each agent; central: 1;
                         distributed: survivors/h, rounded up (a bound: bar.c) */
    double whole_noises; /* distributed: survivors/h as it is, >= 1; else 0: as many as draws */
};

/** Returns an upper bound on the noise's standard deviation: discrete noise varies a little less
 * than its continuous kin. Unit: grid steps. */
double query_noise_deviation(const struct query_noise *noise);

/**
 * Returns t such that P(|A + ratio B| > t) <= probability, for A and B two independent coordinates'
 * noise: a bar for one coordinate when ratio is 0. Unit: grid steps.
 *
 * ratio        in  0 .. 1
 * probability  in  1e-9 .. 1/2, of both sides together; with a ratio from 1e-6
 *
 * Ensures the inequality, for discrete noise as drawn; t is at most about 1 % and (1 + ratio) draws
 * steps larger than it must be.
 * Cost: with a ratio about 10^4 tails of `draws` additions each; without, 60.
 */
double query_noise_bar(const struct query_noise *noise, double ratio, double probability);

/* How often a sum of noise is beyond a point, at most. */

/**
 * Returns at least P(sum > x), sum the noise's draws as continuous variables of scale 1.
 *
 * x  in  finite, of either sign
 *
 * Ensures the bound. For more than 256 Laplace draws it is too large by a part in `draws`, and by at most 2 % close to 0.
 * Cost: 2 `draws` additions up to 256 draws, then none that grows.
 */
double query_noise_tail(const struct query_noise *noise, double x);

#endif
