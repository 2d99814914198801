/* sampled.h - Renyi divergence of a mechanism that looks at a Poisson sample of the records. Not
 * for use outside this room. */

#ifndef ACCOUNT_SAMPLED_H
#define ACCOUNT_SAMPLED_H

#include "account/event.h"

#include <stdbool.h>

/**
 * Bounds the divergence of order alpha, both directions, between the outputs on neighbours of the
 * event's kind, when each record takes part with probability event->sampling.
 *
 * close  in  whether Gaussian noise is worth some hundred error functions; else it is treated as any other
 * whole  in  bounds the divergence of the unsampled event at a whole order >= 2, for two outputs
 *            that a reflection swaps (every additive noise that is symmetric)
 *
 * Returns INFINITY beyond order 1024. Cost: O(alpha), or some hundred error functions.
 */
double sampled_divergence(const struct privacy_event *event, double alpha, bool close,
                          double (*whole)(const struct privacy_event *event, double alpha));

#endif
