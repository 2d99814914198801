/* Laws of the closed-form accountants on seeded random lists. Only the lists are random. The bounds
 * hold for every list, so there are no false alarms. */

#include "account/pure.h"
#include "account/renyi.h"
#include "lab/composition/pld.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#define SEED       20240601u
#define LISTS      (IS_SANITIZED ? 10 : 60)
#define EVENTS_MAX 9

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static size_t random_list(struct privacy_event *events, uint64_t *state)
{
    size_t count = 1 + (size_t)(uniform(state) * EVENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct privacy_event){.mechanism = uniform(state) < 0.5 ? MECHANISM_PURE
                                                                             : MECHANISM_LAPLACE,
                                           .parameter = pow(10, -2 + 3 * uniform(state)),
                                           .sensitivity = 1,
                                           .count = 1 + (uint64_t)(uniform(state) * 4),
                                           .sampling = uniform(state) < 0.3 ? 0.1 : 1};
    }
    return count;
}

static struct interval optimal(const struct privacy_event *events, size_t count, double delta)
{
    struct interval out;
    cr_assert_eq(optimal_epsilon(&out, events, count, delta), STATUS_OK);
    cr_assert(out.low <= out.high, "low %.17g high %.17g", out.low, out.high);
    return out;
}

Test(closed, the_optimum_is_below_every_bound_that_knows_only_epsilons)
{
    uint64_t state = SEED;
    struct privacy_event events[EVENTS_MAX + 1];
    for (int i = 0; i < LISTS; i++) {
        size_t count = random_list(events, &state);
        double delta = pow(10, -1 - 9 * uniform(&state));
        struct interval out = optimal(events, count, delta);
        cr_assert(out.low <= basic_epsilon(events, count, delta));
        cr_assert(out.high <= basic_epsilon(events, count, delta) * (1 + 1e-12));
        cr_assert(out.low <= advanced_epsilon(events, count, delta));
        cr_assert(out.low <= zcdp_epsilon(events, count, delta));
    }
}

/* Epsilons from 10^-5 to 100 a run, so that all losses can be far from 0, and deltas up to nearly 1.
 * The bounds by states or grid, and those by the transform of loss distributions, must enclose one
 * value. */
Test(closed, two_ways_to_the_optimum_overlap_for_weak_and_strong_responses)
{
    uint64_t state = SEED + 9;
    for (int i = 0; i < LISTS / 2; i++) {
        const double weak = pow(10, -5 + 5 * uniform(&state));
        const double strong = 1 + 99 * uniform(&state);
        struct privacy_event events[2] = {
            {.parameter = weak, .count = 1 + (uint64_t)(2000 * uniform(&state))},
            {.parameter = strong, .count = 1 + (uint64_t)(2000 * uniform(&state))}};
        for (int j = 0; j < 2; j++) {
            events[j].mechanism = MECHANISM_PURE;
            events[j].sensitivity = 1;
            events[j].sampling = 1;
        }
        const double tiny = pow(10, -9 * uniform(&state));
        const double delta = i % 2 == 0 ? tiny / 2 : 1 - tiny / 2;
        struct interval one = optimal(events, 2, delta);
        struct interval other;
        cr_assert_eq(pld_epsilon(&other, events, 2, delta), STATUS_OK);
        cr_expect(one.high >= other.low && other.high >= one.low,
                  "%g and %g, delta %g: [%.17g, %.17g], [%.17g, %.17g]", weak, strong, delta,
                  one.low, one.high, other.low, other.high);
    }
}

