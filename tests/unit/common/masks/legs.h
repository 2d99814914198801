/* legs.h - a masked round among sites with keys of their own, for tests of the legs. */

#ifndef TESTS_MASKS_LEGS_H
#define TESTS_MASKS_LEGS_H

#include "masks/host.h"
#include "masks/site.h"
#include "tests/support/seeded_random.h"

enum { TABLE_SITES_MAX = 6, TABLE_WORDS = 5 };

/* Names "site-0" .. have their ranks as long as all of them send keys. */
struct table {
    size_t sites;
    struct seeded_random seeded;
    struct random random;
    struct masks_peers peers;
    struct key_pair signing[TABLE_SITES_MAX];
    struct masks_self self[TABLE_SITES_MAX];
    struct masks_terms terms;
    struct digest invitation;
    struct masks_site *site[TABLE_SITES_MAX];
    struct masks_host *host;
    uint64_t words[TABLE_SITES_MAX][TABLE_WORDS]; /* as they leave */
    uint64_t plain[TABLE_SITES_MAX][TABLE_WORDS];
    uint64_t sum[TABLE_WORDS];
};

/** Prepares a number of sites; c = 1, and h is the smallest, 1. Keys are drawn and peers listed; no leg has been
 * done. */
void table_init(struct table *table, size_t sites, uint64_t seed);
void table_free(struct table *table);
const char *table_name(size_t i);

/** The legs, of sites in a set of bits. Each asserts that it is taken. */
void table_send_keys(struct table *table, unsigned set);
void table_list(struct table *table, unsigned set);
/** The sum has the answers of those in `arrived`. */
void table_answer(struct table *table, unsigned set, unsigned arrived);
struct masks_set table_ranks(const struct table *table, unsigned set);
void table_settle(struct table *table, unsigned set);
void table_sign(struct table *table, unsigned set);
/** Gives the host what a site reveals, with the sum in the round's width: table->sum has it in 64 bits before and after. */
enum status table_take(struct table *table, size_t rank, struct slice reveal);
void table_reveal(struct table *table, unsigned set);

/** Returns the roster's bytes, until the next call. */
struct slice table_roster(const struct table *table);
struct slice table_open(const struct table *table);
/** Returns whether the sum is that of these sites, word for word. */
bool table_is_sum_of(const struct table *table, unsigned set);

#endif
