/* optimiser.h - what the coordinator makes of released mean gradients: steps, momentum, Adam, and
 * the average of the weights it passes through. All of it is post-processing of public numbers. */

#ifndef LEARN_OPTIMISER_H
#define LEARN_OPTIMISER_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum optimiser_kind {
    OPTIMISER_PLAIN,    /* w -= rate g */
    OPTIMISER_MOMENTUM, /* m = momentum m + g;  w -= rate m */
    OPTIMISER_ADAM      /* Adam, with both corrections for the start at zero */
};

/* Which weights the released model is made of: averages have less of the steps' noise. */
enum optimiser_average {
    AVERAGE_NONE,      /* the last */
    AVERAGE_TAIL,      /* the mean of the second half of the rounds */
    AVERAGE_POLYNOMIAL /* all; those of round t count in proportion t, the first being 1 */
};

struct optimiser {
    enum optimiser_kind kind;
    enum optimiser_average average;
    size_t width;     /* numbers in a model, > 0 */
    uint64_t rounds;  /* in all, > 0 */
    double rate;      /* > 0, finite */
    double decay;     /* 0 .. 1: round t's rate is rate / t^decay; 1/2 is the theory's */
    double momentum;  /* 0 <= momentum < 1; Adam's first; 0 for PLAIN */
    double momentum2; /* Adam's second, 0 <= momentum2 < 1; 0 for the others */
    double radius;    /* weights are brought back into the ball of this radius; 0: there is none */
};

/** Checks every field against its range. Fails with STATUS_INVALID; why names it. */
MUST_USE enum status optimiser_check(const struct optimiser *optimiser, struct why *why);

/**
 * Returns how many doubles the state is, one after another, each part `width` long: the weights w;
 * the momentum m (MOMENTUM, ADAM); the squares v (ADAM); the average a (all but AVERAGE_NONE). At
 * most 4 width. A journal that holds these numbers and the rounds done holds everything.
 */
size_t optimiser_state_count(const struct optimiser *optimiser);

/** Fills state (optimiser_state_count) for the model `start` (width); NULL: all zero. CHECKs
 * optimiser_check. */
void optimiser_init(double *state, const struct optimiser *optimiser, const double *start);

/**
 * Takes one step.
 *
 * state          in/out  (optimiser_state_count)
 * mean_gradient  in      (width) of the round, as released; finite
 * round          in      0 .. rounds - 1: how many steps the state has taken
 *
 * Ensures w is finite (and within the radius): a step that would not be is not taken.
 * Source: Polyak 1964 (momentum); Kingma and Ba 2015, algorithm 1 (Adam); Shamir and Zhang 2013,
 * section 4 with eta = 1 (the polynomial average). Deviation: Adam's guard against a division by
 * nothing, 10^-8, stands inside the root.
 */
void optimiser_step(double *state, const struct optimiser *optimiser, const double *mean_gradient,
                    uint64_t round);

/** Returns whether the state is the weights alone. Then a step can be taken in the gradient's place: mean_gradient becomes the state
 * that optimiser_step would make, and no third vector is needed beside the two. */
bool optimiser_is_weights(const struct optimiser *optimiser);
void optimiser_step_weights(double *mean_gradient, const double *state,
                            const struct optimiser *optimiser, uint64_t round);

/** Writes the weights to ask the next gradient at, and the model to release; each (width). */
void optimiser_weights(double *weights, const double *state, const struct optimiser *optimiser);
void optimiser_model(double *model, const double *state, const struct optimiser *optimiser);

#endif
