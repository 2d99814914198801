/* What curves are to tell, before anything is asked. */

#include "estimate/survival.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

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

static enum status add_curve(const struct query_asking *asking, const struct curve_half *told,
                             const struct query_group *group)
{
    const double unit = told->is_time ? asking->query->end : 1;
    const struct query_half half = {.row = told->row,
                                    .unit = told->is_time ? asking->query->column.name : "share",
                                    .measure = told->is_time ? of_time : of_tenth,
                                    .width = told->half * unit,
                                    .most = TERMS_TENTH * unit,
                                    .needs = told->needed,
                                    .is_beside = told->is_beside};
    return query_add_half(asking, &half, group, "%s%s, %s", told->of, group->where, told->given);
}

/* The log-rank test, by what ratio of hazards it finds: NAN for none below SURVIVAL_RATIO_MOST. */
static enum status add_test(const struct query_asking *asking, double ratio,
                            const struct query_width *width, const char *where)
{
    struct terms_line *test = NULL;
    if (!width->is_given) {
        test = query_add_width(asking, width, "the log-rank test %s", where);
    } else if (isnan(ratio)) {
        ratio = SURVIVAL_RATIO_MOST;
        test = query_add_width(asking, width,
                               "the log-rank test %s finds no hazard ratio below %d in four of "
                               "five studies; the logarithm of that",
                               where, SURVIVAL_RATIO_MOST);
    } else {
        test = query_add_width(asking, width,
                               "the log-rank test %s finds a hazard ratio of %.3g in four of five "
                               "studies, if half of the first group die; its logarithm",
                               where, ratio);
    }
    if (test == NULL) {
        return STATUS_NO_MEMORY;
    }
    test->bar = width->is_given ? log(ratio) : NAN;
    test->place.is_ratio = true;
    test->measure = "a hazard that is twice as high is found";
    return STATUS_OK;
}

static const char found[] = "hazard ratio found in 4 of 5 studies";

/* Groups that are alike: of each the curve, its median and its mean, and what two of them differ by. */
static enum status describe_alike(const struct query_asking *asking,
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
        const struct query_group group = {.where = !is_pair ? ""
                                                   : i < 6  ? " in a group, if all are alike"
                                                            : " of groups alike",
                                          .has = has,
                                          .who = is_pair ? "a group" : "that",
                                          .column = is_pair ? TERMS_OF_ALIKE : TERMS_OF_ALL};
        status = add_curve(asking, &told[i], &group);
    }
    if (status != STATUS_OK || known->groups != 2) {
        return status;
    }
    return add_test(asking, expected->ratio,
                    &(struct query_width){found, TERMS_OF_ALIKE, "logarithm", "a group",
                                          expected->test_group, has, has >= expected->test_group},
                    "of groups alike");
}

/* A group that has a tenth of all records, as groups are seldom alike, beside the others. */
static enum status describe_small(const struct query_asking *asking,
                                  const struct survival_public *known,
                                  const struct survival_expected *expected)
{
    const struct survival_small small =
        survival_expect_small(known, asking->query->intervals, small_share);
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
    const struct query_group group = {" in a group of a tenth of the records",
                                      small_share * known->records, false, "a group",
                                      TERMS_OF_SMALL};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof told / sizeof told[0] && status == STATUS_OK; i++) {
        status = add_curve(asking, &told[i], &group);
    }
    if (status != STATUS_OK || known->groups != 2) {
        return status;
    }
    return add_test(asking, small.ratio,
                    &(struct query_width){found, TERMS_OF_SMALL, "logarithm", "a group",
                                          expected->test_group, group.has, small.is_tested},
                    "of a group of a tenth of the records");
}

/* The interval's half-width counts: sampling and noise together. */
enum status query_terms_survival(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    const double part = query_survival_share(query);
    const double deviation = asking->deviation / part;
    const struct survival_public known = {.records = asking->records,
                                          .groups = query_groups(query),
                                          .variance = deviation * deviation,
                                          .block = query->block};
    const struct survival_expected expected = survival_expect(&known, query->intervals);
    char way[64] = "plain cells";
    if (query->block > 0) {
        (void)snprintf(way, sizeof way, "cells and sums of %zu", query->block);
    }
    struct terms_line *cell = query_add_cell(
        asking,
        "half die; none are censored, or half, evenly in time; for medians three of four die",
        "each of %zu %s, of %zu intervals", query->cell_count, way, query->intervals);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell->noise = deviation;
    cell->bar /= part;
    const enum status status = describe_alike(asking, &known, &expected);
    return status == STATUS_OK && known.groups > 1 ? describe_small(asking, &known, &expected)
                                                   : status;
}
