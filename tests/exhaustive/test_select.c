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

#include "dp/select_private.h"
#include "tests/exhaustive/select_grid.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

enum { UNITS_LOG2 = 64, ONE_LOG2 = NOISE_EXPONENTIAL_BITS + UNITS_LOG2 };
enum { SLACK = NOISE_EXPONENTIAL_SLACK };

/* A source that answers the first request with given words, later requests for one word with the
 * fraction and then zeros, and refuses anything else: a second try. */
struct driver {
    uint64_t word[2 * K];
    uint64_t fraction;
    unsigned requests;
};

static enum status driver_fill(void *self, void *out, size_t bytes)
{
    struct driver *driver = self;
    unsigned request = driver->requests++;
    memset(out, 0, bytes);
    if (request == 0) {
        CHECK(bytes <= sizeof driver->word);
        memcpy(out, driver->word, bytes);
        return STATUS_OK;
    }
    if (request == 1 && bytes == 8) {
        memcpy(out, &driver->fraction, 8);
    }
    return bytes == 8 ? STATUS_OK : STATUS_NO_RANDOM;
}

typedef enum status (*draw)(const struct noise_exponential *decay, const struct random *random,
                            size_t *chosen, const int64_t *scores, size_t count);

static void set_wide(mpz_t out, uint128 value)
{
    const uint64_t word[2] = {(uint64_t)(value >> 64), (uint64_t)value};
    mpz_import(out, 2, 1, 8, 0, 0, word);
}

/* Asks the mechanism with one word of the driver set: whether it chooses the candidate. */
struct question {
    draw run;
    const struct noise_exponential *decay;
    const int64_t *scores;
    size_t candidate;
    struct driver driver;
};

static bool is_chosen(struct question *question, uint64_t *asked, uint64_t word)
{
    struct random random = {.fill = driver_fill, .self = &question->driver};
    size_t chosen = SIZE_MAX;
    *asked = word;
    question->driver.requests = 0;
    enum status status = question->run(question->decay, &random, &chosen, question->scores, K);
    return status == STATUS_OK && chosen == question->candidate;
}

/* The largest word for which the answer is yes. It is yes for 0, and turns to no at most once. */
static uint64_t largest_yes(struct question *question, uint64_t *asked)
{
    uint64_t yes = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = yes | UINT64_C(1) << bit;
        yes = is_chosen(question, asked, next) ? next : yes;
    }
    (void)is_chosen(question, asked, yes);
    return yes;
}

/* Points the driver at the integer `point` below `end`: its words are (point + 1/2) 2^192 / end. */
static void aim(struct driver *driver, uint128 point, uint128 end)
{
    mpz_t word;
    mpz_t divisor;
    mpz_inits(word, divisor, NULL);
    set_wide(word, 2 * point + 1);
    mpz_mul_2exp(word, word, 191);
    set_wide(divisor, end);
    mpz_fdiv_q(word, word, divisor);
    memset(driver->word, 0, sizeof driver->word);
    mpz_export(driver->word, NULL, -1, 8, 0, 0, word);
    mpz_clears(word, divisor, NULL);
}

/* A weight in units of 2^-126 of the best one's: measured to be within [low, high]. */
struct measured {
    mpz_t low;
    mpz_t high;
};

/* All weights of all vectors of one mechanism. */
struct table {
    struct measured of[VECTORS][K];
};

static struct table *table_new(void)
{
    struct table *table = calloc(1, sizeof *table);
    CHECK(table != NULL);
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpz_inits(table->of[v][i].low, table->of[v][i].high, NULL);
        }
    }
    return table;
}

static void table_free(struct table *table)
{
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpz_clears(table->of[v][i].low, table->of[v][i].high, NULL);
        }
    }
    free(table);
}

/* Adds [whole, whole] 2^64 + [fraction, fraction + 1]. */
static void add_units(struct measured *out, uint64_t whole, uint64_t fraction)
{
    mpz_t units;
    mpz_init(units);
    set_wide(units, ((uint128)whole << UNITS_LOG2) + fraction);
    mpz_add(out->low, out->low, units);
    mpz_add(out->high, out->high, units);
    mpz_add_ui(out->high, out->high, 1);
    mpz_clear(units);
}

/* The exponential mechanism's decisions: the integers below sum(w) + 8 K in the order of the
 * candidates, then 8 spare ones for each. */
static void measure_exponential(struct table *table, const struct noise_exponential *decay)
{
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        uint64_t weight[K];
        uint128 end = K * SLACK;
        uint128 first = 0;
        vector_of(v, scores);
        for (int i = 0; i < K; i++) {
            weight[i] = distance_in(scores, i);
            noise_exponential_floor(decay, &weight[i], &weight[i], 1);
            end += weight[i];
        }
        for (size_t i = 0; i < K; i++) {
            struct question ask = {select_draw_exponential, decay, scores, i, {.requests = 0}};
            uint64_t *fraction = &ask.driver.fraction;
            aim(&ask.driver, first, end);
            cr_assert(is_chosen(&ask, fraction, UINT64_MAX));
            aim(&ask.driver, first + weight[i] - 1, end);
            cr_assert(is_chosen(&ask, fraction, UINT64_MAX));
            first += weight[i];
            set_wide(table->of[v][i].low, (uint128)weight[i] << UNITS_LOG2);
            mpz_set(table->of[v][i].high, table->of[v][i].low);
            for (size_t spare = 0; spare < SLACK; spare++) {
                aim(&ask.driver, end - K * SLACK + i * SLACK + spare, end);
                if (is_chosen(&ask, fraction, 0)) {
                    add_units(&table->of[v][i], 0, largest_yes(&ask, fraction));
                }
            }
        }
    }
}

/* Permute-and-flip's decisions: candidate i has the first priority and wins when its coin falls; of
 * the others only the best ones' coins do. */
static void measure_flip(struct table *table, const struct noise_exponential *decay)
{
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        vector_of(v, scores);
        for (size_t i = 0; i < K; i++) {
            struct question ask = {select_draw_flip, decay, scores, i, {.requests = 0}};
            uint64_t *word = ask.driver.word;
            for (size_t j = 0; j < K; j++) {
                word[2 * j] = UINT64_MAX;
                word[2 * j + 1] = j == i ? 0 : 1 + j;
            }
            uint64_t coin = largest_yes(&ask, &word[2 * i]) >> 2;
            word[2 * i] = coin << 2;
            mpz_set_ui(table->of[v][i].low, 0);
            mpz_set_ui(table->of[v][i].high, 0);
            add_units(&table->of[v][i], coin, largest_yes(&ask, &ask.driver.fraction));
        }
    }
}

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
