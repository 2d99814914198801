/* Tolerances: formula columns 1e-13 (the doubles they were computed in), EXACT columns 1e-9 above and
 * 2e-14 below (their 15 digits are rounded). */

#include "account/pure.h"
#include "unit/common/account/closed_vectors.h"

#include <stdlib.h>

/* Epsilon at delta of k runs of what is left of the row when `fault` is planted. */
enum fault { FAULT_NONE, FAULT_COUNT_IGNORED, FAULT_DELTA_NOT_SPLIT };

static struct interval optimal(const struct privacy_event *events, size_t count, double delta)
{
    struct interval out;
    cr_assert_eq(optimal_epsilon(&out, events, count, delta), STATUS_OK);
    cr_assert(out.low <= out.high);
    return out;
}

static size_t failing_rows(const char *name, size_t rows, enum fault fault)
{
    json_t *root = vectors_open();
    json_t *group = vectors_group(root, name, rows);
    size_t failed = 0;
    size_t i;
    json_t *row;
    json_array_foreach(group, i, row)
    {
        double count = fault == FAULT_COUNT_IGNORED ? 1 : field(row, "k");
        struct privacy_event event = event_of(MECHANISM_PURE, field(row, "eps0"), count);
        if (json_object_get(row, "delta0") != NULL && fault != FAULT_DELTA_NOT_SPLIT) {
            event.delta = field(row, "delta0");
        }
        double wanted = field(row, "eps_tight");
        struct interval out = optimal(&event, 1, field(row, "delta"));
        failed += !is_just_above(out.high, wanted, 1e-9) || out.low > wanted * (1 + 2e-14) ||
                  (event.delta > 0 ? out.low < wanted * (1 - 1e-6) : out.low < wanted * (1 - 1e-9));
    }
    json_decref(root);
    return failed;
}

Test(pure, optimum_of_equal_epsilons_is_exact)
{
    cr_assert_eq(failing_rows("a_pure_kfold", 48, FAULT_NONE), 0);
}

Test(pure, optimum_with_own_deltas_is_exact_down_to_the_last_of_delta)
{
    cr_assert_eq(failing_rows("a3_approx_kfold", 7, FAULT_NONE), 0);
}

Test(pure, rows_catch_planted_faults)
{
    cr_assert_gt(failing_rows("a_pure_kfold", 48, FAULT_COUNT_IGNORED), 20);
    cr_assert_gt(failing_rows("a3_approx_kfold", 7, FAULT_DELTA_NOT_SPLIT), 0);
}

Test(pure, formula_columns)
{
    json_t *root = vectors_open();
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "a_pure_kfold", 48), i, row)
    {
        struct privacy_event event = event_of(MECHANISM_PURE, field(row, "eps0"), field(row, "k"));
        double delta = field(row, "delta");
        cr_assert(is_just_above(basic_epsilon(&event, 1, delta), field(row, "eps_basic"), 1e-13));
        cr_assert(
            is_just_above(advanced_epsilon(&event, 1, delta), field(row, "eps_dr_thm320"), 1e-13));
    }
    json_decref(root);
}

Test(pure, delta_at_an_epsilon_is_exact)
{
    json_t *root = vectors_open();
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "a2_pure_kfold_delta_at_eps", 8), i, row)
    {
        struct privacy_event event = event_of(MECHANISM_PURE, field(row, "eps0"), field(row, "k"));
        struct interval out;
        cr_assert_eq(optimal_delta(&out, &event, 1, field(row, "eps")), STATUS_OK);
        cr_assert(is_just_above(out.high, field(row, "delta_tight"), 1e-9));
        cr_assert(out.low <= out.high && out.low >= out.high * (1 - 1e-9));
    }
    json_decref(root);
}

