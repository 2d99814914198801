#include "learn/model.h"

#include "base/check.h"
#include "learn/dense.h"

#include <math.h>
#include <stdlib.h>

void model_predict(double *probability, const struct model *model, const struct dataset *data)
{
    const size_t d = data->feature_count;
    CHECK(model->weight_count == d);
    for (size_t i = 0; i < data->record_count; i++) {
        const double f = dense_dot(model->weight, data->x + i * d, d);
        probability[i] = 1 / (1 + exp(-fmax(f, -700))); /* no overflow; 0 is never reached */
    }
}

const char *model_class(const struct model *model, double probability)
{
    return probability >= 0.5 ? model->schema.label.positive : model->schema.label.negative;
}

void model_free(struct model *model)
{
    if (model != NULL) {
        schema_free(&model->schema);
        free(model->weight);
        *model = (struct model){0};
    }
}
