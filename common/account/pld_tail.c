/* The tail of the sum: delta(epsilon) = E[(1 - e^(epsilon - S))+] under P, from the tilted masses r_i at
 * losses S_i. With A = sum of r_i e^-(tilt (S_i - s)) and B the same with tilt + 1, over S_i > s, and
 * epsilon = s + t not above the next loss,
 *
 *     delta = e^(K - tilt s) (A - e^t B),
 *
 * and A and B follow from the top down by additions of what is not negative (but for the transform's
 * noise), with a bound on their rounding carried along. What the masses are off by counts with the
 * weight w(y) = e^-(tilt y) (1 - e^-y) <= c = tilt^tilt/(1 + tilt)^(1 + tilt) for those all together,
 * and with the sum of weights, at most c + 1/(tilt (tilt + 1) step) (w rises, then falls), for each
 * cell's. */

#include "account/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDING (DBL_EPSILON / 2)

struct tail {
    double a;
    double b;
    double error; /* of a and b together */
};

/* The tail beyond the grid point below: one more mass joins. */
static struct tail tail_below(struct tail tail, double mass, double decay_a, double decay_b)
{
    struct tail next = {(tail.a + mass) * decay_a, (tail.b + mass) * decay_b, 0};
    next.error = tail.error * decay_a + 4 * ROUNDING * (fabs(next.a) + fabs(next.b) + fabs(mass));
    return next;
}

/* Errors of masses, in the units of a and b at weight 1. */
static double weighted_error(const struct pld_sum *sum)
{
    double tilt = sum->tilt;
    double peak = exp(-tilt * log1p(1 / tilt)) / (1 + tilt);
    double weights = fmin((double)sum->count * peak, peak + 1 / (tilt * (tilt + 1) * sum->step));
    return (sum->mass_error * peak + sum->cell_error * weights) * (1 + 1e-9);
}

/* A - e^t B, bounded. */
static double value_at(const struct pld_sum *sum, struct tail tail, double t, double error,
                       bool upper)
{
    double grown = exp(t);
    double off = tail.error * (1 + grown) + 8 * ROUNDING * (fabs(tail.a) + grown * fabs(tail.b)) +
                 error * exp(-sum->tilt * t);
    double value = tail.a - grown * tail.b;
    return upper ? value + off : value - off;
}

/* The exponent by which that becomes delta, at a place counted from loss 0 of the sum's index. */
static double exponent_at(const struct pld_sum *sum, double place, bool upper)
{
    double along = sum->tilt * place * sum->step;
    double off = sum->log_error + 4 * ROUNDING * (fabs(along) + fabs(sum->log_mass));
    return sum->log_mass - along + (upper ? off : -off);
}

double pld_sum_epsilon(const struct pld_sum *sum, double log_delta, bool upper)
{
    double decay_a = exp(-sum->tilt * sum->step);
    double decay_b = exp(-(sum->tilt + 1) * sum->step);
    double error = weighted_error(sum);
    struct tail tail = {0, 0, 0};
    double low = 0;
    double high = sum->step;
    bool found = false;
    double place = sum->first + (double)(sum->count - 1);

    /* at place: tail holds what lies above it */
    for (size_t i = sum->count; i > 0 && !found; i--, place--) {
        if (i < sum->count) {
            tail = tail_below(tail, sum->mass[i], decay_a, decay_b);
        }
        double target = exp(log_delta - exponent_at(sum, place, upper));
        double value = value_at(sum, tail, 0, error, upper);
        if (upper && value > target && i == sum->count) {
            return INFINITY;
        }
        found = upper ? value > target : value >= target;
    }
    if (!found) {
        return upper ? sum->offset + sum->step * sum->first : -INFINITY;
    }
    place += 1;
    double target = exp(log_delta - exponent_at(sum, place, upper));
    for (unsigned i = 0; i < 64; i++) {
        double middle = (low + high) / 2;
        double value = value_at(sum, tail, middle, error, upper);
        bool above = upper ? value > target : value >= target;
        *(above ? &low : &high) = middle;
    }
    return sum->offset + place * sum->step + (upper ? high : low);
}

double pld_sum_log_delta(const struct pld_sum *sum, double epsilon, bool upper)
{
    double decay_a = exp(-sum->tilt * sum->step);
    double decay_b = exp(-(sum->tilt + 1) * sum->step);
    struct tail tail = {0, 0, 0};
    double at = floor((epsilon - sum->offset) / sum->step);
    double place = sum->first + (double)sum->count - 1;

    if (at > place) {
        return upper ? INFINITY : -INFINITY;
    }
    at = fmax(at, sum->first - 1);
    for (size_t i = sum->count; i > 0 && place > at; i--, place--) {
        tail = tail_below(tail, sum->mass[i - 1], decay_a, decay_b);
    }
    double t = epsilon - sum->offset - place * sum->step;
    double off = 8 * ROUNDING * (fabs(epsilon) + fabs(sum->offset) + fabs(place * sum->step));
    t += upper ? -off : off;
    double value = value_at(sum, tail, t, weighted_error(sum), upper);
    return value > 0 ? log(value) + exponent_at(sum, place, upper) + (upper ? 1e-15 : -1e-15)
                     : -INFINITY;
}

double pld_sum_raised(const struct pld_sum *sum, double log_probability)
{
    double bits = -log_probability;
    double third = sum->reach * bits / 3;
    return sum->drift + third + sqrt(third * third + 2 * sum->variance * bits);
}
