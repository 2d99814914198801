/* share_private.h - the expansion of negative binomial probabilities, between share.c and
 * share_series.c. */

#ifndef NOISE_SHARE_PRIVATE_H
#define NOISE_SHARE_PRIVATE_H

#include "noise/share.h"

enum {
    SHARE_SERIES_TERMS = 12,
    SHARE_UNIT_END = 32 /* below it every number is a bin of its own */
};

/* What all bins' expansions have in common. */
struct share_series {
    mpfr_t two_delta;                  /* 1/h - 1 */
    mpfr_t rate;                       /* 1/s */
    mpfr_t weight[SHARE_SERIES_TERMS]; /* (2j)! q(j) */
    mpfr_t at_unit_end;                /* Gamma(k + 1/h)/k! at k = SHARE_UNIT_END */
};

void share_series_init(struct share_series *series, const struct noise_share *noise);
void share_series_clear(struct share_series *series);

/** struct noise_shape's expand; self is a struct noise_share with its series. */
void share_expand(const void *self, uint64_t start, unsigned size_bits, mpfr_t *term, mpfr_t value,
                  double *error);

#endif
