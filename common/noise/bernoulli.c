/* bernoulli.c - a coin as one comparison of a random word with a threshold, and the exact decision
 * behind it: a uniform real is known to as many bits as were drawn, the probability lies between
 * two MPFR numbers rounded down and up, and both are refined until they are apart. That ends with
 * probability 1, whatever the probability: the bits that never decide are one point of [0, 1).
 *
 * What is exact: Canonne, Kamath, Steinke, NeurIPS 2020. Their algorithm 1 multiplies coins of
 * rational probabilities, as many as it takes; here the binary digits of exp(-x) themselves are
 * compared, which takes the same time for both outcomes. */

#include "noise/bernoulli_private.h"

#include "noise/bernoulli.h"
#include "noise/whole.h"

#include "base/bytes.h"

#include <gmp.h>
#include <string.h>

enum { WORD_BITS = 64, PRECISION_BITS = 192, BLOCK_WORDS = 512 };

void noise_set_u64(mpfr_t out, uint64_t value, mpfr_rnd_t toward)
{
    mpz_t whole;
    mpz_init(whole);
    whole_set_u64(whole, value);
    mpfr_set_z(out, whole, toward);
    mpz_clear(whole);
}

/* Appends a word to U's digits. */
static enum status extend(mpz_t digits, const struct random *random)
{
    uint64_t word = 0;
    enum status status = random_fill(random, &word, sizeof word);
    if (status == STATUS_OK) {
        mpz_t low;
        mpz_init(low);
        whole_set_u64(low, word);
        mpz_mul_2exp(digits, digits, WORD_BITS);
        mpz_add(digits, digits, low);
        mpz_set_ui(low, 0);
        mpz_clear(low);
    }
    bytes_wipe(&word, sizeof word);
    return status;
}

enum order { ORDER_OPEN, ORDER_BELOW, ORDER_NOT_BELOW };

/* U in [digits, digits + 1) 2^-bits against the probability, as far as they tell. */
static enum order compare(mpz_t digits, unsigned long bits, const struct real *probability)
{
    enum order order = ORDER_OPEN;
    mpfr_t low;
    mpfr_t high;
    mpfr_inits2(PRECISION_BITS + (mpfr_prec_t)bits, low, high, NULL);
    probability->enclose(probability->self, low, high);
    mpfr_mul_2ui(low, low, bits, MPFR_RNDD);
    mpfr_mul_2ui(high, high, bits, MPFR_RNDU);
    if (mpfr_cmp_z(high, digits) <= 0) {
        order = ORDER_NOT_BELOW;
    }
    mpz_add_ui(digits, digits, 1);
    if (mpfr_cmp_z(low, digits) >= 0) {
        order = ORDER_BELOW;
    }
    mpz_sub_ui(digits, digits, 1);
    mpfr_clears(low, high, NULL);
    return order;
}

enum status noise_bernoulli_decide(const struct random *random, uint64_t first, unsigned bits,
                                   const struct real *probability, bool *below)
{
    mpz_t digits;
    unsigned long known = bits;
    enum order order = ORDER_OPEN;
    enum status status = STATUS_OK;

    mpz_init(digits);
    whole_set_u64(digits, first);
    while (status == STATUS_OK && order == ORDER_OPEN) {
        order = compare(digits, known, probability);
        if (order == ORDER_OPEN) {
            status = extend(digits, random);
            known += WORD_BITS;
        }
    }
    *below = order == ORDER_BELOW;
    mpz_set_ui(digits, 0);
    mpz_clear(digits);
    mpfr_free_cache();
    return status;
}

/* exp(-x) */
static void enclose(const void *self, mpfr_t low, mpfr_t high)
{
    const struct noise_bernoulli *bernoulli = self;
    mpfr_t x;
    mpfr_t divisor;
    mpfr_init2(x, mpfr_get_prec(low));
    mpfr_init2(divisor, WORD_BITS);
    noise_set_u64(divisor, bernoulli->denominator, MPFR_RNDN);
    noise_set_u64(x, bernoulli->numerator, MPFR_RNDN); /* exact: there is precision enough */
    mpfr_div(low, x, divisor, MPFR_RNDU);
    mpfr_neg(low, low, MPFR_RNDN);
    mpfr_exp(low, low, MPFR_RNDD);
    mpfr_div(high, x, divisor, MPFR_RNDD);
    mpfr_neg(high, high, MPFR_RNDN);
    mpfr_exp(high, high, MPFR_RNDU);
    mpfr_clears(x, divisor, NULL);
}

enum status noise_bernoulli_init(struct noise_bernoulli *bernoulli, uint64_t numerator,
                                 uint64_t denominator)
{
    *bernoulli = (struct noise_bernoulli){.numerator = numerator, .denominator = denominator};
    if (denominator == 0) {
        return STATUS_INVALID;
    }
    if (numerator > 0) {
        mpfr_t low;
        mpfr_t high;
        mpz_t whole;
        mpfr_inits2(PRECISION_BITS, low, high, NULL);
        mpz_init(whole);
        enclose(bernoulli, low, high);
        /* exp(-x) for x near 0 may round up to 1, exp(-x) < 1 never rounds down to it; a threshold
         * that is lower than it could be makes ties of nothing else: see the comparison. */
        mpfr_mul_2ui(low, low, WORD_BITS, MPFR_RNDD);
        mpfr_get_z(whole, low, MPFR_RNDD);
        mpz_export(&bernoulli->threshold, NULL, 1, sizeof bernoulli->threshold, 0, 0, whole);
        mpfr_clears(low, high, NULL);
        mpz_clear(whole);
        mpfr_free_cache();
    }
    return STATUS_OK;
}

/* The threshold is floor(2^64 exp(-x)), or one less if 128 more bits of exp(-x) are zero: words
 * below it decide for 1, words at it and just above it are decided exactly. */
enum status noise_bernoulli_draw(const struct noise_bernoulli *bernoulli,
                                 const struct random *random, uint8_t *coins, size_t count)
{
    uint64_t word[BLOCK_WORDS];
    const struct real probability = {.enclose = enclose, .self = bernoulli};
    const uint64_t threshold = bernoulli->threshold;
    const uint8_t certain = bernoulli->numerator == 0 ? 1 : 0;
    enum status status = STATUS_OK;

    for (size_t done = 0; done < count && status == STATUS_OK; done += BLOCK_WORDS) {
        size_t block = count - done < BLOCK_WORDS ? count - done : BLOCK_WORDS;
        uint64_t tie = 0;
        status = random_fill(random, word, block * sizeof *word);
        for (size_t i = 0; status == STATUS_OK && i < block; i++) {
            coins[done + i] = (uint8_t)(certain | (word[i] < threshold ? 1 : 0));
            tie |= word[i] - threshold <= 1 ? 1 : 0;
        }
        for (size_t i = 0; tie != 0 && certain == 0 && status == STATUS_OK && i < block; i++) {
            if (word[i] - threshold <= 1) {
                bool below = false;
                status = noise_bernoulli_decide(random, word[i], WORD_BITS, &probability, &below);
                coins[done + i] = below ? 1 : 0;
            }
        }
    }
    if (status != STATUS_OK && count > 0) {
        memset(coins, 0, count * sizeof *coins);
    }
    bytes_wipe(word, sizeof word);
    return status;
}
