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
                job->stage_count <= JOB_STAGES_MAX && job->schema.column_count >= 1 &&
                strcmp(job->schema.label.positive, job->schema.label.negative) != 0;
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
