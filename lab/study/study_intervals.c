/* Do intervals hold what they are said to hold? Simulated studies with known truth, by size, epsilon and trust. Answers that are
 * shown count; how many are shown stands beside. */

#include "lab/study/study_intervals.h"

#include "base/check.h"
#include "lab/study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    RUNS = 2000,
    AGAIN = 10000,   /* answers of a second look; the standard error of 0.95 is 0.0022 then */
    RARE = 400,      /* likewise, where a hundredth to a tenth are shown */
    TIMES_MOST = 10, /* as many studies as the first look had, for these */
    SEED_OF_AGAIN = 500000000,
    SEED_OF_ADDED = 250000000
};

static const double records_most = 2e8; /* in all studies of a second look, for these */

static const double bounds[] = {
    [INTERVALS_HOLD] = 0.935, [INTERVALS_REJECT] = 0.065, [INTERVALS_WIDTH] = 1.3};

static const struct intervals_kind *const kinds[] = {
    &intervals_survival,    &intervals_crosstab,  &intervals_table1,  &intervals_evaluate,
    &intervals_concordance, &intervals_correlate, &intervals_regress, &intervals_between,
    &intervals_tables,      &intervals_groups,    &intervals_medians,
};
enum { KINDS = sizeof kinds / sizeof kinds[0], KINDS_AT_FIRST = 8 };

/* Kinds that were added keep the seeds of the others as they were. */
static uint64_t seed_of(const struct study_request *request, size_t kind_at, size_t at)
{
    const uint64_t added = kind_at / KINDS_AT_FIRST * SEED_OF_ADDED;
    return added + (request->seed * KINDS_AT_FIRST + kind_at % KINDS_AT_FIRST) * 1000 + at;
}

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

static bool is_below(const struct intervals_claim *claim, double rate)
{
    return claim->measure == INTERVALS_HOLD ? rate < bounds[claim->measure]
                                            : rate > bounds[claim->measure];
}

static bool is_rare(const struct intervals_taken *taken)
{
    return !isnan(taken->rare_worst);
}

/* How many times as many studies make AGAIN answers of each rate that is below its bound; 0: none is. */
static size_t times_below(const struct intervals_told *told)
{
    size_t times = 0;
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        const struct intervals_claim *claim = &told->kind->claim[i];
        const struct intervals_taken *taken = &told->taken[i];
        if (claim->measure != INTERVALS_WIDTH && is_below(claim, taken->worst.measured)) {
            const size_t own = (AGAIN + taken->fewest - 1) / taken->fewest;
            times = own > times ? own : times;
        }
    }
    return times;
}

/* And RARE answers of each rate where a hundredth to a tenth are shown, within the limits. */
static size_t times_rare(const struct intervals_told *told, const struct intervals_setting *setting)
{
    const double sites = setting->sites > 0 ? (double)setting->sites : INTERVALS_SITES;
    const double records = sites * (double)setting->site_records * (double)setting->runs;
    const double most = fmin(TIMES_MOST, fmax(floor(records_most / records), 1));
    double times = 0;
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        const struct intervals_taken *taken = &told->taken[i];
        if (is_rare(taken)) {
            times = fmax(times, ceil((double)RARE / (double)taken->rare_fewest));
        }
    }
    return (size_t)fmin(times, most);
}

static void tell_row(struct study *study, const struct intervals_told *told)
{
    const char *text[INTERVALS_COLUMNS];
    for (size_t i = 0; i < INTERVALS_COLUMNS; i++) {
        text[i] = told->text[i][0] == '\0' ? "-" : told->text[i];
    }
    study_row(&study->table, INTERVALS_COLUMNS, text);
}

/* A second look replaces what made it necessary. */
static void replace(struct intervals_taken *taken, const struct intervals_taken *again,
                    const struct intervals_claim *claim)
{
    if (is_below(claim, taken->worst.measured) && !isnan(again->worst.measured)) {
        taken->worst = again->worst;
    }
    if (is_rare(taken) && is_rare(again)) {
        taken->rare_worst = again->rare_worst;
        taken->rare = again->rare;
    }
    if (again->hardly.all > 0) {
        taken->hardly = again->hardly;
    }
}

/* Simulates a setting. Of 2,000 rates some are below the bound by chance. Such a rate is replaced by that of other, more studies, so
 * that the bound needs no allowance for chance. Where few answers are shown, more studies are always made. */
static enum status run_setting(struct study *study, struct intervals_told *told,
                               struct intervals_setting *setting, bool may_again)
{
    struct intervals_told again = {.kind = told->kind, .setting = setting};
    const struct intervals_setting first = *setting;
    told->setting = setting;
    enum status status = told->kind->run(told, setting);
    const size_t below = may_again && status == STATUS_OK ? times_below(told) : 0;
    const size_t rare = may_again && status == STATUS_OK ? times_rare(told, &first) : 0;
    const size_t times = below > rare ? below : rare;
    tell_row(study, told);
    if (times == 0) {
        return status;
    }
    *setting = first;
    setting->runs *= times;
    setting->seed += SEED_OF_AGAIN;
    intervals_told_clear(&again);
    status = told->kind->run(&again, setting);
    intervals_tell(&again, 0, ", again");
    tell_row(study, &again);
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        replace(&told->taken[i], &again.taken[i], &told->kind->claim[i]);
    }
    return status;
}

/* A kind's rates of all settings where a hundredth to a tenth of the answers are shown, and where fewer are. */
struct rare {
    double worst;
    struct intervals_rate judged;
    struct intervals_rate hardly;
};

