/* features.h - from a record's raw values to its features: the public bounds first, then the
 * schema's map. The same on every machine, since every agent must mean the same by a weight. */

#ifndef LEARN_FEATURES_H
#define LEARN_FEATURES_H

#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

struct features; /* a schema's map, ready to be applied */

/**
 * Prepares a schema's map. n = schema_value_count, p = schema_plain_count, d =
 * schema_feature_count.
 *
 * schema  in  keeps what it owns; everything in it is as schema_check wants it
 *
 * Fails with STATUS_NO_MEMORY, and STATUS_INVALID where landmarks are so near each other that the
 * one tells nothing beside the others (`why` names it).
 * Cost: fourier O(D p) time and memory; nystrom O(k^3 + k p) for k landmarks.
 */
MUST_USE enum status features_new(struct features **out, const struct schema *schema,
                                  struct why *why);

/** Wipes the scratch and frees; features_free(NULL) does nothing. */
void features_free(struct features *features);

/* The value of a category's cell whose text is none of the categories; NAN is that of a missing one,
 * and of a number's cell that is missing or no number. */
#define FEATURES_UNLISTED (-1.0)

/** Returns (transform(value) - centre)/half_width, not yet clamped; -HUGE_VAL where the transform
 * does not reach; of a missing value what stands for it. */
double features_scaled(const struct column *column, double value);

/** Returns the label's own scale of a number: clamp((value - centre)/half_width, -1, 1); 0, which is
 * the centre, of a missing value. */
double features_label(const struct label *label, double value);

/**
 * Writes a record's features.
 *
 * out    out  (d) one block behind the other where there are several maps
 * value  in   (n) finite, a category by its index; or NAN, or FEATURES_UNLISTED for a category
 *
 * Without a map the plain vector. With one, (phi(x), c) with c = schema_constant, where
 * fourier:  phi(x) = c sqrt(2/D) (cos w_1.x, sin w_1.x, cos w_2.x, ...), D/2 frequencies w of the
 *           kernel's spectral density, drawn in integers (features_normal.h). The unpaired form
 *           sqrt(2/D) cos(w.x + b) has norms above 1 and is not used.
 * nystrom:  phi(x) = c L^-1 (K(x, l_1), ..., K(x, l_k)), L L^T = K(l, l): the same inner products
 *           as with the symmetric root K^(-1/2), by a rotation, and exact at the landmarks. A
 *           vector that rounding has taken out of the unit ball is divided by its norm.
 * products: phi(x) = s (z_1, ..., z_d, z_1 z_1, z_1 z_2, ..., z_d z_d), z the columns in -1 .. 1 and s the inverse root of
 *           twice their number.
 * Ensures ||out||_2 <= 1 in the reals, of each block; no number below 2^-400 but 0.
 * What holds of sameness: the frequencies come from integers and from IEEE 754's own operations,
 * and are the same bits everywhere. cos, sin, exp and log1p are the mathematical library's: two
 * libraries may give features that differ in the last bits (Nystrom: times the landmarks'
 * condition). That is far below any grid, and no bound rests on it.
 * Cost: fourier O(D p); nystrom O(k p + k^2). No allocation.
 * Source: Rahimi and Recht 2007; Williams and Seeger 2001. Deviation: pairs, and the Cholesky
 * factor in place of the symmetric root.
 */
void features_apply(struct features *features, double *out, const double *value);

/** For tests: the frequencies (D/2, p) of the first block's Fourier map, or NULL; valid as long as features. */
const double *features_frequencies(const struct features *features);

#endif
