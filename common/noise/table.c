/* table.c - binned rejection with an exact last word.
 *
 * 0, 1, 2, ... is cut into bins of 2^i numbers in which the unnormalised probability f changes
 * little. Bin b has an integer mass m(b) out of 2^64, and a binary fraction K is chosen such that
 * K f(k) 2^i <= m(b) for every k in b. A trial takes three words:
 *
 *   the first   chooses b with probability exactly m(b)/2^64: Walker's alias table, integers only
 *   the second  chooses k in b uniformly: its first i bits
 *   the third   accepts with probability a(k) = K f(k) 2^i / m(b) <= 1
 *
 * so k comes out with probability m(b)/2^64 * 2^-i * a(k) = K f(k)/2^64: proportional to f,
 * exactly, whatever the masses are. No sum of f is needed, and what the masses leave of 2^64 is
 * rejected. The infinite rest beyond the last bin is one outcome, "tail": fair coins choose a bin
 * of 2^tail_bits numbers, the c-th with probability 2^-(c+1), which majorises f because it halves
 * at least as fast.
 *
 * a(k) itself is compared through a polynomial of the offset in fixed point whose error is bounded:
 * of 16 terms and 62 bits (table_make.c) or, for eight trials at a time, of 14 terms and 50 bits
 * (table_row.c). A third word within that bound is decided by lazy.c from enclosures of f. So the
 * polynomial decides how often that happens and never what is drawn, and all kernels draw the same
 * values from the same words.
 *
 * Where both sides are wanted the last bit of the third word is the sign, and minus zero is
 * rejected.
 *
 * Source: rejection from a histogram of strips, Ahrens and Dieter; alias tables, Walker 1977; exact
 * decisions by refinement, Knuth and Yao 1976. What is different: every trial does the same work,
 * and none of it rounds. */

#include "noise/table_kernel.h"

#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/bytes.h"
#include "base/check.h"

#include <string.h>

enum {
    WORD_BITS = 64,
    BLOCK_TRIALS = 256,
    FILL_TRIALS = 4 * BLOCK_TRIALS /* of one request to the source, which has a price of its own */
};

/* What an exact decision is about. */
struct question {
    const struct noise_table *table;
    size_t bin;
    unsigned long size_bits;
    uint128 k;
};

static void enclose_question(const void *self, mpfr_t low, mpfr_t high)
{
    const struct question *question = self;
    noise_table_enclose(question->table, question->bin, question->size_bits, question->k, low,
                        high);
}

void noise_table_enclose(const struct noise_table *table, size_t bin, unsigned long size_bits,
                         uint128 k, mpfr_t low, mpfr_t high)
{
    mpfr_t mass;
    mpfr_init2(mass, WORD_BITS);
    whole_set_real(mass, table->mass[bin], MPFR_RNDN);
    table->shape.enclose(table->shape.self, k, low, high);
    mpfr_mul(low, low, table->factor, MPFR_RNDD);
    mpfr_mul_2ui(low, low, size_bits, MPFR_RNDD);
    mpfr_div(low, low, mass, MPFR_RNDD);
    mpfr_mul(high, high, table->factor, MPFR_RNDU);
    mpfr_mul_2ui(high, high, size_bits, MPFR_RNDU);
    mpfr_div(high, high, mass, MPFR_RNDU);
    mpfr_clear(mass);
}

/* Tosses fair coins until one falls for 1; *zeros is how many did not. */
static enum status count_zeros(const struct random *random, uint64_t *zeros)
{
    uint64_t word = 0;
    enum status status = STATUS_OK;
    *zeros = 0;
    do {
        status = random_fill(random, &word, sizeof word);
        for (uint64_t bit = UINT64_C(1) << 63; bit != 0 && (word & bit) == 0; bit >>= 1) {
            *zeros += 1;
        }
    } while (status == STATUS_OK && word == 0);
    bytes_wipe(&word, sizeof word);
    return status;
}

