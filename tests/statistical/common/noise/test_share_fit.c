/* Goodness of fit of Polya shares, of their sums, and the power of the tests that say so.
 *
 * Every comparison is chi-square over bins with 10 or more expected counts, and rejects below p =
 * 1e-9; there are fewer than 20 comparisons that must pass, so a false alarm has a probability
 * below 2e-8 for a fresh seed, and the seeds are fixed. Every planted fault must be rejected. Single
 * shares are met in test_every_row.c. */

#include "noise/share.h"
#include "tests/support/chi_square.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REJECT_BELOW 1e-9

enum { SUMS = 200000, MAX = 64 };

/* Fills values (count) with the sum of `added` shares of h. */
static void sum_shares(struct noise_scale scale, uint64_t h, uint64_t added, uint64_t seed,
                       int64_t *values, size_t count)
{
    struct noise_share noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    seeded_random_init(&seeded, seed);
    cr_assert_eq(noise_share_init(&noise, scale, h), STATUS_OK);
    memset(values, 0, count * sizeof *values);
    for (uint64_t i = 0; i < added; i++) {
        cr_assert_eq(noise_share_add(&noise, &random, values, count), STATUS_OK);
    }
    noise_share_free(&noise);
}

/* p-value of values for discrete Laplace of scale s, by size and sign and, if wide, by parity. */
static double fit_laplace(double s, const int64_t *values, size_t count)
{
    static const double part[] = {0, 0.1, 0.25, 0.45, 0.7, 1, 1.4, 1.9, 2.5, 3.3, 4.5, 6, 1e9};
    double step = exp(-1 / s);
    uint64_t seen[MAX] = {0};
    double expected[MAX];
    int64_t edge[MAX];
    double before = (double)count;
    size_t edges = 0; /* size < edge[0] is the middle; edge[i] <= size < edge[i + 1] */
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        double next = floor(part[i] * s) + 1;
        double above = (double)count * exp(-next / s) / (1 + step);
        bool middle = edges > 0 || (double)count - 2 * above >= 10;
        if (above >= 10 && before - above >= 10 && middle) {
            edge[edges++] = (int64_t)next;
            before = above;
        }
    }
    for (size_t i = 0; i < count; i++) {
        int64_t size = values[i] < 0 ? -values[i] : values[i];
        size_t bin = 0;
        while (bin < edges && size >= edge[bin]) {
            bin++;
        }
        seen[bin == 0 ? 0 : 2 * bin - (values[i] < 0 ? 1 : 0)]++;
    }
    expected[0] = (double)count * (1 - 2 * exp(-(double)edge[0] / s) / (1 + step));
    double least = expected[0];
    for (size_t i = 0; i < edges; i++) {
        double here = exp(-(double)edge[i] / s);
        double above = i + 1 < edges ? exp(-(double)edge[i + 1] / s) : 0;
        expected[2 * i + 1] = expected[2 * i + 2] = (double)count * (here - above) / (1 + step);
        least = fmin(least, expected[2 * i + 1]);
    }
    cr_assert(least >= 9, "%g", least);
    double p = chi_square_p(seen, expected, 2 * edges + 1);
    uint64_t parity[2] = {0};
    for (size_t i = 0; i < count; i++) {
        parity[values[i] & 1]++;
    }
    double odd = 2 * step / ((1 + step) * (1 + step)); /* the sum over odd numbers */
    const double half[2] = {(double)count * (1 - odd), (double)count * odd};
    return s >= 1 ? fmin(p, chi_square_p(parity, half, 2)) : p;
}

static bool sum_fits(struct noise_scale scale, uint64_t h, uint64_t added, double claimed,
                     uint64_t seed)
{
    int64_t *values = calloc(SUMS, sizeof *values);
    cr_assert_not_null(values);
    sum_shares(scale, h, added, seed, values, SUMS);
    double p = fit_laplace(claimed, values, SUMS);
    free(values);
    return p >= REJECT_BELOW;
}

