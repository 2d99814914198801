/* ledger.h - how much privacy one institution's records have lost, and the only way to lose more.
 * The ledger is rebuilt from the journal at every start (ledger_restore) and lives in memory:
 * integers only, saturating, never a balance on disk. */

#ifndef DP_LEDGER_H
#define DP_LEDGER_H

#include "base/why.h"
#include "dp/charge.h"

struct ledger;

/* The right to run one mechanism once. ledger_spend alone makes one; a mechanism takes it. */
struct grant;

/** Returns an empty ledger with this limit, NULL without memory. Caller owns it. */
struct ledger *ledger_new(struct price limit);
void ledger_free(struct ledger *ledger);

/**
 * Counts a charge that the journal holds. Never refuses, also beyond the limit: what was spent was
 * spent. A charge that is not valid is added in full; a pass in which rows were paid for twice
 * costs the sum of its charges in place of the largest. The order is irrelevant.
 *
 * Fails with STATUS_NO_MEMORY; nothing is counted then, and the program must not go on.
 * Cost: O(1) for a pass restored in the order of its rows; memory O(passes + gaps in their rows).
 */
MUST_USE enum status ledger_restore(struct ledger *ledger, const struct charge *charge);

/**
 * Pays for one answer, before it exists. The whole decision is made before anything is counted.
 *
 * grant  out  caller owns: a mechanism takes it, or grant_free; NULL on failure
 * why    out  on failure the sentence for the operator; may be NULL
 *
 * Fails with STATUS_EXHAUSTED (it would exceed what is left of epsilon or delta, or the limit is
 * exceeded already), STATUS_INVALID (charge_is_valid does not hold, or rows of this pass were paid
 * for before), STATUS_NO_MEMORY. The ledger is then unchanged.
 * Privacy: basic composition over passes, parallel composition within one; replace-one neighbours.
 * Decision, sentence and time depend on charges alone, which are public, never on records.
 */
MUST_USE enum status ledger_spend(struct ledger *ledger, struct grant **grant,
                                  const struct charge *charge, struct why *why);

/** What counting this charge would add; the same sums that ledger_spend compares. Zero when its
 * pass has paid as much for other rows already. */
struct price ledger_would_cost(const struct ledger *ledger, const struct charge *charge);

/** What is spent (it can exceed the limit after ledger_restore), and left (never below 0). */
struct price ledger_spent(const struct ledger *ledger);
struct price ledger_left(const struct ledger *ledger);
struct price ledger_limit(const struct ledger *ledger);

/** Throws an unused grant away. Its charge stays spent. grant_free(NULL) does nothing. */
void grant_free(struct grant *grant);

/** Returns the charge a grant was paid with: borrowed, as long as the grant lives. */
const struct charge *grant_charge(const struct grant *grant);

#endif
