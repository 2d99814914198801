/* The filter against formulas of others (tests/vectors), and against the accountants on the lists that
 * it admits. */

#include "account/pure.h"
#include "account/renyi.h"
#include "dp/filter.h"
#include "lab/composition/account.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>

static struct charge pure(uint64_t epsilon_micro)
{
    return (struct charge){.epsilon_micro = epsilon_micro, .pass = {{1}}, .row_count = 1};
}

static bool add(const struct filter *filter, struct cost *sums, const struct charge *charge)
{
    struct cost after = cost_add(*sums, filter_cost(filter, charge));
    if (!filter_admits(filter, &after)) {
        return false;
    }
    *sums = after;
    return true;
}

Test(filter, has_no_float_in_its_sums)
{
    struct filter filter = filter_new((struct price){1000000, 0});
    struct charge half = pure(500000);
    struct charge tenth = pure(100000);
    struct charge least = pure(1);
    struct cost sums = {0};

    cr_assert(add(&filter, &sums, &half) && add(&filter, &sums, &half));
    cr_assert_not(add(&filter, &sums, &least), "one millionth too many");
    sums = (struct cost){0};
    for (int i = 0; i < 10; i++) {
        cr_assert(add(&filter, &sums, &tenth), "0.1 for the %d. time", i + 1);
    }
    cr_assert_not(add(&filter, &sums, &least));
}

/* How many equal charges are admitted, by bisection. */
static uint64_t admitted(const struct filter *filter, struct cost each)
{
    uint64_t low = 0;
    uint64_t high = UINT64_C(1) << 50;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        const struct cost sums = cost_times(each, middle);
        *(filter_admits(filter, &sums) ? &low : &high) = middle;
    }
    return low;
}

/* What a price for each answer bounds: charges that use u of E each are admitted E/u times, and no more. */
Test(filter, admits_as_many_charges_as_their_use_says)
{
    static const struct price list[] = {
        {10000000, 0}, {1000000, 1000000000000}, {10000000, 1000000000000}, {50000, 2000000000000}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const struct filter filter = filter_new(list[i]);
        for (uint64_t size = 1; size <= 20000; size *= 3) {
            const struct charge charge[] = {
                pure(size),
                {.mechanism = MECHANISM_DISCRETE_GAUSSIAN, .sigma_micro = size * 50000}};
            for (size_t j = 0; j < (filter.order > 0 ? 2 : 1); j++) {
                const struct cost cost = filter_cost(&filter, &charge[j]);
                const uint64_t used = filter_uses(&filter, &cost);
                const uint64_t count = admitted(&filter, cost);
                cr_expect(used == 0 || count <= list[i].epsilon_micro / used, "%zu %zu: %g", i, j,
                          (double)size);
                cr_expect_geq(count, list[i].epsilon_micro / (used + 1), "%zu %zu: %g", i, j,
                              (double)size);
            }
        }
    }
}

Test(filter, keeps_a_divergence_that_converts_to_its_limit_and_hardly_less)
{
    static const struct price list[] = {{1000000, 1000000000000},
                                        {100000, 1000000000},
                                        {10000000, 1000000000000},
                                        {3000000, 100000000000000000},
                                        {50000, 2000000000000}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct filter filter = filter_new(list[i]);
        double delta = (double)list[i].delta_atto / 2e18;
        double epsilon = (double)list[i].epsilon_micro * 1e-6;
        double budget = (double)filter.renyi_max * 1e-9;
        cr_assert(filter.order > 1 && filter.renyi_max > 0, "row %zu", i);
        cr_expect_leq(renyi_to_epsilon(filter.order, budget, delta), epsilon);
        cr_expect_gt(renyi_to_epsilon(filter.order, budget + 1e-8 + epsilon * 1e-9, delta), epsilon,
                     "row %zu wastes some of it", i);
        for (double order = 1.001; order < 1e6; order *= 1.01) { /* no other order is much better */
            double other = epsilon - log1p(-1 / order) + log(delta * order) / (order - 1);
            cr_expect_leq(other / order, budget / filter.order * 1.002, "row %zu: %g", i, order);
        }
    }
}

