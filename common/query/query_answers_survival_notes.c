/* query_answers_survival_notes.c - why a survival's figure is not given, and what would be enough. A group without records
 * is told first, because nothing that the others lack would help. */

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/text.h"
#include "estimate/cells.h"
#include "query/query_advice.h"
#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Why a group has no curve though it has as many records as the noise asks for: deaths, as survival.h has it. */
static bool say_few_deaths(char *note, size_t bytes, const struct survival_cells *cells,
                           size_t group)
{
    const size_t half = (cells->intervals + 1) / 2; /* of the points, which a curve needs */
    const double *own = cells->cell + group * (2 * cells->intervals + 1);
    const double needed = fmax(SURVIVAL_DEATHS_LEAST,
                               SURVIVAL_DEATHS_OVER_NOISE * sqrt(cells->variance * (double)half));
    double deaths = 0;
    for (size_t j = 0; j < half; j++) {
        deaths += own[j];
    }
    if (!(deaths <= needed)) {
        return false;
    }
    text_add(note, bytes,
             ": too few events: about %.0f in the first half of the time, and more than %.0f "
             "are needed",
             fmax(deaths, 0), ceil(needed));
    return true;
}

/* Whether the noise alone may show a group's deaths, or there is less than one: more epsilon would find none. */
static bool has_no_deaths(const struct survival_cells *cells, size_t group)
{
    static const double deviations = 2;
    const size_t half = (cells->intervals + 1) / 2;
    const double *own = cells->cell + group * (2 * cells->intervals + 1);
    double deaths = 0;
    for (size_t j = 0; j < half; j++) {
        deaths += own[j];
    }
    return deaths < fmax(deviations * sqrt(cells->variance * (double)half), 1);
}

/* Whether nearly all of a group end in one interval, with an event or without: times that are alike have no curve. */
static bool say_alike(char *note, size_t bytes, const struct answering *answering,
                      const struct survival_cells *cells, size_t group)
{
    const double nearly = 0.9;
    const double *own = cells->cell + group * (2 * cells->intervals + 1);
    size_t most = 0;
    for (size_t j = 0; j < cells->intervals; j++) {
        const bool is_more =
            own[j] + own[cells->intervals + j] > own[most] + own[cells->intervals + most];
        most = is_more ? j : most;
    }
    const double records = survival_records(cells, group);
    if (!(records >= query_records_needed(answering)) ||
        own[most] + own[cells->intervals + most] < nearly * records) {
        return false;
    }
    text_add(note, bytes,
             ": nearly all times are in one interval, %.6g to %.6g, so there is no curve",
             most > 0 ? answering->query->edge[most - 1] : 0, answering->query->edge[most]);
    return true;
}

/* What a group lacks: records (the noise alone says how many would be enough), deaths, or records late in time. */
static void say_lack(char *note, size_t bytes, const struct answering *answering,
                     const struct survival_cells *cells, size_t group)
{
    const double needed = query_records_needed(answering);
    if (!(survival_records(cells, group) >= needed)) {
        query_say_enough(note, bytes, answering);
    } else if (!say_few_deaths(note, bytes, cells, group)) {
        const struct survival_lack lack = survival_lacks(cells, group);
        char number[96] = "";
        if (!isnan(lack.needed)) {
            (void)snprintf(number, sizeof number, ": about %.0f %s, and more than %.0f are needed",
                           fmax(lack.found, 0),
                           lack.is_at_end ? "in the last interval" : "in the middle of the time",
                           lack.needed);
        }
        text_add(
            note, bytes,
            ": too few records are still under observation late in the time, for this noise%s; an "
            "earlier end would help",
            number);
    }
}

struct survival_of survival_of_two(size_t g, size_t h)
{
    struct survival_of out = {{false}};
    out.of[g] = out.of[h] = true;
    return out;
}

/* The first of them without a record, as far as the noise tells; the number of groups where there is none. */
static size_t first_hidden(const struct survival_cells *cells, const bool *of)
{
    size_t g = 0;
    while (g < cells->groups && !(of[g] && survival_is_hidden(cells, g))) {
        g++;
    }
    return g;
}

