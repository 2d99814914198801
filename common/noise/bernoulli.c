/* bernoulli.c - a coin as one comparison of a random word with a threshold, and lazy.c behind it.
 *
 * What is exact: Canonne, Kamath, Steinke, NeurIPS 2020. Their algorithm 1 multiplies coins of
 * rational probabilities, as many as it takes; here the binary digits of exp(-x) themselves are
 * compared, which takes the same time for both outcomes. */

#include "noise/bernoulli.h"

#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/bytes.h"

#include <string.h>

enum { WORD_BITS = 64, PRECISION_BITS = 192, BLOCK_WORDS = 512 };

/* exp(-x) */
static void enclose(const void *self, mpfr_t low, mpfr_t high)
{
    const struct noise_bernoulli *bernoulli = self;
    mpz_t numerator;
    mpz_t denominator;
    mpz_inits(numerator, denominator, NULL);
    whole_set_u64(numerator, bernoulli->numerator);
    whole_set_u64(denominator, bernoulli->denominator);
    lazy_enclose_exponential(low, high, numerator, denominator);
    mpz_clears(numerator, denominator, NULL);
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
                status = lazy_is_below(random, word[i], WORD_BITS, &probability, &below);
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
