/* Tolerances: EXACT columns 1e-10; g3 is the cited library's, 13 digits. An upper bound may be below by the
 * digits printed (2e-14) only. */

#include "account/pure.h"
#include "account/renyi.h"
#include "unit/common/account/closed_vectors.h"

#include <stdlib.h>

Test(renyi, curves_meet_every_row)
{
    json_t *root = vectors_open();
    size_t i;
    size_t faults_caught = 0;
    json_t *row;
    json_array_foreach(vectors_group(root, "l_rdp_curves", 37), i, row)
    {
        double alpha = field(row, "alpha");
        if (json_object_get(row, "mechanism") != NULL) {
            struct privacy_event sampled = event_of(MECHANISM_GAUSSIAN, field(row, "sigma"), 1);
            sampled.sampling = field(row, "q");
            sampled.neighbours = NEIGHBOURS_ADD_REMOVE;
            cr_assert(is_just_above(renyi_divergence(&sampled, alpha), field(row, "rdp"), 1e-10));
            sampled.sensitivity = 2; /* 2C where C is meant is seen, and so is C for 2C */
            cr_assert_not(
                is_just_above(renyi_divergence(&sampled, alpha), field(row, "rdp"), 1e-10));
            continue;
        }
        struct privacy_event laplace = event_of(MECHANISM_LAPLACE, field(row, "rdp_laplace_b"), 1);
        struct privacy_event pure = event_of(MECHANISM_PURE, field(row, "eps0"), 1);
        struct privacy_event range = event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), 1);
        cr_assert(
            is_just_above(renyi_divergence(&laplace, alpha), field(row, "rdp_laplace"), 1e-10));
        cr_assert(is_just_above(renyi_divergence(&pure, alpha), field(row, "rdp_pure_rr"), 1e-10));
        cr_assert(
            is_just_above(renyi_divergence(&range, alpha), field(row, "rdp_bounded_range"), 1e-10));
        /* planted: the bounded-range curve where only epsilon is known */
        faults_caught +=
            !is_just_above(renyi_divergence(&range, alpha), field(row, "rdp_pure_rr"), 1e-10);
    }
    cr_assert_eq(faults_caught, 23);
    json_decref(root);
}

static size_t failing_draws(bool count_ignored)
{
    json_t *root = vectors_open();
    size_t failed = 0;
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "f_exponential_bounded_range", 48), i, row)
    {
        double count = count_ignored ? 1 : field(row, "k");
        double delta = field(row, "delta");
        struct privacy_event draw = event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), count);
        double renyi = renyi_epsilon(&draw, 1, delta);
        double zcdp = zcdp_epsilon(&draw, 1, delta);
        double best = fmin(renyi, zcdp);
        failed += !is_just_above(renyi, field(row, "eps_rdp_br"), 1e-9) ||
                  !is_just_above(zcdp, field(row, "eps_zcdp_eps2_over_8"), 1e-10) ||
                  best < field(row, "eps_adaptive_dp_grid") * (1 - 1e-4) ||
                  best > field(row, "eps_rdp_br") * 1.001;
    }
    json_decref(root);
    return failed;
}

Test(renyi, draws_lie_between_the_adversary_and_the_curve)
{
    cr_assert_eq(failing_draws(false), 0);
    cr_assert_gt(failing_draws(true), 30);
}

Test(renyi, count_and_list_agree)
{
    json_t *root = vectors_open();
    struct privacy_event *list = calloc(1000, sizeof *list);
    size_t i;
    json_t *row;
    cr_assert_not_null(list);
    json_array_foreach(vectors_group(root, "f_exponential_bounded_range", 48), i, row)
    {
        size_t count = (size_t)field(row, "k");
        if (count > 100) {
            continue;
        }
        struct privacy_event draw = event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), count);
        for (size_t j = 0; j < count; j++) {
            list[j] = event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), 1);
        }
        double wanted = renyi_epsilon(&draw, 1, field(row, "delta"));
        cr_assert_float_eq(renyi_epsilon(list, count, field(row, "delta")), wanted, 1e-11 * wanted);
    }
    free(list);
    json_decref(root);
}

Test(renyi, zcdp_conversions_meet_every_row)
{
    json_t *root = vectors_open();
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "g_zcdp_to_approx", 22), i, row)
    {
        double epsilon = zcdp_to_epsilon(field(row, "rho"), field(row, "delta"));
        cr_assert(is_just_above(epsilon, field(row, "eps_cks"), 1e-10));
        cr_assert(epsilon >= field(row, "eps_gaussian_exact"));
    }
    json_array_foreach(vectors_group(root, "g2_zcdp_delta_at_eps", 7), i, row)
    {
        double delta = zcdp_to_delta(field(row, "rho"), field(row, "eps"));
        cr_assert(is_just_above(delta, field(row, "delta_cks"), 1e-10));
    }
    json_array_foreach(vectors_group(root, "g3_cdp_rho", 5), i, row)
    {
        double rho = zcdp_from_epsilon(field(row, "eps"), field(row, "delta"));
        cr_assert_float_eq(rho, field(row, "ibm_cdp_rho"), 1e-12 * rho);
        cr_assert(zcdp_to_epsilon(rho, field(row, "delta")) <= field(row, "eps") * (1 + 1e-14));
    }
    json_decref(root);
}

