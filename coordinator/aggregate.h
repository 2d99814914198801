/* aggregate.h - one round's sum, and the few staging vectors that answers are pulled into. An
 * answer touches the sum only when it is whole and matches its digest. Integers modulo 2^64: the
 * order of arrival cannot matter. */

#ifndef COORDINATOR_AGGREGATE_H
#define COORDINATOR_AGGREGATE_H

#include "base/bytes.h"
#include "base/status.h"
#include "protocol/machine.h"
#include "protocol/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAGING_MAX = 4, STAGING_LARGE = 2, STAGING_BYTES_SMALL = 1024 * 1024 };

struct staging {
    struct peer peer;
    struct transfer transfer;
    unsigned stalls;  /* retries since the last piece */
    int64_t began_ms; /* when the peer got this place */
    unsigned lost;    /* how often its peer had lost one to somebody who waited */
};

struct aggregate {
    int64_t *sum; /* (count) owned; NULL when no round is open */
    size_t count;
    struct staging staging[STAGING_MAX];
    size_t staging_count; /* STAGING_LARGE for large vectors: with the sum, three models */
};

/** Sets room aside for a round of count values. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_begin(struct aggregate *aggregate, size_t count);
void aggregate_free(struct aggregate *aggregate);

/** Returns whether a staging vector is free. */
bool aggregate_has_room(const struct aggregate *aggregate);

/** Starts to pull an answer of so many bytes, which encode_word_bytes_of knows; STATUS_AGAIN when all staging vectors are
 * in use, STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_pull(struct aggregate *aggregate, struct staging **out,
                                    const struct peer *peer, uint64_t bytes, int64_t now_ms);

/** Returns the staging of that peer, or NULL. */
struct staging *aggregate_find(struct aggregate *aggregate, const struct peer *peer);

/** Adds a whole answer, whose size encode_word_bytes_of knows, to the sum when it matches the digest;
 * values (count) receives it where wanted (may be NULL).
 * Fails with STATUS_CORRUPT, the sum unchanged. */
MUST_USE enum status aggregate_add(struct aggregate *aggregate, struct slice answer,
                                   const struct digest *digest, int64_t *values);

/** Returns whether every value of a whole answer is within low .. high. Reads all of them. */
bool aggregate_is_within(const struct aggregate *aggregate, struct slice answer, int64_t low,
                         int64_t high);

/** Throws a staging vector's bytes away. */
void aggregate_drop(struct staging *staging);

#endif