static void say_hidden(struct query_answer *answer, const struct answering *answering, size_t group)
{
    const char *name = query_group_name(answering->query, group);
    (void)snprintf(
        answer->note, sizeof answer->note,
        "not enough data for this question at this epsilon: no record was found%s%.*s, as far as "
        "the noise shows",
        name[0] == '\0' ? "" : " in ", letters_within(name, SCHEMA_NAME_BYTES), name);
    query_say_enough(answer->note, sizeof answer->note, answering);
}

/* The first of them without a curve, or without a mean; the last where all have one. */
static size_t first_without(const struct survival_cells *cells, const bool *of)
{
    size_t last = 0;
    for (size_t g = 0; g < cells->groups; g++) {
        bool alone[SURVIVAL_GROUPS_MAX] = {false};
        alone[g] = true;
        last = of[g] ? g : last;
        if (of[g] && !survival_is_whole(cells, alone)) {
            return g;
        }
    }
    return last;
}

/* Groups, one of which is refused. */
struct refused {
    const struct survival_cells *cells;
    const bool *of;
};

static bool does(const struct advised *advised, const void *of)
{
    const struct refused *refused = of;
    const double share = query_survival_share(&advised->query);
    const struct survival_again again = {advised->query.intervals, advised->query.block,
                                         advised->variance / (share * share), advised->times};
    return survival_would_do(refused->cells, refused->of, &again);
}

void survival_say_too_few(struct query_answer *answer, const struct answering *answering,
                          const struct survival_cells *cells, const struct survival_of *groups)
{
    const size_t hidden = first_hidden(cells, groups->of);
    if (hidden < cells->groups) {
        say_hidden(answer, answering, hidden);
        return;
    }
    (void)snprintf(answer->note, sizeof answer->note,
                   "not enough data for this question at this epsilon");
    for (size_t g = 0; g < cells->groups; g++) {
        if (groups->of[g] && say_alike(answer->note, sizeof answer->note, answering, cells, g)) {
            return;
        }
    }
    for (size_t g = 0; g < cells->groups; g++) {
        if (groups->of[g] && has_no_deaths(cells, g) &&
            survival_records(cells, g) >= query_records_needed(answering) &&
            say_few_deaths(answer->note, sizeof answer->note, cells, g)) {
            return;
        }
    }
    const struct refused refused = {cells, groups->of};
    const struct advice advice = advice_search(answering, does, &refused);
    if (!advice_say(answer->note, sizeof answer->note, &advice)) {
        say_lack(answer->note, sizeof answer->note, answering, cells,
                 first_without(cells, groups->of));
    }
}

void survival_say_test(struct query_answer *answer, const struct answering *answering,
                       const struct survival *survival, const struct survival_cells *cells)
{
    struct survival_of found = {{false}};
    size_t count = 0;
    if (!isnan(survival->log_rank_p)) {
        (void)snprintf(answer->note, sizeof answer->note,
                       "chi-squared %s with %zu degree%s of freedom; its reference distribution "
                       "has the noise in it",
                       decimal_short(survival->log_rank, 4).text, survival->tested - 1,
                       survival->tested > 2 ? "s" : "");
        for (size_t g = 0; g < cells->groups; g++) {
            if (!survival->is_tested[g]) {
                query_say_left_out(answer, "", query_group_name(answering->query, g));
            }
        }
        return;
    }
    if (survival->log_rank_is_biased) {
        (void)snprintf(
            answer->note, sizeof answer->note,
            "not enough data for this question at this epsilon: many have the event and many are "
            "lost in one interval, and groups are not lost alike: the test would be biased; an "
            "earlier end would help");
        return;
    }
    for (size_t g = 0; g < cells->groups; g++) {
        found.of[g] = !survival_is_hidden(cells, g);
        count += found.of[g];
    }
    if (count > 1) {
        survival_say_too_few(answer, answering, cells, &found);
    } else {
        say_hidden(answer, answering, first_hidden(cells, survival_of_two(0, 1).of));
    }
}
