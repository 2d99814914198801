/* job_valid.h - what every job that job_parse lets through must be, written down a second time and
 * independently of the parser; for property tests and the fuzzer. */

#ifndef TESTS_JOB_VALID_H
#define TESTS_JOB_VALID_H

#include "job/reach.h"
#include "job/round.h"
#include "task/learn/stage.h"
#include "task/online/stage.h"
#include "task/predict/stage.h"
#include "task/select/stage.h"
#include "task/update/stage.h"

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

/* A stage sees all of the job's features, or those of one map: its own. */
static inline bool job_valid_block(const struct job *job, const struct stage *stage)
{
    const struct block block = stage->block;
    const int index = block_find(&job->schema, &stage->schema.map);
    if (block.count == block.all) {
        return block.first == 0 && block.all == schema_feature_count(&job->schema);
    }
    const struct block own = block_at(&job->schema, index >= 0 ? (size_t)index : 0);
    return index >= 0 && block.first == own.first && block.count == own.count &&
           block.all == own.all && block.count == schema_feature_count(&stage->schema);
}

static inline bool job_valid_shifts(const struct stage *stage)
{
    bool good = stage->shift_count <= JOB_SHIFTS_MAX;
    for (size_t i = 0; good && i < stage->shift_count; i++) {
        good = isfinite(stage->shift[i]) && stage->shift[i] != 0;
    }
    return good;
}

static inline bool job_valid_lambdas(const struct stage *stage)
{
    bool good = stage->strategy == STRATEGY_AVERAGE && stage->lambda != NULL &&
                stage->lambda_count >= 1 && stage->lambda_count <= JOB_LAMBDAS_MAX &&
                job_valid_shifts(stage);
    for (size_t i = 0; good && i < stage->lambda_count; i++) {
        good = isfinite(stage->lambda[i]) && stage->lambda[i] > 0;
    }
    return good;
}

static inline bool job_valid_fit(const struct stage *stage)
{
    return job_valid_lambdas(stage) && stage->loss.kind != LOSS_ZERO_ONE &&
           stage->rounds == stage->lambda_count && stage->tolerance > 0;
}

static inline bool job_valid_points(const struct stage *stage)
{
    const size_t d = stage->block.count;
    bool good = predict_stage(stage)->point_count >= 1 &&
                predict_stage(stage)->point_count <= JOB_POINTS_MAX;
    for (size_t i = 0; good && i < predict_stage(stage)->point_count; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            square +=
                predict_stage(stage)->point[i * d + j] * predict_stage(stage)->point[i * d + j];
        }
        good = square <= 1 + 1e-12 && predict_stage(stage)->point_name[i][0] != '\0';
    }
    return good;
}

/* experts: those there are when the stage begins. */
static inline bool job_valid_stage(const struct job *job, const struct stage *stage, size_t experts)
{
    const bool looks = stage->batch >= 1 && stage->batches >= 1;
    switch (stage->task) {
    case TASK_FIT:
        return job_valid_fit(stage);
    case TASK_PREDICT:
        return job_valid_fit(stage) && job_valid_points(stage);
    case TASK_STATISTICS:
        return job_valid_lambdas(stage) && stage->rounds == 1 && looks && !stage->experts_own;
    case TASK_QUERY:
        return looks && stage->batches == 1 && job->schema.keeps_raw;
    case TASK_SELECT:
        return looks && stage->batches == 1 &&
               (select_stage(stage)->among_experts ? experts >= 1 : job->schema.keeps_raw);
    case TASK_LOSSES:
        return looks && experts >= 1 &&
               (stage->strategy == STRATEGY_RWM || job->trust == TRUST_CENTRAL);
    case TASK_UPDATE:
        return looks && update_stage(stage)->gradient.clip > 0 &&
               stage->loss.kind != LOSS_ZERO_ONE && job_valid_shifts(stage) && !stage->experts_own;
    case TASK_LEARN:
        return looks && stage->loss.kind == LOSS_LOGISTIC && stage->batch_nano > 0 &&
               learn_stage(stage)->tune.steps >= 1 &&
               stage->rounds == learn_stage(stage)->tune.steps +
                                    (learn_stage(stage)->tune.sight != SIGHT_NONE ? 1 : 0);
    case TASK_ONLINE:
        return stage->loss.kind == LOSS_SQUARED && online_stage(stage)->stream.t0 >= 1;
    case TASK_COUNT:
        break;
    }
    return false;
}

