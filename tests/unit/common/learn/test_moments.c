/* Second moments: encoding, the sensitivity against neighbours sought out by climbing, and ridge
 * from sums with noise. */

#include "learn/moments.h"

#include "dp/encode.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { D_MAX = 12, COUNT_MAX = D_MAX * (D_MAX + 3) / 2, ROWS = 500 };

Test(moments, are_the_encoded_products_of_every_record)
{
    const struct moments moments = {2, 4, 1};
    const double x[4] = {0.5, -0.25, 0.1, 0.6};
    const double y[2] = {-1, 7}; /* 7 is clamped to 1 */
    int64_t sum[5];
    cr_assert_eq(moments_count(&moments), 5);
    cr_assert_eq(moments_sum(sum, &moments, x, y, 2), STATUS_OK);
    cr_assert_eq(sum[0], 4 + encode_value(0.1 * 0.1, 4));
    cr_assert_eq(sum[1], -2 + encode_value(0.1 * 0.6, 4));
    cr_assert_eq(sum[2], 1 + encode_value(0.6 * 0.6, 4));
    cr_assert_eq(sum[3], -8 + encode_value(0.1, 4));
    cr_assert_eq(sum[4], 4 + encode_value(0.6, 4));
}

Test(moments, any_grid_and_many_records_add_up_to_the_last_bit)
{
    static double x[3 * 10000];
    static double y[10000];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 9);
    for (size_t i = 0; i < 30000; i++) {
        x[i] = seeded_random_below(&seeded, 3) == 0 ? 0.5 : seeded_random_unit(&seeded) - 0.5;
    }
    for (size_t i = 0; i < 10000; i++) {
        y[i] = seeded_random_below(&seeded, 2) == 0 ? -1 : 1;
    }
    for (unsigned bits = 0; bits <= 48; bits++) {
        const struct moments moments = {3, bits, 1};
        const size_t rows = bits < 42 ? 10000 : 1000;
        int64_t sum[9];
        int64_t book[9] = {0};
        cr_assert_eq(moments_sum(sum, &moments, x, y, rows), STATUS_OK);
        for (size_t row = 0; row < rows; row++) {
            size_t next = 0;
            for (size_t i = 0; i < 3; i++) {
                for (size_t j = i; j < 3; j++) {
                    book[next++] += encode_value(x[3 * row + i] * x[3 * row + j], bits);
                }
            }
            for (size_t i = 0; i < 3; i++) {
                book[next++] += encode_value(x[3 * row + i] * y[row], bits);
            }
        }
        cr_expect_arr_eq(sum, book, sizeof sum, "%u bits", bits);
    }
}

/* A pair of records: x, y, x', y' */
struct pair {
    double x[2][D_MAX];
    double y[2];
};

static void distances(double *l1, double *l2, const struct moments *moments,
                      const struct pair *pair)
{
    int64_t sum[2][COUNT_MAX];
    *l1 = *l2 = 0;
    for (size_t side = 0; side < 2; side++) {
        cr_assert_eq(moments_sum(sum[side], moments, pair->x[side], &pair->y[side], 1), STATUS_OK);
    }
    for (size_t i = 0; i < moments_count(moments); i++) {
        const double step = (double)(sum[0][i] - sum[1][i]);
        *l1 += fabs(step);
        *l2 += step * step;
    }
    *l2 = sqrt(*l2);
}

static void disturb(struct seeded_random *seeded, struct pair *pair, size_t d, double size)
{
    for (size_t side = 0; side < 2; side++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            pair->x[side][j] += size * (2 * seeded_random_unit(seeded) - 1);
            square += pair->x[side][j] * pair->x[side][j];
        }
        for (size_t j = 0; j < d; j++) {
            pair->x[side][j] *= (1 - 0x1p-50) / sqrt(square);
        }
    }
}

