#include "io/allowance.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct allowance_terms terms = {.burst = 20, .per_s = 1};
static struct allowance allowance;

static bool take(size_t number, int64_t now_ms)
{
    char name[PEER_NAME_BYTES];
    (void)snprintf(name, sizeof name, "operator%zu", number);
    return allowance_take(&allowance, name, now_ms, 10, terms);
}

Test(allowance, each_name_has_its_own)
{
    cr_expect(take(1, 1000) && take(1, 1000));
    cr_expect_not(take(1, 1000), "its bucket is empty");
    cr_expect(take(2, 1000));
    cr_expect_not(take(1, 10999));
    cr_expect(take(1, 11000), "ten seconds later there are ten more");
}

Test(allowance, more_names_than_there_are_places_are_served)
{
    for (size_t i = 0; i < 3 * (size_t)ALLOWANCE_NAMES; i++) {
        cr_expect(take(i, 1000), "name %zu", i);
    }
}

/* Otherwise an operator who has used up an allowance could renew it by using other names. */
Test(allowance, a_name_that_has_little_left_keeps_its_place)
{
    cr_assert(take(0, 1000) && take(0, 1000) && !take(0, 1000));
    for (size_t i = 1; i < 3 * (size_t)ALLOWANCE_NAMES; i++) {
        cr_expect(take(i, 1000));
    }
    cr_expect_not(take(0, 1000));
    /* A name whose allowance is full again gives up its place. */
    cr_expect(take(3 * (size_t)ALLOWANCE_NAMES, 60000));
    cr_expect(take(0, 60000) && take(0, 60000) && !take(0, 60000));
}
