/* The rounds' gradients against dp/encode.h record by record, and against neighbours. Faults that a
 * sum could have are planted beside: each is seen. */

#include "learn/gradient.h"
#include "learn/steps.h"

#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/even_math.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40, D_MAX = 17, K_MAX = 3, WIDTH_MAX = D_MAX * K_MAX };

enum fault {
    RIGHT,
    ENCODED_AFTERWARDS, /* clipped real gradients are summed, and the sum encoded */
    CLIPPED_BY_OUTPUT,  /* each output's part to C by itself */
    COINS_IGNORED,
    NOT_CLIPPED,
    ROUNDED_TO_EVEN
};

struct problem {
    struct gradient gradient;
    struct gradient_rows rows;
    double x[ROWS_MAX * D_MAX];
    double y[ROWS_MAX];
    double weights[WIDTH_MAX];
    size_t row[ROWS_MAX];
    uint8_t taking[ROWS_MAX];
};

static void clip(const struct gradient *gradient, int64_t *value, size_t count)
{
    if (gradient->norm == GRADIENT_L1) {
        clip_l1(value, count, gradient->clip);
    } else {
        clip_l2(value, count, gradient->clip);
    }
}

/* The slope of output o by the definition. Both ways share the exponential, so that they agree to
 * the last bit. */
static double slope_by_the_book(const struct problem *problem, size_t row, size_t o)
{
    const struct gradient *gradient = &problem->gradient;
    const size_t d = gradient->feature_count;
    const double *x = problem->x + row * d;
    double score[K_MAX];
    double most = -HUGE_VAL;
    double sum = 0;
    for (size_t i = 0; i < gradient->output_count; i++) {
        score[i] = dense_dot(problem->weights + i * d, x, d);
        most = fmax(most, score[i]);
    }
    if (!gradient->softmax) {
        const double y =
            gradient->output_count == 1 ? problem->y[row] : (problem->y[row] == o ? 1.0 : -1.0);
        return loss_derivative(gradient->loss, score[o], y);
    }
    for (size_t i = 0; i < gradient->output_count; i++) {
        const double part = even_exp(fmax(score[i] - most, -40));
        cr_assert(fabs(part - exp(score[i] - most)) < 1e-15);
        sum += part;
    }
    return even_exp(fmax(score[o] - most, -40)) / sum - (problem->y[row] == o);
}

/* One record, by the definition. */
static void record_by_the_book(int64_t *value, const struct problem *problem, size_t row,
                               enum fault fault)
{
    const struct gradient *gradient = &problem->gradient;
    const size_t d = gradient->feature_count;
    const size_t width = gradient->output_count * d;
    const double *x = problem->x + row * d;
    double real[WIDTH_MAX];

    for (size_t o = 0; o < gradient->output_count; o++) {
        const double slope = slope_by_the_book(problem, row, o);
        for (size_t j = 0; j < d; j++) {
            real[o * d + j] = slope * x[j];
        }
    }
    encode_vector(value, real, width, gradient->grid_bits);
    for (size_t j = 0; j < width && fault == ROUNDED_TO_EVEN; j++) {
        value[j] = (int64_t)nearbyint(ldexp(real[j], (int)gradient->grid_bits));
    }
    for (size_t o = 0; o < gradient->output_count && fault == CLIPPED_BY_OUTPUT; o++) {
        clip(gradient, value + o * d, d);
    }
    if (fault != CLIPPED_BY_OUTPUT && fault != NOT_CLIPPED) {
        clip(gradient, value, width);
    }
}

/* The real gradients of the first rows, each clipped to an L1 norm of C steps, summed; encoded
 * last. */
static void sum_then_encode(int64_t *sum, const struct problem *problem)
{
    const struct gradient *gradient = &problem->gradient;
    const size_t d = gradient->feature_count;
    const double bound = ldexp((double)gradient->clip, -(int)gradient->grid_bits);
    double total[D_MAX] = {0};

    for (size_t row = 0; row < problem->rows.row_count; row++) {
        const double *x = problem->x + row * d;
        const double slope =
            loss_derivative(gradient->loss, dense_dot(problem->weights, x, d), problem->y[row]);
        double norm = 0;
        for (size_t j = 0; j < d; j++) {
            norm += fabs(slope * x[j]);
        }
        for (size_t j = 0; j < d; j++) {
            total[j] += slope * x[j] * (norm > bound ? bound / norm : 1);
        }
    }
    encode_vector(sum, total, d, gradient->grid_bits);
}

