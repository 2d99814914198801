/* schedule.c - bisection over whole millionths of sigma, asking the filter that will be asked. */

#include "dp/schedule.h"

#include "base/check.h"
#include "dp/filter.h"

/* The sums with `count` rounds at this sigma. Which pass and rows does not matter to a price. */
static bool admitted(const struct filter *filter, const struct schedule *schedule,
                     struct cost spent, uint64_t sigma_micro)
{
    const struct charge charge = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .sigma_micro = sigma_micro,
                                  .delta_atto = schedule->delta_atto,
                                  .count = schedule->count,
                                  .sampling_nano = schedule->sampling_nano,
                                  .pass = {.byte = {1}},
                                  .row_count = 1};
    const struct cost sums = cost_add(spent, filter_cost(filter, &charge));
    return filter_admits(filter, &sums);
}

enum status schedule_sigma(uint64_t *sigma_micro, const struct schedule *schedule, struct why *why)
{
    *sigma_micro = 0;
    if (schedule->count == 0 || schedule->count > CHARGE_COUNT_MAX ||
        schedule->sampling_nano == 0 || schedule->sampling_nano > SAMPLING_NANO_ONE ||
        schedule->delta_atto >= DELTA_ATTO_ONE) {
        return why_refuse(
            why, "Gaussian rounds: from 1 to 2^53 of them, at a sampling rate above 0 and at "
                 "most 1");
    }
    const struct filter filter = filter_new(schedule->limit);
    struct cost spent = {0, 0, 0};
    for (size_t i = 0; i < schedule->fixed_count; i++) {
        CHECK(charge_is_valid(&schedule->fixed[i]));
        spent = cost_add(spent, filter_cost(&filter, &schedule->fixed[i]));
    }
    uint64_t low = 0; /* not admitted: no noise at all */
    uint64_t high = SCHEDULE_SIGMA_MAX;
    if (!admitted(&filter, schedule, spent, high)) {
        why_set(
            why,
            filter.order == 0
                ? "Gaussian noise needs a delta: the limit has none, or one too small for its "
                  "epsilon"
                : "no Gaussian noise is enough: fewer rounds, a larger epsilon or delta, or less "
                  "spent on the other stages");
        return STATUS_EXHAUSTED;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (admitted(&filter, schedule, spent, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *sigma_micro = high;
    return STATUS_OK;
}