/* The largest distances that climbing finds, in units of the stated sensitivities. */
static void climb(double *worst_l1, double *worst_l2, const struct moments *moments)
{
    const size_t d = moments->feature_count;
    struct seeded_random seeded;
    const double stated_l1 = (double)moments_sensitivity_l1(moments);
    const double stated_l2 = (double)moments_sensitivity_l2(moments);
    seeded_random_init(&seeded, d);
    *worst_l1 = *worst_l2 = 0;
    for (int start = 0; start < 24; start++) {
        struct pair best = {.y = {1, start % 2 == 0 ? -1 : 1}};
        double most = 0;
        disturb(&seeded, &best, d, 1);
        for (int step = 0; step < 1500; step++) {
            struct pair next = best;
            double l1;
            double l2;
            disturb(&seeded, &next, d, pow(0.5, 1 + step % 12));
            distances(&l1, &l2, moments, &next);
            const double value = start % 4 < 2 ? l1 : l2;
            if (value > most) {
                most = value;
                best = next;
            }
            *worst_l1 = fmax(*worst_l1, l1 / stated_l1);
            *worst_l2 = fmax(*worst_l2, l2 / stated_l2);
        }
    }
}

Test(moments, no_neighbours_that_climbing_finds_are_farther_apart_than_stated)
{
    static const size_t dimension[] = {1, 2, 3, 5, 8, 12};
    for (size_t i = 0; i < sizeof dimension / sizeof dimension[0]; i++) {
        for (unsigned bits = 0; bits <= 16; bits += 16) {
            const struct moments moments = {dimension[i], bits, 1};
            double l1;
            double l2;
            climb(&l1, &l2, &moments);
            cr_expect(l1 <= 1 && l2 <= 1, "%zu, %u bits: %g %g", dimension[i], bits, l1, l2);
            if (bits == 16 && dimension[i] > 1) { /* so that half the sensitivity would be seen */
                cr_expect(l1 > 0.7 && l2 > 0.85, "%zu: %g %g", dimension[i], l1, l2);
            }
        }
    }
}

Test(moments, the_sensitivity_is_below_the_sum_of_the_parts)
{
    for (size_t d = 1; d <= 1000; d = d * 3 / 2 + 1) {
        for (int quarters = 1; quarters <= 4; quarters++) {
            const double bound = quarters * 0.25;
            const struct moments moments = {d, 20, bound};
            const double parts = ((double)d + 1 + 2 * bound * sqrt((double)d)) * 0x1p20 +
                                 (double)d * ((double)d + 3) / 2;
            const double apart = 1 + (double)d / sqrt(2) + bound * sqrt(2 * (double)d);
            cr_expect((double)moments_sensitivity_l1(&moments) < parts * 1.001);
            cr_expect((double)moments_sensitivity_l1(&moments) >= apart * 0x1p20, "t = 0");
            cr_expect(moments_sensitivity_l2(&moments) <= moments_sensitivity_l1(&moments));
        }
    }
    const struct moments eight = {8, 40, 1};
    const double real = (double)moments_sensitivity_l1(&eight) * 0x1p-40;
    cr_assert(real > 10.9 && real < 11, "%g", real);
}

/* Records of a line y = sign(<w, x>) with their sums. */
static void draw(struct seeded_random *seeded, double *x, double *y, size_t d)
{
    for (size_t row = 0; row < ROWS; row++) {
        double f = 0;
        for (size_t j = 0; j < d; j++) {
            x[row * d + j] = (2 * seeded_random_unit(seeded) - 1) / sqrt((double)d);
            f += ((double)j - 2) * x[row * d + j];
        }
        y[row] = f > 0 ? 1 : -1;
    }
}

/* || (A + lambda) w - b || of the records themselves */
static double residual(const double *w, double lambda, const double *x, const double *y, size_t d)
{
    double gradient[D_MAX] = {0};
    double square = 0;
    for (size_t row = 0; row < ROWS; row++) {
        double f = 0;
        for (size_t j = 0; j < d; j++) {
            f += w[j] * x[row * d + j];
        }
        for (size_t j = 0; j < d; j++) {
            gradient[j] += (f - y[row]) * x[row * d + j] / ROWS;
        }
    }
    for (size_t j = 0; j < d; j++) {
        square += (gradient[j] + lambda * w[j]) * (gradient[j] + lambda * w[j]);
    }
    return sqrt(square);
}

