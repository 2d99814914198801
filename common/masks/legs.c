#include "masks/legs.h"

#include "crypto/digest.h"

#include <string.h>

bool masks_set_has(const struct masks_set *set, size_t rank)
{
    return rank < 8 * MASKS_SET_BYTES && (set->byte[rank / 8] >> rank % 8 & 1) == 1;
}

void masks_set_add(struct masks_set *set, size_t rank)
{
    set->byte[rank / 8] |= (uint8_t)(1u << rank % 8);
}

size_t masks_set_count(const struct masks_set *set)
{
    size_t count = 0;
    for (size_t rank = 0; rank < 8 * MASKS_SET_BYTES; rank++) {
        count += masks_set_has(set, rank) ? 1 : 0;
    }
    return count;
}

bool masks_set_equal(const struct masks_set *a, const struct masks_set *b)
{
    return memcmp(a->byte, b->byte, MASKS_SET_BYTES) == 0;
}

static struct slice label_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static struct slice digest_slice(const struct digest *digest)
{
    return (struct slice){digest->byte, DIGEST_BYTES};
}

/* What a site signs of its keys. Parts of fixed sizes: the name with its zeros. */
static struct digest keys_digest(const struct masks_keys *keys, const struct masks_terms *terms)
{
    struct digest digest;
    uint8_t round[8];
    store_u64(round, terms->round);
    const struct slice part[] = {label_of("hedgerow keys 1"),
                                 digest_slice(&terms->job),
                                 {round, sizeof round},
                                 {keys->name, MASKS_NAME_BYTES},
                                 digest_slice(&keys->signing_key),
                                 digest_slice(&keys->mask_key),
                                 digest_slice(&keys->commitment)};
    digest_sha256(&digest, part, sizeof part / sizeof part[0]);
    return digest;
}

enum status masks_keys_sign(struct masks_keys *keys, const struct masks_terms *terms,
                            const struct digest *secret_key)
{
    const struct digest digest = keys_digest(keys, terms);
    return key_sign(&keys->signature, secret_key, digest_slice(&digest));
}

bool masks_keys_are_signed(const struct masks_keys *keys, const struct masks_terms *terms)
{
    const struct digest digest = keys_digest(keys, terms);
    return key_verify(&keys->signature, &keys->signing_key, digest_slice(&digest));
}

void masks_keys_pack(uint8_t out[static MASKS_KEYS_BYTES], const struct masks_keys *keys)
{
    memcpy(out, keys->name, MASKS_NAME_BYTES);
    out += MASKS_NAME_BYTES;
    memcpy(out, keys->signing_key.byte, DIGEST_BYTES);
    memcpy(out + DIGEST_BYTES, keys->mask_key.byte, DIGEST_BYTES);
    memcpy(out + 2 * DIGEST_BYTES, keys->commitment.byte, DIGEST_BYTES);
    memcpy(out + 3 * DIGEST_BYTES, keys->signature.byte, SIGNATURE_BYTES);
}

static bool name_is_padded(const char name[static MASKS_NAME_BYTES])
{
    const size_t size = strnlen(name, MASKS_NAME_BYTES);
    bool zeros = size < MASKS_NAME_BYTES;
    for (size_t i = size; i < MASKS_NAME_BYTES; i++) {
        zeros = zeros && name[i] == '\0';
    }
    return zeros;
}

enum status masks_keys_parse(struct masks_keys *keys, struct slice bytes)
{
    const uint8_t *in = bytes.data;
    *keys = (struct masks_keys){.name = ""};
    if (bytes.size != MASKS_KEYS_BYTES) {
        return STATUS_INVALID;
    }
    memcpy(keys->name, in, MASKS_NAME_BYTES);
    in += MASKS_NAME_BYTES;
    memcpy(keys->signing_key.byte, in, DIGEST_BYTES);
    memcpy(keys->mask_key.byte, in + DIGEST_BYTES, DIGEST_BYTES);
    memcpy(keys->commitment.byte, in + 2 * DIGEST_BYTES, DIGEST_BYTES);
    memcpy(keys->signature.byte, in + 3 * DIGEST_BYTES, SIGNATURE_BYTES);
    return name_is_padded(keys->name) && masks_name_is_valid(keys->name) ? STATUS_OK
                                                                         : STATUS_INVALID;
}

size_t masks_roster_rank(const struct masks_roster *roster, const char *name)
{
    size_t rank = 0;
    while (rank < roster->count && strcmp(roster->site[rank].name, name) != 0) {
        rank++;
    }
    return rank;
}

/* Nobody may stand there as two, nor with what is another's. */
static enum status refuse_shared(const struct masks_keys *one, const struct masks_keys *other,
                                 struct why *why)
{
    const char *what = digest_equal(&one->signing_key, &other->signing_key) ? "signing key"
                       : digest_equal(&one->mask_key, &other->mask_key)     ? "mask key"
                       : digest_equal(&one->commitment, &other->commitment) ? "commitment"
                                                                            : NULL;
    return what == NULL
               ? STATUS_OK
               : why_refuse(why, "%s and %s have the same %s", one->name, other->name, what);
}

