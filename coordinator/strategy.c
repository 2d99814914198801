#include "coordinator/strategy.h"

#include "base/check.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sum's memory becomes the average's: both are 8-byte words, and a model may be large. */
static double *average_in_place(int64_t *sum, size_t d, unsigned grid_bits, size_t agent_count)
{
    unsigned char *bytes = (unsigned char *)sum;
    static_assert(sizeof(double) == sizeof(int64_t), "words of one size");
    for (size_t j = 0; j < d; j++) {
        int64_t total;
        memcpy(&total, bytes + 8 * j, sizeof total);
        double mean = ldexp((double)total, -(int)grid_bits) / (double)agent_count;
        memcpy(bytes + 8 * j, &mean, sizeof mean);
    }
    return (double *)(void *)bytes;
}

enum status strategy_fit(double **rows, const struct stage *stage, int64_t *sum, size_t d,
                         const struct cohort *cohort)
{
    size_t agent_count = cohort_count(cohort, STANDING_ANSWERED);
    size_t row_count = job_experts_of_round(stage, agent_count);
    double *out = average_in_place(sum, d, stage->grid_bits, agent_count);
    bool own = row_count > 1 + stage->shift_count; /* not of a single agent: that is the average */
    size_t row = 1;

    *rows = NULL;
    if (row_count > 1) {
        double *grown = realloc(out, row_count * d * sizeof *grown);
        if (grown == NULL) {
            free(out);
            return STATUS_NO_MEMORY;
        }
        out = grown;
    }
    for (size_t i = 0; i < stage->shift_count; i++, row++) {
        memcpy(out + row * d, out, d * sizeof *out);
        /* f moves by the shift: the last feature is the constant, schema_scale(d) */
        out[row * d + d - 1] += stage->shift[i] / schema_scale(d);
    }
    for (size_t i = 0; own && i < cohort->count; i++) {
        if (cohort->member[i].standing == STANDING_ANSWERED) {
            memcpy(out + row * d, cohort->member[i].own, d * sizeof *out);
            row++;
        }
    }
    CHECK(row == row_count);
    *rows = out;
    return STATUS_OK;
}

enum status strategy_pick(uint32_t *chosen, const struct random *random,
                          const struct outcome *outcome, const struct stage *stage, uint32_t within,
                          const int64_t *sum, size_t agent_count)
{
    size_t k = outcome->expert_count;
    struct rwm rwm = {0};
    size_t pick = 0;
    double *mean = malloc(k * sizeof *mean);
    enum status status = mean == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        status = within == 0 ? outcome_begin_rwm(&rwm, outcome, stage)
                             : rwm_init(&rwm, k, outcome->rwm.eta);
    }
    if (status != STATUS_OK) {
        goto done;
    }
    if (within > 0) {
        rwm_observe(&rwm, outcome->rwm.loss); /* with what the experts began with */
    }
    outcome_mean_losses(mean, stage, sum, k, agent_count);
    rwm_observe(&rwm, mean);
    if (within + 1 == stage->rounds) {
        pick = rwm_leader(&rwm);
    } else {
        status = rwm_draw(&rwm, random, &pick);
    }
    *chosen = (uint32_t)pick;
done:
    rwm_free(&rwm);
    free(mean);
    return status;
}
