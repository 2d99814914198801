/* hedge.h - the planner of the private experts: which eta a budget buys, and what regret that
 * promises. Trust is central: exact losses in [0,1], the draws are the release. Public numbers
 * alone come in; eta is rounded down, costs up. */

#ifndef EXPERTS_HEDGE_H
#define EXPERTS_HEDGE_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hedge_strategy {
    HEDGE_THEOREM,   /* a fresh draw each round, eta by theorem 11.2: epsilon <= 1 */
    HEDGE_RWM,       /* a fresh draw each round, eta by the accountant */
    HEDGE_DARTBOARD, /* keeps its expert most of the time; oblivious losses */
    HEDGE_EPOCHS     /* picks anew at the start of each doubling epoch; i.i.d. rounds; delta 0 */
};

enum { HEDGE_STRATEGIES = HEDGE_EPOCHS + 1 };

/* k = experts, T = rounds, n = records, c = participations */
struct hedge_problem {
    size_t experts;  /* >= 1 */
    uint64_t rounds; /* 1 .. 2^53 */
    double epsilon;  /* > 0, finite: of the whole stage, for one unit replaced */
    double delta;    /* 0 <= delta < 1; theorem: > 0 */
    double records;  /* >= 1: a round's loss is the mean over this many records, of all agents,
                                and the unit is one record; 0: the unit is a whole round */
    uint32_t participations; /* rounds that a record takes part in, at most; 0: 1; above T: T */
    double rho_max; /* > 0: sum of range^2/8 over draws and coins is at most this, too, so that one
                       zCDP charge covers several plans; 0: no such limit. Not of epochs */
};

struct hedge_plan {
    double eta;                 /* of mean losses; 0 for k = 1 and for epochs */
    double rho;                 /* that (epsilon, delta) allows; 0 where the row has no rho */
    double draw_epsilon;        /* bounded range of a draw, 2 eta c/n; epochs: epsilon of a pick */
    double refresh_probability; /* dartboard: p, a multiple of 2^-53; else 0 */
    double coin_range;          /* dartboard: bounded range of one keep-or-refresh bit; else 0 */
    uint64_t coins;             /* dartboard: bits that one unit changes: 1, or c */
    uint64_t refreshes_max;     /* draws that look at losses: T; dartboard: K; epochs: one each */
    double regret_bound;        /* per round; eta/8 + ln k/(eta T); epochs: its own, below */
    double regret_bound_textbook; /* eta + ln k/(eta T): Dwork and Roth (11.1); epochs: the same as
                                      regret_bound */
    double cap_probability;       /* dartboard: adds at most this much to the mean regret; else 0 */
    bool privacy_is_free;         /* eta is the one without privacy, sqrt(8 ln k/T) */
};

/** Returns "theorem", "rwm", "dartboard", "epochs"; NULL beyond. */
const char *hedge_strategy_name(enum hedge_strategy strategy);

