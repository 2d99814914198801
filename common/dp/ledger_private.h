/* ledger_private.h - the inside of a ledger, shared by ledger.c, which decides and counts, and
 * ledger_balance.c, which tells. Nothing else includes it. */

#ifndef DP_LEDGER_PRIVATE_H
#define DP_LEDGER_PRIVATE_H

#include "dp/digest_table.h"
#include "dp/ledger.h"
#include "dp/row_set.h"
#include "dp/window.h"

/* The same charge in each filter's own units. */
struct costs {
    struct cost in[ALLOWANCE_COUNT];
};

struct pass {
    struct costs largest;
    struct costs total;
    bool repeats; /* some row was paid for twice: the pass costs its total */
    int64_t day;  /* of its latest charge */
    struct digest job;
    struct row_set rows;
};

struct ledger {
    bool limited[ALLOWANCE_COUNT];
    struct filter filter[ALLOWANCE_COUNT];
    struct cost total;
    struct window window;
    struct occasion now;
    struct digest_table pass_name;
    struct pass *pass; /* (pass_name.count) of pass_capacity, owned */
    size_t pass_capacity;
    struct digest_table job_name;
    struct cost *job; /* (job_name.count) what each has spent, of job_capacity, owned */
    size_t job_capacity;
};

/** Returns what the job of now has spent. */
struct cost ledger_job_spent(const struct ledger *ledger);

/** Says why an allowance refuses: after is what its sums would be. */
void ledger_say_exhausted(const struct ledger *ledger, enum allowance allowance,
                          const struct cost *after, struct why *why);

#endif
