/* Two looks of different records: without noise they say what one look at all of them says; the second is at the columns that the
 * first leaves unsure; and whatever they say is taken. Fixed seeds: no false alarms. */

#include "learn/selftune_second.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { D = 12, KINDS = 3, STATE_MOST = 1024, TRIALS = 500 };

static const struct selftune two = {
    .feature_count = D, .output_count = 1, .sight = SIGHT_SUMS, .quantile = 0.3};
static const struct selftune three = {
    .feature_count = D, .output_count = KINDS, .sight = SIGHT_SUMS, .quantile = 0.3};

/* A look's numbers. */
struct numbers {
    double count[KINDS];
    double kept[KINDS];
    double sum[KINDS * D];
    double factor[D];
    double part[D];
};

/* records with mean m_cj in each class c and column j, of which the clip leaves half; less a middle */
static struct selftune_look look_of(struct numbers *to, size_t classes, double records,
                                    const double *mu, double deviation)
{
    for (size_t c = 0; c < classes; c++) {
        to->count[c] = records / (double)classes;
        to->kept[c] = to->count[c] / 2;
        for (size_t j = 0; j < D; j++) {
            const double mean = 0.2 + (c == 1 && j < 3 ? 0.3 : 0);
            to->sum[c * D + j] = to->kept[c] * (mean - (mu == NULL ? 0 : mu[j]));
        }
    }
    for (size_t j = 0; j < D; j++) {
        to->factor[j] = 1;
        to->part[j] = 1;
    }
    return (struct selftune_look){.record_count = records,
                                  .count = to->count,
                                  .kept = to->kept,
                                  .sum = to->sum,
                                  .count_deviation = 1e-3,
                                  .kept_deviation = 1e-3,
                                  .sum_deviation = deviation,
                                  .factor = to->factor,
                                  .part = to->part};
}

static const struct selftune_second later = {
    .records = 1000, .part = 0.4, .groups = 2, .deviation = 1e-3};

/* The look as it is where the second of two classes has another share of the records. */
static void give_share(struct numbers *to, double records, double share)
{
    for (size_t c = 0; c < 2; c++) {
        const double more = (c == 1 ? share : 1 - share) * records / to->count[c];
        to->count[c] *= more;
        to->kept[c] *= more;
        for (size_t j = 0; j < D; j++) {
            to->sum[c * D + j] *= more;
        }
    }
}

static const double *middle_of(const double *state, const struct selftune *stage)
{
    return state + selftune_shown_count(stage) - (size_t)2 * D;
}

static void compare(const struct selftune *stage)
{
    struct numbers numbers;
    static double told[STATE_MOST];
    static double both[STATE_MOST];
    static double once[STATE_MOST];
    double mu[D];
    const size_t classes = selftune_class_count(stage);
    cr_assert(selftune_state_count(stage) <= STATE_MOST &&
              selftune_told_count(stage) <= STATE_MOST);
    struct selftune_look look = look_of(&numbers, classes, 600, NULL, 1e-3);
    cr_assert_eq(selftune_take_first(both, told, stage, &look, &later), STATUS_OK);
    memcpy(mu, middle_of(both, stage), sizeof mu);
    look = look_of(&numbers, classes, 400, mu, 1e-3);
    cr_assert_eq(selftune_take_second(both, told, stage, &look), STATUS_OK);
    look = look_of(&numbers, classes, 1000, NULL, 1e-3);
    cr_assert_eq(selftune_take_look(once, stage, &look), STATUS_OK);
    for (size_t i = 0; i < selftune_state_count(stage); i++) {
        cr_expect_float_eq(both[i], once[i], 1e-3 * fmax(1, fabs(once[i])), "%zu", i);
    }
}

Test(selftune_second, without_noise_two_looks_say_what_one_says)
{
    compare(&two);
    compare(&three);
}

/* Those that look first may have fewer of a class than those that look second. Planted as it was: sums that are not scaled. */
Test(selftune_second, sets_of_other_shares_say_what_all_of_them_say)
{
    struct numbers numbers;
    static double told[STATE_MOST];
    static double both[STATE_MOST];
    static double once[STATE_MOST];
    double mu[D];
    struct selftune_look look = look_of(&numbers, 2, 600, NULL, 1e-3);
    give_share(&numbers, 600, 0.3);
    cr_assert_eq(selftune_take_first(both, told, &two, &look, &later), STATUS_OK);
    memcpy(mu, middle_of(both, &two), sizeof mu);
    look = look_of(&numbers, 2, 400, mu, 1e-3);
    give_share(&numbers, 400, 0.65);
    cr_assert_eq(selftune_take_second(both, told, &two, &look), STATUS_OK);
    look = look_of(&numbers, 2, 1000, NULL, 1e-3);
    give_share(&numbers, 1000, (600 * 0.3 + 400 * 0.65) / 1000);
    cr_assert_eq(selftune_take_look(once, &two, &look), STATUS_OK);
    for (size_t i = 0; i < selftune_shown_count(&two); i++) {
        cr_expect_float_eq(both[i], once[i], 1e-2 * fmax(1, fabs(once[i])), "%zu", i);
    }
}

