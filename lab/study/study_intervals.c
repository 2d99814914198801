/* Do intervals hold what they are said to hold? Simulated studies with known truth, by size, epsilon and trust. Answers that are
 * shown count; how many are shown stands beside. */

#include "lab/study/study_intervals.h"

#include "base/check.h"
#include "lab/study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 2000 };

static const double bounds[] = {
    [INTERVALS_HOLD] = 0.935, [INTERVALS_REJECT] = 0.065, [INTERVALS_WIDTH] = 1.3};

/* Shares of noise differ from whole ones most where noise is most of the error. */
static const uint64_t shares_records_most = 1000;

static const struct intervals_kind *const kinds[] = {
    &intervals_survival,    &intervals_crosstab,  &intervals_table1,  &intervals_evaluate,
    &intervals_concordance, &intervals_correlate, &intervals_regress, &intervals_between,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool setting_at(struct intervals_setting *out, const struct study_request *request,
                       const struct intervals_kind *kind, size_t *at)
{
    if (kind->at != NULL) {
        return kind->at(out, request, at);
    }
    const bool is_there = intervals_setting_at(out, request, *at / kind->variants);
    out->variant = *at % kind->variants;
    return is_there;
}

static enum status run_kind(struct study *study, struct intervals_told *told,
                            const struct study_request *request, size_t kind_at, size_t runs)
{
    const struct intervals_kind *kind = told->kind;
    struct intervals_setting setting;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && setting_at(&setting, request, kind, &i); i++) {
        if (setting.shares > 0 && setting.site_records > shares_records_most) {
            continue;
        }
        setting.runs = kind->runs_times * runs;
        setting.seed = (request->seed * KINDS + kind_at) * 1000 + i;
        setting.planted = request->planted ? kind->planted : 1;
        status = kind->run(told, &setting);
        study_row(study, INTERVALS_COLUMNS,
                  (const char *const[]){told->text[0], told->text[1], told->text[2], told->text[3],
                                        told->text[4], told->text[5], told->text[6],
                                        told->text[7]});
    }
    study_progress(request, "intervals: %s", kind->name);
    return status;
}

/* allowed: a share that chance may take away */
static void claim_kind(struct study *study, const struct intervals_told *told, double allowed)
{
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        const struct intervals_claim *claim = &told->kind->claim[i];
        const bool is_least = claim->measure == INTERVALS_HOLD;
        const double chance = claim->measure == INTERVALS_WIDTH ? 0 : allowed;
        study_claim(study, is_least ? STUDY_AT_LEAST : STUDY_AT_MOST, told->worst[i],
                    bounds[claim->measure] + (is_least ? -chance : chance), "%s", claim->text);
    }
}

enum status study_intervals(struct study *study, const struct study_request *request,
                            struct why *why)
{
    static const char *const columns[] = {"survival",         "intervals",
                                          "points shown",     "points cover, worst",
                                          "bands cover",      "means, differences cover",
                                          "log-rank rejects", "width over no noise, true cells"};
    const size_t runs = request->runs == 0 ? RUNS : request->runs;
    bool is_known = false;
    /* Short runs, of a test, are allowed what chance may do: four standard errors of the larger studies' half. */
    const double allowed = runs >= RUNS ? 0 : 4 * sqrt(0.05 * 0.95 / ((double)runs / 2));

    (void)snprintf(study->title, sizeof study->title, "Do intervals hold the truth?");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Simulated studies with known truth: five sites of 200, 1,000 and 5,000 records, "
        "epsilon 0.25, 1 and 4, noise once or at each site. Of the answers that are shown, "
        "95 %% intervals must hold the truth in 93.5 %% or more, and tests reject a true "
        "null in 6.5 %% or less.");
    study_columns(study, sizeof columns / sizeof columns[0], columns);
    for (size_t i = 0; i < KINDS; i++) {
        struct intervals_told told = {.kind = kinds[i]};
        if (request->only != NULL && strcmp(request->only, kinds[i]->name) != 0) {
            continue;
        }
        is_known = true;
        CHECK(told.kind->claim_count <= INTERVALS_CLAIMS_MAX);
        for (size_t j = 0; j < told.kind->claim_count; j++) {
            told.worst[j] = told.kind->claim[j].measure == INTERVALS_HOLD ? 1 : 0;
        }
        const enum status status = run_kind(study, &told, request, i, runs);
        if (status != STATUS_OK) {
            why_set(why, "the studies cannot be simulated");
            return status;
        }
        claim_kind(study, &told, allowed);
    }
    return is_known ? STATUS_OK
                    : why_refuse(
                          why,
                          "--only: there is no kind \"%s\"; there are survival, crosstab, table1, "
                          "evaluate, concordance, correlate, regress and between",
                          request->only);
}