static void sum_by_the_book(int64_t *sum, const struct problem *problem, enum fault fault)
{
    const size_t width = problem->gradient.output_count * problem->gradient.feature_count;
    memset(sum, 0, width * sizeof *sum);
    for (size_t i = 0; i < problem->rows.row_count; i++) {
        int64_t value[WIDTH_MAX];
        const size_t row = problem->rows.row == NULL ? i : problem->rows.row[i];
        record_by_the_book(value, problem, row, fault);
        const bool taking =
            fault == COINS_IGNORED || problem->rows.taking == NULL || problem->rows.taking[i] == 1;
        for (size_t j = 0; j < width; j++) {
            /* wrapping, for what a planted fault may do */
            sum[j] = (int64_t)((uint64_t)sum[j] + (uint64_t)(taking ? value[j] : 0));
        }
    }
}

static void draw_record(struct seeded_random *seeded, struct problem *problem, size_t row)
{
    const size_t d = problem->gradient.feature_count;
    double *x = problem->x + row * d;
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        x[j] = seeded_random_below(seeded, 4) == 0
                   ? ldexp((double)seeded_random_below(seeded, 33) - 16, -5) /* often on a half */
                   : 2 * seeded_random_unit(seeded) - 1;
        square += x[j] * x[j];
    }
    for (size_t j = 0; j < d && square > 1; j++) {
        x[j] /= 2 * sqrt(square);
    }
    problem->y[row] = problem->gradient.output_count > 1
                          ? (double)seeded_random_below(seeded, problem->gradient.output_count)
                          : (double)seeded_random_below(seeded, 2) * 2 - 1;
}

static void draw_problem(struct seeded_random *seeded, struct problem *problem)
{
    static const struct loss loss[] = {{LOSS_LOGISTIC, 0}, {LOSS_HINGE, 0},    {LOSS_HUBER, 1},
                                       {LOSS_SQUARED, 0},  {LOSS_ABSOLUTE, 0}, {LOSS_PINBALL, 0.3}};
    struct gradient *gradient = &problem->gradient;
    *gradient = (struct gradient){
        .loss = loss[seeded_random_below(seeded, 6)],
        .output_count = 1 + seeded_random_below(seeded, K_MAX),
        .feature_count = 1 + seeded_random_below(seeded, D_MAX),
        .grid_bits = (unsigned)seeded_random_below(seeded, ENCODE_BITS_MAX + 1),
        .norm = seeded_random_below(seeded, 2) == 0 ? GRADIENT_L1 : GRADIENT_L2,
    };
    const unsigned shift = (unsigned)seeded_random_below(seeded, gradient->grid_bits + 2);
    gradient->softmax = gradient->output_count > 1 && seeded_random_below(seeded, 2) == 0;
    gradient->clip = 1 + (int64_t)(seeded_random_below(seeded, 64) << shift >> 4);
    for (size_t row = 0; row < ROWS_MAX; row++) {
        draw_record(seeded, problem, row);
        problem->row[row] = seeded_random_below(seeded, ROWS_MAX);
        problem->taking[row] = (uint8_t)seeded_random_below(seeded, 2);
    }
    const double size = ldexp(1, (int)seeded_random_below(seeded, 70) - 2);
    for (size_t j = 0; j < WIDTH_MAX; j++) {
        problem->weights[j] = size * (2 * seeded_random_unit(seeded) - 1);
    }
    problem->rows = (struct gradient_rows){
        .x = problem->x,
        .y = problem->y,
        .row = seeded_random_below(seeded, 2) == 0 ? NULL : problem->row,
        .taking = seeded_random_below(seeded, 2) == 0 ? NULL : problem->taking,
        .row_count = seeded_random_below(seeded, ROWS_MAX + 1),
    };
}

