/* paid_grant.h - a grant of a ledger without a limit, for tests of what runs on one. */

#ifndef SUPPORT_PAID_GRANT_H
#define SUPPORT_PAID_GRANT_H

#include "dp/ledger.h"

#include <criterion/criterion.h>

/** Spends a charge of one record. Its ledger is gone: a grant does not need it any more. */
static inline struct grant *paid_grant(enum mechanism mechanism, uint64_t epsilon_micro)
{
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX, 0});
    const struct charge charge = {
        .mechanism = mechanism, .epsilon_micro = epsilon_micro, .pass = {{1}}, .row_count = 1};
    struct grant *grant = NULL;
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    ledger_free(ledger);
    return grant;
}

#endif
