/* Every outcome of the noise and of the mechanism on a toy domain, with exact probabilities.
 *
 * A word of the random source decides one digit through one of 32 intervals of words (16 cells,
 * below and above the threshold). every_choice walks through every combination of intervals; each
 * has an exact integer weight, so that the tally of an outcome is its probability times 2^(64 *
 * words), a lower bound that lacks only what falls to the exact path: the "unseen" weight, below
 * 2^-56 of the whole.
 *
 * The checker then demands P(o|x) <= e^epsilon (P(o|x') + unseen) for every outcome o and every
 * pair of neighbours, with e^epsilon rounded up: no sampling, no false alarms. Planted faults must
 * fail it. */

#include "base/check.h"
#include "dp/mechanism.h"
#include "tests/support/every_choice.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { INTERVALS = 2 * NOISE_BASE, WORDS_MAX = 4, REACH = 260, SIDE = 2 * REACH + 1 };

/* A random source that offers every interval of every word, and knows the weight of what it
 * offered. */
struct every_word {
    struct every_choice choice;
    const struct noise_laplace *noise;
    bool last_of_interval; /* offer the last word of an interval in place of the first */
    mpz_t weight;          /* of this run's words */
};

/* The i-th interval that decides for a digit and is not empty; weight is its number of words.
 * Returns how many there are. */
static uint32_t interval_of(const struct noise_digit *digit, uint32_t i, uint64_t *first,
                            uint64_t *weight)
{
    uint64_t cell_size = UINT64_C(1) << 60;
    uint32_t count = 0;
    for (uint64_t cell = 0; cell < NOISE_BASE; cell++) {
        for (int side = 0; side < 2; side++) {
            uint64_t threshold = digit->threshold[cell];
            uint64_t size = side == 0 ? threshold : cell_size - threshold;
            if (size == 0 || digit->outcome[side][cell] == NOISE_LEFT) {
                continue;
            }
            if (count++ == i) {
                *first = (cell << 60) + (side == 0 ? 0 : threshold);
                *weight = size;
            }
        }
    }
    return count;
}

static void multiply(mpz_t weight, uint64_t factor)
{
    mpz_t wide;
    mpz_init(wide);
    mpz_import(wide, 1, 1, sizeof factor, 0, 0, &factor);
    mpz_mul(weight, weight, wide);
    mpz_clear(wide);
}

/* Words come digit by digit, lowest first, each digit for all variables: as noise.c asks for them.
 */
static enum status every_fill(void *self, void *out, size_t bytes)
{
    struct every_word *every = self;
    size_t words = bytes / 8;
    size_t variables = words / every->noise->digit_count;
    for (size_t i = 0; i < words; i++) {
        const struct noise_digit *digit = &every->noise->digit[i / variables];
        uint64_t first = 0;
        uint64_t weight = 0;
        uint32_t count = interval_of(digit, 0, &first, &weight);
        (void)interval_of(digit, every_choice_of(&every->choice, count), &first, &weight);
        first += every->last_of_interval ? weight - 1 : 0;
        memcpy((uint8_t *)out + 8 * i, &first, 8);
        multiply(every->weight, weight);
    }
    return STATUS_OK;
}

/* The tally of a mechanism's outcomes (one or two coordinates within REACH). */
struct tally {
    mpz_t *weight; /* (SIDE, SIDE); one coordinate uses the first row */
    mpz_t unseen;
    mpz_t whole;
    size_t count; /* coordinates */
};

/* What is examined: adds noise to values, the way it should or one of the ways it should not. */
typedef void (*mechanism)(const struct noise_laplace *noise, const struct random *random,
                          int64_t *values, size_t count);

static void tally_init(struct tally *tally, size_t count, size_t words)
{
    size_t cells = count == 1 ? SIDE : SIDE * SIDE;
    tally->count = count;
    tally->weight = calloc(cells, sizeof *tally->weight);
    CHECK(tally->weight != NULL);
    for (size_t i = 0; i < cells; i++) {
        mpz_init(tally->weight[i]);
    }
    mpz_init(tally->unseen);
    mpz_init_set_ui(tally->whole, 1);
    mpz_mul_2exp(tally->whole, tally->whole, 64 * words);
    mpz_set(tally->unseen, tally->whole);
}

static void tally_clear(struct tally *tally)
{
    size_t cells = tally->count == 1 ? SIDE : SIDE * SIDE;
    for (size_t i = 0; i < cells; i++) {
        mpz_clear(tally->weight[i]);
    }
    free(tally->weight);
    mpz_clears(tally->unseen, tally->whole, NULL);
}

static mpz_t *tally_cell(const struct tally *tally, const int64_t *outcome)
{
    size_t at = 0;
    for (size_t i = 0; i < tally->count; i++) {
        CHECK(outcome[i] >= -REACH && outcome[i] <= REACH);
        at = at * SIDE + (size_t)(outcome[i] + REACH);
    }
    return &tally->weight[at];
}