Test(closed, bounds_grow_with_epsilon_and_count_and_fall_with_delta)
{
    static double (*const bounds[])(const struct privacy_event *, size_t, double) = {
        basic_epsilon, advanced_epsilon, zcdp_epsilon, renyi_epsilon};
    uint64_t state = SEED + 1;
    struct privacy_event events[EVENTS_MAX + 1];
    for (int i = 0; i < LISTS; i++) {
        size_t count = random_list(events, &state);
        double delta = pow(10, -1 - 9 * uniform(&state));
        struct interval before = optimal(events, count, delta);
        cr_assert(optimal(events, count, delta / 2).high >= before.low);
        double value[4];
        for (int j = 0; j < 4; j++) {
            value[j] = bounds[j](events, count, delta);
            cr_assert(bounds[j](events, count, delta / 2) >= value[j] * (1 - 1e-9));
        }
        events[0].count++;
        events[count - 1].parameter *= events[count - 1].mechanism == MECHANISM_PURE ? 1.1 : 0.9;
        cr_assert(optimal(events, count, delta).high >= before.low);
        for (int j = 0; j < 4; j++) {
            cr_assert(bounds[j](events, count, delta) >= value[j]);
        }
    }
}

Test(closed, delta_and_epsilon_are_each_others_inverse)
{
    uint64_t state = SEED + 2;
    struct privacy_event events[EVENTS_MAX + 1];
    for (int i = 0; i < LISTS; i++) {
        size_t count = random_list(events, &state);
        double delta = pow(10, -1 - 9 * uniform(&state));
        struct interval epsilon = optimal(events, count, delta);
        struct interval back;
        cr_assert_eq(optimal_delta(&back, events, count, epsilon.high), STATUS_OK);
        cr_assert(back.low <= delta, "%.17g for %.17g", back.low, delta);
        /* Slightly more epsilon, because margins grow with the order, without limit if the pure
         * epsilon is the best bound. */
        double more = 1 + 1e-9;
        double renyi = renyi_epsilon(events, count, delta) * more;
        double zcdp = zcdp_epsilon(events, count, delta) * more;
        double advanced = advanced_epsilon(events, count, delta) * more;
        cr_assert(renyi_delta(events, count, renyi) <= delta * (1 + 1e-6));
        cr_assert(zcdp_delta(events, count, zcdp) <= delta * (1 + 1e-6));
        cr_assert(advanced_delta(events, count, advanced) <= delta * (1 + 1e-6));
    }
}

Test(closed, neither_order_nor_grouping_matters)
{
    uint64_t state = SEED + 3;
    struct privacy_event events[EVENTS_MAX + 1];
    struct privacy_event turned[4 * EVENTS_MAX + 4];
    for (int i = 0; i < LISTS; i++) {
        size_t count = random_list(events, &state);
        double delta = pow(10, -1 - 9 * uniform(&state));
        size_t filled = 0;
        for (size_t j = count; j-- > 0;) {
            for (uint64_t run = 0; run < events[j].count; run++) {
                turned[filled] = events[j];
                turned[filled++].count = 1;
            }
        }
        struct interval one = optimal(events, count, delta);
        struct interval other = optimal(turned, filled, delta);
        cr_assert_eq(one.high, other.high);
        cr_assert_eq(one.low, other.low);
        double renyi = renyi_epsilon(events, count, delta);
        cr_assert_float_eq(renyi_epsilon(turned, filled, delta), renyi, 1e-10 * renyi);
        double zcdp = zcdp_epsilon(events, count, delta);
        cr_assert_float_eq(zcdp_epsilon(turned, filled, delta), zcdp, 1e-10 * zcdp);
    }
}

/* ln of the density of (1 - q) N(0, sigma) + q N(u, sigma), but for a constant */
static double log_mixture(double x, double q, double u, double sigma)
{
    double apart = log1p(-q) - x * x / (2 * sigma * sigma);
    double drawn = log(q) - (x - u) * (x - u) / (2 * sigma * sigma);
    double top = fmax(apart, drawn);
    return top + log(exp(apart - top) + exp(drawn - top));
}

/* Divergence between the records' values u and v, clipped at 1, by the midpoint rule. */
static double replaced(double alpha, double q, double u, double v, double sigma)
{
    double reach = 12 * sigma + 4 + 2 * alpha;
    int points = 4000;
    double step = 2 * reach / points;
    double sum = 0;
    for (int i = 0; i < points; i++) {
        double x = -reach + (i + 0.5) * step;
        sum += exp(alpha * log_mixture(x, q, u, sigma) + (1 - alpha) * log_mixture(x, q, v, sigma));
    }
    return log(sum * step / (sigma * sqrt(6.28318530717958647692))) / (alpha - 1);
}

