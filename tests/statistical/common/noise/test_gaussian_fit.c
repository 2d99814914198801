/* Goodness of fit of discrete Gaussian noise, and the power of the test that says so.
 *
 * Every comparison is chi-square over bins with 10 or more expected counts, and rejects below p =
 * 1e-9; there are fewer than 40 comparisons that must pass, so a false alarm has a probability
 * below 4e-8 for a fresh seed, and the seeds are fixed. Every sampler with a planted fault must be
 * rejected: that is the twin which shows that the test has power. The rows of the vectors are met in
 * test_every_row.c. */

#include "noise/gaussian.h"
#include "tests/support/chi_square.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REJECT_BELOW 1e-9

enum { VALUES = 400000, BINS_MAX = 2000 };

enum fault {
    RIGHT,
    FIVE_PERCENT_MORE,
    VARIANCE_FOR_SIGMA,
    MINUS_ZERO_KEPT,
    LOW_BIT_LOST,
    ONE_SIDED,
    ROUNDED_REAL
};

/* Fills values with noise that claims to be of this sigma. */
static void sample(enum fault fault, struct noise_scale sigma, const struct random *random,
                   struct seeded_random *seeded, int64_t *values, size_t count)
{
    struct noise_gaussian noise;
    double real = (double)sigma.numerator / (double)sigma.denominator;
    struct noise_scale used = sigma;
    if (fault == FIVE_PERCENT_MORE) {
        used = (struct noise_scale){sigma.numerator * 21, sigma.denominator * 20};
    }
    if (fault == VARIANCE_FOR_SIGMA) {
        used = (struct noise_scale){sigma.numerator * sigma.numerator,
                                    sigma.denominator * sigma.denominator};
    }
    cr_assert_eq(noise_gaussian_init(&noise, used), STATUS_OK);
    cr_assert_eq(noise_gaussian_draw(&noise, random, values, count), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        if (fault == LOW_BIT_LOST) {
            values[i] &= ~INT64_C(1);
        } else if (fault == ONE_SIDED) {
            values[i] = values[i] < 0 ? -values[i] : values[i];
        } else if (fault == ROUNDED_REAL) {
            double u = 1 - seeded_random_unit(seeded);
            double angle = 6.283185307179586 * seeded_random_unit(seeded);
            values[i] = (int64_t)floor(real * sqrt(-2 * log(u)) * cos(angle) + 0.5);
        } else if (fault == MINUS_ZERO_KEPT) { /* the half of what was refused */
            double zero = 1 / (real * 2.5066282746310002);
            values[i] = seeded_random_unit(seeded) < zero / (1 + zero) ? 0 : values[i];
        }
    }
    noise_gaussian_free(&noise);
}

/* Relative weight of |z| in a .. b - 1: an exact sum, or the integral, which differs from the sum
 * by far less than 1e-12 for wide sigma. */
static double weight(double sigma, int64_t a, int64_t b)
{
    double sum = 0;
    if (sigma > 40) {
        double root = sigma * 1.4142135623730951;
        return sigma * 1.2533141373155003 *
               (erfc(((double)a - 0.5) / root) - erfc(((double)b - 0.5) / root));
    }
    for (int64_t z = a; z < b && z < a + 2000; z++) {
        sum += exp(-(double)z * (double)z / (2 * sigma * sigma));
    }
    return sum;
}

/* p-value of the values by size and sign: bins of about an eighth of sigma. */
static double fit_by_size(double sigma, const int64_t *values, size_t count)
{
    static uint64_t seen[BINS_MAX];
    static double expected[BINS_MAX];
    int64_t width = (int64_t)ceil(sigma / 8);
    int64_t half = width / 2; /* the middle bin is -half .. half */
    double all = weight(sigma, 0, half + 1) * 2 - weight(sigma, 0, 1) +
                 2 * weight(sigma, half + 1, (int64_t)ceil(40 * sigma) + 40);
    size_t side = 0; /* bins on each side */
    double left = weight(sigma, half + 1, (int64_t)ceil(40 * sigma) + 40) / all * (double)count;
    expected[0] = (double)count - 2 * left;
    while (2 * side + 3 < BINS_MAX) {
        int64_t from = half + 1 + (int64_t)side * width;
        double here = weight(sigma, from, from + width) / all * (double)count;
        if (left - here < 10) {
            break;
        }
        expected[2 * side + 1] = expected[2 * side + 2] = here;
        left -= here;
        side++;
    }
    expected[2 * side + 1] = expected[2 * side + 2] = left;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++) {
        int64_t size = values[i] < 0 ? -values[i] : values[i];
        size_t bin = size <= half ? 0 : (size_t)((size - half - 1) / width) + 1;
        bin = bin > side + 1 ? side + 1 : bin;
        seen[bin == 0 ? 0 : 2 * bin - (values[i] < 0 ? 1 : 0)]++;
    }
    return left < 10 ? 0.5 : chi_square_p(seen, expected, 2 * side + 3);
}

