/* masks.h - the masks of one round's answers. Every pair of sites shares a stream, which one adds and the
 * other subtracts, and every site has a stream of its own. In the sum over a roster the streams of pairs
 * vanish; what survivors reveal removes the rest.
 *
 * Source: Bonawitz et al., CCS 2017. Deviation: seeds are not shared out; a site reveals them itself. */

#ifndef MASKS_MASKS_H
#define MASKS_MASKS_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stddef.h>
#include <stdint.h>

/* What all sites of a round agree on. */
struct masks_round {
    struct digest roster; /* rho: names, keys, commitments, n, c, h and w */
    struct digest
        invitation; /* inv: job, round and input, so that answers to different questions never
                                 cancel */
};

/* Bits of a word; sums are taken modulo 2^bits. */
enum masks_width { MASKS_32 = 32, MASKS_64 = 64 };

/** The commitment to the seed of a site's own mask: SHA-256 of label, job, round, length and name, seed. */
void masks_commit(struct digest *out, const struct digest *job, uint64_t round, struct slice name,
                  const struct digest *seed);

/** The key of a site's own stream. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_self_key(struct digest *out, const struct digest *seed,
                                    const struct masks_round *round);

/**
 * The key of the stream of two sites, the same on both sides.
 *
 * own, other  in  ranks, different
 *
 * Fails with STATUS_INVALID (a key that shares nothing), STATUS_NO_MEMORY.
 */
MUST_USE enum status masks_pair_key(struct digest *out, const struct digest *secret_key,
                                    const struct digest *public_key, unsigned own, unsigned other,
                                    const struct masks_round *round);

/**
 * Adds or subtracts a stream.
 *
 * words  in/out  (count) reduced modulo 2^width
 *
 * Fails with STATUS_NO_MEMORY; the words are then zeroed.
 * Cost: one AES-256 block for 16 / (width / 8) words.
 */
MUST_USE enum status masks_add(uint64_t *words, size_t count, enum masks_width width,
                               const struct digest *key);
MUST_USE enum status masks_subtract(uint64_t *words, size_t count, enum masks_width width,
                                    const struct digest *key);

/** The same modulo 2^32, of words that are 32 bits wide where they are, too. */
MUST_USE enum status masks_add_narrow(uint32_t *words, size_t count, const struct digest *key);
MUST_USE enum status masks_subtract_narrow(uint32_t *words, size_t count, const struct digest *key);

/* How many sites a masked sum needs. Each site of a round adds a share of one noise, made for
 * `honest` survivors, and hides its answer under masks that vanish in the sum. */

enum { MASKS_SITES_MAX = 255 };

struct masks_quorum {
    uint64_t sites;      /* n, of a round's roster */
    uint64_t dishonest;  /* c: may help the coordinator, or subtract their own shares */
    uint64_t honest;     /* h: as many shares are one whole noise */
    uint64_t least;      /* m = h + c: fewest survivors among whom h are honest */
    uint64_t signatures; /* t = floor((n + c)/2) + 1: of a list of survivors, before it is opened */
    uint64_t opens_at;   /* the larger of the two: fewest survivors whose sum is opened */
};

/**
 * Works out what a roster needs.
 *
 * quorum  out  zeroed on failure
 * honest  in   0: the most that needs no more survivors than signatures, t - c
 * why     out  on failure what to change
 *
 * Fails with STATUS_INVALID when the sum could never be opened, when no site counts as dishonest, or
 * beyond MASKS_SITES_MAX.
 * Ensures that two different lists of survivors never both get t signatures when at most c sites sign
 * twice: they would share 2t - n > c signers. And opens_at <= sites.
 */
MUST_USE enum status masks_quorum_make(struct masks_quorum *quorum, uint64_t sites,
                                       uint64_t dishonest, uint64_t honest, struct why *why);

#endif
