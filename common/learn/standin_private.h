/* standin_private.h - what learn/standin.c and learn/standin_move.c share. Sizes are those of learn/standin.h. */

#ifndef LEARN_STANDIN_PRIVATE_H
#define LEARN_STANDIN_PRIVATE_H

#include "learn/standin.h"

#define STANDIN_TINY        1e-300 /* a norm that no division minds */
#define STANDIN_CURVE_LEAST 1e-12  /* where all p are 0 or 1 */

/** Returns how many labels there are: 0 and 1, or one for each output. */
size_t standin_label_count(const struct standin *standin);

/** Returns a label's chance. p: a row's probabilities (m); those of label 1 alone where there is one output. */
double standin_chance(const double *p, size_t outputs, size_t label);

/** Returns the norm of a row's gradient (p - y) u under the label. */
double standin_gradient_norm(const struct standin *standin, size_t row, size_t label);

/** Computes <u_i, v_o>. out  (N, m); v  (m, D) */
void standin_scores(double *out, const struct standin *standin, const double *v);

/** Computes p from the scores. out  (N, m); v  (m, D) */
void standin_probabilities(double *out, const struct standin *standin, const double *v);

/** Computes the mean of factor_io u_i. out  (m, D); factor  (N, m) */
void standin_combine(double *out, const struct standin *standin, const double *factor);

#endif