Test(pure, optimum_of_unequal_epsilons_is_exact_in_any_order)
{
    json_t *root = vectors_open();
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "a4_heterogeneous_pure", 16), i, row)
    {
        json_t *list = json_object_get(row, "eps_list");
        size_t count = json_array_size(list);
        struct privacy_event events[32];
        struct privacy_event turned[32];
        for (size_t j = 0; j < count; j++) {
            double epsilon = json_number_value(json_array_get(list, j));
            events[j] = event_of(MECHANISM_PURE, epsilon, 1);
            turned[count - 1 - j] = events[j];
        }
        double delta = field(row, "delta");
        struct interval out = optimal(events, count, delta);
        cr_assert(is_just_above(out.high, field(row, "eps_tight"), 1e-9));
        cr_assert(out.low <= field(row, "eps_tight") * (1 + 2e-14));
        cr_assert_eq(out.high, optimal(turned, count, delta).high);
        cr_assert(
            is_just_above(basic_epsilon(events, count, delta), field(row, "eps_basic"), 1e-13));
    }
    json_decref(root);
}

Test(pure, lattice_stays_around_the_exact_optimum)
{
    /* 17 epsilons have 2^17 states and are exact; with 20 the lattice answers. Splitting one event of
     * epsilon into runs of nothing, the truth cannot change: bracket it by adding tiny epsilons. */
    struct privacy_event events[20];
    for (size_t i = 0; i < 20; i++) {
        events[i] = event_of(MECHANISM_PURE, i < 17 ? 0.2 + 0.01 * (double)i : 1e-9 * (double)i, 1);
    }
    struct interval exact = optimal(events, 17, 1e-6);
    struct interval lattice = optimal(events, 20, 1e-6);
    cr_assert(exact.high - exact.low <= 1e-8);
    cr_assert(lattice.high >= exact.low && lattice.high <= exact.high * 1.001);
    cr_assert(lattice.low <= exact.high + 1e-7 && lattice.low >= exact.low * 0.99);
}

Test(pure, a_million_runs_and_a_thousand_lists)
{
    struct privacy_event many = event_of(MECHANISM_PURE, 1e-3, 1e6);
    struct interval out = optimal(&many, 1, 1e-9);
    /* nearly Gaussian with mu = 1: eps_exact of d_gaussian, sigma 1, k 1, delta 1e-9 */
    cr_assert_float_eq(out.high, 6.17391, 1e-4);
    cr_assert(out.high - out.low < 1e-9);

    struct privacy_event *list = calloc(1000, sizeof *list);
    cr_assert_not_null(list);
    for (size_t i = 0; i < 1000; i++) {
        list[i] = event_of(MECHANISM_PURE, 1e-3 + 1e-4 * (double)i, 1);
    }
    out = optimal(list, 1000, 1e-9);
    cr_assert(out.high >= out.low && out.low >= out.high * 0.99);
    cr_assert(out.high < advanced_epsilon(list, 1000, 1e-9));
    free(list);
}

/* At the largest loss of all, where a double's rounding decides on which side of it epsilon lies: the
 * truth, from 60 digits, is a little above 0. */
Test(pure, delta_at_the_last_loss_is_not_below_the_truth)
{
    static const struct {
        double epsilon;
        uint64_t count;
        double at;
        double truth;
    } rows[] = {{0.3333333333333333, 40, 13.333333333333332, 1.825580700939415e-25},
                {1.7437657155745734, 7, 12.206360009022013, 7.186801203953489e-17},
                {18.932739737943496, 40, 757.3095895177398, 2.84217026176020e-14}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct privacy_event event = event_of(MECHANISM_PURE, rows[i].epsilon, rows[i].count);
        struct interval out;
        cr_assert_eq(optimal_delta(&out, &event, 1, rows[i].at), STATUS_OK);
        cr_assert(out.high >= rows[i].truth && out.high <= 1e-11 && out.low <= rows[i].truth,
                  "row %zu: %g above %g", i, out.high, rows[i].truth);
    }
    struct privacy_event exact = event_of(MECHANISM_PURE, 0.25, 40);
    struct interval out;
    cr_assert_eq(optimal_delta(&out, &exact, 1, 10), STATUS_OK);
    cr_assert_eq(out.high, 0);
}

