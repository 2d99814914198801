/* attack_data.h - data sets that are hard for a solver or a sensitivity bound. */

#ifndef TESTS_ATTACK_DATA_H
#define TESTS_ATTACK_DATA_H

#include "learn/dataset.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum attack {
    ATTACK_RANDOM,     /* directions and labels at random, norm 1 */
    ATTACK_ONE_CLASS,  /* the same, one class only */
    ATTACK_DUPLICATES, /* one record, over and over */
    ATTACK_CONFLICT,   /* one record with both labels in turn */
    ATTACK_AXES,       /* unit vectors: the Gram matrix is the identity */
    ATTACK_TINY,       /* norms of 0.02: almost no curvature but the regulariser's */
    ATTACK_SEPARABLE,  /* labels by the first coordinate, however small it is */
    ATTACK_ZERO,       /* features all zero */
    ATTACK_CONSTANT,   /* every column but the first is constant */
    ATTACK_NEAR,       /* one record over and over, but for 1e-9 */
    ATTACK_SCALES,     /* norms from 1 down to 1e-8 */
    ATTACK_COUNT
};

static inline void attack_record(double *x, double *y, size_t d, size_t i, enum attack attack,
                                 struct seeded_random *random)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        x[j] = 2 * seeded_random_unit(random) - 1;
        square += x[j] * x[j];
    }
    *y = attack != ATTACK_ONE_CLASS && seeded_random_below(random, 2) == 0 ? -1 : 1;
    double scale = (1 - 1e-12) / sqrt(square);
    scale *= attack == ATTACK_TINY ? 0.02 : attack == ATTACK_ZERO ? 0 : 1;
    for (size_t j = 0; j < d; j++) {
        x[j] *= scale;
    }
    if (attack == ATTACK_DUPLICATES || attack == ATTACK_CONFLICT || attack == ATTACK_AXES) {
        const size_t axis = attack == ATTACK_AXES ? i % d : 0;
        for (size_t j = 0; j < d; j++) {
            x[j] = j == axis ? 1 : 0;
        }
        *y = attack == ATTACK_CONFLICT && i % 2 == 1 ? -1 : 1;
    }
    if (attack == ATTACK_CONSTANT || attack == ATTACK_NEAR) {
        const double all = 1 / sqrt((double)d + 1); /* the one column has room up to twice that */
        for (size_t j = 0; j < d; j++) {
            const bool moves = attack == ATTACK_NEAR || j == 0;
            x[j] = all * (1 - 1e-9 + (moves ? 1e-9 * x[j] : 0));
            x[j] *= attack == ATTACK_CONSTANT && moves ? 2 * seeded_random_unit(random) - 1 : 1;
        }
    }
    if (attack == ATTACK_SCALES) {
        const double shrink = pow(10, -(double)(i % 9));
        for (size_t j = 0; j < d; j++) {
            x[j] *= shrink;
        }
    }
    if (attack == ATTACK_SEPARABLE) {
        *y = x[0] > 0 ? 1 : -1;
    }
}

static inline struct dataset attack_data(enum attack attack, size_t m, size_t d,
                                         struct seeded_random *random)
{
    struct dataset data = {.record_count = m, .feature_count = d};
    data.x = calloc(m * d, sizeof *data.x);
    data.y = calloc(m, sizeof *data.y);
    cr_assert(data.x != NULL && data.y != NULL);
    for (size_t i = 0; i < m; i++) {
        attack_record(data.x + i * d, &data.y[i], d, i, attack, random);
    }
    return data;
}

static inline double distance_between(const double *a, const double *b, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        square += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(square);
}

#endif
