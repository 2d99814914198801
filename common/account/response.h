/* response.h - many runs of one randomised response: the exact trade of epsilon against delta. Not
 * for use outside this room. */

#ifndef ACCOUNT_RESPONSE_H
#define ACCOUNT_RESPONSE_H

#include "account/binomial.h"
#include "account/interval.h"

#include <stdint.h>

/* `count` >= 1 runs, each of which tells the truth with probability e^epsilon/(1 + e^epsilon). */
struct response {
    double epsilon; /* > 0 */
    uint64_t count;
};

/** How many of the runs tell the truth. */
struct binomial response_binomial(const struct response *response);

/** Most runs that the two functions below walk through; more cost O(sqrt(count)) time as well, but
 * too much of it. */
#define RESPONSE_COUNT_MAX (UINT64_C(1) << 42)

/** The smallest epsilon >= 0 at delta in [10^-300, 1), and the smallest delta at epsilon >= 0. */
struct interval response_epsilon(const struct response *response, double delta);
struct interval response_delta(const struct response *response, double epsilon);

#endif
