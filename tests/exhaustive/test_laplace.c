/* Every outcome of the noise and of the mechanism on a toy domain, with exact probabilities.
 *
 * At small scales a trial of the noise is two words: two digits and a sign. every_choice walks
 * through every accepted combination of digits and sign, for one trial per coordinate. Each
 * combination has an exact integer weight: the number of words that mean it. So the tally of an
 * outcome is its probability times the number of all accepted words. It is a lower bound: it lacks
 * what the exact path decides, the "unseen" weight, which is below 2^-42 of the whole. The table's
 * cells say which words mean which digit. A refused trial ("minus zero") changes nothing, because
 * trials are independent. The later trials of a block are not used.
 *
 * The checker then demands P(o|x) <= e^epsilon (P(o|x') + unseen) for every outcome o and every
 * pair of neighbours, with e^epsilon rounded up: no sampling, no false alarms. Planted faults must
 * fail it. */

#include "base/check.h"
#include "dp/mechanism.h"
#include "noise/laplace_private.h"
#include "tests/support/every_choice.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { REACH = 260, SIDE = 2 * REACH + 1 };

/* A random source that offers every accepted trial, and knows the weight of what it offered. */
struct every_word {
    struct every_choice choice;
    const struct noise_geometric *noise;
    size_t count;          /* trials to choose in a block; the others are not looked at */
    bool last_of_interval; /* offer the last word that means a digit in place of the first */
    mpz_t weight;          /* of this run's words */
    mpz_t whole;           /* of all accepted words, and those that are left over */
    mpz_t trial_words;     /* all there are of one trial */
};

/* How many digits some word means. Smaller ones have more. */
static uint32_t digits_of(const struct noise_digit *digit)
{
    uint32_t count = 0;
    while (count < NOISE_BASE && digit->mass[count] > 0) {
        count++;
    }
    return count;
}

/* The first or last of the words that mean a digit; the 13 bits below it are 0. */
static uint64_t word_of(const struct noise_digit *digit, uint64_t outcome, bool last)
{
    uint64_t word = 0;
    bool found = false;
    for (uint64_t cell = 0; cell < NOISE_BASE && (last || !found); cell++) {
        uint64_t size[2] = {digit->cell[cell] >> THRESHOLD_SHIFT, UINT64_C(1) << 46};
        uint64_t meaning[2] = {digit->cell[cell] >> OUTCOME_BITS & 63, digit->cell[cell] & 63};
        size[1] -= size[0];
        for (int side = 0; side < 2 && (last || !found); side++) {
            if (size[side] > 0 && meaning[side] == outcome) {
                uint64_t first = (cell << 46) + (side == 1 ? size[0] : 0);
                word = (first + (last ? size[side] - 1 : 0)) << 13;
                found = true;
            }
        }
    }
    CHECK(found);
    return word;
}

/* Words come digit by digit, lowest first, each digit for all trials: as laplace_kernel.h says. */
static enum status every_fill(void *self, void *out, size_t bytes)
{
    struct every_word *every = self;
    const struct noise_digit *digit = every->noise->digit;
    uint64_t *word = out;
    size_t trials = bytes / 8 / NOISE_DIGITS;
    uint32_t lower_count = digits_of(&digit[0]);
    uint32_t options = lower_count * digits_of(&digit[1]) * 2 - 1;
    mpz_t accepted;

