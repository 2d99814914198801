#include "coordinator/aggregate.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "dp/encode.h"

#include <stdlib.h>
#include <string.h>

enum status aggregate_begin(struct aggregate *aggregate, size_t count)
{
    aggregate_free(aggregate);
    aggregate->sum = calloc(count, sizeof *aggregate->sum);
    if (aggregate->sum == NULL) {
        return STATUS_NO_MEMORY;
    }
    aggregate->count = count;
    aggregate->staging_count = count * 8 <= STAGING_BYTES_SMALL ? STAGING_MAX : STAGING_LARGE;
    return STATUS_OK;
}

void aggregate_free(struct aggregate *aggregate)
{
    for (size_t i = 0; i < STAGING_MAX; i++) {
        aggregate_drop(&aggregate->staging[i]);
    }
    if (aggregate->sum != NULL) {
        bytes_wipe(aggregate->sum, aggregate->count * sizeof *aggregate->sum);
        free(aggregate->sum);
    }
    *aggregate = (struct aggregate){0};
}

enum status aggregate_pull(struct aggregate *aggregate, struct staging **out,
                           const struct peer *peer, uint64_t bytes, int64_t now_ms)
{
    CHECK(encode_word_bytes_of(bytes, aggregate->count) > 0);
    for (size_t i = 0; i < aggregate->staging_count; i++) {
        struct staging *staging = &aggregate->staging[i];
        if (!transfer_is_active(&staging->transfer)) {
            *out = staging;
            staging->peer = *peer;
            staging->stalls = 0;
            staging->began_ms = now_ms;
            return transfer_begin(&staging->transfer, bytes, now_ms);
        }
    }
    return STATUS_AGAIN;
}

struct staging *aggregate_find(struct aggregate *aggregate, const struct peer *peer)
{
    for (size_t i = 0; i < aggregate->staging_count; i++) {
        struct staging *staging = &aggregate->staging[i];
        if (transfer_is_active(&staging->transfer) && strcmp(staging->peer.name, peer->name) == 0) {
            return staging;
        }
    }
    return NULL;
}

static unsigned word_bytes_of(const struct aggregate *aggregate, const struct staging *staging)
{
    return encode_word_bytes_of(staging->transfer.bytes, aggregate->count);
}

static int64_t value_at(const struct staging *staging, size_t i, unsigned word_bytes)
{
    int64_t value = 0;
    decode_words_add_plainly(&value, staging->transfer.data + i * word_bytes, 1, word_bytes);
    return value;
}

enum status aggregate_add(struct aggregate *aggregate, struct staging *staging,
                          const struct digest *digest, int64_t *values)
{
    struct slice bytes = {staging->transfer.data, (size_t)staging->transfer.bytes};
    struct digest actual;
    enum status status = STATUS_CORRUPT;

    const unsigned word_bytes = word_bytes_of(aggregate, staging);
    CHECK(transfer_is_whole(&staging->transfer));
    digest_sha256(&actual, &bytes, 1);
    if (digest_equal(&actual, digest)) {
        decode_words_add(aggregate->sum, staging->transfer.data, aggregate->count, word_bytes);
        for (size_t i = 0; values != NULL && i < aggregate->count; i++) {
            values[i] = value_at(staging, i, word_bytes);
        }
        status = STATUS_OK;
    }
    aggregate_drop(staging);
    return status;
}

bool aggregate_is_within(const struct aggregate *aggregate, const struct staging *staging,
                         int64_t low, int64_t high)
{
    const unsigned word_bytes = word_bytes_of(aggregate, staging);
    bool within = true;
    for (size_t i = 0; i < aggregate->count; i++) {
        const int64_t value = value_at(staging, i, word_bytes);
        within = ((value >= low) & (value <= high) & within) != 0;
    }
    return within;
}

void aggregate_drop(struct staging *staging)
{
    transfer_drop(&staging->transfer);
    memset(&staging->peer, 0, sizeof staging->peer);
}
