/* job_valid.h - what every job that job_parse lets through must be, written down a second time and
 * independently of the parser; for property tests and the fuzzer. */

#ifndef TESTS_JOB_VALID_H
#define TESTS_JOB_VALID_H

#include "job/job.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static inline bool job_valid_column(const struct schema *schema, size_t index)
{
    const struct column *column = &schema->column[index];
    bool good = column->name[0] != '\0' && strcmp(column->name, schema->label.name) != 0;
    for (size_t i = 0; i < index; i++) {
        good = good && strcmp(schema->column[i].name, column->name) != 0;
    }
    if (column->kind == COLUMN_NUMBER) {
        good = good && isfinite(column->centre) && isfinite(column->half_width) &&
               column->half_width > 0 && column->category_count == 0;
        return good && (!column->has_missing || isfinite(column->missing));
    }
    good = good && column->kind == COLUMN_CATEGORY && column->category_count >= 2 &&
           column->category_count <= SCHEMA_CATEGORIES_MAX;
    return good && (!column->has_missing ||
                    (column->missing >= 0 && column->missing < (double)column->category_count));
}

static inline bool job_valid_label(const struct label *label)
{
    bool good = label->name[0] != '\0';
    if (label->kind == LABEL_SIGN) {
        return good && label->positive[0] != '\0' && label->negative[0] != '\0' &&
               strcmp(label->positive, label->negative) != 0;
    }
    if (label->kind == LABEL_NUMBER) {
        return good && isfinite(label->centre) && isfinite(label->half_width) &&
               label->half_width > 0;
    }
    good = good && label->kind == LABEL_CLASSES && label->class_count >= 3 &&
           label->class_count <= SCHEMA_CATEGORIES_MAX;
    for (size_t i = 0; good && i < label->class_count; i++) {
        for (size_t j = 0; good && j < i; j++) {
            good = strcmp(label->class_name[i], label->class_name[j]) != 0;
        }
    }
    return good;
}

static inline bool job_valid_series(const struct schema *schema)
{
    bool good = schema->lag_count <= SCHEMA_LAGS_MAX &&
                (schema->lag_count == 0 || schema->label.kind == LABEL_NUMBER);
    for (size_t i = 0; good && i < schema->lag_count; i++) {
        good = schema->lag[i] >= 1 && schema->lag[i] <= SCHEMA_LAG_MAX &&
               (i == 0 || schema->lag[i] > schema->lag[i - 1]);
    }
    return good;
}

static inline bool job_valid_map(const struct schema *schema)
{
    const struct feature_map *map = &schema->map;
    if (map->kind == MAP_NONE) {
        return map->landmark == NULL;
    }
    bool good = (map->kernel.kind == KERNEL_GAUSSIAN || map->kernel.kind == KERNEL_LAPLACIAN) &&
                isfinite(map->kernel.rate) && map->kernel.rate > 0;
    if (map->kind == MAP_FOURIER) {
        return good && map->feature_count >= 2 && map->feature_count % 2 == 0 &&
               map->landmark == NULL;
    }
    good = good && map->kind == MAP_NYSTROM && map->landmark_count >= 1;
    for (size_t i = 0; good && i < map->landmark_count * schema_value_count(schema); i++) {
        good = isfinite(map->landmark[i]);
    }
    return good;
}

static inline bool job_valid_fit(const struct stage *stage)
{
    bool good = stage->strategy == STRATEGY_AVERAGE && stage->lambda != NULL &&
                stage->loss.kind != LOSS_ZERO_ONE && stage->rounds <= JOB_LAMBDAS_MAX &&
                stage->tolerance > 0 && stage->shift_count <= JOB_SHIFTS_MAX;
    for (uint32_t i = 0; good && i < stage->rounds; i++) {
        good = isfinite(stage->lambda[i]) && stage->lambda[i] > 0;
    }
    for (size_t i = 0; good && i < stage->shift_count; i++) {
        good = isfinite(stage->shift[i]) && stage->shift[i] != 0;
    }
    return good;
}

static inline bool job_is_valid(const struct job *job)
{
    uint64_t spent = 0;
    bool fitted = false;
    bool good = job->name[0] != '\0' && job->epsilon_micro > 0 && job->cohort_min >= 1 &&
                job->deadline_ms > 0 && job->join_deadline_ms > 0 && job->stage_count >= 1 &&
                job->stage_count <= JOB_STAGES_MAX &&
                job->schema.column_count + job->schema.lag_count >= 1 &&
                job_valid_label(&job->schema.label) && job_valid_series(&job->schema) &&
                job_valid_map(&job->schema);
    for (size_t i = 0; good && i < job->schema.column_count; i++) {
        good = job_valid_column(&job->schema, i);
    }
    for (size_t i = 0; good && i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        uint64_t answer = stage->charge.epsilon_micro;
        good = stage->rounds >= 1 && answer >= 1 && stage->grid_bits <= 40;
        if (stage->task == TASK_FIT) {
            fitted = true;
            good = good && job_valid_fit(stage);
            spent += answer * stage->rounds;
        } else if (stage->task == TASK_QUERY || stage->task == TASK_SELECT) {
            good = good && stage->batch >= 1 && stage->batches == 1 && job->schema.keeps_raw;
            spent += answer * stage->rounds;
        } else {
            good = good && stage->task == TASK_LOSSES && fitted && stage->batch >= 1 &&
                   stage->strategy == STRATEGY_RWM;
            spent += answer;
        }
    }
    return good && spent <= job->epsilon_micro;
}

#endif