    CHECK(every->noise->low_bits == 0 && trials >= every->count);
    mpz_init_set_ui(accepted, digit[0].mass[0]); /* all words of a trial but those of minus zero */
    mpz_mul_ui(accepted, accepted, digit[1].mass[0]);
    mpz_sub(accepted, every->trial_words, accepted);
    for (size_t i = 0; i < trials; i++) { /* a decided zero */
        word[i] = word_of(&digit[0], 0, false);
        word[trials + i] = word_of(&digit[1], 0, false);
    }
    for (size_t i = 0; i < every->count; i++) {
        uint32_t choice = every_choice_of(&every->choice, options) + 1; /* 0 is minus zero */
        uint32_t lower = choice / 2 % lower_count;
        uint32_t upper = choice / 2 / lower_count;
        uint64_t sign = choice % 2 == 0 ? UINT64_C(1) << SIGN_BIT : 0;
        word[i] = word_of(&digit[0], lower, every->last_of_interval) | sign;
        word[trials + i] = word_of(&digit[1], upper, every->last_of_interval);
        mpz_mul_ui(every->weight, every->weight, digit[0].mass[lower]);
        mpz_mul_ui(every->weight, every->weight, digit[1].mass[upper]);
        mpz_mul(every->whole, every->whole, accepted);
    }
    mpz_clear(accepted);
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

static void tally_init(struct tally *tally, size_t count)
{
    size_t cells = count == 1 ? SIDE : SIDE * SIDE;
    tally->count = count;
    tally->weight = calloc(cells, sizeof *tally->weight);
    CHECK(tally->weight != NULL);
    for (size_t i = 0; i < cells; i++) {
        mpz_init(tally->weight[i]);
    }
    mpz_inits(tally->unseen, tally->whole, NULL);
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

/* Runs the mechanism on x with every combination of accepted trials. */
static void tally_run(struct tally *tally, mechanism run, const struct noise_laplace *noise,
                      const int64_t *x, size_t count, bool last_of_interval)
{
    struct every_word every = {
        .noise = &noise->magnitude, .count = count, .last_of_interval = last_of_interval};
    struct random random = {.fill = every_fill, .self = &every};
    mpz_t seen;
    mpz_inits(every.weight, every.whole, every.trial_words, seen, NULL);
    mpz_setbit(every.trial_words, NOISE_DIGITS * DIGIT_BITS + 1); /* two digits and a sign */
    tally_init(tally, count);
    do {
        int64_t values[2] = {0};
        memcpy(values, x, count * sizeof *x);
        mpz_set_ui(every.weight, 1);
        mpz_set_ui(every.whole, 1);
        run(noise, &random, values, count);
        mpz_t *cell = tally_cell(tally, values);
        mpz_add(*cell, *cell, every.weight);
        mpz_add(seen, seen, every.weight);
    } while (every_choice_next(&every.choice));
    mpz_set(tally->whole, every.whole);
    mpz_sub(tally->unseen, tally->whole, seen);
    mpz_clears(every.weight, every.whole, every.trial_words, seen, NULL);
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
        cr_assert(unseen >= 0 && unseen < 0x1p-42, "unseen %g", unseen);
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
    struct charge charge = {.epsilon_micro = EPSILON_MICRO_ONE *
                                             noise->magnitude.scale.denominator /
                                             noise->magnitude.scale.numerator,
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
    if (memcmp(&wrong.magnitude.scale, &scale, sizeof scale) != 0) {
        cr_assert_eq(noise_laplace_init(&wrong, scale), STATUS_OK);
    }
    every->noise = &wrong.magnitude;
    cr_assert_eq(noise_laplace_add(&wrong, random, values, count), STATUS_OK);
    every->noise = &noise->magnitude;
}

static void half_the_scale(const struct noise_laplace *noise, const struct random *random,
                           int64_t *values, size_t count)
{
    struct noise_scale scale = noise->magnitude.scale;
    scale.denominator *= 2;
    of_scale(scale, noise, random, values, count);
}

static void rate_for_scale(const struct noise_laplace *noise, const struct random *random,
                           int64_t *values, size_t count)
{
    struct noise_scale scale = {.numerator = noise->magnitude.scale.denominator,
                                .denominator = noise->magnitude.scale.numerator};
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

Test(laplace, two_coordinates_are_exactly_private_through_ledger_and_mechanism)
{
    cr_assert(holds(paid, (struct noise_scale){1, 4}, 2, false));
}

Test(laplace, two_digits_are_exactly_private)
{
    cr_assert(holds(right, (struct noise_scale){1, 1}, 1, false));
}

Test(laplace, two_coordinates_are_exactly_private)
{
    cr_assert(holds(right, (struct noise_scale){1, 4}, 2, false));
    cr_assert(holds(right, (struct noise_scale){1, 1}, 2, true));
}

Test(laplace, every_planted_fault_is_caught)
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

Test(laplace, every_outcome_has_the_weight_of_the_formula)
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
