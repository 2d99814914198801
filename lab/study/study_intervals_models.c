/* Regressions in all settings: rows, and what is claimed of the worst. */

#include "lab/study/study.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = INTERVALS_TEXT, TENTH = 10 };

static const char *const names[INTERVALS_FAMILIES] = {
    [REGRESS_LOGISTIC] = "logistic",
    [REGRESS_LINEAR] = "linear",
    [REGRESS_POISSON] = "Poisson",
    [REGRESS_HAZARD] = "hazards",
};

static void tell(struct study *study, const struct intervals_regress *found,
                 const struct intervals_setting *setting, enum regress_family family)
{
    const struct intervals_rate *slope = found->slope;
    char text[8][TEXT];
    uint64_t shown = 0;
    for (size_t i = 0; i < INTERVALS_SLOPES; i++) {
        shown += slope[i].all;
    }
    char kind[TEXT];
    (void)snprintf(kind, sizeof kind, "%s%s, ", names[family],
                   setting->is_wide ? ", confirming" : "");
    intervals_setting_name(text[0], kind, setting);
    (void)snprintf(text[1], TEXT, "%zu levels", found->levels);
    (void)snprintf(text[2], TEXT, "%.2f", (double)shown / (double)found->asked);
    (void)snprintf(text[3], TEXT, "slopes %.3f, %.3f", intervals_share(&slope[0]),
                   intervals_share(&slope[1]));
    (void)snprintf(text[4], TEXT, "%.3f, %.3f", intervals_share(&slope[2]),
                   intervals_share(&slope[3]));
    (void)snprintf(text[5], TEXT, "-");
    (void)snprintf(text[6], TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / (double)setting->runs);
    (void)snprintf(text[7], TEXT, "%.2f", found->width / found->width_free);
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

enum status intervals_models(struct study *study, struct intervals_worst_models *worst,
                             const struct study_request *request, size_t runs)
{
    struct intervals_setting setting;
    enum status status = STATUS_OK;
    for (size_t i = 0;
         status == STATUS_OK && intervals_setting_at(&setting, request, i / 2 / INTERVALS_FAMILIES);
         i++) {
        const enum regress_family family = (enum regress_family)(i / 2 % INTERVALS_FAMILIES);
        struct intervals_regress found;
        setting.is_wide = i % 2 == 1;
        setting.runs = runs;
        setting.seed = request->seed * 1000 + 2000 + i;
        setting.planted = request->planted ? 0.5 : 1;
        status = intervals_regress(&found, &setting, family);
        for (size_t slope = 0; slope < INTERVALS_SLOPES; slope++) {
            intervals_take_least(&worst->covers[family], &found.slope[slope], runs);
        }
        if (TENTH * found.rejected.all >= runs) {
            worst->rejected = fmax(worst->rejected, intervals_share(&found.rejected));
        }
        tell(study, &found, &setting, family);
    }
    study_progress(request, "intervals: regressions");
    return status;
}

void intervals_claim_models(struct study *study, const struct intervals_worst_models *worst,
                            double allowed)
{
    for (size_t i = 0; i < INTERVALS_FAMILIES; i++) {
        study_claim(study, STUDY_AT_LEAST, worst->covers[i], INTERVALS_COVERS_LEAST - allowed,
                    "regressions: intervals of a coefficient, %s, the worst of all settings",
                    names[i]);
    }
    study_claim(study, STUDY_AT_MOST, worst->rejected, INTERVALS_REJECTS_MOST + allowed,
                "regressions: tests that reject a coefficient of 0");
}
