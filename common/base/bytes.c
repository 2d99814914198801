#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

bool slice_is(struct slice slice, const char *text)
{
    return slice.size == strlen(text) &&
           (slice.size == 0 || memcmp(slice.data, text, slice.size) == 0);
}

/* How many bytes a letter has that begins with this one; 0: none begins so. The ranges of RFC 3629. */
static size_t letter_bytes(unsigned char first)
{
    return first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
}

bool slice_is_utf8(struct slice slice)
{
    const unsigned char *byte = slice.data;
    for (size_t i = 0; i < slice.size;) {
        const unsigned char first = byte[i];
        const size_t size = letter_bytes(first);
        if (size == 0 || size > slice.size - i) {
            return false;
        }
        for (size_t j = 1; j < size; j++) {
            if ((byte[i + j] & 0xc0) != 0x80) {
                return false;
            }
        }
        if ((first == 0xe0 && byte[i + 1] < 0xa0) || (first == 0xed && byte[i + 1] > 0x9f) ||
            (first == 0xf0 && byte[i + 1] < 0x90) || (first == 0xf4 && byte[i + 1] > 0x8f)) {
            return false;
        }
        i += size;
    }
    return true;
}

int letters_within(const char *text, size_t most)
{
    size_t size = strnlen(text, most + 1);
    if (size > most) {
        size = most;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    return (int)size;
}

void letters_mend(char *text)
{
    enum { CUT_MOST = 3 }; /* bytes of a letter */
    size_t size = strlen(text);
    for (int cut = 0; cut < CUT_MOST && !slice_is_utf8((struct slice){text, size}); cut++) {
        size--;
    }
    text[size] = '\0';
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        difference |= (unsigned)(a->byte[i] ^ b->byte[i]);
    }
    return difference == 0;
}

bool digest_is_none(const struct digest *digest)
{
    static const struct digest none = {{0}};
    return digest_equal(digest, &none);
}

void hex_encode(char *text, const void *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *byte = data;
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[byte[i] >> 4];
        text[2 * i + 1] = digits[byte[i] & 15];
    }
    text[2 * size] = '\0';
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return -1;
}

enum status hex_decode(void *data, size_t size, const char *text)
{
    uint8_t *byte = data;
    if (strlen(text) != 2 * size) {
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < size; i++) {
        int high = hex_value(text[2 * i]);
        int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return STATUS_INVALID;
        }
        byte[i] = (uint8_t)(high * 16 + low);
    }
    return STATUS_OK;
}

void bytes_wipe(void *data, size_t size)
{
    if (size > 0) {
        explicit_bzero(data, size); /* at memset's speed: noise buffers are wiped on the hot path */
    }
}

void bytes_free(void *data, size_t size)
{
    if (data != NULL) {
        bytes_wipe(data, size);
        free(data);
    }
}

/* The address sanitizer would have the frame elsewhere. */
__attribute__((noinline, no_sanitize("address"))) void stack_wipe(void)
{
    uint8_t frame[1 << 14];
    bytes_wipe(frame, sizeof frame);
}