Test(share_fit, h_shares_are_discrete_laplace)
{
    static const struct {
        struct noise_scale scale;
        uint64_t h;
    } row[] = {
        {{1, 2}, 2},   {{1, 1}, 1},    {{1, 1}, 3},       {{22, 7}, 5},
        {{10, 1}, 20}, {{1000, 1}, 3}, {{1 << 20, 1}, 7}, {{UINT64_C(1) << 40, 1}, 4},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double s = (double)row[i].scale.numerator / (double)row[i].scale.denominator;
        int64_t *values = calloc(SUMS, sizeof *values);
        cr_assert_not_null(values);
        sum_shares(row[i].scale, row[i].h, row[i].h, 10 + i, values, SUMS);
        cr_expect_geq(fit_laplace(s, values, SUMS), REJECT_BELOW, "row %zu", i);
        cr_expect_lt(fit_laplace(s * 1.05, values, SUMS), REJECT_BELOW, "twin %zu", i);
        free(values);
    }
}

Test(share_fit, a_dropped_a_doubled_or_a_wrong_share_is_rejected)
{
    static const struct noise_scale scale = {100, 1};
    cr_expect_not(sum_fits(scale, 10, 9, 100, 30), "dropped");
    cr_expect_not(sum_fits(scale, 10, 11, 100, 31), "one too many");
    cr_expect_not(sum_fits(scale, 11, 10, 100, 32), "h off by one");
    cr_expect_not(sum_fits(scale, 9, 10, 100, 33), "h off by one");
    int64_t *values = calloc(SUMS, sizeof *values);
    cr_assert_not_null(values);
    sum_shares(scale, 4, 2, 34, values, SUMS);
    for (size_t i = 0; i < SUMS; i++) {
        values[i] *= 2; /* the same two shares drawn twice */
    }
    cr_expect_lt(fit_laplace(100, values, SUMS), REJECT_BELOW);
    free(values);
}

enum {
    REACH = 400,  /* of a sum at scale 10: beyond it lies less than 1e-13 of it */
    WANTED = 5000 /* expected in a bin; few bins, for the faults are in the width */
};

/* p-value of sums at scale 10 for the noise of `claimed` whole ones: the difference of two negative
 * binomials of r = claimed. Neighbouring numbers share a bin. */
static double fit_survivors(double claimed, const int64_t *values)
{
    static double part[2 * REACH];
    static double expected[2 * REACH];
    static uint64_t seen[2 * REACH];
    size_t bin_of[2 * REACH];
    size_t bins = 0;
    double here = 0;
    part[0] = pow(1 - exp(-0.1), claimed);
    for (size_t k = 1; k < 2 * REACH; k++) {
        part[k] = part[k - 1] * exp(-0.1) * ((double)k - 1 + claimed) / (double)k;
    }
    memset(seen, 0, sizeof seen);
    for (size_t at = 0; at < 2 * REACH; at++) { /* the sum is at - REACH */
        const size_t apart = at < REACH ? REACH - at : at - REACH;
        for (size_t k = 0; k + apart < 2 * REACH; k++) {
            here += part[k] * part[k + apart] * SUMS;
        }
        bin_of[at] = bins;
        if (here >= WANTED) {
            expected[bins++] = here;
            here = 0;
        }
    }
    expected[bins - 1] += here; /* the last few join the last whole bin */
    for (size_t i = 0; i < SUMS; i++) {
        const int64_t at = values[i] < -REACH  ? 0
                           : values[i] < REACH ? values[i] + REACH
                                               : 2 * REACH - 1;
        seen[bin_of[at] < bins ? bin_of[at] : bins - 1]++;
    }
    return chi_square_p(seen, expected, bins);
}

/* Where more than h sites survive, the sum has more noise than promised: exactly that of all their
 * shares. */
Test(share_fit, n_survivors_have_n_shares_of_noise)
{
    static const struct {
        uint64_t h;
        uint64_t survivors;
    } row[] = {{3, 5}, {4, 6}, {13, 21}};
    int64_t *values = calloc(SUMS, sizeof *values);
    cr_assert_not_null(values);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct noise_scale scale = {10, 1};
        const double h = (double)row[i].h;
        const double n = (double)row[i].survivors;
        sum_shares(scale, row[i].h, row[i].survivors, 50 + i, values, SUMS);
        cr_expect_geq(fit_survivors(n / h, values), REJECT_BELOW, "row %zu", i);
        cr_expect_lt(fit_survivors((n - 1) / h, values), REJECT_BELOW, "one share less");
        sum_shares(scale, row[i].h + 1, row[i].survivors, 60 + i, values, SUMS);
        cr_expect_lt(fit_survivors(n / h, values), REJECT_BELOW, "h off by one");
    }
    free(values);
}
