/* Chooses how to lay out the law of the total loss. */

#include "account/responses.h"

#include <math.h>

#define STATES_MAX ((size_t)1 << 18)
/* Beyond so many groups even the coarsest grid takes seconds. */
#define GROUPS_MAX ((size_t)100000)

/* Product of (count + 1), or 0 above STATES_MAX. */
static size_t state_count(const struct response *groups, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++) {
        if (groups[i].count >= STATES_MAX / size) {
            return 0;
        }
        size *= (size_t)groups[i].count + 1;
    }
    return size;
}

enum status responses_ask(struct interval *out, const struct response *groups, size_t count,
                          struct response_question question)
{
    size_t size = state_count(groups, count);
    bool fits = count <= GROUPS_MAX;
    if (size > 0) {
        return responses_states(out, groups, count, size, question);
    }
    for (size_t i = 0; i < count; i++) {
        fits = fits && groups[i].count <= RESPONSE_COUNT_MAX;
    }
    if (fits) {
        return responses_grid(out, groups, count, question);
    }
    *out = (struct interval){0, question.wants_epsilon ? INFINITY : 1};
    return STATUS_OK;
}
