/* select_grid.h - a toy grid of score vectors, the probabilities of what a selection chooses on
 * each, and what privacy demands of them: for the exhaustive tests of selections. */

#ifndef TESTS_EXHAUSTIVE_SELECT_GRID_H
#define TESTS_EXHAUSTIVE_SELECT_GRID_H

#include "base/check.h"

#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { K = 3, LEVELS = 4, VECTORS = LEVELS * LEVELS * LEVELS, PRECISION = 400 };

/* The scores of vector number v. */
static inline void vector_of(int v, int64_t scores[K])
{
    for (int i = 0; i < K; i++) {
        scores[i] = v % LEVELS - 1;
        v /= LEVELS;
    }
}

static inline bool are_neighbours(int v, int w)
{
    int64_t x[K];
    int64_t y[K];
    bool near = true;
    vector_of(v, x);
    vector_of(w, y);
    for (int i = 0; i < K; i++) {
        near = near && x[i] - y[i] <= 1 && y[i] - x[i] <= 1;
    }
    return near;
}

static inline uint64_t distance_in(const int64_t scores[K], int i)
{
    int64_t best = scores[0];
    for (int j = 1; j < K; j++) {
        best = scores[j] < best ? scores[j] : best;
    }
    return (uint64_t)(scores[i] - best);
}

/* P(outcome) of each vector, by outcome. */
struct outcomes {
    mpfr_t p[VECTORS][K];
};

static inline struct outcomes *outcomes_new(void)
{
    struct outcomes *outcomes = calloc(1, sizeof *outcomes);
    CHECK(outcomes != NULL);
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpfr_init2(outcomes->p[v][i], PRECISION);
            mpfr_set_ui(outcomes->p[v][i], 0, MPFR_RNDN); /* it begins as no number */
        }
    }
    return outcomes;
}

static inline void outcomes_free(struct outcomes *outcomes)
{
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpfr_clear(outcomes->p[v][i]);
        }
    }
    free(outcomes);
}

/* e^epsilon times the doubt that the units leave. */
static inline void factor_of(mpfr_t out, uint64_t epsilon_micro)
{
    mpfr_set_ui(out, epsilon_micro, MPFR_RNDU);
    mpfr_div_ui(out, out, 1000000, MPFR_RNDU);
    mpfr_exp(out, out, MPFR_RNDU);
    mpfr_mul_d(out, out, 1 + 0x1p-50, MPFR_RNDU);
}

/* P(o|x) <= e^epsilon P(o|x') for all neighbours and outcomes. */
static inline bool is_private(const struct outcomes *outcomes, uint64_t epsilon_micro)
{
    bool private = true;
    mpfr_t factor;
    mpfr_t bound;
    mpfr_inits2(PRECISION, factor, bound, NULL);
    factor_of(factor, epsilon_micro);
    for (int v = 0; v < VECTORS; v++) {
        for (int w = 0; w < VECTORS; w++) {
            for (int i = 0; i < K && are_neighbours(v, w); i++) {
                mpfr_mul(bound, factor, outcomes->p[w][i], MPFR_RNDN);
                private = private && mpfr_cmp(outcomes->p[v][i], bound) <= 0;
            }
        }
    }
    mpfr_clears(factor, bound, NULL);
    return private;
}

/* Every vector's outcomes add up to 1. */
static inline void expect_whole(const struct outcomes *outcomes)
{
    mpfr_t sum;
    mpfr_init2(sum, PRECISION);
    for (int v = 0; v < VECTORS; v++) {
        mpfr_set_si(sum, -1, MPFR_RNDN);
        for (int i = 0; i < K; i++) {
            mpfr_add(sum, sum, outcomes->p[v][i], MPFR_RNDN);
        }
        cr_assert(mpfr_number_p(sum));
        cr_assert(mpfr_cmp_d(sum, 0x1p-100) < 0 && mpfr_cmp_d(sum, -0x1p-100) > 0);
    }
    mpfr_clear(sum);
}

#endif
