/* bytes.h - borrowed byte ranges, little-endian words, hexadecimal, wiping. */

#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32 };

/* A borrowed range of bytes; data may be NULL when size is 0. */
struct slice {
    const void *data;
    size_t size;
};

/** Returns whether the bytes are the text's, without its final zero. */
bool slice_is(struct slice slice, const char *text);

/** Returns whether the bytes are UTF-8 text: none cut off, overlong, a surrogate or beyond U+10FFFF. */
bool slice_is_utf8(struct slice slice);

/** Returns how many bytes of a UTF-8 text, at most `most`, are whole letters: for "%.*s". */
int letters_within(const char *text, size_t most);

/** Takes off what is left of a last letter that was cut, of a text that was UTF-8 before. */
void letters_mend(char *text);

/* A SHA-256 digest, or a 32-byte key or identifier. All zero means "none". */
struct digest {
    uint8_t byte[DIGEST_BYTES];
};

/** Questions about digests; comparison takes the same time wherever they differ. */
bool digest_equal(const struct digest *a, const struct digest *b);
bool digest_is_none(const struct digest *digest);

/** Writes 2 * size hexadecimal digits and a final zero to text. */
void hex_encode(char *text, const void *data, size_t size);

/** Reads exactly size bytes from 2 * size hexadecimal digits. Fails with STATUS_INVALID. */
MUST_USE enum status hex_decode(void *data, size_t size, const char *text);

/** Overwrites memory in a way the compiler keeps. */
void bytes_wipe(void *data, size_t size);

/** Overwrites malloc'd memory of that size, and frees it; does nothing on NULL. */
void bytes_free(void *data, size_t size);

/** Overwrites 16 KiB of the stack under its caller: what functions that have returned kept there,
 * other libraries' and saved registers among it. To be called after the last of them. */
void stack_wipe(void);

static inline void store_u32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

static inline void store_u64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

static inline uint64_t load_u64(const uint8_t *in)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value |= (uint64_t)in[i] << (8 * i);
    }
    return value;
}

#endif
