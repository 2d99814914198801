/* laplace.c - discrete Laplace noise as the difference of two geometric variables, each drawn digit
 * by digit.
 *
 * If P(G = k) = (1 - p) p^k with p = exp(-1/s), the digits of G in base 16 are independent: digit j
 * has P(d) = q^d (1 - q) / (1 - q^16) with q = p^(16^j), and what lies above the last digit is
 * geometric again. That follows from p^k = the product of p^(digit j * 16^j). (In base 2 this is
 * the known P(bit i = 1) = p^(2^i) / (1 + p^(2^i)); base 16 needs a quarter of the random words.)
 * The difference of two such variables is the discrete Laplace variable (Inusah and Kozubowski
 * 2006; its role in privacy: Ghosh, Roughgarden, Sundararajan, STOC 2009). What is exact, and why
 * it matters: Canonne, Kamath, Steinke, NeurIPS 2020, and Mironov, CCS 2012.
 *
 * The last digit takes everything above it along: P(d) = q^d (1 - q) for every d. There are so many
 * digits that d >= 16 has a probability below 2^-60.
 *
 * One 64-bit word decides a digit. The 2^64 words are dealt out: floor(2^64 P(d)) of them (or one
 * fewer) mean d, and the few left over mean "ask laplace_exact.c", which draws from exactly what is
 * missing, with as many more random bits as it takes. So P(d) is met with no error at all, though
 * only integers are compared. The dealing is Walker's alias table with seventeen outcomes in
 * sixteen cells.
 *
 * Deviation from CKS20: none in distribution. Their sampler loops as often as the value drawn is
 * large (reference.c); this one draws the same number of words and takes the same path
 * whatever comes out, but on the exact path, whose probability is below 2^-55 per value. */

#include "noise/laplace_private.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/wide.h"

#include <string.h>

enum {
    OUTCOMES = NOISE_BASE + 1,
    CELL_BITS = 60,
    BLOCK_WORDS = 128 * NOISE_DIGITS_MAX, /* drawn at once: 12 KiB */
    BLOCK_VALUES = 256                    /* at most, of two variables each */
};

#define CELL (UINT64_C(1) << CELL_BITS)

/* The number of digits at which the weight above the last, 16^count, is at least 42 scales:
 * exp(-42) < 2^-60. */
static size_t digits_needed(struct noise_scale scale)
{
    uint128 needed = 42 * (uint128)scale.numerator;
    uint128 weight = (uint128)scale.denominator * NOISE_BASE;
    size_t count = 1;
    while (weight < needed) {
        weight *= NOISE_BASE;
        count++;
    }
    return count;
}

enum status noise_laplace_init(struct noise_laplace *noise, struct noise_scale scale)
{
    memset(noise, 0, sizeof *noise);
    if (!noise_scale_is_valid(scale)) {
        return STATUS_INVALID;
    }
    noise->scale = scale;
    noise->digit_count = digits_needed(scale);
    CHECK(noise->digit_count <= NOISE_DIGITS_MAX);
    for (size_t i = 0; i < noise->digit_count; i++) {
        noise_exact_mass(&noise->digit[i], noise, i);
        noise_digit_cells(&noise->digit[i]);
    }
    return STATUS_OK;
}

/* n outcomes with n - 1 cells' worth of mass: the smallest has less than a cell, and the largest at
 * least what it lacks (else all n together would have less than n - 1 cells). The two fill a cell,
 * the smallest is gone, and n - 1 outcomes with n - 2 cells' worth remain. */
