#include "learn/model.h"

#include "base/check.h"
#include "learn/blocks.h"
#include "learn/metrics.h"

#include <math.h>
#include <stdlib.h>

enum status model_take(struct model *model, const struct schema *schema, const double *weight)
{
    const int index = block_of_model(schema, weight);
    if (index < 0) {
        return STATUS_INVALID;
    }
    const struct block block = block_at(schema, (size_t)index);
    const struct schema own = block_schema(schema, (size_t)index);
    const size_t outputs = schema_output_count(schema);
    const size_t count = outputs * block.count;
    double *narrow = malloc(count * sizeof *narrow);
    enum status status = narrow == NULL ? STATUS_NO_MEMORY : schema_copy(&model->schema, &own);
    if (status != STATUS_OK) {
        free(narrow);
        return status;
    }
    block_narrow(narrow, outputs, block, weight);
    model->weight = narrow;
    model->weight_count = count;
    return STATUS_OK;
}

void model_predict(double *answer, const struct model *model, const struct dataset *data)
{
    const struct label *label = &model->schema.label;
    const size_t outputs = schema_output_count(&model->schema);
    CHECK(model->weight_count == data->feature_count * outputs);
    metrics_class_scores(answer, model->weight, outputs, data);
    for (size_t i = 0; i < data->record_count; i++) {
        switch (label->kind) {
        case LABEL_SIGN:
            answer[i] = 1 / (1 + exp(-fmax(answer[i], -700))); /* no overflow; 0 is never reached */
            break;
        case LABEL_NUMBER:
            answer[i] = label->centre + label->half_width * fmin(fmax(answer[i], -1), 1);
            break;
        case LABEL_CLASSES:
            break;
        }
    }
}

const char *model_class(const struct model *model, const double *answer)
{
    const struct label *label = &model->schema.label;
    switch (label->kind) {
    case LABEL_SIGN:
        return answer[0] >= 0.5 ? label->positive : label->negative;
    case LABEL_NUMBER:
        break;
    case LABEL_CLASSES:
        return label->class_name[metrics_largest(answer, label->class_count)];
    }
    return NULL;
}

void model_free(struct model *model)
{
    if (model != NULL) {
        schema_free(&model->schema);
        free(model->weight);
        *model = (struct model){0};
    }
}
