/* What a score's judgement is to tell, before anything is asked. */

#include "estimate/concordance.h"
#include "estimate/evaluate.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <stdio.h>

static const double benefit_half = 0.05; /* a net benefit is below the share with the event */
static const char of_tenth[] = "half of the interval is a tenth";

enum { OF_BYTES = 160 };

static enum status add_index(struct terms *terms, const struct query *query,
                             const struct query_group *group, double width, double needed)
{
    char of[OF_BYTES];
    (void)snprintf(of, sizeof of, "C-index%s, if a fifth have the event", group->where);
    return query_add_half(terms, query,
                          &(struct query_half){.of = of,
                                               .unit = "C-index",
                                               .measure = of_tenth,
                                               .width = width,
                                               .most = TERMS_TENTH,
                                               .group = needed,
                                               .is_beside = group->is_beside,
                                               .has = group->has,
                                               .who = group->who,
                                               .row = "C-index",
                                               .column = group->column});
}

/* A figure of a score, of even scores of which a fifth have the event. */
struct scored {
    const char *of;
    const char *row;
    struct table1_half half;
    bool is_main;
};

static enum status add_scored(struct terms *terms, const struct query *query,
                              const struct scored *scored, const struct query_group *group)
{
    char of[OF_BYTES];
    (void)snprintf(of, sizeof of, "%s%s, %s", scored->of, group->where,
                   scored->is_main ? "if scores are even and a fifth have the event" : "likewise");
    return query_add_half(terms, query,
                          &(struct query_half){.of = of,
                                               .unit = scored->is_main ? "AUC" : "share",
                                               .measure = of_tenth,
                                               .width = scored->half.half,
                                               .most = TERMS_TENTH,
                                               .group = scored->half.group,
                                               .is_beside = !scored->is_main || group->is_beside,
                                               .has = group->has,
                                               .who = group->who,
                                               .row = scored->row,
                                               .column = group->column});
}

/* The AUC, and what follows from the same cells. */
static enum status describe_figures(struct terms *terms, const struct query *query,
                                    const struct evaluate_expected *expected,
                                    const struct query_group *group)
{
    const struct scored told[] = {
        {"AUC", "AUC", expected->auc, true},
        {"share with the event", "share with the event", expected->share, false},
        {"share with the event in an eighth of the range (calibration)", "calibration in an eighth",
         expected->band, false},
        {"share with the event less the mean score", "share less the mean score", expected->large,
         false},
        {"accuracy at the cut", "accuracy at the cut", expected->accuracy, false},
        {"sensitivity at the cut", "sensitivity at the cut", expected->sensitivity, false},
        {"specificity at the cut", "specificity at the cut", expected->specificity, false}};
    enum { OF_ALL = 3, OF_RISK = 4, OF_CUT = 7 };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < OF_CUT && status == STATUS_OK; i++) {
        const bool is_asked = i < OF_ALL    ? true
                              : i < OF_RISK ? query_is_risk(query)
                                            : query->cut_band > 0;
        if (is_asked) {
            status = add_scored(terms, query, &told[i], group);
        }
    }
    return status;
}

/* The net benefit at every threshold that is shown, and that of treating all. */
static enum status describe_benefits(struct terms *terms, const struct query *query,
                                     const struct evaluate_expected *expected, const double *edge,
                                     const struct query_group *group)
{
    enum { THRESHOLDS = EVALUATE_BANDS - 1 };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < 2 * THRESHOLDS && status == STATUS_OK; i++) {
        const size_t at = i % THRESHOLDS;
        const bool is_of_all = i >= THRESHOLDS;
        const struct table1_half *own =
            is_of_all ? &expected->all_treated[at] : &expected->benefit[at];
        char of[OF_BYTES];
        (void)snprintf(of, sizeof of, "net benefit%s at a risk of %.4g%s, likewise",
                       is_of_all ? " of treating all" : "",
                       edge[(at + 1) * query->intervals / EVALUATE_BANDS], group->where);
        status = query_add_half(
            terms, query,
            &(struct query_half){.of = of,
                                 .unit = "benefit",
                                 .measure = "half of the interval is a twentieth",
                                 .width = own->half,
                                 .most = benefit_half,
                                 .group = own->group,
                                 .is_beside = is_of_all || at != EVALUATE_BANDS / 4 - 1,
                                 .has = group->has,
                                 .who = group->who,
                                 .row = is_of_all ? "net benefit of treating all, by risk"
                                                  : "net benefit, by risk",
                                 .column = group->column});
    }
    return status;
}

