/* loss_value is exact on either side and takes the time it takes: solvers and public bounds use it.
 * loss_clamped and loss_derivative run at even pace (base/even.h): the same instructions for every
 * score and label. Both cut the logistic margin off at 40, where exp(-40) = 4e-18 is below a rounding
 * error.
 *
 * The squared loss's ball. Let F(f) = mean (f-y)^2 + lambda ||f||^2 and w its minimiser. F is
 * quadratic, so F(0) = F(w) + mean w(x)^2 + lambda ||w||^2, that is mean y^2 = mean (w-y)^2 + mean
 * w^2 + 2 lambda ||w||^2. The first two terms are at least mean y^2/2 (parallelogram), hence
 * ||w||^2 <= M^2/(4 lambda): half the radius of the obvious F(w) <= F(0). */

#include "learn/loss.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/even_math.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double margin_max = 40;
static const double up = 1 + 8 * DBL_EPSILON;
static const double residual_max = 2; /* |y-f| for f and y in [-1, 1] */

/* All there is to know of a loss. */
struct descriptor {
    const char *name;
    bool classifies; /* y is +1 or -1 */
    double (*value)(struct loss loss, double f, double y);
    double (*slope)(struct loss loss, double f, double y);  /* NULL: it judges alone */
    double (*second)(struct loss loss, double f, double y); /* NULL: it is not smooth */
    double curvature; /* the largest second derivative; 0 where it is not smooth */
    double (*lipschitz)(struct loss loss, double bound_y, double kappa, double lambda);
    double (*ball)(double bound_y, double lambda); /* NULL: by the value at 0 and by the slope */
    struct loss_box (*box)(struct loss loss, double y); /* of what is learned and not smooth */
    bool (*takes)(double parameter);                    /* NULL: it has none */
    const char *remedy;                                 /* for a parameter that it does not take */
};

static double one(UNUSED struct loss loss, UNUSED double bound_y, UNUSED double kappa,
                  UNUSED double lambda)
{
    return 1;
}

