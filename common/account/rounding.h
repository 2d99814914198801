/* rounding.h - rounding against the spender: the errors of double arithmetic, added to the bound. Not
 * for use outside this room. */

#ifndef ACCOUNT_ROUNDING_H
#define ACCOUNT_ROUNDING_H

#include <float.h>
#include <math.h>

/** Returns at least every value within `units` units of rounding (2^-52, relative) of x >= 0, also
 * when x underflowed; a library function errs by less than 2 units, an operation by half of one. */
static inline double rounding_up(double x, double units)
{
    return x + (units * DBL_EPSILON * x + DBL_MIN);
}

/** The same from below; never less than 0. */
static inline double rounding_down(double x, double units)
{
    double low = x - (units * DBL_EPSILON * x + DBL_MIN);
    return low > 0 ? low : 0;
}

/** Returns dividend / divisor, both > 0, rounded up by no more than it must be: an exact quotient
 * stays as it is. */
static inline double rounding_quotient_up(double dividend, double divisor)
{
    double quotient = dividend / divisor;
    if (quotient < DBL_MIN * 4 || !isfinite(quotient)) {
        return rounding_up(quotient, 1);
    }
    return fma(quotient, divisor, -dividend) >= 0 ? quotient : nextafter(quotient, INFINITY);
}

struct interval {
    double low;
    double high; /* INFINITY when nothing is known */
};

#endif
