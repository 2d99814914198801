/* laplace.h - exact discrete Laplace noise of rational scale s: P(z) = tanh(1/(2s)) exp(-|z|/s). */

#ifndef NOISE_LAPLACE_H
#define NOISE_LAPLACE_H

#include "noise/geometric.h"

/* Prepared for one scale; holds public parameters only. noise_laplace_init fills it. */
struct noise_laplace {
    struct noise_geometric magnitude;
};

/**
 * Prepares the tables of one scale.
 *
 * Fails with STATUS_INVALID when noise_scale_is_valid does not hold.
 * Cost: below 1 ms; memory of GMP's, which ends the program when there is none.
 */
MUST_USE enum status noise_laplace_init(struct noise_laplace *noise, struct noise_scale scale);

/**
 * Adds independent discrete Laplace noise to every value, modulo 2^64.
 *
 * values  in/out  (count); on failure all zero
 *
 * Fails with STATUS_NO_RANDOM: everything drawn so far is thrown away.
 * Ensures the distribution is exactly the discrete Laplace one modulo 2^64: no rounding anywhere.
 * Values come from trials that all take the same random bytes, path and time, accepted or not; how
 * many trials there are does not depend on what is accepted. Only the exact path is slower; its
 * probability is below 2^-41 per value. With AVX-512 no address depends on what is drawn; without,
 * table look-ups stay within 256 bytes per digit, which concerns only an observer who shares the
 * processor's cache.
 * Cost: 16 random bytes per trial up to scale 32, 24 above; 1 / (1 - (1 - exp(-1/s)) / 2) trials a
 * value up to 32, at most 1.05 above. Allocates on the exact path alone.
 * Source: Canonne, Kamath, Steinke, NeurIPS 2020 (what is exact); laplace_kernel_plain.c (how).
 */
MUST_USE enum status noise_laplace_add(const struct noise_laplace *noise,
                                       const struct random *random, int64_t *values, size_t count);

/** Replaces every value by such noise. The same otherwise. */
MUST_USE enum status noise_laplace_draw(const struct noise_laplace *noise,
                                        const struct random *random, int64_t *values, size_t count);

#endif
