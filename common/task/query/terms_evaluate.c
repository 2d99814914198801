/* What a score's judgement is to tell, before anything is asked. */

#include "estimate/concordance.h"
#include "estimate/evaluate.h"
#include "task/query/stage.h"
#include "task/task.h"

static const double benefit_half = 0.05; /* a net benefit is below the share with the event */
static const char of_tenth[] = "half of the interval is a tenth";

/* A figure of a score, of even scores of which a fifth have the event. */
struct scored {
    const char *of;
    const char *row;
    struct table1_half half;
};

/* The AUC, which comes first, and what follows from the same cells. */
static enum status describe_figures(const struct query_asking *asking,
                                    const struct evaluate_expected *expected,
                                    const struct query_group *group)
{
    const struct scored told[] = {
        {"AUC", "AUC", expected->auc},
        {"share with the event", "share with the event", expected->share},
        {"share with the event in an eighth of the range (calibration)", "calibration in an eighth",
         expected->band},
        {"share with the event less the mean score", "share less the mean score", expected->large},
        {"accuracy at the cut", "accuracy at the cut", expected->accuracy},
        {"sensitivity at the cut", "sensitivity at the cut", expected->sensitivity},
        {"specificity at the cut", "specificity at the cut", expected->specificity}};
    enum { OF_ALL = 3, OF_RISK = 4, OF_CUT = 7 };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < OF_CUT && status == STATUS_OK; i++) {
        const bool is_asked = i < OF_ALL    ? true
                              : i < OF_RISK ? query_is_risk(asking->query)
                                            : asking->query->cut_band > 0;
        const struct query_half half = {
            told[i].row, i == 0 ? "AUC" : "share", of_tenth, told[i].half.half,
            TERMS_TENTH, told[i].half.group,       i > 0};
        if (is_asked) {
            status = query_add_half(asking, &half, group, "%s%s, %s", told[i].of, group->where,
                                    i == 0 ? "if scores are even and a fifth have the event"
                                           : "likewise");
        }
    }
    return status;
}

/* The net benefit at every threshold that is shown, and that of treating all. */
static enum status describe_benefits(const struct query_asking *asking,
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
        const struct query_half half = {.row = is_of_all ? "net benefit of treating all, by risk"
                                                         : "net benefit, by risk",
                                        .unit = "benefit",
                                        .measure = "half of the interval is a twentieth",
                                        .width = own->half,
                                        .most = benefit_half,
                                        .needs = own->group,
                                        .is_beside = is_of_all || at != EVALUATE_BANDS / 4 - 1};
        status = query_add_half(asking, &half, group, "net benefit%s at a risk of %.4g%s, likewise",
                                is_of_all ? " of treating all" : "",
                                edge[(at + 1) * asking->query->intervals / EVALUATE_BANDS],
                                group->where);
    }
    return status;
}

static enum status describe_score(const struct query_asking *asking,
                                  const struct table1_public *known,
                                  const struct query_group group[static 3])
{
    const struct query *query = asking->query;
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
    enum status status = describe_figures(asking, &told[0], &group[0]);
    if (status == STATUS_OK && is_risk) {
        status = describe_benefits(asking, &told[0], edge, &group[0]);
    }
    for (size_t i = 1; i < 3 && known->groups > 1 && status == STATUS_OK; i++) {
        status = describe_figures(asking, &told[i], &group[i]);
    }
    return status;
}

static enum status describe_indices(const struct query_asking *asking,
                                    const struct table1_public *known,
                                    const struct query_group group[static 3])
{
    const size_t intervals = asking->query->intervals;
    const struct table1_public small = {group[1].has * (double)known->groups, known->groups,
                                        known->variance};
    double needed[3];
    const double width[] = {concordance_expect(&needed[0], known, intervals),
                            concordance_expect(&needed[1], &small, intervals),
                            concordance_expect_all(&needed[2], known, intervals)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (known->groups > 1 ? 3 : 1) && status == STATUS_OK; i++) {
        const struct query_half half = {"C-index",   "C-index", of_tenth, width[i],
                                        TERMS_TENTH, needed[i], false};
        status = query_add_half(asking, &half, &group[i], "C-index%s, if a fifth have the event",
                                group[i].where);
    }
    return status;
}

/* Half of the intervals of the numbers of records that the table begins with. */
static enum status describe_counts(const struct query_asking *asking, double variance)
{
    const struct query *query = asking->query;
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
        const struct query_counted counted = {
            what[i / 2], i == 0 && groups > 1 ? "a group" : "that",
            is_all ? told[i / 2].all : told[i / 2].group,
            is_all || groups == 1 ? TERMS_OF_ALL : TERMS_OF_ALIKE};
        if (!is_all || groups > 1) {
            status = query_add_count(asking, &counted, "the number of %s%s", what[i / 2],
                                     is_all       ? " in all groups together"
                                     : groups > 1 ? " in a group"
                                                  : "");
        }
    }
    return status;
}

enum status query_terms_evaluate(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    const double records = asking->records;
    const bool is_timed = query->kind == QUERY_CONCORDANCE;
    const struct table1_public known = {.records = records,
                                        .groups = query_groups(query),
                                        .variance = asking->deviation * asking->deviation};
    const struct query_group group[] = {
        {known.groups > 1 ? " in a group, if all are alike" : "", records / (double)known.groups,
         false, known.groups > 1 ? "a group" : "that",
         known.groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL},
        {" in a group of a tenth of the records", records / 10, true, "a group", TERMS_OF_SMALL},
        {" in all groups together", records, true, "that", TERMS_OF_ALL}};
    if (query_add_cell(asking,
                       is_timed ? "a fifth have the event"
                                : "scores are even and a fifth have the event",
                       "each of %zu cells of %zu %s", query->cell_count, query->intervals,
                       is_timed ? "bins" : "levels") == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = describe_counts(asking, known.variance);
    if (status != STATUS_OK) {
        return status;
    }
    return is_timed ? describe_indices(asking, &known, group)
                    : describe_score(asking, &known, group);
}
