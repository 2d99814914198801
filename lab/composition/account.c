/* The front of the accountants. Every one of them gives an upper bound that holds, so the least one
 * holds too. The lower bound needs a pair of neighbours that truly is that bad: where the accountant's
 * model of an event is a pair that the event allows, the accountant's own lower end serves; an event
 * for which that does not hold is replaced by one that dominates it, or left out (an
 * observer who sees less learns no more).
 *
 * - A draw of bounded range epsilon can be randomised response with epsilon/2: its losses are
 *   +-epsilon/2, and the exponential mechanism between two outcomes whose scores trade places is
 *   just that (Dong, Durfee, Rogers 2020, at the middle of the shift).
 * - Of Poisson-sampled noise the curve is that of one record added or removed. For replace-one it is
 *   the certain part: a record may be replaced by one that adds nothing (a count of what only the
 *   first one is), which changes as much as leaving it out, and no more than the sensitivity. Any
 *   other sampled event is left out: it is known by an upper bound alone.
 */

#include "lab/composition/account.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "base/check.h"
#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *accountant_name(enum accountant accountant)
{
    static const char *const name[ACCOUNTANT_COUNT] = {
        [ACCOUNTANT_BASIC] = "basic",     [ACCOUNTANT_ADVANCED] = "advanced",
        [ACCOUNTANT_OPTIMAL] = "optimal", [ACCOUNTANT_ZCDP] = "zcdp",
        [ACCOUNTANT_RENYI] = "renyi",     [ACCOUNTANT_PLD] = "pld"};
    return (unsigned)accountant < ACCOUNTANT_COUNT ? name[accountant] : NULL;
}

enum status account_check(const struct privacy_event *events, size_t count, struct why *why)
{
    struct why reason = {""};
    for (size_t i = 0; i < count; i++) {
        enum status status = privacy_event_check(&events[i], &reason);
        if (status != STATUS_OK) {
            why_set(why, "event %zu: %s", i + 1, reason.text);
            return status;
        }
        if (events[i].neighbours != events[0].neighbours) {
            return why_refuse(
                why,
                "event %zu: neighbours is %s, but event 1 says %s: costs add up only for the "
                "same neighbours, so state every event for the same ones",
                i + 1, event_neighbours_name(events[i].neighbours),
                event_neighbours_name(events[0].neighbours));
        }
    }
    return STATUS_OK;
}

/* Writes the event whose pair of neighbours is certain to occur (count 0: none is), and answers
 * whether that is the event itself. */
static bool certain(struct privacy_event *out, const struct privacy_event *event)
{
    *out = *event;
    if (event->sampling < 1) {
        bool known =
            event->mechanism == MECHANISM_LAPLACE || event->mechanism == MECHANISM_GAUSSIAN;
        out->neighbours = NEIGHBOURS_ADD_REMOVE;
        out->count = known ? event->count : 0;
        return known && event->neighbours == NEIGHBOURS_ADD_REMOVE;
    }
    if (event->mechanism == MECHANISM_EXPONENTIAL) {
        out->mechanism = MECHANISM_PURE;
        out->parameter = event->parameter / 2;
        out->count = out->parameter > 0 ? event->count : 0;
        return false;
    }
    return true;
}

/* Whether randomised response is not only a bound on the event but the event: one with nothing
 * known but epsilon, and discrete Laplace noise under a shift by one. */
static bool is_response(const struct privacy_event *event)
{
    return event->count == 0 ||
           (event->sampling == 1 &&
            (event->mechanism == MECHANISM_PURE ||
             (event->mechanism == MECHANISM_DISCRETE_LAPLACE && event->sensitivity == 1)));
}

/* Beyond these a list is public in all but name, and its distribution of losses would only strain
 * the grid's arithmetic: a run that loses more than 10^4, or all of them more than 10^6; and so
 * would samples in which nobody ever is, whose losses leave the range of a double. */
#define SAMPLING_MIN  1e-100
#define RUN_LOSS_MAX  1e4
#define LIST_LOSS_MAX 1e6
#define RUN_LOSS_MIN  1e-12

/* Whether losses are of a size at which their distribution is worth asking for. */
static bool are_moderate(const struct privacy_event *events, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct privacy_event *event = &events[i];
        bool known =
            event->mechanism == MECHANISM_PURE || event->mechanism == MECHANISM_EXPONENTIAL;
        double loss = known ? event->parameter : event->sensitivity / event->parameter;
        if (event->mechanism == MECHANISM_GAUSSIAN ||
            event->mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
            loss += loss * loss / 2;
        }
        if (!(loss >= RUN_LOSS_MIN && loss <= RUN_LOSS_MAX && event->sampling >= SAMPLING_MIN)) {
            return false;
        }
        sum += loss * event->sampling * (double)event->count;
    }
    return sum <= LIST_LOSS_MAX;
}

/* low: that end alone */
static enum status ask_pld(struct interval *out, const struct privacy_event *events, size_t count,
                           struct composition_question question, bool low)
{
    *out = (struct interval){0, NAN};
    for (size_t i = 0; i < count; i++) {
        if (!pld_covers(&events[i])) {
            return STATUS_OK;
        }
    }
    if (!are_moderate(events, count)) {
        *out = (struct interval){0, question.wants_epsilon ? INFINITY : 1};
        return STATUS_OK;
    }
    struct pld_precision precision = pld_precision_quick(events, count);
    precision.ends = low ? PLD_LOW : PLD_HIGH;
    if (question.wants_epsilon && (question.quick || low)) {
        return pld_epsilon_within(out, events, count, question.at, precision);
    }
    if (low) {
        return pld_delta_within(out, events, count, question.at, precision);
    }
    return question.wants_epsilon ? pld_epsilon(out, events, count, question.at)
                                  : pld_delta(out, events, count, question.at);
}

