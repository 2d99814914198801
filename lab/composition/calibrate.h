/* calibrate.h - accounting backwards: how much noise a budget asks for, of one event or of a whole
 * job's schedule, re-verified by the accountants that will judge it. */

#ifndef COMPOSITION_CALIBRATE_H
#define COMPOSITION_CALIBRATE_H

#include "account/event.h"
#include "lab/composition/account.h"

/* What was asked of the noise, and what it came to. */
struct calibration {
    double factor; /* of the noise: scales and sigmas are multiplied by it, epsilons divided */
    struct account account; /* of the calibrated events at delta: account.high <= epsilon */
};

/**
 * Finds the least common factor on all noise at which the events together cost at most (epsilon,
 * delta): the schedule of a job whose events' parameters are relative weights. One event alone is
 * calibrated the same way: its own parameter comes out whatever it was before - the least scale or
 * sigma, the largest epsilon of each run.
 *
 * out      out
 * events   in/out  (count), count >= 1, each valid; scales and sigmas are multiplied by out->factor,
 *                  epsilons divided by it, rounded against the spender; unchanged when this fails.
 *                  Sampling, counts and the events' own deltas stay
 * epsilon  in      > 0, finite
 * delta    in      0 <= delta < 1
 *
 * Fails with STATUS_INVALID (an event is not valid, neighbours are mixed, epsilon or delta out of
 * range, nothing ever happens), STATUS_EXHAUSTED (no noise is enough: Gaussian noise at delta 0, the
 * events' own deltas above delta), STATUS_NO_MEMORY; why names the event or says what to change.
 * Ensures account_ask of the events as they come out, at delta, is out->account, and its high is
 * at most epsilon. The factor is the least such one up to 1e-10 of itself where the best accountant is
 * a closed form, and up to that accountant's own slack (pld.h) otherwise.
 * Cost: some 10 to 20 times account_ask.
 */
MUST_USE enum status calibrate(struct calibration *out, struct privacy_event *events, size_t count,
                               double epsilon, double delta, struct why *why);

#endif
