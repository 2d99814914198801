/* Experts that a job writes down: mixtures of features, in the label's scale. A model is <w, x> with
 * x = feature * scale in the block of plain features, so that weights of 1/scale give back the feature itself. */

#include "job/kind.h"

#include <stdlib.h>
#include <string.h>

static enum status refuse(const struct drafting *drafting, size_t index, const char *remedy)
{
    return stage_refuse(drafting, index, "forecasters", remedy);
}

static enum status fill(double *weight, const struct drafting *drafting, size_t index,
                        const struct draft_forecaster *from)
{
    const struct schema *schema = &drafting->job->schema;
    const double scale = schema_scale(schema_plain_count(schema));
    const double share = 1 / (double)from->feature_count;
    if (from->weight_count > 0 && from->weight_count != from->feature_count) {
        return refuse(drafting, index,
                      "holds one with other than a weight for each feature: write "
                      "as many, or none for the features' mean");
    }
    for (size_t i = 0; i < from->feature_count; i++) {
        const int feature = schema_find_feature(schema, from->feature[i]);
        if (feature < 0) {
            return refuse(drafting, index,
                          "names something that is no feature by itself: write a "
                          "number's column or a lag, for example lag_7");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(from->feature[i], from->feature[j]) == 0) {
                return refuse(drafting, index, "names one feature twice: add the weights up");
            }
        }
        weight[feature] += (from->weight_count > 0 ? from->weight[i] : share) / scale;
    }
    return STATUS_OK;
}

enum status stage_set_forecasters(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const size_t width = round_width(drafting->job);
    enum status status = STATUS_OK;

    if (draft->forecaster_count == 0) {
        return STATUS_OK;
    }
    if (schema_output_count(&drafting->job->schema) > 1) {
        return refuse(drafting, index,
                      "give one number, and the label has several classes: remove "
                      "them");
    }
    stage->forecaster = calloc(draft->forecaster_count, sizeof *stage->forecaster);
    stage->forecaster_weights =
        calloc(draft->forecaster_count * width, sizeof *stage->forecaster_weights);
    if (stage->forecaster == NULL || stage->forecaster_weights == NULL) {
        return STATUS_NO_MEMORY;
    }
    stage->forecaster_count = draft->forecaster_count;
    for (size_t i = 0; i < draft->forecaster_count && status == STATUS_OK; i++) {
        memcpy(stage->forecaster[i], draft->forecaster[i].name, JOB_NAME_BYTES);
        for (size_t j = 0; j < i && status == STATUS_OK; j++) {
            if (strcmp(stage->forecaster[i], stage->forecaster[j]) == 0) {
                status = refuse(drafting, index, "holds one name twice: give each its own");
            }
        }
        if (status == STATUS_OK) {
            status =
                fill(stage->forecaster_weights + i * width, drafting, index, &draft->forecaster[i]);
        }
    }
    return status;
}
