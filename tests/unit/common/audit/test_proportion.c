/* Bounds on a probability: the binomial tails against exact sums in MPFR, the bounds against their
 * definition, against closed forms and known values, and what must go wrong when a bound is
 * wrong. */

#include "lab/audit/proportion.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <signal.h>

enum { PRECISION = 300 };

/* P(B >= hits), summed term by term in 300 bits; p is the double itself. */
static double exact_tail(uint64_t hits, uint64_t trials, double p)
{
    mpfr_t term;
    mpfr_t sum;
    mpfr_t odds;
    mpfr_t rest;
    mpfr_inits2(PRECISION, term, sum, odds, rest, NULL);
    mpfr_set_d(odds, p, MPFR_RNDN);
    mpfr_ui_sub(rest, 1, odds, MPFR_RNDN);
    mpfr_pow_ui(term, rest, trials, MPFR_RNDN); /* P(B = 0) */
    mpfr_div(odds, odds, rest, MPFR_RNDN);
    mpfr_set_zero(sum, 1);
    for (uint64_t k = 0; k <= trials; k++) {
        if (k >= hits) {
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        mpfr_mul(term, term, odds, MPFR_RNDN);
        mpfr_mul_ui(term, term, trials - k, MPFR_RNDN);
        mpfr_div_ui(term, term, k + 1, MPFR_RNDN);
    }
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(term, sum, odds, rest, NULL);
    return result;
}

Test(proportion, tails_are_the_sums_of_their_terms)
{
    static const uint64_t trials[] = {1, 2, 7, 60, 1000, 100000};
    static const double p[] = {1e-9, 1e-4, 0.01, 0.3, 0.5, 0.77, 0.999};
    double worst = 0;
    for (size_t t = 0; t < sizeof trials / sizeof trials[0]; t++) {
        for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
            double mean = (double)trials[t] * p[i];
            for (int step = -6; step <= 12; step += 3) {
                double at = floor(mean + step * sqrt(mean + 1));
                if (at < 0 || at > (double)trials[t]) {
                    continue;
                }
                double expected = exact_tail((uint64_t)at, trials[t], p[i]);
                if (expected < 1e-290) {
                    continue;
                }
                double found = proportion_tail((uint64_t)at, trials[t], p[i]);
                worst = fmax(worst, fabs(found / expected - 1));
                if (at > 0) {
                    double below = proportion_head((uint64_t)at - 1, trials[t], p[i]);
                    cr_assert_float_eq(below + found, 1, 1e-9);
                }
            }
        }
    }
    cr_assert_lt(worst, 1e-8, "worst %g", worst);
}

Test(proportion, a_tail_of_millions_is_right_to_the_error_that_is_stated)
{
    /* ln P(B >= 2^27 + d) at p = 1/2, n = 2^28, by the sum of the terms in MPFR. */
    const uint64_t trials = PROPORTION_TRIALS_MAX;
    const uint64_t hits = trials / 2 + 50000;
    mpfr_t term;
    mpfr_t sum;
    mpfr_t other;
    mpfr_inits2(PRECISION, term, sum, other, NULL);
    mpfr_set_ui(term, trials + 1, MPFR_RNDN);
    mpfr_lngamma(term, term, MPFR_RNDN);
    mpfr_set_ui(other, hits + 1, MPFR_RNDN);
    mpfr_lngamma(other, other, MPFR_RNDN);
    mpfr_sub(term, term, other, MPFR_RNDN);
    mpfr_set_ui(other, trials - hits + 1, MPFR_RNDN);
    mpfr_lngamma(other, other, MPFR_RNDN);
    mpfr_sub(term, term, other, MPFR_RNDN);
    mpfr_const_log2(other, MPFR_RNDN);
    mpfr_mul_ui(other, other, trials, MPFR_RNDN);
    mpfr_sub(term, term, other, MPFR_RNDN);
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_set_zero(sum, 1);
    for (uint64_t k = hits; k < hits + 100000; k++) { /* what follows is below 2^-60 of it */
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_mul_ui(term, term, trials - k, MPFR_RNDN);
        mpfr_div_ui(term, term, k + 1, MPFR_RNDN);
    }
    double expected = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(term, sum, other, NULL);
    double found = proportion_tail(hits, trials, 0.5);
    cr_assert_lt(fabs(found / expected - 1), 1e-5, "%.12g against %.12g", found, expected);
}

