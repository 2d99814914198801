/* selftune_slope.h - what the self-tuning learner of a number (learn/selftune_number.h) computes with for its loss: how a
 * clipped gradient answers to an error of the model, and where a median, a quantile or a mean lies. The loss is
 * squared, halved (slope f - y), Huber's (f - y, held to its parameter), or pinball (1 - tau above y, -tau below).
 *
 * Residuals are taken to be normal, for pinball logistic: its quantiles and densities have closed forms. */

#ifndef LEARN_SELFTUNE_SLOPE_H
#define LEARN_SELFTUNE_SLOPE_H

#include "learn/loss.h"
#include "learn/standin.h"

/* Means over made-up records, of gradients clipped to C. */
struct selftune_slope {
    double column; /* what a column's mean gradient answers to its number's error, above 0 */
    double end;    /* the same of the constant */
    double right;  /* the constant's mean gradient where the model is right */
    double
        jump; /* pinball: of the constant, by how much it rises between all too low and all too high */
    double
        bias; /* how far clipping may mislead the constant, at most, where residuals are skewed */
};

/** Returns whether the learner serves it: squared, huber or pinball. */
bool selftune_serves(const struct loss *loss);

/**
 * Computes what gradients clipped to norm `clip` answer.
 *
 * loss   in  served (CHECKed)
 * sigma  in  > 0: the residuals' standard deviation
 *
 * Cost O(N D) for N made-up records.
 */
struct selftune_slope selftune_slope_of(const struct standin *standin, const struct loss *loss,
                                        double clip, double sigma);

/** Returns the norm of a typical gradient of a record of norm 1: clips are chosen by it. */
double selftune_slope_size(const struct loss *loss, double sigma);

/** Returns the chance that a label is below the model, by the constant's released mean gradient: held away from 0 and 1, and of
 * how far it is from that wanted the part `trust`. For other losses than pinball 1/2. */
double selftune_slope_chance(const struct selftune_slope *slope, const struct loss *loss,
                             double gradient, double trust);

/** Returns the standard deviation of residuals whose mean size is `size` where labels are below the model with that chance. */
double selftune_slope_sigma(const struct loss *loss, double size, double chance);

/** Returns by how much the best constant lies above the mean, for residuals of deviation sigma. */
double selftune_slope_start(const struct loss *loss, double sigma);

/** Returns how far the best constant may be from there where residuals are skewed: a standard deviation. */
double selftune_slope_doubt(const struct loss *loss, double sigma);

/** Returns how far the constant is above the best one, by its released mean gradient. */
double selftune_slope_end(const struct selftune_slope *slope, const struct loss *loss, double sigma,
                          double gradient);

#endif
