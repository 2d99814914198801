/* hedge_play.h - plays a plan on exact integer losses (central trust), where what is drawn is the
 * release: every draw and every coin is exact, and paid for by a grant of its own. */

#ifndef EXPERTS_HEDGE_PLAY_H
#define EXPERTS_HEDGE_PLAY_H

#include "base/random.h"
#include "dp/ledger.h"
#include "experts/hedge_run.h"

#include <stddef.h>
#include <stdint.h>

/* All that a play remembers; the journal holds it. Zero before the first round. */
struct hedge_state {
    uint64_t round;  /* being played, from 0, through all games */
    uint64_t expert; /* to play when nothing is due */
    uint64_t draws;  /* that looked at losses, so far in this game */
    bool tossed;     /* this round's coin has fallen, or there was none to toss */
    bool drawn;      /* this round's expert is chosen */
};

/* What has to be done before the round's expert is known. */
enum hedge_due {
    HEDGE_DUE_NOTHING, /* play state.expert, then hedge_next */
    HEDGE_DUE_START,   /* an expert at random; no losses are looked at, no grant */
    HEDGE_DUE_COIN,    /* keep or refresh; looks at `latest` */
    HEDGE_DUE_DRAW,    /* exponential mechanism; looks at `cumulative` */
    HEDGE_DUE_PICK,    /* report-noisy-max; looks at `segment` */
    HEDGE_DUE_LAST     /* what is broadcast in the end; looks at `cumulative` */
};

/* Exact sums of k losses each, in grid units; the ones that are not due may be NULL. */
struct hedge_losses {
    const int64_t *cumulative; /* of the game's rounds before this one */
    const int64_t *latest;     /* of the round before this one, of the same game */
    const int64_t *segment;    /* of the last whole segment (hedge_segment) before this round */
};

/** Returns whether a state could be a state of this game: for what comes from a journal. */
bool hedge_state_is_valid(const struct hedge_state *state, const struct hedge_run *game);

/** Returns what is due; depends on the game and on what was drawn alone. */
enum hedge_due hedge_due(const struct hedge_state *state, const struct hedge_run *game);

/**
 * Returns the charge of what is due (not START, NOTHING): its rows are the game's rounds. Coins
 * and picks are charges of the pass `stage`, on the rounds they look at, so that their largest
 * counts; each draw is a pass of its own, `stage` with the round's number added in bytes 0 to 7 and
 * byte 8 flipped; so is the last pick. A ledger that was paid by this for one game never holds more than hedge_charges.
 */
struct charge hedge_charge(const struct hedge_state *state, const struct hedge_run *game,
                           const struct digest *stage);

/**
 * Does what is due.
 *
 * state   in/out  unchanged on failure
 * grant   takes   of hedge_charge, whatever happens, and leaves NULL; where START is due: NULL
 * losses  in      a round's loss outside [0, one] is taken for the nearest one within
 *
 * Fails with STATUS_NO_RANDOM, STATUS_NO_MEMORY, STATUS_INVALID (the grant is for something else).
 * Ensures exactly: START uniform; COIN refreshes with probability p, else keeps with probability
 * exp(-eta latest[expert]), else refreshes; DRAW P(i) ~ exp(-eta cumulative[i]); PICK the least
 * segment + discrete Laplace noise of scale 2 sensitivity/epsilon; LAST permute-and-flip or the
 * exponential mechanism on cumulative, sensitivity `moved`. Only keep-or-refresh is kept of the coin.
 * Dartboard draws at most draws_max times, then stays.
 * Privacy: the grant's epsilon, for one unit replaced: a bounded range, for PICK and a pure LAST pure.
 * Cost: COIN 16 random bytes; DRAW, PICK and LAST as dp/select.h.
 */
MUST_USE enum status hedge_play(struct hedge_state *state, const struct hedge_run *game,
                                struct grant **grant, const struct random *random,
                                const struct hedge_losses *losses);

/** Goes on to the next round, which may be another game's. CHECKs that nothing is due. */
void hedge_next(struct hedge_state *state, const struct hedge_run *game);

/* Algorithm 17 of Dwork and Roth: online linear optimisation over the simplex by
 * drawing basis vectors. The experts are the d coordinates; the answer is the mean of the vectors
 * played, that is, how often each coordinate was. */

/**
 * Writes the losses of one round: (1 + x_i)/2 for each coordinate of a sample x in [-1,1]^d, on the
 * grid, floor(2^bits (1 + x_i)/2 + 1/2). These are what hedge_play sums; its plan is for k = d.
 *
 * loss  out  (d)  0 .. 2^bits
 * x     in   (d)  clamped to [-1, 1]; not a number counts as 1, the worst
 * bits  in   <= 40
 *
 * Privacy: one sample replaced moves each loss by at most 2^bits, so a draw of exp(-eta L) costs 2
 * eta. With the losses x_i themselves, which lie in [-1,1] and move by up to 2, the same eta costs
 * up to 4 eta - nearly reached for d >= 100, although the proof charges 2 eta.
 * Regret in units of <x, y> is twice that of these losses.
 * Source: Dwork and Roth 2014, algorithm 17. Deviation: the map to [0,1].
 */
void hedge_linear_losses(int64_t *loss, const double *x, size_t d, unsigned bits);

/** Writes the mean of the basis vectors played: y_i = plays[i] / sum of plays. plays (d), together
 * > 0; a function of what was drawn, so it costs nothing. y (d) is in the simplex. */
void hedge_linear_answer(double *y, const uint64_t *plays, size_t d);

#endif
