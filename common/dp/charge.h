/* charge.h - what one private answer costs, as an event in integers: which mechanism, with which
 * parameter, how often, on which share of which rows. Millionths of epsilon and sigma, 10^-18ths of
 * delta, 10^-9ths of a sampling rate. What people write is rounded down when it is read, and the
 * noise follows the integer that is charged: rounding never favours the spender. */

#ifndef DP_CHARGE_H
#define DP_CHARGE_H

#include "account/event.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { EPSILON_DECIMALS = 6, DELTA_DECIMALS = 18, SAMPLING_DECIMALS = 9 };

#define EPSILON_MICRO_ONE UINT64_C(1000000)
#define DELTA_ATTO_ONE    UINT64_C(1000000000000000000)
#define SAMPLING_NANO_ONE UINT64_C(1000000000)
#define CHARGE_COUNT_MAX  (UINT64_C(1) << 53)

/* The least L2 sensitivity, in grid steps, of an answer about a sample that gets Gaussian noise: its
 * price takes the grid for that fine. */
enum { SAMPLED_STEPS_MIN = 1024 };

/* An amount of privacy: a limit, what was spent, what is left. */
struct price {
    uint64_t epsilon_micro;
    uint64_t delta_atto;
};

/**
 * The price of one answer and the records it is about. `pass` names one pass over the data; charges
 * of one pass on DISJOINT row ranges touch different records, so together they cost the largest of
 * them (parallel composition under replace-one neighbours, because which rows a range holds is
 * decided by index and never by content). Charges of different passes add up.
 *
 * Journals that are older than a field hold 0 in it: count 0 stands for 1, and
 * sampling_nano 0 for every record. A sampled charge states an epsilon or a sigma that holds for a
 * record replaced AND for a record left out, as that of a sum clipped to C and priced at 2C does.
 */
struct charge {
    enum mechanism mechanism; /* which one the grant is for */
    enum neighbours neighbours;
    uint64_t epsilon_micro; /* > 0: pure epsilon, or the bounded range of EXPONENTIAL; 0 for the
                                 Gaussians, whose noise is sigma_micro */
    uint64_t sigma_micro;   /* Gaussians: sigma / L2 sensitivity in millionths; 0 otherwise */
    uint64_t delta_atto;    /* < DELTA_ATTO_ONE: the probability that a run fails altogether */
    uint64_t count;         /* runs of the mechanism under this one charge; <= CHARGE_COUNT_MAX */
    uint64_t sampling_nano; /* each record takes part with this probability, rounded up */
    struct digest pass;     /* not none */
    uint64_t row_first;
    uint64_t row_count; /* > 0; row_first + row_count fits */
};

/** Returns whether every field is in its range. */
bool charge_is_valid(const struct charge *charge);

/** Returns how often the mechanism runs, and the sampling rate, with 0 read as said above. */
uint64_t charge_count(const struct charge *charge);
uint64_t charge_sampling_nano(const struct charge *charge);

/** Returns whether two charges are for the same event, whatever the pass and the rows. */
bool charge_same_event(const struct charge *a, const struct charge *b);

/**
 * Returns the charge as accountants see it, every number rounded so that the event is no cheaper
 * than the charge.
 *
 * charge  in  valid
 * Deviation: a Gaussian's charge knows only sigma over sensitivity, so a discrete Gaussian becomes
 * an event of sensitivity 1: right for zCDP and Renyi sums (both depend on the ratio alone), but
 * privacy-loss distributions of vectors and of larger sensitivities can be worse than this event's.
 * Where records are sampled, it becomes the continuous Gaussian that is proved to cost no less for a
 * sensitivity of SAMPLED_STEPS_MIN or more (account/gaussian_steps.h), by all accountants; below
 * sigma 1/4, an event that is not sampled.
 */
struct privacy_event charge_event(const struct charge *charge);

#endif
