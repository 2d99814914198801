#include "account/minimise.h"

#include <math.h>
#include <stddef.h>

/* ln(alpha - 1) from 10^-10 to 10^14 */
#define FIRST    (-23.0)
#define STEP     0.92
#define POINTS   61
#define SECTIONS 32
#define FEWER    26 /* of values that are not cheap: to 10^-10 of the best */

double minimise_order(double (*value)(double alpha, const void *context),
                      double (*least)(double alpha, const void *context), const void *context)
{
    const double golden = 0.6180339887498949;
    double best = INFINITY;
    double at = FIRST;
    for (int i = POINTS;
         i-- > 0;) { /* from the top: there bounds of sums are mostly INFINITY, and cheap */
        double alpha = 1 + exp(FIRST + STEP * i);
        if (least != NULL && least(alpha, context) >= best) {
            continue;
        }
        double here = value(alpha, context);
        if (here < best) {
            best = here;
            at = FIRST + STEP * i;
        }
    }
    double low = at - STEP;
    double high = at + STEP;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double left_value = value(1 + exp(left), context);
    double right_value = value(1 + exp(right), context);
    for (int i = 0; i < (least != NULL ? FEWER : SECTIONS); i++) {
        best = fmin(best, fmin(left_value, right_value));
        if (left_value <= right_value) {
            high = right;
            right = left;
            right_value = left_value;
            left = high - golden * (high - low);
            left_value = value(1 + exp(left), context);
        } else {
            low = left;
            left = right;
            left_value = right_value;
            right = low + golden * (high - low);
            right_value = value(1 + exp(right), context);
        }
    }
    return best;
}
