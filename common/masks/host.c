#include "masks/host.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum phase { HOST_GATHERING, HOST_LISTED, HOST_SETTLED };

struct masks_host {
    struct masks_terms terms;
    enum phase phase;
    struct masks_round round;
    struct masks_roster roster;
    struct masks_quorum quorum;
    struct masks_set survivors;
    struct masks_set has_signed;
    struct masks_set has_revealed;
    struct signature signature[MASKS_SITES_MAX];
};

enum status masks_host_new(struct masks_host **out, const struct masks_terms *terms,
                           const struct digest *invitation)
{
    struct masks_host *host = calloc(1, sizeof *host);
    *out = host;
    if (host == NULL) {
        return STATUS_NO_MEMORY;
    }
    host->terms = *terms;
    host->round.invitation = *invitation;
    return STATUS_OK;
}

void masks_host_free(struct masks_host *host)
{
    bytes_free(host, sizeof *host);
}

bool masks_host_is_listed(const struct masks_host *host)
{
    return host->phase >= HOST_LISTED;
}

bool masks_host_is_settled(const struct masks_host *host)
{
    return host->phase == HOST_SETTLED;
}

enum masks_width masks_host_width(const struct masks_host *host)
{
    return host->terms.width;
}

void masks_host_set_width(struct masks_host *host, enum masks_width width)
{
    CHECK(host->phase == HOST_GATHERING);
    host->terms.width = width;
}

const struct masks_roster *masks_host_roster(const struct masks_host *host)
{
    return &host->roster;
}

const struct masks_quorum *masks_host_quorum(const struct masks_host *host)
{
    return &host->quorum;
}

const struct masks_set *masks_host_survivors(const struct masks_host *host)
{
    return &host->survivors;
}

enum status masks_host_take_keys(struct masks_host *host, const char *name, struct slice bytes,
                                 struct why *why)
{
    struct masks_keys keys;
    CHECK(host->phase == HOST_GATHERING);
    if (masks_keys_parse(&keys, bytes) != STATUS_OK) {
        return why_refuse(why, "what it sent is no keys");
    }
    if (strcmp(keys.name, name) != 0) {
        return why_refuse(why,
                          "its list of peers calls it %s, and the coordinator's list %s: both "
                          "have to be the same name",
                          keys.name, name);
    }
    if (!masks_keys_are_signed(&keys, &host->terms)) {
        return why_refuse(why, "its keys are not signed for this job and round");
    }
    return masks_roster_put(&host->roster, &keys, why);
}

void masks_host_drop_keys(struct masks_host *host, const char *name)
{
    const size_t rank = masks_roster_rank(&host->roster, name);
    CHECK(host->phase == HOST_GATHERING);
    if (rank < host->roster.count) {
        host->roster.count--;
        memmove(&host->roster.site[rank], &host->roster.site[rank + 1],
                (host->roster.count - rank) * sizeof host->roster.site[0]);
    }
}

