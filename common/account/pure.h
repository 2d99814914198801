/* pure.h - accounting by each event's pure epsilon: basic, advanced and optimal composition. NAN
 * where some event has no pure epsilon. */

#ifndef ACCOUNT_PURE_H
#define ACCOUNT_PURE_H

#include "account/event.h"
#include "account/rounding.h"

/** The pure epsilon of one run, rounded up: sensitivity / scale, amplified by sampling as
 * ln(1 + q (e^epsilon - 1)); NAN where there is none (Gaussians). Sampling with replace-one
 * neighbours: leaving the record out altogether must change no more than replacing it does (true
 * of clipped sums; not of an answer that tells how many were sampled). */
double pure_epsilon(const struct privacy_event *event);

/** Sum of epsilons. Valid for adaptive choices and any delta. */
double basic_epsilon(const struct privacy_event *events, size_t count, double delta);
double basic_delta(const struct privacy_event *events, size_t count, double epsilon);

/** Dwork and Roth, theorem 3.20, generalised to unequal events; 0 < delta < 1. */
double advanced_epsilon(const struct privacy_event *events, size_t count, double delta);
double advanced_delta(const struct privacy_event *events, size_t count, double epsilon);

/**
 * Kairouz, Oh, Viswanath 2015: the smallest epsilon of the product of randomised responses with
 * these epsilons (any count, equal or unequal), rounded up by at most 0.1 %; continuous, not on
 * their grid of vertices. Valid for adaptive choices as long as the list of epsilons is fixed.
 *
 * out  out  low .. high; both NAN where some event has no pure epsilon
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status optimal_epsilon(struct interval *out, const struct privacy_event *events,
                                     size_t count, double delta);
MUST_USE enum status optimal_delta(struct interval *out, const struct privacy_event *events,
                                   size_t count, double epsilon);

#endif