/* In how many of the problems the sum differs from the definition with a fault. */
static int differences(enum fault fault)
{
    static struct problem problem;
    struct seeded_random seeded;
    int different = 0;
    seeded_random_init(&seeded, 31);
    for (int run = 0; run < (fault == RIGHT ? 20000 : 2000); run++) {
        int64_t sum[WIDTH_MAX];
        int64_t book[WIDTH_MAX];
        draw_problem(&seeded, &problem);
        const struct gradient *gradient = &problem.gradient;
        cr_assert_eq(gradient_sum(sum, gradient, problem.weights, &problem.rows), STATUS_OK);
        sum_by_the_book(book, &problem, fault);
        different +=
            memcmp(sum, book, gradient->output_count * gradient->feature_count * sizeof *sum) != 0;
    }
    return different;
}

Test(gradient, is_the_sum_of_encoded_and_clipped_gradients_to_the_last_bit)
{
    cr_assert_eq(differences(RIGHT), 0);
    cr_assert(differences(CLIPPED_BY_OUTPUT) > 100);
    cr_assert(differences(COINS_IGNORED) > 100);
    cr_assert(differences(NOT_CLIPPED) > 100);
    cr_assert(differences(ROUNDED_TO_EVEN) > 10);
}

/* The L2 norm of (k, 1), k = 2^26 - 1, is a hair above k: beyond 2^52 a double's root would be
 * k. */
Test(gradient, a_norm_a_hair_above_a_whole_number_is_rounded_up)
{
    for (unsigned bits = 20; bits <= 30; bits++) {
        const double k = ldexp(1, (int)bits) - 1;
        const double x[2] = {ldexp(k, -(int)bits), ldexp(1, -(int)bits)};
        const double y = -1;
        const double weights[2] = {0};
        const struct gradient gradient = {{LOSS_ABSOLUTE, 0}, 1, 2, bits, GRADIENT_L2, (int64_t)k};
        const struct gradient_rows rows = {.x = x, .y = &y, .row_count = 1};
        int64_t sum[2];
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &rows), STATUS_OK);
        cr_expect(sum[0] == (int64_t)k - 1 && sum[1] == 0, "%u bits", bits);
    }
}

/* The same (k, 1) from k = 2^27 - 1 on, where k^2 + 1 is above 2^52 and its root in doubles is k: a clip
 * that is small enough for whole doubles must not let (k, 1) keep the clip. */
Test(gradient, a_norm_whose_square_is_above_2_to_the_52_is_rounded_up)
{
    for (unsigned bits = 27; bits <= 40; bits++) {
        const double k = ldexp(1, (int)bits) - 1;
        const double x[2] = {ldexp(k, -(int)bits), ldexp(1, -(int)bits)};
        const double y = -1;
        const double weights[2] = {0};
        const struct gradient gradient = {{LOSS_ABSOLUTE, 0}, 1, 2, bits, GRADIENT_L2, 1000};
        const struct gradient_rows rows = {.x = x, .y = &y, .row_count = 1};
        int64_t sum[2];
        cr_assert_eq((int64_t)ceil(sqrt(k * k + 1)), (int64_t)k, "doubles do not tell");
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &rows), STATUS_OK);
        cr_expect(sum[0] == 999 && sum[1] == 0, "%u bits: %" PRId64, bits, sum[0]);
    }
}

/* v C = -1 modulo s = 2^30: the quotient v C / s lies 1/s below a whole number, and v C above 2^53 may
 * be rounded up to it. */
Test(gradient, a_quotient_of_products_above_2_to_the_53_is_not_rounded_up)
{
    enum { BITS = 30 };
    const uint64_t s = UINT64_C(1) << BITS;
    int misled = 0;
    for (uint64_t c = (s >> 7) + 1; c < s; c += 2 + c / 1000 * 2) {
        uint64_t inverse = c; /* Newton: right to 3 bits, 6, 12, .. */
        for (int i = 0; i < 5; i++) {
            inverse *= 2 - c * inverse;
        }
        const uint64_t v = s - inverse % s;
        const double x[2] = {ldexp((double)v, -BITS), ldexp((double)(s - v), -BITS)};
        const double y = -1;
        const double weights[2] = {0};
        const struct gradient gradient = {{LOSS_ABSOLUTE, 0}, 1, 2, BITS, GRADIENT_L1, (int64_t)c};
        const struct gradient_rows rows = {.x = x, .y = &y, .row_count = 1};
        const int64_t whole = (int64_t)((v * c) >> BITS);
        int64_t sum[2];
        misled += (int64_t)((double)v * (double)c / (double)s) != whole;
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &rows), STATUS_OK);
        cr_expect_eq(sum[0], whole, "C = %" PRIu64, c);
    }
    cr_assert_gt(misled, 100, "doubles are wrong often enough: %d", misled);
}

