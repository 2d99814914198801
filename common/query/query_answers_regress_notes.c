/* query_answers_regress_notes.c - why a coefficient is not given, and what one that is given is of. */

#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many levels numbers have, as more epsilon plans more of them; 0: there is no number, or they were asked for. */
static size_t planned_levels(const struct query *query)
{
    size_t levels = 0;
    for (size_t i = 0; i < query->variable_count && !query->steps_are_asked; i++) {
        const struct query_variable *variable = &query->variable[i];
        levels = variable->column.kind == COLUMN_NUMBER ? variable->levels : levels;
    }
    return levels;
}

static void say_factor(struct query_answer *answer, const struct query *query,
                       const struct regress_lacking *lacking, const char *text)
{
    const struct regress_replay *replay = lacking->replay;
    const size_t levels = planned_levels(query);
    const char *even = replay->is_even ? "records are even over the levels" : "";
    const char *events = replay->is_event_assumed ? "a fifth have the event" : "";
    const char *both = replay->is_even && replay->is_event_assumed ? " and " : "";
    query_say(answer, "; ");
    if (replay->is_even || replay->is_event_assumed) {
        query_say(answer, "if %s%s%s, ", even, both, events);
    }
    query_say(answer, "%s", text);
    if (levels > 0) {
        query_say(answer, " in %zu levels", levels);
    }
}

static const double needed_share = 0.2; /* of the records, that a plan takes to have the event */

/* How many records would be enough, if the released cells give no factor. */
static void say_needed(struct query_answer *answer, const struct query *query, double needed)
{
    const bool has_event = query->family == REGRESS_LOGISTIC || query->family == REGRESS_HAZARD;
    if (isfinite(needed)) {
        query_say(answer,
                  "; for the noise alone, about %.0f records would be enough, if they are even%s",
                  ceil(needed), has_event ? " and a fifth have the event" : "");
    }
}

void regress_say_lack(struct query_answer *answer, const struct query *query,
                      const struct regress_lacking *lacking)
{
    const struct regress_replay *replay = lacking->replay;
    char text[ADVICE_BYTES];
    switch (lacking->why) {
    case REGRESS_LACKS_RECORDS:
        query_say(answer,
                  ": no record was found in this category, as far as the noise shows; the other "
                  "coefficients are given without it");
        return;
    case REGRESS_LACKS_FIRST:
        query_say(answer, ": no record was found in the category to which the others are compared");
        return;
    case REGRESS_LACKS_LEVELS:
        query_say(
            answer,
            ": a column has records in only one of its levels, as far as the noise shows; the "
            "other columns are given without it");
        say_needed(answer, query, lacking->needed);
        return;
    case REGRESS_LACKS_RANGE:
        query_say(
            answer,
            ": the values of %s lie too close together for levels of its range, which is more than "
            "8 times their standard deviation: give it a narrower range, or ask without it",
            lacking->number);
        return;
    case REGRESS_LACKS_SMOOTH:
        query_say(
            answer,
            ": the released levels of %s are not those of a smooth column: it has few values, or "
            "jumps, and its slope depends on where they lie; ",
            lacking->number);
        if (lacking->function != NULL) {
            query_say(answer, "if they are whole numbers, ask for %s%s(%s)%s",
                      lacking->is_log ? "log(" : "", lacking->function, lacking->column,
                      lacking->is_log ? ")" : "");
        } else {
            query_say(answer, "ask without it, or name its categories in `data`");
        }
        return;
    case REGRESS_LACKS_EVENTS: /* of baselines, which are not told */
    case REGRESS_LACKS_NOTHING:
        break;
    }
    if (replay->has_no_records) {
        query_say(answer, ": no record was found in which nothing is missing");
        say_needed(answer, query, lacking->needed);
    } else if (replay->has_few_events) {
        query_say(answer, ": too few events: at most %.0f, which the noise hides",
                  ceil(replay->events_most));
        if (needed_share * lacking->needed > replay->events_most) {
            query_say(answer, "; for the noise alone, about %.0f events would be enough",
                      ceil(needed_share * lacking->needed));
        }
    } else if (replay->has_all_events) {
        query_say(
            answer,
            ": all records have the event, as far as the noise shows, so nothing can be compared");
    } else if (lacking->factor <= 1 && (replay->is_even || replay->is_event_assumed)) {
        query_say(answer, ": the noise hides how many records, or events, there are");
        say_needed(answer, query, lacking->needed);
    } else if (lacking->factor <= 1) {
        query_say(answer, ": the columns may tell each other, or the outcome");
    } else if (advice_text(text, sizeof text, &lacking->advice)) {
        say_factor(answer, query, lacking, text);
    } else {
        query_say(
            answer,
            "; no number up to %.0f times the epsilon, or the records, was found to be enough",
            ADVICE_FACTOR_MOST);
        say_needed(answer, query, lacking->needed);
    }
}

void regress_say_rounded(struct query_answer *answer, const struct query_variable *variable,
                         const char *name, bool is_bent, bool covers_both)
{
    const struct column *column = &variable->column;
    const double low = predicate_value(column, column->centre - column->half_width);
    const double high = predicate_value(column, column->centre + column->half_width);
    const bool may_be_whole = !variable->is_whole && query_may_be_whole(column);
    query_say(
        answer, "from %zu levels of %s over %.6g to %.6g, %s", variable->levels, name, low, high,
        variable->is_whole            ? "of whole numbers alone"
        : may_be_whole && covers_both ? "within which values are taken to lie smoothly, or to be "
                                        "whole numbers: the interval covers both"
        : may_be_whole ? "within which values are taken to lie smoothly: the levels are not "
                         "those of whole numbers"
                       : "within which values are taken to lie smoothly");
    if (may_be_whole) {
        query_say(answer, "; ask for %swhole(%s)%s if they are whole",
                  variable->is_log ? "log(" : "", column->name, variable->is_log ? ")" : "");
    }
    if (is_bent) {
        query_say(answer, "; outcomes do not follow the model over these levels, so that the "
                          "coefficient depends on the levels and on the noise");
    }
}

void regress_say_intervals(struct query_answer *answer, const struct query *query,
                           const struct regress_fit *fit)
{
    const double width = query->end / (double)query->intervals;
    for (size_t i = 0; i < query->intervals; i++) {
        size_t last = i;
        char name[64];
        if (fit->lack[i] != REGRESS_LACKS_EVENTS) {
            continue;
        }
        while (last + 1 < query->intervals && fit->lack[last + 1] == REGRESS_LACKS_EVENTS) {
            last++;
        }
        (void)snprintf(name, sizeof name, "%.6g to %.6g", width * (double)i,
                       width * (double)(last + 1));
        query_say_left_out_interval(answer, name);
        i = last;
    }
}
