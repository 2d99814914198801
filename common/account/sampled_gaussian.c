/* With b = e^(m s) the ratio of the unsampled outputs at s + m/2 deviations from the centre of Q, m the
 * distance in deviations, and r = 1 + q (b - 1):
 *
 *   removed:   E_Q[r^alpha] - 1 = E_Q[r^alpha - 1 - alpha (r - 1)], for E_Q[r] = 1;
 *   replaced:  E_Q[(r^alpha - 1)(1 - r^(1-alpha)); r > 1],
 *
 * the latter by carrying out both integrals of sampled.c's head with H_c(P, Q) = E_Q[(r - c)+]. Both are
 * means of functions of r that are convex, 0 at r = 1 and positive elsewhere, so no terms cancel. On a
 * cell of s such a function lies below its chord, whose mean takes no more than the cell's masses under
 * both outputs: an upper bound, too high by the order of the square of the cell's width. Beyond the last
 * cell r/b is at most what it is there, and the mean of b^alpha is known; r > 1 - q on the other side. */

#include "account/sampled_gaussian.h"

#include "account/normal.h"
#include "account/rounding.h"

#include <float.h>
#include <math.h>

#define CELL_WIDTH   0.125 /* deviations; less where r^alpha grows faster */
#define GROWTH       0.5
#define CELLS_MAX    4096
#define REST         1e-4 /* of the sum, that may be left to the tails' bounds */
#define EXPONENT_MAX 600.0
#define SMALL        1e-5
#define ROUNDING     1e-10 /* of all that is added up here, and more */
#define ROOT_HALF    0.70710678118654752440

struct curve {
    double m;
    double q;
    double alpha;
    bool replaced;
};

/* The convex function at r = 1 + y, perhaps a few roundings less. */
static double value_at(const struct curve *curve, double y)
{
    double alpha = curve->alpha;
    double loss = log1p(y);
    if (alpha * loss > EXPONENT_MAX) {
        return INFINITY;
    }
    if (curve->replaced) {
        return expm1(alpha * loss) * -expm1((1 - alpha) * loss);
    }
    if (fabs(y) * (1 + alpha) < SMALL) { /* the second derivative is within e^SMALL of that at 1 */
        return alpha * (alpha - 1) / 2 * y * y * (1 + 2 * SMALL);
    }
    double grown = (1 + y) * expm1((alpha - 1) * loss);
    double taken = (alpha - 1) * y;
    return grown - taken + 8 * DBL_EPSILON * (fabs(grown) + fabs(taken));
}

/* What a cell contributes whose ends lie at s = near and far, near the one closer to 0. */
static double cell(const struct curve *curve, double near, double far)
{
    double width = fabs(far - near);
    double middle = curve->m / 2 + (near + far) / 2;
    double without = normal_interval(middle, width);
    double with = normal_interval(middle - curve->m, width);
    double error = normal_error(middle, width) + normal_error(middle - curve->m, width);
    double from = expm1(curve->m * near);
    double to = expm1(curve->m * far);
    if (!(without > 0 && with > 0)) {
        return INFINITY;
    }
    double size = with / without;
    double slack = (error + 8 * DBL_EPSILON * (1 + fabs(curve->m * far))) * (size + 1 + fabs(to));
    double share = (size - 1 - from) / (to - from) + slack / fabs(to - from);
    double low = value_at(curve, curve->q * from);
    double high = value_at(curve, curve->q * to);
    return without * (1 + error) * (low + fmin(1, fmax(0, share)) * fmax(0, high - low));
}

static double normal_tail(double x)
{
    return erfc(x * ROOT_HALF) / 2;
}

/* The outcomes of r > 1; the caller rounds up. Cells are narrower where r^alpha grows faster. */
static double upper_side(const struct curve *curve)
{
    double centre = curve->alpha * curve->m; /* of b^alpha Q */
    double whole = curve->alpha * (curve->alpha - 1) / 2 * curve->m * curve->m;
    double sum = 0;
    double start = 0;
    for (unsigned i = 0; i < CELLS_MAX; i++) {
        double b = exp(curve->m * start);
        double slope = centre * curve->q * b / (1 - curve->q + curve->q * b);
        double end = start + fmin(CELL_WIDTH, GROWTH / slope);
        double beyond = end + curve->m / 2 - centre;
        sum += cell(curve, start, end);
        if (!isfinite(sum)) {
            return INFINITY;
        }
        double share = log1p(curve->q * expm1(curve->m * end)) - curve->m * end;
        double rest = exp(whole + curve->alpha * share) * normal_tail(beyond);
        if (rest <= REST * sum) {
            return sum + rest;
        }
        start = end;
    }
    return INFINITY;
}

/* The outcomes of r < 1. */
static double lower_side(const struct curve *curve)
{
    double most = value_at(curve, -curve->q);
    double sum = 0;
    for (unsigned i = 0; i < CELLS_MAX; i++) {
        double end = -CELL_WIDTH * (i + 1);
        sum += cell(curve, end + CELL_WIDTH, end);
        double rest = most * normal_tail(-end - curve->m / 2);
        if (!isfinite(sum) || rest <= REST * sum) {
            return sum + rest;
        }
    }
    return INFINITY;
}

double sampled_gaussian_moment(double ratio, double sampling, double alpha, bool replaced)
{
    struct curve curve = {ratio, sampling, alpha, replaced};
    double sum = upper_side(&curve);
    if (!replaced) {
        sum += lower_side(&curve);
    }
    return rounding_up(log1p(sum * (1 + ROUNDING)), 4);
}
