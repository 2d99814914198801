#include "dp/ledger.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct price limit = {.epsilon_micro = 1000000, .delta_atto = 1000};

/* The charge of pass `pass` for rows first .. first + 9. */
static struct charge charge_of(uint8_t pass, uint64_t first, uint64_t epsilon, uint64_t delta)
{
    return (struct charge){.epsilon_micro = epsilon,
                           .delta_atto = delta,
                           .pass = {{pass}},
                           .row_first = first,
                           .row_count = 10};
}

static struct cost spent_of(const struct ledger *ledger)
{
    return ledger_balance(ledger, ALLOWANCE_TOTAL).spent;
}

static enum status spend(struct ledger *ledger, struct charge charge)
{
    struct grant *grant = NULL;
    struct cost before = spent_of(ledger);
    enum status status = ledger_spend(ledger, &grant, &charge, NULL);
    cr_assert_eq(grant != NULL, status == STATUS_OK);
    if (grant != NULL) {
        cr_assert(memcmp(grant_charge(grant), &charge, sizeof charge) == 0);
    } else {
        cr_assert_eq(spent_of(ledger).epsilon_micro, before.epsilon_micro);
        cr_assert_eq(spent_of(ledger).delta_atto, before.delta_atto);
    }
    grant_free(grant);
    return status;
}

Test(ledger, passes_add_up_to_the_limit_and_not_beyond)
{
    struct ledger *ledger = ledger_new(limit);
    cr_assert_eq(spend(ledger, charge_of(1, 0, 400000, 0)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(2, 0, 600001, 0)), STATUS_EXHAUSTED);
    cr_assert_eq(spend(ledger, charge_of(2, 0, 600000, 0)), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 1000000);
    cr_assert_eq(spend(ledger, charge_of(3, 0, 1, 0)), STATUS_EXHAUSTED);
    ledger_free(ledger);
}

/* Half of delta is for the charges' own; the other half for what their divergences may fail with,
 * whichever of the two arms is in use. */
Test(ledger, delta_has_a_limit_of_its_own)
{
    struct ledger *ledger = ledger_new(limit);
    cr_assert_eq(spend(ledger, charge_of(1, 0, 1, 501)), STATUS_EXHAUSTED);
    cr_assert_eq(spend(ledger, charge_of(1, 0, 1, 500)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(2, 0, 1, 1)), STATUS_EXHAUSTED);
    cr_assert_eq(spend(ledger, charge_of(2, 0, 1, 0)), STATUS_OK);
    ledger_free(ledger);
}

Test(ledger, disjoint_rows_of_one_pass_cost_the_largest_charge)
{
    struct ledger *ledger = ledger_new(limit);
    cr_assert_eq(spend(ledger, charge_of(1, 0, 300000, 5)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(1, 10, 300000, 5)), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 300000);
    struct charge dearer = charge_of(1, 20, 500000, 3);
    cr_assert_eq(ledger_would_cost(ledger, &dearer).epsilon_micro, 200000);
    cr_assert_eq(ledger_would_cost(ledger, &dearer).delta_atto, 0);
    cr_assert_eq(spend(ledger, dearer), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 500000);
    cr_assert_eq(spent_of(ledger).delta_atto, 5);
    ledger_free(ledger);
}

Test(ledger, a_row_is_paid_for_once_in_a_pass)
{
    struct ledger *ledger = ledger_new(limit);
    cr_assert_eq(spend(ledger, charge_of(1, 10, 1, 0)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(1, 19, 1, 0)), STATUS_INVALID, "the last row");
    cr_assert_eq(spend(ledger, charge_of(1, 1, 1, 0)), STATUS_INVALID, "the first row");
    cr_assert_eq(spend(ledger, charge_of(1, 10, 1, 0)), STATUS_INVALID, "the same charge again");
    cr_assert_eq(spend(ledger, charge_of(1, 20, 1, 0)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(1, 0, 1, 0)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(2, 10, 1, 0)), STATUS_OK, "another pass, other money");
    ledger_free(ledger);
}

