/* loss.h - what a wrong or hesitant answer costs: a function of the model's score f and of the
 * label y. For classification y is +1 or -1; for regression y lies in [-1, 1]. */

#ifndef LEARN_LOSS_H
#define LEARN_LOSS_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>

/* The losses, each with the descriptor (loss_kind.h) that holds all there is to know of it. A loss without
 * one does not link.
 *
 * logistic     ln(1 + exp(-y f))
 * hinge        max(0, 1 - y f)
 * zero_one     1 when y f <= 0, else 0: for judging, not for learning
 * pinball      max(tau (y-f), (tau-1) (y-f)), 0 < tau < 1: its minimiser is a quantile
 * absolute     |y-f|
 * insensitive  max(0, |y-f| - e), 0 <= e <= 1
 * huber        (y-f)^2/2 for |y-f| <= delta, else delta (|y-f| - delta/2), 0 < delta <= 2
 * squared      (y-f)^2
 * linear       (1+f)/2, within [0, 1]: for judging directions, whatever the label (algorithm 17 of Dwork
 *              and Roth, its losses mapped from [-1, 1]) */
#define LOSS_LIST(X)                                                                               \
    X(LOSS_LOGISTIC, logistic_loss)                                                                \
    X(LOSS_HINGE, hinge_loss)                                                                      \
    X(LOSS_ZERO_ONE, zero_one_loss)                                                                \
    X(LOSS_PINBALL, pinball_loss)                                                                  \
    X(LOSS_ABSOLUTE, absolute_loss)                                                                \
    X(LOSS_INSENSITIVE, insensitive_loss)                                                          \
    X(LOSS_HUBER, huber_loss)                                                                      \
    X(LOSS_SQUARED, squared_loss)                                                                  \
    X(LOSS_LINEAR, linear_loss)

enum loss_kind {
#define LOSS_KIND(kind, descriptor) kind,
    LOSS_LIST(LOSS_KIND)
#undef LOSS_KIND
        LOSS_KINDS
};

struct loss {
    enum loss_kind kind;
    double parameter; /* pinball: tau; insensitive: e; Huber: delta; the others: 0 */
};

/** Returns the loss; >= 0, finite for every finite f and y but where a square overflows. */
double loss_value(struct loss loss, double f, double y);

/** Returns what the `losses` task sends, in [0, 1]. Classification: the loss, or 1 when it is more,
 * within 2^-52. Regression: the loss divided by its largest value for |y-f| <= 2 (f and y in
 * [-1, 1]), or 1 when that is more; the divisor is public. A residual below 2^-100 counts as 0, a NaN
 * score costs 1. The same instructions and addresses whatever f and y are. */
double loss_clamped(struct loss loss, double f, double y);

/** Returns d loss/d f, or one of its subgradients (at a hinge's or insensitive loss's bend the
 * steeper one, else 0). CHECKs that the loss can be learned from. The same instructions and addresses
 * whatever f and y are. */
double loss_derivative(struct loss loss, double f, double y);

/**
 * Returns C_L: no |d loss/d f| at the minimiser of mean loss + lambda ||f||^2 is larger, rounded
 * up.
 *
 * bound_y  in  > 0  |y| is at most this (for classification 1, unused)
 * kappa    in  > 0  the features' largest norm
 * lambda   in  > 0
 *
 * Only the squared loss reads these: it is steep without limit, but the minimiser lies in the ball
 * loss_ball, so that |2 (f-y)| <= 2 (kappa loss_ball + bound_y) = M (kappa/sqrt(lambda) + 2). The
 * other losses' constants hold everywhere. CHECKs that the loss can be learned from.
 * Source: Nie and Wang. Deviation: their 2 M (kappa+1)/sqrt(lambda) on the ball M/sqrt(lambda), for
 * lambda <= 1 only, is larger.
 */
double loss_lipschitz(struct loss loss, double bound_y, double kappa, double lambda);

/**
 * Returns a bound on ||f|| of the minimiser of mean loss + lambda ||f||^2, rounded up: the smaller
 * of sqrt(sup L(0, y)/lambda) and kappa C_L/(2 lambda); for the squared loss M/(2 sqrt(lambda)).
 */
double loss_ball(struct loss loss, double bound_y, double kappa, double lambda);

/** Returns whether it can be minimised: not zero_one and linear. */
bool loss_is_learnable(struct loss loss);

/** Classification: y is +1 or -1 (logistic, hinge, zero_one). Regression: the others. */
bool loss_is_classification(struct loss loss);
bool loss_is_regression(struct loss loss);

/** Whether the derivative is Lipschitz (logistic, Huber, squared), and that constant: 1/4, 1, 2. */
bool loss_is_smooth(struct loss loss);
double loss_curvature(struct loss loss);

/** Returns the second derivative at f; at a bend of the first (Huber) one of its generalised ones. CHECKs
 * that the loss is smooth. */
double loss_second_derivative(struct loss loss, double f, double y);

/* A loss without curvature through its conjugate: the dual's terms are a y - width |a|, low <= a <=
 * high. */
struct loss_box {
    double low;
    double high;
    double width;
};

/** Returns the box of a record's dual coefficient a, -a a slope of L at f. CHECKs that the loss can be
 * learned from and is not smooth. */
struct loss_box loss_box(struct loss loss, double y);

/** Whether the kind has a parameter. */
bool loss_has_parameter(enum loss_kind kind);

/** Checks the parameter against its kind: in the range given above, or 0 where there is none. Fails
 * with STATUS_INVALID. */
MUST_USE enum status loss_check(struct loss loss, struct why *why);

/** Returns "logistic", "hinge", "zero_one", "pinball", "absolute", "insensitive", "huber",
 * "squared" or "linear". */
const char *loss_name(enum loss_kind kind);

/** Finds a loss by its name. Fails with STATUS_NOT_FOUND. */
MUST_USE enum status loss_from_name(enum loss_kind *kind, const char *name);

#endif
