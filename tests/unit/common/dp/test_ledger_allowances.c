/* Several allowances at once: the strictest decides, and says which it is and what to change. */

#include "dp/ledger.h"
#include "dp/window.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct allowances limits = {
    .total = {5000000, 0}, .job = {2000000, 0}, .window = {3000000, 0}, .window_days = 365};

static struct charge charge_of(uint8_t pass, uint64_t epsilon)
{
    return (struct charge){.epsilon_micro = epsilon, .pass = {{pass}}, .row_count = 10};
}

static void at(struct ledger *ledger, uint8_t job, int64_t day)
{
    ledger_at(ledger, &(struct occasion){.job = {{job}}, .wall_ms = day * DAY_MS});
}

static enum status spend(struct ledger *ledger, uint8_t pass, uint64_t epsilon, const char *key)
{
    struct grant *grant = NULL;
    struct why why = {{0}};
    struct charge charge = charge_of(pass, epsilon);
    enum status status = ledger_spend(ledger, &grant, &charge, &why);
    if (key != NULL) {
        cr_expect(strstr(why.text, key) != NULL, "%s: %s", key, why.text);
    }
    grant_free(grant);
    return status;
}

Test(ledger_allowances, each_of_them_refuses_by_its_own_name)
{
    struct ledger *ledger = ledger_open(&limits);
    at(ledger, 1, 1000);
    cr_assert_eq(spend(ledger, 1, 2000001, "job_epsilon"), STATUS_EXHAUSTED);
    cr_assert_eq(spend(ledger, 1, 2000000, NULL), STATUS_OK);
    cr_assert_eq(spend(ledger, 2, 1, "job_epsilon"), STATUS_EXHAUSTED);
    at(ledger, 2, 1001);
    cr_assert_eq(spend(ledger, 2, 1000001, "allowance_epsilon"), STATUS_EXHAUSTED);
    cr_assert_eq(spend(ledger, 2, 1000000, NULL), STATUS_OK);
    at(ledger, 3, 1000 + 365);
    cr_assert_eq(spend(ledger, 3, 1, "allowance_days"), STATUS_EXHAUSTED, "a day early");
    at(ledger, 3, 1000 + 366);
    cr_assert_eq(spend(ledger, 3, 2000000, NULL), STATUS_OK);
    at(ledger, 4, 5000);
    cr_assert_eq(spend(ledger, 4, 1, "(epsilon, delta)"), STATUS_EXHAUSTED, "the total is spent");
    cr_assert_eq(ledger_job_count(ledger), 3);
    ledger_free(ledger);
}

Test(ledger_allowances, a_refusal_changes_none_of_them)
{
    struct ledger *ledger = ledger_open(&limits);
    at(ledger, 1, 10);
    cr_assert_eq(spend(ledger, 1, 1500000, NULL), STATUS_OK);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(spend(ledger, 2, 500001, NULL), STATUS_EXHAUSTED);
    }
    for (unsigned i = 0; i < ALLOWANCE_COUNT; i++) {
        cr_assert_eq(ledger_balance(ledger, (enum allowance)i).spent.epsilon_micro, 1500000);
    }
    cr_assert_eq(spend(ledger, 2, 500000, NULL), STATUS_OK);
    ledger_free(ledger);
}

/* Rows of one pass, years apart: the pass counts whole on its latest day. */
Test(ledger_allowances, an_old_charge_does_not_hide_a_new_one_of_its_pass)
{
    struct ledger *ledger = ledger_open(&limits);
    struct charge charge = charge_of(1, 1800000);
    struct grant *grant = NULL;
    at(ledger, 1, 10);
    cr_assert_eq(spend(ledger, 1, 1900000, NULL), STATUS_OK);
    at(ledger, 1, 2000);
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_WINDOW).spent.epsilon_micro, 0);
    charge.row_first = 10;
    cr_assert_eq(ledger_would_cost(ledger, &charge).epsilon_micro, 0);
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    grant_free(grant);
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_WINDOW).spent.epsilon_micro, 1900000);
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro, 1900000);
    ledger_free(ledger);
}

Test(ledger_allowances, a_pass_belongs_to_one_job)
{
    struct ledger *ledger = ledger_open(&limits);
    struct charge charge = charge_of(1, 700000);
    charge.row_first = 50;
    at(ledger, 1, 10);
    cr_assert_eq(spend(ledger, 1, 700000, NULL), STATUS_OK);
    at(ledger, 2, 10);
    cr_assert_eq(ledger_check(ledger, &charge, NULL), STATUS_INVALID);
    cr_assert_eq(ledger_restore(ledger, &charge), STATUS_OK);
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_JOB).spent.epsilon_micro, 700000,
                 "what the journal holds is counted in full to whoever spent it");
    ledger_free(ledger);
}

