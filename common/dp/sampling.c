/* sampling.c - a coin of probability q compares a random fraction's binary digits with those of q:
 * the first 64 digits decide, unless they are the same; then those that follow do, for which the
 * remainder of the division is the new numerator. No rate is rounded. */

#include "dp/sampling.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/wide.h"
#include "dp/charge.h"

#include <string.h>

enum { WORDS = 256 };

/* rate / 10^9 = (digits + rest / 10^9) / 2^64, rate < 10^9 */
struct fraction {
    uint64_t digits;
    uint64_t rest;
};

static struct fraction fraction_of(uint64_t rate_nano)
{
    uint128 wide = (uint128)rate_nano << 64;
    return (struct fraction){(uint64_t)(wide / SAMPLING_NANO_ONE),
                             (uint64_t)(wide % SAMPLING_NANO_ONE)};
}

static enum status untie(const struct random *random, uint8_t *coin, uint64_t rest)
{
    uint64_t word = 0;
    struct fraction fraction;
    do {
        fraction = fraction_of(rest);
        rest = fraction.rest;
        enum status status = random_fill(random, &word, sizeof word);
        if (status != STATUS_OK) {
            return status;
        }
    } while (word == fraction.digits);
    *coin = word < fraction.digits ? 1 : 0;
    return STATUS_OK;
}

enum status sampling_draw(const struct random *random, uint8_t *coins, size_t count,
                          uint64_t rate_nano)
{
    uint64_t words[WORDS];
    enum status status = STATUS_OK;

    CHECK(rate_nano <= SAMPLING_NANO_ONE);
    if (rate_nano == SAMPLING_NANO_ONE) {
        memset(coins, 1, count);
        return STATUS_OK;
    }
    const struct fraction fraction = fraction_of(rate_nano);
    for (size_t first = 0; first < count && status == STATUS_OK; first += WORDS) {
        const size_t size = count - first < WORDS ? count - first : WORDS;
        status = random_fill(random, words, size * sizeof *words);
        for (size_t i = 0; i < size && status == STATUS_OK; i++) {
            coins[first + i] = words[i] < fraction.digits ? 1 : 0;
            if (words[i] == fraction.digits) {
                status = untie(random, &coins[first + i], fraction.rest);
            }
        }
    }
    bytes_wipe(words, sizeof words);
    if (status != STATUS_OK) {
        memset(coins, 0, count);
    }
    return status;
}
