/* The logistic loss is evaluated without overflow on either side. What is computed on records by
 * the thousand, loss_clamped and loss_derivative, cuts the margin off at 40, where exp(-40) =
 * 4e-18 is below a rounding error: there the exponential keeps to its ordinary path, and nothing
 * comes near the subnormal numbers, which take the processor many times as long. */

#include "learn/loss.h"

#include "base/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double margin_max = 40;

double loss_value(enum loss_kind kind, double margin)
{
    switch (kind) {
    case LOSS_LOGISTIC:
        return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
    case LOSS_HINGE:
        return margin < 1 ? 1 - margin : 0;
    case LOSS_ZERO_ONE:
        return margin <= 0 ? 1 : 0;
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

double loss_clamped(enum loss_kind kind, double margin)
{
    const double value =
        kind == LOSS_LOGISTIC ? logistic_at_even_pace(margin) : loss_value(kind, margin);
    return isnan(margin) ? 1 : fmin(value, 1);
}

double loss_derivative(enum loss_kind kind, double margin)
{
    switch (kind) {
    case LOSS_LOGISTIC:
        return -1 / (1 + exp(fmin(fmax(margin, -margin_max), margin_max)));
    case LOSS_HINGE:
        return margin <= 1 ? -1 : 0;
    case LOSS_ZERO_ONE:
        break;
    }
    CHECK(false);
}

double loss_lipschitz(enum loss_kind kind)
{
    CHECK(kind == LOSS_LOGISTIC || kind == LOSS_HINGE);
    return 1;
}

const char *loss_name(enum loss_kind kind)
{
    switch (kind) {
    case LOSS_LOGISTIC:
        return "logistic";
    case LOSS_HINGE:
        return "hinge";
    case LOSS_ZERO_ONE:
        return "zero_one";
    }
    CHECK(false);
}

enum status loss_from_name(enum loss_kind *kind, const char *name)
{
    for (int i = LOSS_LOGISTIC; i <= LOSS_ZERO_ONE; i++) {
        if (strcmp(name, loss_name((enum loss_kind)i)) == 0) {
            *kind = (enum loss_kind)i;
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}
