/* What curves are to tell, before anything is asked. */

#include "estimate/survival.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { OF_BYTES = 160 };

static const char of_tenth[] = "half of the interval is a tenth";
static const char of_time[] = "half of the interval is a tenth of the time";
static const double small_share =
    0.1; /* of all records, in a group that is smaller than the others */

static const char censored[] = "if half would die and half are censored, evenly in time";

/* Half of an interval of a curve. */
struct curve_half {
    const char *of;
    const char *row;
    const char *given; /* what is taken, behind the group's words */
    double half;       /* a share, or of the time */
    double needed;     /* records of a group */
    bool is_time;
    bool is_beside;
};

/* where: behind the figure. has: about the records of the group */
static enum status add_curve(struct terms *terms, const struct query *query,
                             const struct curve_half *half, const char *where, double has,
                             enum terms_of column)
{
    const double unit = half->is_time ? query->end : 1;
    char of[OF_BYTES];
    (void)snprintf(of, sizeof of, "%s%s, %s", half->of, where, half->given);
    return query_add_half(terms, query,
                          &(struct query_half){.of = of,
                                               .unit = half->is_time ? query->column.name : "share",
                                               .measure = half->is_time ? of_time : of_tenth,
                                               .width = half->half * unit,
                                               .most = TERMS_TENTH * unit,
                                               .group = half->needed,
                                               .is_beside = half->is_beside,
                                               .has = has,
                                               .who = query_groups(query) > 1 ? "a group" : "that",
                                               .row = half->row,
                                               .column = column});
}

/* The log-rank test, by what ratio of hazards it finds. */
struct tested {
    double ratio; /* NAN: none below SURVIVAL_RATIO_MOST */
    bool is_given;
    double needed; /* records of a group */
    double has;
    const char *where;
    enum terms_of column;
};

static enum status add_test(struct terms *terms, const struct query *query,
                            const struct tested *tested)
{
    struct terms_line *test = query_add_expected(terms);
    char needed[QUERY_NEEDED_BYTES];
    if (test == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, "a group", tested->needed, tested->has, tested->is_given);
    (void)snprintf(test->unit, sizeof test->unit, "logarithm");
    if (!tested->is_given) {
        (void)snprintf(test->what, sizeof test->what, "%s: the log-rank test %s; %s", query->text,
                       tested->where, needed);
        test->bar = NAN;
    } else if (isnan(tested->ratio)) {
        (void)snprintf(test->what, sizeof test->what,
                       "%s: the log-rank test %s finds no hazard ratio below %d in four of five "
                       "studies; the logarithm of that; %s",
                       query->text, tested->where, SURVIVAL_RATIO_MOST, needed);
        test->bar = log(SURVIVAL_RATIO_MOST);
    } else {
        (void)snprintf(test->what, sizeof test->what,
                       "%s: the log-rank test %s finds a hazard ratio of %.3g in four of five "
                       "studies, if half of the first group die; its logarithm; %s",
                       query->text, tested->where, tested->ratio, needed);
        test->bar = log(tested->ratio);
    }
    query_place(test, query, "hazard ratio found in 4 of 5 studies", tested->column, tested->has,
                tested->needed);
    test->place.is_ratio = true;
    test->measure = "a hazard that is twice as high is found";
    return STATUS_OK;
}