Test(renyi, zcdp_columns_of_the_other_groups)
{
    static const struct {
        const char *name;
        size_t rows;
        enum mechanism mechanism;
        const char *parameter;
    } groups[] = {{"a_pure_kfold", 48, MECHANISM_PURE, "eps0"},
                  {"d_gaussian", 38, MECHANISM_GAUSSIAN, "sigma"},
                  {"d_discrete_gaussian", 33, MECHANISM_DISCRETE_GAUSSIAN, "sigma"}};
    json_t *root = vectors_open();
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        size_t i;
        json_t *row;
        json_array_foreach(vectors_group(root, groups[g].name, groups[g].rows), i, row)
        {
            struct privacy_event event =
                event_of(groups[g].mechanism, field(row, groups[g].parameter), field(row, "k"));
            double delta = field(row, "delta");
            double zcdp = zcdp_epsilon(&event, 1, delta);
            cr_assert(is_just_above(zcdp, field(row, "eps_zcdp_cks"), 1e-10));
            cr_assert(renyi_epsilon(&event, 1, delta) <= zcdp * (1 + 1e-9));
        }
    }
    json_decref(root);
}

Test(renyi, filters_formulas)
{
    json_t *root = vectors_open();
    size_t i;
    json_t *row;
    json_array_foreach(vectors_group(root, "i_filter_formulas", 10), i, row)
    {
        json_t *list = json_object_get(row, "eps_list_rle");
        size_t count = json_array_size(list);
        struct privacy_event pure[16];
        struct privacy_event draws[16];
        cr_assert_leq(count, 16);
        for (size_t j = 0; j < count; j++) {
            const json_t *run = json_array_get(list, j);
            double epsilon = json_number_value(json_array_get(run, 0));
            double times = json_number_value(json_array_get(run, 1));
            pure[j] = event_of(MECHANISM_PURE, epsilon, times);
            draws[j] = event_of(MECHANISM_EXPONENTIAL, epsilon, times);
        }
        double delta = field(row, "delta");
        cr_assert(is_just_above(basic_epsilon(pure, count, delta), field(row, "eps_basic"), 1e-13));
        cr_assert(is_just_above(zcdp_epsilon(pure, count, delta), field(row, "eps_filter_zcdp_cks"),
                                1e-10));
        cr_assert(is_just_above(zcdp_epsilon(draws, count, delta),
                                field(row, "eps_filter_br_zcdp_cks"), 1e-10));
    }
    json_decref(root);
}

Test(renyi, limits)
{
    struct privacy_event event = event_of(MECHANISM_EXPONENTIAL, 1e-300, 1);
    cr_assert(renyi_divergence(&event, 2) > 0 && renyi_divergence(&event, 2) < 1e-299);
    event.parameter = 800;
    cr_assert(renyi_divergence(&event, 1e9) <= 800);
    cr_assert_float_eq(renyi_divergence(&event, 1e9), 800, 1e-3);
    for (int power = -15; power < 0; power++) { /* alpha -> 1: the relative entropy, from above */
        const double gap = pow(10, power);
        event = event_of(MECHANISM_PURE, 1, 1);
        cr_assert(renyi_divergence(&event, 1 + gap) >= tanh(0.5));
        event.mechanism = MECHANISM_EXPONENTIAL;
        cr_assert(renyi_divergence(&event, 1 + gap) >= 0.12);
        event.mechanism = MECHANISM_LAPLACE;
        cr_assert(renyi_divergence(&event, 1 + gap) >= exp(-1));
    }
    event = event_of(MECHANISM_GAUSSIAN, 1, 10);
    event.sampling = 0.01;
    cr_assert(isnan(zcdp_epsilon(&event, 1, 1e-6)) && isfinite(renyi_epsilon(&event, 1, 1e-6)));
    cr_assert_eq(zcdp_to_epsilon(0, 1e-6), 0);
    cr_assert(isinf(zcdp_to_epsilon(1, 0)) && zcdp_to_delta(1e6, 1) == 1);
    for (int power = -12; power < 7; power += 2) {
        const double rho = pow(10, power);
        double epsilon = zcdp_to_epsilon(rho, 1e-300);
        cr_assert(isfinite(epsilon) && epsilon <= rho + 2 * sqrt(rho * 300 * log(10)));
        /* the margin for underflow, 2e-308, is 2e-8 of this delta */
        cr_assert(zcdp_to_delta(rho, epsilon) <= 1e-300 * (1 + 3e-8));
    }
}

/* E_Q[g(loss)] of curve.c summed over the integers, Q discrete Laplace of this rate. */
static double summed_divergence(double rate, int shift, double alpha)
{
    int reach = (int)(45 / rate) + shift;
    double sum = 0;
    for (int z = -reach; z <= reach + shift; z++) {
        double loss = rate * (abs(z - shift) - abs(z));
        double mass = tanh(rate / 2) * exp(-rate * abs(z - shift));
        sum += mass * (expm1(alpha * loss) - alpha * expm1(loss));
    }
    return log1p(sum) / (alpha - 1);
}

Test(renyi, discrete_laplace_is_the_sum_over_the_integers)
{
    static const int shifts[] = {1, 2, 3, 64, 65, 500};
    static const double alphas[] = {1.5, 2, 8, 64};
    for (size_t s = 0; s < 6; s++) {
        for (size_t a = 0; a < 4; a++) {
            struct privacy_event event =
                event_of(MECHANISM_DISCRETE_LAPLACE, shifts[s] / 2.0, 1); /* epsilon 2 */
            event.sensitivity = shifts[s];
            double wanted = summed_divergence(2.0 / shifts[s], shifts[s], alphas[a]);
            double bound = renyi_divergence(&event, alphas[a]);
            cr_assert(bound >= wanted * (1 - 1e-11) && bound <= wanted * (1 + 1e-9));
        }
    }
}