static enum status describe_score(struct terms *terms, const struct query *query,
                                  const struct table1_public *known,
                                  const struct query_group group[static 3])
{
    double edge[EVALUATE_LEVELS_MAX + 1];
    const bool is_risk = query_is_risk(query);
    const size_t cut = query->cut_band * query->intervals / EVALUATE_BANDS;
    query_score_edges(edge, query);
    const struct evaluate_asked asked = {query->intervals, is_risk ? edge : NULL, cut};
    const struct table1_public small = {group[1].has * (double)known->groups, known->groups,
                                        known->variance};
    const struct evaluate_expected told[] = {evaluate_expect(known, &asked),
                                             evaluate_expect(&small, &asked),
                                             evaluate_expect_all(known, &asked)};
    enum status status = describe_figures(terms, query, &told[0], &group[0]);
    if (status == STATUS_OK && is_risk) {
        status = describe_benefits(terms, query, &told[0], edge, &group[0]);
    }
    for (size_t i = 1; i < 3 && known->groups > 1 && status == STATUS_OK; i++) {
        status = describe_figures(terms, query, &told[i], &group[i]);
    }
    return status;
}

static enum status describe_indices(struct terms *terms, const struct query *query,
                                    const struct table1_public *known,
                                    const struct query_group group[static 3])
{
    const struct table1_public small = {group[1].has * (double)known->groups, known->groups,
                                        known->variance};
    double needed[3];
    const double half[] = {concordance_expect(&needed[0], known, query->intervals),
                           concordance_expect(&needed[1], &small, query->intervals),
                           concordance_expect_all(&needed[2], known, query->intervals)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (known->groups > 1 ? 3 : 1) && status == STATUS_OK; i++) {
        status = add_index(terms, query, &group[i], half[i], needed[i]);
    }
    return status;
}

/* Half of the intervals of the numbers of records that the table begins with. */
static enum status describe_counts(struct terms *terms, const struct query *query, double variance,
                                   double records)
{
    const size_t groups = query_groups(query);
    const bool is_timed = query->kind == QUERY_CONCORDANCE;
    const struct concordance_cells timed = {
        .groups = groups, .bins = query->intervals, .variance = variance};
    const struct table1_block block = {.levels = 2 * query->intervals, .variance = variance};
    const struct table1_counted told[] = {is_timed ? concordance_expect_count(&timed, false)
                                                   : table1_expect_count(&block, 1, groups, 1),
                                          is_timed ? concordance_expect_count(&timed, true)
                                                   : table1_expect_count(&block, 1, groups, 0)};
    const char *what[] = {"records",
                          is_timed ? "records with the event" : "records whose score is missing"};
    const bool has_other = is_timed || query->score == NULL; /* a model answers for every record */
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (has_other ? 4 : 2) && status == STATUS_OK; i++) {
        const bool is_all = i % 2 == 1;
        char of[OF_BYTES];
        (void)snprintf(of, sizeof of, "the number of %s%s", what[i / 2],
                       is_all       ? " in all groups together"
                       : groups > 1 ? " in a group"
                                    : "");
        if (!is_all || groups > 1) {
            status = query_add_count(
                terms, query,
                &(struct query_counted){of, i == 0 && groups > 1 ? "a group" : "that",
                                        is_all ? told[i / 2].all : told[i / 2].group, what[i / 2],
                                        is_all || groups == 1 ? TERMS_OF_ALL : TERMS_OF_ALIKE,
                                        records});
        }
    }
    return status;
}

enum status query_terms_evaluate(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const bool is_timed = query->kind == QUERY_CONCORDANCE;
    const struct table1_public known = {
        .records = records, .groups = query_groups(query), .variance = deviation * deviation};
    const struct query_group group[] = {
        {known.groups > 1 ? " in a group, if all are alike" : "", records / (double)known.groups,
         false, known.groups > 1 ? "a group" : "that",
         known.groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL},
        {" in a group of a tenth of the records", records / 10, true, "a group", TERMS_OF_SMALL},
        {" in all groups together", records, true, "that", TERMS_OF_ALL}};
    struct terms_line *cell = terms_add_line(terms);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %zu %s", query->text,
                   query->cell_count, query->intervals, is_timed ? "bins" : "levels");
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    query_place(cell, query, "", TERMS_OF_NONE, 0, 0);
    cell->place.taken =
        is_timed ? "a fifth have the event" : "scores are even and a fifth have the event";
    const enum status status = describe_counts(terms, query, known.variance, records);
    if (status != STATUS_OK) {
        return status;
    }
    return is_timed ? describe_indices(terms, query, &known, group)
                    : describe_score(terms, query, &known, group);
}
