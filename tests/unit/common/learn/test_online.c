/* Online regression: known values, valid streams, and that cutting a stream changes nothing. */

#include "learn/online.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct online_problem usual = {
    .theta = 0.75, .t0 = 5, .kappa = 1, .bound = 1, .grid_bits = 32, .feature_count = 4};

static bool near(double value, double wanted)
{
    return value >= wanted && value <= wanted * (1 + 1e-9);
}

/* tests/vectors/planner.json, command online */
Test(online, bounds_take_known_values)
{
    const struct online_problem other = {
        .theta = 0.6, .t0 = 20, .kappa = 1.2, .bound = 2, .grid_bits = 32, .feature_count = 4};
    cr_assert(near(online_sensitivity_point(&usual, 100), 0.3922322702763681 * (1 - 1e-15)));
    cr_assert(near(online_sensitivity_point(&other, 1000), 3.517041338626666 * (1 - 1e-15)));
    cr_assert(near(online_endless_factor(0.5), 3.414213562373095));
    cr_assert(near(online_endless_factor(0.8), 2 * 1.1746717580893633 * (1 - 1e-15)));
}

/* The formulas of online.h, computed apart. */
Test(online, what_one_record_moves_takes_known_values)
{
    const struct online_problem other = {
        .theta = 0.6, .t0 = 20, .kappa = 1.2, .bound = 2, .grid_bits = 32, .feature_count = 4};
    const struct online_problem small = {
        .theta = 0.99, .t0 = 20, .kappa = 0.1, .bound = 3, .grid_bits = 32, .feature_count = 4};
    const double less = 1 - 1e-14;
    cr_assert(near(online_influence_l2(&usual, 99, 100), 0.0780037072180407 * less));
    cr_assert(near(online_influence_l2(&usual, 11, 100), 0.04539524405521181 * less));
    cr_assert(near(online_influence_l2(&other, 999, 1000), 0.1446905472094732 * less));
    cr_assert(near(online_influence_l2(&small, 50, 60), 0.007924784114798187 * less));
    cr_assert(near(online_influence_point(&other, 1000), 1.2 * 0.1446905472094732 * less));
    cr_assert(near(online_influence_l2(&usual, 0, 1), 2 * pow(5, -0.75) * less), "w_0 = 0");
    cr_assert(online_norm(&usual, 0) == 0);
    cr_assert(near(online_norm(&usual, 12), 0.7228140136429836 * less));
    cr_assert(near(online_norm(&other, 1000), 3.900981381795185 * less));
    cr_assert(near(online_norm(&small, 1), 0.3 * pow(20, -0.99) * less), "the first step");
}

/* At every place of the stream ours is at most the published form. If both hold, ours is used. */
Test(online, the_published_bounds_are_never_smaller)
{
    struct seeded_random random;
    seeded_random_init(&random, 5);
    for (int round = 0; round < 2000; round++) {
        struct online_problem problem = usual;
        problem.theta = 0.501 + 0.498 * seeded_random_unit(&random);
        problem.kappa = pow(10, 4 * seeded_random_unit(&random) - 2);
        problem.bound = pow(10, 4 * seeded_random_unit(&random) - 2);
        const double least = pow(problem.kappa * problem.kappa + 1, 1 / problem.theta);
        problem.t0 = (uint64_t)(least * pow(10, 3 * seeded_random_unit(&random))) + 2;
        const uint64_t t = (uint64_t)pow(10, 9 * seeded_random_unit(&random));
        const double u = (double)t - 1 + (double)problem.t0;
        const double more = 1 + 1e-9;
        cr_assert(online_influence_point(&problem, t) <=
                  online_sensitivity_point(&problem, t) * more);
        cr_assert(online_norm(&problem, t) <=
                  problem.kappa * problem.bound * pow(u, 1 - problem.theta) * more);
        /* What the largest of all positions is taken from. */
        cr_assert(online_norm(&problem, t) <= online_norm(&problem, t + t / 100 + 1) * more);
    }
}

