/* filter.c - the Renyi filter and odometer at one fixed order, beside the sum of pure epsilons.
 * Doubles choose the order and the budget once, and price a charge; what is compared are integers:
 * every price rounded up, the budget rounded down. Feldman and Zrnic, "Individual privacy
 * accounting via a Renyi filter" (2021); Lecuyer, "Practical privacy filters and odometers with
 * Renyi differential privacy" (2021); conversion: Canonne, Kamath, Steinke (2020). */

#include "dp/filter.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "base/check.h"
#include "base/wide.h"

#include <math.h>

#define NANO_ONE 1e9

/* Orders 1 + m 2^e, 16 to an octave, exact in binary: the same on every machine. */
enum { ORDERS_PER_OCTAVE = 16, OCTAVE_FIRST = -10, OCTAVE_LAST = 30 };

/* Levels of the odometer: R 2^(j/4) for j from -12 to 11. */
enum { LEVELS = 24, LEVEL_OF_LIMIT = 12, LEVELS_PER_OCTAVE = 4 };

static double up(double x)
{
    return nextafter(x, INFINITY);
}

/* ceil(x * unit), saturating; also what is not a number is unbounded. */
static uint64_t units_above(double x, double unit)
{
    double units = ceil(up(up(x) * unit));
    return x <= 0 ? 0 : units < 0x1p63 ? (uint64_t)units : UINT64_MAX;
}

