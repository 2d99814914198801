
#include "dp/filter.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct price one = {.epsilon_micro = 1000000, .delta_atto = 10000000000000};

static bool admits(const struct filter_plan *schedule, uint64_t sigma_micro)
{
    const struct filter filter = filter_new(schedule->limit);
    struct charge charge = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                            .sigma_micro = sigma_micro,
                            .sampling_nano = schedule->sampling_nano,
                            .pass = {.byte = {3}},
                            .row_count = 1};
    struct cost sums = {0, 0, 0};
    for (uint64_t i = 0; i < schedule->count; i++) { /* round by round, as a ledger sees them */
        sums = cost_add(sums, filter_cost(&filter, &charge));
    }
    for (size_t i = 0; i < schedule->fixed_count; i++) {
        sums = cost_add(sums, filter_cost(&filter, &schedule->fixed[i]));
    }
    return filter_admits(&filter, &sums);
}

Test(schedule, is_the_least_noise_a_ledger_admits)
{
    const struct charge laplace = {.mechanism = MECHANISM_PURE,
                                   .epsilon_micro = 200000,
                                   .count = 2,
                                   .pass = {.byte = {9}},
                                   .row_count = 1};
    const struct filter_plan schedule[] = {
        {.limit = one, .count = 1, .sampling_nano = SAMPLING_NANO_ONE},
        {.limit = one, .count = 50, .sampling_nano = SAMPLING_NANO_ONE},
        {.limit = one,
         .fixed = &laplace,
         .fixed_count = 1,
         .count = 50,
         .sampling_nano = SAMPLING_NANO_ONE},
        {.limit = one, .count = 20, .sampling_nano = 50000000},
    };
    uint64_t sigma[4];
    for (size_t i = 0; i < 4; i++) {
        struct why why;
        cr_assert_eq(filter_sigma(&sigma[i], &schedule[i], &why), STATUS_OK);
        cr_assert(admits(&schedule[i], sigma[i]));
        cr_assert_not(admits(&schedule[i], sigma[i] - 1), "a millionth less is too little");
    }
    cr_assert_float_eq((double)sigma[1] / (double)sigma[0], sqrt(50), 1e-3, "rho adds up");
    cr_assert(sigma[2] > sigma[1] && sigma[3] < sigma[1] / 4);
}

/* Half of delta goes to the conversion; the best order gives at least what one over the root of
 * 2 rho of the plain bound epsilon = rho + 2 sqrt(rho ln(1/delta)) gives. */
Test(schedule, is_below_the_plain_bound_and_above_the_gaussian_lower_bound)
{
    const struct filter_plan schedule = {
        .limit = one, .count = 50, .sampling_nano = SAMPLING_NANO_ONE};
    uint64_t sigma = 0;
    cr_assert_eq(filter_sigma(&sigma, &schedule, NULL), STATUS_OK);
    const double l = log(2e5);
    const double root = sqrt(l + 1) - sqrt(l);
    cr_assert((double)sigma * 1e-6 < sqrt(50 / (2 * root * root)));
    cr_assert((double)sigma * 1e-6 > sqrt(50) * 3.73, "3.73 is one exact Gaussian's at 1e-5");
}

Test(schedule, says_when_no_noise_is_enough)
{
    const struct charge all = {.mechanism = MECHANISM_PURE,
                               .epsilon_micro = 5000000,
                               .pass = {.byte = {9}},
                               .row_count = 1};
    uint64_t sigma = 7;
    struct why why = {{0}};
    struct filter_plan schedule = {
        .limit = {.epsilon_micro = 1000000}, .count = 1, .sampling_nano = SAMPLING_NANO_ONE};
    cr_assert_eq(filter_sigma(&sigma, &schedule, &why), STATUS_EXHAUSTED);
    cr_assert(sigma == 0 && why.text[0] != '\0');
    schedule.limit = one;
    schedule.fixed = &all;
    schedule.fixed_count = 1;
    cr_assert_eq(filter_sigma(&sigma, &schedule, &why), STATUS_EXHAUSTED);
    schedule.fixed_count = 0;
    schedule.count = CHARGE_COUNT_MAX;
    cr_assert_eq(filter_sigma(&sigma, &schedule, NULL), STATUS_EXHAUSTED);
    schedule.count = 0;
    cr_assert_eq(filter_sigma(&sigma, &schedule, &why), STATUS_INVALID);
    schedule.count = 1;
    schedule.sampling_nano = 0;
    cr_assert_eq(filter_sigma(&sigma, &schedule, &why), STATUS_INVALID);
    schedule.sampling_nano = SAMPLING_NANO_ONE + 1;
    cr_assert_eq(filter_sigma(&sigma, &schedule, &why), STATUS_INVALID);
}

/* Half of the limit's delta is for own deltas: what they sum to counts, and noise does not lower it. */
Test(schedule, counts_each_rounds_own_delta)
{
    uint64_t sigma = 0;
    uint64_t without = 0;
    struct filter_plan schedule = {.limit = one, .count = 50, .sampling_nano = SAMPLING_NANO_ONE};
    cr_assert_eq(filter_sigma(&without, &schedule, NULL), STATUS_OK);
    schedule.delta_atto = one.delta_atto / 2 / 50;
    cr_assert_eq(filter_sigma(&sigma, &schedule, NULL), STATUS_OK);
    cr_expect_eq(sigma, without);
    schedule.delta_atto++;
    cr_assert_eq(filter_sigma(&sigma, &schedule, NULL), STATUS_EXHAUSTED);
    schedule.delta_atto = DELTA_ATTO_ONE;
    cr_assert_eq(filter_sigma(&sigma, &schedule, NULL), STATUS_INVALID);
}
