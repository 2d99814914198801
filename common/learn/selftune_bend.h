/* selftune_bend.h - products of white columns, which bend a linear model where they tell something.
 *
 * u are the d white columns that a look at products makes. Their products are u_i u_j, i < j, and (u_i^2 - 1)/sqrt(2), row by
 * row: q = d (d + 1)/2 numbers. On normal columns they are white, too, and orthogonal to u (Hermite's polynomials). So a linear
 * model that is right leaves nothing along them.
 *
 * A step's columns are u and each product times a scale. The scales are 0 in the first step. The second one tries all products,
 * at a half. What is released there tells whether they stand out of the noise of privacy and of chance: all together by
 * their sum of squares, or one alone. If so, those that more likely than not are no noise stay, at scale 1. Else all are 0 again,
 * and the steps left are those of a linear model: a product of scale 0 adds nothing to a gradient's norm, so to its clip, so to
 * the noise on the columns. */

#ifndef LEARN_SELFTUNE_BEND_H
#define LEARN_SELFTUNE_BEND_H

#include "learn/selftune_private.h"

#include <stdint.h>

/**
 * Writes a record's products.
 *
 * q      out  (d (d + 1)/2)
 * u      in   (d)
 * scale  in   (d (d + 1)/2)
 *
 * Privacy: the same instructions and addresses whatever u is.
 */
void selftune_products(double *q, const double *u, const double *scale, size_t d);

/** Gives made-up rows their products, at scale 1, before standin_scale(). Fails with STATUS_NO_MEMORY; then they are freed. */
MUST_USE enum status selftune_bend_rows(struct standin *standin);

/** Returns the clip's quantile: a larger one where products have a scale. */
double selftune_bend_quantile(const struct selftune_parts *parts, const struct selftune *stage);

/**
 * Before a step: the second one chooses the products that stay. Later ones make steps shorter, up to 8 times, if the last overshot by
 * more than two standard deviations of the noise: then what is released points back, as the loss is steeper than it is on normal
 * columns.
 *
 * parts  in/out  scales, Pv, steep
 * g      in/out  (m, D) the released mean gradient less that of the model itself; that of products that do not stay becomes 0
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status selftune_bend(struct selftune_parts *parts, const struct selftune *stage,
                                   double *g, const struct selftune_news *news);

/**
 * Before a step: makes it and the next ones shorter along all directions, up to 8 times, if what is released points back along the
 * last one by more than two standard deviations of the noise, and, where no products are tried, half of the way. For stages of three
 * steps or more, from the second step on.
 */
void selftune_look_back(struct selftune_parts *parts, size_t m, const double *g,
                        const struct selftune_news *news);

/** After a step: agents see the scales of the next. */
void selftune_bend_next(struct selftune_parts *parts, size_t m, uint32_t step);

/**
 * Adds what the products of a model say, as a model of z and of z_i z_j, i <= j.
 *
 * w   in/out  (e + 1) of columns and a constant so far
 * v   in      (e + 1) the model in u and its products
 * mu  in      (d) followed by W and the scales
 */
void selftune_unbend(double *w, const double *v, const double *mu, const struct selftune *stage);

#endif
