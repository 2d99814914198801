/* A masked round from keys to its sum: the opened sum is word for word that of the survivors' answers, whichever site
 * leaves at whichever leg. Without what the survivors reveal nothing can be opened. */

#include "legs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct table table;

static unsigned bits(unsigned set)
{
    return (unsigned)__builtin_popcount(set);
}

/* Where a site leaves for good. */
enum leaves { BEFORE_KEYS, BEFORE_ANSWER, BEFORE_SIGNATURE, BEFORE_REVEAL, NEVER, LEGS };

/* Runs a round of `sites` sites; the digits of a number say at which leg each one leaves. Returns
 * whether the sum was opened. */
static bool play(unsigned sites, unsigned ends)
{
    unsigned there[LEGS] = {0}; /* who is still there at that leg */
    unsigned survivors;
    for (unsigned i = 0; i < sites; i++, ends /= LEGS) {
        for (unsigned leg = 0; leg < LEGS; leg++) {
            there[leg] |= ends % LEGS > leg ? 1u << i : 0;
        }
    }
    table_init(&table, sites, sites);
    table_send_keys(&table, there[BEFORE_KEYS]);
    if (masks_host_list(table.host, NULL) != STATUS_OK) {
        return false;
    }
    const struct masks_quorum *quorum = masks_host_quorum(table.host);
    table_list(&table, there[BEFORE_KEYS]);
    survivors = there[BEFORE_ANSWER];
    table_answer(&table, there[BEFORE_KEYS], survivors);
    if (bits(survivors) < quorum->opens_at) {
        const struct masks_set ranks = table_ranks(&table, survivors);
        cr_assert_eq(masks_host_settle(table.host, &ranks, NULL), STATUS_INVALID);
        return false;
    }
    table_settle(&table, survivors);
    table_sign(&table, there[BEFORE_SIGNATURE]);
    cr_assert_eq(masks_host_may_open(table.host),
                 bits(there[BEFORE_SIGNATURE]) >= quorum->signatures);
    if (!masks_host_may_open(table.host)) {
        return false;
    }
    table_reveal(&table, there[BEFORE_REVEAL]);
    cr_assert_eq(masks_host_is_open(table.host), there[BEFORE_REVEAL] == survivors);
    cr_assert_eq(table_is_sum_of(&table, survivors), there[BEFORE_REVEAL] == survivors);
    return masks_host_is_open(table.host);
}

Test(legs, the_opened_sum_is_that_of_the_survivors_whichever_site_leaves_at_whichever_leg)
{
    unsigned opened = 0;
    for (unsigned sites = 2; sites <= 4; sites++) {
        unsigned ways = 1;
        for (unsigned i = 0; i < sites; i++) {
            ways *= LEGS;
        }
        for (unsigned ends = 0; ends < ways; ends++) {
            opened += play(sites, ends);
            table_free(&table);
        }
    }
    cr_expect_gt(opened, 10);
}

/* Five and six sites: every way in which numbers of them leave at the legs. A permutation, another each time, says
 * which ones leave. */
Test(legs, the_opened_sum_is_that_of_the_survivors_however_many_of_five_and_six_leave)
{
    unsigned opened = 0;
    unsigned played = 0;
    for (unsigned sites = 5; sites <= TABLE_SITES_MAX; sites++) {
        unsigned leg[TABLE_SITES_MAX] = {0};
        for (unsigned last = 0; last < sites;) {
            unsigned ends = 0;
            for (unsigned i = 0; i < sites; i++) {
                ends = ends * LEGS + leg[(i * (sites - 1) + played) % sites];
            }
            opened += play(sites, ends);
            table_free(&table);
            played++;
            for (last = 0; last < sites && leg[last] == LEGS - 1; last++) {
            }
            for (unsigned i = 0; last < sites && i <= last; i++) {
                leg[i] = i == 0 ? leg[last] + 1 : leg[0]; /* falling: each multiset comes once */
            }
        }
    }
    cr_expect_eq(played, 126 + 210, "%u", played);
    cr_expect_gt(opened, 10);
}

