/* aggregate.h - one round's sum, and the few staging vectors that answers are pulled into. An
 * answer touches the sum only when it is whole and matches its digest. Integers modulo 2^64, or modulo 2^32 where public bounds
 * keep every sum below that: the order of arrival cannot matter. */

#ifndef COORDINATOR_AGGREGATE_H
#define COORDINATOR_AGGREGATE_H

#include "base/bytes.h"
#include "base/status.h"
#include "dp/encode.h"
#include "protocol/machine.h"
#include "protocol/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STAGING_MAX = 4,
    STAGING_LARGE = 2,
    STAGING_BYTES_SMALL = 1024 * 1024,
    STAGING_HELD_MS = 500 /* the longest that an answer waits for one that is ahead of it */
};

struct staging {
    struct peer peer;
    struct transfer transfer;
    unsigned stalls;  /* retries since the last piece */
    int64_t began_ms; /* when the peer got this place */
    unsigned lost;    /* how often its peer had lost one to somebody who waited */
    uint8_t *spare;   /* (spare_bytes) owned: room of the answer before; NULL: there is none */
    uint64_t spare_bytes;
    int64_t half_ms; /* when half of a large answer of the widest words was there; 0: it is not */
};

/* A round is open if one of the two sums is there. If both are, the round's is what they add up to. */
struct aggregate {
    int64_t *sum;    /* (count) owned, in grid steps */
    int32_t *narrow; /* (count) owned, in steps of 2^shift of the grid's: where sums have 4 bytes */
    size_t count;
    struct encode_form form;
    struct staging staging[STAGING_MAX];
    size_t staging_count; /* STAGING_LARGE for large vectors: with the sum, three models */
};

/** Sets room aside for a round of count values. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_begin(struct aggregate *aggregate, size_t count,
                                     const struct encode_form *form);
void aggregate_free(struct aggregate *aggregate);
bool aggregate_is_open(const struct aggregate *aggregate);

/** Returns one value of the sum, in grid steps. */
int64_t aggregate_value(const struct aggregate *aggregate, size_t i);

/** Ends the round: *sum (count) is the caller's, in grid steps. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_take(struct aggregate *aggregate, int64_t **sum);

/** Packs the sum of a part of the round for the coordinator that leads it, in words of 8 bytes of the grid's steps, so that two
 * versions of the program cannot differ about their width; and begins a further part at zero. *out is the caller's.
 * Fails with STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_pack(struct aggregate *aggregate, uint8_t **out, size_t *size);

/** Adds what aggregate_pack made; size is one that aggregate_fits. Fails with STATUS_NO_MEMORY, the sum unchanged. */
MUST_USE enum status aggregate_add_part(struct aggregate *aggregate, struct slice part);
bool aggregate_fits(const struct aggregate *aggregate, uint64_t part_bytes);

/** Returns whether a staging vector is free. */
bool aggregate_has_room(const struct aggregate *aggregate);

/** Starts to pull an answer of that many bytes, which encode_word_bytes_of knows; STATUS_AGAIN when all staging vectors are
 * in use, STATUS_NO_MEMORY. */
MUST_USE enum status aggregate_pull(struct aggregate *aggregate, struct staging **out,
                                    const struct peer *peer, uint64_t bytes, int64_t now_ms);

/** Returns the staging of that peer, or NULL. */
struct staging *aggregate_find(struct aggregate *aggregate, const struct peer *peer);

/** Notes that a piece has come. */
void aggregate_note_piece(const struct aggregate *aggregate, struct staging *staging,
                          int64_t now_ms);

/** Returns until when an answer is asked for no more pieces; INT64_MIN: it is asked. Two large answers of the widest words that
 * come at the same rate would both be whole beside the sum. So the second half of one waits for the other, which has both ends'
 * time meanwhile; but not for long, whatever the other sends. */
int64_t aggregate_holds_until_ms(const struct aggregate *aggregate, const struct staging *staging);

/** Returns how many grid steps one step of words of this size is, as a power of 2. An offer says it too. */
unsigned aggregate_shift(const struct aggregate *aggregate, unsigned word_bytes);

/** Adds a whole answer, whose size encode_word_bytes_of knows, to the sum when it matches the digest;
 * values (count) receives it in grid steps where wanted (may be NULL). An answer of wider words than the job's text gives it, made
 * by an earlier program, counts grid steps.
 * Fails with STATUS_CORRUPT, STATUS_NO_MEMORY, the sum unchanged. */
MUST_USE enum status aggregate_add(struct aggregate *aggregate, struct slice answer,
                                   const struct digest *digest, int64_t *values);

/** Returns whether every value of a whole answer is within low .. high. Reads all of them. */
bool aggregate_is_within(const struct aggregate *aggregate, struct slice answer, int64_t low,
                         int64_t high);

/** Throws a staging vector's bytes away. */
void aggregate_drop(struct staging *staging);

/** The same after an answer that was looked at: others of its size may follow. Its room, wiped, stays for the next one until the
 * round ends, as fresh pages cost more than a twentieth of a large round. Room of the widest words goes: three accumulators would
 * never be less than full. */
void aggregate_clear(const struct aggregate *aggregate, struct staging *staging);

#endif
