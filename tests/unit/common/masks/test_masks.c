/* Masks: known answers, no two streams alike, and sums word for word for every pattern of drop-outs. */

#include "crypto/key.h"
#include "masks/masks.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

enum { SITES_MAX = 6, WORDS = 1100 }; /* two parts of a stream and a bit */

static struct digest filled(uint8_t byte)
{
    struct digest digest;
    memset(digest.byte, byte, sizeof digest.byte);
    return digest;
}

static void expect(const struct digest *digest, const char *hex)
{
    struct digest wanted;
    cr_assert_eq(hex_decode(wanted.byte, sizeof wanted.byte, hex), STATUS_OK);
    cr_expect(digest_equal(digest, &wanted), "%s", hex);
}

/* By Python's hashlib and hmac; the shared secret of the pair is RFC 7748's. */
Test(masks, known_answers)
{
    const struct masks_round round = {.roster = filled(0x11), .invitation = filled(0x22)};
    const struct digest job = filled(0x33);
    struct digest nine = {{9}};
    struct digest seed;
    struct digest out;
    for (unsigned i = 0; i < sizeof seed.byte; i++) {
        seed.byte[i] = (uint8_t)i;
    }
    masks_commit(&out, &job, 7, (struct slice){"north", 5}, &seed);
    expect(&out, "27678832ee08f25871b596ae73778daadd9feaa21c325c8d19c5ac1484dd6b85");
    cr_assert_eq(masks_self_key(&out, &seed, &round), STATUS_OK);
    expect(&out, "a7ae31c6a7ae2ecb5dd852fa7a53cd4e5fb29c3319776019e157529098f00b6a");
    cr_assert_eq(masks_pair_key(&out, &nine, &nine, 5, 2, &round), STATUS_OK);
    expect(&out, "d41c2174ca50bab061c3d7fcac1a33b3d21a9c3daa81e39a2bd7729595853532");
    cr_assert_eq(masks_pair_key(&out, &nine, &nine, 2, 5, &round), STATUS_OK);
    expect(&out, "d41c2174ca50bab061c3d7fcac1a33b3d21a9c3daa81e39a2bd7729595853532");
    const struct digest none = {{0}};
    cr_assert_eq(masks_pair_key(&out, &nine, &none, 2, 5, &round), STATUS_INVALID);
    cr_assert(digest_is_none(&out));
}

/* The sites of a round, with all their secrets. */
struct federation {
    unsigned sites;
    struct key_pair pair[SITES_MAX];
    struct digest seed[SITES_MAX];
    struct masks_round round;
};

static void begin(struct federation *federation, unsigned sites, struct random *random)
{
    *federation = (struct federation){
        .sites = sites, .round = {.roster = filled((uint8_t)sites), .invitation = filled(0x22)}};
    for (unsigned i = 0; i < sites; i++) {
        cr_assert_eq(key_pair_generate(&federation->pair[i]), STATUS_OK);
        cr_assert_eq(random_fill(random, federation->seed[i].byte, DIGEST_BYTES), STATUS_OK);
    }
}

static struct digest pair_key(const struct federation *federation, unsigned own, unsigned other)
{
    struct digest key;
    cr_assert_eq(masks_pair_key(&key, &federation->pair[own].secret_key,
                                &federation->pair[other].public_key, own, other,
                                &federation->round),
                 STATUS_OK);
    return key;
}

static struct digest self_key(const struct federation *federation, unsigned own)
{
    struct digest key;
    cr_assert_eq(masks_self_key(&key, &federation->seed[own], &federation->round), STATUS_OK);
    return key;
}

static void apply(uint64_t *words, enum masks_width width, const struct digest *key, bool add)
{
    cr_assert_eq((add ? masks_add : masks_subtract)(words, WORDS, width, key), STATUS_OK);
}

