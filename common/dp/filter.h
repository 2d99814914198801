/* filter.h - may one more charge be spent within (E, D), when every parameter of it was chosen after
 * seeing all the answers before? Integers, rounded against the spender; constant time.
 *
 * A filter keeps three sums over the charges it admitted: their pure epsilons (Gaussians have none,
 * and make this sum unbounded), their own deltas, and their Renyi divergences at ONE order. It
 * admits a charge if afterwards
 *
 *     the own deltas are at most half of D (all of D, where the limit leaves no room for (b)), and
 *     (a) the pure epsilons are at most E, or
 *     (b) D > 0, and the divergences are at most R,
 *
 * where the order alpha is chosen from (E, D) alone, and R is the largest divergence of that order
 * which is (E, D/2)-DP. What was admitted is then (E, D)-DP, however the charges were chosen:
 *
 * Take two neighbours, and a complete transcript t of questions and answers, of density g(t) and
 * g'(t) when no run fails, under its own delta, altogether. A run with its own delta is a mixture:
 * with probability delta anything, else the run proper. So the transcripts without a failure have
 * densities w g and w g', w(t) = product of (1 - delta_i) <= 1, with the same w for both data sets,
 * because the deltas are part of the transcript; and a failure has probability at most D/2, because
 * on every path the deltas sum to at most that. Split the transcripts by what holds at their end.
 * Set A, (a) holds: each answer multiplies the ratio by at most its exp(epsilon), so g <= e^E g'.
 * The rest, B: (a) fails at the end, so (b) holds there; sums only grow, so (b) held all along. Let
 * h, h' be the densities of the interaction that stops before the first charge which breaks (b);
 * on B, h = g and h' = g'. That interaction is a Renyi filter at a fixed order: its divergence is
 * at most R (Feldman and Zrnic 2021, theorem 3.1; Lecuyer 2021), so it is (E, D/2)-DP, and the
 * integral of (h - e^E h')+ is at most D/2. Hence for every set S
 *
 *     P(S) <= D/2 + (w g)(S and A) + (w g)(S and B) <= D/2 + e^E P'(S) + D/2.
 *
 * The "or" needs the deltas of both arms to be the same sum held to the same half: with D for the
 * own deltas under (a) and D/2 under (b) the total could reach 3 D / 2.
 * Parallel composition: for one record that differs only the charges on its rows have any
 * divergence, so of a pass whose charges are on disjoint rows the largest counts, per sum. */

#ifndef DP_FILTER_H
#define DP_FILTER_H

#include "base/why.h"
#include "dp/charge.h"

#include <stddef.h>

/* Fixed by the limit alone; made by filter_new. */
struct filter {
    struct price limit;     /* E and D */
    uint64_t own_delta_max; /* 10^-18ths: what the charges' own deltas may sum to */
    double order;           /* alpha > 1; 0 when (a) is all there is */
    uint64_t renyi_max;     /* R in 10^-9 nats, rounded down */
};

/* The three sums, or what one charge adds to them. UINT64_MAX: unbounded, never admitted. */
struct cost {
    uint64_t epsilon_micro;
    uint64_t delta_atto;
    uint64_t renyi_nano;
};

/** Returns the filter for a limit. Cost: some thousand logarithms; no state. */
struct filter filter_new(struct price limit);

/** Returns what a charge adds, each sum rounded up. One that is not for replace-one neighbours is
 * unbounded in all. charge: in, valid. Source: account/renyi.h, account/pure.h. */
struct cost filter_cost(const struct filter *filter, const struct charge *charge);

/** Returns whether these sums, the charge in question among them, are within the limit. */
bool filter_admits(const struct filter *filter, const struct cost *sums);

/** Saturating sum, the largest, and a multiple, component by component. */
struct cost cost_add(struct cost a, struct cost b);
struct cost cost_max(struct cost a, struct cost b);
struct cost cost_times(struct cost a, uint64_t count);

/** Returns how much of E these sums use up, in millionths, rounded down: their pure sum, or their part of R times E
 * where that is less. It adds up: of charges that use u each, no more than E/u are ever admitted, because both the
 * pure epsilons and the divergences of E/u of them reach their limits. */
uint64_t filter_uses(const struct filter *filter, const struct cost *sums);

/** Returns how much of R is spent, in hundredths of a percent, rounded up; 0 without (b). */
uint64_t filter_renyi_share(const struct filter *filter, const struct cost *sums);

/** Returns what these sums come to at one moment that was fixed beforehand, at the limit's delta, in
 * millionths, rounded up: the pure sum, or the divergence converted at D/2. With sums that are
 * admitted never more than E. UINT64_MAX as for the odometer, which speaks of every moment at once
 * and so says more. */
uint64_t filter_epsilon(const struct filter *filter, const struct cost *sums);

/**
 * The odometer: what has been spent up to now, rounded up to millionths; UINT64_MAX when nothing
 * finite can be said (Gaussians beyond the last level; own deltas beyond own_delta_max, as after a
 * policy was lowered).
 *
 * Privacy: let tau be any time to stop that depends on the answers alone, and e(t) this value at the
 * end of transcript t. Then for every set S, P(S) <= integral over S of e^e(t) dP'(t) + delta, with
 * delta = D/2 and the sum of the own deltas, which together are at most D. For: levels R_1 < R_2 <
 * ... fixed by the limit alone share D/2 evenly; level j's interaction, stopped before it passes
 * R_j, is (e_j, D/2/levels)-DP as above; e(t) is the pure sum, or e_j for the least level that holds
 * t's sum. Where it is the pure sum the ratio is below e^e(t) at every point; the transcripts of
 * level j are among those of its stopped interaction, and exceed by D/2/levels at most; add up.
 * It speaks of every moment at once, and so may end above E, which holds all the same.
 * Source: the stopping argument of Rogers, Roth, Ullman, Vadhan 2016, section 6, over Renyi
 * filters (Feldman and Zrnic 2021). Without D, or with nothing to gain, it is the pure sum.
 */
uint64_t filter_odometer(const struct filter *filter, const struct cost *sums);

/* The Gaussian rounds of a whole job, before it starts; all of it public. */
struct filter_plan {
    struct price limit; /* what a fresh ledger may spend */
    const struct charge
        *fixed; /* (fixed_count) the job's other charges, taken as one after another;
                                   valid; NULL when there are none */
    size_t fixed_count;
    uint64_t count;         /* of the Gaussian rounds, 1 .. CHARGE_COUNT_MAX */
    uint64_t sampling_nano; /* each record takes part in a round with this probability; 1 .. 10^9 */
    uint64_t delta_atto;    /* each of the Gaussian rounds' own: mechanism_sigma_delta; else 0 */
};

/**
 * Finds the least noise at which a ledger that has spent nothing admits the fixed charges and
 * `count` discrete Gaussian ones.
 *
 * sigma_micro  out  sigma over the L2 sensitivity of one round, in millionths; 0 on failure
 *
 * Fails with STATUS_EXHAUSTED: the limit has no delta, or the fixed charges leave nothing, or the
 * noise would have to be beyond FILTER_SIGMA_MAX; STATUS_INVALID: a number out of its range. why
 * (may be NULL) says what to change.
 * Ensures filter_new(limit) admits the sums with this sigma, and not with a millionth
 * less. Cost: below 60 prices of a charge, of which a sampled one takes about a millisecond.
 */
MUST_USE enum status filter_sigma(uint64_t *sigma_micro, const struct filter_plan *plan,
                                  struct why *why);

#define FILTER_SIGMA_MAX (UINT64_C(1000000) << 20) /* millionths: sigma 2^20 */

#endif