enum status masks_roster_put(struct masks_roster *roster, const struct masks_keys *keys,
                             struct why *why)
{
    size_t place = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const int order = strcmp(roster->site[i].name, keys->name);
        const enum status status =
            order == 0 ? STATUS_OK : refuse_shared(&roster->site[i], keys, why);
        if (status != STATUS_OK) {
            return status;
        }
        place += order < 0 ? 1 : 0;
    }
    if (place < roster->count && strcmp(roster->site[place].name, keys->name) == 0) {
        roster->site[place] = *keys;
        return STATUS_OK;
    }
    if (roster->count == MASKS_SITES_MAX) {
        return why_refuse(why, "a masked sum has at most %d sites", MASKS_SITES_MAX);
    }
    memmove(&roster->site[place + 1], &roster->site[place],
            (roster->count - place) * sizeof roster->site[0]);
    roster->site[place] = *keys;
    roster->count++;
    return STATUS_OK;
}

size_t masks_roster_pack(uint8_t *out, const struct masks_roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        masks_keys_pack(out + i * MASKS_KEYS_BYTES, &roster->site[i]);
    }
    return roster->count * MASKS_KEYS_BYTES;
}

static enum status parse_sites(struct masks_roster *roster, struct slice bytes, struct why *why)
{
    const uint8_t *in = bytes.data;
    if (bytes.size % MASKS_KEYS_BYTES != 0 || bytes.size > MASKS_ROSTER_BYTES_MAX) {
        return why_refuse(why, "its size is that of no roster");
    }
    for (size_t i = 0; i < bytes.size / MASKS_KEYS_BYTES; i++) {
        struct masks_keys keys;
        if (masks_keys_parse(&keys, (struct slice){in + i * MASKS_KEYS_BYTES, MASKS_KEYS_BYTES}) !=
            STATUS_OK) {
            return why_refuse(why, "its site %zu has no name", i + 1);
        }
        if (i > 0 && strcmp(roster->site[i - 1].name, keys.name) >= 0) {
            return why_refuse(why, "%s comes twice, or out of order", keys.name);
        }
        const enum status status = masks_roster_put(roster, &keys, why);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status masks_roster_parse(struct masks_roster *roster, struct slice bytes, struct why *why)
{
    roster->count = 0;
    const enum status status = parse_sites(roster, bytes, why);
    if (status != STATUS_OK) {
        roster->count = 0;
    }
    return status;
}

void masks_roster_digest(struct digest *out, const struct masks_roster *roster,
                         const struct masks_terms *terms)
{
    uint8_t number[5][8];
    struct slice part[7 + 4 * MASKS_SITES_MAX] = {label_of("hedgerow roster 1"),
                                                  digest_slice(&terms->job)};
    size_t count = 2;
    const uint64_t value[] = {terms->round, roster->count, terms->dishonest, terms->honest,
                              (uint64_t)terms->width};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        store_u64(number[i], value[i]);
        part[count++] = (struct slice){number[i], sizeof number[i]};
    }
    for (size_t i = 0; i < roster->count; i++) {
        part[count++] = (struct slice){roster->site[i].name, MASKS_NAME_BYTES};
        part[count++] = digest_slice(&roster->site[i].signing_key);
        part[count++] = digest_slice(&roster->site[i].mask_key);
        part[count++] = digest_slice(&roster->site[i].commitment);
    }
    digest_sha256(out, part, count);
}

enum status masks_survivors_judge(const struct masks_set *survivors,
                                  const struct masks_quorum *quorum, struct why *why)
{
    const size_t count = masks_set_count(survivors);
    for (size_t rank = (size_t)quorum->sites; rank < 8 * MASKS_SET_BYTES; rank++) {
        if (masks_set_has(survivors, rank)) {
            return why_refuse(why, "the list of survivors names a site that is not in the roster");
        }
    }
    return count >= quorum->opens_at
               ? STATUS_OK
               : why_refuse(why,
                            "the list of survivors has %zu sites, and a sum of fewer than %u is "
                            "not opened",
                            count, (unsigned)quorum->opens_at);
}

static struct digest survivors_digest(const struct masks_terms *terms,
                                      const struct masks_round *round,
                                      const struct masks_set *survivors)
{
    struct digest digest;
    uint8_t number[8];
    store_u64(number, terms->round);
    const struct slice part[] = {
        label_of("hedgerow survivors 1"), digest_slice(&terms->job),
        {number, sizeof number},          digest_slice(&round->roster),
        digest_slice(&round->invitation), {survivors->byte, MASKS_SET_BYTES}};
    digest_sha256(&digest, part, sizeof part / sizeof part[0]);
    return digest;
}

enum status masks_survivors_sign(struct signature *out, const struct digest *secret_key,
                                 const struct masks_terms *terms, const struct masks_round *round,
                                 const struct masks_set *survivors)
{
    const struct digest digest = survivors_digest(terms, round, survivors);
    return key_sign(out, secret_key, digest_slice(&digest));
}

bool masks_survivors_are_signed(const struct signature *signature, const struct digest *signing_key,
                                const struct masks_terms *terms, const struct masks_round *round,
                                const struct masks_set *survivors)
{
    const struct digest digest = survivors_digest(terms, round, survivors);
    return key_verify(signature, signing_key, digest_slice(&digest));
}
