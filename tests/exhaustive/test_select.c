/* Every outcome of the exponential mechanism and of permute-and-flip for every pair of neighbours
 * on a toy grid, with exact probabilities.
 *
 * What is measured is the code that runs: a source of chosen words drives select_draw_exponential
 * and select_draw_flip to both ends of every interval in which they decide, and bisection finds
 * where the exact path changes its mind. So each candidate's weight (or its coin's) is known as an
 * integer in units of 2^-126, at most a few units off, and must contain 2^126 exp(-eta d). From the
 * measured weights follow the probabilities, and P(o|x) <= e^epsilon P(o|x') is demanded of every
 * outcome, of every pair x, x' of vectors whose entries differ by at most the sensitivity. Where
 * the theorem is an equality (the bounded range; two candidates of permute-and-flip) the units
 * leave a relative doubt, and 2^-50 is allowed. Planted faults must fail. */

#include "tests/exhaustive/select_measured.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>

/* exp(-eta d) in units of 2^-126. */
static void truth(mpfr_t out, uint64_t numerator, uint64_t denominator, uint64_t distance)
{
    mpfr_set_ui(out, numerator * distance, MPFR_RNDN);
    mpfr_div_ui(out, out, denominator, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, ONE_LOG2, MPFR_RNDN);
}

/* Whether every measured weight contains what the formula says. */
static bool is_truth(const struct table *table, uint64_t numerator, uint64_t denominator)
{
    bool right = true;
    mpfr_t real;
    mpfr_init2(real, PRECISION);
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        vector_of(v, scores);
        for (int i = 0; i < K; i++) {
            truth(real, numerator, denominator, distance_in(scores, i));
            right = right && mpfr_cmp_z(real, table->of[v][i].low) >= 0 &&
                    mpfr_cmp_z(real, table->of[v][i].high) <= 0;
        }
    }
    mpfr_clear(real);
    return right;
}

static struct outcomes *in_proportion(const struct table *table)
{
    struct outcomes *outcomes = outcomes_new();
    mpz_t sum;
    mpz_init(sum);
    for (int v = 0; v < VECTORS; v++) {
        mpz_set_ui(sum, 0);
        for (int i = 0; i < K; i++) {
            mpz_add(sum, sum, table->of[v][i].low);
        }
        for (int i = 0; i < K; i++) {
            mpfr_set_z(outcomes->p[v][i], table->of[v][i].low, MPFR_RNDN);
            mpfr_div_z(outcomes->p[v][i], outcomes->p[v][i], sum, MPFR_RNDN);
        }
    }
    mpz_clear(sum);
    return outcomes;
}

/* A uniform one of the coins that fell: p_i times the sum over the sets of the others. */
static struct outcomes *by_flips(const struct table *table)
{
    struct outcomes *outcomes = outcomes_new();
    mpfr_t product;
    mpfr_t coin;
    mpfr_inits2(PRECISION, product, coin, NULL);
    for (int v = 0; v < VECTORS; v++) {
        for (unsigned fell = 1; fell < 1U << K; fell++) {
            unsigned count = 0;
            mpfr_set_ui(product, 1, MPFR_RNDN);
            for (unsigned i = 0; i < K; i++) {
                mpfr_set_z(coin, table->of[v][i].high, MPFR_RNDN);
                mpfr_div_2ui(coin, coin, ONE_LOG2, MPFR_RNDN);
                if ((fell >> i & 1) == 0) {
                    mpfr_ui_sub(coin, 1, coin, MPFR_RNDN);
                }
                mpfr_mul(product, product, coin, MPFR_RNDN);
                count += fell >> i & 1;
            }
            mpfr_div_ui(product, product, count, MPFR_RNDN);
            for (unsigned i = 0; i < K; i++) {
                if ((fell >> i & 1) == 1) {
                    mpfr_add(outcomes->p[v][i], outcomes->p[v][i], product, MPFR_RNDN);
                }
            }
        }
    }
    mpfr_clears(product, coin, NULL);
    return outcomes;
}

/* P(o|x)/P(o|x') <= e^epsilon P(u|x)/P(u|x') for all neighbours and pairs of outcomes. */
static bool is_bounded_range(const struct outcomes *outcomes, uint64_t epsilon_micro)
{
    bool bounded = true;
    mpfr_t factor;
    mpfr_t left;
    mpfr_t right;
    mpfr_inits2(PRECISION, factor, left, right, NULL);
    factor_of(factor, epsilon_micro);
    for (int v = 0; v < VECTORS; v++) {
        for (int w = 0; w < VECTORS; w++) {
            for (int pair = 0; pair < K * K && are_neighbours(v, w); pair++) {
                int o = pair / K;
                int u = pair % K;
                mpfr_mul(left, outcomes->p[v][o], outcomes->p[w][u], MPFR_RNDN);
                mpfr_mul(right, outcomes->p[w][o], outcomes->p[v][u], MPFR_RNDN);
                mpfr_mul(right, right, factor, MPFR_RNDN);
                bounded = bounded && mpfr_cmp(left, right) <= 0;
            }
        }
    }
    mpfr_clears(factor, left, right, NULL);
    return bounded;
}

