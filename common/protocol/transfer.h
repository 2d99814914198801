/* transfer.h - the receiving side of a chunked move: what to ask for next, and what has arrived.
 * Used by the coordinator to pull answers and by agents to fetch the job's text and the experts. */

#ifndef PROTOCOL_TRANSFER_H
#define PROTOCOL_TRANSFER_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TRANSFER_WINDOW_SMALL = 4, /* pieces in flight, while they are small */
    TRANSFER_WINDOW_LARGE = 2, /* large ones, or more of them: */
    /* What 10 Mbit/s carry in 200 ms there and back, and a piece more: such a link stays in use. */
    TRANSFER_WINDOW_BYTES = 384 * 1024,
    /* The largest piece where all agents ask at once: what they ask for waits at the coordinator. */
    TRANSFER_FETCH_BYTES = 128 * 1024,
    /* What waits at a coordinator for all agents together: beyond it they wait for their turn. */
    TRANSFER_WAITING_BYTES = 256 * 1024 * 1024,
    TRANSFER_FAST_MS = 1000, /* pieces grow where the first window came within this */
    TRANSFER_WAIT_DOUBLINGS = 3
};

struct transfer {
    uint8_t *data;        /* (bytes) owned; NULL when idle */
    uint64_t bytes;       /* > 0 when active */
    uint64_t received;    /* how many from the start are here */
    uint64_t asked;       /* how many from the start have been asked for */
    uint32_t piece_bytes; /* of a large piece */
    uint64_t large_from;  /* pieces from here on are large; 0: none is */
    bool slow;            /* pieces stay small */
    uint64_t before;      /* how many had been asked for when the pieces got small, */
    uint64_t before_from; /* large ones from here on: those that come count */
    uint32_t retries;     /* since the last piece */
    int64_t began_ms;
    int64_t
        progress_ms; /* when the last piece arrived, was asked for again, or the transfer began */
};

/** Sets room aside and starts; pieces grow to at most piece_bytes, which are CHUNK_BYTES_SMALL or more.
 * Fails with STATUS_NO_MEMORY. CHECKs that it is idle, bytes > 0. */
MUST_USE enum status transfer_begin(struct transfer *transfer, uint64_t bytes, uint32_t piece_bytes,
                                    int64_t now_ms);

/** The same with room that there is already: data (bytes), which the transfer owns from then on. */
void transfer_begin_in(struct transfer *transfer, uint8_t *data, uint64_t bytes,
                       uint32_t piece_bytes, int64_t now_ms);

/** Returns whether there is a piece to ask for now (the window is open), and which; it then counts
 * as asked. */
bool transfer_ask(struct transfer *transfer, uint64_t *offset, uint32_t *length);

/** Takes a piece that has arrived. Returns false, with nothing changed, when it is not exactly what
 * comes next: old, doubled, out of order, of another size than asked for. A large piece that was asked
 * for before the pieces got small is one that was asked for. */
bool transfer_accept(struct transfer *transfer, uint64_t offset, struct slice piece,
                     int64_t now_ms);

/** Takes all of it at once, as it came with what named it. Returns false, with nothing changed, when it is of another size
 * or the transfer has asked for something. */
bool transfer_fill(struct transfer *transfer, struct slice whole);

/** Asks again for whatever was asked for and has not come, from now on in small pieces. */
void transfer_retry(struct transfer *transfer, int64_t now_ms);

/** Returns how long to wait for progress before asking again: first_ms, twice as long after each time that
 * it was asked again in vain, and at most TRANSFER_WAIT_DOUBLINGS times. A piece that comes begins anew. */
int64_t transfer_wait_ms(const struct transfer *transfer, int64_t first_ms);

bool transfer_is_active(const struct transfer *transfer);
bool transfer_is_whole(const struct transfer *transfer);

/** Hands the bytes to the caller, who frees them; the transfer is idle again. */
uint8_t *transfer_take(struct transfer *transfer);

/** Wipes and throws away what has arrived; the transfer is idle. Cost O(received). */
void transfer_drop(struct transfer *transfer);

#endif
