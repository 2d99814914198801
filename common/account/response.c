/* The loss of k runs is (2 j - k) epsilon, j binomial (k, p), p = e^epsilon/(1 + e^epsilon). With
 * x_j the probability of j, walk down from the largest loss and keep
 *
 *   E_j = sum over i >= j of x_i e^(loss_j - loss_i),    D_j = delta at epsilon = loss_j:
 *   E_j = x_j + r E_(j+1),    D_j = D_(j+1) + (1 - r) E_(j+1),    r = e^(-2 epsilon).
 *
 * Sums of positive terms: nothing cancels. Below loss_j, down to the next loss, delta(e) = D_j +
 * E_j (1 - e^(e - loss_j)), which is solved for e as it stands (Kairouz, Oh, Viswanath 2015,
 * theorem 3.3, which gives delta at the losses, continued between them).
 *
 * The walk starts where the tail above is negligible; the tail is part of the error. Errors: x_j
 * steps by a product of 4 roundings, D and E take 3 each, so n steps err by 8 n units at most, and
 * the start by that of its logarithm. */

#include "account/responses.h"

#include "account/law.h"
#include "account/rounding.h"

#include <math.h>
#include <stdbool.h>

/* The neglected tail, in units of what is sought: e^-42 is below one unit of rounding. */
#define TAIL 42

struct walk {
    double epsilon;
    double count;
    double hits;     /* j */
    double mass;     /* x_j in units of e^unit */
    double slope;    /* E_j */
    double delta;    /* D_j */
    double odds;     /* e^-epsilon */
    double kept;     /* r */
    double fraction; /* 1 - r */
    double error;    /* relative, of all three, but for the steps */
    double steps;
};

struct binomial response_binomial(const struct response *response)
{
    double odds = exp(-response->epsilon);
    return (struct binomial){(double)response->count, 1 / (1 + odds), odds / (1 + odds)};
}

static double loss_at(const struct walk *walk, double hits)
{
    return (2 * hits - walk->count) * walk->epsilon;
}

