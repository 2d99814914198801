/* How far figures on held-out records may be from those on all records alike: binomial for a share,
 * Hanley and McNeil (1982) for an AUC, whose scores they take as exponential. */

#include "report/result.h"

#include <math.h>

double result_accuracy_error(const struct result *result)
{
    const double count = (double)result->baseline.records_held;
    return count > 0 ? sqrt(result->accuracy * (1 - result->accuracy) / count) : NAN;
}

/* Q1: two positives both rank above one negative; Q2: one positive above two negatives. */
static double auc_error(double auc, double positives, double negatives)
{
    const double both_above = auc / (2 - auc);
    const double above_both = 2 * auc * auc / (1 + auc);
    const double variance = auc * (1 - auc) + (positives - 1) * (both_above - auc * auc) +
                            (negatives - 1) * (above_both - auc * auc);
    return sqrt(variance / (positives * negatives));
}

double result_auc_error(const struct result *result)
{
    const double count = (double)result->baseline.records_held;
    const double more = round(result->baseline.majority * count);
    const double fewer = count - more;
    return fewer >= 1
               ? fmax(auc_error(result->auc, more, fewer), auc_error(result->auc, fewer, more))
               : NAN;
}
