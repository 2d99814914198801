#include "protocol/transfer.h"

#include "base/check.h"
#include "protocol/message.h"

#include <stdlib.h>
#include <string.h>

static uint64_t chunk_at(const struct transfer *transfer, uint64_t offset)
{
    uint64_t rest = transfer->bytes - offset;
    return rest < CHUNK_BYTES_MAX ? rest : CHUNK_BYTES_MAX;
}

enum status transfer_begin(struct transfer *transfer, uint64_t bytes, int64_t now_ms)
{
    CHECK(transfer->data == NULL && bytes > 0);
    if (bytes > SIZE_MAX) {
        return STATUS_NO_MEMORY;
    }
    uint8_t *data = malloc((size_t)bytes);
    if (data == NULL) {
        return STATUS_NO_MEMORY;
    }
    *transfer = (struct transfer){.data = data, .bytes = bytes, .progress_ms = now_ms};
    return STATUS_OK;
}

bool transfer_ask(struct transfer *transfer, uint64_t *offset, uint32_t *length)
{
    uint64_t window = (uint64_t)TRANSFER_WINDOW_CHUNKS * CHUNK_BYTES_MAX;
    if (transfer->data == NULL || transfer->asked == transfer->bytes ||
        transfer->asked - transfer->received >= window) {
        return false;
    }
    *offset = transfer->asked;
    *length = (uint32_t)chunk_at(transfer, transfer->asked);
    transfer->asked += *length;
    return true;
}

bool transfer_accept(struct transfer *transfer, uint64_t offset, struct slice piece, int64_t now_ms)
{
    if (transfer->data == NULL || offset != transfer->received ||
        transfer->received >= transfer->asked || piece.size != chunk_at(transfer, offset)) {
        return false;
    }
    memcpy(transfer->data + offset, piece.data, piece.size);
    transfer->received += piece.size;
    transfer->progress_ms = now_ms;
    return true;
}

void transfer_retry(struct transfer *transfer, int64_t now_ms)
{
    transfer->asked = transfer->received;
    transfer->progress_ms = now_ms;
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
        bytes_wipe(data, came);
        free(data);
    }
}