static void add_rare(struct rare *rare, const struct intervals_told *told)
{
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        const enum intervals_measure measure = told->kind->claim[i].measure;
        const struct intervals_taken *taken = &told->taken[i];
        struct rare *own = &rare[measure];
        own->worst = measure == INTERVALS_HOLD ? fmin(own->worst, taken->rare_worst)
                                               : fmax(own->worst, taken->rare_worst);
        own->judged.yes += taken->rare.yes;
        own->judged.all += taken->rare.all;
        own->hardly.yes += taken->hardly.yes;
        own->hardly.all += taken->hardly.all;
    }
}

static void claim_rare(struct study *study, const struct intervals_kind *kind,
                       const struct rare *rare)
{
    for (int measure = INTERVALS_HOLD; measure <= INTERVALS_REJECT; measure++) {
        const struct rare *own = &rare[measure];
        const bool is_least = measure == INTERVALS_HOLD;
        bool has = false;
        for (size_t i = 0; i < kind->claim_count; i++) {
            has = has || kind->claim[i].measure == (enum intervals_measure)measure;
        }
        if (has) {
            study_claim(study, is_least ? STUDY_AT_LEAST : STUDY_AT_MOST, own->worst,
                        bounds[measure],
                        "%s, where 1 to 10 %% are shown: %s, the worst that chance leaves "
                        "possible; %.3f of %llu together, and %.3f of %llu where fewer are shown",
                        kind->name, is_least ? "intervals hold" : "tests reject",
                        intervals_share(&own->judged), (unsigned long long)own->judged.all,
                        intervals_share(&own->hardly), (unsigned long long)own->hardly.all);
        }
    }
}

/* summary: (claims) */
static enum status run_kind(struct intervals_summary *summary, struct rare *rare,
                            struct study *study, const struct study_request *request,
                            size_t kind_at, size_t runs)
{
    const struct intervals_kind *kind = kinds[kind_at];
    struct intervals_setting setting;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && setting_at(&setting, request, kind, &i); i++) {
        struct intervals_told told = {.kind = kind};
        setting.runs = kind->runs_times * runs;
        setting.is_short = runs < RUNS;
        setting.seed = seed_of(request, kind_at, i);
        setting.planted = request->planted ? kind->planted : 1;
        intervals_told_clear(&told);
        status = run_setting(study, &told, &setting, runs >= RUNS && !request->planted);
        intervals_summary_add(summary, &told);
        add_rare(rare, &told);
    }
    study_progress(request, "intervals: %s", kind->name);
    return status;
}

/* allowed: a share that chance may take away */
static void claim_kind(struct study *study, const struct intervals_kind *kind,
                       const struct intervals_summary *summary, double allowed)
{
    for (size_t i = 0; i < kind->claim_count; i++) {
        const struct intervals_claim *claim = &kind->claim[i];
        const bool is_least = claim->measure == INTERVALS_HOLD;
        const double chance = claim->measure == INTERVALS_WIDTH ? 0 : allowed;
        struct intervals_worst worst = {.measured = is_least ? 1 : 0};
        for (size_t k = 0; k < INTERVALS_TRUSTS * INTERVALS_NOISES; k++) {
            (void)intervals_add_worst(&worst,
                                      &summary[i].worst[k / INTERVALS_NOISES][k % INTERVALS_NOISES],
                                      claim->measure);
        }
        study_claim(study, is_least ? STUDY_AT_LEAST : STUDY_AT_MOST, worst.measured,
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
    static const char *const summed[] = {
        "what", "noise", "measured", "shown", "width over no noise", "over the true cells",
        "where"};
    const size_t runs = request->runs == 0 ? RUNS : request->runs;
    static struct intervals_summary summary[INTERVALS_CLAIMS_MAX];
    bool is_known = false;
    /* Short runs, of a test, are allowed what chance may do: four standard errors of the larger studies' half; widths: theirs. */
    const double allowed = runs >= RUNS ? 0 : 4 * sqrt(0.05 * 0.95 / ((double)runs / 2));

    (void)snprintf(study->title, sizeof study->title, "Do intervals hold the truth?");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Simulated studies with known truth: five sites of 200, 1,000 and 5,000 records, "
        "epsilon 0.25, 1 and 4, noise once or at each site. Of the answers that are shown, "
        "95 %% intervals must hold the truth in 93.5 %% or more, and tests reject a true "
        "null in 6.5 %% or less.");
    study_columns(&study->summary, sizeof summed / sizeof summed[0], summed);
    study_columns(&study->table, sizeof columns / sizeof columns[0], columns);
    for (size_t i = 0; i < KINDS; i++) {
        struct rare rare[] = {
            [INTERVALS_HOLD] = {.worst = 1}, [INTERVALS_REJECT] = {0}, [INTERVALS_WIDTH] = {0}};
        if (request->only != NULL && strcmp(request->only, kinds[i]->name) != 0) {
            continue;
        }
        is_known = true;
        CHECK(kinds[i]->claim_count <= INTERVALS_CLAIMS_MAX);
        for (size_t j = 0; j < kinds[i]->claim_count; j++) {
            intervals_summary_clear(&summary[j]);
        }
        const enum status status = run_kind(summary, rare, study, request, i, runs);
        if (status != STATUS_OK) {
            why_set(why, "the studies cannot be simulated");
            return status;
        }
        claim_kind(study, kinds[i], summary, allowed);
        intervals_summary_tell(study, kinds[i], summary);
        claim_rare(study, kinds[i], rare);
    }
    return is_known ? STATUS_OK
                    : why_refuse(
                          why,
                          "--only: there is no kind \"%s\"; there are survival, crosstab, table1, "
                          "evaluate, concordance, correlate, regress, between, tables, "
                          "groups and medians",
                          request->only);
}
