/* site.h - a site's part in one masked round, without wire or journal: it makes keys, judges the roster, masks its
 * answer, signs one list of survivors, and reveals what opens their sum. Whatever it reveals about one round hides
 * this site's answer in a sum with those of at least h honest ones, whatever coordinator and c sites do.
 *
 *   KEYED -> LISTED -> MASKED -> SIGNED
 *
 * The caller commits what masks_site_pack_keys gives before the keys leave, and forgets it once what masks_site_pack gives
 * is committed. That is before anything of MASKED leaves. The list is committed before its signature leaves. */

#ifndef MASKS_SITE_H
#define MASKS_SITE_H

#include "base/random.h"
#include "masks/legs.h"

struct masks_site;

struct masks_self {
    const struct masks_peers *peers; /* kept; approved by a person of the site */
    const struct key_pair *signing;  /* kept */
    const struct random *random;     /* kept */
};

/** Returns the name under which the peers list this site's own signing key; NULL where they do not. */
const char *masks_site_name(const struct masks_self *self);

/** Draws keys for a round. Fails with STATUS_REFUSED (the site is not among its own peers), STATUS_NO_RANDOM,
 * STATUS_NO_MEMORY. masks_site_free wipes. */
MUST_USE enum status masks_site_new(struct masks_site **out, const struct masks_self *self,
                                    const struct masks_terms *terms,
                                    const struct digest *invitation, struct why *why);
void masks_site_free(struct masks_site *site);

enum { MASKS_KEYED_BYTES = 2 * DIGEST_BYTES + MASKS_KEYS_BYTES };

/** Packs keys and their secrets, a secret: a restart before the answer begins with them. CHECKs that they are KEYED. */
void masks_site_pack_keys(const struct masks_site *site, uint8_t out[static MASKS_KEYED_BYTES]);
/** Makes a KEYED site of it again. Fails with STATUS_CORRUPT: not the keys of this site, job and round;
 * STATUS_NO_MEMORY. */
MUST_USE enum status masks_site_unpack_keys(struct masks_site **out, const struct masks_self *self,
                                            const struct masks_terms *terms,
                                            const struct digest *invitation, struct slice packed);

/** Leg 1: the site's keys, the same bytes each time. */
void masks_site_keys(const struct masks_site *site, uint8_t out[static MASKS_KEYS_BYTES]);

/** The bits of its words: as the terms say, or before the roster as the coordinator does. CHECKs that it is KEYED. Whatever
 * they are, sums of noisy answers are taken modulo a power of two, and rho binds it. */
enum masks_width masks_site_width(const struct masks_site *site);
void masks_site_set_width(struct masks_site *site, enum masks_width width);

/**
 * Leg 2: judges a roster. KEYED becomes LISTED; the secret behind the mask key is wiped, so these keys serve no other
 * roster. A roster again is taken again; another one is refused. A site that is unpacked from its keys may accept another
 * roster than it did before its program died: nothing of the first has left it, and streams bind the roster.
 *
 * Fails with STATUS_REFUSED: why says what is wrong; with STATUS_NO_MEMORY.
 */
MUST_USE enum status masks_site_list(struct masks_site *site, struct slice roster, struct why *why);

/** Leg 3: adds the masks to an answer that carries its noise. LISTED becomes MASKED: once. Fails with STATUS_NO_MEMORY,
 * words (count) then zeroed. */
MUST_USE enum status masks_site_mask(struct masks_site *site, uint64_t *words, size_t count);

/** Packs what a restart needs, a secret: malloc'd, the caller wipes and frees it. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_site_pack(const struct masks_site *site, uint8_t **out, size_t *size);
/** Makes a MASKED site of it again. Fails with STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_USE enum status masks_site_unpack(struct masks_site **out, const struct masks_self *self,
                                       const struct masks_terms *terms,
                                       const struct digest *invitation, struct slice packed);

/** Leg 4: judges a list of survivors and notes it: no other list of this round is ever signed. *again: it was noted
 * before. Fails with STATUS_REFUSED. */
MUST_USE enum status masks_site_note(struct masks_site *site, const struct masks_set *survivors,
                                     bool *again, struct why *why);
/** Signs the list that was noted. CHECKs that there is one. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status masks_site_sign(const struct masks_site *site, struct signature *out);

/**
 * Leg 5: judges an OPEN and reveals what opens the sum of the list that this site signed: its own seed, and the keys
 * of the pairs with sites that are not in the list. Never that of a pair of survivors. The same bytes each time.
 *
 * out  out  (MASKS_REVEAL_BYTES_MAX), *size bytes
 *
 * Fails with STATUS_REFUSED.
 */
MUST_USE enum status masks_site_reveal(const struct masks_site *site, struct slice open,
                                       uint8_t *out, size_t *size, struct why *why);

#endif
