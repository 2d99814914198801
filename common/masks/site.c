/* Source: Bonawitz et al., CCS 2017, its version for active adversaries. Deviations: no secret is shared out, a site
 * reveals its own; the answer's masks bind roster and question; each site approves itself the peers that it masks
 * with. */

#include "masks/site_private.h"

#include "base/check.h"
#include "crypto/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status refuse(struct why *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum status refuse(struct why *why, const char *format, ...)
{
    char text[WHY_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return why_fail(why, STATUS_REFUSED, "%s", text);
}

const char *masks_site_name(const struct masks_self *self)
{
    const struct masks_peer *own = masks_peers_find(self->peers, &self->signing->public_key);
    return own == NULL ? NULL : own->name;
}

static enum status draw(struct masks_site *site)
{
    struct key_pair pair;
    struct digest secret;
    const size_t size = strlen(site->keys.name);
    enum status status = random_fill(site->self.random, secret.byte, DIGEST_BYTES);
    if (status == STATUS_OK) {
        status = random_fill(site->self.random, site->seed.byte, DIGEST_BYTES);
    }
    if (status == STATUS_OK) {
        status = key_pair_from_secret(&pair, &secret) == STATUS_OK ? STATUS_OK : STATUS_NO_RANDOM;
    }
    bytes_wipe(&secret, sizeof secret);
    if (status != STATUS_OK) {
        return status;
    }
    site->keys.mask_key = pair.public_key;
    site->mask_secret = pair.secret_key;
    key_pair_wipe(&pair);
    masks_commit(&site->keys.commitment, &site->terms.job, site->terms.round,
                 (struct slice){site->keys.name, size}, &site->seed);
    return masks_keys_sign(&site->keys, &site->terms, &site->self.signing->secret_key);
}

struct masks_site *masks_site_blank(const struct masks_self *self, const struct masks_terms *terms,
                                    const struct digest *invitation, const char *name)
{
    struct masks_site *site = calloc(1, sizeof *site);
    if (site != NULL) {
        site->self = *self;
        site->terms = *terms;
        site->round.invitation = *invitation;
        site->keys.signing_key = self->signing->public_key;
        memcpy(site->keys.name, name, strlen(name));
    }
    return site;
}

enum status masks_site_new(struct masks_site **out, const struct masks_self *self,
                           const struct masks_terms *terms, const struct digest *invitation,
                           struct why *why)
{
    const char *name = masks_site_name(self);
    *out = NULL;
    if (name == NULL) {
        return refuse(why, "this site's own signing key is not in its list of peers; remedy: "
                           "hedgerow-agent peers add NAME --key KEY.pub");
    }
    struct masks_site *site = masks_site_blank(self, terms, invitation, name);
    if (site == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = draw(site);
    if (status != STATUS_OK) {
        masks_site_free(site);
        return status;
    }
    *out = site;
    return STATUS_OK;
}

void masks_site_free(struct masks_site *site)
{
    bytes_free(site, sizeof *site);
}

void masks_site_keys(const struct masks_site *site, uint8_t out[static MASKS_KEYS_BYTES])
{
    masks_keys_pack(out, &site->keys);
}

/* Each of a roster's sites is an institution that a person of this site approved, with the key that it signs by. */
static enum status judge_member(const struct masks_site *site, const struct masks_keys *keys,
                                struct why *why)
{
    const struct masks_peer *peer = masks_peers_find(site->self.peers, &keys->signing_key);
    if (peer == NULL) {
        return refuse(why,
                      "%s signs by a key that is not in this site's list of peers; if it is one to "
                      "mask answers with, a person adds it: hedgerow-agent peers add",
                      keys->name);
    }
    if (strcmp(peer->name, keys->name) != 0) {
        return refuse(why, "%s signs by the key that this site's list of peers has for %s",
                      keys->name, peer->name);
    }
    if (!masks_keys_are_signed(keys, &site->terms)) {
        return refuse(why, "the keys of %s are not signed for this job and round", keys->name);
    }
    return STATUS_OK;
}

static enum status judge_roster(struct masks_site *site, const struct masks_roster *roster,
                                struct masks_quorum *quorum, struct why *why)
{
    struct why reason = {""};
    const size_t rank = masks_roster_rank(roster, site->keys.name);
    if (rank == roster->count || memcmp(&roster->site[rank], &site->keys, sizeof site->keys) != 0) {
        return refuse(why, "the roster does not have this site's keys as they were sent");
    }
    if (roster->count < site->terms.sites_least) {
        return refuse(why,
                      "the roster has %zu sites, and the job counts with %u at least "
                      "(cohort.minimum)",
                      roster->count, (unsigned)site->terms.sites_least);
    }
    if (masks_quorum_make(quorum, roster->count, site->terms.dishonest, site->terms.honest,
                          &reason) != STATUS_OK) {
        return refuse(why, "%s", reason.text);
    }
    for (size_t i = 0; i < roster->count; i++) { /* its own are those that it sent, as is known */
        const enum status status =
            i == rank ? STATUS_OK : judge_member(site, &roster->site[i], why);
        if (status != STATUS_OK) {
            return status;
        }
    }
    site->rank = rank;
    return STATUS_OK;
}

static enum status agree(struct masks_site *site, const struct masks_roster *roster,
                         struct why *why)
{
    for (size_t i = 0; i < roster->count; i++) {
        if (i == site->rank) {
            continue;
        }
        const enum status status =
            masks_pair_key(&site->pair[i], &site->mask_secret, &roster->site[i].mask_key,
                           (unsigned)site->rank, (unsigned)i, &site->round);
        if (status == STATUS_INVALID) {
            return refuse(why, "the mask key of %s shares nothing", roster->site[i].name);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status take_roster(struct masks_site *site, const struct masks_roster *roster,
                               struct why *why)
{
    struct masks_quorum quorum;
    struct digest digest;
    masks_roster_digest(&digest, roster, &site->terms);
    if (site->phase != SITE_KEYED) {
        return digest_equal(&digest, &site->round.roster)
                   ? STATUS_OK
                   : refuse(why, "another roster was accepted for these keys before");
    }
    enum status status = judge_roster(site, roster, &quorum, why);
    if (status == STATUS_OK) {
        site->round.roster = digest;
        status = agree(site, roster, why);
    }
    if (status != STATUS_OK) {
        bytes_wipe(site->pair, sizeof site->pair);
        memset(&site->round.roster, 0, sizeof site->round.roster);
        return status;
    }
    bytes_wipe(&site->mask_secret, sizeof site->mask_secret);
    site->roster = *roster;
    site->quorum = quorum;
    site->phase = SITE_LISTED;
    return STATUS_OK;
}

enum status masks_site_list(struct masks_site *site, struct slice bytes, struct why *why)
{
    struct why reason = {""};
    struct masks_roster *roster = malloc(sizeof *roster);
    if (roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = masks_roster_parse(roster, bytes, &reason) == STATUS_OK
                             ? take_roster(site, roster, why)
                             : refuse(why, "the roster is none: %s", reason.text);
    free(roster);
    return status;
}

enum masks_width masks_site_width(const struct masks_site *site)
{
    return site->terms.width;
}

void masks_site_set_width(struct masks_site *site, enum masks_width width)
{
    CHECK(site->phase == SITE_KEYED);
    site->terms.width = width;
}

enum status masks_site_mask(struct masks_site *site, uint64_t *words, size_t count)
{
    struct digest own;
    CHECK(site->phase == SITE_LISTED);
    enum status status = masks_self_key(&own, &site->seed, &site->round);
    if (status == STATUS_OK) {
        status = masks_add(words, count, site->terms.width, &own);
    }
    for (size_t i = 0; i < site->roster.count && status == STATUS_OK; i++) {
        if (i != site->rank) {
            status = (i > site->rank ? masks_add : masks_subtract)(words, count, site->terms.width,
                                                                   &site->pair[i]);
        }
    }
    bytes_wipe(&own, sizeof own);
    if (status != STATUS_OK) {
        memset(words, 0, count * sizeof *words);
        return status;
    }
    site->phase = SITE_MASKED;
    return STATUS_OK;
}

enum status masks_site_note(struct masks_site *site, const struct masks_set *survivors, bool *again,
                            struct why *why)
{
    struct why reason = {""};
    *again = site->phase == SITE_SIGNED;
    if (site->phase < SITE_MASKED) {
        return refuse(why, "this site has not answered yet");
    }
    if (*again) {
        return masks_set_equal(survivors, &site->noted)
                   ? STATUS_OK
                   : refuse(why, "another list of survivors was signed for this round");
    }
    if (!masks_set_has(survivors, site->rank)) {
        return refuse(why, "the list of survivors is without this site");
    }
    if (masks_survivors_judge(survivors, &site->quorum, &reason) != STATUS_OK) {
        return refuse(why, "%s", reason.text);
    }
    site->noted = *survivors;
    site->phase = SITE_SIGNED;
    return STATUS_OK;
}

enum status masks_site_sign(const struct masks_site *site, struct signature *out)
{
    CHECK(site->phase == SITE_SIGNED);
    return masks_survivors_sign(out, &site->self.signing->secret_key, &site->terms, &site->round,
                                &site->noted);
}

/* At least t signatures over the list, each by another survivor. */
static enum status judge_signatures(const struct masks_site *site, const uint8_t *in, size_t count,
                                    struct why *why)
{
    struct masks_set signers = {{0}};
    for (size_t i = 0; i < count; i++) {
        const size_t rank = in[i * MASKS_SIGNED_BYTES];
        struct signature signature;
        memcpy(signature.byte, in + i * MASKS_SIGNED_BYTES + 1, SIGNATURE_BYTES);
        if (!masks_set_has(&site->noted, rank) || masks_set_has(&signers, rank)) {
            return refuse(why, "a signature comes twice, or from a site that is no survivor");
        }
        if (!masks_survivors_are_signed(&signature, &site->roster.site[rank].signing_key,
                                        &site->terms, &site->round, &site->noted)) {
            return refuse(why, "%s did not sign this list of survivors",
                          site->roster.site[rank].name);
        }
        masks_set_add(&signers, rank);
    }
    return count >= site->quorum.signatures
               ? STATUS_OK
               : refuse(why, "%zu signatures are there, and %u are needed", count,
                        (unsigned)site->quorum.signatures);
}

enum status masks_site_reveal(const struct masks_site *site, struct slice open, uint8_t *out,
                              size_t *size, struct why *why)
{
    const uint8_t *in = open.data;
    *size = 0;
    if (site->phase != SITE_SIGNED) {
        return refuse(why, "this site has signed no list of survivors");
    }
    if (open.size < MASKS_SET_BYTES || open.size > MASKS_OPEN_BYTES_MAX ||
        (open.size - MASKS_SET_BYTES) % MASKS_SIGNED_BYTES != 0) {
        return refuse(why, "its size is that of no OPEN");
    }
    if (memcmp(in, site->noted.byte, MASKS_SET_BYTES) != 0) {
        return refuse(why, "it is about another list of survivors than this site signed");
    }
    const enum status status = judge_signatures(
        site, in + MASKS_SET_BYTES, (open.size - MASKS_SET_BYTES) / MASKS_SIGNED_BYTES, why);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(out, site->seed.byte, DIGEST_BYTES);
    *size = DIGEST_BYTES;
    for (size_t i = 0; i < site->roster.count; i++) {
        if (!masks_set_has(&site->noted, i)) {
            memcpy(out + *size, site->pair[i].byte, DIGEST_BYTES);
            *size += DIGEST_BYTES;
        }
    }
    return STATUS_OK;
}