/* Far below the mean loss: what is walked through is the spread of the losses, not the way down to
 * epsilon. 2^42 runs took minutes. */
Test(pure, delta_far_below_the_mean_takes_no_time)
{
    for (int power = -3; power < 3; power++) {
        const double epsilon = pow(10, power);
        struct privacy_event event = event_of(MECHANISM_PURE, epsilon, UINT64_C(2500000000));
        struct interval out;
        cr_assert_eq(optimal_delta(&out, &event, 1, 18.7), STATUS_OK);
        cr_assert(out.high >= 1 - 1e-12 && out.low > 1 - 1e-6, "%g: %.17g .. %.17g", epsilon,
                  out.low, out.high);
    }
    struct privacy_event event = event_of(MECHANISM_PURE, 1, UINT64_C(1) << 42);
    struct interval out;
    cr_assert_eq(optimal_delta(&out, &event, 1, 18.7), STATUS_OK);
    cr_assert(out.high >= 1 - 1e-12 && out.low > 0.99, "%.17g", out.low);
}

/* Where stopping early just begins, against the states written out one by one. */
Test(pure, delta_below_the_mean_is_the_sum_over_all_states)
{
    for (uint64_t count = 200; count <= 20000; count *= 10) {
        struct privacy_event event = event_of(MECHANISM_PURE, 0.9, count);
        for (int step = 0; step < 15; step++) {
            const double share = 0.07 * step;
            double at = 0.9 * share * (double)count * tanh(0.45);
            long double p = 1 / (1 + expl(-0.9L));
            long double truth = 0;
            for (uint64_t hits = 0; hits <= count; hits++) {
                long double loss = (2 * (long double)hits - (long double)count) * (long double)0.9;
                long double log_mass =
                    lgammal((long double)count + 1) - lgammal((long double)hits + 1) -
                    lgammal((long double)(count - hits) + 1) + (long double)hits * logl(p) +
                    (long double)(count - hits) * logl(1 - p);
                truth += loss > at ? expl(log_mass) * -expm1l(at - loss) : 0;
            }
            struct interval out;
            cr_assert_eq(optimal_delta(&out, &event, 1, at), STATUS_OK);
            cr_assert(out.low <= (double)truth * (1 + 1e-13) &&
                          out.high >= (double)truth * (1 - 1e-13) && out.high - out.low < 1e-9,
                      "%g: %.17g .. %.17g for %.17Lg", at, out.low, out.high, truth);
        }
    }
}

Test(pure, epsilon_of_each_mechanism)
{
    struct privacy_event event = event_of(MECHANISM_LAPLACE, 10, 1);
    cr_assert_eq(pure_epsilon(&event), 0.1);
    event.sensitivity =
        2; /* replace-one moves a sum clipped to 1 by 2: forgetting that halves it */
    cr_assert_eq(pure_epsilon(&event), 0.2);
    event.mechanism = MECHANISM_DISCRETE_LAPLACE;
    cr_assert_eq(pure_epsilon(&event), 0.2);
    event = event_of(MECHANISM_EXPONENTIAL, 0.3, 1);
    cr_assert_eq(pure_epsilon(&event), 0.3);
    event.sampling = 0.01;
    cr_assert(is_just_above(pure_epsilon(&event), log1p(0.01 * expm1(0.3)), 1e-13));
    event.parameter = 1000;
    cr_assert_float_eq(pure_epsilon(&event), 1000 + log(0.01), 1e-9);
    event = event_of(MECHANISM_GAUSSIAN, 1, 1);
    struct interval out;
    cr_assert(isnan(pure_epsilon(&event)) && isnan(basic_epsilon(&event, 1, 0.1)));
    cr_assert_eq(optimal_epsilon(&out, &event, 1, 0.1), STATUS_OK);
    cr_assert(isnan(out.high) && isnan(advanced_delta(&event, 1, 1)));
}