/* Values of 52 bits, enough of them that a sum in doubles would lose the last bits. */
Test(gradient, sums_above_2_to_the_53_are_whole_numbers)
{
    enum { ROWS = 1001 };
    const size_t only[ROWS] = {0};
    const int64_t value = (INT64_C(1) << 52) - 1;
    const double x = ldexp((double)value, -52);
    const double y = -1;
    const double weight = 0;
    const struct gradient gradient = {{LOSS_ABSOLUTE, 0}, 1, 1, 52, GRADIENT_L1, value};
    const struct gradient_rows rows = {.x = &x, .y = &y, .row = only, .row_count = ROWS};
    int64_t sum = 0;
    cr_assert_eq(gradient_sum(&sum, &gradient, &weight, &rows), STATUS_OK);
    cr_assert_eq(sum, ROWS * value);
    cr_assert_neq((int64_t)(double)sum, sum, "a double does not hold it");
}

/* The largest distance, over adversarial neighbours, in units of the stated sensitivity. */
static double worst_distance(enum fault fault, size_t outputs, enum gradient_norm norm)
{
    static struct problem problem;
    struct seeded_random seeded;
    double worst = 0;
    seeded_random_init(&seeded, 37);
    for (int run = 0; run < 3000; run++) {
        int64_t sum[2][WIDTH_MAX];
        draw_problem(&seeded, &problem);
        problem.gradient.output_count = outputs;
        problem.gradient.norm = norm;
        problem.gradient.grid_bits = 12;
        problem.gradient.clip = 1 + (int64_t)(seeded_random_below(&seeded, 1 << 11) >> run % 12);
        problem.rows = (struct gradient_rows){.x = problem.x, .y = problem.y, .row_count = 5};
        const size_t d = problem.gradient.feature_count;
        for (size_t row = 0; row < 5; row++) {
            draw_record(&seeded, &problem, row);
        }
        for (size_t side = 0; side < 2; side++) {
            if (fault == RIGHT) {
                cr_assert_eq(
                    gradient_sum(sum[side], &problem.gradient, problem.weights, &problem.rows),
                    STATUS_OK);
            } else if (fault == ENCODED_AFTERWARDS) {
                sum_then_encode(sum[side], &problem);
            } else {
                sum_by_the_book(sum[side], &problem, fault);
            }
            for (size_t j = 0; j < d; j++) { /* the neighbour: one record turned round */
                problem.x[j] = -problem.x[j];
            }
        }
        double l1 = 0;
        double l2 = 0;
        for (size_t j = 0; j < outputs * d; j++) {
            const double step = (double)sum[0][j] - (double)sum[1][j];
            l1 += fabs(step);
            l2 += step * step;
        }
        const double distance =
            (norm == GRADIENT_L1 ? l1 : sqrt(l2)) / (double)gradient_sensitivity(&problem.gradient);
        worst = fmax(worst, distance);
    }
    return worst;
}

Test(gradient, one_replaced_record_moves_the_sum_by_the_sensitivity_at_most)
{
    for (size_t outputs = 1; outputs <= 3; outputs += 2) {
        for (int norm = GRADIENT_L1; norm <= GRADIENT_L2; norm++) {
            const double worst = worst_distance(RIGHT, outputs, (enum gradient_norm)norm);
            cr_expect(worst <= 1 && worst > 0.99, "%zu outputs: %g", outputs, worst);
        }
        cr_expect(worst_distance(NOT_CLIPPED, outputs, GRADIENT_L1) > 2);
    }
    cr_expect(worst_distance(ENCODED_AFTERWARDS, 1, GRADIENT_L1) > 1.2, "a clip of few steps");
    cr_expect(worst_distance(CLIPPED_BY_OUTPUT, 3, GRADIENT_L1) > 1.5);
    cr_expect(worst_distance(CLIPPED_BY_OUTPUT, 3, GRADIENT_L2) > 1.2);
}

