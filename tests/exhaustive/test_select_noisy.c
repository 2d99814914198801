/* Every outcome of report-noisy-max for every pair of neighbours on a toy grid. Other tests show
 * that the mechanism is the argmin of scores plus noise (tests/unit), and that the noise is exact
 * (test_laplace.c). So this test examines the formula alone, summed over the noise of one
 * candidate. It shows that twice the sensitivity is needed. Ties are harmless if the index breaks
 * them, and not if the data do. */

#include "base/status.h"
#include "tests/exhaustive/select_grid.h"

enum { REACH = 160, TAILS = 2 * REACH + 64 };

/* P(Z >= m) at tail[m + TAILS/2] for discrete Laplace noise Z of scale numerator/denominator. */
static void tails_of(mpfr_t tail[TAILS], unsigned long numerator, unsigned long denominator)
{
    mpfr_t decay;
    mpfr_t all;
    mpfr_inits2(PRECISION, decay, all, NULL);
    mpfr_set_si(decay, -(long)denominator, MPFR_RNDN);
    mpfr_div_ui(decay, decay, numerator, MPFR_RNDN);
    mpfr_exp(decay, decay, MPFR_RNDN);
    mpfr_add_ui(all, decay, 1, MPFR_RNDN);
    for (int m = 0; m < TAILS; m++) {
        mpfr_init2(tail[m], PRECISION);
    }
    for (int m = 1; m < TAILS / 2; m++) {
        mpfr_t *upper = &tail[TAILS / 2 + m];
        mpfr_pow_ui(*upper, decay, (unsigned long)m, MPFR_RNDN);
        mpfr_div(*upper, *upper, all, MPFR_RNDN);
        mpfr_ui_sub(tail[TAILS / 2 + 1 - m], 1, *upper, MPFR_RNDN);
    }
    mpfr_clears(decay, all, NULL);
}

/* Whether j wins against i when both have the same noisy score. */
typedef bool (*tie_rule)(const int64_t *scores, size_t j, size_t i);

static bool lowest_index(UNUSED const int64_t *scores, size_t j, size_t i)
{
    return j < i;
}

static bool better_score(const int64_t *scores, size_t j, size_t i)
{
    return scores[j] < scores[i] || (scores[j] == scores[i] && j < i);
}

/* P(i is chosen), but for noise beyond REACH. */
static void wins(mpfr_t out, mpfr_t tail[TAILS], tie_rule before, const int64_t *scores,
                 size_t count, size_t i)
{
    mpfr_t product;
    mpfr_init2(product, PRECISION);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (int z = -REACH; z <= REACH; z++) {
        mpfr_sub(product, tail[TAILS / 2 + z], tail[TAILS / 2 + z + 1], MPFR_RNDN);
        for (size_t j = 0; j < count; j++) {
            if (j != i) {
                int64_t from = scores[i] + z - scores[j] + (before(scores, j, i) ? 1 : 0);
                mpfr_mul(product, product, tail[TAILS / 2 + from], MPFR_RNDN);
            }
        }
        mpfr_add(out, out, product, MPFR_RNDN);
    }
    mpfr_clear(product);
}

/* Whether the formula is private at epsilon 1 on the whole grid with noise of this scale. */
static bool noisy_is_private(tie_rule before, unsigned long scale)
{
    mpfr_t tail[TAILS];
    struct outcomes *outcomes = outcomes_new();
    mpfr_t sum;
    mpfr_init2(sum, PRECISION);
    tails_of(tail, scale, 1);
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        vector_of(v, scores);
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        for (size_t i = 0; i < K; i++) {
            wins(outcomes->p[v][i], tail, before, scores, K, i);
            mpfr_add(sum, sum, outcomes->p[v][i], MPFR_RNDN);
        }
        mpfr_ui_sub(sum, 1, sum, MPFR_RNDN); /* the probability of noise beyond REACH */
        cr_assert(mpfr_sgn(sum) >= 0 && mpfr_cmp_d(sum, 0x1p-100) < 0);
    }
    bool private = is_private(outcomes, 1000000);
    outcomes_free(outcomes);
    mpfr_clear(sum);
    for (int m = 0; m < TAILS; m++) {
        mpfr_clear(tail[m]);
    }
    return private;
}

/* P(first of many) for neighbours in which its score is better than all others by 1, or worse by
 * 1. */
static double first_of_many(tie_rule before)
{
    enum { MANY = 40 };
    int64_t ahead[MANY] = {0};
    int64_t behind[MANY] = {1};
    mpfr_t tail[TAILS];
    mpfr_t p;
    mpfr_t q;
    for (int j = 1; j < MANY; j++) {
        ahead[j] = 1;
    }
    tails_of(tail, 2, 1);
    mpfr_inits2(PRECISION, p, q, NULL);
    wins(p, tail, before, ahead, MANY, 0);
    wins(q, tail, before, behind, MANY, 0);
    mpfr_div(p, p, q, MPFR_RNDN);
    mpfr_log(p, p, MPFR_RNDN);
    double loss = mpfr_get_d(p, MPFR_RNDN);
    mpfr_clears(p, q, NULL);
    for (int m = 0; m < TAILS; m++) {
        mpfr_clear(tail[m]);
    }
    return loss;
}

Test(select_noisy, noisy_max_is_private_and_needs_twice_the_sensitivity)
{
    cr_expect(noisy_is_private(lowest_index, 2));
    cr_expect_not(noisy_is_private(lowest_index, 1), "scale sensitivity/epsilon");
}

Test(select_noisy, ties_broken_by_index_are_harmless_and_by_the_data_are_not)
{
    double by_index = first_of_many(lowest_index);
    double by_data = first_of_many(better_score);
    cr_expect(by_index <= 1 && by_index > 0.9, "loss %g", by_index);
    cr_expect(by_data > 1.2, "loss %g", by_data);
}
