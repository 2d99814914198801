/* Every allocation of a ledger fails once, at every position: nothing is counted then. */

#include "dp/ledger.h"
#include "tests/support/failing_memory.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static enum status count_once(struct ledger *ledger, const struct charge *charge, bool restore)
{
    if (restore) {
        return ledger_restore(ledger, charge);
    }
    struct grant *grant = NULL;
    enum status status = ledger_spend(ledger, &grant, charge, NULL);
    grant_free(grant);
    return status;
}

/* Counts charges for passes 1 .. 40 with gaps between their rows, and lets the n-th allocation
 * fail. Returns whether one failed. */
static bool run_with_failure(long position, bool restore)
{
    countdown = position;
    bool failed = false;
    struct allowances allowances = {
        .total = {UINT64_MAX, 0}, .window = {UINT64_MAX, 0}, .window_days = 30};
    struct ledger *ledger = ledger_open(&allowances);
    if (ledger == NULL) {
        countdown = -1;
        return true;
    }
    uint64_t expected = 0;
    for (uint64_t i = 0; i < 120; i++) {
        struct charge charge = {.epsilon_micro = 1 + i / 40,
                                .pass = {{(uint8_t)(1 + i % 40)}},
                                .row_first = 100 * i,
                                .row_count = 10};
        /* a job for each pass, so that their table grows, too */
        ledger_at(ledger, &(struct occasion){.job = {{(uint8_t)(1 + i % 40)}}, .wall_ms = 0});
        enum status status = count_once(ledger, &charge, restore);
        if (status != STATUS_OK) {
            cr_assert_eq(status, STATUS_NO_MEMORY);
            cr_assert_not(failed, "it failed twice");
            failed = true;
            cr_assert_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro, expected);
            cr_assert_eq(count_once(ledger, &charge, restore), STATUS_OK, "the second try");
        }
        expected++;
        cr_assert_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro, expected);
    }
    countdown = -1;
    ledger_free(ledger);
    return failed;
}

Test(ledger_memory, a_failed_allocation_counts_nothing)
{
    for (int restore = 0; restore < 2; restore++) {
        long position = 0;
        while (run_with_failure(position, restore == 1)) {
            position++;
        }
        cr_assert_gt(position, 80, "40 passes with gaps need more allocations than %ld", position);
    }
}
