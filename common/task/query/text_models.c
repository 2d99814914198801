/* Models that a query stage judges. A written one is a sum of a constant and weights times the features of the job's own
 * columns, -1 to 1 each; an agent's features are these times a public scale. The chosen one goes with the round. */

#include "config/keys.h"
#include "learn/dense.h"
#include "task/query/models.h"
#include "task/query/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define KEY_OF struct draft_part
static const struct config_key part_keys[] = {
    KEY_TEXT("column", column, REQUIRED("age")),
    KEY_NUMBERS("weights", weight, weight_count, SCHEMA_CATEGORIES_MAX + 1, -1e6, 1e6, REQUIRED("[1.9]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_model
const struct config_key models_keys[] = {
    KEY_TEXT("name", name, REQUIRED("risk")),
    KEY_FLAG("chosen", chosen, DEFAULT("false", "true")),
    KEY_NUMBER("constant", constant, -1e6, 1e6, DEFAULT("0", "-0.4")),
    KEY_TABLES("columns", part, part_count, SCHEMA_COLUMNS_MAX, part_keys, OPTIONAL("[{column: age, weights: [1.9]}]")),
    KEY_NUMBER("centre", centre, -1e300, 1e300, DEFAULT("0", "74")),
    KEY_NUMBER("half_width", half_width, 0, 1e300, DEFAULT("0", "24")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status refuse(const struct drafting *drafting, size_t index, size_t model,
                          const char *remedy)
{
    char key[CONFIG_PATH_BYTES];
    (void)snprintf(key, sizeof key, "models[%zu]", model);
    return stage_refuse(drafting, index, key, remedy);
}

/* Returns the column's index, or column_count. */
static size_t find_column(const struct schema *schema, const char *name)
{
    size_t found = 0;
    while (found < schema->column_count && strcmp(schema->column[found].name, name) != 0) {
        found++;
    }
    return found;
}

static enum status check_name(const struct drafting *drafting, size_t index, size_t model,
                              const struct draft_model *draft)
{
    const struct schema *schema = &drafting->job->schema;
    if (find_column(schema, draft[model].name) < schema->column_count ||
        strcmp(draft[model].name, schema->label.name) == 0) {
        return refuse(drafting, index, model, "has the name of a column: give it another");
    }
    for (size_t i = 0; i < model; i++) {
        if (strcmp(draft[i].name, draft[model].name) == 0) {
            return refuse(drafting, index, model, "has the name of another: give each its own");
        }
    }
    return STATUS_OK;
}

/* The job's own model says by the label what it answers. */
static enum status take_chosen(struct query_score *score, const struct drafting *drafting,
                               size_t index, size_t model, const struct draft_model *draft)
{
    const struct label *label = &drafting->job->schema.label;
    if (draft->part_count > 0 || draft->half_width > 0) {
        return refuse(drafting, index, model, "is chosen by the job: remove its other keys");
    }
    if (job_experts_at(drafting->job, index, 1) == 0) {
        return refuse(drafting, index, model,
                      "is to be chosen, but no stage before this one makes a model: put one there, "
                      "or write the weights down");
    }
    if (label->kind == LABEL_CLASSES) {
        return refuse(drafting, index, model,
                      "is one of several classes, which has no single score: judge it by losses");
    }
    score->is_number = label->kind == LABEL_NUMBER;
    score->centre = label->centre;
    score->half_width = label->half_width;
    return STATUS_OK;
}

static enum status take_part(double *weight, const struct drafting *drafting, size_t index,
                             size_t model, const struct draft_part *part)
{
    const struct schema *schema = &drafting->job->schema;
    const double scale = schema_scale(schema_plain_count(schema));
    const size_t column = find_column(schema, part->column);
    char remedy[SCHEMA_NAME_BYTES + 128];
    size_t count = 0;
    if (column == schema->column_count) {
        (void)snprintf(remedy, sizeof remedy,
                       "needs the column %s, which data.features does not declare: add it there, "
                       "with the bounds that the model was made with",
                       part->column);
        return refuse(drafting, index, model, remedy);
    }
    const size_t first = query_score_feature(&count, schema, column);
    if (part->weight_count != count) {
        (void)snprintf(remedy, sizeof remedy,
                       "has %zu weights for the column %s, which has %zu feature%s: write as many",
                       part->weight_count, part->column, count, count > 1 ? "s" : "");
        return refuse(drafting, index, model, remedy);
    }
    for (size_t i = 0; i < count; i++) {
        weight[first + i] = dense_flushed(part->weight[i] / scale);
    }
    return STATUS_OK;
}

/* weight: (round_width), zeroed */
static enum status take_written(struct query_score *score, double *weight,
                                const struct drafting *drafting, size_t index, size_t model,
                                const struct draft_model *draft)
{
    const struct schema *schema = &drafting->job->schema;
    const size_t plain = schema_plain_count(schema);
    enum status status = STATUS_OK;
    if (draft->part_count == 0) {
        return refuse(drafting, index, model,
                      "lacks columns: write `columns: [{column: age, weights: [1.9]}]`, or "
                      "`chosen: true` for the model that the job has chosen so far");
    }
    if (schema->map.kind != MAP_NONE || schema_is_series(schema)) {
        return refuse(drafting, index, model,
                      "has weights for the columns, which data.map or data.series replaces: remove "
                      "that");
    }
    for (size_t i = 0; i < draft->part_count && status == STATUS_OK; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(draft->part[i].column, draft->part[j].column) == 0) {
                return refuse(drafting, index, model, "has one column twice: remove one");
            }
        }
        status = take_part(weight, drafting, index, model, &draft->part[i]);
    }
    weight[plain - 1] = dense_flushed(draft->constant / schema_scale(plain));
    score->weight = weight;
    score->is_number = draft->half_width > 0;
    score->centre = draft->centre;
    score->half_width = draft->half_width;
    return status;
}

enum status models_build(const struct drafting *drafting, size_t index,
                         const struct draft_model *draft, size_t count)
{
    struct query_stage *own = query_stage(&drafting->job->stage[index]);
    const size_t width = schema_feature_count(&drafting->job->schema);
    enum status status = STATUS_OK;
    if (count == 0) {
        return STATUS_OK;
    }
    own->score = calloc(count, sizeof *own->score);
    own->score_weights = calloc(count * width, sizeof *own->score_weights);
    if (own->score == NULL || own->score_weights == NULL) {
        return STATUS_NO_MEMORY;
    }
    own->score_count = count;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct query_score *score = &own->score[i];
        memcpy(score->name, draft[i].name, sizeof score->name);
        status = check_name(drafting, index, i, draft);
        if (status == STATUS_OK) {
            status = draft[i].chosen ? take_chosen(score, drafting, index, i, &draft[i])
                                     : take_written(score, own->score_weights + i * width, drafting,
                                                    index, i, &draft[i]);
        }
    }
    return status;
}