Test(ledger, an_invalid_charge_is_refused)
{
    struct ledger *ledger = ledger_new(limit);
    struct charge charge = charge_of(0, 0, 1, 0);
    cr_assert_eq(spend(ledger, charge), STATUS_INVALID, "no pass");
    cr_assert_eq(spend(ledger, charge_of(1, 0, 0, 0)), STATUS_INVALID, "no price");
    cr_assert_eq(spend(ledger, charge_of(1, UINT64_MAX - 5, 1, 0)), STATUS_INVALID, "no such rows");
    charge = charge_of(1, 0, 1, 0);
    charge.row_count = 0;
    cr_assert_eq(spend(ledger, charge), STATUS_INVALID, "no rows");
    ledger_free(ledger);
}

Test(ledger, sums_saturate_and_never_wrap)
{
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX, UINT64_MAX});
    cr_assert_eq(spend(ledger, charge_of(1, 0, UINT64_MAX - 1, 0)), STATUS_OK);
    cr_assert_eq(spend(ledger, charge_of(2, 0, 2, 0)), STATUS_EXHAUSTED);
    struct charge huge = charge_of(3, 0, UINT64_MAX, 0);
    for (uint8_t i = 0; i < 3; i++) {
        cr_assert_eq(ledger_restore(ledger, &huge), STATUS_OK);
        cr_assert_eq(spent_of(ledger).epsilon_micro, UINT64_MAX);
    }
    ledger_free(ledger);
}

Test(ledger, restore_counts_what_a_spend_would_refuse)
{
    struct ledger *ledger = ledger_new(limit);
    struct charge over = charge_of(1, 0, 2000000, 0);
    cr_assert_eq(ledger_restore(ledger, &over), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 2000000);
    struct charge next = charge_of(1, 50, 1, 0);
    struct why why = {{0}};
    cr_assert_eq(ledger_check(ledger, &next, &why), STATUS_EXHAUSTED,
                 "beyond the limit even what adds nothing is refused");
    cr_assert_not_null(strstr(why.text, "left are epsilon 0 and delta"), "%s", why.text);
    struct charge again = charge_of(1, 5, 100, 0);
    cr_assert_eq(ledger_restore(ledger, &again), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 2000100, "rows paid for twice add up");
    struct charge broken = charge_of(0, 0, 7, 9);
    broken.row_count = 0;
    cr_assert_eq(ledger_restore(ledger, &broken), STATUS_OK);
    cr_assert_eq(spent_of(ledger).epsilon_micro, UINT64_MAX, "what is no charge has no bound");
    cr_assert_eq(spent_of(ledger).delta_atto, UINT64_MAX);
    ledger_free(ledger);
}

Test(ledger, says_what_is_missing)
{
    struct ledger *ledger = ledger_new(limit);
    struct charge charge = charge_of(1, 0, 1500000, 0);
    struct grant *grant = NULL;
    struct why why = {{0}};
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, &why), STATUS_EXHAUSTED);
    cr_assert_not_null(strstr(why.text, "cost epsilon 1.5 and delta 0, left are epsilon 1 and"));
    ledger_free(ledger);
}

Test(ledger, a_grant_outlives_nothing_and_an_unused_one_stays_spent)
{
    struct ledger *ledger = ledger_new(limit);
    struct charge charge = charge_of(1, 0, 400000, 0);
    struct grant *grant = NULL;
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    grant_free(grant);
    grant_free(NULL);
    cr_assert_eq(spent_of(ledger).epsilon_micro, 400000);
    ledger_free(ledger);
    ledger_free(NULL);
}

Test(ledger, keeps_many_passes_apart)
{
    enum { PASSES = 100000 };
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX, 0});
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < PASSES; i++) {
            struct charge charge = charge_of(1, (uint64_t)round * 10, 3, 0);
            store_u32(charge.pass.byte + (i % 2 == 0 ? 8 : 0), i + 1); /* half of them collide */
            if (i % 2 == 0 && i > 2000) {
                store_u32(charge.pass.byte, i);
            }
            cr_assert_eq(ledger_restore(ledger, &charge), STATUS_OK);
        }
        cr_assert_eq(spent_of(ledger).epsilon_micro, 3 * PASSES);
    }
    ledger_free(ledger);
}