/* All sets of survivors, each with all of its sites to the end. */
Test(legs, the_opened_sum_is_that_of_any_survivors_of_five_and_six)
{
    for (unsigned sites = 5; sites <= TABLE_SITES_MAX; sites++) {
        const unsigned all = (1u << sites) - 1;
        for (unsigned survivors = 0; survivors <= all; survivors++) {
            table_init(&table, sites, survivors);
            table_send_keys(&table, all);
            table_list(&table, all);
            table_answer(&table, all, survivors);
            if (bits(survivors) >= masks_host_quorum(table.host)->opens_at) {
                table_settle(&table, survivors);
                table_sign(&table, survivors);
                table_reveal(&table, survivors);
                cr_assert(masks_host_is_open(table.host));
                cr_assert(table_is_sum_of(&table, survivors));
            }
            table_free(&table);
        }
    }
}

/* After a restart the journal gives the same signature and the same reveal, and no second list. */
Test(legs, a_site_that_died_goes_on_with_the_same_bytes)
{
    uint8_t before[MASKS_REVEAL_BYTES_MAX];
    uint8_t after[MASKS_REVEAL_BYTES_MAX];
    size_t size[2];
    uint8_t *packed = NULL;
    size_t packed_size = 0;
    struct signature signature[2];
    bool again = false;
    struct why why = {""};
    table_init(&table, 4, 1);
    table_send_keys(&table, 15);
    table_list(&table, 15);
    table_answer(&table, 15, 7);
    table_settle(&table, 7);
    table_sign(&table, 7);
    cr_assert_eq(masks_site_sign(table.site[0], &signature[0]), STATUS_OK);
    cr_assert_eq(masks_site_reveal(table.site[0], table_open(&table), before, &size[0], &why),
                 STATUS_OK);
    cr_assert_eq(masks_site_pack(table.site[0], &packed, &packed_size), STATUS_OK);
    masks_site_free(table.site[0]);
    cr_assert_eq(masks_site_unpack(&table.site[0], &table.self[0], &table.terms, &table.invitation,
                                   (struct slice){packed, packed_size}),
                 STATUS_OK);
    const struct masks_set other = table_ranks(&table, 13);
    cr_assert_eq(masks_site_reveal(table.site[0], table_open(&table), after, &size[1], &why),
                 STATUS_REFUSED, "nothing is revealed before the list is signed");
    cr_assert_eq(masks_site_note(table.site[0], masks_host_survivors(table.host), &again, &why),
                 STATUS_OK);
    cr_assert_eq(masks_site_note(table.site[0], &other, &again, &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "another list of survivors was signed"));
    cr_assert_eq(masks_site_sign(table.site[0], &signature[1]), STATUS_OK);
    cr_expect_arr_eq(signature[0].byte, signature[1].byte, SIGNATURE_BYTES);
    cr_assert_eq(masks_site_reveal(table.site[0], table_open(&table), after, &size[1], &why),
                 STATUS_OK);
    cr_assert_eq(size[0], size[1]);
    cr_expect_arr_eq(before, after, size[0]);
    for (size_t cut = 0; cut < packed_size; cut += 31) {
        struct masks_site *none = NULL;
        cr_expect_eq(masks_site_unpack(&none, &table.self[0], &table.terms, &table.invitation,
                                       (struct slice){packed, cut}),
                     STATUS_CORRUPT, "%zu", cut);
    }
    free(packed);
    table_free(&table);
}