Test(gradient, nothing_about_weights_or_labels_can_stop_it)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0x1p1000, 0x1p-1060};
    const double x[3] = {0.5, -0.5, 0.5};
    const double y = 1;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const struct gradient gradient = {{LOSS_SQUARED, 0}, 1, 3, 16, GRADIENT_L1, 1000};
        const struct gradient_rows rows = {.x = x, .y = &y, .row_count = 1};
        const double weights[3] = {odd[i], odd[i], 1};
        int64_t sum[3];
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &rows), STATUS_OK);
        cr_expect(llabs(sum[0]) + llabs(sum[1]) + llabs(sum[2]) <= 1000);
    }
}

Test(gradient, numbers_that_do_not_go_together_are_refused)
{
    struct gradient gradient = {{LOSS_LOGISTIC, 0}, 1, 3, 16, GRADIENT_L1, 1000};
    struct why why = {{0}};
    cr_assert_eq(gradient_check(&gradient, 1000, NULL), STATUS_OK);
    cr_assert_eq(gradient_range(&gradient, 1000), 1000000);
    gradient.clip = INT64_C(1) << 52;
    cr_assert_eq(gradient_check(&gradient, 1024, NULL), STATUS_OK);
    cr_assert_eq(gradient_check(&gradient, 1025, &why), STATUS_INVALID);
    cr_assert(why.text[0] != '\0');
    gradient.clip = 0;
    cr_assert_eq(gradient_check(&gradient, 1, &why), STATUS_INVALID);
    gradient.clip = 1;
    gradient.grid_bits = 53;
    cr_assert_eq(gradient_check(&gradient, 1, &why), STATUS_INVALID);
    gradient.grid_bits = 16;
    gradient.loss.kind = LOSS_ZERO_ONE;
    cr_assert_eq(gradient_check(&gradient, 1, &why), STATUS_INVALID);
    gradient.loss = (struct loss){LOSS_PINBALL, 2};
    cr_assert_eq(gradient_check(&gradient, 1, &why), STATUS_INVALID);
    gradient.loss = (struct loss){LOSS_HINGE, 0};
    gradient.output_count = 0;
    cr_assert_eq(gradient_check(&gradient, 1, &why), STATUS_INVALID);
}

Test(gradient, the_mean_is_the_released_sum_over_the_public_count)
{
    const int64_t total[2] = {3 << 16, -(1 << 15)};
    double mean[2];
    gradient_mean(mean, total, 2, 16, 4);
    cr_assert(mean[0] == 0.75 && mean[1] == -0.125);
}

Test(steps, round_down_and_to_the_nearest_without_a_condition)
{
    static const double y[] = {0,
                               -0.0,
                               0.5,
                               -0.5,
                               1.5,
                               2.5,
                               -1.5,
                               -2.5,
                               1e-300,
                               -1e-300,
                               0x1p49 + 0.5,
                               0.49999999999999994,
                               -0.49999999999999994};
    for (size_t i = 0; i < sizeof y / sizeof y[0]; i++) {
        cr_expect_eq(steps_floor(y[i]), floor(y[i]), "%g", y[i]);
        cr_expect_eq(steps_nearest(y[i]), (double)floorl((long double)y[i] + 0.5L), "%g", y[i]);
    }
}

/* Whatever the weights are, a record's slopes are numbers, and sum to 0. */
Test(gradient, softmax_of_any_scores_is_a_distribution)
{
    static const double odd[] = {0, -1, 1e300, -1e300, INFINITY, -INFINITY, NAN, 5e-324};
    const struct gradient gradient = {.loss = {LOSS_LOGISTIC, 0},
                                      .output_count = 3,
                                      .feature_count = 1,
                                      .grid_bits = 20,
                                      .norm = GRADIENT_L1,
                                      .clip = 1 << 22,
                                      .softmax = true};
    const double x = 1;
    for (size_t i = 0; i < 512; i++) {
        const double weights[] = {odd[i % 8], odd[i / 8 % 8], odd[i / 64]};
        const double y = (double)(i % 3);
        const struct gradient_rows rows = {.x = &x, .y = &y, .row_count = 1};
        int64_t sum[3];
        cr_assert_eq(gradient_sum(sum, &gradient, weights, &rows), STATUS_OK);
        cr_assert(llabs(sum[0] + sum[1] + sum[2]) <= 2);
        for (size_t o = 0; o < 3; o++) {
            cr_assert(llabs(sum[o]) <= 1 << 20 && (o == i % 3 ? sum[o] <= 0 : sum[o] >= 0));
        }
    }
}
