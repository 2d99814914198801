/* The logistic loss is evaluated without overflow on either side; its derivative is clamped where
 * the exponential would leave the doubles' range, 1e-304 away from its limit. */

#include "learn/loss.h"

#include "base/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double margin_max = 700;

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

double loss_clamped(enum loss_kind kind, double margin)
{
    const double value = loss_value(kind, margin);
    /* Written so that NaN, for which every comparison is false, costs 1. */
    return !isnan(margin) && value < 1 ? value : 1;
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
