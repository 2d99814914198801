#include "coordinator/aggregate.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "dp/encode.h"
#include "protocol/message.h"

#include <stdlib.h>
#include <string.h>

enum status aggregate_begin(struct aggregate *aggregate, size_t count,
                            const struct encode_form *form)
{
    const struct encode_form wanted = *form;
    CHECK(wanted.shift == 0 || wanted.sum_bytes == 4);
    CHECK(wanted.sum_bytes == 8 || wanted.word_bytes < 8);
    aggregate_free(aggregate);
    if (wanted.sum_bytes == 4) {
        aggregate->narrow = calloc(2 * count, sizeof *aggregate->narrow); /* see widen */
    } else {
        aggregate->sum = calloc(count, sizeof *aggregate->sum);
    }
    if (!aggregate_is_open(aggregate)) {
        return STATUS_NO_MEMORY;
    }
    aggregate->count = count;
    aggregate->form = wanted;
    /* By the widest words that an answer may have: plan job tells the memory. */
    aggregate->staging_count = count * 8 <= STAGING_BYTES_SMALL ? STAGING_MAX : STAGING_LARGE;
    return STATUS_OK;
}

void aggregate_free(struct aggregate *aggregate)
{
    for (size_t i = 0; i < STAGING_MAX; i++) {
        aggregate_drop(&aggregate->staging[i]);
    }
    bytes_free(aggregate->narrow, aggregate->count * sizeof *aggregate->narrow);
    bytes_free(aggregate->sum, aggregate->count * sizeof *aggregate->sum);
    *aggregate = (struct aggregate){0};
}

bool aggregate_is_open(const struct aggregate *aggregate)
{
    return aggregate->sum != NULL || aggregate->narrow != NULL;
}

static int64_t scaled(int64_t steps, unsigned shift)
{
    return (int64_t)((uint64_t)steps << shift);
}

int64_t aggregate_value(const struct aggregate *aggregate, size_t i)
{
    uint64_t value = 0;
    if (aggregate->narrow != NULL) {
        value += (uint64_t)scaled(aggregate->narrow[i], aggregate->form.shift);
    }
    if (aggregate->sum != NULL) {
        value += (uint64_t)aggregate->sum[i];
    }
    return (int64_t)value;
}

static enum status need_wide(struct aggregate *aggregate)
{
    CHECK(aggregate->count > 0); /* a round is open */
    if (aggregate->sum == NULL) {
        aggregate->sum = calloc(aggregate->count, sizeof *aggregate->sum);
    }
    return aggregate->sum != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Makes narrow values wide ones where they lie, from the last one on: there is room for 8 bytes each, so that no second sum stands
 * beside a large one. A new page of it costs nothing before it is written to. */
static void widen(struct aggregate *aggregate)
{
    uint8_t *bytes = (uint8_t *)aggregate->narrow;
    for (size_t i = aggregate->count; i-- > 0;) {
        const int64_t value = aggregate_value(aggregate, i);
        memcpy(bytes + 8 * i, &value, sizeof value);
    }
    bytes_free(aggregate->sum, aggregate->count * sizeof *aggregate->sum);
    aggregate->sum = (int64_t *)(void *)bytes;
    aggregate->narrow = NULL;
}

enum status aggregate_take(struct aggregate *aggregate, int64_t **sum)
{
    for (size_t i = 0; i < STAGING_MAX; i++) {
        aggregate_drop(&aggregate->staging[i]);
    }
    if (aggregate->narrow != NULL) {
        widen(aggregate);
    }
    const enum status status = need_wide(aggregate);
    if (status == STATUS_OK) {
        *sum = aggregate->sum;
        aggregate->sum = NULL;
        aggregate_free(aggregate);
    }
    return status;
}

enum status aggregate_pack(struct aggregate *aggregate, uint8_t **out, size_t *size)
{
    *size = 8 * aggregate->count;
    *out = malloc(*size);
    if (*out == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < aggregate->count; i++) {
        store_u64(*out + 8 * i, (uint64_t)aggregate_value(aggregate, i));
    }
    if (aggregate->narrow != NULL) {
        memset(aggregate->narrow, 0, aggregate->count * sizeof *aggregate->narrow);
    }
    if (aggregate->sum != NULL) {
        memset(aggregate->sum, 0, aggregate->count * sizeof *aggregate->sum);
    }
    return STATUS_OK;
}

bool aggregate_fits(const struct aggregate *aggregate, uint64_t part_bytes)
{
    return part_bytes == 8 * (uint64_t)aggregate->count;
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

static enum status begin_transfer(struct staging *staging, uint64_t bytes, int64_t now_ms)
{
    uint8_t *room = staging->spare;
    staging->spare = NULL;
    if (room != NULL && staging->spare_bytes == bytes) {
        transfer_begin_in(&staging->transfer, room, bytes, CHUNK_BYTES_MAX, now_ms);
        return STATUS_OK;
    }
    free(room);
    return transfer_begin(&staging->transfer, bytes, CHUNK_BYTES_MAX, now_ms);
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
            staging->half_ms = 0;
            staging->began_ms = now_ms;
            return begin_transfer(staging, bytes, now_ms);
        }
    }
    return STATUS_AGAIN;
}