void noise_digit_cells(struct noise_digit *digit)
{
    uint64_t rest[OUTCOMES];
    bool gone[OUTCOMES] = {false};
    memcpy(rest, digit->mass, sizeof digit->mass);
    rest[NOISE_LEFT] = digit->left;

    for (size_t cell = 0; cell < NOISE_BASE; cell++) {
        size_t small = OUTCOMES;
        size_t large = OUTCOMES;
        for (size_t i = 0; i < OUTCOMES; i++) {
            if (!gone[i] && (small == OUTCOMES || rest[i] < rest[small])) {
                small = i;
            }
        }
        for (size_t i = 0; i < OUTCOMES; i++) {
            if (!gone[i] && i != small && (large == OUTCOMES || rest[i] > rest[large])) {
                large = i;
            }
        }
        CHECK(rest[small] <= CELL && rest[large] >= CELL - rest[small]);
        digit->threshold[cell] = rest[small];
        digit->outcome[0][cell] = (uint8_t)small;
        digit->outcome[1][cell] = (uint8_t)large;
        rest[large] -= CELL - rest[small];
        gone[small] = true;
    }
}

static inline uint64_t digit_of(const struct noise_digit *digit, uint64_t word)
{
    size_t cell = (size_t)(word >> CELL_BITS);
    return digit->outcome[(word & (CELL - 1)) >= digit->threshold[cell]][cell];
}

/* Puts right the variables in which some digit was left over; rarely more than never. */
static enum status draw_left_over(const struct noise_laplace *noise, const struct random *random,
                                  uint64_t *geometric, size_t count, const uint64_t *word)
{
    for (size_t position = 0; position < noise->digit_count; position++) {
        for (size_t i = 0; i < count; i++) {
            if (digit_of(&noise->digit[position], word[position * count + i]) != NOISE_LEFT) {
                continue;
            }
            uint64_t digit = 0;
            enum status status = noise_exact_draw(noise, random, position, &digit);
            if (status != STATUS_OK) {
                return status;
            }
            geometric[i] += (digit - NOISE_LEFT) << (4 * position); /* modulo 2^64 */
        }
    }
    return STATUS_OK;
}

/* geometric (count): independent geometric variables. word (digit_count, count): one word per
 * digit. */
static enum status draw_geometric(const struct noise_laplace *noise, const struct random *random,
                                  uint64_t *geometric, size_t count, uint64_t *word)
{
    enum status status = random_fill(random, word, noise->digit_count * count * sizeof *word);
    if (status != STATUS_OK) {
        return status;
    }
    uint64_t any = 0;
    memset(geometric, 0, count * sizeof *geometric);
    for (size_t position = 0; position < noise->digit_count; position++) {
        const struct noise_digit *digit = &noise->digit[position];
        for (size_t i = 0; i < count; i++) {
            uint64_t value = digit_of(digit, word[position * count + i]);
            any |= value;
            geometric[i] += value << (4 * position);
        }
    }
    return (any & NOISE_LEFT) == 0 ? STATUS_OK
                                   : draw_left_over(noise, random, geometric, count, word);
}

enum status noise_laplace_add(const struct noise_laplace *noise, const struct random *random,
                              int64_t *values, size_t count)
{
    uint64_t word[BLOCK_WORDS];
    uint64_t geometric[2 * BLOCK_VALUES];
    enum status status = STATUS_OK;

    CHECK(noise->digit_count > 0 && noise->digit_count <= NOISE_DIGITS_MAX);
    size_t whole = BLOCK_WORDS / (2 * noise->digit_count);
    whole = whole < BLOCK_VALUES ? whole : BLOCK_VALUES;
    for (size_t done = 0; done < count && status == STATUS_OK; done += whole) {
        size_t block = count - done < whole ? count - done : whole;
        status = draw_geometric(noise, random, geometric, 2 * block, word);
        for (size_t i = 0; status == STATUS_OK && i < block; i++) {
            uint64_t drawn = geometric[i] - geometric[block + i];
            values[done + i] = (int64_t)((uint64_t)values[done + i] + drawn);
        }
    }
    if (status != STATUS_OK) {
        memset(values, 0, count * sizeof *values); /* part of it may be without noise */
    }
    bytes_wipe(word, sizeof word); /* whoever knows the noise knows the answer */
    bytes_wipe(geometric, sizeof geometric);
    return status;
}

enum status noise_laplace_draw(const struct noise_laplace *noise, const struct random *random,
                               int64_t *values, size_t count)
{
    if (count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return noise_laplace_add(noise, random, values, count);
}
