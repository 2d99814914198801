/* What curves are to tell, before anything is asked. */

#include "estimate/survival.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* Of a group that has a tenth of all records, as groups are seldom alike. */
static enum status describe_small(struct terms *terms, const struct query *query,
                                  const struct survival_public *known)
{
    struct survival_public small = *known;
    small.records = known->records * (double)known->groups / 10;
    const struct survival_expected expected = survival_expect(&small, query->intervals);
    const struct query_half half[] = {
        {"share at the end in a group of a tenth of the records, if half die", "share",
         "half of the interval is a tenth", expected.survival, TERMS_TENTH, expected.group, true},
        {"mean up to the end in such a group", query->column.name,
         "half of the interval is a tenth of the time", expected.mean * query->end,
         TERMS_TENTH * query->end, expected.group, true},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof half / sizeof half[0] && status == STATUS_OK; i++) {
        status = query_add_half(terms, query, &half[i]);
    }
    return status;
}

/* The band, the median, the differences of two groups that are alike, and what the test finds: where there are two groups. */
static enum status describe_rest(struct terms *terms, const struct query *query,
                                 const struct survival_expected *expected, double records)
{
    const struct query_half half[] = {
        {"curve as a whole (band) at the end, if half die", "share",
         "half of the interval is a tenth", expected->band, TERMS_TENTH, expected->group, true},
        {"median, if three of four die", query->column.name,
         "half of the interval is a tenth of the time", expected->median * query->end,
         TERMS_TENTH * query->end, expected->median_group, true},
        {"difference of two groups' means up to the end, if half die", query->column.name,
         "half of the interval is a tenth of the time", sqrt(2) * expected->mean * query->end,
         TERMS_TENTH * query->end, expected->group, true},
        {"difference of two medians, if three of four die", query->column.name,
         "half of the interval is a tenth of the time", sqrt(2) * expected->median * query->end,
         TERMS_TENTH * query->end, expected->median_group, true},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (query_groups(query) > 1 ? 4 : 2) && status == STATUS_OK; i++) {
        status = query_add_half(terms, query, &half[i]);
    }
    struct terms_line *test =
        status == STATUS_OK && query_groups(query) == 2 ? terms_add_line(terms) : NULL;
    if (status != STATUS_OK || query_groups(query) != 2) {
        return status;
    }
    char group[64];
    if (test == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_group(group, expected->test_group);
    (void)snprintf(test->unit, sizeof test->unit, "logarithm");
    if (!(records >= expected->test_group * (double)query_groups(query))) {
        (void)snprintf(test->what, sizeof test->what, "%s: the log-rank test; %s", query->text,
                       group);
        test->bar = NAN;
    } else if (isnan(expected->ratio)) {
        (void)snprintf(test->what, sizeof test->what,
                       "%s: the log-rank test finds no hazard ratio below %d in four of five "
                       "studies; the logarithm of that; %s",
                       query->text, SURVIVAL_RATIO_MOST, group);
        test->bar = log(SURVIVAL_RATIO_MOST);
    } else {
        (void)snprintf(test->what, sizeof test->what,
                       "%s: the log-rank test finds a hazard ratio of %.3g in four of five "
                       "studies, if half of the first group die; its logarithm; %s",
                       query->text, expected->ratio, group);
        test->bar = log(expected->ratio);
    }
    test->measure = "a hazard that is twice as high is found";
    return STATUS_OK;
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
    struct terms_line *share = cell != NULL ? terms_add_line(terms) : NULL;
    struct terms_line *mean = share != NULL ? terms_add_line(terms) : NULL;
    if (mean == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = mean - 2;
    share = mean - 1;
    char way[64] = "plain cells";
    if (query->block > 0) {
        (void)snprintf(way, sizeof way, "cells and sums of %zu", query->block);
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu %s, of %zu intervals",
                   query->text, query->cell_count, way, query->intervals);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES) / part;
    char group[64];
    query_say_group(group, expected.group);
    (void)snprintf(
        share->what, sizeof share->what,
        "%s: half of the share's 95 %% interval at the end, if half die, none are censored "
        "and groups are alike; %s",
        query->text, group);
    (void)snprintf(share->unit, sizeof share->unit, "share");
    share->bar = expected.survival;
    share->noise_to_signal = isnan(expected.survival) ? 2 : expected.survival / TERMS_TENTH;
    share->measure = "half of the interval is a tenth";
    (void)snprintf(mean->what, sizeof mean->what, "%s: the same of a mean up to the end; %s",
                   query->text, group);
    (void)snprintf(mean->unit, sizeof mean->unit, "%s", query->column.name);
    mean->bar = expected.mean * query->end;
    mean->noise_to_signal = isnan(expected.mean) ? 2 : expected.mean / TERMS_TENTH;
    mean->measure = "half of the interval is a tenth of the time";
    const enum status status = describe_rest(terms, query, &expected, records);
    return status == STATUS_OK && known.groups > 1 ? describe_small(terms, query, &known) : status;
}
