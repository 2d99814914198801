/* responses.h - randomised responses of several strengths, composed. Not for use outside this
 * room. */

#ifndef ACCOUNT_RESPONSES_H
#define ACCOUNT_RESPONSES_H

#include "account/interval.h"
#include "account/response.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

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