/* Responses so strong that a lie is rarer than e^-60: all losses are next to their sum, and delta reaches a
 * half, or 0.999, far below the lowest of them, where the lattice has no cell. With A the strong ones' sum and
 * B the weak ones', A + ln(1 - delta) -+ B encloses the truth. */
Test(pure, a_list_of_large_losses_alone_has_a_large_epsilon)
{
    static const double deltas[] = {1e-6, 0.1, 0.5, 0.999};
    static const double weak[] = {1e-5, 80, 1000};
    for (size_t i = 0; i < 12; i++) {
        const double delta = deltas[i % 4];
        const bool both = weak[i / 4] > 1;
        const struct privacy_event list[] = {
            event_of(MECHANISM_PURE, weak[i / 4], both ? 1366 : 765),
            event_of(MECHANISM_PURE, weak[i / 4] > 900 ? 900 : 76, 1366)};
        const double strong =
            1366 * list[1].parameter + (both ? 1366 * list[0].parameter : 0) + log1p(-delta);
        const double spread = both ? 0 : 765e-5;
        const struct interval out = optimal(list, 2, delta);
        cr_expect(out.high >= (strong - spread) * (1 - 1e-12) && out.low <= strong + spread,
                  "[%zu] %.17g to %.17g, not %.17g", i, out.low, out.high, strong);
        cr_expect(weak[i / 4] > 900 || out.high <= (strong + spread) * (1 + 1e-4), "[%zu] %.17g", i,
                  out.high);
    }
}

/* 2048 times 2^53 runs are 2^64, which a counter of 64 bits takes for none; with ten more, for ten. The
 * mean loss alone is count epsilon tanh(epsilon/2). */
Test(pure, counts_that_add_up_to_2_to_the_64_are_not_forgotten)
{
    static struct privacy_event list[2049];
    for (size_t i = 0; i < 2048; i++) {
        list[i] = event_of(MECHANISM_PURE, 1e-3, 0x1p53);
    }
    list[2048] = event_of(MECHANISM_PURE, 1e-3, 10);
    double mean = 0x1p64 * 1e-3 * tanh(0.5e-3);
    for (size_t count = 2048; count <= 2049; count++) {
        struct interval out = optimal(list, count, 1e-6);
        cr_expect(out.high >= mean, "%zu events: %.17g, not %.17g", count, out.high, mean);
        cr_assert_eq(optimal_delta(&out, list, count, 1), STATUS_OK);
        cr_expect_geq(out.high, 0.999);
    }
}

Test(pure, limits)
{
    struct privacy_event event = event_of(MECHANISM_PURE, 800, 1000);
    cr_assert(isinf(advanced_epsilon(&event, 1, 1e-6)));
    cr_assert_float_eq(optimal(&event, 1, 1e-6).high, 800000, 1e-3);
    event.count = 0;
    cr_assert_eq(basic_epsilon(&event, 1, 0), 0);
    cr_assert_eq(optimal(&event, 1, 1e-6).high, 0);
    event = event_of(MECHANISM_PURE, 1e-300, 5);
    cr_assert(optimal(&event, 1, 1e-6).high >= 0 && optimal(&event, 1, 0).high >= 5e-300);
    event = event_of(MECHANISM_PURE, 0.1, 1);
    event.delta = 1e-5;
    cr_assert_eq(basic_epsilon(&event, 1, 1e-5), 0.1);
    cr_assert(isinf(basic_epsilon(&event, 1, 0.9e-5)) && isinf(advanced_epsilon(&event, 1, 1e-5)));
    cr_assert(is_just_above(basic_delta(&event, 1, 0.1), 1e-5, 1e-13));
}
