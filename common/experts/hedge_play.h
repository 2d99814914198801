/* hedge_play.h - plays a plan on exact integer losses (central trust), where what is drawn is the
 * release: every draw and every coin is exact, and paid for by a grant of its own. */

#ifndef EXPERTS_HEDGE_PLAY_H
#define EXPERTS_HEDGE_PLAY_H

#include "base/random.h"
#include "dp/ledger.h"
#include "experts/hedge.h"
#include "noise/exponential.h"

/* A plan in whole numbers; public, the same for everyone who reads the job. Made by
 * hedge_game_init. */
struct hedge_game {
    enum hedge_strategy strategy;
    size_t experts;
    uint64_t first;       /* the round it begins with: 0, or its segment's */
    uint64_t rounds;      /* that it plays, from first on */
    uint64_t one;         /* what a mean loss of 1 is in one round's sums: records 2^grid_bits */
    uint64_t sensitivity; /* that draws are told, sums' grid units; at least what one unit moves */
    uint64_t draw_micro;  /* epsilon of one draw, or of one pick */
    uint64_t draws_max;
    uint64_t coin_micro;            /* dartboard: range of one bit, rounded up */
    uint64_t coins;                 /* dartboard: bits that one unit moves */
    uint64_t refresh;               /* dartboard: p in units of 2^-53 */
    uint64_t moved;                 /* what one unit moves a cumulative sum by, at most */
    enum mechanism last_mechanism;  /* of the last pick: PURE, permute-and-flip, or EXPONENTIAL */
    uint64_t last_micro;            /* its epsilon; 0: the last play is as any other */
    struct noise_exponential decay; /* exp(-eta) per grid unit, the draws' own */
};

struct hedge_grid {
    uint64_t records; /* whose losses a round sums, >= 1; the problem's, where it has any */
    unsigned bits;    /* a record's loss is a whole number up to 2^bits; <= 40 */
};

/* Events of a game, at most: draws, coins, the last pick. */
enum { HEDGE_CHARGES_MAX = 3 };

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

/**
 * Makes a game of a plan. The epsilon of a draw is rounded down to millionths, and eta = epsilon/(2
 * sensitivity) follows it. Where eta is the best without privacy, `sensitivity` is what makes it
 * so.
 *
 * Fails with STATUS_INVALID: the grid does not fit the problem, sums would leave 62 bits, a draw's
 * epsilon is below a millionth, noise of that scale does not exist; why says what to change.
 * Ensures hedge_charges together cost at most the problem's (epsilon, delta), by the accountants
 * that hold for adaptive orders - for theorem by theorem 11.2.
 */
MUST_USE enum status hedge_game_init(struct hedge_game *game, const struct hedge_plan *plan,
                                     enum hedge_strategy strategy,
                                     const struct hedge_problem *problem, struct hedge_grid grid,
                                     struct why *why);

/**
 * Makes the games of a play whose horizon is unknown, one a segment. One draw more than the problem
 * has rounds is played, to choose what is left in the end: it belongs to the segment of the last
 * round, whose plan has paid for it, as the first of its draws looks at no losses.
 *
 * game     out  (hedge_segment_count(problem->rounds))
 * plan     in   as many, of hedge_doubling for the same problem; not for epochs
 *
 * Fails and ensures as hedge_game_init, for each of them: a unit is in the losses of one.
 */
MUST_USE enum status hedge_games_init(struct hedge_game *game, const struct hedge_plan *plan,
                                      enum hedge_strategy strategy,
                                      const struct hedge_problem *problem, struct hedge_grid grid,
                                      struct why *why);

/**
 * Makes the game's last play a choice of its own, by the mechanism at hand, at the sensitivity that the
 * sums really have. It comes in place of that play's coin and draw: rwm and theorem then make
 * `rounds` - 2 draws at most, as the first play looks at nothing. Nothing is played after it, so that
 * it changes nothing of the regret of the rounds.
 *
 * last_micro  in  > 0, its epsilon
 *
 * Does nothing for one expert, one play, and epochs, whose picks have the whole budget each.
 */
void hedge_game_set_last(struct hedge_game *game, enum mechanism mechanism, uint64_t last_micro);

/** Returns the game that a round belongs to. */
const struct hedge_game *hedge_game_at(const struct hedge_game *game, size_t count, uint64_t round);

/** Writes what the whole game costs one unit, for ledgers: a charge each for draws, coins and the last
 * pick, as far as there are any; returns how many. Pass and rows are for the caller to fill in. */
size_t hedge_charges(struct charge charge[HEDGE_CHARGES_MAX], const struct hedge_game *game);

/** Returns whether a state could be a state of this game: for what comes from a journal. */
bool hedge_state_is_valid(const struct hedge_state *state, const struct hedge_game *game);

/** Returns what is due; depends on the game and on what was drawn alone. */
enum hedge_due hedge_due(const struct hedge_state *state, const struct hedge_game *game);

/**
 * Returns the charge of what is due (not START, NOTHING): its rows are the game's rounds. Coins
 * and picks are charges of the pass `stage`, on the rounds they look at, so that their largest
 * counts; each draw is a pass of its own, `stage` with the round's number added in bytes 0 to 7 and
 * byte 8 flipped; so is the last pick. A ledger that was paid by this for one game never holds more than hedge_charges.
 */
struct charge hedge_charge(const struct hedge_state *state, const struct hedge_game *game,
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
 * exponential mechanism on cumulative, sensitivity `moved`. Of the coin only keep-or-refresh is kept.
 * Dartboard draws at most draws_max times, then stays.
 * Privacy: the grant's epsilon, for one unit replaced: a bounded range, for PICK and a pure LAST pure.
 * Cost: COIN 16 random bytes; DRAW, PICK and LAST as dp/select.h.
 */
MUST_USE enum status hedge_play(struct hedge_state *state, const struct hedge_game *game,
                                struct grant **grant, const struct random *random,
                                const struct hedge_losses *losses);

/** Goes on to the next round, which may be another game's. CHECKs that nothing is due. */
void hedge_next(struct hedge_state *state, const struct hedge_game *game);

#endif
