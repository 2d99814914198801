/* What `hedgerow-agent ledger` takes for the list of events, from charges as a journal may hold them.
 * The list must have at least the charges of any one record, also if a journal says that rows of a
 * pass were charged twice, which no agent does. */

#include "agent/main_balance.h"

#include <criterion/criterion.h>

enum { ROWS = 100 };

static struct charge gaussian(uint8_t pass, uint64_t row_first, uint64_t row_count)
{
    return (struct charge){.mechanism = MECHANISM_GAUSSIAN,
                           .sigma_micro = 4000000,
                           .pass = {{pass}},
                           .row_first = row_first,
                           .row_count = row_count};
}

static struct ledger_found found_of(const struct charge *charge, size_t count)
{
    struct ledger_found found = {.ledger = ledger_new((struct price){5000000, 1000000000000})};
    cr_assert_not_null(found.ledger);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(ledger_found_event(&found, &charge[i]), STATUS_OK);
        cr_assert_eq(ledger_restore(found.ledger, &charge[i]), STATUS_OK);
    }
    return found;
}

static uint64_t runs_of(const struct ledger_found *found)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < found->event_count; i++) {
        runs += found->event[i].count;
    }
    return runs;
}

static uint64_t runs_on_row(const struct charge *charge, size_t count, uint64_t row)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        bool there = charge[i].row_first <= row && row < charge[i].row_first + charge[i].row_count;
        runs += there ? charge_count(&charge[i]) : 0;
    }
    return runs;
}

Test(main_balance, a_pass_in_order_of_its_rows_is_one_event)
{
    struct charge charge[] = {gaussian(1, 0, 10), gaussian(1, 10, 10), gaussian(1, 20, 10),
                              gaussian(2, 0, 30)};
    struct ledger_found found = found_of(charge, 4);
    cr_assert_eq(found.event_count, 1);
    cr_assert_eq(runs_of(&found), 2);
    ledger_found_free(&found);
}

Test(main_balance, no_record_saw_more_events_than_the_list_has)
{
    struct charge charge[] = {gaussian(1, 0, 10),  gaussian(1, 10, 10), gaussian(1, 0, 10),
                              gaussian(1, 0, 20),  gaussian(2, 50, 10), gaussian(1, 20, 10),
                              gaussian(2, 55, 10), gaussian(2, 65, 5),  gaussian(2, 40, 12)};
    for (size_t count = 1; count <= sizeof charge / sizeof charge[0]; count++) {
        struct ledger_found found = found_of(charge, count);
        for (uint64_t row = 0; row < ROWS; row++) {
            cr_assert_geq(runs_of(&found), runs_on_row(charge, count, row),
                          "row %d after %d charges", (int)row, (int)count);
        }
        ledger_found_free(&found);
    }
}

Test(main_balance, counts_do_not_wrap)
{
    enum { TIMES = 2049 };
    static struct charge charge[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        charge[i] = gaussian(1, i, 1);
        charge[i].count = CHARGE_COUNT_MAX;
        charge[i].pass.byte[1] = (uint8_t)(i & 0xFF);
        charge[i].pass.byte[2] = (uint8_t)(i >> 8);
    }
    struct ledger_found found = found_of(charge, TIMES);
    for (size_t i = 0; i < found.event_count; i++) {
        cr_assert_eq(found.event[i].count, CHARGE_COUNT_MAX);
    }
    cr_assert_eq(found.event_count, TIMES);
    ledger_found_free(&found);
}

static bool says_fixed(struct charge charge)
{
    struct policy policy = {.epsilon_micro = 5000000, .delta_atto = 1000000000000};
    struct ledger_found found = found_of(&charge, 1);
    json_t *root = json_object();
    found.policy = &policy;
    balance_json(&root, &found);
    cr_assert_not_null(root);
    bool says = json_is_object(json_object_get(root, "if_fixed_in_advance"));
    json_decref(root);
    ledger_found_free(&found);
    return says;
}

/* Gaussian charges have no pure epsilon. The balance tells their epsilon at a time that was fixed
 * beforehand, with the delta that it needs. */
Test(main_balance, gaussian_charges_come_to_an_epsilon_at_a_delta)
{
    struct policy policy = {.epsilon_micro = 5000000, .delta_atto = 1000000000000};
    struct charge charge[] = {gaussian(1, 0, 10), gaussian(2, 0, 10)};
    for (size_t count = 1; count <= 2; count++) {
        struct ledger_found found = found_of(charge, count);
        json_t *root = json_object();
        found.policy = &policy;
        struct balance balance = ledger_balance(found.ledger, ALLOWANCE_TOTAL);
        const uint64_t wanted = filter_epsilon(&balance.filter, &balance.spent);
        balance_json(&root, &found);
        cr_assert_not_null(root);
        const json_t *spent = json_object_get(root, "spent");
        const json_t *end = json_object_get(root, "at_end");
        cr_assert(json_is_null(json_object_get(spent, "epsilon")));
        cr_assert(wanted < UINT64_MAX);
        cr_assert_float_eq(json_number_value(json_object_get(end, "epsilon")),
                           (double)wanted * 1e-6, 1e-9);
        cr_assert_float_eq(json_number_value(json_object_get(end, "delta")), 1e-6, 1e-18);
        json_decref(root);
        ledger_found_free(&found);
    }
}

Test(main_balance, pure_charges_need_no_delta)
{
    struct policy policy = {.epsilon_micro = 5000000, .delta_atto = 1000000000000};
    struct charge charge = {
        .mechanism = MECHANISM_PURE, .epsilon_micro = 250000, .pass = {{1}}, .row_count = 10};
    struct ledger_found found = found_of(&charge, 1);
    json_t *root = json_object();
    found.policy = &policy;
    balance_json(&root, &found);
    cr_assert_not_null(root);
    const json_t *end = json_object_get(root, "at_end");
    cr_assert_float_eq(json_number_value(json_object_get(end, "epsilon")), 0.25, 1e-9);
    cr_assert(json_number_value(json_object_get(end, "delta")) == 0);
    json_decref(root);
    ledger_found_free(&found);
}

Test(main_balance, events_tell_sigma_range_count_and_sampling)
{
    char text[128];
    struct charge charge = gaussian(1, 0, 10);
    charge.sigma_micro = 4000000;
    charge.count = 10;
    charge.sampling_nano = 10000000;
    event_text(text, sizeof text, &charge);
    cr_assert_str_eq(text, "gaussian sigma 4, 10 times, sampled 0.01");
    charge =
        (struct charge){.mechanism = MECHANISM_EXPONENTIAL, .epsilon_micro = 20000, .count = 3};
    event_text(text, sizeof text, &charge);
    cr_assert_str_eq(text, "exponential range 0.02, 3 times");
    charge = (struct charge){.mechanism = MECHANISM_PURE, .epsilon_micro = 20000};
    event_text(text, sizeof text, &charge);
    cr_assert_str_eq(text, "pure epsilon 0.02");
}

Test(main_balance, events_for_other_neighbours_have_no_figure_for_replace_one)
{
    struct charge charge = gaussian(1, 0, 10);
    cr_assert(says_fixed(charge));
    charge.neighbours = NEIGHBOURS_ADD_REMOVE;
    cr_assert_not(says_fixed(charge));
}
