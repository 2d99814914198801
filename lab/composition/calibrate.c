/* Calibration: the root of ln(cost(factor)/epsilon) in ln(factor). The closed-form accountants, which
 * cost microseconds, find a factor that is enough and lies within a few per cent to a few times the
 * least one; then all accountants together are asked, at the points of the regula falsi with the
 * Illinois modification (Dowell and Jarratt 1971), which needs some ten of them because the cost is
 * nearly a power of the factor. Only factors at which the accountants themselves said "at most
 * epsilon" are ever taken, on the very parameters that are handed out: were the cost not monotone in
 * its last digits, the answer would be a little worse and still valid. */

#include "lab/composition/calibrate.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* x is ln(factor) throughout. */
static const double x_most = 600;
static const double value_least = -2; /* the logarithm of a cost near 0 says nothing */
static const double weight_least = 1e-200;
static const double weight_most = 1e200;
static const double parameter_least = 1e-290;
static const double parameter_most = 1e290;

enum { QUESTIONS_MAX = 60 };

struct search {
    struct privacy_event *event;  /* (count) as given, each happens at least once */
    struct privacy_event *scaled; /* (count) */
    size_t count;
    double epsilon;
    double delta;
    bool found;
    double enough;          /* the least x known to be enough */
    struct account account; /* there */
};

static bool is_noise(enum mechanism mechanism)
{
    return mechanism != MECHANISM_PURE && mechanism != MECHANISM_EXPONENTIAL;
}

/* Writes the events with e^x times the noise, rounded against the spender; false when a parameter
 * would leave the range of sensible doubles. */
static bool scale(struct privacy_event *out, const struct privacy_event *event, size_t count,
                  double x)
{
    double factor = exp(x);
    for (size_t i = 0; i < count; i++) {
        out[i] = event[i];
        double parameter = is_noise(event[i].mechanism)
                               ? nextafter(event[i].parameter * factor, INFINITY)
                               : nextafter(event[i].parameter / factor, 0);
        if (!(parameter >= parameter_least && parameter <= parameter_most)) {
            return false;
        }
        out[i].parameter = parameter;
    }
    return true;
}

/* What the closed forms say at x, INFINITY where they say nothing. */
static double cheap(const struct search *search, double x)
{
    const double delta = search->delta;
    if (fabs(x) > x_most || !scale(search->scaled, search->event, search->count, x)) {
        return INFINITY;
    }
    double least = fmin(INFINITY, basic_epsilon(search->scaled, search->count, delta));
    if (delta > 0) {
        least = fmin(least, zcdp_epsilon(search->scaled, search->count, delta));
        least = fmin(least, renyi_epsilon(search->scaled, search->count, delta));
    }
    return least;
}

/* Asks everybody at x: ln(cost/epsilon) goes to value, and a factor that is enough is kept. */
static enum status ask(struct search *search, double *value, double x, struct why *why)
{
    struct account account;
    CHECK(scale(search->scaled, search->event, search->count, x));
    enum status status = account_ask(
        &account, search->scaled, search->count,
        (struct composition_question){.wants_epsilon = true, .at = search->delta, .quick = true},
        why);
    if (status != STATUS_OK) {
        return status;
    }
    bool enough = account.high <= search->epsilon;
    double excess = log(account.high / search->epsilon);
    *value = enough ? fmax(fmin(excess, 0), value_least) : fmax(excess, DBL_MIN);
    if (enough && (!search->found || x < search->enough)) {
        search->found = true;
        search->enough = x;
        search->account = account;
    }
    return STATUS_OK;
}

/* Finds an x that is enough by the closed forms, no more than 2 % above the least such one; false
 * when there is none. */
static bool find_cheap(double *out, const struct search *search)
{
    double low = 0;
    double high = 0;
    double step = 0.5;
    if (cheap(search, 0) <= search->epsilon) {
        while (low > -x_most && cheap(search, low) <= search->epsilon) {
            high = low;
            low -= step;
            step *= 2;
        }
    } else {
        do {
            low = high;
            high += step;
            step *= 2;
            if (low > x_most) {
                return false;
            }
        } while (!(cheap(search, high) <= search->epsilon));
    }
    while (high - low > 0.02) {
        double middle = low + (high - low) / 2;
        *(cheap(search, middle) <= search->epsilon ? &high : &low) = middle;
    }
    *out = high;
    return true;
}

/* How near to the least factor is near enough: the loss distributions know no better than their own
 * interval. */
static double nearness(const struct search *search)
{
    const struct account *account = &search->account;
    double slack = (account->high - account->low) / account->high;
    return account->best == ACCOUNTANT_PLD ? fmin(1e-4, fmax(1e-11, slack / 50)) : 1e-11;
}

/* Steps down from what is enough to a low end that is not; *low_value > 0 unless there is none. */
static enum status find_low(struct search *search, double *low, double *low_value,
                            double *high_value, struct why *why)
{
    double step = 1e-3;
    enum status status = STATUS_OK;
    *low_value = 0;
    for (int i = 0; i < QUESTIONS_MAX && status == STATUS_OK; i++) {
        /* The cost falls about as fast as the factor grows: the root is near x + value. */
        *low = search->enough + 1.05 * *high_value - step;
        if (fabs(*low) > x_most || !scale(search->scaled, search->event, search->count, *low)) {
            return STATUS_OK;
        }
        status = ask(search, low_value, *low, why);
        if (status != STATUS_OK || *low_value > 0) {
            return status;
        }
        *high_value = *low_value;
        step *= 4;
    }
    return status;
}

