/* loss_value is exact on either side and takes the time it takes: solvers and public bounds use it.
 * loss_clamped and loss_derivative run at even pace (base/even.h): the same instructions for every
 * score and label. Both cut the logistic margin off at 40, where exp(-40) = 4e-18 is below a rounding
 * error. */

#include "learn/loss.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/even_math.h"
#include "learn/loss_kind.h"

#include <math.h>
#include <string.h>

static const struct loss_descriptor *describe(enum loss_kind kind)
{
    static const struct loss_descriptor *const table[] = {
#define LOSS_ENTRY(kind, descriptor) [kind] = &(descriptor),
        LOSS_LIST(LOSS_ENTRY)
#undef LOSS_ENTRY
    };
    CHECK_TABLE(table, LOSS_KINDS);
    CHECK((unsigned)kind < LOSS_KINDS);
    return table[kind];
}

double loss_value(struct loss loss, double f, double y)
{
    return describe(loss.kind)->value(loss, f, y);
}

static double logistic_clamped(double margin)
{
    return even_softplus(even_min(fabs(margin), LOSS_MARGIN_MAX)) + even_max(-margin, 0);
}

/* The largest loss of a residual in [-LOSS_RESIDUAL_MAX, LOSS_RESIDUAL_MAX]. */
static double largest(struct loss loss)
{
    return fmax(loss_value(loss, 0, LOSS_RESIDUAL_MAX), loss_value(loss, LOSS_RESIDUAL_MAX, 0));
}

double loss_clamped(struct loss loss, double f, double y)
{
    double value = 0;
    if (loss.kind == LOSS_LOGISTIC) {
        value = logistic_clamped(y * f);
    } else if (loss_is_classification(loss) || loss.kind == LOSS_LINEAR) {
        value = loss_value(loss, f, y);
    } else {
        value = loss_value(loss, 0, even_flushed(y - f)) / largest(loss);
    }
    return even_choose(even_is_nan(f) | ~mask_of(value < 1), 1, value);
}

double loss_derivative(struct loss loss, double f, double y)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->slope != NULL);
    return descriptor->slope(loss, f, y);
}

double loss_second_derivative(struct loss loss, double f, double y)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->second != NULL);
    return descriptor->second(loss, f, y);
}

double loss_lipschitz(struct loss loss, double bound_y, double kappa, double lambda)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->lipschitz != NULL);
    return descriptor->lipschitz(loss, bound_y, kappa, lambda);
}

struct loss_box loss_box(struct loss loss, double y)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->box != NULL);
    return descriptor->box(loss, y);
}

double loss_ball(struct loss loss, double bound_y, double kappa, double lambda)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    if (descriptor->ball != NULL) {
        return descriptor->ball(bound_y, lambda);
    }
    const double y = descriptor->classifies ? 1 : bound_y;
    const double at_zero = fmax(loss_value(loss, 0, y), loss_value(loss, 0, -y));
    const double by_value = sqrt(at_zero / lambda);
    const double by_slope = kappa * loss_lipschitz(loss, bound_y, kappa, lambda) / (2 * lambda);
    return fmin(by_value, by_slope) * LOSS_UP;
}

bool loss_is_learnable(struct loss loss)
{
    return describe(loss.kind)->slope != NULL;
}

bool loss_is_classification(struct loss loss)
{
    return describe(loss.kind)->classifies;
}

bool loss_is_regression(struct loss loss)
{
    return !loss_is_classification(loss);
}

bool loss_is_smooth(struct loss loss)
{
    return describe(loss.kind)->second != NULL;
}

double loss_curvature(struct loss loss)
{
    CHECK(loss_is_smooth(loss));
    return describe(loss.kind)->curvature;
}

bool loss_has_parameter(enum loss_kind kind)
{
    return describe(kind)->takes != NULL;
}

enum status loss_check(struct loss loss, struct why *why)
{
    const struct loss_descriptor *descriptor = describe(loss.kind);
    const char *remedy = NULL;
    if (descriptor->takes != NULL) {
        remedy = descriptor->takes(loss.parameter) ? NULL : descriptor->remedy;
    } else if (loss.parameter != 0) {
        remedy = "this loss has no parameter: remove it";
    }
    if (remedy != NULL) {
        return why_refuse(why, "%s", remedy);
    }
    return STATUS_OK;
}

const char *loss_name(enum loss_kind kind)
{
    return describe(kind)->name;
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
