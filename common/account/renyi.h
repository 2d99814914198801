/* renyi.h - Renyi and zero-concentrated accounting: sums that hold for adaptively chosen events. */

#ifndef ACCOUNT_RENYI_H
#define ACCOUNT_RENYI_H

#include "account/event.h"

/**
 * Bounds from above the Renyi divergence of order alpha between the outputs of ONE run of this
 * event on neighbours, in both directions (count and delta are not looked at). Sampled noise by the
 * exact sum at whole orders up to 1024, Gaussian at the others and for replaced records within 3 %,
 * everything sampled also by its pure epsilon and unsampled.
 *
 * event  in  valid
 * alpha  in  > 1, finite
 *
 * Returns a number >= 0, INFINITY where none is known. Every rounding error is on the safe side.
 */
double renyi_divergence(const struct privacy_event *event, double alpha);

/** Bounds from above rho such that one run is rho-zCDP (divergence <= rho alpha for every alpha);
 * INFINITY where there is none (sampled Gaussians). */
double zcdp_rho(const struct privacy_event *event);

/** The smallest epsilon that divergence at order alpha gives at delta in (0, 1), rounded up; and
 * the smallest delta at epsilon. Source: Canonne, Kamath, Steinke 2020, proposition 12. */
double renyi_to_epsilon(double alpha, double divergence, double delta);
double renyi_to_delta(double alpha, double divergence, double epsilon);

/** rho-zCDP to (epsilon, delta) by the best order, rounded up, and back: the largest rho that keeps
 * (epsilon, delta), rounded down. zcdp_to_epsilon(0, delta) is 0. */
double zcdp_to_epsilon(double rho, double delta);
double zcdp_to_delta(double rho, double epsilon);
double zcdp_from_epsilon(double epsilon, double delta);

/** The whole list through the best order (alpha chosen after the sum: a list fixed in advance or
 * chosen adaptively, both hold, because the bound is valid at every order). NAN when some event has
 * no bound. events (count); delta 0 < delta < 1. Each event's own delta is taken from delta. */
double renyi_epsilon(const struct privacy_event *events, size_t count, double delta);
double renyi_delta(const struct privacy_event *events, size_t count, double epsilon);
double zcdp_epsilon(const struct privacy_event *events, size_t count, double delta);
double zcdp_delta(const struct privacy_event *events, size_t count, double epsilon);

#endif
