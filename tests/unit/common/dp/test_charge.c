#include "dp/charge.h"

#include <criterion/criterion.h>

static const struct charge good = {
    .epsilon_micro = 1, .pass = {{1}}, .row_first = 0, .row_count = 1};

Test(charge, is_valid_only_with_a_price_a_pass_and_rows)
{
    struct charge charge = good;
    cr_assert(charge_is_valid(&charge));
    charge.epsilon_micro = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.delta_atto = DELTA_ATTO_ONE;
    cr_assert_not(charge_is_valid(&charge));
    charge.delta_atto = DELTA_ATTO_ONE - 1;
    cr_assert(charge_is_valid(&charge));
    charge = good;
    charge.pass = (struct digest){{0}};
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.row_count = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_count = 2;
    charge.row_first = UINT64_MAX - 1;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_first = UINT64_MAX - 2;
    cr_assert(charge_is_valid(&charge));
}

Test(charge, a_gaussian_has_a_sigma_and_the_others_an_epsilon)
{
    struct charge charge = good;
    charge.sigma_micro = 1;
    cr_assert_not(charge_is_valid(&charge));
    charge.mechanism = MECHANISM_GAUSSIAN;
    cr_assert_not(charge_is_valid(&charge));
    charge.epsilon_micro = 0;
    cr_assert(charge_is_valid(&charge));
    charge.sigma_micro = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.mechanism = (enum mechanism)MECHANISM_COUNT;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.neighbours = (enum neighbours)2;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.sampling_nano = SAMPLING_NANO_ONE + 1;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.count = CHARGE_COUNT_MAX + 1;
    cr_assert_not(charge_is_valid(&charge));
}

Test(charge, of_an_older_journal_is_one_run_on_every_record)
{
    struct charge charge = good;
    cr_assert(charge_count(&charge) == 1 && charge_sampling_nano(&charge) == SAMPLING_NANO_ONE);
    struct charge same = good;
    same.count = 1;
    same.sampling_nano = SAMPLING_NANO_ONE;
    cr_assert(charge_same_event(&charge, &same));
    same.count = 2;
    cr_assert_not(charge_same_event(&charge, &same));
}

/* Each number beside exact arithmetic: integers against the integer that the double stands for. */
Test(charge, its_event_is_never_cheaper)
{
    for (uint64_t micro = 1; micro < 3000000; micro = micro * 3 / 2 + 1) {
        struct charge charge = good;
        charge.epsilon_micro = micro;
        charge.delta_atto = micro * 1000003;
        charge.sampling_nano = micro;
        struct privacy_event event = charge_event(&charge);
        cr_assert_eq(privacy_event_check(&event, NULL), STATUS_OK);
        cr_assert_geq((long double)event.parameter * 1e6L, (long double)micro);
        cr_assert_leq((long double)event.parameter * 1e6L, (long double)micro * (1 + 1e-15L));
        cr_assert_geq((long double)event.delta * 1e18L, (long double)charge.delta_atto);
        cr_assert_geq((long double)event.sampling * 1e9L, (long double)micro);
        charge.mechanism = MECHANISM_LAPLACE;
        event = charge_event(&charge);
        cr_assert_leq((long double)event.parameter * (long double)micro, 1e6L);
        charge.mechanism = MECHANISM_GAUSSIAN;
        charge.sigma_micro = micro;
        charge.epsilon_micro = 0;
        event = charge_event(&charge);
        cr_assert_leq((long double)event.parameter * 1e6L, (long double)micro);
        cr_assert_geq((long double)event.parameter * 1e6L, (long double)micro * (1 - 1e-15L));
    }
}

/* Curves of whole vectors are not those of continuous noise: a sample of them is priced with a little
 * less noise than there is, or as no sample. */
Test(charge, a_sampled_discrete_gaussian_is_priced_as_the_continuous_noise_that_bounds_it)
{
    struct charge charge = good;
    charge.mechanism = MECHANISM_DISCRETE_GAUSSIAN;
    charge.epsilon_micro = 0;
    charge.sampling_nano = SAMPLING_NANO_ONE / 100;
    for (uint64_t micro = 250001; micro < UINT64_C(1000000000); micro = micro * 3 / 2) {
        charge.sigma_micro = micro;
        const struct privacy_event event = charge_event(&charge);
        cr_assert(event.mechanism == MECHANISM_GAUSSIAN && event.sampling < 0.011);
        const double most = (double)micro / 1e6;
        cr_assert(event.parameter < most && event.parameter > most * 0.99);
        cr_assert(micro < 1000000 || event.parameter > most * (1 - 1e-5), "%g", event.parameter);
    }
    charge.sigma_micro = 249999;
    struct privacy_event event = charge_event(&charge);
    cr_assert(event.mechanism == MECHANISM_DISCRETE_GAUSSIAN && event.sampling == 1);
    charge.sigma_micro = 2000000;
    charge.sampling_nano = 0;
    event = charge_event(&charge);
    cr_assert(event.mechanism == MECHANISM_DISCRETE_GAUSSIAN && event.sampling == 1);
    cr_assert(event.parameter > 2 * (1 - 1e-15), "what nobody sampled is proved as it is");
}
