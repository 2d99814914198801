/* Correlations in all settings: rows, and what is claimed of the worst. */

#include "lab/study/study.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = INTERVALS_TEXT, TENTH = 10 };

static const char *const names[INTERVALS_PAIRS] = {
    [INTERVALS_EVEN] = "nearly normal columns",
    [INTERVALS_SKEWED] = "skewed columns",
    [INTERVALS_TWO_VALUES] = "columns of two values",
    [INTERVALS_CLOSE] = "columns whose correlation is 0.95",
    [INTERVALS_NULL] = "an even and a skewed column that are independent",
    [INTERVALS_NULL_SKEWED] = "a skewed column and one of two values that are independent",
    [INTERVALS_UNCORRELATED] = "dependent columns whose correlation is 0",
};

static void tell(struct study *study, const struct intervals_correlate *found,
                 const struct intervals_setting *setting)
{
    static const enum intervals_pair order[] = {INTERVALS_EVEN, INTERVALS_SKEWED,
                                                INTERVALS_TWO_VALUES, INTERVALS_CLOSE};
    const struct intervals_rate *rate = found->pair;
    const double runs = (double)setting->runs;
    char text[8][TEXT];
    char kind[32];
    (void)snprintf(kind, sizeof kind, "correlations of %zu, ", found->columns);
    intervals_setting_name(text[0], kind, setting);
    (void)snprintf(text[1], TEXT, "%zu parts", found->parts);
    (void)snprintf(text[2], TEXT, "%.2f, %.2f, %.2f, %.2f", (double)rate[order[0]].all / runs,
                   (double)rate[order[1]].all / runs, (double)rate[order[2]].all / runs,
                   (double)rate[order[3]].all / runs);
    (void)snprintf(text[3], TEXT, "normal %.3f, skewed %.3f", intervals_share(&rate[order[0]]),
                   intervals_share(&rate[order[1]]));
    (void)snprintf(text[4], TEXT, "two values %.3f, close %.3f", intervals_share(&rate[order[2]]),
                   intervals_share(&rate[order[3]]));
    (void)snprintf(text[5], TEXT, "of 0 %.3f, %.3f, %.3f", intervals_share(&rate[INTERVALS_NULL]),
                   intervals_share(&rate[INTERVALS_NULL_SKEWED]),
                   intervals_share(&rate[INTERVALS_UNCORRELATED]));
    (void)snprintf(text[6], TEXT, "%.3f, %.3f, %.3f",
                   intervals_share(&found->rejected[INTERVALS_NULL]),
                   intervals_share(&found->rejected[INTERVALS_NULL_SKEWED]),
                   intervals_share(&found->rejected[INTERVALS_UNCORRELATED]));
    (void)snprintf(text[7], TEXT, "halves %.3f, %.3f, %.3f",
                   found->width[order[0]] / (double)rate[order[0]].all,
                   found->width[order[1]] / (double)rate[order[1]].all,
                   found->width[order[2]] / (double)rate[order[2]].all);
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

static void take_rejected(struct intervals_worst_pairs *worst, const struct intervals_rate *rate,
                          size_t runs)
{
    if (TENTH * rate->all >= runs) {
        worst->rejected = fmax(worst->rejected, intervals_share(rate));
    }
}

/* Parts tell the noise that there is: a tenth of it is planted, which the settings of one part are told. */
enum status intervals_pairs(struct study *study, struct intervals_worst_pairs *worst,
                            const struct study_request *request, size_t runs)
{
    struct intervals_setting setting;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && intervals_setting_at(&setting, request, i / 2); i++) {
        struct intervals_correlate found;
        setting.is_wide = i % 2 == 1;
        setting.runs = runs;
        setting.seed = request->seed * 1000 + 900 + i;
        setting.planted = request->planted ? 0.1 : 1;
        status = intervals_correlate(&found, &setting);
        for (size_t pair = 0; pair < INTERVALS_PAIRS; pair++) {
            intervals_take_least(&worst->covers[pair], &found.pair[pair], runs);
            intervals_take_least(&worst->noise, &found.noise[pair], runs);
        }
        take_rejected(worst, &found.rejected[INTERVALS_NULL], runs);
        take_rejected(worst, &found.rejected[INTERVALS_NULL_SKEWED], runs);
        tell(study, &found, &setting);
    }
    study_progress(request, "intervals: correlations");
    return status;
}

void intervals_claim_pairs(struct study *study, const struct intervals_worst_pairs *worst,
                           double allowed)
{
    for (size_t pair = 0; pair < INTERVALS_PAIRS; pair++) {
        study_claim(study, STUDY_AT_LEAST, worst->covers[pair], INTERVALS_COVERS_LEAST - allowed,
                    "correlations: intervals of %s, the worst of all settings", names[pair]);
    }
    study_claim(study, STUDY_AT_LEAST, worst->noise, INTERVALS_COVERS_LEAST - allowed,
                "correlations: intervals of the noise alone that hold what is without noise");
    study_claim(study, STUDY_AT_MOST, worst->rejected, INTERVALS_REJECTS_MOST + allowed,
                "correlations: tests that reject independent columns");
}