Test(filter, without_delta_is_the_sum_alone)
{
    struct filter filter = filter_new((struct price){1000000, 0});
    struct charge gaussian = {
        .mechanism = MECHANISM_GAUSSIAN, .sigma_micro = 1000000000, .pass = {{1}}, .row_count = 1};
    struct charge failing = pure(1);
    struct cost sums = {0};
    failing.delta_atto = 1;
    cr_assert(filter.order == 0 && filter.renyi_max == 0);
    cr_assert_not(add(&filter, &sums, &gaussian));
    cr_assert_not(add(&filter, &sums, &failing));
    filter = filter_new((struct price){1000000, 1000000000000});
    cr_assert(add(&filter, &sums, &gaussian));
    cr_assert_eq(sums.epsilon_micro, UINT64_MAX);
}

Test(filter, limits_of_any_size_are_made)
{
    static const uint64_t size[] = {0, 1, 2, 1000000, UINT64_MAX / 2, UINT64_MAX};
    for (size_t i = 0; i < 36; i++) {
        struct filter filter = filter_new((struct price){size[i / 6], size[i % 6]});
        struct cost none = {0};
        struct cost unbounded = {UINT64_MAX, 0, UINT64_MAX};
        cr_expect(filter_admits(&filter, &none));
        cr_expect_not(filter_admits(&filter, &unbounded));
    }
}

Test(filter, a_price_is_rounded_up)
{
    struct seeded_random seeded;
    struct filter filter = filter_new((struct price){2000000, 1000000000000});
    seeded_random_init(&seeded, 3);
    for (int i = 0; i < 2000; i++) {
        struct charge charge = pure(1 + seeded_random_below(&seeded, 2000000));
        charge.mechanism = i % 2 == 0 ? MECHANISM_PURE : MECHANISM_EXPONENTIAL;
        charge.count = 1 + seeded_random_below(&seeded, 50);
        if (i % 5 == 0) {
            charge.mechanism = MECHANISM_GAUSSIAN;
            charge.sigma_micro = charge.epsilon_micro;
            charge.epsilon_micro = 0;
        }
        struct cost cost = filter_cost(&filter, &charge);
        struct privacy_event event = charge_event(&charge);
        long double once = (long double)renyi_divergence(&event, filter.order);
        cr_assert_geq((long double)cost.renyi_nano, once * 1e9L * (long double)charge.count);
        cr_assert_leq((long double)cost.renyi_nano,
                      (once * 1e9L * (1 + 1e-12L) + 2) * (long double)charge.count);
        cr_assert_eq(cost.epsilon_micro,
                     charge.epsilon_micro == 0 ? UINT64_MAX : charge.epsilon_micro * charge.count);
    }
}

Test(filter, sampling_amplifies_and_other_neighbours_are_without_bound)
{
    struct filter filter = filter_new((struct price){2000000, 1000000000000});
    struct charge charge = pure(1000000);
    charge.sampling_nano = SAMPLING_NANO_ONE / 100;
    struct cost cost = filter_cost(&filter, &charge);
    double exact = log1p(0.01 * expm1(1)) * 1e6;
    cr_assert((double)cost.epsilon_micro >= exact && (double)cost.epsilon_micro < exact + 2);
    charge.neighbours = NEIGHBOURS_ADD_REMOVE;
    cost = filter_cost(&filter, &charge);
    cr_assert(cost.epsilon_micro == UINT64_MAX && cost.renyi_nano == UINT64_MAX);
}

/* Whether a limit (epsilon, 2 delta) admits a list of events of this mechanism. */
static bool admits_list(const json_t *row, enum mechanism mechanism, double epsilon)
{
    const json_t *runs = json_object_get(row, "eps_list_rle");
    double delta = json_number_value(json_object_get(row, "delta"));
    struct filter filter =
        filter_new((struct price){(uint64_t)(epsilon * 1e6), (uint64_t)(2 * delta * 1e18)});
    struct cost sums = {0};

    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        uint64_t times = (uint64_t)json_integer_value(json_array_get(run, 1));
        struct charge charge =
            pure((uint64_t)llround(json_number_value(json_array_get(run, 0)) * 1e6));
        charge.mechanism = mechanism;
        for (uint64_t j = 0; j < times; j++) {
            if (!add(&filter, &sums, &charge)) {
                return false;
            }
        }
    }
    return true;
}

