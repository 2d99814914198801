/* What a restart of a site needs of a masked round: before its answer the keys, after it what opens its masks. */

#include "masks/site_private.h"

#include "base/check.h"
#include "crypto/key.h"

#include <stdlib.h>
#include <string.h>

/* The secret of the mask key, the seed, the keys. */
void masks_site_pack_keys(const struct masks_site *site, uint8_t out[static MASKS_KEYED_BYTES])
{
    CHECK(site->phase == SITE_KEYED);
    memcpy(out, site->mask_secret.byte, DIGEST_BYTES);
    memcpy(out + DIGEST_BYTES, site->seed.byte, DIGEST_BYTES);
    masks_keys_pack(out + 2 * DIGEST_BYTES, &site->keys);
}

/* Name and signing key are this site's, and what it signed is of these secrets. */
static bool take_keyed(struct masks_site *site, const uint8_t *packed)
{
    const struct masks_keys own = site->keys;
    struct key_pair pair = {.public_key = {{0}}};
    struct digest commitment;
    memcpy(site->mask_secret.byte, packed, DIGEST_BYTES);
    memcpy(site->seed.byte, packed + DIGEST_BYTES, DIGEST_BYTES);
    const bool read =
        masks_keys_parse(&site->keys, (struct slice){packed + 2 * DIGEST_BYTES,
                                                     MASKS_KEYS_BYTES}) == STATUS_OK &&
        key_pair_from_secret(&pair, &site->mask_secret) == STATUS_OK;
    masks_commit(&commitment, &site->terms.job, site->terms.round,
                 (struct slice){own.name, strlen(own.name)}, &site->seed);
    const bool right = read && strcmp(site->keys.name, own.name) == 0 &&
                       digest_equal(&site->keys.signing_key, &own.signing_key) &&
                       digest_equal(&site->keys.mask_key, &pair.public_key) &&
                       digest_equal(&site->keys.commitment, &commitment) &&
                       masks_keys_are_signed(&site->keys, &site->terms);
    key_pair_wipe(&pair);
    return right;
}

enum status masks_site_unpack_keys(struct masks_site **out, const struct masks_self *self,
                                   const struct masks_terms *terms, const struct digest *invitation,
                                   struct slice packed)
{
    const char *name = masks_site_name(self);
    *out = NULL;
    if (name == NULL || packed.size != MASKS_KEYED_BYTES) {
        return STATUS_CORRUPT;
    }
    struct masks_site *site = masks_site_blank(self, terms, invitation, name);
    if (site == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!take_keyed(site, packed.data)) {
        masks_site_free(site);
        return STATUS_CORRUPT;
    }
    *out = site;
    return STATUS_OK;
}

/* Its seed, then the keys of all pairs, then the roster. */
enum status masks_site_pack(const struct masks_site *site, uint8_t **out, size_t *size)
{
    const size_t n = site->roster.count;
    CHECK(site->phase >= SITE_MASKED);
    *size = DIGEST_BYTES * (1 + n) + n * MASKS_KEYS_BYTES;
    *out = malloc(*size);
    if (*out == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(*out, site->seed.byte, DIGEST_BYTES);
    for (size_t i = 0; i < n; i++) {
        memcpy(*out + DIGEST_BYTES * (1 + i), site->pair[i].byte, DIGEST_BYTES);
    }
    (void)masks_roster_pack(*out + DIGEST_BYTES * (1 + n), &site->roster);
    return STATUS_OK;
}

static enum status take_packed(struct masks_site *site, struct slice packed)
{
    const uint8_t *in = packed.data;
    const size_t n = packed.size / (DIGEST_BYTES + MASKS_KEYS_BYTES);
    if (n > MASKS_SITES_MAX || packed.size != DIGEST_BYTES * (1 + n) + n * MASKS_KEYS_BYTES ||
        masks_roster_parse(&site->roster,
                           (struct slice){in + DIGEST_BYTES * (1 + n), n * MASKS_KEYS_BYTES},
                           NULL) != STATUS_OK ||
        masks_quorum_make(&site->quorum, n, site->terms.dishonest, site->terms.honest, NULL) !=
            STATUS_OK) {
        return STATUS_CORRUPT;
    }
    site->rank = masks_roster_rank(&site->roster, site->keys.name);
    if (site->rank == n) {
        return STATUS_CORRUPT;
    }
    site->keys = site->roster.site[site->rank];
    memcpy(site->seed.byte, in, DIGEST_BYTES);
    for (size_t i = 0; i < n; i++) {
        memcpy(site->pair[i].byte, in + DIGEST_BYTES * (1 + i), DIGEST_BYTES);
    }
    masks_roster_digest(&site->round.roster, &site->roster, &site->terms);
    site->phase = SITE_MASKED;
    return STATUS_OK;
}

enum status masks_site_unpack(struct masks_site **out, const struct masks_self *self,
                              const struct masks_terms *terms, const struct digest *invitation,
                              struct slice packed)
{
    const char *name = masks_site_name(self);
    *out = NULL;
    if (name == NULL) {
        return STATUS_CORRUPT;
    }
    struct masks_site *site = masks_site_blank(self, terms, invitation, name);
    if (site == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = take_packed(site, packed);
    if (status != STATUS_OK) {
        masks_site_free(site);
        return status;
    }
    *out = site;
    return STATUS_OK;
}