Test(closed, sampled_gaussian_covers_replaced_records)
{
    static const double sigmas[] = {0.5, 1, 2, 5};
    static const double rates[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    static const double orders[] = {1.05, 1.5, 2, 3, 4, 8};
    static const double values[][2] = {{1, -1}, {-1, 1}, {1, -0.5}, {0.5, -1}, {1, 0}, {0, 1}};
    int caught = 0;
    for (size_t s = 0; s < 4; s++) {
        for (size_t r = 0; r < 5; r++) {
            for (size_t o = 0; o < 6; o++) {
                struct privacy_event event = {.mechanism = MECHANISM_GAUSSIAN,
                                              .neighbours = NEIGHBOURS_REPLACE_ONE,
                                              .parameter = sigmas[s],
                                              .sensitivity = 2,
                                              .count = 1,
                                              .sampling = rates[r]};
                double bound = renyi_divergence(&event, orders[o]);
                event.sensitivity = 1; /* planted: C where 2C is needed */
                double forgotten = renyi_divergence(&event, orders[o]);
                for (size_t v = 0; v < 6; v++) {
                    double truth =
                        replaced(orders[o], rates[r], values[v][0], values[v][1], sigmas[s]);
                    cr_assert(truth <= bound * (1 + 1e-9) + 1e-13);
                    caught += truth > forgotten * 1.01;
                }
            }
        }
    }
    cr_assert_gt(caught, 50);
}

enum { CELLS = 260 };

/* Hockey-stick distance of two runs: sum over pairs of cells of (p p - e^epsilon q q)+. */
static double two_runs(const double *p, const double *q, double epsilon)
{
    double sum = 0;
    for (size_t i = 0; i < CELLS; i++) {
        for (size_t j = 0; j < CELLS; j++) {
            sum += fmax(p[i] * p[j] - exp(epsilon) * q[i] * q[j], 0);
        }
    }
    return sum;
}

/* The record removed, at the distance of a replacement, dominates ONE run of a replacement, not two:
 * at sigma 1, clip 1, q = 0.9 two runs of it have a delta at epsilon 0 of 0.7709, and the
 * replacement 0.7762. The accountant covers the replacement. */
Test(closed, two_runs_of_replaced_records_cost_more_than_of_removed_ones)
{
    const double q = 0.9;
    const double step = 20.0 / CELLS;
    double with[CELLS];
    double other[CELLS];
    double twice[CELLS];
    double without[CELLS];
    for (size_t i = 0; i < CELLS; i++) {
        double x = -9 + ((double)i + 0.5) * step;
        double unit = step / sqrt(6.28318530717958647692);
        with[i] = exp(log_mixture(x, q, 1, 1)) * unit;
        other[i] = exp(log_mixture(x, q, -1, 1)) * unit;
        twice[i] = exp(log_mixture(x, q, 2, 1)) * unit;
        without[i] = exp(-x * x / 2) * unit;
    }
    double replaced_delta = two_runs(with, other, 0);
    double removed_delta = two_runs(twice, without, 0);
    cr_expect(fabs(replaced_delta - 0.7762) < 1e-3, "%g", replaced_delta);
    cr_expect(fabs(removed_delta - 0.7709) < 1e-3, "%g", removed_delta);
    cr_expect_gt(replaced_delta, removed_delta + 4e-3);

    struct privacy_event event = {.mechanism = MECHANISM_GAUSSIAN,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = 1,
                                  .sensitivity = 2,
                                  .count = 2,
                                  .sampling = q};
    struct interval bound = {0, 0};
    for (int i = 0; i < 6; i++) {
        const double epsilon = i / 2.0;
        cr_assert(pld_delta(&bound, &event, 1, epsilon) == STATUS_OK);
        cr_expect_gt(bound.high, two_runs(with, other, epsilon), "%g", epsilon);
    }
    event.neighbours = NEIGHBOURS_ADD_REMOVE; /* planted: the removed record's curve for both */
    cr_assert(pld_delta(&bound, &event, 1, 0) == STATUS_OK);
    cr_expect_lt(bound.high, replaced_delta);
}
