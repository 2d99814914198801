/* curve.h - Renyi divergences of the worst pairs of neighbours, order alpha > 1; each rounded up,
 * >= 0, 0 where the distance is 0. Not for use outside this room. */

#ifndef ACCOUNT_CURVE_H
#define ACCOUNT_CURVE_H

/** Randomised response with this epsilon: the worst pair among all that are epsilon-DP. */
double curve_pure(double epsilon, double alpha);

/** Laplace noise: epsilon = sensitivity / scale. Source: Mironov 2017, proposition 6. */
double curve_laplace(double epsilon, double alpha);

/** Discrete Laplace noise of this rate = 1 / scale under a shift by a whole number >= 1. */
double curve_discrete_laplace(double rate, double shift, double alpha);

/** Gaussian noise, ratio = sensitivity / sigma; bounds discrete Gaussian noise too (Canonne,
 * Kamath, Steinke 2020, proposition 5). */
double curve_gaussian(double ratio, double alpha);

/** The worst pair of bounded range epsilon (Dong, Durfee, Rogers 2020), at its worst shift. */
double curve_bounded_range(double epsilon, double alpha);

/**
 * Searches alpha > 1 for the least value of a function that falls and then rises: a grid in
 * ln(alpha - 1) first, so that INFINITY and small steps of the bounds do no harm, then golden
 * section.
 *
 * value  in  never NAN
 * least  in  cheap, and never above value: where it says that there is nothing to gain value is not asked;
 *            may be NULL
 *
 * Returns the least value seen, so a bound that holds at every alpha.
 */
double minimise_order(double (*value)(double alpha, const void *context),
                      double (*least)(double alpha, const void *context), const void *context);

#endif