/* The least j at which the tail j .. k is at most e^bound; k when there is none. */
static double tail_start(const struct binomial *binomial, double bound)
{
    double low = floor(binomial->trials * binomial->p);
    double high = binomial->trials;
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (law_binomial_tail(binomial, middle) <= bound) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* The greatest j at which the tail 0 .. j is at most e^bound, at least `least`. */
static double tail_end(const struct binomial *binomial, double least, double bound)
{
    double low = least;
    double high = floor(binomial->trials * binomial->p);
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (law_binomial_tail(binomial, middle) <= bound) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct walk walk_from(const struct response *response, double hits, double unit)
{
    struct binomial binomial = response_binomial(response);
    double mass = exp(law_binomial_log(&binomial, hits) - unit);
    return (struct walk){.epsilon = response->epsilon,
                         .count = binomial.trials,
                         .hits = hits,
                         .mass = mass,
                         .slope = mass,
                         .odds = exp(-response->epsilon),
                         .kept = exp(-2 * response->epsilon),
                         .fraction = -expm1(-2 * response->epsilon),
                         .error = law_binomial_error(&binomial, hits) +
                                  4 * DBL_EPSILON * (fabs(unit) + TAIL)};
}

static void step(struct walk *walk)
{
    walk->mass *= walk->hits / (walk->count - walk->hits + 1) * walk->odds;
    walk->delta += walk->fraction * walk->slope;
    walk->slope = walk->mass + walk->kept * walk->slope;
    walk->hits--;
    walk->steps++;
}

static double walk_error(const struct walk *walk)
{
    return walk->error + 8 * DBL_EPSILON * (walk->steps + 8);
}

/* Solves delta(e) = target on the piece below the walk's loss; never below 0. */
static double solve(const struct walk *walk, double target)
{
    double rest = (target - walk->delta) / walk->slope;
    double epsilon = loss_at(walk, walk->hits);
    if (rest > 0) {
        epsilon += rest < walk->fraction ? log1p(-rest) : -2 * walk->epsilon;
    }
    return epsilon > 0 ? epsilon : 0;
}

/* Walks on until delta exceeds target (in the walk's units) before the next loss, or that loss is
 * 0. */
static void walk_to_delta(struct walk *walk, double target)
{
    while (loss_at(walk, walk->hits - 1) > 0 &&
           walk->delta + walk->fraction * walk->slope <= target) {
        step(walk);
    }
}

struct interval response_epsilon(const struct response *response, double delta)
{
    struct binomial binomial = response_binomial(response);
    double unit = log(delta);
    double start = tail_start(&binomial, unit - TAIL);
    struct walk walk = walk_from(response, start, unit);
    struct interval interval = {0, 0};

    if (loss_at(&walk, start) > 0) {
        /* The bound on the error needs the number of steps: twice, the second time with it. */
        struct walk ahead = walk;
        walk_to_delta(&ahead, 1);
        double error = 2 * walk_error(&ahead);
        struct walk below = walk;
        walk_to_delta(&walk, 1 - error);
        walk_to_delta(&below, 1 + error);
        interval.high = solve(&walk, 1 - error);
        interval.low = solve(&below, 1 + error);
    }
    /* An epsilon that errs by e of itself moves the result by k e at most: responses with epsilon
     * + e are less private than with epsilon followed by others with e. */
    double rounding = 8 * DBL_EPSILON * (double)response->count * response->epsilon;
    interval.high =
        fmin(interval.high + rounding, rounding_up((double)response->count * response->epsilon, 1));
    interval.low = fmax(interval.low - rounding, 0);
    return interval;
}

/* Where the loss first exceeds epsilon; k + 1 where it never does. */
static double first_above(const struct response *response, double epsilon)
{
    double count = (double)response->count;
    double hits = fmin(floor((epsilon / response->epsilon + count) / 2), count) + 1;
    while (hits > 1 && (2 * (hits - 1) - count) * response->epsilon > epsilon) {
        hits--;
    }
    while (hits <= count && (2 * hits - count) * response->epsilon <= epsilon) {
        hits++;
    }
    return hits;
}

struct interval response_delta(const struct response *response, double epsilon)
{
    struct binomial binomial = response_binomial(response);
    /* Losses err by 4 units of the largest at most. On which side of epsilon a loss lies that is so
     * near to it is not known: it is among the states, and counts for high. */
    double rounding = 8 * DBL_EPSILON * binomial.trials * response->epsilon;
    double last = first_above(response, epsilon - rounding);
    if (last > binomial.trials) {
        return (struct interval){0, 0};
    }
    double unit = law_binomial_log(&binomial, fmax(last, floor(binomial.trials * binomial.p)));
    double lost = unit - 5 * TAIL;
    double start = fmax(last, tail_start(&binomial, lost));
    struct walk walk = walk_from(response, start, unit);
    /* An epsilon far below the mean is not walked to: losses in between would count for so little */
    double stop = tail_end(&binomial, last, -2 * TAIL);
    while (walk.hits > stop) {
        step(&walk);
    }
    double above = loss_at(&walk, stop) - epsilon;
    double error = 2 * walk_error(&walk);
    double tail = start < binomial.trials ? exp(lost + law_binomial_error(&binomial, start)) : 0;
    if (stop > last) {
        tail += exp(-2 * TAIL + law_binomial_error(&binomial, stop));
    }
    double most = walk.delta + walk.slope * -expm1(-(above + rounding));
    double least = walk.delta * (1 - error) + walk.slope * -expm1(-(above - rounding)) *
                                                  (1 + (above < rounding ? error : -error));
    return (struct interval){fmax(0, least * exp(unit)),
                             fmin(1, most * exp(unit) * (1 + error) + tail + DBL_MIN)};
}

/* Chooses how to lay out the law of the total loss. */

#define STATES_MAX ((size_t)1 << 18)
/* Beyond this many groups even the coarsest grid takes seconds. */
#define GROUPS_MAX ((size_t)100000)

/* Product of (count + 1), or 0 above STATES_MAX. */
static size_t state_count(const struct response *groups, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++) {
        if (groups[i].count >= STATES_MAX / size) {
            return 0;
        }
        size *= (size_t)groups[i].count + 1;
    }
    return size;
}

enum status responses_ask(struct interval *out, const struct response *groups, size_t count,
                          struct response_question question)
{
    size_t size = state_count(groups, count);
    bool fits = count <= GROUPS_MAX;
    if (size > 0) {
        return responses_states(out, groups, count, size, question);
    }
    for (size_t i = 0; i < count; i++) {
        fits = fits && groups[i].count <= RESPONSE_COUNT_MAX;
    }
    if (fits) {
        return responses_grid(out, groups, count, question);
    }
    *out = (struct interval){0, question.wants_epsilon ? INFINITY : 1};
    return STATUS_OK;
}
