/* gaussian_words.h - every combination of the intervals of a trial's words that matter to a discrete Gaussian on a toy
 * domain, each with its exact integer weight; for the exhaustive tests of the sampler and of the mechanism. */

#ifndef TESTS_EXHAUSTIVE_GAUSSIAN_WORDS_H
#define TESTS_EXHAUSTIVE_GAUSSIAN_WORDS_H

#include "noise/gaussian.h"
#include "noise/table_kernel.h"
#include "tests/support/every_choice.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

enum { REACH = 400, SIDE = 2 * REACH + 1, PRECISION = 400, WORD_TRIALS = 8 };

/* A random source that offers every interval of one trial's words, then refuses. */
struct every_word {
    struct every_choice choice;
    const struct noise_table *table;
    size_t
        at; /* which trial, of a vector's coordinate of that place; the other coordinates' noise is 0 */
    size_t count; /* of the vector */
    mpz_t weight;
    bool used;
    bool last; /* offer the last word of an interval in place of the first */
};

/* Sets one of an interval's words, first .. first + size - 1. */
static uint64_t pick(const struct every_word *every, uint64_t first, uint64_t size)
{
    return every->last && size > 0 ? first + size - 1 : first;
}

/* The first word: either side of any cell; empty sides get the weight 0. Returns the bin. */
static size_t choose_bin(struct every_word *every, uint64_t *word)
{
    const struct noise_table *table = every->table;
    const unsigned low_bits = 64 - table->cell_bits;
    uint32_t choice = every_choice_of(&every->choice, UINT32_C(2) << table->cell_bits);
    const struct noise_cell *cell = &table->cell[choice / 2];
    uint64_t first = ((uint64_t)choice / 2) << low_bits;
    uint64_t size = cell->threshold;
    if (choice % 2 == 1) {
        first += cell->threshold;
        size = (UINT64_C(1) << low_bits) - cell->threshold;
    }
    *word = pick(every, first, size);
    mpz_mul_ui(every->weight, every->weight, size);
    return size > 0 ? cell->bin[choice % 2] : table->bins + 1; /* nobody's side names no bin */
}

/* The third word, when the polynomial is c0: 62 bits, a bit without meaning, and the sign. */
static void choose_fraction(struct every_word *every, size_t bin, uint64_t *word)
{
    const struct noise_table *table = every->table;
    const bool plain = table->kernel == &noise_table_plain;
    int64_t edge =
        plain ? table->bin[bin].wide[0]
              : table->row[bin].term[0] * (INT64_C(1) << (TABLE_UNIT_BITS - ROW_UNIT_BITS));
    bool above = every_choice_of(&every->choice, 2) == 1;
    bool negative = every_choice_of(&every->choice, 2) == 1;
    int64_t margin = (int64_t)table->bin[bin].margin;
    if (!plain) {
        margin = table->rest[bin].margin * (INT64_C(1) << (TABLE_UNIT_BITS - ROW_MARGIN_BITS));
    }
    int64_t first = above ? edge + margin + 1 : 0; /* surely refused, surely accepted */
    int64_t size = above ? (INT64_C(1) << 62) - first : edge - margin;
    if (bin == every->table->bins + 1) { /* refused whatever the third word is */
        first = above ? INT64_C(1) << 61 : 0;
        size = INT64_C(1) << 61;
    }
    if (bin == every->table->bins || size <= 0) { /* the tail is open */
        first = size = 0;
    }
    *word = (pick(every, (uint64_t)first, (uint64_t)size) << 2) | (negative ? 1 : 0);
    mpz_mul_ui(every->weight, every->weight, 2 * (uint64_t)size);
}

/* The words of a trial whose noise is surely 0: in the first cell that has such, with the sign that keeps it. */
static void choose_zero(const struct noise_table *table, uint64_t word[3])
{
    size_t cell = 0;
    while (table->cell[cell].bin[0] != 0 || table->cell[cell].threshold == 0) {
        cell++;
    }
    word[0] = (uint64_t)cell << (64 - table->cell_bits);
    word[1] = word[2] = 0;
}

static enum status every_fill(void *self, void *out, size_t bytes)
{
    struct every_word *every = self;
    uint64_t word[3 * WORD_TRIALS] = {0};
    const size_t trials = bytes / (3 * sizeof *word);
    if (every->used || mpz_sgn(every->weight) == 0) {
        return STATUS_NO_RANDOM; /* the trial was refused: this run is over */
    }
    cr_assert(bytes % (3 * sizeof *word) == 0 && trials > every->count && trials <= WORD_TRIALS);
    every->used = true;
    for (size_t t = 0; t < trials; t++) {
        if (t < every->count) {
            choose_zero(every->table, &word[3 * t]);
        } else { /* immediate refusal */
            word[3 * t] = (uint64_t)(every->table->bins + 1) << (64 - every->table->cell_bits);
        }
    }
    size_t bin = choose_bin(every, &word[3 * every->at]);
    choose_fraction(every, bin, &word[3 * every->at + 2]);
    word[3 * every->at + 1] = 0;
    cr_assert(every->table->mass[every->table->bins + 1] > 0);
    if (mpz_sgn(every->weight) == 0) {
        return STATUS_NO_RANDOM; /* no such words */
    }
    memcpy(out, word, bytes);
    return STATUS_OK;
}

/* weight (SIDE): of every outcome, of 2^128 in all; `unseen` is what no run had. */
struct tally {
    mpz_t weight[SIDE];
    mpz_t unseen;
};

static void tally_init(struct tally *tally)
{
    mpz_init_set_ui(tally->unseen, 1);
    mpz_mul_2exp(tally->unseen, tally->unseen, 128);
    for (size_t i = 0; i < SIDE; i++) {
        mpz_init(tally->weight[i]);
    }
}

/* Counts what one run came to. */
static void tally_add(struct tally *tally, const mpz_t weight, enum status status, int64_t value)
{
    mpz_sub(tally->unseen, tally->unseen, weight);
    if (status == STATUS_OK) {
        cr_assert(value >= -REACH && value <= REACH);
        mpz_t *cell = &tally->weight[value + REACH];
        mpz_add(*cell, *cell, weight);
    }
}

static void tally_clear(struct tally *tally)
{
    for (size_t i = 0; i < SIDE; i++) {
        mpz_clear(tally->weight[i]);
    }
    mpz_clear(tally->unseen);
}

/* Whether every outcome that was seen has K f(outcome - value) 2^64 / 2 of weight, a little less at most. */
static bool tally_is_gaussian(const struct tally *tally, const struct noise_gaussian *noise,
                              int64_t value)
{
    const struct noise_table *table = &noise->table;
    bool right = mpz_sizeinbase(tally->unseen, 2) < 128 - 43;
    mpfr_t low;
    mpfr_t high;
    mpfr_inits2(PRECISION, low, high, NULL);
    for (int64_t z = -REACH + value; z <= REACH - value; z++) {
        uint64_t size = (uint64_t)(z < 0 ? -z : z);
        if (size >= table->bins) {
            continue; /* the tail, which the exact path draws */
        }
        table->shape.enclose(table->shape.self, size, low, high);
        mpfr_mul(low, low, table->factor, MPFR_RNDD);
        mpfr_mul_2ui(low, low, 63, MPFR_RNDD);
        mpfr_sub_z(low, low, tally->weight[z + value + REACH], MPFR_RNDN); /* what is missing */
        right = right && mpfr_sgn(low) >= 0 && mpfr_cmp_z(low, tally->unseen) <= 0;
    }
    mpfr_clears(low, high, NULL);
    return right;
}

#endif