/* Runs the mechanism on x with every combination of intervals. */
static void tally_run(struct tally *tally, mechanism run, const struct noise_laplace *noise,
                      const int64_t *x, size_t count, bool last_of_interval)
{
    struct every_word every = {.noise = noise, .last_of_interval = last_of_interval};
    struct random random = {.fill = every_fill, .self = &every};
    mpz_init(every.weight);
    tally_init(tally, count, 2 * count * noise->digit_count);
    do {
        int64_t values[2] = {0};
        memcpy(values, x, count * sizeof *x);
        mpz_set_ui(every.weight, 1);
        run(noise, &random, values, count);
        for (size_t missing = every.choice.depth; missing < 2 * count * noise->digit_count;
             missing++) {
            mpz_mul_2exp(every.weight, every.weight, 64); /* a fault that draws less */
        }
        mpz_t *cell = tally_cell(tally, values);
        mpz_add(*cell, *cell, every.weight);
        mpz_sub(tally->unseen, tally->unseen, every.weight);
    } while (every_choice_next(&every.choice));
    mpz_clear(every.weight);
}

/* Whether P(o|x) <= e^epsilon (P(o|x') + unseen) for every o. epsilon = sensitivity 1 / scale. */
static bool is_private(const struct tally *x, const struct tally *neighbour,
                       struct noise_scale scale)
{
    size_t cells = x->count == 1 ? SIDE : SIDE * SIDE;
    bool private = true;
    mpz_t other;
    mpfr_t factor;
    mpfr_t bound;
    mpz_init(other);
    mpfr_inits2(600, factor, bound, NULL);
    mpfr_set_ui(factor, scale.denominator, MPFR_RNDU);
    mpfr_div_ui(factor, factor, scale.numerator, MPFR_RNDU);
    mpfr_exp(factor, factor, MPFR_RNDU);
    for (size_t i = 0; i < cells && private; i++) {
        mpz_add(other, neighbour->weight[i], neighbour->unseen);
        mpfr_mul_z(bound, factor, other, MPFR_RNDU);
        private = mpfr_cmp_z(bound, x->weight[i]) >= 0;
    }
    mpz_clear(other);
    mpfr_clears(factor, bound, NULL);
    return private;
}

/* Whether the mechanism is private between 0 and every neighbour, both ways. */
static bool holds(mechanism run, struct noise_scale scale, size_t count, bool last_of_interval)
{
    static const int64_t x[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    struct noise_laplace noise;
    struct tally tally[3];
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    for (size_t i = 0; i <= count; i++) {
        tally_run(&tally[i], run, &noise, x[i], count, last_of_interval);
        double unseen = mpz_get_d(tally[i].unseen) / mpz_get_d(tally[i].whole);
        cr_assert(unseen >= 0 && unseen < 0x1p-56, "unseen %g", unseen);
    }
    bool private = true;
    for (size_t i = 1; i <= count; i++) {
        private = private && is_private(&tally[0], &tally[i], scale) &&
                  is_private(&tally[i], &tally[0], scale);
    }
    for (size_t i = 0; i <= count; i++) {
        tally_clear(&tally[i]);
    }
    return private;
}

static void right(const struct noise_laplace *noise, const struct random *random, int64_t *values,
                  size_t count)
{
    cr_assert_eq(noise_laplace_add(noise, random, values, count), STATUS_OK);
}

/* The whole way: ledger, grant, mechanism. */
static void paid(const struct noise_laplace *noise, const struct random *random, int64_t *values,
                 size_t count)
{
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX, 0});
    struct charge charge = {.epsilon_micro = EPSILON_MICRO_ONE * noise->scale.denominator /
                                             noise->scale.numerator,
                            .pass = {{1}},
                            .row_count = 1};
    struct grant *grant = NULL;
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    cr_assert_eq(mechanism_laplace(&grant, random, values, count, 1), STATUS_OK);
    ledger_free(ledger);
}

/* Noise of another scale than the one that is paid for. */
static void of_scale(struct noise_scale scale, const struct noise_laplace *noise,
                     const struct random *random, int64_t *values, size_t count)
{
    static struct noise_laplace wrong; /* prepared once for a million runs */
    struct every_word *every = random->self;
    if (memcmp(&wrong.scale, &scale, sizeof scale) != 0) {
        cr_assert_eq(noise_laplace_init(&wrong, scale), STATUS_OK);
    }
    every->noise = &wrong;
    cr_assert_eq(noise_laplace_add(&wrong, random, values, count), STATUS_OK);
    every->noise = noise;
}

static void half_the_scale(const struct noise_laplace *noise, const struct random *random,
                           int64_t *values, size_t count)
{
    struct noise_scale scale = noise->scale;
    scale.denominator *= 2;
    of_scale(scale, noise, random, values, count);
}

