#include "dp/window.h"

#include <criterion/criterion.h>

static const struct cost none = {0};

static uint64_t sum_of(const struct window *window)
{
    return window_sum(window, 0, none, none).epsilon_micro;
}

Test(window, a_cost_counts_for_whole_days_and_one_part)
{
    struct window window;
    cr_assert_eq(window_new(&window, 2), STATUS_OK);
    window_advance(&window, (int64_t)10 * DAY_MS + DAY_MS - 1); /* the last moment of a day */
    window_put(&window, (struct cost){.epsilon_micro = 5});
    int64_t late = (int64_t)12 * DAY_MS + DAY_MS - 1;
    int64_t over = late + 1;
    cr_assert_eq(window_sum(&window, late, none, none).epsilon_micro, 5);
    cr_assert(window_holds(&window, late, 10) && !window_holds(&window, over, 10));
    cr_assert_eq(window_sum(&window, over, none, none).epsilon_micro, 0);
    cr_assert_eq(window_sum(&window, INT64_MAX, none, none).epsilon_micro, 0);
    cr_assert_eq(sum_of(&window), 5, "a question leaves nothing behind");
    window_advance(&window, late);
    cr_assert_eq(sum_of(&window), 5, "two whole days later it still counts");
    window_advance(&window, over);
    cr_assert_eq(sum_of(&window), 0);
    window_free(&window);
}

Test(window, a_clock_that_runs_back_frees_nothing)
{
    struct window window;
    cr_assert_eq(window_new(&window, 1), STATUS_OK);
    window_advance(&window, (int64_t)100 * DAY_MS);
    window_advance(&window, -5);
    window_advance(&window, INT64_MIN);
    cr_assert_eq(window.today, 100);
    window_put(&window, (struct cost){.epsilon_micro = 7});
    window_advance(&window, (int64_t)101 * DAY_MS);
    cr_assert_eq(sum_of(&window), 7, "counted on the latest day ever told");
    window_advance(&window, INT64_MAX);
    cr_assert_eq(sum_of(&window), 0);
    window_free(&window);
}

/* Beside a list of (day, cost), over every length of a step. */
Test(window, the_ring_agrees_with_a_list)
{
    enum { STEPS = 4000 };
    static int64_t day[STEPS];
    for (uint32_t days = 1; days <= 40; days += 13) {
        struct window window;
        int64_t today = 0;
        cr_assert_eq(window_new(&window, days), STATUS_OK);
        for (int i = 0; i < STEPS; i++) {
            today += (i * i) % 7 == 3 ? i % 53 : 0;
            window_advance(&window, today * DAY_MS);
            day[i] = today;
            window_put(&window, (struct cost){.epsilon_micro = UINT64_MAX >> (i % 60)});
            uint128 expected = 0;
            for (int j = i; j >= 0 && day[j] >= today - (int64_t)days; j--) {
                expected += UINT64_MAX >> (j % 60);
            }
            cr_assert(window.sum.epsilon_micro == expected, "days %u, step %d", days, i);
        }
        window_free(&window);
    }
}

Test(window, a_cost_can_move_to_today)
{
    struct window window;
    struct cost old = {.epsilon_micro = UINT64_MAX, .delta_atto = 1, .renyi_nano = 2};
    cr_assert_eq(window_new(&window, WINDOW_DAYS_MAX), STATUS_OK);
    window_put(&window, old);
    window_put(&window, old);
    window_advance(&window, (int64_t)WINDOW_DAYS_MAX * DAY_MS);
    cr_assert_eq(sum_of(&window), UINT64_MAX, "saturates only when read");
    window_take(&window, 0, old);
    window_put(&window, (struct cost){.epsilon_micro = 3});
    window_advance(&window, ((int64_t)WINDOW_DAYS_MAX + 1) * DAY_MS);
    cr_assert_eq(sum_of(&window), 3);
    window_free(&window);
}
