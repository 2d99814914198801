/* encode_words.c - the words that answers travel as. Eight at a time, in vectors that the compiler cuts into the
 * processor's registers. No branch and no address is by a value. */

#include "base/check.h"
#include "base/wide.h"
#include "dp/encode.h"

#include <string.h>

enum { LANES = 8 };

unsigned encode_word_bytes(uint64_t reach)
{
    return reach <= INT16_MAX ? 2 : reach <= INT32_MAX ? 4 : 8;
}

/* Rounding moves a value by half a step at most, and so to one step further than the whole steps in it. */
bool encode_fits(uint64_t reach, unsigned word_bytes, unsigned shift)
{
    return shift == 0 ? encode_word_bytes(reach) <= word_bytes
                      : word_bytes == 2 && reach >> shift < INT16_MAX;
}

unsigned encode_shift(uint64_t reach, struct noise_scale least)
{
    unsigned shift = 0;
    if (encode_word_bytes(reach) == 2 || !noise_scale_is_valid(least)) {
        return 0;
    }
    while (reach >> shift >= INT16_MAX) {
        shift++;
    }
    return (uint128)16 * least.denominator << shift <= least.numerator ? shift : 0;
}

/* A half is added where the steps in a value are odd, and one unit less than a half where they are even: modulo 2^64, as all
 * that becomes of a noisy value. */
void encode_round(int64_t *values, size_t count, unsigned shift)
{
    CHECK(shift < 63);
    const uint64_t below = shift == 0 ? 0 : (UINT64_C(1) << (shift - 1)) - 1;
    const uint64_t odd = shift == 0 ? 0 : 1;
    for (size_t i = 0; i < count; i++) {
        const uint64_t steps = (uint64_t)(values[i] >> shift);
        values[i] = (int64_t)((uint64_t)values[i] + below + (steps & odd)) >> shift;
    }
}

unsigned encode_word_bytes_of(uint64_t bytes, size_t count)
{
    for (unsigned size = 2; size <= 8; size *= 2) {
        if (bytes == (uint64_t)count * size) {
            return size;
        }
    }
    return 0;
}

void encode_words_plainly(uint8_t *out, const int64_t *values, size_t count, unsigned word_bytes)
{
    for (size_t i = 0; i < count; i++) {
        for (unsigned j = 0; j < word_bytes; j++) {
            out[i * word_bytes + j] = (uint8_t)((uint64_t)values[i] >> 8 * j);
        }
    }
}

/* The highest bit of a word counts negative. */
void decode_words_add_plainly(int64_t *sum, const uint8_t *words, size_t count, unsigned word_bytes)
{
    const uint64_t sign = UINT64_C(1) << (8 * word_bytes - 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        for (unsigned j = 0; j < word_bytes; j++) {
            word |= (uint64_t)words[i * word_bytes + j] << 8 * j;
        }
        sum[i] = (int64_t)((uint64_t)sum[i] + ((word ^ sign) - sign));
    }
}

void decode_words_add_narrow_plainly(int32_t *sum, const uint8_t *words, size_t count,
                                     unsigned word_bytes)
{
    for (size_t i = 0; i < count; i++) {
        int64_t word = 0;
        decode_words_add_plainly(&word, words + i * word_bytes, 1, word_bytes);
        sum[i] = (int32_t)((uint32_t)sum[i] + (uint32_t)word);
    }
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

typedef uint64_t wide __attribute__((vector_size(LANES * 8)));
typedef uint32_t word4 __attribute__((vector_size(LANES * 4)));
typedef uint16_t word2 __attribute__((vector_size(LANES * 2)));
typedef int64_t signed_wide __attribute__((vector_size(LANES * 8)));
typedef int32_t signed_word4 __attribute__((vector_size(LANES * 4)));
typedef int16_t signed_word2 __attribute__((vector_size(LANES * 2)));

/* clang-format off */
#define ENCODE(type)                                                                               \
    for (size_t i = 0; i < whole; i += LANES) {                                                    \
        wide from;                                                                                 \
        memcpy(&from, values + i, sizeof from);                                                    \
        const type to = __builtin_convertvector(from, type);                                       \
        memcpy(out + i * word_bytes, &to, sizeof to);                                              \
    }
#define ADD(type, total, signed_total)                                                             \
    for (size_t i = 0; i < whole; i += LANES) {                                                    \
        type from;                                                                                 \
        total to;                                                                                  \
        memcpy(&from, words + i * word_bytes, sizeof from);                                        \
        memcpy(&to, sum + i, sizeof to);                                                           \
        to += (total)__builtin_convertvector(from, signed_total);                                  \
        memcpy(sum + i, &to, sizeof to);                                                           \
    }
/* clang-format on */

void encode_words(uint8_t *out, const int64_t *values, size_t count, unsigned word_bytes)
{
    const size_t whole = count - count % LANES;
    CHECK(word_bytes == 2 || word_bytes == 4 || word_bytes == 8);
    if (word_bytes == 2) {
        ENCODE(word2)
    } else if (word_bytes == 4) {
        ENCODE(word4)
    } else if (whole > 0) {
        memcpy(out, values, whole * sizeof *values);
    }
    encode_words_plainly(out + whole * word_bytes, values + whole, count - whole, word_bytes);
}

void decode_words_add(int64_t *sum, const uint8_t *words, size_t count, unsigned word_bytes)
{
    const size_t whole = count - count % LANES;
    CHECK(word_bytes == 2 || word_bytes == 4 || word_bytes == 8);
    if (word_bytes == 2) {
        ADD(signed_word2, wide, signed_wide)
    } else if (word_bytes == 4) {
        ADD(signed_word4, wide, signed_wide)
    } else {
        ADD(signed_wide, wide, signed_wide)
    }
    decode_words_add_plainly(sum + whole, words + whole * word_bytes, count - whole, word_bytes);
}

void decode_words_add_narrow(int32_t *sum, const uint8_t *words, size_t count, unsigned word_bytes)
{
    const size_t whole = count - count % LANES;
    CHECK(word_bytes == 2 || word_bytes == 4);
    if (word_bytes == 2) {
        ADD(signed_word2, word4, signed_word4)
    } else {
        ADD(signed_word4, word4, signed_word4)
    }
    decode_words_add_narrow_plainly(sum + whole, words + whole * word_bytes, count - whole,
                                    word_bytes);
}

#else

void encode_words(uint8_t *out, const int64_t *values, size_t count, unsigned word_bytes)
{
    CHECK(word_bytes == 2 || word_bytes == 4 || word_bytes == 8);
    encode_words_plainly(out, values, count, word_bytes);
}

void decode_words_add(int64_t *sum, const uint8_t *words, size_t count, unsigned word_bytes)
{
    CHECK(word_bytes == 2 || word_bytes == 4 || word_bytes == 8);
    decode_words_add_plainly(sum, words, count, word_bytes);
}

void decode_words_add_narrow(int32_t *sum, const uint8_t *words, size_t count, unsigned word_bytes)
{
    CHECK(word_bytes == 2 || word_bytes == 4);
    decode_words_add_narrow_plainly(sum, words, count, word_bytes);
}

#endif