static void rate_for_scale(const struct noise_laplace *noise, const struct random *random,
                           int64_t *values, size_t count)
{
    struct noise_scale scale = {.numerator = noise->scale.denominator,
                                .denominator = noise->scale.numerator};
    of_scale(scale, noise, random, values, count);
}

static void one_sided(const struct noise_laplace *noise, const struct random *random,
                      int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t drawn = 0;
        cr_assert_eq(noise_laplace_draw(noise, random, &drawn, 1), STATUS_OK);
        values[i] += drawn < 0 ? -drawn : drawn;
    }
}

static void forgotten_coordinate(const struct noise_laplace *noise, const struct random *random,
                                 int64_t *values, size_t count)
{
    cr_assert_eq(noise_laplace_add(noise, random, values, count - 1), STATUS_OK);
}

static void same_noise_twice(const struct noise_laplace *noise, const struct random *random,
                             int64_t *values, size_t count)
{
    int64_t drawn = 0;
    cr_assert_eq(noise_laplace_draw(noise, random, &drawn, 1), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        values[i] += drawn;
    }
}

/* A reused grant: two answers, each with the noise that one epsilon pays for. */
static void reused_grant(const struct noise_laplace *noise, const struct random *random,
                         int64_t *values, size_t count)
{
    cr_assert_eq(count, 2);
    values[0] += values[1];
    values[1] = values[0]; /* both answers are the same sum, so a record moves both */
    cr_assert_eq(noise_laplace_add(noise, random, values, 2), STATUS_OK);
}

Test(laplace, one_coordinate_is_exactly_private_through_ledger_and_mechanism)
{
    cr_assert(holds(paid, (struct noise_scale){1, 4}, 1, false));
    cr_assert(holds(paid, (struct noise_scale){1, 4}, 1, true));
}

Test(laplace, two_digits_are_exactly_private, .timeout = 200)
{
    cr_assert(holds(right, (struct noise_scale){1, 1}, 1, false));
}

Test(laplace, two_coordinates_are_exactly_private, .timeout = 200)
{
    cr_assert(holds(right, (struct noise_scale){1, 4}, 2, false));
}

Test(laplace, every_planted_fault_is_caught, .timeout = 200)
{
    static const struct noise_scale scale = {1, 4};
    cr_assert_not(holds(one_sided, scale, 1, false));
    cr_assert_not(holds(half_the_scale, scale, 1, false));
    cr_assert_not(holds(rate_for_scale, (struct noise_scale){4, 3}, 1, false));
    cr_assert_not(holds(forgotten_coordinate, scale, 2, false));
    cr_assert_not(holds(same_noise_twice, scale, 2, false));
    cr_assert_not(holds(reused_grant, scale, 2, false));
}

/* Whether every outcome's weight is what tanh(1/(2s)) exp(-|o|/s) says, but for the unseen. */
static bool has_weights(const struct tally *tally, struct noise_scale scale)
{
    bool right_weights = true;
    mpfr_t decay;
    mpfr_t expected;
    mpfr_inits2(900, decay, expected, NULL);
    for (int64_t o = -REACH; o <= REACH; o++) {
        const mpz_t *seen = (const mpz_t *)tally_cell(tally, &o);
        mpfr_set_ui(decay, scale.denominator, MPFR_RNDN);
        mpfr_div_ui(decay, decay, scale.numerator, MPFR_RNDN);
        mpfr_div_ui(expected, decay, 2, MPFR_RNDN);
        mpfr_tanh(expected, expected, MPFR_RNDN);
        mpfr_mul_si(decay, decay, o < 0 ? (long)o : -(long)o, MPFR_RNDN);
        mpfr_exp(decay, decay, MPFR_RNDN);
        mpfr_mul(expected, expected, decay, MPFR_RNDN);
        mpfr_mul_z(expected, expected, tally->whole, MPFR_RNDN);
        mpfr_sub_z(expected, expected, *seen, MPFR_RNDN); /* what is missing */
        right_weights =
            right_weights && mpfr_sgn(expected) >= 0 && mpfr_cmp_z(expected, tally->unseen) <= 0;
    }
    mpfr_clears(decay, expected, NULL);
    return right_weights;
}

Test(laplace, every_outcome_has_the_weight_of_the_formula, .timeout = 200)
{
    static const struct noise_scale scales[] = {{1, 16}, {2, 9}, {1, 1}};
    static const int64_t zero = 0;
    for (size_t i = 0; i < 3; i++) {
        struct noise_laplace noise;
        struct tally tally;
        struct noise_scale near = scales[i];
        near.numerator = near.numerator * 1000000 + 1;
        near.denominator *= 1000000;
        cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        tally_run(&tally, right, &noise, &zero, 1, false);
        cr_assert(has_weights(&tally, scales[i]), "scale %zu", i);
        cr_assert_not(has_weights(&tally, near), "a millionth more must not pass");
        tally_clear(&tally);
    }
}
