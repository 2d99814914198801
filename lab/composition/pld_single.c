/* One run alone: the hockey-stick curve itself.
 *
 * Randomised response: epsilon = e + ln(1 - delta (1 + e^-e)). Laplace noise: delta = 1 -
 * e^((epsilon - e)/2), e = sensitivity/scale. Bounded range e: delta (1 - e^-e) = (1 - e^((epsilon -
 * e)/2))^2 (pld_run.c). Gaussian noise, mu = sensitivity/sigma (any number of
 * runs is one with mu = sqrt(sum of squares)): delta = N(mu/2 - epsilon/mu) - e^epsilon N(-mu/2 -
 * epsilon/mu) (Balle and Wang 2018, theorem 8). Sampled with rate q: delta_q(ln(1 + q (e^epsilon -
 * 1))) = q delta(epsilon) for the record removed, the larger of the two directions at epsilon >= 0
 * (Balle, Barthe, Gaboardi 2018), and a bound for records replaced (pld_run.c). */

#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>

#define SLACK (16 * DBL_EPSILON)

bool pld_single_covers(const struct pld_part *part)
{
    return part->count <= 1 && part->slack <= 0 &&
           (part->kind == PLD_RUN_RESPONSE || part->kind == PLD_RUN_LAPLACE ||
            part->kind == PLD_RUN_GAUSSIAN || part->kind == PLD_RUN_RANGE);
}

/* ln erfc(x), relative error of erfc below 1e-11 for x > 25 and some roundings times x^2 below. */
static double log_erfc(double x)
{
    if (x < 25) {
        return log(erfc(x));
    }
    double y = 1 / (2 * x * x);
    double series = 1 - y * (1 - y * (3 - y * (15 - y * 105)));
    return -x * x - log(x) - 0.57236494292470008707 + log(series);
}

/* delta of one unsampled Gaussian run; error bounds what rounding did. */
static double gaussian_delta(double mu, double epsilon, double *error)
{
    double x = (epsilon / mu - mu / 2) * 0.70710678118654752440;
    double y = (epsilon / mu + mu / 2) * 0.70710678118654752440;
    double first = exp(log_erfc(x)) / 2;
    double second = exp(epsilon + log_erfc(y)) / 2;
    double rounding = 8 * DBL_EPSILON * (4 + x * x + y * y + epsilon);
    *error = rounding * first + (rounding + (y >= 25 ? 1e-11 : 0)) * second + DBL_MIN;
    return first - second;
}

static double gaussian_epsilon(double mu, double delta, bool upper)
{
    double low = 0;
    double high = mu * (40 + mu);
    double error = 0;
    double at_zero = gaussian_delta(mu, 0, &error);
    if (upper ? at_zero + error <= delta : !(at_zero - error >= delta)) {
        return 0;
    }
    for (unsigned i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        double value = gaussian_delta(mu, middle, &error);
        bool above = upper ? !(value + error <= delta) : value - error >= delta;
        *(above ? &low : &high) = middle;
    }
    return upper ? high * (1 + SLACK) : low * (1 - SLACK);
}

/* Unsampled. */
static struct interval base_epsilon(const struct pld_part *part, double delta)
{
    double e = part->size;
    double value = 0;
    double slack = SLACK * (e + delta);
    if (part->kind == PLD_RUN_GAUSSIAN) {
        return (struct interval){gaussian_epsilon(e, delta * (1 + SLACK), false),
                                 gaussian_epsilon(e, delta * (1 - SLACK), true)};
    }
    if (part->kind == PLD_RUN_LAPLACE) {
        value = e + 2 * log1p(-delta);
    } else if (part->kind == PLD_RUN_RANGE) {
        double root = sqrt(delta * -expm1(-e));
        value = e + 2 * log1p(-root);
        slack += SLACK * root / (1 - root);
    } else {
        double inside = delta * (1 + exp(-e));
        value = inside < 1 ? e + log1p(-inside) : 0;
    }
    return (struct interval){fmax(0, value - slack), fmax(0, value + slack)};
}

static struct interval base_delta(const struct pld_part *part, double epsilon)
{
    double e = part->size;
    double value = 0;
    double error = 0;
    if (part->kind == PLD_RUN_GAUSSIAN) {
        value = gaussian_delta(e, epsilon, &error);
    } else if (epsilon >= e * (1 + SLACK)) {
        return (struct interval){0, 0};
    } else {
        value = -expm1((epsilon - e) / 2);
        error = SLACK * (value + e + epsilon);
        if (part->kind == PLD_RUN_RANGE) { /* its square, so as to be as good relative to it */
            error = (2 * value + error) * error / -expm1(-e);
            value *= value / -expm1(-e);
        } else if (part->kind == PLD_RUN_RESPONSE) {
            value = -expm1(epsilon - e) / (1 + exp(-e));
        }
    }
    return (struct interval){fmax(0, value - error), fmin(1, fmax(0, value + error))};
}

static double sampled_of(double epsilon, double q)
{
    if (q >= 1) {
        return epsilon;
    }
    return epsilon < 500 ? log1p(q * expm1(epsilon))
                         : epsilon + log(q) + (1 - q) / q * exp(-epsilon);
}

struct interval pld_single_epsilon(const struct pld_part *part, double delta)
{
    double q = part->sampling;
    if (delta / q >= 1) {
        return (struct interval){0, 0};
    }
    struct interval base = base_epsilon(part, delta / q);
    return (struct interval){fmax(0, sampled_of(base.low, q) * (1 - SLACK) - SLACK * base.low * q),
                             sampled_of(base.high, q) * (1 + SLACK)};
}

struct interval pld_single_delta(const struct pld_part *part, double epsilon)
{
    double q = part->sampling;
    double base = epsilon < 500 ? log1p(expm1(epsilon) / q)
                                : epsilon - log(q) + log1p(-(1 - q) * exp(-epsilon));
    if (q >= 1) {
        base = epsilon;
    }
    struct interval low = base_delta(part, base * (1 + SLACK));
    struct interval high = base_delta(part, base * (1 - SLACK));
    return (struct interval){q * low.low * (1 - SLACK), fmin(1, q * high.high * (1 + SLACK))};
}
