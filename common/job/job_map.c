/* The feature maps of a draft: which keys a kind takes, landmarks as wide as a record, and apart. Every
 * stage that learns has its own map or the data section's; those that differ are blocks of features,
 * one after another, and forecasters add the block of the plain ones. */

#include "base/check.h"
#include "base/decimal.h"
#include "base/near.h"
#include "job/draft.h"
#include "learn/blocks.h"
#include "learn/features.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char DATA_MAP[] = "data.map";

/* One map at its place in the text. */
struct place {
    const struct drafting *drafting;
    const struct draft_map *draft;
    char path[CONFIG_PATH_BYTES];
};

static enum status refuse(const struct place *place, const char *key, const char *remedy)
{
    char path[CONFIG_PATH_BYTES + 16];
    (void)snprintf(path, sizeof path, "%s.%s", place->path, key);
    return config_refuse(place->drafting->config, place->drafting->why, path, "%s", remedy);
}

static bool has(const struct place *place, const char *key)
{
    char path[CONFIG_PATH_BYTES + 16];
    (void)snprintf(path, sizeof path, "%s.%s", place->path, key);
    return config_has(place->drafting->config, path);
}

static enum status check_keys(const struct place *place, enum map_kind kind)
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
        const bool there = has(place, own[i].key);
        if (there != (kind == own[i].kind)) {
            return refuse(place, own[i].key, there ? own[i].foreign : own[i].absent);
        }
    }
    return STATUS_OK;
}