/* Decides a trial that the words left open: exactly. */
static enum status decide(const struct noise_table *table, const struct random *random,
                          const uint64_t *word, noise_trial *done)
{
    const size_t chosen = noise_table_choose(table, word[0]);
    const struct noise_bin *bin = &table->bin[chosen];
    struct question question = {.table = table, .bin = chosen, .size_bits = bin->size_bits};
    const struct real probability = {.enclose = enclose_question, .self = &question};
    enum status status = STATUS_OK;
    bool below = false;

    question.k = (uint128)bin->start + noise_table_offset(word[1], bin->size_bits);
    if (chosen == table->bins) { /* the tail */
        uint64_t zeros = 0;
        status = count_zeros(random, &zeros);
        question.k += (uint128)zeros << bin->size_bits;
        question.size_bits += zeros + 1;
    }
    if (status == STATUS_OK) {
        status = lazy_is_below(random, (uint64_t)noise_table_fraction(word[2]), TABLE_UNIT_BITS,
                               &probability, &below);
    }
    uint64_t accept = below ? 1 : 0;
    const uint64_t negative = word[2] & (uint64_t)table->shape.both_sides;
    *done = (noise_trial){noise_table_sign((uint64_t)question.k, negative, &accept),
                          accept * TRIAL_ACCEPT};
    bytes_wipe(&question, sizeof question);
    return status;
}

/* Goes through a block one by one. */
static enum status run_careful(const struct noise_table *table, const struct random *random,
                               const uint64_t *word, size_t trials, uint64_t *value,
                               size_t *accepted)
{
    enum status status = STATUS_OK;
    uint64_t *next = value;
    for (size_t i = 0; i < trials && status == STATUS_OK; i++) {
        uint64_t open = 0;
        noise_trial done = noise_table_try(table, &word[TABLE_TRIAL_WORDS * i]);
        if ((done[TRIAL_FLAGS] & TRIAL_OPEN) != 0) {
            status = decide(table, random, &word[TABLE_TRIAL_WORDS * i], &done);
        }
        next = noise_table_store(next, done, &open);
    }
    *accepted = (size_t)(next - value);
    return status;
}

/* value (trials): the accepted ones. */
static enum status run(const struct noise_table *table, const struct random *random,
                       const uint64_t *word, size_t trials, uint64_t *value, size_t *accepted)
{
    if (table->kernel->run(table, word, trials, value, accepted)) {
        return STATUS_OK;
    }
    const enum status status = run_careful(table, random, word, trials, value, accepted);
    stack_wipe();
    return status;
}

/* Makes that many trials, block by block, until there are enough values.
 *
 * value  scratch  (TABLE_TRIALS_MAX)
 * *done  in/out   how many of the (count) values there are */
static enum status run_blocks(const struct noise_table *table, const struct random *random,
                              const uint64_t *word, size_t trials, uint64_t *value,
                              uint64_t *values, size_t count, size_t *done)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < trials && *done < count && status == STATUS_OK; i += TABLE_TRIALS_MAX) {
        size_t accepted = 0;
        size_t block = trials - i < TABLE_TRIALS_MAX ? trials - i : TABLE_TRIALS_MAX;
        status = run(table, random, &word[TABLE_TRIAL_WORDS * i], block, value, &accepted);
        accepted = accepted < count - *done ? accepted : count - *done;
        memcpy(&values[*done], value, accepted * sizeof *value);
        *done += accepted;
    }
    return status;
}

/* How many trials to make next when `left` of `count` values are missing. Few values and long
 * vectors get an eighth more; others get whole blocks, no more than are needed if all trials are
 * accepted, so that a seed gives what it always gave. Depends on counts alone. */
static size_t trials_for(size_t count, size_t left)
{
    const size_t blocks = (left + BLOCK_TRIALS / 2) / BLOCK_TRIALS;
    const size_t trials =
        count >= TABLE_LONG || blocks == 0 ? left + left / 8 + 4 : blocks * BLOCK_TRIALS;
    return trials < FILL_TRIALS ? trials : FILL_TRIALS;
}

enum status noise_table_draw(const struct noise_table *table, const struct random *random,
                             uint64_t *values, size_t count)
{
    uint64_t word[TABLE_TRIAL_WORDS * FILL_TRIALS];
    uint64_t value[TABLE_TRIALS_MAX];
    size_t largest = 0;
    size_t done = 0;
    enum status status = STATUS_OK;

    CHECK(table->bin != NULL);
    while (done < count && status == STATUS_OK) {
        const size_t trials = trials_for(count, count - done);
        largest = trials > largest ? trials : largest;
        status = random_fill(random, word, TABLE_TRIAL_WORDS * trials * sizeof *word);
        if (status == STATUS_OK) {
            status = run_blocks(table, random, word, trials, value, values, count, &done);
        }
    }
    if (status != STATUS_OK) {
        bytes_wipe(values, count * sizeof *values);
    }
    bytes_wipe(word, TABLE_TRIAL_WORDS * largest * sizeof *word);
    bytes_wipe(value, sizeof value);
    stack_wipe(); /* registers that kernels saved */
    return status;
}
