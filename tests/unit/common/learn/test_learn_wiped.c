/* Sums over records free no memory that holds a partial sum or a record's gradient, as doubles or as whole
 * numbers. */

#include "learn/gradient.h"
#include "learn/moments.h"
#include "tests/support/given_back.h"

#include <criterion/criterion.h>

enum { WORDS = GIVEN_BACK_WORDS };

static void look_for_doubles(const int64_t *value)
{
    double real[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        real[i] = (double)value[i];
    }
    look_for(real);
}

Test(learn_wiped, what_is_given_back_unwiped_is_seen)
{
    static const int64_t mark[WORDS] = {1011, 1009, 1007};
    look_for(mark);
    give_back_unwiped();
    cr_assert_eq(found, 1);
    look_for_doubles(mark);
    give_back_unwiped();
    cr_assert_eq(found, 1);
}

Test(learn_wiped, no_partial_sum_of_moments_is_given_back_unwiped)
{
    const struct moments moments = {WORDS, 20, 1};
    const double x[2 * WORDS] = {0.5, -0.25, 0.125, 0.375, 0.625, -0.0625};
    const double y[2] = {1, -1};
    int64_t sum[WORDS * (WORDS + 3) / 2];
    cr_assert_eq(moments_sum(sum, &moments, x, y, 2), STATUS_OK);
    look_for_doubles(sum);
    cr_assert_eq(moments_sum(sum, &moments, x, y, 2), STATUS_OK);
    cr_expect_eq(found, 0);
}

/* Few grid bits take the fast way, many the slow one. */
Test(learn_wiped, no_record_s_gradient_and_no_partial_sum_is_given_back_unwiped)
{
    const double x[2 * WORDS] = {0.5, -0.25, 0.125, 0.375, 0.625, -0.0625};
    const double y[2] = {1, 1};
    const double weights[WORDS] = {0};
    for (unsigned bits = 20; bits <= 50; bits += 30) {
        const int64_t one = INT64_C(1) << bits;
        const struct gradient gradient = {{LOSS_LOGISTIC, 0},        1, WORDS, bits, GRADIENT_L2,
                                          bits == 20 ? one : 4 * one};
        const struct gradient_rows both = {.x = x, .y = y, .row_count = 2};
        const struct gradient_rows last = {.x = x + WORDS, .y = y + 1, .row_count = 1};
        int64_t sum[WORDS];
        int64_t record[WORDS];
        cr_assert_eq(gradient_sum(record, &gradient, weights, &last), STATUS_OK);
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &both), STATUS_OK);
        for (int what = 0; what < 4; what++) {
            int64_t again[WORDS];
            const int64_t *secret = what < 2 ? record : sum;
            if (what % 2 == 0) {
                look_for_doubles(secret);
            } else {
                look_for(secret);
            }
            cr_assert_eq(gradient_sum(again, &gradient, weights, &both), STATUS_OK);
            cr_expect_eq(found, 0, "%u bits, %d", bits, what);
        }
    }
}
