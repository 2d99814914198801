/* How many sites a masked sum needs: known answers, what is refused, and the reason for the number of
 * signatures by enumeration. */

#include "masks/quorum.h"

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

/* Whether two lists can both be signed by so many of n sites when the first c of them sign twice. */
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

/* Whoever survives, and whichever c of them subtract their shares: h shares stay. With c = 0 in m,
 * which is planted, fewer do. */
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
