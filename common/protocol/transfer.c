#include "protocol/transfer.h"

#include "base/check.h"
#include "protocol/message.h"

#include <stdlib.h>
#include <string.h>

static uint64_t chunk_at(const struct transfer *transfer, uint64_t offset)
{
    uint64_t rest = transfer->bytes - offset;
    const bool large = transfer->large_from > 0 && offset >= transfer->large_from;
    const uint64_t most = large ? transfer->piece_bytes : CHUNK_BYTES_SMALL;
    return rest < most ? rest : most;
}

enum status transfer_begin(struct transfer *transfer, uint64_t bytes, uint32_t piece_bytes,
                           int64_t now_ms)
{
    CHECK(transfer->data == NULL && bytes > 0);
    CHECK(piece_bytes >= CHUNK_BYTES_SMALL && piece_bytes <= CHUNK_BYTES_MAX);
    if (bytes > SIZE_MAX) {
        return STATUS_NO_MEMORY;
    }
    uint8_t *data = malloc((size_t)bytes);
    if (data == NULL) {
        return STATUS_NO_MEMORY;
    }
    transfer_begin_in(transfer, data, bytes, piece_bytes, now_ms);
    return STATUS_OK;
}

void transfer_begin_in(struct transfer *transfer, uint8_t *data, uint64_t bytes,
                       uint32_t piece_bytes, int64_t now_ms)
{
    CHECK(transfer->data == NULL && data != NULL && bytes > 0);
    CHECK(piece_bytes >= CHUNK_BYTES_SMALL && piece_bytes <= CHUNK_BYTES_MAX);
    *transfer = (struct transfer){.data = data,
                                  .bytes = bytes,
                                  .piece_bytes = piece_bytes,
                                  .began_ms = now_ms,
                                  .progress_ms = now_ms};
}

bool transfer_ask(struct transfer *transfer, uint64_t *offset, uint32_t *length)
{
    const uint64_t large = (uint64_t)TRANSFER_WINDOW_LARGE * transfer->piece_bytes;
    const uint64_t window = transfer->large_from == 0
                                ? (uint64_t)TRANSFER_WINDOW_SMALL * CHUNK_BYTES_SMALL
                            : large > TRANSFER_WINDOW_BYTES ? large
                                                            : TRANSFER_WINDOW_BYTES;
    if (transfer->data == NULL || transfer->asked == transfer->bytes) {
        return false;
    }
    const uint64_t next = chunk_at(transfer, transfer->asked);
    if (transfer->asked - transfer->received + next > window) {
        return false;
    }
    *offset = transfer->asked;
    *length = (uint32_t)next;
    transfer->asked += *length;
    return true;
}

/* Whether a large piece that begins here was asked for before all was asked for again. It may be on the way still. */
static bool was_asked_for(const struct transfer *transfer, uint64_t offset, size_t size)
{
    const uint64_t rest = transfer->bytes - offset;
    return offset >= transfer->before_from && offset < transfer->before &&
           (offset - transfer->before_from) % transfer->piece_bytes == 0 &&
           size == (rest < transfer->piece_bytes ? rest : transfer->piece_bytes);
}

bool transfer_accept(struct transfer *transfer, uint64_t offset, struct slice piece, int64_t now_ms)
{
    if (transfer->data == NULL || offset != transfer->received ||
        transfer->received >= transfer->asked ||
        (piece.size != chunk_at(transfer, offset) &&
         !was_asked_for(transfer, offset, piece.size))) {
        return false;
    }
    memcpy(transfer->data + offset, piece.data, piece.size);
    transfer->received += piece.size;
    transfer->asked = transfer->asked < transfer->received ? transfer->received : transfer->asked;
    transfer->retries = 0;
    transfer->progress_ms = now_ms;
    /* A piece is what shows progress: on a slow link a large one would come too late to. */
    if (transfer->received >= (uint64_t)TRANSFER_WINDOW_SMALL * CHUNK_BYTES_SMALL &&
        transfer->large_from == 0 && !transfer->slow) {
        transfer->slow = now_ms - transfer->began_ms > TRANSFER_FAST_MS;
        transfer->large_from = transfer->slow ? 0 : transfer->asked;
    }
    return true;
}

bool transfer_fill(struct transfer *transfer, struct slice whole)
{
    if (transfer->data == NULL || transfer->asked > 0 || whole.size != transfer->bytes) {
        return false;
    }
    memcpy(transfer->data, whole.data, whole.size);
    transfer->asked = whole.size;
    transfer->received = whole.size;
    return true;
}

void transfer_retry(struct transfer *transfer, int64_t now_ms)
{
    if (transfer->large_from > 0) {
        transfer->before = transfer->asked;
        transfer->before_from = transfer->large_from;
    }
    transfer->asked = transfer->received;
    transfer->large_from = 0;
    transfer->slow = true;
    transfer->retries++;
    transfer->progress_ms = now_ms;
}

int64_t transfer_wait_ms(const struct transfer *transfer, int64_t first_ms)
{
    const uint32_t doublings =
        transfer->retries < TRANSFER_WAIT_DOUBLINGS ? transfer->retries : TRANSFER_WAIT_DOUBLINGS;
    return first_ms << doublings;
}

bool transfer_is_active(const struct transfer *transfer)
{
    return transfer->data != NULL;
}

bool transfer_is_whole(const struct transfer *transfer)
{
    return transfer->data != NULL && transfer->received == transfer->bytes;
}

uint8_t *transfer_take(struct transfer *transfer)
{
    uint8_t *data = transfer->data;
    *transfer = (struct transfer){0};
    return data;
}

void transfer_drop(struct transfer *transfer)
{
    const size_t came = (size_t)transfer->received;
    uint8_t *data = transfer_take(transfer);
    if (data != NULL) {
        /* Part of an exact answer, under central trust. No more than what came: a peer could make the transfer
         * begin anew all the time, and has to send what that costs. */
        bytes_free(data, came);
    }
}