static enum status build_fourier(const struct place *place, struct feature_map *map)
{
    map->feature_count = place->draft->feature_count;
    map->seed = place->draft->seed;
    if (map->feature_count % 2 != 0) {
        return refuse(place, "features",
                      "is odd: a frequency is a cosine and a sine, so write an even number");
    }
    if (map->feature_count / 2 >
        SCHEMA_MAP_NUMBERS_MAX / schema_plain_count(&place->drafting->job->schema)) {
        return refuse(place, "features",
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
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){text, strlen(text)});
    for (size_t i = 0; i < column->category_count; i++) {
        near_offer(&near, column->category[i]);
    }
    return config_refuse(drafting->config, drafting->why, place,
                         "is none of this column's categories%s", near_hint(hint, &near));
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

static enum status build_nystrom(const struct place *place, struct feature_map *map)
{
    const struct draft_map *draft = place->draft;
    struct schema one = place->drafting->job->schema;
    const size_t n = schema_value_count(&one);
    struct features *features = NULL;
    struct why why = {{0}};
    enum status status = STATUS_OK;
    map->landmark = calloc(draft->landmark_count * n, sizeof *map->landmark);
    if (map->landmark == NULL) {
        return STATUS_NO_MEMORY;
    }
    map->landmark_count = draft->landmark_count;
    for (size_t i = 0; i < draft->landmark_count && status == STATUS_OK; i++) {
        char path[CONFIG_PATH_BYTES + 32];
        (void)snprintf(path, sizeof path, "%s.landmarks[%zu]", place->path, i);
        status = job_row_read(map->landmark + i * n, place->drafting, path, &draft->landmark[i]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    one.map = *map;
    one.more = NULL;
    one.more_count = 0;
    status = features_new(&features, &one, &why);
    features_free(features);
    return status == STATUS_INVALID ? refuse(place, "landmarks", why.text) : status;
}

/* What map then owns is the caller's, also on failure. */
static enum status build_map(struct feature_map *map, const struct place *place)
{
    map->kind = (enum map_kind)(place->draft->kind + 1);
    map->kernel =
        (struct kernel){.kind = (enum kernel_kind)(KERNEL_GAUSSIAN + place->draft->kernel),
                        .rate = place->draft->gamma};
    const enum status status = check_keys(place, map->kind);
    if (status != STATUS_OK) {
        return status;
    }
    return map->kind == MAP_FOURIER ? build_fourier(place, map) : build_nystrom(place, map);
}

/* Makes the map a block, if it is none yet, and says which; takes it. The first of all is where a
 * schema without blocks has its plain one. */
static enum status add_block(size_t *index, struct schema *schema, bool *is_first,
                             struct feature_map map)
{
    const int found = *is_first ? -1 : block_find(schema, &map);
    *index = found >= 0 ? (size_t)found : *is_first ? 0 : block_count(schema);
    if (found >= 0) {
        free(map.landmark);
        return STATUS_OK;
    }
    if (!*is_first) {
        return block_append(schema, map);
    }
    *is_first = false;
    schema->map = map;
    return STATUS_OK;
}

/* Reads the map of a stage, or the section's for all that have none; zeroed where neither is there. */
static enum status read_map(struct feature_map *map, const struct drafting *drafting,
                            const char *path, const struct draft_map *draft)
{
    struct place place = {.drafting = drafting, .draft = draft};
    *map = (struct feature_map){.kind = MAP_NONE};
    (void)snprintf(place.path, sizeof place.path, "%s", path);
    const enum status status =
        config_has(drafting->config, path) ? build_map(map, &place) : STATUS_OK;
    if (status != STATUS_OK) {
        free(map->landmark);
        *map = (struct feature_map){.kind = MAP_NONE};
    }
    return status;
}

/* The block that a stage learns on, or that its forecasters are of. */
static enum status map_stage(const struct drafting *drafting, size_t index, bool *is_first)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    struct schema *schema = &drafting->job->schema;
    struct feature_map map = {.kind = MAP_NONE};
    enum status status = STATUS_OK;
    size_t at = 0;

    if (task_reads((enum task)draft->task, SHARED_MAP)) {
        char path[CONFIG_PATH_BYTES];
        const bool own = stage_has(drafting, index, "map");
        status = read_map(&map, drafting, own ? draft_path(path, "stages", index, "map") : DATA_MAP,
                          own ? &draft->map : &drafting->draft->data.map);
        if (status == STATUS_OK && map.kind == MAP_NONE && drafting->age != JOB_UP_TO_4 &&
            task_text((enum task)draft->task)->map != NULL) {
            map.kind = task_text((enum task)draft->task)->map(drafting, index);
        }
    } else if (!stage_has(drafting, index, "forecasters")) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = add_block(&at, schema, is_first, map);
    }
    if (status == STATUS_OK && task_reads((enum task)draft->task, SHARED_MAP)) {
        drafting->job->stage[index].schema = block_schema(schema, at);
        drafting->job->stage[index].has_own_map = stage_has(drafting, index, "map");
    }
    return status;
}

/* Whether some stage learns on the data section's map. */
static bool reads_data_map(const struct drafting *drafting)
{
    for (size_t i = 0; i < drafting->draft->stage_count; i++) {
        if (task_reads((enum task)draft_stage(drafting, i)->task, SHARED_MAP) &&
            !stage_has(drafting, i, "map")) {
            return true;
        }
    }
    return false;
}

/* Once all blocks are known. */
static void set_block(struct stage *stage, const struct schema *schema, bool learns)
{
    if (learns) {
        const int index = block_find(schema, &stage->schema.map);
        CHECK(index >= 0);
        stage->block = block_at(schema, (size_t)index);
    } else {
        const size_t all = schema_feature_count(schema);
        stage->schema = *schema;
        stage->block = (struct block){.count = all, .all = all};
    }
}

enum status job_maps_build(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    bool is_first = true;
    enum status status = STATUS_OK;

    if (config_has(drafting->config, DATA_MAP) && !reads_data_map(drafting)) {
        return config_refuse(drafting->config, drafting->why, DATA_MAP, "%s",
                             "is read by no stage, as none learns without a map of its own: "
                             "remove it");
    }
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        status = map_stage(drafting, i, &is_first);
    }
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        set_block(&job->stage[i], &job->schema,
                  task_reads((enum task)draft_stage(drafting, i)->task, SHARED_MAP));
    }
    return status;
}
