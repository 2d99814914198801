/* The tail of the sum: delta(epsilon) = E[(1 - e^(epsilon - S))+] under P, from the tilted masses
 * r_i at losses S_i. With A = sum of r_i e^-(tilt (S_i - s)) and B the same with tilt + 1, over S_i
 * >= s, and epsilon = s - y not below the loss before s,
 *
 *     delta = e^(K - tilt s) (A - e^-y B),
 *
 * and A and B follow from the top down by additions of what is not negative (but for the
 * transform's noise), with a bound on their rounding carried along. What the masses are off by
 * counts with the weight w(x) = e^-(tilt x) (1 - e^-x) <= c = tilt^tilt/(1 + tilt)^(1 + tilt), x =
 * loss - epsilon, for those all together, and with the sum of weights, at most c + 1/(tilt (tilt +
 * 1) step) (w rises, then falls), for each cell's; both times e^(tilt y), which comes from s in
 * place of epsilon. */

#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDING (DBL_EPSILON / 2)

enum { BLOCK = 64 };

struct tail {
    double a;
    double b;
    double error;  /* of a and b together */
    double masses; /* the sum of the errors of masses, at y = 0 */
};

/* The tail one grid point further down: what is above moves away, the point's own mass joins. */
static struct tail tail_below(struct tail tail, double mass, double decay_a, double decay_b)
{
    struct tail next = {tail.a * decay_a + mass, tail.b * decay_b + mass, 0, tail.masses};
    next.error = tail.error * decay_a + 4 * ROUNDING * (fabs(next.a) + fabs(next.b) + fabs(mass));
    return next;
}

static double weighted_error(const struct pld_sum *sum)
{
    double tilt = sum->tilt;
    double peak = exp(-tilt * log1p(1 / tilt)) / (1 + tilt);
    double weights = fmin((double)sum->count * peak, peak + 1 / (tilt * (tilt + 1) * sum->step));
    return (sum->mass_error * peak + sum->cell_error * weights) * (1 + 1e-9);
}

/* A - e^-y B, bounded. */
static double value_at(const struct pld_sum *sum, struct tail tail, double y, bool upper)
{
    double grown = y > 0 ? exp(sum->tilt * y) : 1;
    double off =
        2 * tail.error + 8 * ROUNDING * (fabs(tail.a) + fabs(tail.b)) + tail.masses * grown;
    double value = tail.a - tail.b + -expm1(-y) * tail.b;
    return upper ? value + off : value - off;
}

/* The exponent by which that becomes delta, at s on the grid point of this index. */
static double exponent_at(const struct pld_sum *sum, double place, bool upper)
{
    double along = sum->tilt * place * sum->step;
    double off = sum->log_error + 4 * ROUNDING * (fabs(along) + fabs(sum->log_mass));
    return sum->log_mass - along + (upper ? off : -off);
}

/* What A - e^-y B has to be for that delta. */
static double target_at(const struct pld_sum *sum, double place, double log_delta, bool upper)
{
    return exp(log_delta - exponent_at(sum, place, upper));
}

/* Whether delta at y below this grid point is certainly at most (upper) or at least the one asked.
 */
static bool holds(const struct pld_sum *sum, struct tail tail, double place, double y,
                  double log_delta, bool upper)
{
    double target = target_at(sum, place, log_delta, upper);
    double value = value_at(sum, tail, y, upper);
    return upper ? isfinite(value) && value <= target : value >= target;
}

/* The epsilon where that begins to fail (upper) or to hold; it does at `good` below the point. */
static double narrow(const struct pld_sum *sum, struct tail tail, double place, double good,
                     double bad, double log_delta, bool upper)
{
    for (unsigned i = 0; i < 64; i++) {
        double middle = (good + bad) / 2;
        *(holds(sum, tail, place, middle, log_delta, upper) ? &good : &bad) = middle;
    }
    return sum->offset + place * sum->step - good;
}

/* Whether delta may be as large as that anywhere down to the point before: A - e^-y B is at most A. */
static bool may_hold(const struct pld_sum *sum, struct tail tail, double place, double log_delta)
{
    return tail.a >= target_at(sum, place, log_delta, false);
}

