/* The exact law of the total loss, state by state: how often each group's responses told the
 * truth. The masses are products of binomial probabilities, as logarithms until the end; from the
 * largest loss downward, D and E of response.c follow them, with a gap of its own at every step.
 *
 * Rounding: law_binomial_error() of every group, at most the number of states times 4 units for the
 * sums, and losses that are off by a few units of the sum of epsilons, which shifts epsilon by no
 * more. */

#include "account/law.h"
#include "account/responses.h"
#include "account/rounding.h"

#include <math.h>
#include <stdlib.h>

struct state {
    double loss;
    double mass; /* its logarithm, until scale() */
};

static int compare(const void *left, const void *right)
{
    double a = ((const struct state *)left)->loss;
    double b = ((const struct state *)right)->loss;
    return (a < b) - (a > b);
}

/* Multiplies the first `size` states by one group, from the back so that none is overwritten
 * before it was read; returns the new size. */
static size_t multiply(struct state *states, size_t size, const struct response *group)
{
    struct binomial binomial = response_binomial(group);
    size_t outcomes = (size_t)group->count + 1;
    for (size_t outcome = outcomes; outcome-- > 0;) {
        double loss = (2 * (double)outcome - binomial.trials) * group->epsilon;
        double mass = law_binomial_log(&binomial, (double)outcome);
        struct state *to = states + outcome * size;
        for (size_t i = 0; i < size; i++) {
            to[i] = (struct state){states[i].loss + loss, states[i].mass + mass};
        }
    }
    return size * outcomes;
}

/* Relative error of every mass that matters: those below e^-745 do not. */
static double states_error(const struct response *groups, size_t count, size_t size)
{
    double error = 8 * (double)size;
    for (size_t i = 0; i < count; i++) {
        error += 16 * ((double)groups[i].count + 2 * 800 + 32);
    }
    return error * DBL_EPSILON;
}

/* Error of every loss. */
static double loss_error(const struct response *groups, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)groups[i].count * groups[i].epsilon;
    }
    return (8 + (double)count) * DBL_EPSILON * sum;
}

/* The epsilon at which delta is target, both in units of e^unit. */
static double solve(const struct state *states, size_t size, double unit, double target)
{
    double delta = 0;
    double slope = exp(states[0].mass - unit);
    for (size_t i = 0; i < size && states[i].loss > 0; i++) {
        double gap = states[i].loss - (i + 1 < size ? fmax(states[i + 1].loss, 0) : 0);
        double fraction = -expm1(-gap);
        if (delta + fraction * slope > target) {
            double rest = (target - delta) / slope;
            return states[i].loss + (rest > 0 ? log1p(-fmin(rest, fraction)) : 0);
        }
        delta += fraction * slope;
        slope = (1 - fraction) * slope + (i + 1 < size ? exp(states[i + 1].mass - unit) : 0);
    }
    return 0;
}

static struct interval ask_epsilon(struct state *states, size_t size, double at, double error,
                                   double shift)
{
    qsort(states, size, sizeof *states, compare);
    return (struct interval){fmax(solve(states, size, log(at), 1 + error) - shift, 0),
                             solve(states, size, log(at), 1 - error) + shift};
}

static struct interval ask_delta(const struct state *states, size_t size, double at, double error,
                                 double shift)
{
    double unit = -INFINITY;
    double delta = 0;
    double above = 0;
    for (size_t i = 0; i < size; i++) {
        unit = states[i].loss > at ? fmax(unit, states[i].mass) : unit;
    }
    if (isinf(unit)) {
        unit = 0;
    }
    for (size_t i = 0; i < size; i++) {
        double mass = states[i].loss > at - shift ? exp(states[i].mass - unit) : 0;
        above += mass;
        delta += states[i].loss > at ? mass * -expm1(at - states[i].loss) : 0;
    }
    double scale = exp(unit);
    return (struct interval){fmax((delta * (1 - error) - above * shift) * scale, 0),
                             (delta * (1 + error) + above * (1 + error) * shift) * scale + DBL_MIN};
}

enum status responses_states(struct interval *out, const struct response *groups, size_t count,
                             size_t size, struct response_question question)
{
    struct state *states = calloc(size, sizeof *states);
    if (states == NULL) {
        return STATUS_NO_MEMORY;
    }
    size_t filled = 1;
    for (size_t i = 0; i < count; i++) {
        filled = multiply(states, filled, &groups[i]);
    }
    double error = states_error(groups, count, size);
    double shift = loss_error(groups, count);
    *out = question.wants_epsilon ? ask_epsilon(states, size, question.at, error, shift)
                                  : ask_delta(states, size, question.at, error, shift);
    free(states);
    return STATUS_OK;
}