Test(online, sensitivity_on_the_grid_counts_the_roots_and_the_roundings)
{
    uint64_t delta_1 = 0;
    cr_assert(online_sensitivity_l1(&usual, 100, &delta_1, NULL) == STATUS_OK);
    /* sqrt(4) 0.0780.. 2^32 + 4; the solver's rounding is below one step here */
    cr_assert(delta_1 >= ceil(2 * 0.0780037072180407 * 0x1p32) + 4);
    cr_assert(delta_1 <= ceil(2 * 0.0780037072180407 * 0x1p32) + 6);
}

Test(online, releases_double)
{
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 9;
    online_release_times(&usual, 5, times, &count);
    cr_assert(count == 0);
    online_release_times(&usual, 6, times, &count);
    cr_assert(count == 1 && times[0] == 6);
    online_release_times(&usual, 155, times, &count);
    cr_assert(count == 4);
    online_release_times(&usual, 156, times, &count);
    cr_assert(count == 5);
    for (size_t j = 0; j < count; j++) {
        cr_assert(times[j] - 1 + 5 == (UINT64_C(10) << j));
    }
    online_release_times(&usual, UINT64_MAX, times, &count);
    cr_assert(count <= ONLINE_RELEASES_MAX && times[count - 1] <= UINT64_C(1) << 52);
    struct online_problem late = usual;
    late.t0 = UINT64_C(1) << 52;
    online_release_times(&late, UINT64_MAX, times, &count);
    cr_assert(count == 0);
}

Test(online, a_stream_costs_less_than_an_endless_one)
{
    cr_assert(online_stream_factor(&usual, 0) == 0);
    cr_assert(fabs(online_stream_factor(&usual, 1) - 1) < 1e-9);
    /* The ratios of the influences above, summed apart. */
    const double wanted[] = {1.809661480376113, 2.47243039862716,   3.0152830266931336,
                             3.459259420147851, 3.8216419106437147, 4.116783115611251};
    const double endless = online_endless_factor(1 - usual.theta);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const double factor = online_stream_factor(&usual, i + 2);
        cr_assert(fabs(factor - wanted[i]) < 1e-6, "%zu: %.17g", i, factor);
        cr_assert(factor < (1 - pow(2, -0.25 * (double)(i + 2))) * endless);
    }
    /* On a coarse grid every release adds up to one whole epsilon, whatever the influence. */
    struct online_problem coarse = usual;
    coarse.grid_bits = 0;
    cr_assert(online_stream_factor(&coarse, 20) > endless + 10);
}

Test(online, a_record_has_the_same_effect_however_the_stream_is_cut)
{
    enum { COUNT = 100, D = 4 };
    struct seeded_random random;
    double x[COUNT * D];
    double y[COUNT];
    double whole[D] = {0};
    seeded_random_init(&random, 1);
    for (size_t i = 0; i < COUNT * D; i++) {
        x[i] = 2 * seeded_random_unit(&random) - 1; /* some longer than kappa */
    }
    for (size_t i = 0; i < COUNT; i++) {
        y[i] = 4 * seeded_random_unit(&random) - 2;
    }
    online_run(whole, &usual, x, y, 0, COUNT);
    for (size_t cut = 1; cut < 30; cut++) {
        double parts[D] = {0};
        for (size_t first = 0; first < COUNT; first += cut) {
            const size_t left = COUNT - first;
            online_run(parts, &usual, x + first * D, y + first, first, left < cut ? left : cut);
        }
        for (size_t j = 0; j < D; j++) {
            cr_assert(parts[j] == whole[j]);
        }
    }
}

