/* event.h - what happened to the records, as accountants see it: which mechanism ran, with which
 * parameters, how often, on which share of the records. */

#ifndef ACCOUNT_EVENT_H
#define ACCOUNT_EVENT_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>
#include <stdint.h>

/* Which mechanism it is decides which curves are valid for it (permute-and-flip, for one, is PURE:
 * it is not bounded-range). New ones go to the end: journals hold the numbers. */
enum mechanism {
    MECHANISM_PURE,              /* epsilon-DP, nothing else known; a Laplace VECTOR is this */
    MECHANISM_LAPLACE,           /* one real number, Laplace noise of a scale */
    MECHANISM_DISCRETE_LAPLACE,  /* one integer, discrete Laplace noise of a scale */
    MECHANISM_GAUSSIAN,          /* a real vector of L2 sensitivity, Gaussian noise of sigma */
    MECHANISM_DISCRETE_GAUSSIAN, /* one integer, discrete Gaussian noise of sigma */
    MECHANISM_EXPONENTIAL        /* epsilon-bounded-range, as the exponential mechanism is */
};

enum { MECHANISM_COUNT = MECHANISM_EXPONENTIAL + 1 };

/* Which data sets count as neighbours: the sensitivity and the epsilon of an event are meant for
 * these. REPLACE_ONE moves a clipped sum by up to twice the clip, ADD_REMOVE by once. */
enum neighbours { NEIGHBOURS_REPLACE_ONE, NEIGHBOURS_ADD_REMOVE };

/* `count` runs of one mechanism, each of which may have been chosen after seeing the ones before. */
struct privacy_event {
    enum mechanism mechanism;
    enum neighbours neighbours;
    double parameter;   /* LAPLACE, DISCRETE_LAPLACE: scale; GAUSSIAN, DISCRETE_GAUSSIAN: sigma;
                           PURE, EXPONENTIAL: epsilon. > 0, finite */
    double sensitivity; /* in the units of scale and sigma; > 0, whole for the discrete ones;
                           1 for PURE and EXPONENTIAL */
    uint64_t count;     /* 0 .. 2^53: nothing happened when 0 */
    double sampling;    /* each record takes part with this probability, on its own (Poisson
                           sampling): 0 < sampling <= 1 */
    double delta;       /* each run may fail altogether with this probability: 0 <= delta < 1 */
};

/** Returns the name in event files: "pure", "laplace", "discrete_laplace", "gaussian",
 * "discrete_gaussian", "exponential"; NULL beyond the last. */
const char *event_mechanism_name(enum mechanism mechanism);

/** Returns the name of a mechanism's parameter: "epsilon", "scale" or "sigma". */
const char *event_parameter_name(enum mechanism mechanism);

/** Returns "replace-one" or "add-remove"; NULL beyond. */
const char *event_neighbours_name(enum neighbours neighbours);

/**
 * Checks one event's fields.
 *
 * Fails with STATUS_INVALID; why (may be NULL) names the field and the range.
 */
MUST_USE enum status privacy_event_check(const struct privacy_event *event, struct why *why);

#endif