static uint64_t times(uint64_t a, uint64_t count)
{
    uint128 product = (uint128)a * count;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static double order_at(int index)
{
    return 1 + ldexp(ORDERS_PER_OCTAVE + index % ORDERS_PER_OCTAVE,
                     OCTAVE_FIRST + index / ORDERS_PER_OCTAVE - 4);
}

/* The divergence that converts to exactly (epsilon, delta), but for rounding. */
static double budget_at(double order, double epsilon, double delta)
{
    return epsilon - log1p(-1 / order) + (log(delta) + log(order)) / (order - 1);
}

/* The budget in units, brought down until the accountant's own conversion agrees. */
static uint64_t budget_units(double order, double epsilon, double delta)
{
    double budget = budget_at(order, epsilon, delta) * NANO_ONE;
    uint64_t units = !(budget > 0) ? 0 : budget < 0x1p63 ? (uint64_t)budget : UINT64_C(1) << 63;
    uint64_t step = 1;

    while (units > 0 &&
           !(renyi_to_epsilon(order, up(up((double)units) / NANO_ONE), delta) <= epsilon)) {
        units -= step < units ? step : units;
        step *= 2;
    }
    return units;
}

static double epsilon_below(uint64_t epsilon_micro)
{
    double epsilon = (double)epsilon_micro / (double)EPSILON_MICRO_ONE;
    return nextafter(nextafter(epsilon, 0), 0);
}

/* What the conversion may fail with: half of D; a D of 1 or more says nothing, and 1/2 will do. */
static double conversion_delta(const struct filter *filter)
{
    uint64_t half = filter->limit.delta_atto / 2;
    half = half < DELTA_ATTO_ONE / 2 ? half : DELTA_ATTO_ONE / 2;
    return nextafter((double)half / (double)DELTA_ATTO_ONE, 0);
}

struct filter filter_new(struct price limit)
{
    struct filter filter = {.limit = limit, .own_delta_max = limit.delta_atto};
    double epsilon = epsilon_below(limit.epsilon_micro);
    double delta = conversion_delta(&filter);
    double best = 0;

    if (!(delta > 0)) {
        return filter;
    }
    for (int i = 0; i < ORDERS_PER_OCTAVE * (OCTAVE_LAST - OCTAVE_FIRST); i++) {
        double order = order_at(i);
        double rate = budget_at(order, epsilon, delta) / order;
        if (rate > best) { /* per unit of zero-concentrated divergence */
            best = rate;
            filter.order = order;
        }
    }
    if (filter.order > 0) {
        filter.own_delta_max = limit.delta_atto / 2;
        filter.renyi_max = budget_units(filter.order, epsilon, delta);
    }
    return filter;
}

static uint64_t pure_micro(const struct charge *charge, const struct privacy_event *event)
{
    if (charge->epsilon_micro == 0) {
        return UINT64_MAX;
    }
    uint64_t once = charge->epsilon_micro;
    if (event->sampling < 1) {
        double amplified = pure_epsilon(event);
        once = isnan(amplified) ? UINT64_MAX : units_above(amplified, (double)EPSILON_MICRO_ONE);
        once = once < charge->epsilon_micro ? once : charge->epsilon_micro;
    }
    return times(once, event->count);
}

struct cost filter_cost(const struct filter *filter, const struct charge *charge)
{
    struct cost cost = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (charge->neighbours != NEIGHBOURS_REPLACE_ONE) {
        return cost;
    }
    struct privacy_event event = charge_event(charge);
    cost.epsilon_micro = pure_micro(charge, &event);
    cost.delta_atto = times(charge->delta_atto, event.count);
    cost.renyi_nano = 0;
    if (filter->order > 0) {
        double divergence = renyi_divergence(&event, filter->order);
        cost.renyi_nano =
            isnan(divergence) ? UINT64_MAX : times(units_above(divergence, NANO_ONE), event.count);
    }
    return cost;
}

bool filter_admits(const struct filter *filter, const struct cost *sums)
{
    bool pure =
        sums->epsilon_micro != UINT64_MAX && sums->epsilon_micro <= filter->limit.epsilon_micro;
    bool renyi = filter->order > 0 && sums->renyi_nano <= filter->renyi_max;
    return sums->delta_atto != UINT64_MAX && sums->delta_atto <= filter->own_delta_max &&
           (pure || renyi);
}

struct cost cost_add(struct cost a, struct cost b)
{
    return (struct cost){saturating_add(a.epsilon_micro, b.epsilon_micro),
                         saturating_add(a.delta_atto, b.delta_atto),
                         saturating_add(a.renyi_nano, b.renyi_nano)};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct cost cost_max(struct cost a, struct cost b)
{
    return (struct cost){larger(a.epsilon_micro, b.epsilon_micro),
                         larger(a.delta_atto, b.delta_atto), larger(a.renyi_nano, b.renyi_nano)};
}

struct cost cost_times(struct cost a, uint64_t count)
{
    return (struct cost){times(a.epsilon_micro, count), times(a.delta_atto, count),
                         times(a.renyi_nano, count)};
}

uint64_t filter_uses(const struct filter *filter, const struct cost *sums)
{
    uint64_t pure = sums->epsilon_micro;
    if (filter->order == 0 || filter->renyi_max == 0 || sums->renyi_nano == UINT64_MAX) {
        return pure;
    }
    uint128 part = (uint128)sums->renyi_nano * filter->limit.epsilon_micro / filter->renyi_max;
    return part < pure ? (uint64_t)part : pure;
}

uint64_t filter_renyi_share(const struct filter *filter, const struct cost *sums)
{
    enum { WHOLE = 10000 };
    if (filter->order == 0 || sums->renyi_nano == 0) {
        return 0;
    }
    if (filter->renyi_max == 0) {
        return UINT64_MAX;
    }
    uint128 share = ((uint128)sums->renyi_nano * WHOLE + filter->renyi_max - 1) / filter->renyi_max;
    return share > UINT64_MAX ? UINT64_MAX : (uint64_t)share;
}

uint64_t filter_epsilon(const struct filter *filter, const struct cost *sums)
{
    double delta = conversion_delta(filter);
    uint64_t spent = sums->epsilon_micro;

    if (sums->delta_atto > filter->own_delta_max) {
        return UINT64_MAX;
    }
    if (filter->order > 0 && sums->renyi_nano > 0 && sums->renyi_nano < UINT64_MAX && delta > 0) {
        double divergence = up((double)sums->renyi_nano / NANO_ONE);
        double epsilon = renyi_to_epsilon(filter->order, divergence, delta);
        uint64_t micro = units_above(fmax(epsilon, 0), (double)EPSILON_MICRO_ONE);
        spent = micro < spent ? micro : spent;
    }
    return filter_admits(filter, sums) && spent > filter->limit.epsilon_micro
               ? filter->limit.epsilon_micro
               : spent;
}

uint64_t filter_odometer(const struct filter *filter, const struct cost *sums)
{
    double delta = conversion_delta(filter) / LEVELS;
    uint64_t spent = sums->epsilon_micro;

    if (sums->delta_atto > filter->own_delta_max) {
        return UINT64_MAX; /* they fail more often than D allows, whatever epsilon is */
    }
    if (filter->order == 0 || sums->renyi_nano == 0 || !(delta > 0)) {
        return spent;
    }
    for (int level = 0; level < LEVELS; level++) {
        double exponent = (double)(level - LEVEL_OF_LIMIT) / LEVELS_PER_OCTAVE;
        double bound = floor((double)filter->renyi_max * exp2(exponent));
        if (bound < 0x1p62 && sums->renyi_nano <= (uint64_t)bound) {
            double epsilon = renyi_to_epsilon(filter->order, up(bound / NANO_ONE), delta);
            uint64_t micro = units_above(fmax(epsilon, 0), (double)EPSILON_MICRO_ONE);
            return micro < spent ? micro : spent;
        }
    }
    return spent;
}

/* Bisection over whole millionths of sigma, asking the filter that will be asked. */

/* The sums with `count` rounds at this sigma. Which pass and rows does not matter to a price. */
static bool plan_is_admitted(const struct filter *filter, const struct filter_plan *plan,
                             struct cost spent, uint64_t sigma_micro)
{
    const struct charge charge = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .sigma_micro = sigma_micro,
                                  .delta_atto = plan->delta_atto,
                                  .count = plan->count,
                                  .sampling_nano = plan->sampling_nano,
                                  .pass = {.byte = {1}},
                                  .row_count = 1};
    const struct cost sums = cost_add(spent, filter_cost(filter, &charge));
    return filter_admits(filter, &sums);
}

enum status filter_sigma(uint64_t *sigma_micro, const struct filter_plan *plan, struct why *why)
{
    *sigma_micro = 0;
    if (plan->count == 0 || plan->count > CHARGE_COUNT_MAX || plan->sampling_nano == 0 ||
        plan->sampling_nano > SAMPLING_NANO_ONE || plan->delta_atto >= DELTA_ATTO_ONE) {
        return why_refuse(
            why, "Gaussian rounds: from 1 to 2^53 of them, at a sampling rate above 0 and at "
                 "most 1");
    }
    const struct filter filter = filter_new(plan->limit);
    struct cost spent = {0, 0, 0};
    for (size_t i = 0; i < plan->fixed_count; i++) {
        CHECK(charge_is_valid(&plan->fixed[i]));
        spent = cost_add(spent, filter_cost(&filter, &plan->fixed[i]));
    }
    uint64_t low = 0; /* not admitted: no noise at all */
    uint64_t high = FILTER_SIGMA_MAX;
    if (!plan_is_admitted(&filter, plan, spent, high)) {
        return why_fail(
            why, STATUS_EXHAUSTED,
            filter.order == 0
                ? "Gaussian noise needs a delta: the limit has none, or one too small for its "
                  "epsilon"
                : "no Gaussian noise is enough: fewer rounds, a larger epsilon or delta, or less "
                  "spent on the other stages");
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan_is_admitted(&filter, plan, spent, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *sigma_micro = high;
    return STATUS_OK;
}
