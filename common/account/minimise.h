/* minimise.h - the best order of a Renyi bound. Not for use outside this room. */

#ifndef ACCOUNT_MINIMISE_H
#define ACCOUNT_MINIMISE_H

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
