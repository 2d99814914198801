/* law.h - probabilities of the binomial and the standard normal law to full precision, however small. For accountants. */

#ifndef ACCOUNT_LAW_H
#define ACCOUNT_LAW_H

/* How often `trials` >= 1 draws come out one way: with probability p, the other way with q = 1 - p,
 * each given to full precision, none 0 or 1 exactly. */
struct binomial {
    double trials;
    double p;
    double q;
};

/** Returns ln of the probability of exactly `hits` in 0 .. trials; errs by at most
 * law_binomial_error() there. */
double law_binomial_log(const struct binomial *binomial, double hits);

/** Returns ln of Chernoff's bound on the probability of `hits` or more (at or above the mean) or of
 * `hits` or less (below the mean); the same error. */
double law_binomial_tail(const struct binomial *binomial, double hits);

/** Bounds the error of either logarithm: that of their terms, and that of p and q, each of which
 * may be off by 4 units of rounding. */
double law_binomial_error(const struct binomial *binomial, double hits);

/** Returns the mass of an interval of this width > 0 around its middle under the standard normal law, to within the relative error
 * law_normal_error; 0 where it underflows. */
double law_normal(double middle, double width);
double law_normal_error(double middle, double width);

#endif