typedef void (*measure)(struct table *table, const struct noise_exponential *decay);
typedef struct outcomes *(*conclude)(const struct table *table);

/* What a mechanism, run with eta = times * epsilon / 2, turns out to be for this epsilon. */
struct verdict {
    bool truth; /* its weights are those of eta = epsilon / 2 */
    bool private;
    bool bounded_range;
};

static struct verdict judge(measure measure, conclude conclude, uint64_t epsilon_micro,
                            uint64_t times)
{
    struct noise_exponential decay;
    struct table *table = table_new();
    cr_assert_eq(noise_exponential_init(&decay, times * epsilon_micro, 2000000), STATUS_OK);
    measure(table, &decay);
    struct outcomes *outcomes = conclude(table);
    expect_whole(outcomes);
    struct verdict verdict = {.truth = is_truth(table, epsilon_micro, 2000000),
                              .private = is_private(outcomes, epsilon_micro),
                              .bounded_range = is_bounded_range(outcomes, epsilon_micro)};
    outcomes_free(outcomes);
    table_free(table);
    return verdict;
}

static const uint64_t epsilons_micro[] = {500000, 1000000, 3000000};

Test(select, the_exponential_mechanism_is_exact_private_and_of_bounded_range)
{
    for (size_t i = 0; i < 3; i++) {
        struct verdict verdict = judge(measure_exponential, in_proportion, epsilons_micro[i], 1);
        cr_expect(verdict.truth && verdict.private && verdict.bounded_range, "epsilon %zu", i);
    }
}

Test(select, permute_and_flip_is_exact_and_private_but_not_of_bounded_range)
{
    for (size_t i = 0; i < 3; i++) {
        struct verdict verdict = judge(measure_flip, by_flips, epsilons_micro[i], 1);
        cr_expect(verdict.truth && verdict.private, "epsilon %zu", i);
        cr_expect_not(verdict.bounded_range, "epsilon %zu: charging the range is a fault", i);
    }
}

Test(select, eta_twice_too_large_is_caught)
{
    struct verdict verdict = judge(measure_exponential, in_proportion, 1000000, 2);
    cr_expect_not(verdict.truth || verdict.private || verdict.bounded_range);
    verdict = judge(measure_flip, by_flips, 1000000, 2);
    cr_expect_not(verdict.truth || verdict.private);
}

Test(select, an_eta_wrong_by_a_millionth_is_caught)
{
    struct noise_exponential decay;
    struct table *table = table_new();
    cr_assert_eq(noise_exponential_init(&decay, 1000001, 2000000), STATUS_OK);
    measure_exponential(table, &decay);
    cr_expect_not(is_truth(table, 1000000, 2000000));
    cr_expect(is_truth(table, 1000001, 2000000));
    table_free(table);
}

/* One candidate's coin is not thrown: it always falls, or it never does unless it is the best. */
static void first_coin_falls(struct table *table, const struct noise_exponential *decay)
{
    measure_flip(table, decay);
    for (int v = 0; v < VECTORS; v++) {
        mpz_set_ui(table->of[v][0].high, 0);
        mpz_setbit(table->of[v][0].high, ONE_LOG2);
        mpz_set(table->of[v][0].low, table->of[v][0].high);
    }
}

static void first_coin_never_falls(struct table *table, const struct noise_exponential *decay)
{
    measure_flip(table, decay);
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        vector_of(v, scores);
        if (distance_in(scores, 0) > 0) {
            mpz_set_ui(table->of[v][0].high, 0);
            mpz_set_ui(table->of[v][0].low, 0);
        }
    }
}

Test(select, a_skipped_coin_is_caught)
{
    struct verdict verdict = judge(first_coin_falls, by_flips, 1000000, 1);
    cr_expect_not(verdict.truth);
    verdict = judge(first_coin_never_falls, by_flips, 1000000, 1);
    cr_expect_not(verdict.truth || verdict.private);
}

/* Whichever coins fall, and in whichever order the priorities are, the fallen one of the first
 * priority is chosen. */
Test(select, of_the_coins_that_fell_the_first_priority_is_chosen)
{
    static const int64_t scores[K] = {8, 3, 4};
    static const uint64_t order[6][K] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct noise_exponential decay;
    cr_assert_eq(noise_exponential_init(&decay, 1, 2), STATUS_OK);
    for (unsigned fell = 0; fell < 1U << K; fell++) {
        for (int o = 0; o < 6; o++) {
            struct driver driver = {.requests = 0};
            struct random random = {.fill = driver_fill, .self = &driver};
            size_t expected = 1; /* the best's coin always falls */
            size_t chosen = SIZE_MAX;
            for (size_t i = 0; i < K; i++) {
                driver.word[2 * i] = (fell >> i & 1) == 1 ? 0 : UINT64_MAX;
                driver.word[2 * i + 1] = order[o][i];
                bool before = order[o][i] < order[o][expected];
                expected = (fell >> i & 1) == 1 && before ? i : expected;
            }
            cr_assert_eq(select_draw_flip(&decay, &random, &chosen, scores, K), STATUS_OK);
            cr_assert_eq(chosen, expected, "fell %u order %d", fell, o);
        }
    }
}
