#include "dp/window.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum status window_new(struct window *window, uint32_t days)
{
    CHECK(days >= 1 && days <= WINDOW_DAYS_MAX);
    *window = (struct window){.days = days};
    window->day = calloc((size_t)days + 1, sizeof *window->day);
    return window->day == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

void window_free(struct window *window)
{
    free(window->day);
    memset(window, 0, sizeof *window);
}

static struct wide_cost *bucket_of(const struct window *window, int64_t day)
{
    return &window->day[day % ((int64_t)window->days + 1)];
}

static void wide_take(struct wide_cost *from, const struct wide_cost *cost)
{
    CHECK(from->epsilon_micro >= cost->epsilon_micro && from->delta_atto >= cost->delta_atto &&
          from->renyi_nano >= cost->renyi_nano);
    from->epsilon_micro -= cost->epsilon_micro;
    from->delta_atto -= cost->delta_atto;
    from->renyi_nano -= cost->renyi_nano;
}

static void wide_put(struct wide_cost *to, const struct wide_cost *cost)
{
    to->epsilon_micro += cost->epsilon_micro;
    to->delta_atto += cost->delta_atto;
    to->renyi_nano += cost->renyi_nano;
}

static struct wide_cost widened(struct cost cost)
{
    return (struct wide_cost){cost.epsilon_micro, cost.delta_atto, cost.renyi_nano};
}

static int64_t day_of(const struct window *window, int64_t wall_ms)
{
    int64_t day = wall_ms / DAY_MS; /* before 1970 nothing is later than the first day */
    return day > window->today ? day : window->today;
}

/* How many days, from the oldest, end between today and then. */
static int64_t days_ending(const struct window *window, int64_t wall_ms)
{
    int64_t ring = (int64_t)window->days + 1;
    int64_t passed = day_of(window, wall_ms) - window->today;
    return passed < ring ? passed : ring;
}

void window_advance(struct window *window, int64_t wall_ms)
{
    for (int64_t i = 1; i <= days_ending(window, wall_ms); i++) {
        struct wide_cost *expired = bucket_of(window, window->today + i);
        wide_take(&window->sum, expired);
        *expired = (struct wide_cost){0};
    }
    window->today = day_of(window, wall_ms);
}

bool window_holds(const struct window *window, int64_t wall_ms, int64_t day)
{
    return day_of(window, wall_ms) - day <= (int64_t)window->days;
}

void window_take(struct window *window, int64_t day, struct cost cost)
{
    struct wide_cost wide = widened(cost);
    CHECK(window->today - day <= (int64_t)window->days && day <= window->today);
    wide_take(bucket_of(window, day), &wide);
    wide_take(&window->sum, &wide);
}

void window_put(struct window *window, struct cost cost)
{
    struct wide_cost wide = widened(cost);
    wide_put(bucket_of(window, window->today), &wide);
    wide_put(&window->sum, &wide);
}

static uint64_t narrowed(uint128 sum, uint64_t before, uint64_t after)
{
    CHECK(sum >= before);
    sum = sum - before + after;
    return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

struct cost window_sum(const struct window *window, int64_t wall_ms, struct cost before,
                       struct cost after)
{
    struct wide_cost sum = window->sum;
    for (int64_t i = 1; i <= days_ending(window, wall_ms); i++) {
        wide_take(&sum, bucket_of(window, window->today + i));
    }
    return (struct cost){narrowed(sum.epsilon_micro, before.epsilon_micro, after.epsilon_micro),
                         narrowed(sum.delta_atto, before.delta_atto, after.delta_atto),
                         narrowed(sum.renyi_nano, before.renyi_nano, after.renyi_nano)};
}
