/* `predict`: the answers of kernel models that stayed at home, averaged. What is released is q numbers
 * for every model; linear models that follow them at the public points ("distilled") are experts that
 * any agent can judge. The released sum stays in the record, for the report. */

#include "task/close.h"
#include "dp/encode.h"
#include "learn/distil.h"
#include "task/predict/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double doubt = 0.05; /* of each bar */

/* One expert w (outputs, d) from answers (outputs, q) whose noise has this deviation. */
static enum status follow(double *w, const struct closing *closing, const double *answer,
                          double deviation)
{
    const struct stage *stage = closing->stage;
    const struct schema *schema = &stage->schema;
    const struct distil problem = {.point = predict_stage(stage)->point,
                                   .point_count = predict_stage(stage)->point_count,
                                   .feature_count = schema_feature_count(schema),
                                   .deviation = deviation};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < schema_output_count(schema); i++) {
        status = distil(w + i * problem.feature_count, &problem, answer + i * problem.point_count);
    }
    return status;
}

/* Unit: the answer's. */
static double deviation_of(const struct closing *closing, uint32_t draws)
{
    const struct query_noise noise =
        closing_noise(closing->outcome, closing->job, closing->stage, closing->within, draws);
    return ldexp(query_noise_deviation(&noise), -(int)closing->stage->grid_bits);
}

/* The average's, its moved thresholds, the agents' own. answer: in the mean, out: of no use. */
static enum status make_rows(double *rows, size_t row_count, const struct closing *closing,
                             double *answer)
{
    const struct stage *stage = closing->stage;
    const size_t s = round_stage_width(stage);
    const uint32_t agent_count = closing->record->as.round.agent_count;
    size_t row = 1 + stage->shift_count;

    enum status status =
        follow(rows, closing, answer, deviation_of(closing, agent_count) / agent_count);
    if (status == STATUS_OK) {
        closing_shift(rows, closing);
    }
    for (size_t i = 0; status == STATUS_OK && row < row_count && i < closing->own_count;
         i++, row++) {
        for (size_t j = 0; j < closing->count; j++) {
            answer[j] = decode_value(closing->own[i].step[j], stage->grid_bits);
        }
        status = follow(rows + row * s, closing, answer, deviation_of(closing, 1));
    }
    return status;
}

static enum status close(struct closing *closing)
{
    const uint32_t agent_count = closing->record->as.round.agent_count;
    const size_t row_count = job_experts_of_round(closing->stage, agent_count);
    double *mean = malloc(closing->count * sizeof *mean);
    double *rows = malloc(row_count * round_stage_width(closing->stage) * sizeof *rows);
    enum status status = mean == NULL || rows == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < closing->count; i++) {
        mean[i] =
            ldexp((double)closing->sum[i], -(int)closing->stage->grid_bits) / (double)agent_count;
    }
    if (status == STATUS_OK) {
        status = make_rows(rows, row_count, closing, mean);
    }
    free(mean);
    if (status != STATUS_OK) {
        free(rows);
        return status;
    }
    closing_keep_sum(closing);
    closing->record->as.round.chosen = (uint32_t)closing->outcome->expert_count;
    return closing_keep_rows(closing, rows, row_count);
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const uint32_t agent_count = record->as.round.agent_count;
    struct outcome_expert *expert = NULL;

    if (agent_count == 0 ||
        record->as.round.sum_count != round_answer_count(job, stage, within, 0)) {
        return STATUS_CORRUPT;
    }
    enum status status =
        outcome_add_experts(&expert, outcome, job_experts_of_round(stage, agent_count), blob);
    if (status == STATUS_OK) {
        closing_name_fits(expert, stage, within, record, "distilled, ");
    }
    return status;
}

/* "lambda 0.1, class 2: 70, F" */
static void name_answer(char name[static QUERY_NAME_BYTES], const struct job *job,
                        const struct stage *stage, uint32_t within, size_t index)
{
    const struct label *label = &job->schema.label;
    const char *class_name = label->kind == LABEL_SIGN ? label->positive
                             : label->kind == LABEL_CLASSES
                                 ? label->class_name[index / predict_stage(stage)->point_count]
                                 : "";
    (void)snprintf(name, QUERY_NAME_BYTES, "lambda %g, %s%s%s: %s", stage->lambda[within],
                   label->name, class_name[0] != '\0' ? " " : "", class_name,
                   predict_stage(stage)->point_name[index % predict_stage(stage)->point_count]);
}

static double within_range(double value, double centre, double width)
{
    return fmin(fmax(value, centre - width), centre + width);
}

/* Scores lie in -1 .. 1; a number's are told in the label's own unit. */
static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    const struct label *label = &job->schema.label;
    const bool number = label->kind == LABEL_NUMBER;
    const double centre = number ? label->centre : 0;
    const double width = number ? label->half_width : 1;
    const double agents = (double)record->as.round.agent_count;
    uint32_t within;
    (void)job_stage_of(job, record->as.round.round, &within);
    const struct query_noise noise =
        closing_noise(outcome, job, stage, within, record->as.round.agent_count);
    const double step = width * ldexp(1, -(int)stage->grid_bits) / agents;
    const double bar = step * query_noise_bar(&noise, 0, doubt);

    round->answer = calloc(record->as.round.sum_count, sizeof *round->answer);
    if (round->answer == NULL) {
        return STATUS_NO_MEMORY;
    }
    round->answer_count = record->as.round.sum_count;
    for (size_t i = 0; i < round->answer_count; i++) {
        struct query_answer *answer = &round->answer[i];
        const double raw = centre + step * (double)record->as.round.sum[i];
        name_answer(answer->name, job, stage, within, i);
        (void)snprintf(answer->unit, sizeof answer->unit, "%s", number ? label->name : "score");
        answer->value = within_range(raw, centre, width);
        answer->error = step * query_noise_deviation(&noise);
        answer->low = within_range(raw - bar, centre, width);
        answer->high = within_range(raw + bar, centre, width);
        answer->sampling = NAN;
        answer->total_low = NAN;
        answer->total_high = NAN;
        answer->records = NAN;
    }
    return STATUS_OK;
}

const struct task_close task_close_predict = {
    .close = close, .add = add, .describe = describe, .is_shown = true};