/* The price of one round, and the sum of all pure ones. The filter judges the others. */
static inline bool job_valid_price(const struct job *job)
{
    const struct cost cost = round_cost(job, &job->filter, job_round_count(job));
    uint64_t spent = 0;
    bool pure = true;
    bool good = filter_admits(&job->filter, &cost);
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct charge *charge = &job->stage[i].charge;
        const uint64_t passes = reach_passes(job, &job->stage[i], job->stage[i].rounds);
        pure = pure && charge->mechanism == MECHANISM_PURE && charge->sampling_nano == 0;
        good =
            good && (charge->mechanism == MECHANISM_DISCRETE_GAUSSIAN ? charge->sigma_micro >= 1
                                                                      : charge->epsilon_micro >= 1);
        spent += charge->epsilon_micro * charge_count(charge) * passes;
    }
    return good && (!pure || spent <= job->epsilon_micro);
}

/* Every agent's answer, of how many records it may be, fits with its noise into the words that the text gives. */
static inline bool job_valid_words(const struct job *job, const struct stage *stage, size_t experts)
{
    const bool exact = job->trust == TRUST_CENTRAL;
    const bool gaussian = stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    const uint32_t distinct = round_distinct(stage) < 3 ? round_distinct(stage) : 3;
    bool good = true;
    for (uint32_t within = 0; within < distinct; within++) {
        const struct encode_form form = round_form(job, stage, within, experts, 1);
        const unsigned bytes = form.word_bytes;
        good = good && (form.shift == 0 || (bytes == 2 && !exact));
        if (job->trust == TRUST_DISTRIBUTED || bytes == 8) {
            good = good && bytes == 8;
            continue;
        }
        for (uint64_t times = 1; times <= 1000000; times *= 10) {
            const uint64_t records = times * job_records_min(job);
            const struct stage own = round_stage_at(stage, records);
            struct round_bounds bounds;
            if (round_bounds(&bounds, job, &own, within, records, experts, NULL) != STATUS_OK) {
                continue; /* such an agent declines */
            }
            const double price = gaussian ? 1e6 / (double)stage->charge.sigma_micro
                                          : 1e-6 * (double)stage->charge.epsilon_micro;
            const double noise = exact ? 0 : 60 * (double)bounds.sensitivity / price;
            const double most = fmax(-(double)bounds.low, (double)bounds.high);
            good = good && (bytes == 2 || bytes == 4) &&
                   most + noise < ldexp(1, 8 * (int)bytes - 1 + (int)form.shift);
            /* 60 scales; a step is at most a sixteenth of one */
            good = good &&
                   (form.shift == 0 || ldexp(1, (int)form.shift) <= noise / 60 / 16 * (1 + 1e-9));
        }
    }
    return good;
}

static inline bool job_is_valid(const struct job *job)
{
    bool good = job->name[0] != '\0' && job->epsilon_micro > 0 && job->cohort_min >= 1 &&
                job->deadline_ms > 0 && job->join_deadline_ms > 0 && job->stage_count >= 1 &&
                job->stage_count <= JOB_STAGES_MAX &&
                job->schema.column_count + job->schema.lag_count >= 1 &&
                job_valid_label(&job->schema.label) && job_valid_series(&job->schema) &&
                block_count(&job->schema) <= JOB_STAGES_MAX;
    for (size_t i = 0; good && i < block_count(&job->schema); i++) {
        const struct schema one = block_schema(&job->schema, i);
        good = job_valid_map(&one) && block_find(&job->schema, &one.map) == (int)i;
    }
    for (size_t i = 0; good && i < job->schema.column_count; i++) {
        good = job_valid_column(&job->schema, i);
    }
    for (size_t i = 0; good && i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        good = stage->rounds >= 1 && stage->grid_bits <= 40 && job_valid_block(job, stage) &&
               job_valid_stage(job, stage, job_experts_at(job, i, 1)) &&
               job_valid_words(job, stage, job_experts_at(job, i, 1));
    }
    return good && job_valid_price(job);
}

#endif
