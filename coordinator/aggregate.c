#include "coordinator/aggregate.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "dp/encode.h"
#include "protocol/message.h"

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

bool aggregate_has_room(const struct aggregate *aggregate)
{
    size_t used = 0;
    while (used < aggregate->staging_count &&
           transfer_is_active(&aggregate->staging[used].transfer)) {
        used++;
    }
    return used < aggregate->staging_count;
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
            return transfer_begin(&staging->transfer, bytes, CHUNK_BYTES_MAX, now_ms);
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

static int64_t value_at(struct slice answer, size_t i, unsigned word_bytes)
{
    int64_t value = 0;
    decode_words_add_plainly(&value, (const uint8_t *)answer.data + i * word_bytes, 1, word_bytes);
    return value;
}

enum status aggregate_add(struct aggregate *aggregate, struct slice answer,
                          const struct digest *digest, int64_t *values)
{
    const unsigned word_bytes = encode_word_bytes_of(answer.size, aggregate->count);

    CHECK(word_bytes > 0);
    if (!digest_is_of(digest, answer)) {
        return STATUS_CORRUPT;
    }
    decode_words_add(aggregate->sum, answer.data, aggregate->count, word_bytes);
    for (size_t i = 0; values != NULL && i < aggregate->count; i++) {
        values[i] = value_at(answer, i, word_bytes);
    }
    return STATUS_OK;
}

bool aggregate_is_within(const struct aggregate *aggregate, struct slice answer, int64_t low,
                         int64_t high)
{
    const unsigned word_bytes = encode_word_bytes_of(answer.size, aggregate->count);
    bool within = true;
    for (size_t i = 0; i < aggregate->count; i++) {
        const int64_t value = value_at(answer, i, word_bytes);
        within = ((value >= low) & (value <= high) & within) != 0;
    }
    return within;
}

void aggregate_drop(struct staging *staging)
{
    transfer_drop(&staging->transfer);
    memset(&staging->peer, 0, sizeof staging->peer);
}