static enum status ask_optimal(struct interval *out, const struct privacy_event *events,
                               size_t count, struct composition_question question)
{
    if (question.wants_epsilon) {
        return optimal_epsilon(out, events, count, question.at);
    }
    if (!are_moderate(events, count)) {
        double basic = basic_delta(events, count, question.at);
        *out = (struct interval){isnan(basic) ? NAN : 0, basic}; /* a walk over 10^9 states else */
        return STATUS_OK;
    }
    return optimal_delta(out, events, count, question.at);
}

static double above(double low, double candidate)
{
    return candidate > low ? candidate : low;
}

static bool are_responses(const struct privacy_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_response(&events[i])) {
            return false;
        }
    }
    return true;
}

/* The lower end when some events are not certain: that of what is certain about each of them. */
static enum status ask_low(double *low, const struct privacy_event *events, size_t count,
                           struct composition_question question)
{
    struct privacy_event *sure = calloc(count, sizeof *sure);
    struct interval interval = {0, NAN};
    size_t kept = 0;
    enum status status = STATUS_OK;

    if (sure == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        (void)certain(&sure[kept], &events[i]);
        kept += sure[kept].count > 0;
    }
    if (kept > 0) {
        status = are_responses(sure, kept) ? ask_optimal(&interval, sure, kept, question)
                                           : ask_pld(&interval, sure, kept, question, true);
    }
    *low = above(*low, interval.low);
    free(sure);
    return status;
}

static void ask_closed(double bound[static ACCOUNTANT_COUNT], const struct privacy_event *events,
                       size_t count, struct composition_question question)
{
    if (question.wants_epsilon) {
        bool approximate = question.at > 0; /* the others have nothing to say at delta 0 */
        bound[ACCOUNTANT_BASIC] = basic_epsilon(events, count, question.at);
        bound[ACCOUNTANT_ADVANCED] =
            approximate ? advanced_epsilon(events, count, question.at) : INFINITY;
        bound[ACCOUNTANT_ZCDP] = approximate ? zcdp_epsilon(events, count, question.at) : INFINITY;
        bound[ACCOUNTANT_RENYI] =
            approximate ? renyi_epsilon(events, count, question.at) : INFINITY;
    } else {
        bound[ACCOUNTANT_BASIC] = basic_delta(events, count, question.at);
        bound[ACCOUNTANT_ADVANCED] = advanced_delta(events, count, question.at);
        bound[ACCOUNTANT_ZCDP] = zcdp_delta(events, count, question.at);
        bound[ACCOUNTANT_RENYI] = renyi_delta(events, count, question.at);
    }
}

static void choose(struct account *out, struct composition_question question)
{
    out->high = INFINITY;
    out->best = ACCOUNTANT_BASIC;
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        if (!question.wants_epsilon && out->bound[i] > 1) {
            out->bound[i] = 1; /* no delta is larger */
        }
        if (out->bound[i] < out->high) {
            out->high = out->bound[i];
            out->best = (enum accountant)i;
        }
    }
}

/* At delta 0 nothing is forgiven: each of these losses is reached with some probability, and so is
 * their sum. Lower than it by the rounding of its terms. */
static double certain_sum(const struct privacy_event *events, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)events[i].count * pure_epsilon(&events[i]);
    }
    return sum * (1 - (32 + (double)count) * DBL_EPSILON);
}

/* events: each happens at least once */
static enum status ask(struct account *out, const struct privacy_event *events, size_t count,
                       struct composition_question question)
{
    struct interval optimal = {NAN, NAN};
    struct interval pld = {0, NAN};
    bool same = true;

    for (size_t i = 0; i < count; i++) {
        struct privacy_event sure;
        same = certain(&sure, &events[i]) && same;
    }
    ask_closed(out->bound, events, count, question);
    enum status status = ask_optimal(&optimal, events, count, question);
    if (status == STATUS_OK) {
        status = ask_pld(&pld, events, count, question, false);
    }
    if (status == STATUS_OK && !same) {
        status = ask_low(&out->low, events, count, question);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (are_responses(events, count)) {
        out->low = above(out->low, optimal.low);
    }
    if (same) {
        out->low = above(out->low, pld.low);
    }
    if (same && question.wants_epsilon && question.at <= 0) {
        out->low = above(out->low, certain_sum(events, count));
    }
    out->bound[ACCOUNTANT_OPTIMAL] = optimal.high;
    out->bound[ACCOUNTANT_PLD] = pld.high;
    choose(out, question);
    CHECK(out->low <= out->high);
    return STATUS_OK;
}

/* Leaves out what never happens: it costs nothing, whatever it is. */
static enum status ask_live(struct account *out, const struct privacy_event *events, size_t count,
                            struct composition_question question)
{
    struct privacy_event *live = calloc(count, sizeof *live);
    size_t kept = 0;
    enum status status = STATUS_OK;

    *out = (struct account){.best = ACCOUNTANT_BASIC};
    if (live == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        live[kept] = events[i];
        kept += events[i].count > 0;
    }
    if (kept > 0) {
        status = ask(out, live, kept, question);
    }
    free(live);
    return status;
}

enum status account_ask(struct account *out, const struct privacy_event *events, size_t count,
                        struct composition_question question, struct why *why)
{
    CHECK(count >= 1);
    const double at = question.at;
    const enum status status = account_check(events, count, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (question.wants_epsilon && !(at >= 0 && at < 1)) {
        return why_refuse(why, "delta must be at least 0 and below 1");
    }
    if (!question.wants_epsilon && !(at >= 0 && isfinite(at))) {
        return why_refuse(why, "epsilon must be a finite number of at least 0");
    }
    return ask_live(out, events, count, question);
}