Test(online, what_breaks_its_bounds_is_brought_back)
{
    double w[4] = {0};
    double v[4] = {0};
    const double long_x[4] = {3, 0, 4, 0};
    const double unit_x[4] = {0.6, 0, 0.8, 0};
    const double large[] = {7, 1};
    online_run(w, &usual, long_x, &large[0], 0, 1);
    online_run(v, &usual, unit_x, &large[1], 0, 1);
    for (size_t j = 0; j < 4; j++) {
        cr_assert(fabs(w[j] - v[j]) <= 1e-15);
    }
    cr_assert(w[2] != 0);
    const double no_number = NAN;
    double before[4];
    memcpy(before, w, sizeof w);
    online_run(w, &usual, unit_x, &no_number, 1, 1);
    cr_assert(isfinite(w[0]) && fabs(w[0]) < fabs(before[0]));
    memcpy(before, w, sizeof w);
    const double huge[4] = {1e200, 1e200, 0, 0}; /* its norm is beyond double: it counts as zero */
    online_run(w, &usual, huge, &large[1], 2, 1);
    cr_assert(isfinite(w[0]) && fabs(w[0]) < fabs(before[0]));
}

Test(online, a_short_record_stays_as_it_is)
{
    double w[4] = {0};
    const double x[4] = {0.1, 0, -0.2, 0};
    const double y = -0.7;
    online_run(w, &usual, x, &y, 0, 1);
    const double moved = 0.1 * 0.7 * pow(5, -0.75);
    cr_assert(fabs(w[0] + moved) < 1e-15 && fabs(w[2] - 2 * moved) < 1e-15);
}

/* The largest share of its bound that rounding takes on the way: the same stream in a type with 11
 * more bits. */
static double rounding_share(const struct online_problem *problem, struct seeded_random *random)
{
    enum { COUNT = 20000, D = 4 };
    double w[D] = {0};
    long double exact[D] = {0};
    double most = 0;
    for (uint64_t t = 0; t < COUNT; t++) {
        double x[D];
        for (size_t j = 0; j < D; j++) {
            x[j] = problem->kappa * (seeded_random_unit(random) - 0.5); /* at most kappa long */
        }
        const double y = problem->bound * (2 * seeded_random_unit(random) - 1);
        online_run(w, problem, x, &y, t, 1);
        const long double v = (long double)(t + problem->t0);
        long double residual = -y;
        for (size_t j = 0; j < D; j++) {
            residual += exact[j] * x[j];
        }
        const long double eta = powl(v, -(long double)problem->theta);
        double off = 0;
        for (size_t j = 0; j < D; j++) {
            exact[j] -= eta * residual * x[j] + exact[j] / v;
            off += fabs((double)(exact[j] - w[j]));
        }
        most = fmax(most, off / online_rounding(problem, t + 1));
    }
    return most;
}

Test(online, rounding_stays_within_its_bound)
{
    static const double kappa[] = {1, 0.1, 3};
    struct seeded_random random;
    seeded_random_init(&random, 2);
    for (size_t i = 0; i < sizeof kappa / sizeof *kappa; i++) {
        struct online_problem problem = usual;
        problem.kappa = kappa[i];
        problem.bound = 10 * kappa[i];
        problem.t0 = kappa[i] > 1 ? 22 : 5; /* 22^(3/4) = 10.2 >= 10 */
        const double most = rounding_share(&problem, &random);
        cr_log_info("kappa %g: at most %g of the bound", kappa[i], most);
        cr_assert(most > 1e-3 && most <= 1, "%g", most);
    }
    /* Both streams round: it is in the bound twice. */
    const uint64_t late = UINT64_C(1) << 40;
    cr_assert(online_influence_l2(&usual, 0, late) >= 2 * online_rounding(&usual, late));
    cr_assert(online_rounding(&usual, late) > 1e-3);
}

Test(online, a_constant_stream_is_learned)
{
    enum { COUNT = 20000 };
    const struct online_problem problem = {
        .theta = 0.75, .t0 = 5, .kappa = 1, .bound = 1, .grid_bits = 32, .feature_count = 1};
    const double x = 1;
    const double y = 0.5;
    double w = 0;
    for (uint64_t t = 0; t < COUNT; t++) {
        online_run(&w, &problem, &x, &y, t, 1);
    }
    /* The fixed point of a step is y/(1 + lambda), lambda = u^(-1/4) here. */
    cr_assert(fabs(w - 0.5 / (1 + pow(COUNT, -0.25))) < 1e-3, "%g", w);
}

