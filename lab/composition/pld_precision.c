/* How many digits a question is worth. What the grid adds to epsilon falls as the square of the step,
 * and grows as the number of runs: up to some thousands of one event a tenth of a second buys some ten
 * digits, a list of many events has to make do with three or four in half a second. Precision is
 * decided from the events alone, which are public. */

#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include <math.h>

#define RUNS_FEW    1e4
#define EPSILON_MAX 1e3 /* beyond it nobody asks for digits */

struct pld_precision pld_precision_quick(const struct privacy_event *events, size_t count)
{
    if (count > PLD_SHORT) {
        return (struct pld_precision){3e-4, 18, PLD_BOTH_ENDS};
    }
    for (size_t i = 0; i < count; i++) {
        if (events[i].sampling < 1) {
            return (struct pld_precision){2e-5, 18, PLD_BOTH_ENDS};
        }
    }
    return (struct pld_precision){3e-6, 20, PLD_BOTH_ENDS};
}

static bool are_alike(const struct privacy_event *a, const struct privacy_event *b)
{
    return a->mechanism == b->mechanism && a->neighbours == b->neighbours &&
           a->parameter == b->parameter && a->sensitivity == b->sensitivity &&
           a->sampling == b->sampling && a->delta == b->delta;
}

/* Whether more digits are worth a tenth of a second, and how many: what the grid adds falls as the
 * square of the step, and grows as the number of runs. */
static bool is_worth_more(struct pld_precision *precision, const struct privacy_event *events,
                          size_t count, double epsilon)
{
    double runs = 0;
    bool alike = true;
    for (size_t i = 0; i < count; i++) {
        runs += (double)events[i].count;
        alike = alike && are_alike(&events[0], &events[i]);
    }
    bool sampled = events[0].sampling < 1;
    precision->tolerance = sampled ? 1e-7 : 1e-10;
    precision->log2_size_max = sampled ? 19 : 20;
    precision->ends = PLD_HIGH; /* of low a few digits do */
    return alike && runs <= RUNS_FEW && epsilon <= EPSILON_MAX;
}

static struct interval common(struct interval a, struct interval b)
{
    double high = fmin(a.high, b.high);
    return (struct interval){fmin(fmax(a.low, b.low), high), high};
}

enum status pld_epsilon(struct interval *out, const struct privacy_event *events, size_t count,
                        double delta)
{
    struct pld_precision precision = pld_precision_quick(events, count);
    struct interval closer = {0, INFINITY};
    enum status status = pld_epsilon_within(out, events, count, delta, precision);
    if (status == STATUS_OK && is_worth_more(&precision, events, count, out->high)) {
        status = pld_epsilon_within(&closer, events, count, delta, precision);
        *out = common(*out, closer);
    }
    return status;
}

enum status pld_delta(struct interval *out, const struct privacy_event *events, size_t count,
                      double epsilon)
{
    struct pld_precision precision = pld_precision_quick(events, count);
    struct interval closer = {0, 1};
    enum status status = pld_delta_within(out, events, count, epsilon, precision);
    if (status == STATUS_OK && is_worth_more(&precision, events, count, epsilon)) {
        status = pld_delta_within(&closer, events, count, epsilon, precision);
        *out = common(*out, closer);
    }
    return status;
}
