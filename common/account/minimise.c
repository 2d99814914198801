#include "account/minimise.h"

#include <math.h>

/* ln(alpha - 1) from 10^-10 to 10^14 */
#define FIRST    (-23.0)
#define STEP     0.92
#define POINTS   61
#define SECTIONS 44

double minimise_order(double (*value)(double alpha, const void *context), const void *context)
{
    const double golden = 0.6180339887498949;
    double best = INFINITY;
    double at = FIRST;
    for (int i = 0; i < POINTS; i++) {
        double here = value(1 + exp(FIRST + STEP * i), context);
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
    for (int i = 0; i < SECTIONS; i++) {
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
