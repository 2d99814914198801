/* linear_learner.h - algorithm 17 of Dwork and Roth: online linear optimisation over the simplex by
 * drawing basis vectors. The experts are the d coordinates; the answer is the mean of the vectors
 * played, that is, how often each coordinate was. */

#ifndef EXPERTS_LINEAR_LEARNER_H
#define EXPERTS_LINEAR_LEARNER_H

#include <stddef.h>
#include <stdint.h>

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
void linear_learner_losses(int64_t *loss, const double *x, size_t d, unsigned bits);

/** Writes the mean of the basis vectors played: y_i = plays[i] / sum of plays. plays (d), together
 * > 0; a function of what was drawn, so it costs nothing. y (d) is in the simplex. */
void linear_learner_answer(double *y, const uint64_t *plays, size_t d);

#endif
