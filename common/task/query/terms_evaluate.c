/* What a score's judgement is to tell, before anything is asked. */

#include "estimate/concordance.h"
#include "estimate/evaluate.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static const double benefit_half = 0.05; /* a net benefit is below the share with the event */

void query_say_group(char text[static 64], double records)
{
    (void)snprintf(text, 64, "no group is large enough");
    if (isfinite(records)) {
        (void)snprintf(text, 64, "a group needs about %.0f records", ceil(records));
    }
}

enum status query_add_half(struct terms *terms, const struct query *query,
                           const struct query_half *half)
{
    struct terms_line *line = terms_add_line(terms);
    char group[64];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_group(group, half->group);
    (void)snprintf(line->what, sizeof line->what, "%s: half of the 95 %% interval of the %s; %s",
                   query->text, half->of, group);
    (void)snprintf(line->unit, sizeof line->unit, "%s", half->unit);
    line->bar = half->width;
    line->noise_to_signal = half->is_beside ? 0 : isnan(half->width) ? 2 : half->width / half->most;
    line->measure = half->measure;
    return STATUS_OK;
}

static enum status describe_index(struct terms *terms, const struct query *query,
                                  const struct table1_public *known)
{
    struct query_half half = {.of = "C-index, if a fifth have the event",
                              .unit = "C-index",
                              .measure = "half of the interval is a tenth",
                              .most = TERMS_TENTH};
    half.width = concordance_expect(&half.group, known, query->intervals);
    return query_add_half(terms, query, &half);
}

/* What follows from the same cells beside the AUC. */
static enum status describe_rest(struct terms *terms, const struct query *query,
                                 const struct evaluate_expected *expected)
{
    const struct {
        const char *of;
        struct table1_half half;
    } rest[] = {{"share with the event, if a fifth have it", expected->share},
                {"share with the event in an eighth of the range (calibration), if scores are even "
                 "and a fifth have the event",
                 expected->band},
                {"share with the event less the mean score, likewise", expected->large},
                {"accuracy at the cut, likewise", expected->accuracy},
                {"sensitivity at the cut, likewise", expected->sensitivity},
                {"specificity at the cut, likewise", expected->specificity}};
    enum { OF_ALL = 2, OF_RISK = 3, OF_CUT = 6 };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < OF_CUT && status == STATUS_OK; i++) {
        const bool is_asked = i < OF_ALL    ? true
                              : i < OF_RISK ? query_is_risk(query)
                                            : query->cut_band > 0;
        if (is_asked) {
            status = query_add_half(terms, query,
                                    &(struct query_half){.of = rest[i].of,
                                                         .unit = "share",
                                                         .measure = "half of the interval is a "
                                                                    "tenth",
                                                         .width = rest[i].half.half,
                                                         .most = TERMS_TENTH,
                                                         .group = rest[i].half.group,
                                                         .is_beside = true});
        }
    }
    return status;
}

static enum status describe_score(struct terms *terms, const struct query *query,
                                  const struct table1_public *known)
{
    double edge[EVALUATE_LEVELS_MAX + 1];
    query_score_edges(edge, query);
    const bool is_risk = query_is_risk(query);
    const double threshold = edge[query->intervals / 4];
    const size_t cut = query->cut_band * query->intervals / EVALUATE_BANDS;
    const struct evaluate_expected expected = evaluate_expect(
        known, &(struct evaluate_asked){query->intervals, is_risk ? edge : NULL, cut});
    char benefit[128];
    (void)snprintf(benefit, sizeof benefit,
                   "net benefit at a risk of %.4g, if scores are even and a fifth have the event",
                   threshold);
    enum status status =
        query_add_half(terms, query,
                       &(struct query_half){.of = "AUC, if a fifth have the event",
                                            .unit = "AUC",
                                            .measure = "half of the interval is a tenth",
                                            .width = expected.auc.half,
                                            .most = TERMS_TENTH,
                                            .group = expected.auc.group});
    if (status == STATUS_OK) {
        status = describe_rest(terms, query, &expected);
    }
    if (status != STATUS_OK || !is_risk) {
        return status;
    }
    return query_add_half(terms, query,
                          &(struct query_half){.of = benefit,
                                               .unit = "benefit",
                                               .measure = "half of the interval is a twentieth",
                                               .width = expected.benefit.half,
                                               .most = benefit_half,
                                               .group = expected.benefit.group});
}

enum status query_terms_evaluate(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const bool is_timed = query->kind == QUERY_CONCORDANCE;
    const struct table1_public known = {
        .records = records, .groups = query_groups(query), .variance = deviation * deviation};
    struct terms_line *cell = terms_add_line(terms);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %zu %s", query->text,
                   query->cell_count, query->intervals, is_timed ? "bins" : "levels");
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    return is_timed ? describe_index(terms, query, &known) : describe_score(terms, query, &known);
}