/* A site is sent two rosters with the same keys, and dies after it accepted the first. Nothing of that has left. */
Test(legs, a_site_that_died_before_its_answer_answers_a_roster_of_its_keys)
{
    uint8_t packed[MASKS_KEYED_BYTES];
    struct masks_site *none = NULL;
    struct masks_terms other = {.round = 0};
    table_init(&table, 4, 3);
    table_send_keys(&table, 7);
    masks_site_pack_keys(table.site[0], packed);
    cr_assert_eq(masks_site_list(table.site[0], table_roster(&table), NULL), STATUS_OK);
    table_send_keys(&table, 8); /* one more: the roster that is committed is another one */
    masks_site_free(table.site[0]);
    const struct slice all = {packed, sizeof packed};
    cr_assert_eq(masks_site_unpack_keys(&table.site[0], &table.self[0], &table.terms,
                                        &table.invitation, all),
                 STATUS_OK);
    table_list(&table, 15);
    table_answer(&table, 15, 7);
    table_settle(&table, 7);
    table_sign(&table, 7);
    table_reveal(&table, 7);
    cr_expect(table_is_sum_of(&table, 7));
    other = table.terms;
    other.round++;
    cr_expect_eq(masks_site_unpack_keys(&none, &table.self[0], &other, &table.invitation, all),
                 STATUS_CORRUPT, "keys of another round");
    cr_expect_eq(
        masks_site_unpack_keys(&none, &table.self[1], &table.terms, &table.invitation, all),
        STATUS_CORRUPT, "keys of another site");
    for (size_t at = 0; at < sizeof packed; at += 7) {
        packed[at] ^=
            0x40; /* of an X25519 secret bits 0 to 2, 254 and 255 are fixed, and none is turned over */
        cr_expect_eq(
            masks_site_unpack_keys(&none, &table.self[0], &table.terms, &table.invitation, all),
            STATUS_CORRUPT, "byte %zu", at);
        packed[at] ^= 0x40;
    }
    cr_expect_eq(masks_site_unpack_keys(&none, &table.self[0], &table.terms, &table.invitation,
                                        (struct slice){packed, sizeof packed - 1}),
                 STATUS_CORRUPT);
    table_free(&table);
}

static int order(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_BYTES);
}

/* The seeds and pairs' keys of two rounds of the same sites on the same question: a pair's key is there twice, at both
 * of its ends, and nothing else is. */
Test(legs, no_two_rounds_pairs_or_sites_share_a_stream)
{
    enum { SITES = 4, EACH = SITES, KEYS = 2 * SITES * EACH };
    static struct digest key[KEYS];
    size_t count = 0;
    for (unsigned round = 0; round < 2; round++) {
        table_init(&table, SITES, round);
        table_send_keys(&table, 15);
        table_list(&table, 15);
        table_answer(&table, 15, 15);
        for (size_t i = 0; i < SITES; i++) {
            uint8_t *packed = NULL;
            size_t size = 0;
            cr_assert_eq(masks_site_pack(table.site[i], &packed, &size), STATUS_OK);
            for (size_t j = 0; j <= SITES; j++) {
                struct digest one;
                memcpy(one.byte, packed + j * DIGEST_BYTES, DIGEST_BYTES);
                if (!digest_is_none(&one)) { /* of itself */
                    key[count++] = one;
                }
            }
            free(packed);
        }
        table_free(&table);
    }
    cr_assert_eq(count, KEYS);
    qsort(key, count, sizeof key[0], order);
    size_t alike = 0;
    for (size_t i = 1; i < count; i++) {
        alike += digest_equal(&key[i], &key[i - 1]) ? 1 : 0;
    }
    cr_expect_eq(alike, 2 * SITES * (SITES - 1) / 2);
}

Test(legs, a_restarted_coordinator_takes_its_roster_back)
{
    struct masks_host *host = NULL;
    table_init(&table, 3, 1);
    table_send_keys(&table, 7);
    table_list(&table, 7);
    cr_assert_eq(masks_host_new(&host, &table.terms, &table.invitation), STATUS_OK);
    cr_assert_eq(masks_host_restore(host, table_roster(&table)), STATUS_OK);
    masks_host_free(table.host);
    table.host = host;
    table_answer(&table, 7, 7);
    table_settle(&table, 7);
    table_sign(&table, 7);
    table_reveal(&table, 7);
    cr_expect(table_is_sum_of(&table, 7));
    cr_assert_eq(masks_host_new(&host, &table.terms, &table.invitation), STATUS_OK);
    cr_expect_eq(masks_host_restore(host, (struct slice){"x", 1}), STATUS_CORRUPT);
    masks_host_free(host);
    table_free(&table);
}
