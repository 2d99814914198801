/* cells.h - counts of records by cell, behind noise, and functions of them. Every record is in exactly one
 * cell, so their exact total is public.
 *
 * m = how many cells there are. Gradients are (m): the derivative of a figure by each cell. */

#ifndef ESTIMATE_CELLS_H
#define ESTIMATE_CELLS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_Z 1.959963984540054 /* the normal distribution's 97.5 % point */

/* The 97.5 % point of one Laplace variable over its standard deviation. Sums of several are between it
 * and the normal distribution's. */
#define ESTIMATE_Z_NOISE 2.1183

/** Returns the number between low and high that is nearest to x. */
static inline double cells_within(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static inline double cells_square(double x)
{
    return x * x;
}

/** Subtracts from every cell its part of what the released total has above the public one. The cells' noise then has the
 * covariance v (I - 11'/m), v the variance of each before. */
void cells_balance(double *cell, size_t m, double total);

/** Returns the noise's covariance of two figures of balanced cells. sums: of the gradients' entries; product: of
 * the two. */
double cells_covariance(double product, double sum_a, double sum_b, size_t m, double variance);

/** Answers whether the noise alone may show a count, and it tells that there are a tenth of all records at most: nobody was
 * found. */
bool cells_is_hidden(double count, double variance, double all);

/** Returns the chance that a chi-squared variable exceeds x. freedom: degrees, at least 1. */
double chi_squared_above(double x, size_t freedom);

/** Returns the mean of a standard normal variable's part that is above -a: how far what is shown was moved on average, if it is a
 * deviations above the limit, and only what is above it is shown. */
double normal_mean_above(double a);

/** Returns how far above the limit that would be which is found `over` above it, in the mean of the shown: a, of a +
 * normal_mean_above(a) = over; not below -2. */
double normal_shown(double over);

/** Returns by how many deviations chance may have made a figure larger that is shown where it is above a limit, and was found
 * that many deviations above it: 2.665, the mean of the upper hundredth, at the limit, as one study in a hundred may show it;
 * less above one deviation from it, and nothing from three on. */
double normal_shown_most(double above);

/** Turns a symmetric positive definite a (n, n) into its Cholesky factor, in the lower half. Returns 0, or 1 + the row at
 * which a turns out not to be positive definite. */
size_t cholesky(double *a, size_t n);

/** Returns x' a^-1 x for a Cholesky factor of a; x (n) is overwritten. */
double cholesky_form(const double *factor, double *x, size_t n);

/** Solves a x = b for a Cholesky factor of a; x (n) holds b before. */
void cells_solve(const double *factor, double *x, size_t n);

/** Returns the fewest records with which something is given, within a twentieth; NAN: not even 2^30 do. is_given: whether it is
 * with so many; of: what else it asks, handed on. */
double cells_fewest_records(bool (*is_given)(double records, const void *of), const void *of);

/** Writes the next two normal variables of a sequence: for integrals, never for noise. out: (2); state: in/out, any number first */
void cells_normals(double *out, uint64_t *state);

/** Returns c so that P(max |Z_i| <= c) = 96 % for normal Z with the covariance `factor` is of, each over its own deviation:
 * from 2,000 draws of a fixed seed. A band of 95 % has the hundredth for the noise, whose tails are heavier. factor: (n, n).
 * 2.0 at least. */
double band_width(const double *factor, size_t n);

#endif
