/* selftune_slope.c - L of the residual r = f - y. A clip C shortens the gradient of a record of norm n to the slope
 * min(|L'|, C/n). So clipping makes any slope Huber's, and Huber's a narrower one. A mean gradient answers to an error of the
 * model by the chance that a residual is where the slope is not held, and for pinball by the residuals' density where
 * they change sign, times the slope's jump there. */

#include "learn/selftune_slope.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/tuned.h"

#include <math.h>

#define SIGMA_PER_MEAN 1.2533141373155003 /* the root of pi/2: of a normal residual's mean size */
#define LOGISTIC_SCALE 0.5513288954217921 /* root 3/pi: of a logistic of deviation 1 */
#define SKEW                                                                                       \
    TUNED(SKEW,                                                                                    \
          0.3) /* of sigma: how far a median is from a mean. An exponential residual's is 0.31 */
#define SLOPE_LEAST 1e-6
#define CHANCE_LEAST                                                                               \
    0.05 /* a quantile's chance is not taken to be nearer to 0 or 1, over that wanted */

bool selftune_serves(const struct loss *loss)
{
    return loss->kind == LOSS_SQUARED || loss->kind == LOSS_HUBER || loss->kind == LOSS_PINBALL;
}

/* tau, and how steep pinball is above and below. */
static double steeper(const struct loss *loss)
{
    return fmax(loss->parameter, 1 - loss->parameter);
}

/* The chance that a normal residual's size is at most x. */
static double chance_within(double x, double sigma)
{
    return erf(x / (sigma * sqrt(2)));
}

/* What nobody clips of the squared loss's slope, Huber's loss holds. */
static double held_of(const struct loss *loss)
{
    return loss->kind == LOSS_HUBER ? loss->parameter : HUGE_VAL;
}

/* One made-up record's: how its slope answers, and its mean where the model is right. */
struct answer {
    double rises;
    double right;
    double jump;
};

static struct answer answer_of(const struct loss *loss, double most, double sigma)
{
    if (loss->kind != LOSS_PINBALL) {
        return (struct answer){.rises = chance_within(fmin(most, held_of(loss)), sigma)};
    }
    const double tau = loss->parameter;
    const double above = fmin(1 - tau, most);
    const double below = fmin(tau, most);
    const double density = tau * (1 - tau) / (LOGISTIC_SCALE * sigma);
    return (struct answer){.rises = (above + below) * density,
                           .right = tau * above - (1 - tau) * below,
                           .jump = above + below};
}

struct selftune_slope selftune_slope_of(const struct standin *standin, const struct loss *loss,
                                        double clip, double sigma)
{
    const size_t d = standin->width - 1;
    const double n = (double)standin->count;
    struct selftune_slope slope = {.column = 0};
    CHECK(selftune_serves(loss) && sigma > 0 && d > 0);
    for (size_t i = 0; i < standin->count; i++) {
        const double *u = standin->row + i * standin->width;
        const struct answer answer = answer_of(loss, clip / standin->norm[i], sigma);
        slope.column += answer.rises * dense_dot(u, u, d) / (n * (double)d);
        slope.end += answer.rises / n;
        slope.right += answer.right / n;
        slope.jump += answer.jump / n;
    }
    slope.column = fmax(slope.column, SLOPE_LEAST);
    slope.end = fmax(slope.end, SLOPE_LEAST);
    slope.jump = fmax(slope.jump, SLOPE_LEAST);
    slope.bias = loss->kind == LOSS_PINBALL
                     ? SKEW * fabs(slope.right) / slope.end
                     : SKEW * sigma * fmax(0, chance_within(held_of(loss), sigma) - slope.end);
    return slope;
}

double selftune_slope_size(const struct loss *loss, double sigma)
{
    return loss->kind == LOSS_PINBALL ? steeper(loss) : sigma;
}

double selftune_slope_chance(const struct selftune_slope *slope, const struct loss *loss,
                             double gradient, double trust)
{
    const double tau = loss->parameter;
    if (loss->kind != LOSS_PINBALL) {
        return 0.5;
    }
    const double chance = tau + trust * (gradient - slope->right) / slope->jump;
    return fmin(fmax(chance, CHANCE_LEAST * tau), 1 - CHANCE_LEAST * (1 - tau));
}

double selftune_slope_sigma(const struct loss *loss, double size, double chance)
{
    return loss->kind != LOSS_PINBALL
               ? SIGMA_PER_MEAN * size
               : size / (LOGISTIC_SCALE * -log(chance * (1 - chance))); /* of a logistic */
}

static double log_odds(double chance)
{
    return log(chance / (1 - chance));
}

double selftune_slope_start(const struct loss *loss, double sigma)
{
    return loss->kind == LOSS_PINBALL ? LOGISTIC_SCALE * sigma * log_odds(loss->parameter) : 0;
}

double selftune_slope_doubt(const struct loss *loss, double sigma)
{
    return loss->kind == LOSS_PINBALL ? SKEW * sigma
                                      : SKEW * sigma * (1 - chance_within(held_of(loss), sigma));
}

double selftune_slope_end(const struct selftune_slope *slope, const struct loss *loss, double sigma,
                          double gradient)
{
    if (loss->kind != LOSS_PINBALL) {
        return (gradient - slope->right) / slope->end;
    }
    const double chance = selftune_slope_chance(slope, loss, gradient, 1);
    return LOGISTIC_SCALE * sigma * (log_odds(chance) - log_odds(loss->parameter));
}
