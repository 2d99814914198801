/* The worst settings of each question, trust and noise: a table of the study. */

#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void intervals_summary_clear(struct intervals_summary *summary)
{
    for (size_t i = 0; i < INTERVALS_TRUSTS * INTERVALS_NOISES; i++) {
        summary->worst[i / INTERVALS_NOISES][i % INTERVALS_NOISES].measured = NAN;
    }
}

void intervals_summary_add(struct intervals_summary *summary, const struct intervals_told *told)
{
    const size_t trust = intervals_trust(told->setting);
    const size_t noise = told->setting->is_gaussian ? 1 : 0;
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        if (intervals_add_worst(&summary[i].worst[trust][noise], &told->taken[i].worst,
                                told->kind->claim[i].measure)) {
            (void)snprintf(summary[i].setting[trust][noise], INTERVALS_TEXT, "%s", told->text[0]);
        }
    }
}

static void write_question(char out[static STUDY_CELL_BYTES], const struct intervals_claim *claim)
{
    const char *rest = strstr(claim->text, ", the worst");
    const size_t length = rest == NULL ? strlen(claim->text) : (size_t)(rest - claim->text);
    (void)snprintf(out, STUDY_CELL_BYTES, "%.*s", (int)length, claim->text);
}

void intervals_summary_tell(struct study *study, const struct intervals_kind *kind,
                            const struct intervals_summary *summary)
{
    enum { QUESTION, NOISE, MEASURED, SHOWN, OVER_EXACT, OVER_TRUE, SETTING, COLUMNS };
    for (size_t i = 0; i < kind->claim_count * INTERVALS_TRUSTS * INTERVALS_NOISES; i++) {
        const size_t claim = i / INTERVALS_NOISES / INTERVALS_TRUSTS;
        const size_t trust = i / INTERVALS_NOISES % INTERVALS_TRUSTS;
        const size_t noise = i % INTERVALS_NOISES;
        const struct intervals_worst *worst = &summary[claim].worst[trust][noise];
        char text[COLUMNS][STUDY_CELL_BYTES] = {"", "", "", "-", "-", "-", ""};
        const char *cell[COLUMNS];
        if (isnan(worst->measured)) {
            continue;
        }
        write_question(text[QUESTION], &kind->claim[claim]);
        (void)snprintf(text[NOISE], sizeof text[0], "%s%s", intervals_trust_name(trust),
                       noise == 1 ? ", Gaussian" : "");
        (void)snprintf(text[MEASURED], sizeof text[0], "%.3f", worst->measured);
        (void)snprintf(text[SHOWN], sizeof text[0], "%.2f", worst->shown);
        if (isfinite(worst->over_exact)) {
            (void)snprintf(text[OVER_EXACT], sizeof text[0], "%.2f", worst->over_exact);
        }
        if (isfinite(worst->over_true)) {
            (void)snprintf(text[OVER_TRUE], sizeof text[0], "%.2f", worst->over_true);
        }
        (void)snprintf(text[SETTING], sizeof text[0], "%s", summary[claim].setting[trust][noise]);
        for (size_t k = 0; k < COLUMNS; k++) {
            cell[k] = text[k];
        }
        study_row(&study->summary, COLUMNS, cell);
    }
}