Test(ledger_allowances, other_neighbours_are_refused_and_never_forgotten)
{
    struct ledger *ledger = ledger_open(&limits);
    struct charge charge = charge_of(1, 1);
    struct why why = {{0}};
    charge.neighbours = NEIGHBOURS_ADD_REMOVE;
    cr_assert_eq(ledger_check(ledger, &charge, &why), STATUS_INVALID);
    cr_assert_not_null(strstr(why.text, "add-remove"));
    cr_assert_eq(ledger_restore(ledger, &charge), STATUS_OK);
    cr_assert_eq(spend(ledger, 2, 1, NULL), STATUS_EXHAUSTED);
    ledger_free(ledger);
}

/* By divergence a hundred charges of 0.1 fit where their sum does not. */
Test(ledger_allowances, with_delta_more_fits_than_the_sum)
{
    struct allowances approximate = {.total = {5000000, 20000000000000}};
    struct ledger *ledger = ledger_open(&approximate);
    for (uint8_t pass = 1; pass <= 100; pass++) {
        cr_assert_eq(spend(ledger, pass, 100000, NULL), STATUS_OK, "%u", pass);
    }
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro, 10000000);
    cr_assert_eq(spend(ledger, 200, 2000000, "divergence would reach"), STATUS_EXHAUSTED);
    ledger_free(ledger);
}

static const struct allowances yearly = {
    .total = {100000000, 0}, .window = {3000000, 0}, .window_days = 365};

/* Days since 1970: a year of 366 of them is longer than 365 days, and a charge of the day after a leap
 * day is free a year later. */
Test(ledger_allowances, a_window_counts_days_and_knows_no_years)
{
    enum { LEAP_DAY = 21243 /* 29 February 2028 */ };
    struct ledger *ledger = ledger_open(&yearly);
    at(ledger, 1, LEAP_DAY - 365); /* 1 March 2027 */
    cr_assert_eq(spend(ledger, 1, 3000000, NULL), STATUS_OK);
    at(ledger, 1, LEAP_DAY);
    cr_assert_eq(spend(ledger, 2, 1, "allowance_days"), STATUS_EXHAUSTED);
    at(ledger, 1, LEAP_DAY + 1);
    cr_assert_eq(spend(ledger, 2, 3000000, NULL), STATUS_OK);
    at(ledger, 1, LEAP_DAY + 1 + 365); /* 1 March 2029 */
    cr_assert_eq(spend(ledger, 3, 1, "allowance_days"), STATUS_EXHAUSTED);
    at(ledger, 1, LEAP_DAY + 2 + 365);
    cr_assert_eq(spend(ledger, 3, 3000000, NULL), STATUS_OK);
    ledger_free(ledger);
}

/* A wrong clock can give one more allowance each time it is set forward, and then none until the true
 * time has reached that time, also after a restart. A question at a wrong time changes nothing. */
Test(ledger_allowances, a_clock_set_forward_frees_one_allowance_and_then_holds_all)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct ledger *ledger = ledger_open(&yearly);
        struct charge charge = charge_of(9, 1);
        at(ledger, 1, 20000);
        cr_assert_eq(spend(ledger, 1, 3000000, NULL), STATUS_OK);
        at(ledger, 1, 90000);
        cr_assert_eq(ledger_check(ledger, &charge, NULL), STATUS_OK);
        at(ledger, 1, 20001);
        cr_assert_eq(spend(ledger, 2, 1, "allowance_days"), STATUS_EXHAUSTED, "asked, not spent");
        at(ledger, 1, 25000);
        cr_assert_eq(spend(ledger, 2, 3000000, NULL), STATUS_OK, "set forward by 5000 days");
        if (restarts > 0) {
            ledger_free(ledger);
            ledger = ledger_open(&yearly);
            for (uint8_t pass = 1; pass <= 2; pass++) {
                struct charge paid = charge_of(pass, 3000000);
                at(ledger, 1, pass == 1 ? 20000 : 25000);
                cr_assert_eq(ledger_restore(ledger, &paid), STATUS_OK);
            }
        }
        for (int64_t day = 20001; day <= 25365; day += 149) {
            at(ledger, 1, day);
            cr_assert_eq(spend(ledger, 3, 1, "allowance_days"), STATUS_EXHAUSTED);
        }
        at(ledger, 1, INT64_MIN / DAY_MS);
        cr_assert_eq(spend(ledger, 3, 1, "allowance_days"), STATUS_EXHAUSTED);
        at(ledger, 1, 25366);
        cr_assert_eq(spend(ledger, 3, 3000000, NULL), STATUS_OK);
        ledger_free(ledger);
    }
}

Test(ledger_allowances, without_an_allowance_of_its_own_a_job_is_counted_all_the_same)
{
    struct ledger *ledger = ledger_open(&yearly);
    at(ledger, 1, 20000);
    cr_assert_eq(spend(ledger, 1, 700000, NULL), STATUS_OK);
    at(ledger, 2, 20000);
    cr_assert_eq(spend(ledger, 2, 300000, NULL), STATUS_OK);
    cr_assert_eq(ledger_balance(ledger, ALLOWANCE_JOB).spent.epsilon_micro, 300000);
    struct digest job;
    cr_assert_eq(ledger_job(ledger, 0, &job).spent.epsilon_micro, 700000);
    cr_assert_not(ledger_job(ledger, 0, &job).limited);
    ledger_free(ledger);
}
