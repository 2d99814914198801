#include "masks/masks.h"

#include "base/check.h"
#include "crypto/agree.h"
#include "crypto/digest.h"
#include "masks/blend.h"

#include <inttypes.h>
#include <string.h>

enum { PART_WORDS = 512, RANKS = 256 };

static struct slice text_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

void masks_commit(struct digest *out, const struct digest *job, uint64_t round, struct slice name,
                  const struct digest *seed)
{
    uint8_t number[2][sizeof(uint64_t)];
    for (unsigned i = 0; i < sizeof(uint64_t); i++) {
        number[0][i] = (uint8_t)(round >> 8 * i);
        number[1][i] = (uint8_t)((uint64_t)name.size >> 8 * i);
    }
    const struct slice part[] = {text_of("hedgerow b 1"),
                                 {job->byte, DIGEST_BYTES},
                                 {number, sizeof number},
                                 name,
                                 {seed->byte, DIGEST_BYTES}};
    digest_sha256(out, part, sizeof part / sizeof part[0]);
}

enum status masks_self_key(struct digest *out, const struct digest *seed,
                           const struct masks_round *round)
{
    const struct slice info[] = {text_of("hedgerow self 1"),
                                 {round->roster.byte, DIGEST_BYTES},
                                 {round->invitation.byte, DIGEST_BYTES}};
    return agree_derive(out, seed, info, sizeof info / sizeof info[0]);
}

enum status masks_pair_key(struct digest *out, const struct digest *secret_key,
                           const struct digest *public_key, unsigned own, unsigned other,
                           const struct masks_round *round)
{
    CHECK(own != other && own < RANKS && other < RANKS);
    const uint8_t rank[2] = {(uint8_t)(own < other ? own : other),
                             (uint8_t)(own < other ? other : own)};
    const struct slice info[] = {text_of("hedgerow mask 1"),
                                 {round->roster.byte, DIGEST_BYTES},
                                 {round->invitation.byte, DIGEST_BYTES},
                                 {rank, sizeof rank}};
    struct digest shared;
    enum status status = agree_secret(&shared, secret_key, public_key);
    if (status == STATUS_OK) {
        status = agree_derive(out, &shared, info, sizeof info / sizeof info[0]);
    } else {
        memset(out, 0, sizeof *out);
    }
    bytes_wipe(&shared, sizeof shared);
    return status;
}

/* One of words and narrow is there. */
static enum status apply(uint64_t *words, uint32_t *narrow, size_t count, enum masks_width width,
                         const struct digest *key, bool subtract)
{
    uint8_t stream[PART_WORDS * sizeof(uint64_t)];
    const size_t bytes = (size_t)width / 8;
    struct agree_stream *source = agree_stream_new(key);
    enum status status = source == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK; done += PART_WORDS) {
        const size_t part = count - done < PART_WORDS ? count - done : PART_WORDS;
        status = agree_stream_next(source, stream, PART_WORDS * bytes);
        if (status == STATUS_OK && narrow != NULL) {
            masks_blend_narrow(narrow + done, stream, part, subtract);
        } else if (status == STATUS_OK) {
            masks_blend(words + done, stream, part, width, subtract);
        }
    }
    if (status != STATUS_OK && narrow != NULL) {
        memset(narrow, 0, count * sizeof *narrow);
    } else if (status != STATUS_OK && words != NULL) {
        memset(words, 0, count * sizeof *words);
    }
    agree_stream_free(source);
    bytes_wipe(stream, sizeof stream);
    return status;
}

enum status masks_add(uint64_t *words, size_t count, enum masks_width width,
                      const struct digest *key)
{
    return apply(words, NULL, count, width, key, false);
}

enum status masks_subtract(uint64_t *words, size_t count, enum masks_width width,
                           const struct digest *key)
{
    return apply(words, NULL, count, width, key, true);
}

enum status masks_add_narrow(uint32_t *words, size_t count, const struct digest *key)
{
    return apply(NULL, words, count, MASKS_32, key, false);
}

enum status masks_subtract_narrow(uint32_t *words, size_t count, const struct digest *key)
{
    return apply(NULL, words, count, MASKS_32, key, true);
}

enum status masks_quorum_make(struct masks_quorum *quorum, uint64_t sites, uint64_t dishonest,
                              uint64_t honest, struct why *why)
{
    *quorum = (struct masks_quorum){0};
    if (sites > MASKS_SITES_MAX) {
        return why_refuse(
            why,
            "a masked sum has at most %d sites; cut a larger cohort into groups, each "
            "with a sum and a noise of its own",
            MASKS_SITES_MAX);
    }
    if (dishonest == 0) {
        return why_refuse(why, "at least 1 site must count as dishonest: every site knows its own "
                               "share of the noise and can subtract it");
    }
    if (dishonest >= sites) {
        return why_refuse(why,
                          "%" PRIu64 " sites of which %" PRIu64
                          " may be dishonest: no site is left whose noise counts",
                          sites, dishonest);
    }
    if (honest > sites - dishonest) {
        return why_refuse(why,
                          "%" PRIu64 " honest survivors and %" PRIu64
                          " that may be dishonest are more than %" PRIu64
                          " sites, so no sum could be opened; take at most %" PRIu64 " honest ones",
                          honest, dishonest, sites, sites - dishonest);
    }
    const uint64_t signatures = (sites + dishonest) / 2 + 1;
    honest = honest == 0 ? signatures - dishonest : honest;
    const uint64_t least = honest + dishonest;
    *quorum = (struct masks_quorum){.sites = sites,
                                    .dishonest = dishonest,
                                    .honest = honest,
                                    .least = least,
                                    .signatures = signatures,
                                    .opens_at = least > signatures ? least : signatures};
    return STATUS_OK;
}
