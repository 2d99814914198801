/* The self-tuning learner of a number, on made-up records: what sums without noise give is the least squares, Huber's line,
 * the median or another quantile; noise of a known size costs what it may; a state and releases that no coordinator of ours has. Fixed seeds. */

#include "number_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(selftune_number, comes_as_near_to_the_least_loss_as_noise_allows)
{
    struct number_table *t = malloc(sizeof *t);
    cr_assert_not_null(t);
    number_rig_draw(t);
    for (size_t i = 0; i < NUMBER_WAYS; i++) {
        double error = 0;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            error += number_rig_learn(&number_ways[i], t, seed) / 5;
        }
        const double best = number_rig_least(1, &number_ways[i].loss, t);
        const double spread = number_rig_least(0, &number_ways[i].loss, t);
        cr_assert_lt(best, 0.6 * spread);
        cr_expect_leq(error, best + number_ways[i].most * (spread - best),
                      "way %zu (%s): %g, the least loss %g, a constant's %g, lost %g", i,
                      loss_name(number_ways[i].loss.kind), error, best, spread,
                      (error - best) / (spread - best));
    }
    free(t);
}

/* What a look and a step take must be numbers, and leaves the state alone where it is not. */
Test(selftune_number, refuses_releases_that_are_no_numbers)
{
    static const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL};
    const struct selftune_number stage = number_rig_stage(&number_ways[0]);
    double state[STATE_MOST];
    double before[STATE_MOST];
    double sum[WIDTH + PRODUCTS] = {0};
    cr_assert_eq(selftune_number_begin(state, &stage), STATUS_OK);
    memcpy(before, state, sizeof state);
    for (size_t i = 0; i < 3 * (WIDTH + PRODUCTS); i++) {
        sum[i / 3] = odd[i % 3];
        const struct selftune_number_look seen = {100, sum, sum + WIDTH, 1, 1};
        cr_expect_eq(selftune_number_take_look(state, &stage, &seen), STATUS_INVALID);
        const struct selftune_number_release release = {100, sum, 1, odd[i % 3], 1};
        cr_expect_eq(selftune_number_take_gradient(state, &stage, &release), STATUS_INVALID);
        sum[i / 3] = 0;
    }
    const struct selftune_number_release fewer[] = {
        {0, sum, 1, 0, 1}, {NAN, sum, 1, 0, 1}, {9, sum, -1, 0, 1}, {9, sum, 1, 0, NAN}};
    for (size_t i = 0; i < sizeof fewer / sizeof fewer[0]; i++) {
        cr_expect_eq(selftune_number_take_gradient(state, &stage, &fewer[i]), STATUS_INVALID);
    }
    cr_expect_eq(memcmp(before, state, selftune_number_state_count(&stage) * sizeof *state), 0);
}

/* A journal may hold any state, and releases may be of any size: agents are shown what they take, and the model is one. */
Test(selftune_number, whatever_the_state_and_the_release_the_next_state_is_sound)
{
    static const double odd[] = {NAN, HUGE_VAL, -1e300, 1e300, 1e-310, -3, 0};
    static const double size[] = {0, 1, 1e6, 1e100, 1e300};
    static const size_t some[] = {0, 2, 4, 10, 18, 20};
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        const size_t w = some[k];
        const struct selftune_number stage = number_rig_stage(&number_ways[w]);
        const size_t count = selftune_number_state_count(&stage);
        double sum[WIDTH + PRODUCTS];
        for (size_t i = k; i < count * 7; i += 3) { /* every number, most oddities */
            double state[STATE_MOST];
            double model[WIDTH];
            const double large = size[i % 5];
            cr_assert_eq(selftune_number_begin(state, &stage), STATUS_OK);
            for (size_t j = 0; j < WIDTH + PRODUCTS; j++) {
                sum[j] = j % 2 == 0 ? large : -large;
            }
            const struct selftune_number_look seen = {100, sum, sum + WIDTH, large, large};
            if (stage.tune.sight != SIGHT_NONE) {
                cr_assert_eq(selftune_number_take_look(state, &stage, &seen), STATUS_OK);
                cr_assert_eq(selftune_check_shown(state, &stage.tune), STATUS_OK);
            }
            state[i / 7] = odd[i % 7];
            const struct selftune_number_release release = {100, sum, large, large, large};
            cr_assert_eq(selftune_number_take_gradient(state, &stage, &release), STATUS_OK);
            selftune_model(model, state, &stage.tune);
            for (size_t j = 0; j < WIDTH; j++) {
                cr_expect(isfinite(model[j]), "way %zu, %zu", w, i);
            }
            if (i / 7 >= selftune_shown_count(&stage.tune)) {
                cr_expect_eq(selftune_check_shown(state, &stage.tune), STATUS_OK, "way %zu, %zu", w,
                             i);
            }
        }
    }
}

/* Rows that its user has made are those that it would make: a rehearsal makes them once. */
Test(selftune_number, takes_rows_that_are_made_once)
{
    struct number_table *t = malloc(sizeof *t);
    struct selftune_number stage = number_rig_stage(&number_ways[0]);
    struct standin rows = {0};
    double state[2][STATE_MOST];
    cr_assert_not_null(t);
    number_rig_draw(t);
    cr_assert_eq(standin_init(&rows, D, 1, false), STATUS_OK);
    number_rig_first(state[0], &stage, t);
    stage.tune.rows = &rows;
    number_rig_first(state[1], &stage, t);
    cr_assert_eq(memcmp(state[0], state[1], selftune_number_state_count(&stage) * sizeof(double)),
                 0);
    standin_free(&rows);
    free(t);
}
