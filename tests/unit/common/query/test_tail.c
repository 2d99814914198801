/* Tails of sums of more noise than is summed term by term, against the sum in logarithms. */

#include "query/bar.h"

#include <criterion/criterion.h>
#include <math.h>

static const unsigned draws[] = {257, 1000, QUERY_DRAWS_MAX};

/* P(sum of n Laplace variables > x), term by term, in logarithms. */
static double sum_exceeds(unsigned n, double x)
{
    static double below[QUERY_DRAWS_MAX];
    double term = -(double)n * log(2);
    double sum = 0;
    for (unsigned j = 0; j < n; j++) {
        below[j] = exp(term) + (j > 0 ? below[j - 1] : 0);
        term += log((double)(n + j) / (2.0 * (j + 1)));
    }
    term = -x;
    for (unsigned k = 0; k < n; k++) {
        sum += exp(term) * below[n - 1 - k];
        term += log(x / (k + 1));
    }
    return sum;
}

/* A bar has to be wide enough, and not wider than it must: a part in n or so of the misses. */
Test(tail, of_more_draws_than_are_summed_is_wide_enough)
{
    static const double misses[] = {0.4, 0.05, 1e-3, 1e-6};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            const struct query_noise noise = {false, 1, draws[i]};
            const double x = query_noise_bar(&noise, 0, misses[j]) - draws[i];
            const double exact = sum_exceeds(draws[i], x) / (misses[j] / 2);
            cr_expect(exact <= 1 + 1e-9 && exact >= 1 - 4.0 / draws[i], "%u draws, %g: %.9f",
                      draws[i], misses[j], exact);
        }
    }
}

/* P(sum > x) is a bound for either sign: close to 0 it was taken from the other side's bound, and was below a half. */
Test(tail, of_more_draws_than_are_summed_is_a_bound_below_zero_too)
{
    static const double roots[] = {1e-6, 1e-3, 0.005, 0.00999, 0.01001, 0.05, 0.5, 2, 5};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < sizeof roots / sizeof roots[0]; j++) {
            const struct query_noise noise = {false, 1, draws[i]};
            const double x = roots[j] * sqrt(draws[i]);
            const double above = query_noise_tail(&noise, x) / sum_exceeds(draws[i], x);
            const double below = query_noise_tail(&noise, -x) / (1 - sum_exceeds(draws[i], x));
            cr_expect(above >= 1 - 1e-9 && above <= 1.02, "%u draws, %g: %.9f", draws[i], x, above);
            cr_expect(below >= 1 - 1e-9 && below <= 1.02, "%u draws, %g: %.9f", draws[i], -x,
                      below);
        }
    }
}