Test(proportion, bounds_fit_and_are_no_wider_than_they_must)
{
    static const uint64_t trials[] = {1, 10, 1000, 30000};
    static const double miss[] = {0.025, 1e-6, 1e-9};
    for (size_t t = 0; t < 4; t++) {
        for (uint64_t part = 0; part <= 8; part++) {
            uint64_t hits = trials[t] * part / 8;
            for (size_t m = 0; m < 3; m++) {
                double low = proportion_low(hits, trials[t], miss[m]);
                double high = proportion_high(hits, trials[t], miss[m]);
                double share = (double)hits / (double)trials[t];
                cr_assert(low <= share && share <= high);
                cr_assert(hits == 0 ? low == 0 : low > 0);
                cr_assert(hits == trials[t] ? high == 1 : high < 1);
                cr_assert_float_eq(low, 1 - proportion_high(trials[t] - hits, trials[t], miss[m]),
                                   1e-9);
                if (hits > 0) {
                    cr_assert_leq(exact_tail(hits, trials[t], low), miss[m]);
                    cr_assert_gt(exact_tail(hits, trials[t], low + (share - low) * 1e-4), miss[m]);
                }
            }
        }
    }
}

Test(proportion, closed_forms_and_known_values)
{
    /* All hits: p^n = miss; none: (1 - p)^n = miss. */
    cr_assert_float_eq(proportion_low(20, 20, 0.01), pow(0.01, 1.0 / 20), 1e-5);
    cr_assert_leq(proportion_low(20, 20, 0.01), pow(0.01, 1.0 / 20));
    cr_assert_float_eq(proportion_high(0, 1000000, 1e-8) * 1e6, -log(1e-8), 2e-3);
    /* 95 % intervals, and what rounding outwards takes from them. */
    cr_assert_float_eq(proportion_low(1, 10, 0.025), 0.00252858, 1e-6);
    cr_assert_float_eq(proportion_high(1, 10, 0.025), 0.44501612, 1e-5);
    cr_assert_float_eq(proportion_low(5, 10, 0.025), 0.18708603, 5e-6);
    cr_assert_float_eq(proportion_high(5, 10, 0.025), 0.81291397, 5e-6);
}

/* The chance that a bound is above the truth, summed over every count that could come up. */
static double miss_rate(double (*bound)(uint64_t, uint64_t, double), uint64_t trials, double p,
                        double miss)
{
    double rate = 0;
    for (uint64_t hits = 0; hits <= trials; hits++) {
        if (bound(hits, trials, miss) > p) {
            rate += exact_tail(hits, trials, p) - exact_tail(hits + 1, trials, p);
        }
    }
    return rate;
}

/* The normal approximation, which is not a bound. */
static double planted_normal(uint64_t hits, uint64_t trials, double miss)
{
    double share = (double)hits / (double)trials;
    (void)miss; /* z of 1e-3 */
    return share - 3.0902 * sqrt(share * (1 - share) / (double)trials);
}

Test(proportion, the_bound_misses_as_rarely_as_it_says_and_a_textbook_interval_does_not)
{
    static const double p[] = {0.001, 0.01, 0.1, 0.5};
    bool caught = false;
    for (size_t i = 0; i < 4; i++) {
        cr_assert_leq(miss_rate(proportion_low, 300, p[i], 1e-3), 1e-3);
        caught = caught || miss_rate(planted_normal, 300, p[i], 1e-3) > 1e-3;
    }
    cr_assert(caught);
}

Test(proportion, hits_beyond_the_trials_stop_the_program, .signal = SIGABRT)
{
    (void)proportion_low(11, 10, 0.01);
}
