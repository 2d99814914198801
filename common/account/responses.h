/* responses.h - randomised responses of several strengths, composed. Not for use outside this
 * room. */

#ifndef ACCOUNT_RESPONSES_H
#define ACCOUNT_RESPONSES_H

#include "account/law.h"
#include "account/rounding.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
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

struct response_question {
    bool wants_epsilon;
    double at; /* delta in [10^-290, 1), or epsilon >= 0 */
};

/**
 * Answers for all groups together: exactly where their states are at most 2^18, else on a grid
 * of losses.
 *
 * groups  in  (count) of different epsilon
 *
 * Fails with STATUS_NO_MEMORY. Ensures low <= truth <= high.
 */
MUST_USE enum status responses_ask(struct interval *out, const struct response *groups,
                                   size_t count, struct response_question question);

/** The two ways; size = product of (count + 1). The grid resolves delta down to about 10^-30. */
MUST_USE enum status responses_states(struct interval *out, const struct response *groups,
                                      size_t count, size_t size, struct response_question question);
MUST_USE enum status responses_grid(struct interval *out, const struct response *groups,
                                    size_t count, struct response_question question);

#endif
