/* legs.h - what the legs of a masked round carry: the keys of its sites, the roster of them all, lists of survivors and
 * their signatures. Both ends pack, parse and judge by this one code. Docs: PROTOCOL, "A masked round". */

#ifndef MASKS_LEGS_H
#define MASKS_LEGS_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "crypto/key.h"
#include "masks/masks.h"
#include "masks/peers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MASKS_KEYS_BYTES = MASKS_NAME_BYTES + 3 * DIGEST_BYTES + SIGNATURE_BYTES,
    MASKS_ROSTER_BYTES_MAX = MASKS_SITES_MAX * MASKS_KEYS_BYTES,
    MASKS_SET_BYTES = 32,
    MASKS_SIGNED_BYTES = 1 + SIGNATURE_BYTES, /* a rank and its signature */
    MASKS_OPEN_BYTES_MAX = MASKS_SET_BYTES + MASKS_SITES_MAX * MASKS_SIGNED_BYTES,
    MASKS_REVEAL_BYTES_MAX = DIGEST_BYTES * (1 + MASKS_SITES_MAX)
};

/* What the job and the round say: both ends know it without each other. */
struct masks_terms {
    struct digest job;
    uint64_t round;
    uint64_t sites_least; /* of a roster: the job's smallest cohort */
    uint64_t dishonest;   /* c */
    uint64_t honest;      /* h */
    enum masks_width width;
};

/* For one site for one round. */
struct masks_keys {
    char name[MASKS_NAME_BYTES]; /* zeros after its end */
    struct digest signing_key;
    struct digest mask_key;   /* M: X25519 */
    struct digest commitment; /* to the seed of its own mask */
    struct signature signature;
};

/* A site's rank is its place: names ascend. */
struct masks_roster {
    struct masks_keys site[MASKS_SITES_MAX]; /* (count) */
    size_t count;
};

/* A set of ranks. */
struct masks_set {
    uint8_t byte[MASKS_SET_BYTES];
};

bool masks_set_has(const struct masks_set *set, size_t rank);
void masks_set_add(struct masks_set *set, size_t rank);
/** Returns how many of the ranks below MASKS_SITES_MAX + 1 are in it. */
size_t masks_set_count(const struct masks_set *set);
bool masks_set_equal(const struct masks_set *a, const struct masks_set *b);

/** Signs a site's keys for one round. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_keys_sign(struct masks_keys *keys, const struct masks_terms *terms,
                                     const struct digest *secret_key);
/** Returns whether their owner signed them for this job and round. */
bool masks_keys_are_signed(const struct masks_keys *keys, const struct masks_terms *terms);
void masks_keys_pack(uint8_t out[static MASKS_KEYS_BYTES], const struct masks_keys *keys);
/** Fails with STATUS_INVALID: another size, or a name that is none. */
MUST_USE enum status masks_keys_parse(struct masks_keys *keys, struct slice bytes);

/** Puts a site's keys at their place, or in the place of those of the same name. Fails with STATUS_INVALID: full, or a
 * key or commitment that another site has. */
MUST_USE enum status masks_roster_put(struct masks_roster *roster, const struct masks_keys *keys,
                                      struct why *why);
/** Returns the rank of a name, or count. */
size_t masks_roster_rank(const struct masks_roster *roster, const char *name);
/** Packs it into out (MASKS_ROSTER_BYTES_MAX); returns the size. */
size_t masks_roster_pack(uint8_t *out, const struct masks_roster *roster);
/** Fails with STATUS_INVALID: no whole number of sites, names that do not ascend, a key or commitment that comes twice. */
MUST_USE enum status masks_roster_parse(struct masks_roster *roster, struct slice bytes,
                                        struct why *why);
/** rho: of names, keys and commitments, and of what the terms say. */
void masks_roster_digest(struct digest *out, const struct masks_roster *roster,
                         const struct masks_terms *terms);

/** Judges a list of survivors by numbers alone: ranks of the roster, and enough of them. Fails with STATUS_INVALID. */
MUST_USE enum status masks_survivors_judge(const struct masks_set *survivors,
                                           const struct masks_quorum *quorum, struct why *why);
/** Signs a list of survivors. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_survivors_sign(struct signature *out, const struct digest *secret_key,
                                          const struct masks_terms *terms,
                                          const struct masks_round *round,
                                          const struct masks_set *survivors);
/** Returns whether the owner of the key signed this list. */
bool masks_survivors_are_signed(const struct signature *signature, const struct digest *signing_key,
                                const struct masks_terms *terms, const struct masks_round *round,
                                const struct masks_set *survivors);

#endif