static bool refused(struct online_problem problem, const char *word)
{
    struct why why = {""};
    return online_check(&problem, &why) == STATUS_INVALID && strstr(why.text, word) != NULL;
}

Test(online, refuses_what_the_theorem_does_not_cover)
{
    cr_assert(online_check(&usual, NULL) == STATUS_OK);
    struct online_problem wrong = usual;
    const double bad_theta[] = {0.5, 1, 0, -1, 2, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad_theta / sizeof *bad_theta; i++) {
        wrong.theta = bad_theta[i];
        cr_assert(refused(wrong, "theta"));
    }
    const double bad_size[] = {0, -1, NAN, INFINITY, 1e-9, 1e9};
    for (size_t i = 0; i < sizeof bad_size / sizeof *bad_size; i++) {
        wrong = usual;
        wrong.kappa = bad_size[i];
        cr_assert(refused(wrong, "kappa"));
        wrong = usual;
        wrong.bound = bad_size[i];
        cr_assert(refused(wrong, "bound"));
    }
    wrong = usual;
    wrong.t0 = 2; /* 2^(3/4) < 2 */
    cr_assert(refused(wrong, "take t0 = 3"));
    wrong.t0 = 3;
    cr_assert(online_check(&wrong, NULL) == STATUS_OK);
    wrong.t0 = 0;
    cr_assert(refused(wrong, "t0"));
    wrong.t0 = UINT64_MAX;
    cr_assert(refused(wrong, "t0"));
    wrong = usual;
    wrong.grid_bits = 53;
    cr_assert(refused(wrong, "grid_bits"));
    wrong = usual;
    wrong.feature_count = 0;
    cr_assert(refused(wrong, "features"));
    wrong.feature_count = ((size_t)1 << 24) + 1;
    cr_assert(refused(wrong, "features"));
}

Test(online, a_stream_stops_before_its_grid_is_too_coarse)
{
    struct why why = {""};
    uint64_t delta_1 = 0;
    struct online_problem problem = usual;
    for (problem.grid_bits = 0; problem.grid_bits <= 52; problem.grid_bits++) {
        const enum status status = online_sensitivity_l1(&problem, 1000, &delta_1, &why);
        /* 2^20 D g <= sqrt(D) Delta_2 = 0.0315.., hence from 27 bits on */
        cr_assert((status == STATUS_OK) == (problem.grid_bits >= 27));
        cr_assert(status == STATUS_OK || strstr(why.text, "take grid_bits 27 or more") != NULL,
                  "%s", why.text);
    }
    problem.grid_bits = 24;
    cr_assert(online_sensitivity_l1(&problem, 10, &delta_1, &why) == STATUS_OK);
    cr_assert(online_sensitivity_l1(&problem, 0, &delta_1, &why) == STATUS_INVALID);
    cr_assert(online_sensitivity_l1(&problem, UINT64_MAX, &delta_1, &why) == STATUS_INVALID);
    problem.grid_bits = 52;
    problem.bound = 1024;
    cr_assert(online_sensitivity_l1(&problem, 10, &delta_1, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "coarser grid") != NULL);
    uint64_t range = 0;
    cr_assert(online_range(&problem, 10, &range, &why) == STATUS_INVALID);
    cr_assert(online_range(&usual, 0, &range, &why) == STATUS_INVALID);
    cr_assert(online_range(&usual, 12, &range, &why) == STATUS_OK);
    /* online_norm, in steps, and one for the rounding to the grid */
    const double norm = ceil(0.7228140136429836 * 0x1p32);
    cr_assert((double)range >= norm && (double)range <= norm + 2);
    problem = usual;
    problem.kappa = 1.5; /* 5^(3/4) = 3.34.. >= 3.25 */
    problem.bound = 4;
    cr_assert(online_range(&problem, 12, &range, &why) == STATUS_OK);
    cr_assert((double)range > 3.42493156430091 * 0x1p32 && (double)range < 3.4249316 * 0x1p32);
}
