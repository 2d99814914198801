/* Sample sizes: each half of the promise holds at the number given and no longer just below it. */

#include "learn/sample_size.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(sample_size, pac_keeps_both_halves_and_no_more)
{
    for (int power = 0; power < 7; power++) {
        for (int step = 0; step < 4; step++) {
            const double alpha = 0.01 * pow(3, step);
            const struct pac_request request = {round(pow(30, power)), alpha, 0.05, 0.5};
            const double c = request.candidates;
            struct sample_size size;
            cr_assert(sample_size_pac(&size, &request, NULL) == STATUS_OK);
            /* Noise: excess 2 (ln|C| + ln(2/beta))/(epsilon n) is alpha/2; sampling: alpha/4 at
             * most on every candidate but with probability beta/2. */
            const double excess = 2 * (log(c) + log(2 / 0.05)) / (0.5 * size.for_noise);
            const double missed = 2 * c * exp(-2 * size.for_sampling * alpha * alpha / 16);
            cr_assert(excess <= alpha / 2 && excess > 0.999 * alpha / 2);
            cr_assert(missed <= 0.025 && missed > 0.999 * 0.025);
            cr_assert(size.records == ceil(fmax(size.for_noise, size.for_sampling)));
            cr_assert(size.trust_factor == 1 && size.range != NULL);
        }
    }
}

Test(sample_size, sq_keeps_both_halves_and_no_more)
{
    for (int power = 0; power < 4; power++) {
        const double queries = round(pow(10, power));
        const struct sq_request request = {queries, 0.05, 0.01, 2, 0};
        struct sample_size size;
        cr_assert(sample_size_sq(&size, &request, NULL) == STATUS_OK);
        const double scale = queries / (2 * size.for_noise);
        const double by_noise = queries * exp(-0.05 / 2 / scale);
        const double by_sampling = queries * 2 * exp(-2 * size.for_sampling * 0.05 * 0.05 / 4);
        cr_assert(by_noise <= 0.005 && by_noise > 0.999 * 0.005);
        cr_assert(by_sampling <= 0.005 && by_sampling > 0.999 * 0.005);
    }
}

/* Planted: local trust with the scale of one agent's noise, as if it were added once. */
Test(sample_size, local_trust_pays_for_every_agents_noise)
{
    struct sq_request request = {10, 0.05, 0.01, 1, 1};
    struct sample_size once;
    struct sample_size two;
    cr_assert(sample_size_sq(&once, &request, NULL) == STATUS_OK && once.trust_factor == 1);
    request.agents = 2;
    cr_assert(sample_size_sq(&two, &request, NULL) == STATUS_OK);
    /* P(|sum of two| > z) = (1 + z/2) exp(-z), against beta/(2 J) */
    const double z = 0.05 / 2 * two.for_noise / 10;
    const double wrong = 0.05 / 2 * once.for_noise / 10;
    cr_assert((1 + z / 2) * exp(-z) <= 0.0005);
    cr_assert((1 + wrong / 2) * exp(-wrong) > 0.0005);
    cr_assert(two.for_sampling == once.for_sampling);
    /* Chernoff's bound, at its best: min over x of (ln(4 J/beta) - 2 ln(1 - x^2))/x. */
    double best = INFINITY;
    for (int i = 1; i < 100000; i++) {
        const double x = i * 1e-5;
        best = fmin(best, (log(4 * 10 / 0.01) - 2 * log(1 - x * x)) / x);
    }
    cr_assert(fabs(z - best) < 1e-6 * best);
    double before = two.trust_factor;
    for (int power = 2; power < 40; power++) {
        request.agents = ldexp(1, power);
        cr_assert(sample_size_sq(&two, &request, NULL) == STATUS_OK);
        cr_assert(two.trust_factor > before);
        cr_assert(two.trust_factor > 0.5 * sqrt(request.agents));
        cr_assert(two.trust_factor < 1.1 * sqrt(request.agents));
        before = two.trust_factor;
    }
}

static bool sq_refused(struct sq_request request, const char *word)
{
    struct sample_size size;
    struct why why = {""};
    return sample_size_sq(&size, &request, &why) == STATUS_INVALID && size.records == 0 &&
           strstr(why.text, word) != NULL;
}

static bool pac_refused(struct pac_request request, const char *word)
{
    struct sample_size size;
    struct why why = {""};
    return sample_size_pac(&size, &request, &why) == STATUS_INVALID && size.records == 0 &&
           strstr(why.text, word) != NULL;
}

Test(sample_size, refuses)
{
    const double bad_count[] = {-1, 0.5, 1.5, NAN, INFINITY, 1e300};
    const double bad_share[] = {0, 1, -0.1, 1.1, NAN, INFINITY};
    const double bad_epsilon[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 6; i++) {
        cr_assert(pac_refused((struct pac_request){bad_count[i], 0.1, 0.1, 1}, "candidates"));
        cr_assert(sq_refused((struct sq_request){bad_count[i], 0.1, 0.1, 1, 0}, "queries"));
        cr_assert(sq_refused((struct sq_request){2, 0.1, 0.1, 1, bad_count[i]}, "agents"));
        cr_assert(pac_refused((struct pac_request){2, bad_share[i], 0.1, 1}, "alpha"));
        cr_assert(pac_refused((struct pac_request){2, 0.1, bad_share[i], 1}, "beta"));
        cr_assert(sq_refused((struct sq_request){2, bad_share[i], 0.1, 1, 0}, "tolerance"));
        cr_assert(sq_refused((struct sq_request){2, 0.1, bad_share[i], 1, 0}, "beta"));
    }
    for (size_t i = 0; i < 4; i++) {
        cr_assert(pac_refused((struct pac_request){2, 0.1, 0.1, bad_epsilon[i]}, "epsilon"));
        cr_assert(sq_refused((struct sq_request){2, 0.1, 0.1, bad_epsilon[i], 0}, "epsilon"));
    }
    cr_assert(pac_refused((struct pac_request){2, 1e-9, 0.1, 1}, "2^53"));
    cr_assert(sq_refused((struct sq_request){0x1p53, 0.1, 0.1, 1, 0}, "2^53"));
    cr_assert(sq_refused((struct sq_request){2, 0.1, 0.1, 1e-300, 0}, "2^53"));
}
