/* gaussian.h - exact discrete Gaussian noise of rational sigma: P(z) ~ exp(-z^2/(2 sigma^2)). */

#ifndef NOISE_GAUSSIAN_H
#define NOISE_GAUSSIAN_H

#include "noise/scale.h"
#include "noise/table.h"

/* Prepared for one sigma; public parameters only. noise_gaussian_init fills it; it is
 * not to be copied or moved. */
struct noise_gaussian {
    struct noise_scale sigma;
    struct noise_table table;
};

/**
 * Prepares the table of one sigma.
 *
 * noise  out  caller owns; noise_gaussian_free, also after a failure
 *
 * Fails with STATUS_INVALID when noise_scale_is_valid does not hold for sigma, STATUS_NO_MEMORY.
 * Cost: below 1 ms; 20 KiB.
 */
MUST_USE enum status noise_gaussian_init(struct noise_gaussian *noise, struct noise_scale sigma);
void noise_gaussian_free(struct noise_gaussian *noise);

/**
 * Adds independent discrete Gaussian noise to every value, modulo 2^64.
 *
 * values  in/out  (count); on failure all zero
 *
 * Fails with STATUS_NO_RANDOM: everything drawn so far is thrown away.
 * Ensures the distribution is exactly the discrete Gaussian one modulo 2^64: no rounding anywhere.
 * Values come from trials that all take the same random bytes and path, accepted or not; how many
 * trials there are does not depend on what is accepted. Only the exact path is slower; its
 * probability is below 2^-42 per value (that of 8 sigma and more, which it draws, included). Which
 * of the table's rows is read depends on the value drawn. The whole table is read before every block
 * of trials and fits into a first cache of 32 KiB, so all rows are equally near, and no row is read
 * while a store is under way. What remains concerns only an observer who shares the processor's
 * cache.
 * Cost: 24 random bytes per trial; in a long vector about 1.05 (1 + P(0)) trials a value, at most
 * 1.09 (1 + P(0)). Allocates on the exact path alone.
 * Source: Canonne, Kamath, Steinke, NeurIPS 2020 (what is exact); table.c (how). Deviation: no
 * rejection from discrete Laplace; the distribution is the same.
 */
MUST_USE enum status noise_gaussian_add(const struct noise_gaussian *noise,
                                        const struct random *random, int64_t *values, size_t count);

/**
 * The sigma of one part, where the sum of `parts` has the variance of one noise.
 *
 * part   out  sigma/sqrt(parts), rounded up by less than 2^-48 of it; sigma itself for one part
 * parts  in   1 .. 10^6
 *
 * CHECKs noise_scale_is_valid. Memory of GMP's.
 */
void noise_gaussian_part(struct noise_scale *part, struct noise_scale sigma, uint64_t parts);

#endif
