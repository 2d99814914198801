/* binomial.h - binomial probabilities to full precision, however small. Not for use outside this
 * room. */

#ifndef ACCOUNT_BINOMIAL_H
#define ACCOUNT_BINOMIAL_H

/* How often `trials` >= 1 draws come out one way: with probability p, the other way with q = 1 - p,
 * each given to full precision, none 0 or 1 exactly. */
struct binomial {
    double trials;
    double p;
    double q;
};

/** Returns ln of the probability of exactly `hits` in 0 .. trials; errs by at most
 * binomial_error() there. */
double binomial_log(const struct binomial *binomial, double hits);

/** Returns ln of Chernoff's bound on the probability of `hits` or more (at or above the mean) or of
 * `hits` or less (below the mean); the same error. */
double binomial_log_tail(const struct binomial *binomial, double hits);

/** Bounds the error of either logarithm: that of their terms, and that of p and q, each of which
 * may be off by 4 units of rounding. */
double binomial_error(const struct binomial *binomial, double hits);

#endif
