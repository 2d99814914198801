#include "learn/speed.h"

#include <criterion/criterion.h>
#include <math.h>

/* Made-up clocks, which advance by a fixed time at each look. */
static int64_t clock_ns;
static int64_t step_ns;

static int64_t looked_at(void)
{
    clock_ns += step_ns;
    return clock_ns;
}

static double speed_at(int64_t step)
{
    clock_ns = 0;
    step_ns = step;
    return speed_measure(looked_at);
}

Test(speed, a_machine_half_as_fast_is_measured_half_as_fast)
{
    const double fast = speed_at(2000000);
    const double slow = speed_at(4000000);
    cr_assert_gt(fast, 0);
    cr_assert_lt(fabs(fast / slow - 2), 1e-9, "%g and %g", fast, slow);
}

/* A clock that is coarser than a burst is looked at until it moves. */
static int64_t looks;

static int64_t coarse(void)
{
    looks++;
    return looks / 50 * 10000000;
}

static int64_t stopped(void)
{
    return 1;
}

Test(speed, a_coarse_clock_measures_and_a_stopped_one_tells_nothing)
{
    cr_expect_gt(speed_measure(coarse), 0);
    cr_expect_eq(speed_measure(stopped), 0);
}

/* Another program uses the processor at times: four of five tries are ten times as slow. */
static int64_t disturbed(void)
{
    looks++;
    clock_ns += looks / 2 % 5 == 3 ? 2000000 : 20000000;
    return clock_ns;
}

Test(speed, the_best_of_several_tries_counts)
{
    const double quiet = speed_at(2000000);
    clock_ns = 0;
    looks = 0;
    cr_expect_lt(fabs(speed_measure(disturbed) / quiet - 1), 1e-9);
}