/* The least epsilon that the sum, or the divergences at their best order, can vouch for. */
static double least_of(const json_t *row, enum mechanism mechanism)
{
    enum { RUNS_MAX = 8 };
    const json_t *runs = json_object_get(row, "eps_list_rle");
    struct privacy_event event[RUNS_MAX];
    size_t count = json_array_size(runs);
    double delta = json_number_value(json_object_get(row, "delta"));

    cr_assert_leq(count, RUNS_MAX);
    for (size_t i = 0; i < count; i++) {
        const json_t *run = json_array_get(runs, i);
        struct charge charge =
            pure((uint64_t)llround(json_number_value(json_array_get(run, 0)) * 1e6));
        charge.mechanism = mechanism;
        charge.count = (uint64_t)json_integer_value(json_array_get(run, 1));
        event[i] = charge_event(&charge);
    }
    return fmin(basic_epsilon(event, count, delta), renyi_epsilon(event, count, delta));
}

Test(filter, admits_what_the_formulas_say_and_refuses_what_nobody_can_vouch_for)
{
    static const struct {
        enum mechanism mechanism;
        const char *formula;
    } list[] = {{MECHANISM_PURE, "eps_filter_zcdp_cks"},
                {MECHANISM_EXPONENTIAL, "eps_filter_br_zcdp_cks"}};
    json_error_t error;
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, &error);
    const json_t *rows = json_object_get(root, "i_filter_formulas");
    cr_assert_geq(json_array_size(rows), 5, "%s", error.text);
    for (size_t i = 0; i < 2 * json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i / 2);
        enum mechanism mechanism = list[i % 2].mechanism;
        double formula = fmin(json_number_value(json_object_get(row, "eps_basic")),
                              json_number_value(json_object_get(row, list[i % 2].formula)));
        double least = least_of(row, mechanism);
        cr_expect(admits_list(row, mechanism, 1.003 * formula), "row %zu", i / 2);
        if (json_array_size(json_object_get(row, "eps_list_rle")) <= 2) {
            /* The order is made for many small charges; one that dominates does better elsewhere. */
            cr_expect(admits_list(row, mechanism, 1.05 * least), "row %zu: not tight", i / 2);
        }
        cr_expect_not(admits_list(row, mechanism, 0.999 * least), "row %zu", i / 2);
    }
    json_decref(root);
}

static struct charge any_charge(struct seeded_random *seeded)
{
    struct charge charge = pure(20000 + seeded_random_below(seeded, 500000));
    switch (seeded_random_below(seeded, 4)) {
    case 0:
        charge.mechanism = MECHANISM_GAUSSIAN;
        charge.sigma_micro = 5000000 + seeded_random_below(seeded, 20000000);
        charge.epsilon_micro = 0;
        break;
    case 1:
        charge.mechanism = MECHANISM_EXPONENTIAL;
        break;
    default:
        break;
    }
    charge.delta_atto = seeded_random_below(seeded, 2) * 10000000000;
    return charge;
}

/* Fills a limit to the brim with charges; the accountants, asked about the list, stay within it, and
 * the odometer is above what they are certain of. */