Test(moments, without_noise_the_model_is_the_ridge_of_the_records)
{
    static double x[ROWS * D_MAX];
    static double y[ROWS];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    for (size_t d = 1; d <= D_MAX; d++) {
        const struct moments moments = {d, 40, 1};
        int64_t sum[COUNT_MAX];
        double w[D_MAX];
        double lambda;
        draw(&seeded, x, y, d);
        cr_assert_eq(moments_sum(sum, &moments, x, y, ROWS), STATUS_OK);
        const struct moments_release release = {sum, ROWS, 0, 0.01};
        cr_assert_eq(moments_solve(w, &lambda, &moments, &release), STATUS_OK);
        cr_assert_eq(lambda, 0.01);
        cr_expect(residual(w, lambda, x, y, d) < 1e-9);
        cr_expect(residual(w, 0.02, x, y, d) > 1e-4, "planted: another lambda");
    }
}

/* The share of 300 releases of nothing but noise whose lambda had to be doubled. */
static double doubled(size_t d, bool gaussian, double claimed)
{
    struct seeded_random seeded;
    const struct moments moments = {d, 16, 1};
    const struct noise_scale scale = {1000, 1};
    struct noise_laplace laplace;
    struct noise_gaussian normal;
    double count = 0;
    seeded_random_init(&seeded, d);
    const struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(noise_laplace_init(&laplace, scale), STATUS_OK);
    cr_assert_eq(noise_gaussian_init(&normal, scale), STATUS_OK);
    const double deviation = claimed * 1000 * (gaussian ? 1 : sqrt(2));
    for (int run = 0; run < 300; run++) {
        int64_t sum[COUNT_MAX];
        double w[D_MAX];
        double lambda;
        cr_assert_eq(gaussian ? noise_gaussian_draw(&normal, &random, sum, moments_count(&moments))
                              : noise_laplace_draw(&laplace, &random, sum, moments_count(&moments)),
                     STATUS_OK);
        const struct moments_release release = {sum, 1, deviation, 0};
        cr_assert_eq(moments_solve(w, &lambda, &moments, &release), STATUS_OK);
        for (size_t j = 0; j < d; j++) {
            cr_assert(isfinite(w[j]));
        }
        count += lambda > 2.1 * sqrt((double)d) * deviation * 0x1p-16 ? 1 : 0;
    }
    noise_gaussian_free(&normal);
    return count / 300;
}

Test(moments, the_shift_makes_noise_positive_definite)
{
    for (size_t d = 4; d <= D_MAX; d += 4) {
        for (int gaussian = 0; gaussian <= 1; gaussian++) {
            const double share = doubled(d, gaussian == 1, 1);
            cr_expect(share < 0.25, "%zu: %g", d, share);
        }
        cr_expect(doubled(d, true, 0.5) > 0.3, "planted: half the noise");
    }
}

Test(moments, a_hopeless_release_still_gives_a_model)
{
    const struct moments moments = {2, 0, 1};
    const int64_t bad[5] = {-(INT64_C(1) << 62), INT64_C(1) << 62, -(INT64_C(1) << 62), 5, 6};
    const int64_t none[5] = {0};
    double w[2];
    double lambda;
    struct moments_release release = {bad, 1, 0, 0};
    cr_assert_eq(moments_solve(w, &lambda, &moments, &release), STATUS_OK);
    cr_assert(isfinite(w[0]) && isfinite(w[1]));
    release.total = none;
    cr_assert_eq(moments_solve(w, &lambda, &moments, &release), STATUS_OK);
    cr_assert(w[0] == 0 && w[1] == 0);
}

Test(moments, numbers_out_of_range_are_refused)
{
    struct moments moments = {8, 20, 1};
    struct why why = {{0}};
    cr_assert_eq(moments_check(&moments, 1000, NULL), STATUS_OK);
    cr_assert_eq(moments_range(&moments, 3), 3 * ((1 << 20) + 1));
    cr_assert_eq(moments_check(&moments, (size_t)1 << 42, &why), STATUS_INVALID);
    moments.bound_y = 1.5;
    cr_assert_eq(moments_check(&moments, 1, &why), STATUS_INVALID);
    moments = (struct moments){0, 20, 1};
    cr_assert_eq(moments_check(&moments, 1, &why), STATUS_INVALID);
    moments = (struct moments){8, 53, 1};
    cr_assert_eq(moments_check(&moments, 1, &why), STATUS_INVALID);
    cr_assert(why.text[0] != '\0');
}
