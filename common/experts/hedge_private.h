/* hedge_private.h - the steps of a play without grants: for audits and tests, whose accounts are kept elsewhere. */

#ifndef EXPERTS_HEDGE_PRIVATE_H
#define EXPERTS_HEDGE_PRIVATE_H

#include "experts/hedge_play.h"

/** Draws whether COIN refreshes, the expert kept so far having lost `loss` in the latest round. */
MUST_USE enum status hedge_toss(const struct hedge_run *game, const struct random *random,
                                int64_t loss, bool *refresh);

/** Writes down what a coin, or a draw or pick, came to. */
void hedge_note_coin(struct hedge_state *state, bool refresh);
void hedge_note_draw(struct hedge_state *state, size_t expert);

#endif