/* What the coordinator computes from survivors (a set of ranks), each of which masked x. */
static void open_sum(uint64_t *sum, const struct federation *federation, enum masks_width width,
                     uint64_t x[SITES_MAX][WORDS], unsigned survivors)
{
    static uint64_t y[WORDS];
    memset(sum, 0, WORDS * sizeof *sum);
    for (unsigned i = 0; i < federation->sites; i++) {
        if ((survivors >> i & 1) == 0) {
            continue;
        }
        const struct digest self = self_key(federation, i);
        memcpy(y, x[i], sizeof y);
        apply(y, width, &self, true);
        apply(sum, width, &self, false);
        for (unsigned j = 0; j < federation->sites; j++) {
            if (j != i) {
                const struct digest key = pair_key(federation, i, j);
                apply(y, width, &key, j > i);
                if ((survivors >> j & 1) == 0) { /* revealed, and taken out again */
                    apply(sum, width, &key, j < i);
                }
            }
        }
        for (size_t w = 0; w < WORDS; w++) {
            sum[w] = (sum[w] + y[w]) & UINT64_MAX >> (64 - (unsigned)width);
        }
    }
}

Test(masks, sums_of_all_sets_of_survivors_are_right_word_for_word)
{
    static uint64_t x[SITES_MAX][WORDS];
    static uint64_t sum[WORDS];
    struct seeded_random seeded;
    struct federation federation;
    seeded_random_init(&seeded, 3);
    struct random random = seeded_random_interface(&seeded);
    for (unsigned sites = 2; sites <= SITES_MAX; sites++) {
        begin(&federation, sites, &random);
        for (int wide = 0; wide < 2; wide++) {
            const enum masks_width width = wide == 1 ? MASKS_64 : MASKS_32;
            const uint64_t ones = UINT64_MAX >> (64 - (unsigned)width);
            cr_assert_eq(random_fill(&random, x, sizeof x), STATUS_OK);
            for (unsigned survivors = 1; survivors < 1U << sites; survivors++) {
                for (unsigned i = 0; i < sites; i++) {
                    for (size_t w = 0; w < WORDS; w++) {
                        x[i][w] &= ones;
                    }
                }
                open_sum(sum, &federation, width, x, survivors);
                for (size_t w = 0; w < WORDS; w++) {
                    uint64_t wanted = 0;
                    for (unsigned i = 0; i < sites; i++) {
                        wanted += (survivors >> i & 1) == 1 ? x[i][w] : 0;
                    }
                    cr_assert_eq(sum[w], wanted & ones, "%u sites, survivors %x, word %zu", sites,
                                 survivors, w);
                }
            }
        }
    }
}

/* No two rounds, questions, pairs or kinds share a key; and a mask moves every part of a vector. */
Test(masks, streams_are_never_shared)
{
    struct seeded_random seeded;
    struct federation federation;
    struct digest key[64];
    size_t keys = 0;
    seeded_random_init(&seeded, 4);
    struct random random = seeded_random_interface(&seeded);
    begin(&federation, 4, &random);
    for (uint8_t change = 0; change < 3; change++) {
        federation.round.roster = filled(change == 1 ? 9 : 1);
        federation.round.invitation = filled(change == 2 ? 9 : 1);
        for (unsigned i = 0; i < federation.sites; i++) {
            key[keys++] = self_key(&federation, i);
            for (unsigned j = i + 1; j < federation.sites; j++) {
                key[keys++] = pair_key(&federation, i, j);
            }
        }
    }
    for (size_t a = 0; a < keys; a++) {
        static uint64_t words[WORDS];
        for (size_t b = 0; b < a; b++) {
            cr_assert_not(digest_equal(&key[a], &key[b]), "%zu and %zu", a, b);
        }
        memset(words, 0, sizeof words);
        apply(words, MASKS_64, &key[a], true);
        for (size_t w = 1; w < WORDS; w++) {
            cr_assert_neq(words[w], words[w - 1]);
            cr_assert_neq(words[w], 0);
        }
    }
}
