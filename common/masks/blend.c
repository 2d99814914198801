/* Eight words at a time, in vectors that the compiler cuts into the processor's registers. AES makes
 * a stream's words at a fifth of this speed, so wider registers would gain nothing. */

#include "masks/blend.h"

#include <string.h>

enum { LANES = 8 };

typedef uint64_t wide __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef uint32_t narrow __attribute__((vector_size(LANES * sizeof(uint32_t))));

static uint64_t word_of(const uint8_t *stream, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++) {
        word |= (uint64_t)stream[i] << 8 * i;
    }
    return word;
}

void masks_blend_plainly(uint64_t *words, const uint8_t *stream, size_t count,
                         enum masks_width width, bool subtract)
{
    const size_t bytes = (size_t)width / 8;
    const uint64_t ones = UINT64_MAX >> (64 - (unsigned)width);
    for (size_t i = 0; i < count; i++) {
        const uint64_t part = word_of(stream + i * bytes, bytes);
        words[i] = (subtract ? words[i] - part : words[i] + part) & ones;
    }
}

void masks_blend_narrow_plainly(uint32_t *words, const uint8_t *stream, size_t count, bool subtract)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t part = (uint32_t)word_of(stream + i * sizeof part, sizeof part);
        words[i] = subtract ? words[i] - part : words[i] + part;
    }
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* (x ^ -1) - -1 is -x. */
static void blend_wide(uint64_t *words, const uint8_t *stream, size_t count, uint64_t flip)
{
    for (size_t i = 0; i < count; i += LANES) {
        wide sum;
        wide part;
        memcpy(&sum, words + i, sizeof sum);
        memcpy(&part, stream + i * sizeof(uint64_t), sizeof part);
        sum += (part ^ flip) - flip;
        memcpy(words + i, &sum, sizeof sum);
    }
}

static void blend_reduced(uint64_t *words, const uint8_t *stream, size_t count, uint64_t flip)
{
    for (size_t i = 0; i < count; i += LANES) {
        wide sum;
        narrow part;
        memcpy(&sum, words + i, sizeof sum);
        memcpy(&part, stream + i * sizeof(uint32_t), sizeof part);
        sum = (sum + ((__builtin_convertvector(part, wide) ^ flip) - flip)) & UINT32_MAX;
        memcpy(words + i, &sum, sizeof sum);
    }
}

void masks_blend(uint64_t *words, const uint8_t *stream, size_t count, enum masks_width width,
                 bool subtract)
{
    const uint64_t flip = subtract ? UINT64_MAX : 0;
    const size_t whole = count - count % LANES;
    if (width == MASKS_64) {
        blend_wide(words, stream, whole, flip);
    } else {
        blend_reduced(words, stream, whole, flip);
    }
    masks_blend_plainly(words + whole, stream + whole * ((size_t)width / 8), count - whole, width,
                        subtract);
}

void masks_blend_narrow(uint32_t *words, const uint8_t *stream, size_t count, bool subtract)
{
    const uint32_t flip = subtract ? UINT32_MAX : 0;
    const size_t whole = count - count % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        narrow sum;
        narrow part;
        memcpy(&sum, words + i, sizeof sum);
        memcpy(&part, stream + i * sizeof(uint32_t), sizeof part);
        sum += (part ^ flip) - flip;
        memcpy(words + i, &sum, sizeof sum);
    }
    masks_blend_narrow_plainly(words + whole, stream + whole * sizeof(uint32_t), count - whole,
                               subtract);
}

#else

void masks_blend(uint64_t *words, const uint8_t *stream, size_t count, enum masks_width width,
                 bool subtract)
{
    masks_blend_plainly(words, stream, count, width, subtract);
}

void masks_blend_narrow(uint32_t *words, const uint8_t *stream, size_t count, bool subtract)
{
    masks_blend_narrow_plainly(words, stream, count, subtract);
}

#endif
