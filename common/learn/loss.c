/* The logistic loss is evaluated without overflow on either side. What is computed on records by
 * the thousand, loss_clamped and loss_derivative, cuts the margin off at 40, where exp(-40) =
 * 4e-18 is below a rounding error: there the exponential keeps to its ordinary path, and nothing
 * comes near the subnormal numbers, which take the processor many times as long.
 *
 * The squared loss's ball. Let F(f) = mean (f-y)^2 + lambda ||f||^2 and w its minimiser. F is
 * quadratic, so F(0) = F(w) + mean w(x)^2 + lambda ||w||^2, that is mean y^2 = mean (w-y)^2 + mean
 * w^2 + 2 lambda ||w||^2. The first two terms are at least mean y^2/2 (parallelogram), hence
 * ||w||^2 <= M^2/(4 lambda): half the radius of the obvious F(w) <= F(0). */

#include "learn/loss.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double margin_max = 40;
static const double up = 1 + 8 * DBL_EPSILON;
static const double residual_max = 2; /* |y-f| for f and y in [-1, 1] */

static double logistic(double margin)
{
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

static double huber(double residual, double delta)
{
    const double size = fabs(residual);
    return size <= delta ? size * size / 2 : delta * (size - delta / 2);
}

double loss_value(struct loss loss, double f, double y)
{
    const double residual = y - f;
    switch (loss.kind) {
    case LOSS_LOGISTIC:
        return logistic(y * f);
    case LOSS_HINGE:
        return y * f < 1 ? 1 - y * f : 0;
    case LOSS_ZERO_ONE:
        return y * f <= 0 ? 1 : 0;
    case LOSS_PINBALL:
        return fmax(loss.parameter * residual, (loss.parameter - 1) * residual);
    case LOSS_ABSOLUTE:
        return fabs(residual);
    case LOSS_INSENSITIVE:
        return fmax(fabs(residual) - loss.parameter, 0);
    case LOSS_HUBER:
        return huber(residual, loss.parameter);
    case LOSS_SQUARED:
        return residual * residual;
    case LOSS_LINEAR:
        return fmin(fmax((1 + f) / 2, 0), 1);
    }
    CHECK(false);
}

/* ln(1 + e) = ln((1 + e) 3/2) - ln(3/2): log1p, and log near 1, have paths of their own, whose
 * length would tell the margin. */
static double logistic_at_even_pace(double margin)
{
    const double far = log(1.5 + 1.5 * exp(-fmin(fabs(margin), margin_max)));
    return fmax(far - log(1.5), 0) + fmax(-margin, 0);
}

/* The largest loss of a residual in [-residual_max, residual_max]. */
static double largest(struct loss loss)
{
    return fmax(loss_value(loss, 0, residual_max), loss_value(loss, residual_max, 0));
}

double loss_clamped(struct loss loss, double f, double y)
{
    double value = 0;
    if (loss.kind == LOSS_LOGISTIC) {
        value = logistic_at_even_pace(y * f);
    } else if (loss_is_classification(loss) || loss.kind == LOSS_LINEAR) {
        value = loss_value(loss, f, y);
    } else {
        value = loss_value(loss, f, y) / largest(loss);
    }
    return isnan(f) || isnan(value) ? 1 : fmin(value, 1);
}

double loss_derivative(struct loss loss, double f, double y)
{
    const double residual = y - f;
    switch (loss.kind) {
    case LOSS_LOGISTIC:
        return -y / (1 + exp(fmin(fmax(y * f, -margin_max), margin_max)));
    case LOSS_HINGE:
        return y * f <= 1 ? -y : 0;
    case LOSS_PINBALL:
        return (residual < 0 ? 1 : 0) - (residual != 0 ? loss.parameter : 0);
    case LOSS_ABSOLUTE:
        return (residual < 0 ? 1 : 0) - (residual > 0 ? 1 : 0);
    case LOSS_INSENSITIVE:
        return fabs(residual) >= loss.parameter && residual != 0 ? -copysign(1, residual) : 0;
    case LOSS_HUBER:
        return -fmin(fmax(residual, -loss.parameter), loss.parameter);
    case LOSS_SQUARED:
        return -2 * residual;
    case LOSS_ZERO_ONE:
    case LOSS_LINEAR:
        break;
    }
    CHECK(false);
}

double loss_lipschitz(struct loss loss, double bound_y, double kappa, double lambda)
{
    switch (loss.kind) {
    case LOSS_LOGISTIC:
    case LOSS_HINGE:
    case LOSS_ABSOLUTE:
    case LOSS_INSENSITIVE:
        return 1;
    case LOSS_PINBALL:
        return fmax(loss.parameter, 1 - loss.parameter);
    case LOSS_HUBER:
        return loss.parameter;
    case LOSS_SQUARED:
        return bound_y * (kappa / sqrt(lambda) + 2) * up;
    case LOSS_ZERO_ONE:
    case LOSS_LINEAR:
        break;
    }
    CHECK(false);
}

double loss_ball(struct loss loss, double bound_y, double kappa, double lambda)
{
    if (loss.kind == LOSS_SQUARED) {
        return bound_y / (2 * sqrt(lambda)) * up;
    }
    const double y = loss_is_classification(loss) ? 1 : bound_y;
    const double at_zero = fmax(loss_value(loss, 0, y), loss_value(loss, 0, -y));
    const double by_value = sqrt(at_zero / lambda);
    const double by_slope = kappa * loss_lipschitz(loss, bound_y, kappa, lambda) / (2 * lambda);
    return fmin(by_value, by_slope) * up;
}

bool loss_is_learnable(struct loss loss)
{
    return loss.kind != LOSS_ZERO_ONE && loss.kind != LOSS_LINEAR;
}

bool loss_is_classification(struct loss loss)
{
    return loss.kind == LOSS_LOGISTIC || loss.kind == LOSS_HINGE || loss.kind == LOSS_ZERO_ONE;
}

bool loss_is_regression(struct loss loss)
{
    return !loss_is_classification(loss);
}

bool loss_is_smooth(struct loss loss)
{
    return loss.kind == LOSS_LOGISTIC || loss.kind == LOSS_HUBER || loss.kind == LOSS_SQUARED;
}

double loss_curvature(struct loss loss)
{
    CHECK(loss_is_smooth(loss));
    return loss.kind == LOSS_LOGISTIC ? 0.25 : loss.kind == LOSS_HUBER ? 1 : 2;
}

bool loss_has_parameter(enum loss_kind kind)
{
    return kind == LOSS_PINBALL || kind == LOSS_INSENSITIVE || kind == LOSS_HUBER;
}

enum status loss_check(struct loss loss, struct why *why)
{
    const double p = loss.parameter;
    const char *remedy = NULL;
    if (!loss_has_parameter(loss.kind) && p != 0) {
        remedy = "this loss has no parameter: remove it";
    } else if (loss.kind == LOSS_PINBALL && !(p > 0 && p < 1)) {
        remedy = "the pinball loss needs its quantile as parameter, above 0 and below 1";
    } else if (loss.kind == LOSS_INSENSITIVE && !(p >= 0 && p <= 1)) {
        remedy = "the insensitive loss needs its half width as parameter, from 0 to 1";
    } else if (loss.kind == LOSS_HUBER && !(p > 0 && p <= residual_max)) {
        remedy = "the Huber loss needs its bend as parameter, above 0 and at most 2";
    }
    if (remedy != NULL) {
        why_set(why, "%s", remedy);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

const char *loss_name(enum loss_kind kind)
{
    static const char *const name[] = {
        [LOSS_LOGISTIC] = "logistic", [LOSS_HINGE] = "hinge",
        [LOSS_ZERO_ONE] = "zero_one", [LOSS_PINBALL] = "pinball",
        [LOSS_ABSOLUTE] = "absolute", [LOSS_INSENSITIVE] = "insensitive",
        [LOSS_HUBER] = "huber",       [LOSS_SQUARED] = "squared",
        [LOSS_LINEAR] = "linear"};
    CHECK((unsigned)kind < LOSS_KINDS);
    return name[kind];
}

enum status loss_from_name(enum loss_kind *kind, const char *name)
{
    for (int i = 0; i < LOSS_KINDS; i++) {
        if (strcmp(name, loss_name((enum loss_kind)i)) == 0) {
            *kind = (enum loss_kind)i;
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}
