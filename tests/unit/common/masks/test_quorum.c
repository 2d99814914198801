/* How many sites a masked sum needs: known answers, what is refused, and the reason for the number of
 * signatures by enumeration. */

#include "masks/masks.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

static struct masks_quorum made(uint64_t sites, uint64_t dishonest, uint64_t honest)
{
    struct masks_quorum quorum;
    struct why why = {""};
    cr_assert_eq(masks_quorum_make(&quorum, sites, dishonest, honest, &why), STATUS_OK, "%s",
                 why.text);
    return quorum;
}

Test(quorum, known_answers)
{
    static const struct {
        uint64_t sites, dishonest, honest, least, signatures, opens_at;
    } row[] = {
        {5, 1, 3, 4, 4, 4},           {5, 1, 1, 2, 4, 4},      {5, 1, 4, 5, 4, 5},
        {32, 8, 13, 21, 21, 21},      {32, 8, 24, 32, 21, 32}, {2, 1, 1, 2, 2, 2},
        {3, 2, 1, 3, 3, 3},           {16, 4, 7, 11, 11, 11},  {255, 85, 86, 171, 171, 171},
        {255, 254, 1, 255, 255, 255},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct masks_quorum quorum = made(row[i].sites, row[i].dishonest, row[i].honest);
        cr_expect_eq(quorum.honest, row[i].honest, "row %zu", i);
        cr_expect_eq(quorum.least, row[i].least, "row %zu", i);
        cr_expect_eq(quorum.signatures, row[i].signatures, "row %zu", i);
        cr_expect_eq(quorum.opens_at, row[i].opens_at, "row %zu", i);
    }
}

Test(quorum, the_default_is_the_most_honest_ones_that_cost_no_survivor)
{
    cr_expect_eq(made(5, 1, 0).honest, 3);
    cr_expect_eq(made(32, 8, 0).honest, 13);
    for (uint64_t n = 2; n <= MASKS_SITES_MAX; n++) {
        for (uint64_t c = 1; c < n; c++) {
            struct masks_quorum quorum = made(n, c, 0);
            cr_assert(quorum.honest >= 1 && quorum.opens_at == quorum.signatures);
            cr_assert_leq(quorum.opens_at, n);
            if (quorum.honest + 1 <= n - c) {
                cr_assert_gt(made(n, c, quorum.honest + 1).opens_at, quorum.opens_at);
            }
        }
    }
}

