/* quorum.h - how many sites a masked sum needs. Each site of a round adds a share of one noise, made for
 * `honest` survivors, and hides its answer under masks that vanish in the sum. */

#ifndef MASKS_QUORUM_H
#define MASKS_QUORUM_H

#include "base/status.h"
#include "base/why.h"

#include <stdint.h>

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