Test(filter, the_accountants_agree_with_every_list_it_admits)
{
    enum { LISTS = 12, TRIES = 60 };
    struct seeded_random seeded;
    seeded_random_init(&seeded, 12);
    for (int list = 0; list < LISTS; list++) {
        struct price limit = {500000 * (1 + seeded_random_below(&seeded, 6)),
                              list % 4 == 0 ? 100000000000000 : 1000000000000};
        struct filter filter = filter_new(limit);
        struct privacy_event event[TRIES];
        struct cost sums = {0};
        size_t count = 0;
        for (int i = 0; i < TRIES; i++) {
            struct charge charge = any_charge(&seeded);
            if (add(&filter, &sums, &charge)) {
                event[count++] = charge_event(&charge);
            }
        }
        double delta = (double)limit.delta_atto * 1e-18;
        double epsilon = (double)limit.epsilon_micro * 1e-6;
        uint64_t odometer = filter_odometer(&filter, &sums);
        struct account account;
        cr_assert_eq(account_ask(&account, event, count,
                                 (struct composition_question){.wants_epsilon = true, .at = delta},
                                 NULL),
                     STATUS_OK);
        cr_expect_leq(account.high, epsilon * (1 + 1e-9), "list %d", list);
        cr_expect_geq((double)odometer * 1e-6, account.low, "list %d", list);
        cr_expect_leq(odometer, sums.epsilon_micro);
    }
}

Test(filter, its_epsilon_at_one_moment_is_above_what_the_accountant_is_certain_of)
{
    struct filter filter = filter_new((struct price){1000000, 10000000000000});
    struct charge gauss = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                           .sigma_micro = 40000000,
                           .pass = {{1}},
                           .row_count = 1};
    struct cost sums = {0};
    uint64_t before = 0;
    for (uint64_t steps = 1; add(&filter, &sums, &gauss); steps++) {
        struct privacy_event event = charge_event(&gauss);
        struct account account;
        uint64_t epsilon = filter_epsilon(&filter, &sums);
        event.mechanism = MECHANISM_GAUSSIAN;
        event.count = steps;
        cr_assert_eq(account_ask(&account, &event, 1,
                                 (struct composition_question){.wants_epsilon = true, .at = 1e-5},
                                 NULL),
                     STATUS_OK);
        cr_expect(epsilon >= before && epsilon <= 1000000);
        cr_expect_geq((double)epsilon * 1e-6, account.low, "after %lu steps", (unsigned long)steps);
        before = epsilon;
    }
    cr_expect_gt(before, 950000, "the whole limit can be used: %lu", (unsigned long)before);
    struct charge small = pure(1000);
    sums = filter_cost(&filter, &small);
    cr_expect_leq(filter_epsilon(&filter, &sums), 1000);
}

Test(filter, the_odometer_grows_and_is_no_more_than_the_sum)
{
    struct filter filter = filter_new((struct price){3000000, 1000000000000});
    struct charge small = pure(50000);
    struct cost sums = {0};
    uint64_t before = 0;
    cr_assert_eq(filter_odometer(&filter, &sums), 0);
    while (add(&filter, &sums, &small)) {
        uint64_t now = filter_odometer(&filter, &sums);
        cr_assert(now >= before && now <= sums.epsilon_micro);
        before = now;
    }
    cr_assert_gt(sums.epsilon_micro, 3500000, "by divergence more than by the sum");
    cr_assert_lt(before, sums.epsilon_micro, "the odometer gains by it, too");
    cr_assert_eq(filter_renyi_share(&filter, &(struct cost){0, 0, filter.renyi_max}), 10000);
    cr_assert_eq(filter_renyi_share(&filter, &(struct cost){0, 0, 1}), 1, "rounded up");
}

/* Its statement is about D: where runs already failed more often than D allows, as after a policy was
 * lowered, there is no finite epsilon at D. */
Test(filter, the_odometer_says_nothing_where_own_deltas_exceed_the_limit)
{
    struct filter with = filter_new((struct price){3000000, 1000000000000});
    struct filter without = filter_new((struct price){3000000, 0});
    struct cost sums = {50000, 500000000000, 2000000};
    cr_expect_leq(filter_odometer(&with, &sums), 50000);
    sums.delta_atto++;
    cr_expect_eq(filter_odometer(&with, &sums), UINT64_MAX, "more than its half of D");
    sums.delta_atto = 0;
    cr_expect_eq(filter_odometer(&without, &sums), 50000);
    sums.delta_atto = 1;
    cr_expect_eq(filter_odometer(&without, &sums), UINT64_MAX);
}