Test(quorum, what_can_never_be_opened_is_refused)
{
    static const struct {
        uint64_t sites, dishonest, honest;
        const char *says;
    } row[] = {
        {5, 1, 5, "take at most 4 honest ones"},
        {32, 8, 25, "take at most 24 honest ones"},
        {5, 5, 0, "no site is left"},
        {1, 1, 1, "no site is left"},
        {0, 1, 0, "no site is left"},
        {5, 6, 0, "no site is left"},
        {5, 0, 3, "at least 1 site must count as dishonest"},
        {5, 1, UINT64_MAX, "take at most 4 honest ones"},
        {5, UINT64_MAX, 1, "no site is left"},
        {256, 1, 0, "at most 255 sites"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct masks_quorum quorum = {.sites = 9};
        struct why why = {""};
        cr_expect_eq(
            masks_quorum_make(&quorum, row[i].sites, row[i].dishonest, row[i].honest, &why),
            STATUS_INVALID, "row %zu", i);
        cr_expect(strstr(why.text, row[i].says) != NULL, "row %zu: %s", i, why.text);
        cr_expect_eq(quorum.sites, 0);
    }
}

static uint64_t members(unsigned set)
{
    return (uint64_t)__builtin_popcount(set);
}

/* Whether two lists can both be signed by m of n sites if the first c of them sign twice. */
static bool two_lists(unsigned n, unsigned c, uint64_t signatures)
{
    const unsigned twice = (1U << c) - 1;
    for (unsigned one = 0; one < 1U << n; one++) {
        for (unsigned other = 0; other < 1U << n && members(one) >= signatures; other++) {
            if (members(other) >= signatures && (one & other & ~twice) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The fault is planted: with one signature less, a coordinator opens two sums of one round. */
Test(quorum, two_lists_are_never_both_signed_and_with_a_signature_less_they_are)
{
    for (unsigned n = 2; n <= 8; n++) {
        for (unsigned c = 1; c < n; c++) {
            const uint64_t signatures = made(n, c, 0).signatures;
            cr_expect_not(two_lists(n, c, signatures), "n %u, c %u", n, c);
            cr_expect(two_lists(n, c, signatures - 1), "n %u, c %u", n, c);
        }
    }
}

/* Whichever sites survive, and whichever c of them subtract their shares, h shares stay. Planted:
 * with c = 0 in m fewer stay. */
Test(quorum, h_honest_sites_are_among_the_survivors)
{
    for (unsigned n = 2; n <= 8; n++) {
        for (unsigned c = 1; c < n; c++) {
            for (unsigned h = 1; h <= n - c; h++) {
                const struct masks_quorum quorum = made(n, c, h);
                bool planted = false;
                for (unsigned set = 0; set < 1U << n; set++) {
                    const uint64_t honest = members(set & ~((1U << c) - 1));
                    cr_assert(members(set) < quorum.opens_at || honest >= h, "n %u c %u h %u", n, c,
                              h);
                    planted = planted || (members(set) >= h && honest < h);
                }
                cr_assert(planted);
            }
        }
    }
}

/* What a coordinator may send: it asks honest site i to sign lists[i], and later shows it signatures over
 * this list. */
struct telling {
    unsigned n;
    unsigned c; /* sites 0 .. c - 1 help: they sign everything */
    uint64_t opens_at;
    uint64_t signatures; /* that a site wants to see */
    uint64_t honest_least;
    unsigned list[6]; /* of the honest sites, by what they signed */
    bool two_sums;    /* found: two different lists are opened */
    bool too_few;     /* found: one with fewer honest sites than the noise is for */
};

/* Site i reveals what opens the list it signed, if enough of that list's sites signed it too. */
static void judge_telling(struct telling *telling)
{
    unsigned opened = 0;
    for (unsigned i = telling->c; i < telling->n; i++) {
        const unsigned list = telling->list[i];
        uint64_t signatures = members(list & ((1U << telling->c) - 1));
        for (unsigned j = telling->c; j < telling->n; j++) {
            signatures += telling->list[j] == list;
        }
        if (list == 0 || signatures < telling->signatures) {
            continue;
        }
        telling->two_sums = telling->two_sums || (opened != 0 && opened != list);
        telling->too_few = telling->too_few || members(list >> telling->c) < telling->honest_least;
        opened = list;
    }
}

/* Every list that a site may sign: large enough, with the site in it; or 0, for none. */
static bool may_sign(const struct telling *telling, unsigned site, unsigned list)
{
    return list == 0 || ((list >> site & 1) == 1 && members(list) >= telling->opens_at);
}

static void tell_everything(struct telling *telling)
{
    unsigned site = telling->c;
    memset(telling->list, 0, sizeof telling->list);
    while (site < telling->n) {
        judge_telling(telling);
        for (site = telling->c; site < telling->n; site++) { /* the next way to tell */
            do {
                telling->list[site]++;
            } while (telling->list[site] < 1U << telling->n &&
                     !may_sign(telling, site, telling->list[site]));
            if (telling->list[site] < 1U << telling->n) {
                break;
            }
            telling->list[site] = 0;
        }
    }
}

/* Planted are a signature less, no signatures, and m without c. Each of them opens two sums of a round, or one with too
 * little noise, as soon as there are two honest sites. */
Test(quorum, whatever_each_honest_site_is_told_one_sum_of_h_honest_ones_is_opened)
{
    for (unsigned n = 2; n <= 6; n++) {
        for (unsigned c = 1; c < n; c++) {
            const struct masks_quorum quorum = made(n, c, 0);
            const uint64_t t = quorum.signatures;
            const struct {
                uint64_t opens_at;
                uint64_t signatures;
            } row[] = {
                {quorum.opens_at, t}, {t - 1, t - 1}, {quorum.opens_at, 0}, {quorum.honest, 0}};
            for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
                struct telling telling = {.n = n,
                                          .c = c,
                                          .opens_at = row[i].opens_at,
                                          .signatures = row[i].signatures,
                                          .honest_least = quorum.honest};
                tell_everything(&telling);
                const bool fails = telling.two_sums || telling.too_few;
                /* One honest site signs one list; and if all are needed there is one list. */
                const bool must_fail = n - c >= 2 && (row[i].opens_at < n || i == 3);
                cr_expect(i == 0 ? !fails : fails || !must_fail, "n %u, c %u, row %zu", n, c, i);
            }
        }
    }
}
