#include "coordinator/aggregate.h"

#include "base/check.h"
#include "crypto/digest.h"

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
                           const struct peer *peer, int64_t now_ms)
{
    for (size_t i = 0; i < aggregate->staging_count; i++) {
        struct staging *staging = &aggregate->staging[i];
        if (!transfer_is_active(&staging->transfer)) {
            *out = staging;
            staging->peer = *peer;
            staging->stalls = 0;
            staging->began_ms = now_ms;
            return transfer_begin(&staging->transfer, (uint64_t)aggregate->count * 8, now_ms);
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

enum status aggregate_add(struct aggregate *aggregate, struct staging *staging,
                          const struct digest *digest, int64_t *values)
{
    struct slice bytes = {staging->transfer.data, (size_t)staging->transfer.bytes};
    struct digest actual;
    enum status status = STATUS_CORRUPT;

    CHECK(transfer_is_whole(&staging->transfer));
    digest_sha256(&actual, &bytes, 1);
    if (digest_equal(&actual, digest)) {
        for (size_t i = 0; i < aggregate->count; i++) {
            uint64_t word = load_u64(staging->transfer.data + 8 * i);
            aggregate->sum[i] = (int64_t)((uint64_t)aggregate->sum[i] + word);
            if (values != NULL) {
                values[i] = (int64_t)word;
            }
        }
        status = STATUS_OK;
    }
    aggregate_drop(staging);
    return status;
}

bool aggregate_is_within(const struct staging *staging, int64_t low, int64_t high)
{
    bool within = true;
    for (size_t offset = 0; offset < staging->transfer.bytes; offset += 8) {
        int64_t value = (int64_t)load_u64(staging->transfer.data + offset);
        within = ((value >= low) & (value <= high) & within) != 0;
    }
    return within;
}

void aggregate_drop(struct staging *staging)
{
    transfer_drop(&staging->transfer);
    memset(&staging->peer, 0, sizeof staging->peer);
}
