/* Scores in all settings: rows, and what is claimed of the worst. */

#include "lab/study/study.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = INTERVALS_TEXT };

enum status intervals_scores(struct study *study, struct intervals_worst_scores *worst,
                             const struct study_request *request, size_t runs)
{
    enum status status = STATUS_OK;
    struct intervals_setting setting;
    for (size_t i = 0; status == STATUS_OK && intervals_setting_at(&setting, request, i); i++) {
        struct intervals_evaluate found;
        char text[8][TEXT];
        setting.runs = 2 * runs;
        setting.seed = request->seed * 1000 + 800 + i;
        setting.planted = request->planted ? 0.5 : 1;
        const double asked = 3 * (double)setting.runs; /* two groups and both together */
        status = intervals_evaluate(&found, &setting);
        intervals_take_least(&worst->auc, &found.auc, 3 * setting.runs);
        intervals_take_least(&worst->cut, &found.cut, 6 * setting.runs);
        intervals_take_least(&worst->band, &found.band, 24 * setting.runs);
        intervals_take_least(&worst->large, &found.large, 3 * setting.runs);
        for (size_t band = 1; band < EVALUATE_BANDS; band++) {
            intervals_take_least(&worst->benefit, &found.benefit[band], 3 * setting.runs);
        }
        intervals_setting_name(text[0], "score, ", &setting);
        (void)snprintf(text[1], TEXT, "%zu levels", found.levels);
        (void)snprintf(text[2], TEXT, "AUC %.2f, band %.2f", (double)found.auc.all / asked,
                       (double)found.band.all / 8 / asked);
        (void)snprintf(text[3], TEXT, "AUC %.3f", intervals_share(&found.auc));
        (void)snprintf(text[4], TEXT, "at a cut %.3f", intervals_share(&found.cut));
        (void)snprintf(text[5], TEXT, "calibration %.3f", intervals_share(&found.band));
        (void)snprintf(text[6], TEXT, "in the large %.3f, net benefit %.3f, %.3f",
                       intervals_share(&found.large), intervals_share(&found.benefit[2]),
                       intervals_share(&found.benefit[4]));
        (void)snprintf(text[7], TEXT, "AUC %.2f", found.width / found.width_free);
        study_row(study, 8,
                  (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5],
                                        text[6], text[7]});
    }
    study_progress(request, "intervals: scores");
    return status;
}

void intervals_claim_scores(struct study *study, const struct intervals_worst_scores *worst,
                            double allowed)
{
    study_claim(study, STUDY_AT_LEAST, worst->auc, INTERVALS_COVERS_LEAST - allowed,
                "scores: intervals of the AUC, the worst of all settings");
    study_claim(study, STUDY_AT_LEAST, worst->cut, INTERVALS_COVERS_LEAST - allowed,
                "scores: intervals of accuracy and sensitivity at a cut");
    study_claim(study, STUDY_AT_LEAST, worst->band, INTERVALS_COVERS_LEAST - allowed,
                "scores: intervals of the calibration");
    study_claim(study, STUDY_AT_LEAST, worst->large, INTERVALS_COVERS_LEAST - allowed,
                "scores: intervals of the calibration in the large");
    study_claim(study, STUDY_AT_LEAST, worst->benefit, INTERVALS_COVERS_LEAST - allowed,
                "scores: intervals of the net benefit, the worst threshold");
}