static double logistic_value(UNUSED struct loss loss, double f, double y)
{
    const double margin = y * f;
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

static double logistic_slope(UNUSED struct loss loss, double f, double y)
{
    return -y / (1 + even_exp(even_max(even_min(y * f, margin_max), -margin_max)));
}

static double logistic_second(struct loss loss, double f, double y)
{
    const double slope = fabs(logistic_slope(loss, f, y));
    return slope * (1 - slope);
}

static const struct descriptor logistic_loss = {.name = "logistic",
                                                .classifies = true,
                                                .value = logistic_value,
                                                .slope = logistic_slope,
                                                .second = logistic_second,
                                                .curvature = 0.25,
                                                .lipschitz = one};

static double hinge_value(UNUSED struct loss loss, double f, double y)
{
    return even_max(1 - y * f, 0);
}

static double hinge_slope(UNUSED struct loss loss, double f, double y)
{
    return even_keep(mask_of(y * f <= 1), -y);
}

static struct loss_box hinge_box(UNUSED struct loss loss, double y)
{
    return y > 0 ? (struct loss_box){0, 1, 0} : (struct loss_box){-1, 0, 0};
}

static const struct descriptor hinge_loss = {.name = "hinge",
                                             .classifies = true,
                                             .value = hinge_value,
                                             .slope = hinge_slope,
                                             .lipschitz = one,
                                             .box = hinge_box};

static double zero_one_value(UNUSED struct loss loss, double f, double y)
{
    return even_keep(mask_of(y * f <= 0), 1);
}

static const struct descriptor zero_one_loss = {
    .name = "zero_one", .classifies = true, .value = zero_one_value};

static double pinball_value(struct loss loss, double f, double y)
{
    const double residual = y - f;
    return even_max(loss.parameter * residual, (loss.parameter - 1) * residual);
}

static double pinball_slope(struct loss loss, double f, double y)
{
    const double residual = y - f;
    return even_keep(mask_of(residual < 0), 1) - even_keep(~mask_of(residual == 0), loss.parameter);
}

static double pinball_lipschitz(struct loss loss, UNUSED double bound_y, UNUSED double kappa,
                                UNUSED double lambda)
{
    return fmax(loss.parameter, 1 - loss.parameter);
}

static struct loss_box pinball_box(struct loss loss, UNUSED double y)
{
    return (struct loss_box){loss.parameter - 1, loss.parameter, 0};
}

static bool pinball_takes(double p)
{
    return p > 0 && p < 1;
}

static const struct descriptor pinball_loss = {
    .name = "pinball",
    .value = pinball_value,
    .slope = pinball_slope,
    .lipschitz = pinball_lipschitz,
    .box = pinball_box,
    .takes = pinball_takes,
    .remedy = "the pinball loss needs its quantile as parameter, above 0 and below 1"};

static double absolute_value(UNUSED struct loss loss, double f, double y)
{
    return fabs(y - f);
}

static double absolute_slope(UNUSED struct loss loss, double f, double y)
{
    const double residual = y - f;
    return even_keep(mask_of(residual < 0), 1) - even_keep(mask_of(residual > 0), 1);
}

static struct loss_box absolute_box(struct loss loss, UNUSED double y)
{
    return (struct loss_box){-1, 1, loss.parameter}; /* absolute: 0 */
}

static const struct descriptor absolute_loss = {.name = "absolute",
                                                .value = absolute_value,
                                                .slope = absolute_slope,
                                                .lipschitz = one,
                                                .box = absolute_box};

static double insensitive_value(struct loss loss, double f, double y)
{
    return even_max(fabs(y - f) - loss.parameter, 0);
}

static double insensitive_slope(struct loss loss, double f, double y)
{
    const double residual = y - f;
    const uint64_t outside = mask_of(fabs(residual) >= loss.parameter) & ~mask_of(residual == 0);
    return even_keep(outside, even_choose(mask_of(residual > 0), -1, 1));
}

static bool insensitive_takes(double p)
{
    return p >= 0 && p <= 1;
}

static const struct descriptor insensitive_loss = {
    .name = "insensitive",
    .value = insensitive_value,
    .slope = insensitive_slope,
    .lipschitz = one,
    .box = absolute_box,
    .takes = insensitive_takes,
    .remedy = "the insensitive loss needs its half width as parameter, from 0 to 1"};

static double huber_value(struct loss loss, double f, double y)
{
    const double delta = loss.parameter;
    const double size = fabs(y - f);
    return even_choose(mask_of(size <= delta), size * size / 2, delta * (size - delta / 2));
}

static double huber_slope(struct loss loss, double f, double y)
{
    return -even_max(even_min(y - f, loss.parameter), -loss.parameter);
}

static double huber_second(struct loss loss, double f, double y)
{
    return fabs(f - y) <= loss.parameter ? 1 : 0;
}

static double huber_lipschitz(struct loss loss, UNUSED double bound_y, UNUSED double kappa,
                              UNUSED double lambda)
{
    return loss.parameter;
}

static bool huber_takes(double p)
{
    return p > 0 && p <= residual_max;
}

static const struct descriptor huber_loss = {
    .name = "huber",
    .value = huber_value,
    .slope = huber_slope,
    .second = huber_second,
    .curvature = 1,
    .lipschitz = huber_lipschitz,
    .takes = huber_takes,
    .remedy = "the Huber loss needs its bend as parameter, above 0 and at most 2"};

static double squared_value(UNUSED struct loss loss, double f, double y)
{
    const double residual = y - f;
    return residual * residual;
}

static double squared_slope(UNUSED struct loss loss, double f, double y)
{
    return -2 * (y - f);
}

static double squared_second(UNUSED struct loss loss, UNUSED double f, UNUSED double y)
{
    return 2;
}

static double squared_lipschitz(UNUSED struct loss loss, double bound_y, double kappa,
                                double lambda)
{
    return bound_y * (kappa / sqrt(lambda) + 2) * up;
}

static double squared_ball(double bound_y, double lambda)
{
    return bound_y / (2 * sqrt(lambda)) * up;
}

static const struct descriptor squared_loss = {.name = "squared",
                                               .value = squared_value,
                                               .slope = squared_slope,
                                               .second = squared_second,
                                               .curvature = 2,
                                               .lipschitz = squared_lipschitz,
                                               .ball = squared_ball};

static double linear_value(UNUSED struct loss loss, double f, UNUSED double y)
{
    return even_max(even_min((1 + f) / 2, 1), 0);
}

static const struct descriptor linear_loss = {.name = "linear", .value = linear_value};

static const struct descriptor *describe(enum loss_kind kind)
{
    static const struct descriptor *const table[] = {
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
    return even_softplus(even_min(fabs(margin), margin_max)) + even_max(-margin, 0);
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
    const struct descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->slope != NULL);
    return descriptor->slope(loss, f, y);
}

double loss_second_derivative(struct loss loss, double f, double y)
{
    const struct descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->second != NULL);
    return descriptor->second(loss, f, y);
}

double loss_lipschitz(struct loss loss, double bound_y, double kappa, double lambda)
{
    const struct descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->lipschitz != NULL);
    return descriptor->lipschitz(loss, bound_y, kappa, lambda);
}

struct loss_box loss_box(struct loss loss, double y)
{
    const struct descriptor *descriptor = describe(loss.kind);
    CHECK(descriptor->box != NULL);
    return descriptor->box(loss, y);
}

double loss_ball(struct loss loss, double bound_y, double kappa, double lambda)
{
    const struct descriptor *descriptor = describe(loss.kind);
    if (descriptor->ball != NULL) {
        return descriptor->ball(bound_y, lambda);
    }
    const double y = descriptor->classifies ? 1 : bound_y;
    const double at_zero = fmax(loss_value(loss, 0, y), loss_value(loss, 0, -y));
    const double by_value = sqrt(at_zero / lambda);
    const double by_slope = kappa * loss_lipschitz(loss, bound_y, kappa, lambda) / (2 * lambda);
    return fmin(by_value, by_slope) * up;
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
    const struct descriptor *descriptor = describe(loss.kind);
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
