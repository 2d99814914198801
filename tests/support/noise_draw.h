/* noise_draw.h - vectors of noise by itself, which the programs only add to something. As the functions that add. */

#ifndef SUPPORT_NOISE_DRAW_H
#define SUPPORT_NOISE_DRAW_H

#include "noise/gaussian.h"
#include "noise/laplace_private.h"
#include "noise/share.h"

#include <string.h>

static inline enum status noise_gaussian_draw(const struct noise_gaussian *noise,
                                              const struct random *random, int64_t *values,
                                              size_t count)
{
    if (count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return noise_gaussian_add(noise, random, values, count);
}

static inline enum status noise_share_draw(const struct noise_share *noise,
                                           const struct random *random, int64_t *values,
                                           size_t count)
{
    if (count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return noise_share_add(noise, random, values, count);
}

static inline enum status noise_geometric_draw(const struct noise_geometric *noise,
                                               const struct random *random, int64_t *values,
                                               size_t count)
{
    if (count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return noise_trial_add(noise, random, TRIAL_GEOMETRIC, values, count);
}

#endif