/* Answers of narrower words are no longer than what the round's end needs beside its sum. */
static bool is_widest(const struct aggregate *aggregate, const struct staging *staging)
{
    return transfer_is_active(&staging->transfer) &&
           staging->transfer.bytes > STAGING_BYTES_SMALL &&
           staging->transfer.bytes == sizeof(int64_t) * aggregate->count;
}

void aggregate_note_piece(const struct aggregate *aggregate, struct staging *staging,
                          int64_t now_ms)
{
    staging->stalls = 0;
    if (staging->half_ms == 0 && is_widest(aggregate, staging) &&
        staging->transfer.received >= staging->transfer.bytes / 2) {
        staging->half_ms = now_ms;
    }
}

int64_t aggregate_holds_until_ms(const struct aggregate *aggregate, const struct staging *staging)
{
    for (size_t i = 0; i < aggregate->staging_count; i++) {
        const struct staging *other = &aggregate->staging[i];
        const uint64_t ahead = other->transfer.received;
        if (other != staging && staging->half_ms != 0 && other->half_ms != 0 &&
            transfer_is_active(&other->transfer) &&
            (ahead > staging->transfer.received ||
             (ahead == staging->transfer.received && other < staging))) {
            return staging->half_ms + STAGING_HELD_MS;
        }
    }
    return INT64_MIN;
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

/* shift: what a word's steps are worth. */
static int64_t value_at(struct slice words, size_t i, unsigned word_bytes, unsigned shift)
{
    int64_t value = 0;
    decode_words_add_plainly(&value, (const uint8_t *)words.data + i * word_bytes, 1, word_bytes);
    return scaled(value, shift);
}

/* Words as wide as the text says, or less, go into a narrow sum. Wider ones may hold more than it has room for, and count the
 * grid's steps: a wide sum stands beside it from then on. An agent that sends one so slows down no other agent's. */
static enum status add_words(struct aggregate *aggregate, struct slice words, unsigned word_bytes)
{
    if (aggregate->narrow != NULL && word_bytes <= aggregate->form.word_bytes) {
        decode_words_add_narrow(aggregate->narrow, words.data, aggregate->count, word_bytes);
        return STATUS_OK;
    }
    const enum status status = need_wide(aggregate);
    if (status == STATUS_OK) {
        decode_words_add(aggregate->sum, words.data, aggregate->count, word_bytes);
    }
    return status;
}

unsigned aggregate_shift(const struct aggregate *aggregate, unsigned word_bytes)
{
    return word_bytes == aggregate->form.word_bytes ? aggregate->form.shift : 0;
}

enum status aggregate_add(struct aggregate *aggregate, struct slice answer,
                          const struct digest *digest, int64_t *values)
{
    const unsigned word_bytes = encode_word_bytes_of(answer.size, aggregate->count);
    const unsigned shift = aggregate_shift(aggregate, word_bytes);

    CHECK(word_bytes > 0);
    if (!digest_is_of(digest, answer)) {
        return STATUS_CORRUPT;
    }
    for (size_t i = 0; values != NULL && i < aggregate->count; i++) {
        values[i] = value_at(answer, i, word_bytes, shift);
    }
    return add_words(aggregate, answer, word_bytes);
}

enum status aggregate_add_part(struct aggregate *aggregate, struct slice part)
{
    CHECK(aggregate_fits(aggregate, part.size));
    return add_words(aggregate, part, 8);
}

bool aggregate_is_within(const struct aggregate *aggregate, struct slice answer, int64_t low,
                         int64_t high)
{
    const unsigned word_bytes = encode_word_bytes_of(answer.size, aggregate->count);
    bool within = true;
    for (size_t i = 0; i < aggregate->count; i++) {
        const int64_t value = value_at(answer, i, word_bytes, 0); /* exact: it has no steps */
        within = ((value >= low) & (value <= high) & within) != 0;
    }
    return within;
}

void aggregate_drop(struct staging *staging)
{
    transfer_drop(&staging->transfer);
    free(staging->spare);
    staging->spare = NULL;
    memset(&staging->peer, 0, sizeof staging->peer);
}

void aggregate_clear(const struct aggregate *aggregate, struct staging *staging)
{
    const uint64_t bytes = staging->transfer.bytes;
    const bool keeps = staging->spare == NULL && transfer_is_whole(&staging->transfer) &&
                       bytes > STAGING_BYTES_SMALL && !is_widest(aggregate, staging);
    uint8_t *room = keeps ? transfer_take(&staging->transfer) : NULL;
    if (room == NULL) {
        aggregate_drop(staging);
        return;
    }
    bytes_wipe(room, (size_t)bytes);
    aggregate_drop(staging);
    staging->spare = room;
    staging->spare_bytes = bytes;
}