/* Whether delta can be that much between points and at neither of them. */
static bool is_wide(const struct pld_sum *sum)
{
    return log1p(1 / sum->tilt) < sum->step;
}

/* From how far up the points have to be looked at one by one: delta at those BLOCK apart says that
 * all above are beyond doubt. tail gets what lies at and above the point returned. */
static size_t skip(struct tail *tail, const struct pld_sum *sum, double log_delta, bool upper)
{
    double decay_a = exp(-sum->tilt * sum->step);
    double decay_b = exp(-(sum->tilt + 1) * sum->step);
    bool none = sum->count < BLOCK * BLOCK || (!upper && is_wide(sum));
    struct tail at = *tail;
    size_t from = sum->count;
    for (size_t i = none ? 0 : sum->count; i > BLOCK;) {
        for (size_t last = i - BLOCK; i > last; i--) {
            at = tail_below(at, sum->mass[i - 1], decay_a, decay_b);
        }
        double place = sum->first + (double)i;
        /* Below, the errors of masses grow so fast on the way down that a point may hold between two
         * that do not */
        bool beyond = upper ? !holds(sum, at, place, 0, log_delta, true)
                            : may_hold(sum, at, place, log_delta);
        if (beyond) {
            break;
        }
        *tail = at;
        from = i;
    }
    return from;
}

double pld_sum_epsilon(const struct pld_sum *sum, double log_delta, bool upper)
{
    double decay_a = exp(-sum->tilt * sum->step);
    double decay_b = exp(-(sum->tilt + 1) * sum->step);
    double weightiest = log1p(1 / sum->tilt); /* below a mass */
    bool wide = !upper && is_wide(sum);
    struct tail tail = {0, 0, 0, weighted_error(sum)};

    for (size_t i = skip(&tail, sum, log_delta, upper); i > 0; i--) {
        double place = sum->first + (double)(i - 1);
        struct tail above = tail;
        tail = tail_below(tail, sum->mass[i - 1], decay_a, decay_b);
        if (wide && !may_hold(sum, tail, place, log_delta)) {
            continue;
        }
        bool here = holds(sum, tail, place, 0, log_delta, upper);
        if (here != upper) {
            if (i == sum->count) {
                return upper ? INFINITY : sum->offset + place * sum->step;
            }
            return upper ? narrow(sum, above, place + 1, 0, sum->step, log_delta, true)
                         : narrow(sum, above, place + 1, sum->step, 0, log_delta, false);
        }
        for (int doublings = 0; wide && doublings <= 5 && ldexp(weightiest, doublings) < sum->step;
             doublings++) {
            double y = ldexp(weightiest, doublings);
            if (holds(sum, tail, place, y, log_delta, false)) {
                return narrow(sum, tail, place, y, 0, log_delta, false);
            }
        }
    }
    return upper ? sum->offset + sum->step * sum->first : -INFINITY;
}

double pld_sum_log_delta(const struct pld_sum *sum, double epsilon, bool upper)
{
    double decay_a = exp(-sum->tilt * sum->step);
    double decay_b = exp(-(sum->tilt + 1) * sum->step);
    struct tail tail = {0, 0, 0, weighted_error(sum)};
    double at = fmax(ceil((epsilon - sum->offset) / sum->step), sum->first);

    if (at > sum->first + (double)sum->count - 1) {
        return upper ? INFINITY : -INFINITY;
    }
    for (size_t i = sum->count; i > 0 && sum->first + (double)(i - 1) >= at; i--) {
        tail = tail_below(tail, sum->mass[i - 1], decay_a, decay_b);
    }
    double y = sum->offset + at * sum->step - epsilon;
    double off = 8 * ROUNDING * (fabs(epsilon) + fabs(sum->offset) + fabs(at * sum->step));
    double value = value_at(sum, tail, fmax(0, y + (upper ? off : -off)), upper);
    return value > 0 ? log(value) + exponent_at(sum, at, upper) + (upper ? 1e-15 : -1e-15)
                     : -INFINITY;
}

double pld_sum_raised(const struct pld_sum *sum, double log_probability)
{
    double bits = -log_probability;
    double third = sum->reach * bits / 3;
    return sum->drift + third + sqrt(third * third + 2 * sum->variance * bits);
}
