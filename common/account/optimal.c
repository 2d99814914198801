/* Among all adaptive compositions of mechanisms that are epsilon_i-DP, the product of randomised
 * responses is the worst (Kairouz, Oh, Viswanath 2015; for unequal epsilons Murtagh and Vadhan
 * 2016). Equal epsilons are one group; one group alone is walked through exactly (response.c);
 * several are laid out state by state, or on a grid (responses.h). The events' own deltas are
 * taken off first.
 *
 * Loss distributions (lab/composition) do not replace this. For equal epsilons their upper end agrees to
 * 2e-9. For unequal ones, whose losses lie between grid points, it is up to 3e-4 higher, the lower end is
 * often 1 % lower, and delta near the largest loss can be hundreds of times the truth. Besides,
 * `hedgerow-agent ledger` prints this epsilon, and no daemon links them. */

#include "account/pure.h"

#include "account/delta.h"
#include "account/renyi.h"
#include "account/responses.h"
#include "account/rounding.h"
#include "base/wide.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Below this delta, probabilities leave the range of a double: the sum of epsilons serves. */
#define DELTA_MIN 1e-290

static int compare(const void *left, const void *right)
{
    double a = ((const struct response *)left)->epsilon;
    double b = ((const struct response *)right)->epsilon;
    return (a > b) - (a < b);
}

/* Writes the groups, returns how many; epsilon 0 costs nothing. */
static size_t group(struct response *groups, const struct privacy_event *events, size_t count)
{
    size_t kept = 0;
    size_t merged = 0;
    for (size_t i = 0; i < count; i++) {
        groups[kept] = (struct response){pure_epsilon(&events[i]), events[i].count};
        kept += groups[kept].count > 0 && groups[kept].epsilon > 0;
    }
    qsort(groups, kept, sizeof *groups, compare);
    for (size_t i = 0; i < kept; i++) {
        if (merged > 0 && groups[merged - 1].epsilon == groups[i].epsilon) {
            uint64_t *times = &groups[merged - 1].count;
            *times = saturating_add(*times, groups[i].count);
        } else {
            groups[merged++] = groups[i];
        }
    }
    return merged;
}

static bool is_covered(const struct privacy_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].count > 0 && isnan(pure_epsilon(&events[i]))) {
            return false;
        }
    }
    return true;
}

/* zCDP knows more of a draw than its epsilon, which is all that is known here. */
static bool is_ranged(const struct privacy_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].mechanism == MECHANISM_EXPONENTIAL) {
            return true;
        }
    }
    return false;
}

static enum status ask(struct interval *out, const struct response *groups, size_t count,
                       struct response_question question)
{
    if (count == 0) {
        *out = (struct interval){0, 0};
        return STATUS_OK;
    }
    if (count == 1 && groups[0].count <= RESPONSE_COUNT_MAX) {
        *out = question.wants_epsilon ? response_epsilon(groups, question.at)
                                      : response_delta(groups, question.at);
        return STATUS_OK;
    }
    return responses_ask(out, groups, count, question);
}

static enum status grouped(struct interval *out, const struct privacy_event *events, size_t count,
                           struct response_question question)
{
    struct response *groups = calloc(count > 0 ? count : 1, sizeof *groups);
    if (groups == NULL) {
        return STATUS_NO_MEMORY;
    }
    size_t kept = group(groups, events, count);
    enum status status = ask(out, groups, kept, question);
    free(groups);
    return status;
}

enum status optimal_epsilon(struct interval *out, const struct privacy_event *events, size_t count,
                            double delta)
{
    *out = (struct interval){NAN, NAN};
    if (!is_covered(events, count)) {
        return STATUS_OK;
    }
    double basic = basic_epsilon(events, count, delta);
    double left = delta_left(events, count, delta);
    double above = delta_left_above(events, count, delta);
    struct interval below = {0, 0};
    enum status status = STATUS_OK;
    *out = (struct interval){0, basic};
    if (left < 0 || basic <= 0 || isinf(basic)) {
        return STATUS_OK;
    }
    if (left >= DELTA_MIN) {
        status = grouped(out, events, count, (struct response_question){true, left});
    }
    if (status == STATUS_OK && left < above) {
        status = grouped(&below, events, count,
                         (struct response_question){true, fmax(above, DELTA_MIN)});
        out->low = below.low;
    }
    if (status == STATUS_OK) {
        out->high =
            fmin(fmin(out->high, basic),
                 (is_ranged(events, count) ? INFINITY : zcdp_epsilon(events, count, delta)));
        out->low = fmin(out->low, out->high);
    }
    return status;
}

enum status optimal_delta(struct interval *out, const struct privacy_event *events, size_t count,
                          double epsilon)
{
    *out = (struct interval){NAN, NAN};
    if (!is_covered(events, count)) {
        return STATUS_OK;
    }
    double sum = basic_epsilon(events, count, 1 - DBL_EPSILON); /* whatever their own deltas */
    *out = (struct interval){delta_spent_below(events, count, 0), 1};
    if (isinf(sum)) {
        return STATUS_OK;
    }
    enum status status = grouped(out, events, count, (struct response_question){false, epsilon});
    if (status == STATUS_OK) {
        double high = fmin(basic_delta(events, count, epsilon),
                           (is_ranged(events, count) ? 1 : zcdp_delta(events, count, epsilon)));
        out->low = delta_spent_below(events, count, out->low);
        out->high = fmin(delta_spent(events, count, out->high), high);
        out->low = fmin(out->low, out->high);
    }
    return status;
}
