/* The feature map of a draft: which keys its kind takes, landmarks as wide as a record, and apart. */

#include "base/decimal.h"
#include "job/draft.h"
#include "learn/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status refuse(const struct drafting *drafting, const char *key, const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    (void)snprintf(path, sizeof path, "data.map.%s", key);
    return config_refuse(drafting->config, drafting->why, path, "%s", remedy);
}

static bool has(const struct drafting *drafting, const char *key)
{
    char path[CONFIG_PATH_BYTES];
    (void)snprintf(path, sizeof path, "data.map.%s", key);
    return config_has(drafting->config, path);
}

static enum status check_keys(const struct drafting *drafting, enum map_kind kind)
{
    static const struct {
        const char *key;
        enum map_kind kind;
        const char *foreign;
        const char *absent;
    } own[] = {
        {"features", MAP_FOURIER, "is for kind fourier (a landmark is one feature): remove it",
         "is missing: add it, for example `features: 200`"},
        {"seed", MAP_FOURIER, "is for kind fourier: remove it",
         "is missing: add any public number, for example `seed: 42`"},
        {"landmarks", MAP_NYSTROM, "is for kind nystrom: remove it",
         "is missing: add PUBLIC rows, for example `landmarks: [[70, F], [50, M]]`"},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        const bool there = has(drafting, own[i].key);
        if (there != (kind == own[i].kind)) {
            return refuse(drafting, own[i].key, there ? own[i].foreign : own[i].absent);
        }
    }
    return STATUS_OK;
}

static enum status build_fourier(const struct drafting *drafting)
{
    struct schema *schema = &drafting->job->schema;
    struct feature_map *map = &schema->map;
    map->feature_count = drafting->draft->data.map.feature_count;
    map->seed = drafting->draft->data.map.seed;
    if (map->feature_count % 2 != 0) {
        return refuse(drafting, "features",
                      "is odd: a frequency is a cosine and a sine, so write an even number");
    }
    if (map->feature_count / 2 > SCHEMA_MAP_NUMBERS_MAX / schema_plain_count(schema)) {
        return refuse(drafting, "features",
                      "makes more than 2^23 numbers of frequencies with so many columns: lower it");
    }
    return STATUS_OK;
}

/* Value `index` of a record: a lag's, or a column's. */
static enum status read_value(double *value, const struct drafting *drafting, const char *path,
                              const char *text, size_t index)
{
    const struct schema *schema = &drafting->job->schema;
    char place[CONFIG_PATH_BYTES];
    const struct column *column =
        index < schema->lag_count ? NULL : &schema->column[index - schema->lag_count];
    (void)snprintf(place, sizeof place, "%.100s[%zu]", path, index);
    if (column == NULL || column->kind == COLUMN_NUMBER) {
        return decimal_double(value, text) == STATUS_OK
                   ? STATUS_OK
                   : config_refuse(drafting->config, drafting->why, place,
                                   "is not a number, as this column's values are");
    }
    for (size_t i = 0; i < column->category_count; i++) {
        if (strcmp(text, column->category[i]) == 0) {
            *value = (double)i;
            return STATUS_OK;
        }
    }
    return config_refuse(drafting->config, drafting->why, place,
                         "is none of this column's categories");
}

enum status job_row_read(double *value, const struct drafting *drafting, const char *path,
                         const struct draft_row *row)
{
    const size_t n = schema_value_count(&drafting->job->schema);
    enum status status = STATUS_OK;
    if (row->value_count != n) {
        return config_refuse(drafting->config, drafting->why, path,
                             "has %zu values: write %zu, one per lag if there are any, then one "
                             "per feature, in their order",
                             row->value_count, n);
    }
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = read_value(&value[i], drafting, path, row->value[i], i);
    }
    return status;
}

static enum status build_nystrom(const struct drafting *drafting)
{
    const struct draft_map *draft = &drafting->draft->data.map;
    struct schema *schema = &drafting->job->schema;
    struct features *features = NULL;
    struct why why = {{0}};
    enum status status = STATUS_OK;
    schema->map.landmark =
        calloc(draft->landmark_count * schema_value_count(schema), sizeof *schema->map.landmark);
    if (schema->map.landmark == NULL) {
        return STATUS_NO_MEMORY;
    }
    schema->map.landmark_count = draft->landmark_count;
    for (size_t i = 0; i < draft->landmark_count && status == STATUS_OK; i++) {
        char path[CONFIG_PATH_BYTES];
        (void)snprintf(path, sizeof path, "data.map.landmarks[%zu]", i);
        status = job_row_read(schema->map.landmark + i * schema_value_count(schema), drafting, path,
                              &draft->landmark[i]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = features_new(&features, schema, &why);
    features_free(features);
    return status == STATUS_INVALID ? refuse(drafting, "landmarks", why.text) : status;
}

enum status job_map_build(const struct drafting *drafting)
{
    const struct draft_map *draft = &drafting->draft->data.map;
    struct feature_map *map = &drafting->job->schema.map;
    if (!config_has(drafting->config, "data.map")) {
        return STATUS_OK;
    }
    map->kind = (enum map_kind)(draft->kind + 1);
    map->kernel = (struct kernel){.kind = (enum kernel_kind)(KERNEL_GAUSSIAN + draft->kernel),
                                  .rate = draft->gamma};
    const enum status status = check_keys(drafting, map->kind);
    if (status != STATUS_OK) {
        return status;
    }
    return map->kind == MAP_FOURIER ? build_fourier(drafting) : build_nystrom(drafting);
}
