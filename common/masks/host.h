/* host.h - the coordinator's part in one masked round, without wire or journal: it gathers keys into a roster, names the
 * survivors, gathers their signatures, and removes the masks from the sum of their answers by what they reveal.
 *
 *   GATHERING -> LISTED -> SETTLED
 *
 * The caller commits the roster before anybody is told of it, and the list of survivors likewise. */

#ifndef MASKS_HOST_H
#define MASKS_HOST_H

#include "masks/legs.h"

struct masks_host;

/** Begins a round; masks_host_free wipes. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_host_new(struct masks_host **out, const struct masks_terms *terms,
                                    const struct digest *invitation);
void masks_host_free(struct masks_host *host);

bool masks_host_is_listed(const struct masks_host *host);
bool masks_host_is_settled(const struct masks_host *host);
enum masks_width masks_host_width(const struct masks_host *host);
/** Another width than that of the terms, for the roster that comes. CHECKs that there is none yet. */
void masks_host_set_width(struct masks_host *host, enum masks_width width);
const struct masks_roster *masks_host_roster(const struct masks_host *host);
/** All zero before the roster. */
const struct masks_quorum *masks_host_quorum(const struct masks_host *host);
const struct masks_set *masks_host_survivors(const struct masks_host *host);

/** Leg 1: takes a site's keys, in the place of earlier ones. Fails with STATUS_INVALID: no keys, another name than the
 * transport knows the site by, no good signature, or another site's key. CHECKs that there is no roster yet. */
MUST_USE enum status masks_host_take_keys(struct masks_host *host, const char *name,
                                          struct slice keys, struct why *why);
/** Forgets the keys of a site that takes no part. */
void masks_host_drop_keys(struct masks_host *host, const char *name);

/** Leg 2: makes a roster of those whose keys are there. Fails with STATUS_INVALID where their sum could never be
 * opened: more keys may come. */
MUST_USE enum status masks_host_list(struct masks_host *host, struct why *why);
/** Takes a roster back from the journal. Fails with STATUS_CORRUPT. */
MUST_USE enum status masks_host_restore(struct masks_host *host, struct slice roster);

/** Leg 4: names the survivors, for good. Fails with STATUS_INVALID: too few. */
MUST_USE enum status masks_host_settle(struct masks_host *host, const struct masks_set *survivors,
                                       struct why *why);
/** Takes a survivor's signature; again is fine. Fails with STATUS_INVALID. */
MUST_USE enum status masks_host_take_signature(struct masks_host *host, size_t rank,
                                               struct slice signature);
bool masks_host_has_signed(const struct masks_host *host, size_t rank);
bool masks_host_may_open(const struct masks_host *host);

/** Leg 5: packs OPEN into out (MASKS_OPEN_BYTES_MAX); returns its size. CHECKs masks_host_may_open. */
size_t masks_host_open(const struct masks_host *host, uint8_t *out);

/**
 * Leg 6: removes a survivor's masks from the sum. What was removed is not removed again.
 *
 * words, narrow  in/out  (count) the sum of the survivors' answers, in words for a width of 64 bits and in narrow for 32; the
 *                        other is NULL, CHECKed. The last one leaves it clear, in two's complement
 *
 * Fails with STATUS_INVALID (the size), STATUS_CORRUPT (the seed is not what its site committed to: the round is
 * lost), STATUS_NO_MEMORY.
 */
MUST_USE enum status masks_host_take_reveal(struct masks_host *host, size_t rank,
                                            struct slice reveal, uint64_t *words, uint32_t *narrow,
                                            size_t count);
bool masks_host_has_revealed(const struct masks_host *host, size_t rank);
/** Returns whether every survivor has revealed: the sum is clear. */
bool masks_host_is_open(const struct masks_host *host);

#endif