/* p-value of the values modulo 8, for wide sigma, where residues are uniform up to exp(-0.3
 * sigma^2). */
static double fit_by_residue(const int64_t *values, size_t count)
{
    uint64_t seen[8] = {0};
    double expected[8];
    for (size_t i = 0; i < count; i++) {
        seen[values[i] & 7]++;
    }
    for (size_t i = 0; i < 8; i++) {
        expected[i] = (double)count / 8;
    }
    return chi_square_p(seen, expected, 8);
}

static bool passes(enum fault fault, struct noise_scale sigma, uint64_t seed)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    double real = (double)sigma.numerator / (double)sigma.denominator;
    int64_t *values = calloc(VALUES, sizeof *values);
    cr_assert_not_null(values);
    seeded_random_init(&seeded, seed);
    sample(fault, sigma, &random, &seeded, values, VALUES);
    double by_size = fit_by_size(real, values, VALUES);
    double by_residue = real >= 10 ? fit_by_residue(values, VALUES) : 1;
    free(values);
    return by_size >= REJECT_BELOW && by_residue >= REJECT_BELOW;
}

Test(gaussian_fit, fits_at_every_scale)
{
    static const struct noise_scale sigmas[] = {
        {1, 4},
        {1, 2},
        {1, 1},
        {22, 7},
        {10, 1},
        {1000, 7},
        {UINT64_C(1) << 20, 1},
        {UINT64_C(1) << 40, 1},
    };
    for (size_t i = 0; i < sizeof sigmas / sizeof sigmas[0]; i++) {
        cr_expect(passes(RIGHT, sigmas[i], 100 + i), "sigma %zu", i);
    }
}

Test(gaussian_fit, every_planted_fault_is_rejected)
{
    static const struct {
        enum fault fault;
        struct noise_scale sigma;
    } row[] = {
        {FIVE_PERCENT_MORE, {1, 2}},
        {FIVE_PERCENT_MORE, {1, 1}},
        {FIVE_PERCENT_MORE, {10, 1}},
        {FIVE_PERCENT_MORE, {UINT64_C(1) << 20, 1}},
        {FIVE_PERCENT_MORE, {UINT64_C(1) << 39, 1}},
        {VARIANCE_FOR_SIGMA, {3, 1}},
        {MINUS_ZERO_KEPT, {1, 1}},
        {MINUS_ZERO_KEPT, {10, 1}},
        {LOW_BIT_LOST, {1, 1}},
        {LOW_BIT_LOST, {1000, 1}},
        {ONE_SIDED, {1, 1}},
        {ONE_SIDED, {1000, 1}},
        {ROUNDED_REAL, {1, 2}},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect_not(passes(row[i].fault, row[i].sigma, 300 + i), "row %zu", i);
    }
}

/* The sum of `added` shares of sigma, each made for h. */
static bool shares_pass(struct noise_scale sigma, uint64_t h, uint64_t added, double claimed,
                        uint64_t seed)
{
    struct seeded_random seeded;
    struct noise_gaussian noise;
    struct noise_scale part;
    int64_t *values = calloc(VALUES, sizeof *values);
    cr_assert_not_null(values);
    seeded_random_init(&seeded, seed);
    struct random random = seeded_random_interface(&seeded);
    noise_gaussian_part(&part, sigma, h);
    cr_assert_eq(noise_gaussian_init(&noise, part), STATUS_OK);
    for (uint64_t i = 0; i < added; i++) {
        cr_assert_eq(noise_gaussian_add(&noise, &random, values, VALUES), STATUS_OK);
    }
    noise_gaussian_free(&noise);
    const double p = fit_by_size(claimed, values, VALUES);
    free(values);
    return p >= REJECT_BELOW;
}

/* h of h survivors have the whole noise, and n of them n/h times its variance. A share too few, and shares that are
 * made for one site more or less, are rejected. */
Test(gaussian_fit, shares_add_up_to_the_noise_of_their_number)
{
    static const struct {
        struct noise_scale sigma;
        uint64_t h;
        uint64_t survivors;
    } row[] = {{{3, 1}, 2, 3}, {{22, 1}, 4, 4}, {{50, 1}, 13, 21}, {{UINT64_C(1) << 30, 1}, 5, 7}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct noise_scale sigma = row[i].sigma;
        const uint64_t h = row[i].h;
        const uint64_t n = row[i].survivors;
        const double claimed = (double)sigma.numerator * sqrt((double)n / (double)h);
        cr_expect(shares_pass(sigma, h, h, (double)sigma.numerator, 70 + i), "row %zu: h", i);
        cr_expect(shares_pass(sigma, h, n, claimed, 80 + i), "row %zu: n", i);
        cr_expect_not(shares_pass(sigma, h, n - 1, claimed, 90 + i), "row %zu: one less", i);
        cr_expect_not(shares_pass(sigma, h + 1, n, claimed, 100 + i), "row %zu: h + 1", i);
        cr_expect_not(shares_pass(sigma, h - 1, n, claimed, 110 + i), "row %zu: h - 1", i);
    }
}
