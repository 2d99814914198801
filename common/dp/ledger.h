/* ledger.h - how much privacy one institution's records have lost, and the only way to lose more.
 * The ledger is rebuilt from the journal at every start (ledger_restore) and lives in memory:
 * integers only, saturating, never a balance on disk. It holds up to three allowances, each a
 * filter of its own (dp/filter.h), and a charge is spent only if every one of them admits it. */

#ifndef DP_LEDGER_H
#define DP_LEDGER_H

#include "base/why.h"
#include "dp/charge.h"
#include "dp/filter.h"

struct ledger;

/* The right to run one mechanism once. ledger_spend alone makes one; a mechanism takes it. */
struct grant;

enum allowance {
    ALLOWANCE_TOTAL, /* all that these records may ever lose */
    ALLOWANCE_JOB,   /* what each job may cost */
    ALLOWANCE_WINDOW /* what any window of that many days may cost: a yearly allowance */
};

enum { ALLOWANCE_COUNT = ALLOWANCE_WINDOW + 1 };

struct allowances {
    struct price total;
    struct price job;     /* epsilon_micro 0: no allowance per job */
    struct price window;  /* in any window_days days */
    uint32_t window_days; /* 0: no window; at most WINDOW_DAYS_MAX of dp/window.h */
};

/* The job that a charge belongs to, and its time. */
struct occasion {
    struct digest job;
    int64_t wall_ms; /* since 1970; may be wrong, and may run backwards */
};

/* One allowance: its filter, and the sums counted against it. */
struct balance {
    bool limited; /* false: there is no such allowance */
    struct filter filter;
    struct cost spent;
};

/** Returns an empty ledger with this total or these allowances, NULL without memory. Caller owns. */
struct ledger *ledger_new(struct price limit);
struct ledger *ledger_open(const struct allowances *allowances);
void ledger_free(struct ledger *ledger);

/** Says whose charges, checks and balances follow, and when; before it is called they belong to the
 * job of no digest, on the first day of 1970. A charge counts at the latest time of any charge so
 * far, if that is later. */
void ledger_at(struct ledger *ledger, const struct occasion *occasion);

/**
 * Counts a charge that the journal holds. Never refuses, also beyond the limit. A charge that is not
 * valid has no bound, so that nothing is spent after it; a pass in which rows were paid for twice
 * costs the sum of its charges in place of the largest. The order matters for the window alone: there
 * it is the journal's, each charge after ledger_at with its record's time.
 *
 * Fails with STATUS_NO_MEMORY; nothing is counted then, and the program must not go on.
 * Cost: O(1) for a pass restored in the order of its rows; memory O(passes + gaps in their rows +
 * jobs + days of the window).
 */
MUST_USE enum status ledger_restore(struct ledger *ledger, const struct charge *charge);

/**
 * Pays for one answer, before it exists. The whole decision is made before anything is counted.
 *
 * grant  out  caller owns: a mechanism takes it, or grant_free; NULL on failure
 * why    out  on failure the sentence for the operator, which names the allowance and the policy's
 *             keys; may be NULL
 *
 * Fails with STATUS_EXHAUSTED (some allowance would be exceeded, or is already), STATUS_INVALID
 * (charge_is_valid does not hold, neighbours are not replace-one, rows of this pass were paid for
 * before, or the pass is another job's), STATUS_NO_MEMORY. The ledger is then unchanged.
 * Privacy: (epsilon, delta) of every allowance, for adaptively chosen charges (dp/filter.h);
 * parallel composition within a pass; replace-one neighbours. The statement of a job or of a period
 * is about its own charges, with whatever else was answered taken as known. Decision, sentence and
 * time depend on charges alone. Only the pass's name in them is not public: it tells whether the
 * records are still those that the pass began with (docs/PROTOCOL.md, 7 I).
 * Deviation: a clock that is set forward ends a window's days early, and nothing here can tell: one
 * more allowance each time, then none until the true time has come as far. Total and job know no clock.
 */
MUST_USE enum status ledger_spend(struct ledger *ledger, struct grant **grant,
                                  const struct charge *charge, struct why *why);

/** Decides as ledger_spend does, with the same failures and sentences, and changes nothing. */
MUST_USE enum status ledger_check(const struct ledger *ledger, const struct charge *charge,
                                  struct why *why);

/** What counting this charge would add to the total; the same sums that ledger_spend compares. Zero
 * when its pass has paid as much for other rows already; epsilon UINT64_MAX where it has no pure
 * one. */
struct price ledger_would_cost(const struct ledger *ledger, const struct charge *charge);

/** One allowance as it stands; it can be beyond its limit: for ALLOWANCE_JOB, that of the job of
 * the last ledger_at. */
struct balance ledger_balance(const struct ledger *ledger, enum allowance allowance);

/** The jobs that were ever charged, in the order of their first charge: how many, and what number
 * index has spent. job: out. CHECKs index < ledger_job_count. */
size_t ledger_job_count(const struct ledger *ledger);
struct balance ledger_job(const struct ledger *ledger, size_t index, struct digest *job);

/** Throws an unused grant away. Its charge stays spent. grant_free(NULL) does nothing. */
void grant_free(struct grant *grant);

/** Takes a grant, for the one mechanism that it pays for. Returns its charge. */
struct charge grant_use_up(struct grant **grant);

/** Returns the charge a grant was paid with: borrowed, as long as the grant lives. */
const struct charge *grant_charge(const struct grant *grant);

#endif