enum status masks_host_list(struct masks_host *host, struct why *why)
{
    struct masks_quorum quorum;
    CHECK(host->phase == HOST_GATHERING);
    const enum status status = masks_quorum_make(&quorum, host->roster.count, host->terms.dishonest,
                                                 host->terms.honest, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (host->roster.count < host->terms.sites_least) {
        return why_refuse(why, "%zu sites sent keys, and the job needs %u (cohort.minimum)",
                          host->roster.count, (unsigned)host->terms.sites_least);
    }
    host->quorum = quorum;
    masks_roster_digest(&host->round.roster, &host->roster, &host->terms);
    host->phase = HOST_LISTED;
    return STATUS_OK;
}

enum status masks_host_restore(struct masks_host *host, struct slice roster)
{
    CHECK(host->phase == HOST_GATHERING);
    return masks_roster_parse(&host->roster, roster, NULL) == STATUS_OK &&
                   masks_host_list(host, NULL) == STATUS_OK
               ? STATUS_OK
               : STATUS_CORRUPT;
}

enum status masks_host_settle(struct masks_host *host, const struct masks_set *survivors,
                              struct why *why)
{
    CHECK(host->phase == HOST_LISTED);
    const enum status status = masks_survivors_judge(survivors, &host->quorum, why);
    if (status == STATUS_OK) {
        host->survivors = *survivors;
        host->phase = HOST_SETTLED;
    }
    return status;
}

enum status masks_host_take_signature(struct masks_host *host, size_t rank, struct slice signature)
{
    struct signature taken;
    if (host->phase != HOST_SETTLED || !masks_set_has(&host->survivors, rank) ||
        signature.size != SIGNATURE_BYTES) {
        return STATUS_INVALID;
    }
    memcpy(taken.byte, signature.data, SIGNATURE_BYTES);
    if (!masks_survivors_are_signed(&taken, &host->roster.site[rank].signing_key, &host->terms,
                                    &host->round, &host->survivors)) {
        return STATUS_INVALID;
    }
    host->signature[rank] = taken;
    masks_set_add(&host->has_signed, rank);
    return STATUS_OK;
}

bool masks_host_has_signed(const struct masks_host *host, size_t rank)
{
    return masks_set_has(&host->has_signed, rank);
}

bool masks_host_may_open(const struct masks_host *host)
{
    return host->phase == HOST_SETTLED &&
           masks_set_count(&host->has_signed) >= host->quorum.signatures;
}

size_t masks_host_open(const struct masks_host *host, uint8_t *out)
{
    size_t size = MASKS_SET_BYTES;
    CHECK(masks_host_may_open(host));
    memcpy(out, host->survivors.byte, MASKS_SET_BYTES);
    for (size_t rank = 0, count = 0; count < host->quorum.signatures; rank++) {
        if (masks_set_has(&host->has_signed, rank)) {
            out[size] = (uint8_t)rank;
            memcpy(out + size + 1, host->signature[rank].byte, SIGNATURE_BYTES);
            size += MASKS_SIGNED_BYTES;
            count++;
        }
    }
    return size;
}

static enum status unmask(uint64_t *words, uint32_t *narrow, size_t count, const struct digest *key,
                          bool subtract)
{
    if (narrow != NULL) {
        return (subtract ? masks_subtract_narrow : masks_add_narrow)(narrow, count, key);
    }
    return (subtract ? masks_subtract : masks_add)(words, count, MASKS_64, key);
}

/* The seed's stream, and what the site shares with those who are absent. */
static enum status remove_masks(struct masks_host *host, size_t rank, const struct digest *seed,
                                const uint8_t *pairs, uint64_t *words, uint32_t *narrow,
                                size_t count)
{
    struct digest key;
    enum status status = masks_self_key(&key, seed, &host->round);
    if (status == STATUS_OK) {
        status = unmask(words, narrow, count, &key, true);
    }
    for (size_t i = 0; i < host->roster.count && status == STATUS_OK; i++) {
        if (!masks_set_has(&host->survivors, i)) {
            memcpy(key.byte, pairs, DIGEST_BYTES);
            pairs += DIGEST_BYTES;
            status = unmask(words, narrow, count, &key, i > rank);
        }
    }
    bytes_wipe(&key, sizeof key);
    return status;
}

enum status masks_host_take_reveal(struct masks_host *host, size_t rank, struct slice reveal,
                                   uint64_t *words, uint32_t *narrow, size_t count)
{
    struct digest seed;
    struct digest commitment;
    const size_t absent = host->roster.count - masks_set_count(&host->survivors);
    CHECK((narrow != NULL) == (host->terms.width == MASKS_32) &&
          (words != NULL) == (narrow == NULL));
    if (host->phase != HOST_SETTLED || !masks_set_has(&host->survivors, rank) ||
        reveal.size != DIGEST_BYTES * (1 + absent)) {
        return STATUS_INVALID;
    }
    if (masks_set_has(&host->has_revealed, rank)) {
        return STATUS_OK;
    }
    const struct masks_keys *keys = &host->roster.site[rank];
    memcpy(seed.byte, reveal.data, DIGEST_BYTES);
    masks_commit(&commitment, &host->terms.job, host->terms.round,
                 (struct slice){keys->name, strlen(keys->name)}, &seed);
    enum status status = STATUS_CORRUPT;
    if (digest_equal(&commitment, &keys->commitment)) {
        status = remove_masks(host, rank, &seed, (const uint8_t *)reveal.data + DIGEST_BYTES, words,
                              narrow, count);
    }
    bytes_wipe(&seed, sizeof seed);
    if (status == STATUS_OK) {
        masks_set_add(&host->has_revealed, rank);
    }
    return status;
}

bool masks_host_has_revealed(const struct masks_host *host, size_t rank)
{
    return masks_set_has(&host->has_revealed, rank);
}

bool masks_host_is_open(const struct masks_host *host)
{
    return host->phase == HOST_SETTLED && masks_set_equal(&host->has_revealed, &host->survivors);
}
