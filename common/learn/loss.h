/* loss.h - what a wrong or hesitant answer costs. A margin is y f(x): the model's score, signed so
 * that positive is right. */

#ifndef LEARN_LOSS_H
#define LEARN_LOSS_H

#include "base/status.h"

enum loss_kind {
    LOSS_LOGISTIC, /* ln(1 + exp(-margin)) */
    LOSS_HINGE,    /* max(0, 1 - margin) */
    LOSS_ZERO_ONE  /* 1 when margin <= 0, else 0: for judging, not for learning */
};

/** Returns the loss of a margin; >= 0, finite for every finite margin. */
double loss_value(enum loss_kind kind, double margin);

/** Returns the loss clamped to [0, 1], within 2^-52: what the `losses` task sends. A NaN margin costs
 * 1. */
double loss_clamped(enum loss_kind kind, double margin);

/** Returns d loss / d margin (for the hinge at 1: -1). CHECKs that kind can be learned from. */
double loss_derivative(enum loss_kind kind, double margin);

/** Returns C_L, the loss's Lipschitz constant in the margin. CHECKs that kind can be learned from.
 */
double loss_lipschitz(enum loss_kind kind);

/** Returns "logistic", "hinge" or "zero_one". */
const char *loss_name(enum loss_kind kind);

/** Finds a loss by its name. Fails with STATUS_NOT_FOUND. */
MUST_USE enum status loss_from_name(enum loss_kind *kind, const char *name);

#endif
