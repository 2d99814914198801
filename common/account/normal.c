/* Where the interval is narrow, the density in its middle and two more terms of Taylor's series; else the
 * difference of two error functions on the side where both are small. */

#include "account/normal.h"

#include <float.h>
#include <math.h>

double normal_interval(double middle, double width)
{
    double d = width;
    double m = middle;
    if (d * fmax(1, fabs(m)) < 0.02) {
        double series =
            1 + d * d * (m * m - 1) / 24 + d * d * d * d * (m * m * (m * m - 6) + 3) / 1920;
        return 0.39894228040143267794 * exp(-m * m / 2) * d * series;
    }
    double near = (fabs(m) - d / 2) * 0.70710678118654752440;
    double far = (fabs(m) + d / 2) * 0.70710678118654752440;
    return near < 0 ? (erf(far) - erf(near)) / 2 : (erfc(near) - erfc(far)) / 2;
}

double normal_error(double middle, double width)
{
    double wide = width * fmax(1, fabs(middle)) < 0.02 ? 1 : 60;
    return wide * (8 + 8 * middle * middle) * (DBL_EPSILON / 2);
}
