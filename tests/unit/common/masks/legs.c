#include "legs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool in(unsigned set, size_t i)
{
    return (set >> i & 1) == 1;
}

const char *table_name(size_t i)
{
    static const char *const name[TABLE_SITES_MAX] = {"site-0", "site-1", "site-2",
                                                      "site-3", "site-4", "site-5"};
    return name[i];
}

void table_init(struct table *table, size_t sites, uint64_t seed)
{
    memset(table, 0, sizeof *table);
    table->sites = sites;
    seeded_random_init(&table->seeded, seed);
    table->random = seeded_random_interface(&table->seeded);
    table->terms = (struct masks_terms){.job = {{1, 2, 3}},
                                        .round = 7,
                                        .sites_least = 2,
                                        .dishonest = 1,
                                        .honest = 1,
                                        .width = MASKS_64};
    table->invitation = (struct digest){{9, 9}};
    for (size_t i = 0; i < sites; i++) {
        cr_assert_eq(key_signing_generate(&table->signing[i]), STATUS_OK);
        cr_assert_eq(
            masks_peers_add(&table->peers, table_name(i), &table->signing[i].public_key, NULL),
            STATUS_OK);
        table->self[i] = (struct masks_self){&table->peers, &table->signing[i], &table->random};
        for (size_t w = 0; w < TABLE_WORDS; w++) {
            table->plain[i][w] = seeded_random_word(&table->seeded);
        }
    }
    cr_assert_eq(masks_host_new(&table->host, &table->terms, &table->invitation), STATUS_OK);
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < TABLE_SITES_MAX; i++) {
        masks_site_free(table->site[i]);
        table->site[i] = NULL;
    }
    masks_host_free(table->host);
    table->host = NULL;
}

void table_send_keys(struct table *table, unsigned set)
{
    uint8_t keys[MASKS_KEYS_BYTES];
    struct why why = {""};
    for (size_t i = 0; i < table->sites; i++) {
        if (in(set, i)) {
            masks_site_free(table->site[i]);
            cr_assert_eq(masks_site_new(&table->site[i], &table->self[i], &table->terms,
                                        &table->invitation, &why),
                         STATUS_OK, "%s", why.text);
            masks_site_keys(table->site[i], keys);
            cr_assert_eq(masks_host_take_keys(table->host, table_name(i),
                                              (struct slice){keys, sizeof keys}, &why),
                         STATUS_OK, "%s", why.text);
        }
    }
}

struct slice table_roster(const struct table *table)
{
    static uint8_t bytes[MASKS_ROSTER_BYTES_MAX];
    return (struct slice){bytes, masks_roster_pack(bytes, masks_host_roster(table->host))};
}

void table_list(struct table *table, unsigned set)
{
    struct why why = {""};
    if (!masks_host_is_listed(table->host)) {
        cr_assert_eq(masks_host_list(table->host, &why), STATUS_OK, "%s", why.text);
    }
    for (size_t i = 0; i < table->sites; i++) {
        if (in(set, i)) {
            cr_assert_eq(masks_site_list(table->site[i], table_roster(table), &why), STATUS_OK,
                         "%s", why.text);
        }
    }
}

void table_answer(struct table *table, unsigned set, unsigned arrived)
{
    for (size_t i = 0; i < table->sites; i++) {
        if (!in(set, i)) {
            continue;
        }
        memcpy(table->words[i], table->plain[i], sizeof table->words[i]);
        cr_assert_eq(masks_site_mask(table->site[i], table->words[i], TABLE_WORDS), STATUS_OK);
        for (size_t w = 0; w < TABLE_WORDS && in(arrived, i); w++) {
            table->sum[w] += table->words[i][w];
        }
    }
}

struct masks_set table_ranks(const struct table *table, unsigned set)
{
    struct masks_set ranks = {{0}};
    for (size_t i = 0; i < table->sites; i++) {
        if (in(set, i)) {
            masks_set_add(&ranks, masks_roster_rank(masks_host_roster(table->host), table_name(i)));
        }
    }
    return ranks;
}

void table_settle(struct table *table, unsigned set)
{
    const struct masks_set ranks = table_ranks(table, set);
    struct why why = {""};
    cr_assert_eq(masks_host_settle(table->host, &ranks, &why), STATUS_OK, "%s", why.text);
}

static size_t rank_of(const struct table *table, size_t i)
{
    return masks_roster_rank(masks_host_roster(table->host), table_name(i));
}

void table_sign(struct table *table, unsigned set)
{
    struct signature signature;
    struct why why = {""};
    bool again = false;
    for (size_t i = 0; i < table->sites; i++) {
        if (in(set, i)) {
            cr_assert_eq(
                masks_site_note(table->site[i], masks_host_survivors(table->host), &again, &why),
                STATUS_OK, "%s", why.text);
            cr_assert_eq(masks_site_sign(table->site[i], &signature), STATUS_OK);
            cr_assert_eq(masks_host_take_signature(table->host, rank_of(table, i),
                                                   (struct slice){signature.byte, SIGNATURE_BYTES}),
                         STATUS_OK);
        }
    }
}

struct slice table_open(const struct table *table)
{
    static uint8_t bytes[MASKS_OPEN_BYTES_MAX];
    return (struct slice){bytes, masks_host_open(table->host, bytes)};
}

enum status table_take(struct table *table, size_t rank, struct slice reveal)
{
    uint32_t narrow[TABLE_WORDS];
    if (table->terms.width == MASKS_64) {
        return masks_host_take_reveal(table->host, rank, reveal, table->sum, NULL, TABLE_WORDS);
    }
    for (size_t w = 0; w < TABLE_WORDS; w++) {
        narrow[w] = (uint32_t)table->sum[w];
    }
    const enum status status =
        masks_host_take_reveal(table->host, rank, reveal, NULL, narrow, TABLE_WORDS);
    for (size_t w = 0; w < TABLE_WORDS; w++) {
        table->sum[w] = (uint64_t)(int64_t)(int32_t)narrow[w];
    }
    return status;
}

void table_reveal(struct table *table, unsigned set)
{
    uint8_t reveal[MASKS_REVEAL_BYTES_MAX];
    size_t size = 0;
    struct why why = {""};
    for (size_t i = 0; i < table->sites; i++) {
        if (in(set, i)) {
            cr_assert_eq(masks_site_reveal(table->site[i], table_open(table), reveal, &size, &why),
                         STATUS_OK, "%s", why.text);
            for (int twice = 0; twice < 2; twice++) { /* a message that comes doubled */
                cr_assert_eq(table_take(table, rank_of(table, i), (struct slice){reveal, size}),
                             STATUS_OK);
            }
        }
    }
}

bool table_is_sum_of(const struct table *table, unsigned set)
{
    bool same = true;
    for (size_t w = 0; w < TABLE_WORDS; w++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < table->sites; i++) {
            sum += in(set, i) ? table->plain[i][w] : 0;
        }
        same = same && sum == table->sum[w];
    }
    return same;
}