/* Of columns alike only those that nobody has told of, and those whose size is not yet sure, are worth a second look. */
Test(selftune_second, the_second_look_is_at_columns_of_which_most_is_to_be_learned)
{
    struct numbers numbers;
    static double state[STATE_MOST];
    static double told[STATE_MOST];
    size_t column[D];
    struct selftune_look look = look_of(&numbers, 2, 600, NULL, 10);
    for (size_t c = 0; c < 2; c++) {
        for (size_t j = 3; j < D; j++) {
            numbers.sum[c * D + j] = numbers.kept[c] * 0.2;
        }
    }
    numbers.factor[11] = HUGE_VAL;
    numbers.part[11] = 0;
    cr_assert_eq(selftune_take_first(state, told, &two, &look, &later), STATUS_OK);
    const size_t count = selftune_chosen(column, state, &two);
    cr_expect_eq(count, selftune_told_chosen(told));
    cr_assert(count >= 4 && count < D, "%zu", count);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(column[i], i);
    }
    cr_expect_eq(column[count - 1], 11);
}

/* A column of which no site has told in the second look, too, is what the first has told of it; and of neither, unknown. */
Test(selftune_second, a_column_of_one_look_alone_is_known_by_it)
{
    struct numbers numbers;
    static double state[STATE_MOST];
    static double told[STATE_MOST];
    double weights[D + 1];
    struct selftune_look look = look_of(&numbers, 2, 600, NULL, 1e-3);
    numbers.factor[0] = HUGE_VAL;
    numbers.part[0] = 0;
    cr_assert_eq(selftune_take_first(state, told, &two, &look, &later), STATUS_OK);
    double mu[D];
    memcpy(mu, middle_of(state, &two), sizeof mu);
    look = look_of(&numbers, 2, 400, mu, 1e-3);
    for (size_t j = 0; j < 2; j++) {
        numbers.factor[j] = HUGE_VAL;
        numbers.part[j] = 0;
    }
    cr_assert_eq(selftune_take_second(state, told, &two, &look), STATUS_OK);
    selftune_model(weights, state, &two);
    cr_expect_float_eq(weights[0], 0, 1e-12);
    cr_expect_gt(weights[1], 0.5);
    cr_expect_gt(weights[2], 0.5);
}

/* Both looks may be noise alone, and nobody may have told of anything. */
static void take_anything(const struct selftune *stage)
{
    struct seeded_random seeded;
    static double state[STATE_MOST];
    static double told[STATE_MOST];
    seeded_random_init(&seeded, 3);
    for (size_t trial = 0; trial < TRIALS; trial++) {
        struct numbers numbers;
        struct selftune_look look;
        for (int turn = 0; turn < 2; turn++) {
            look = look_of(&numbers, selftune_class_count(stage), 1 + 500 * (double)(trial % 3),
                           NULL, ldexp(1, (int)seeded_random_below(&seeded, 60) - 20));
            for (size_t i = 0; i < KINDS * D; i++) {
                numbers.sum[i] = ldexp(seeded_random_unit(&seeded) - 0.5,
                                       (int)seeded_random_below(&seeded, 60) - 20);
            }
            for (size_t i = 0; i < KINDS; i++) {
                numbers.count[i] = ldexp(seeded_random_unit(&seeded) - 0.5, 20);
                numbers.kept[i] = ldexp(seeded_random_unit(&seeded) - 0.5, 20);
            }
            for (size_t j = 0; j < D; j++) {
                const bool lost = trial % 7 == 0 || seeded_random_below(&seeded, 3) == 0;
                numbers.factor[j] = lost ? HUGE_VAL : 1 + seeded_random_unit(&seeded);
                numbers.part[j] = lost ? 0 : 0.5;
            }
            const enum status status = turn == 0
                                           ? selftune_take_first(state, told, stage, &look, &later)
                                           : selftune_take_second(state, told, stage, &look);
            cr_assert_eq(status, STATUS_OK, "%zu", trial);
            cr_assert_eq(selftune_check_shown(state, stage), STATUS_OK);
            for (size_t i = 0; i < selftune_told_count(stage); i++) {
                cr_assert(isfinite(told[i]), "%zu", i);
            }
        }
    }
}

Test(selftune_second, whatever_two_looks_say_is_taken)
{
    take_anything(&two);
    take_anything(&three);
}

Test(selftune_second, what_was_kept_is_checked)
{
    struct numbers numbers;
    static double state[STATE_MOST];
    static double told[STATE_MOST];
    const struct selftune_look look = look_of(&numbers, 2, 600, NULL, 1e-3);
    cr_assert_eq(selftune_take_first(state, told, &two, &look, &later), STATUS_OK);
    told[0] = 0;
    cr_expect_eq(selftune_take_second(state, told, &two, &look), STATUS_INVALID);
    told[0] = NAN;
    cr_expect_eq(selftune_take_second(state, told, &two, &look), STATUS_INVALID);
}
