/* shared.h - pieces of what many agents fetch, each sealed once for all of them. A piece has a key of its own, which each agent's
 * line tells it. So no nonce of a key comes twice, whatever is sealed again and whenever the program starts. */

#ifndef IO_SHARED_H
#define IO_SHARED_H

#include "base/random.h"
#include "io/line.h"

#include <stdint.h>

enum {
    SHARED_BYTES_LEAST = 16 * 1024,     /* smaller pieces are sealed for each agent */
    SHARED_BYTES_MAX = 1 * 1024 * 1024, /* of all that are kept, */
    SHARED_PIECES_MAX = 64,             /* and the number of pieces: the oldest makes room */
    SHARED_MS = 2000                    /* what nobody has taken for this time is dropped */
};

struct shared_piece {
    struct digest of; /* and where it begins; */
    uint64_t offset;
    struct line_shared sealed; /* held; its text is NULL: there is none here */
    size_t takers;             /* agents that may still take it; after the last one it goes */
    int64_t used_ms;
};

struct shared {
    struct shared_piece piece[SHARED_PIECES_MAX];
    size_t bytes;    /* of all */
    uint64_t sealed; /* pieces, so far */
};

/** Returns a piece (payload) of what has this digest, sealed now or before; NULL without memory or randomness. takers: how many
 * may take it, in all. It stays until shared_taken or the next call. */
struct shared_piece *shared_seal(struct shared *shared, const struct random *random,
                                 const struct digest *of, uint64_t offset, struct slice payload,
                                 size_t takers, int64_t now_ms);

/** One agent has been sent it. */
void shared_taken(struct shared *shared, struct shared_piece *piece);

/** Drops what nobody has taken lately. */
void shared_tend(struct shared *shared, int64_t now_ms);
void shared_clear(struct shared *shared);

#endif