/* Closes in on the root between low, which is not enough, and search->enough. */
static enum status close_in(struct search *search, double low, double low_value, double high_value,
                            struct why *why)
{
    int side = 0;
    enum status status = STATUS_OK;
    for (int i = 0; i < QUESTIONS_MAX && status == STATUS_OK; i++) {
        double high = search->enough;
        double width = high - low;
        double value = 0;
        if (width <= nearness(search)) {
            return STATUS_OK;
        }
        double x = high - width * high_value / (high_value - low_value);
        if (isfinite(high_value) && isfinite(low_value) && i < QUESTIONS_MAX / 2) {
            double margin = fmin(width / 4, nearness(search) / 2); /* both ends shall move */
            x = fmin(fmax(x, low + margin), high - margin);
        } else {
            x = low + width / 2;
        }
        status = ask(search, &value, x, why);
        if (status == STATUS_OK && value > 0) {
            low = x;
            low_value = value;
            high_value = side < 0 ? high_value / 2 : high_value;
            side = -1;
        } else if (status == STATUS_OK) {
            high_value = value;
            low_value = side > 0 ? low_value / 2 : low_value;
            side = 1;
        }
    }
    return status;
}

static enum status refuse_for_good(const struct privacy_event *events, size_t count, double delta,
                                   struct why *why)
{
    for (size_t i = 0; i < count && delta == 0; i++) {
        if (events[i].count > 0 && isnan(pure_epsilon(&events[i]))) {
            why_set(why, "event %zu: %s noise keeps no epsilon at delta 0: give a delta above 0",
                    i + 1, event_mechanism_name(events[i].mechanism));
            return STATUS_EXHAUSTED;
        }
    }
    why_set(why,
            "no noise is enough: the events' own deltas leave nothing of delta %g: give a larger "
            "one, or smaller ones to the events",
            delta);
    return STATUS_EXHAUSTED;
}

static enum status check(const struct privacy_event *events, size_t count, double epsilon,
                         double delta, struct why *why)
{
    bool happens = false;
    enum status status = account_check(events, count, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(epsilon > 0 && isfinite(epsilon))) {
        return why_refuse(why, "epsilon must be a finite number above 0");
    }
    if (!(delta >= 0 && delta < 1)) {
        return why_refuse(why, "delta must be at least 0 and below 1");
    }
    for (size_t i = 0; i < count; i++) {
        happens = happens || events[i].count > 0;
        if (!(events[i].parameter >= weight_least && events[i].parameter <= weight_most)) {
            return why_refuse(why, "event %zu: %s must be between 1e-200 and 1e200, as a weight",
                              i + 1, event_parameter_name(events[i].mechanism));
        }
    }
    if (!happens) {
        why_set(why, "every event has count 0: there is no noise to choose");
    }
    return happens ? STATUS_OK : STATUS_INVALID;
}

static enum status find(struct search *search, struct why *why)
{
    double x = 0;
    double high_value = 0;
    double low = 0;
    double low_value = 0;
    if (!find_cheap(&x, search)) {
        return STATUS_EXHAUSTED;
    }
    enum status status = ask(search, &high_value, x, why);
    if (status == STATUS_OK) {
        CHECK(search->found); /* the closed forms are among those asked */
        status = find_low(search, &low, &low_value, &high_value, why);
    }
    if (status == STATUS_OK && low_value > 0) {
        status = close_in(search, low, low_value, high_value, why);
    }
    return status;
}

/* The searches were quick; what is handed out is what account_ask says of it, unless rounding made
 * that one the worse. */
static enum status look_closely(struct search *search, struct why *why)
{
    struct account account;
    CHECK(scale(search->scaled, search->event, search->count, search->enough));
    enum status status =
        account_ask(&account, search->scaled, search->count,
                    (struct composition_question){.wants_epsilon = true, .at = search->delta}, why);
    if (status == STATUS_OK && account.high <= search->epsilon) {
        search->account = account;
    }
    return status;
}

enum status calibrate(struct calibration *out, struct privacy_event *events, size_t count,
                      double epsilon, double delta, struct why *why)
{
    struct search search = {.epsilon = epsilon, .delta = delta};
    CHECK(count >= 1);
    enum status status = check(events, count, epsilon, delta, why);
    if (status != STATUS_OK) {
        return status;
    }
    search.event = calloc(count, sizeof *search.event);
    search.scaled = calloc(count, sizeof *search.scaled);
    if (search.event == NULL || search.scaled == NULL) {
        status = STATUS_NO_MEMORY;
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        search.event[search.count] = events[i];
        search.count += events[i].count > 0;
    }
    status = find(&search, why);
    if (status == STATUS_OK) {
        status = look_closely(&search, why);
    }
    if (status == STATUS_EXHAUSTED) {
        status = refuse_for_good(events, count, delta, why);
    } else if (status == STATUS_OK) {
        CHECK(search.account.high <= epsilon);
        *out = (struct calibration){exp(search.enough), search.account};
        (void)scale(events, events, count, search.enough);
    }
done:
    free(search.event);
    free(search.scaled);
    return status;
}
