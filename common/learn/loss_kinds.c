/* The losses of the house. Values and slopes of what agents send run at even pace: loss.c.
 *
 * The squared loss's ball. Let F(f) = mean (f-y)^2 + lambda ||f||^2 and w its minimiser. F is
 * quadratic, so F(0) = F(w) + mean w(x)^2 + lambda ||w||^2, that is mean y^2 = mean (w-y)^2 + mean
 * w^2 + 2 lambda ||w||^2. The first two terms are at least mean y^2/2 (parallelogram), hence
 * ||w||^2 <= M^2/(4 lambda): half the radius of the obvious F(w) <= F(0). */

#include "learn/loss_kind.h"

#include "base/even.h"
#include "learn/even_math.h"

#include <math.h>

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
    return -y / (1 + even_exp(even_max(even_min(y * f, LOSS_MARGIN_MAX), -LOSS_MARGIN_MAX)));
}

static double logistic_second(struct loss loss, double f, double y)
{
    const double slope = fabs(logistic_slope(loss, f, y));
    return slope * (1 - slope);
}

const struct loss_descriptor logistic_loss = {.name = "logistic",
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

const struct loss_descriptor hinge_loss = {.name = "hinge",
                                           .classifies = true,
                                           .value = hinge_value,
                                           .slope = hinge_slope,
                                           .lipschitz = one,
                                           .box = hinge_box};

static double zero_one_value(UNUSED struct loss loss, double f, double y)
{
    return even_keep(mask_of(y * f <= 0), 1);
}

const struct loss_descriptor zero_one_loss = {
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

const struct loss_descriptor pinball_loss = {
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

const struct loss_descriptor absolute_loss = {.name = "absolute",
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

const struct loss_descriptor insensitive_loss = {
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
    return p > 0 && p <= LOSS_RESIDUAL_MAX;
}

const struct loss_descriptor huber_loss = {
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
    return bound_y * (kappa / sqrt(lambda) + 2) * LOSS_UP;
}

static double squared_ball(double bound_y, double lambda)
{
    return bound_y / (2 * sqrt(lambda)) * LOSS_UP;
}

const struct loss_descriptor squared_loss = {.name = "squared",
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

const struct loss_descriptor linear_loss = {.name = "linear", .value = linear_value};
