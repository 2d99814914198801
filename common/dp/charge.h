/* charge.h - what one private answer costs, in integers: millionths of epsilon, 10^-18ths of delta.
 * What people write is rounded down when it is read, and the noise follows the integer that is
 * charged: rounding never favours whoever spends. */

#ifndef DP_CHARGE_H
#define DP_CHARGE_H

#include "account/event.h"
#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { EPSILON_DECIMALS = 6, DELTA_DECIMALS = 18 };

#define EPSILON_MICRO_ONE UINT64_C(1000000)
#define DELTA_ATTO_ONE    UINT64_C(1000000000000000000)

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
 */
struct charge {
    enum mechanism mechanism; /* which one the grant is for */
    uint64_t epsilon_micro;   /* > 0: pure epsilon, or the bounded range of EXPONENTIAL; 0 for the
                                 Gaussians, whose noise is sigma_micro */
    uint64_t sigma_micro;     /* Gaussians: sigma / L2 sensitivity in millionths; 0 otherwise */
    uint64_t delta_atto;      /* < DELTA_ATTO_ONE */
    struct digest pass;       /* not none */
    uint64_t row_first;
    uint64_t row_count; /* > 0; row_first + row_count fits */
};

/** Returns whether every field is in its range. */
bool charge_is_valid(const struct charge *charge);

#endif