/* Groups that are alike: of each the curve, its median and its mean, and what two of them differ by. */
static enum status describe_alike(struct terms *terms, const struct query *query,
                                  const struct survival_public *known,
                                  const struct survival_expected *expected)
{
    const struct curve_half told[] = {
        {"share at the end", "share at the end", "if half die and none are censored",
         expected->survival, expected->group, false, false},
        {"curve as a whole (band) at the end", "band at the end", "likewise", expected->band,
         expected->group, false, true},
        {"mean up to the end", "mean up to the end", "likewise", expected->mean, expected->group,
         true, false},
        {"share at the end, half censored", "share at the end", censored,
         expected->censored_survival, expected->group, false, true},
        {"mean up to the end, half censored", "mean up to the end", censored,
         expected->censored_mean, expected->group, true, true},
        {"median", "median", "if three of four die", expected->median, expected->median_group, true,
         true},
        {"difference of two means up to the end", "difference of two means", "if half die",
         sqrt(2) * expected->mean, expected->group, true, true},
        {"difference of two medians", "difference of two medians", "if three of four die",
         sqrt(2) * expected->median, expected->median_group, true, true}};
    const bool is_pair = known->groups > 1;
    const double has = known->records / (double)known->groups;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (is_pair ? 8 : 6) && status == STATUS_OK; i++) {
        const char *where = !is_pair ? ""
                            : i < 6  ? " in a group, if all are alike"
                                     : " of groups alike";
        status =
            add_curve(terms, query, &told[i], where, has, is_pair ? TERMS_OF_ALIKE : TERMS_OF_ALL);
    }
    if (status != STATUS_OK || known->groups != 2) {
        return status;
    }
    return add_test(terms, query,
                    &(struct tested){.ratio = expected->ratio,
                                     .is_given = has >= expected->test_group,
                                     .needed = expected->test_group,
                                     .has = has,
                                     .where = "of groups alike",
                                     .column = TERMS_OF_ALIKE});
}

/* A group that has a tenth of all records, as groups are seldom alike, beside the others. */
static enum status describe_small(struct terms *terms, const struct query *query,
                                  const struct survival_public *known,
                                  const struct survival_expected *expected)
{
    const struct survival_small small = survival_expect_small(known, query->intervals, small_share);
    const struct curve_half told[] = {
        {"share at the end", "share at the end", "if half die and none are censored",
         small.survival, expected->group, false, true},
        {"curve as a whole (band) at the end", "band at the end", "likewise", small.band,
         expected->group, false, true},
        {"mean up to the end", "mean up to the end", "likewise", small.mean, expected->group, true,
         true},
        {"share at the end, half censored", "share at the end", censored, small.censored_survival,
         expected->group, false, true},
        {"mean up to the end, half censored", "mean up to the end", censored, small.censored_mean,
         expected->group, true, true},
        {"median", "median", "if three of four die", small.median, expected->median_group, true,
         true},
        {"mean up to the end, less another group's,", "difference of two means", "if half die",
         small.mean_difference, expected->group, true, true},
        {"median, less another group's,", "difference of two medians", "if three of four die",
         small.median_difference, expected->median_group, true, true}};
    const double has = small_share * known->records;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof told / sizeof told[0] && status == STATUS_OK; i++) {
        status = add_curve(terms, query, &told[i], " in a group of a tenth of the records", has,
                           TERMS_OF_SMALL);
    }
    if (status != STATUS_OK || known->groups != 2) {
        return status;
    }
    return add_test(terms, query,
                    &(struct tested){.ratio = small.ratio,
                                     .is_given = small.is_tested,
                                     .needed = expected->test_group,
                                     .has = has,
                                     .where = "of a group of a tenth of the records",
                                     .column = TERMS_OF_SMALL});
}

/* The interval's half-width counts: sampling and noise together. */
enum status query_terms_survival(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double part = query_survival_share(query);
    const double deviation = step * query_noise_deviation(noise) / part;
    const struct survival_public known = {.records = records,
                                          .groups = query_groups(query),
                                          .variance = deviation * deviation,
                                          .block = query->block};
    const struct survival_expected expected = survival_expect(&known, query->intervals);
    struct terms_line *cell = terms_add_line(terms);
    char way[64] = "plain cells";
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (query->block > 0) {
        (void)snprintf(way, sizeof way, "cells and sums of %zu", query->block);
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu %s, of %zu intervals",
                   query->text, query->cell_count, way, query->intervals);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES) / part;
    query_place(cell, query, "", TERMS_OF_NONE, 0, 0);
    cell->place.taken =
        "half die; none are censored, or half, evenly in time; for medians three of four die";
    const enum status status = describe_alike(terms, query, &known, &expected);
    return status == STATUS_OK && known.groups > 1 ? describe_small(terms, query, &known, &expected)
                                                   : status;
}
