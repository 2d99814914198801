/* What stands in one row of the journal beside a record's body. A row stays for ever: its bytes are counted. */

#include "io/journal_row.h"

#include "crypto/digest.h"

#include <string.h>

void journal_row_chain(struct digest *out, const struct digest *before, uint64_t sequence,
                       struct slice body, uint64_t blob_bytes, const struct digest *blob_digest)
{
    uint8_t numbers[24];
    store_u64(numbers, sequence);
    store_u64(numbers + 8, body.size);
    store_u64(numbers + 16, blob_bytes);
    struct slice part[] = {{before->byte, DIGEST_BYTES},
                           {numbers, sizeof numbers},
                           body,
                           {blob_digest->byte, DIGEST_BYTES}};
    digest_sha256(out, part, sizeof part / sizeof part[0]);
}

struct slice journal_row_shorten(uint8_t place[JOURNAL_PLACE_BYTES], struct slice body,
                                 struct slice blob, const struct digest *digest)
{
    const uint8_t *byte = body.data;

    if (blob.size == 0) {
        return (struct slice){place, 0};
    }
    for (size_t i = 0; i + DIGEST_BYTES <= body.size; i++) {
        if (byte[i] == digest->byte[0] && memcmp(byte + i, digest->byte, DIGEST_BYTES) == 0) {
            store_u32(place, (uint32_t)i);
            return (struct slice){place, JOURNAL_PLACE_BYTES};
        }
    }
    return (struct slice){digest->byte, DIGEST_BYTES};
}

bool journal_row_expand(struct digest *out, struct slice stored, struct slice body,
                        uint64_t blob_bytes)
{
    const struct slice nothing = {NULL, 0};

    if (stored.size == 0 && blob_bytes == 0) {
        digest_sha256(out, &nothing, 1);
        return true;
    }
    if (stored.size == JOURNAL_PLACE_BYTES) {
        const uint8_t *byte = stored.data;
        uint32_t place = (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
                         (uint32_t)byte[3] << 24;
        if (body.size < DIGEST_BYTES || place > body.size - DIGEST_BYTES) {
            return false;
        }
        memcpy(out->byte, (const uint8_t *)body.data + place, DIGEST_BYTES);
        return true;
    }
    if (stored.size != DIGEST_BYTES) {
        return false;
    }
    memcpy(out->byte, stored.data, DIGEST_BYTES);
    return true;
}