/**
 * Plans a strategy (mechanisms: one unit replaced, L the cumulative mean losses).
 *
 * theorem    eta = n/c epsilon/sqrt(32 T ln(1/delta)); T draws exp(-eta L).
 * rwm        the largest eta for which T draws of bounded range 2 eta c/n cost at most (epsilon,
 *            delta) by the accountant: zCDP, Renyi or basic, never below sqrt(2 rho/T) n/c.
 * dartboard  c bits of bounded range eta/n + eps_r, eps_r = ln(1 + (1-p)(1-exp(-eta/n))/p), and at
 *            most K draws of range 2 eta c/n, K >= mean + 6 sqrt(mean), mean = T (p + (1-p)
 *            (1-exp(-eta))); p maximises eta. For the unit `round` read n = c = 1.
 * epochs     report-noisy-max of scale 2 c/(n epsilon) on the mean losses of the epoch before.
 * All but epochs: at most sqrt(8 ln k/T), which is best without privacy.
 *
 * plan  out  all zero on failure
 * why   out  may be NULL
 *
 * Fails with STATUS_INVALID: a field is out of its range; theorem with epsilon > 1 (it rests on a
 * form of advanced composition that holds up to 1) or delta 0; no eta is left.
 * Privacy: (epsilon, delta) for adaptively chosen losses, replace-one, one unit.
 * Cost: some milliseconds; dartboard some tens of them.
 *
 * Bound of epochs, for rounds drawn independently from one law with means mu. Let a pick look at m
 * rounds with sums S and noise Z of scale s = 2 c/(n epsilon), and D_i = mu_i - (S_i + Z_i)/m. The
 * pick has the least S + Z, hence mu_pick - mu_best <= D_pick - D_best, and E D_best = 0, so that E
 * mu_pick - mu_best <= E max D <= (ln k + a^2/(8 m) - ln(1 - (s a/m)^2))/a for every 0 < a < m/s:
 * Hoeffding's lemma, and the Laplace law's generating function, which is above the discrete one's.
 * Each epoch takes the best a, at most 1; the first costs at most 1. The best expert in hindsight
 * is ahead of the best mean by at most sqrt(T ln k/2), which is added: compare with the other
 * three.
 * Source: Dwork and Roth 2014, chapter 11; Asi, Feldman, Koren, Talwar 2023 (dartboard).
 * Deviation: an exact accountant in place of advanced composition; Hoeffding's eta/8; a record
 * unit.
 */
MUST_USE enum status hedge_plan(struct hedge_plan *plan, enum hedge_strategy strategy,
                                const struct hedge_problem *problem, struct why *why);

/** The same without privacy: eta = sqrt(8 ln k/T), a draw each round. epsilon and delta are not
 * looked at. Fails with STATUS_INVALID. */
MUST_USE enum status hedge_plan_not_private(struct hedge_plan *plan,
                                            const struct hedge_problem *problem, struct why *why);

/**
 * What to add to both bounds so that the realised regret exceeds them with probability at most
 * beta, 0 < beta < 1: sqrt(ln(1/beta)/(2T)) (Hoeffding), and the textbook's sqrt(ln(k/beta)/T),
 * (11.4).
 *
 * Fails with STATUS_INVALID for dartboard and epochs: they repeat their plays, and their realised
 * loss does not concentrate so.
 */
MUST_USE enum status hedge_high_probability(double *tight, double *textbook,
                                            enum hedge_strategy strategy,
                                            const struct hedge_problem *problem, double beta,
                                            struct why *why);

/** Doubling, for epochs and for an unknown horizon: segment number s = 0, 1, .. is the rounds 2^s -
 * 1 .. 2^(s+1) - 2, counted from 0. Returns the segment of a round, whether it begins there, and
 * how many segments that many rounds have. */
unsigned hedge_segment(uint64_t round);
bool hedge_segment_begins(uint64_t round);
size_t hedge_segment_count(uint64_t rounds);

/**
 * Plans a play whose horizon is unknown: every segment forgets all losses before it and plays its
 * own plan for 2^s rounds and the whole budget; a round's losses are paid for in one segment only
 * (parallel composition). The last segment may be cut short.
 *
 * whole    out  both bounds on the average regret, cap_probability in them, and privacy_is_free
 *               where it is in every segment; the rest is zero
 * segment  out  (hedge_segment_count(rounds)) their plans; may be NULL; not written for epochs,
 *               which never knows its horizon: its own plan is `whole`
 * problem  in   rounds: how many are played in the end; participations at most 1, or the unit is
 *               round: a record of two segments would pay twice
 *
 * Fails as hedge_plan does for each segment. The bounds are the sum of (length bound), at most the
 * rounds played in each, over T: E regret <= sum over segments, as min of sums >= sum of mins.
 */
MUST_USE enum status hedge_doubling(struct hedge_plan *whole, struct hedge_plan *segment,
                                    enum hedge_strategy strategy,
                                    const struct hedge_problem *problem, struct why *why);

#endif
