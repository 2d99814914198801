/* Exact statistics of records: the simulator holds all of them and may compute these. No deployment
 * has this file's figures, and each place that shows one says so. */

#include "cli/simulation.h"

#include "learn/blocks.h"
#include "learn/metrics.h"
#include "learn/model.h"
#include "learn/rival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORECASTS_MAX = 4, FORECAST_DAYS = 56 };

/* What fits the label's kind; the rest is NAN. Errors are in the label's own unit. */
struct figures {
    double accuracy;
    double auc;
    double root_mean_square;
    double mean_absolute;
    double pinball;
};

struct judgement {
    const struct label *label;
    size_t outputs;
    struct loss loss;      /* job_loss */
    struct dataset held;   /* all of them */
    struct dataset pooled; /* all shares */
    double *score;         /* (held.record_count, outputs), owned */
};

static enum status gather(struct dataset *all, const struct dataset *part, size_t count)
{
    const struct dataset *parts[SIMULATION_AGENTS_MAX];
    for (size_t i = 0; i < count; i++) {
        parts[i] = &part[i];
    }
    return dataset_concat(all, parts, count);
}

static enum status judge(struct figures *figures, const struct judgement *judgement,
                         const double *weight)
{
    const struct dataset *held = &judgement->held;
    const double unit = judgement->label->half_width;
    double *score = judgement->score;
    *figures = (struct figures){NAN, NAN, NAN, NAN, NAN};
    metrics_class_scores(score, weight, judgement->outputs, held);
    switch (judgement->label->kind) {
    case LABEL_SIGN:
        figures->accuracy = metrics_accuracy(score, held);
        return metrics_auc(&figures->auc, score, held);
    case LABEL_CLASSES:
        figures->accuracy = metrics_class_accuracy(score, judgement->outputs, held);
        break;
    case LABEL_NUMBER:
        figures->root_mean_square = unit * metrics_root_mean_square(score, held);
        figures->mean_absolute = unit * metrics_mean_absolute(score, held);
        if (judgement->loss.kind == LOSS_PINBALL) {
            figures->pinball = unit * metrics_pinball(score, judgement->loss.parameter, held);
        }
        break;
    }
    return STATUS_OK;
}

/* The file's model has one map: its weights among all of the job's features. */
static enum status widen(double *weight, const struct schema *schema, size_t outputs,
                         const struct model *model)
{
    const int index = block_find(schema, &model->schema.map);
    if (index < 0) {
        return STATUS_CORRUPT;
    }
    const struct block block = block_at(schema, (size_t)index);
    if (model->weight_count != outputs * block.count) {
        return STATUS_CORRUPT;
    }
    block_widen(weight, outputs, block, model->weight);
    return STATUS_OK;
}

/* The chosen model beside the truth on the last days of a stream. */
static enum status tell(struct result_forecast *forecast, const struct label *label,
                        const struct dataset *held, const double *weight)
{
    const size_t days = held->record_count < FORECAST_DAYS ? held->record_count : FORECAST_DAYS;
    const size_t first = held->record_count - days;
    double *score = result_numbers(held->record_count);
    forecast->truth = result_numbers(days);
    forecast->told = result_numbers(days);
    if (score == NULL || forecast->truth == NULL || forecast->told == NULL) {
        free(score);
        return STATUS_NO_MEMORY;
    }
    forecast->day_count = days;
    metrics_class_scores(score, weight, 1, held);
    for (size_t i = 0; i < days; i++) {
        const double said = fmin(fmax(score[first + i], -1), 1);
        forecast->truth[i] = label->centre + label->half_width * held->y[first + i];
        forecast->told[i] = label->centre + label->half_width * said;
    }
    free(score);
    return STATUS_OK;
}

static enum status tell_streams(struct result *result, const struct simulation_plan *plan,
                                const struct simulation_records *records, const double *weight)
{
    const size_t streams = plan->asked.streams_path != NULL ? plan->agent_count : 0;
    enum status status =
        result_reserve(result, "forecasts", streams < FORECASTS_MAX ? streams : FORECASTS_MAX);
    for (size_t i = 0; status == STATUS_OK && i < result->forecast_count; i++) {
        struct result_forecast *forecast = &result->forecast[i];
        (void)snprintf(forecast->stream, sizeof forecast->stream, "%s", plan->agent[i].name);
        status = tell(forecast, &plan->job.schema.label, &records->held[i], weight);
    }
    return status;
}

enum status simulation_chosen(double *weight, const struct simulation_plan *plan, size_t outputs,
                              struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    struct model model;
    memset(&model, 0, sizeof model);
    simulation_path(path, plan->asked.out, "coordinator/out/model.json");
    enum status status = model_load(&model, path, why);
    if (status == STATUS_OK) {
        status = widen(weight, &plan->job.schema, outputs, &model);
    }
    if (status == STATUS_CORRUPT) {
        why_set(why, "%s is a model of other features", path);
    }
    model_free(&model);
    return status;
}

static enum status judge_chosen(struct result *result, const struct judgement *judgement,
                                const struct simulation_plan *plan,
                                const struct simulation_records *records, struct why *why)
{
    struct figures figures;
    double *weight = calloc(judgement->held.feature_count * judgement->outputs, sizeof *weight);
    enum status status = weight == NULL ? STATUS_NO_MEMORY
                                        : simulation_chosen(weight, plan, judgement->outputs, why);
    if (status == STATUS_OK) {
        status = judge(&figures, judgement, weight);
    }
    if (status == STATUS_OK) {
        result->accuracy = figures.accuracy;
        result->auc = figures.auc;
        result->error.root_mean_square = figures.root_mean_square;
        result->error.mean_absolute = figures.mean_absolute;
        result->error.pinball = figures.pinball;
        status = tell_streams(result, plan, records, weight);
    }
    free(weight);
    return status;
}

static enum status judge_experts(struct result *result, const struct judgement *judgement)
{
    enum status status = STATUS_OK;
    const size_t width = judgement->held.feature_count * judgement->outputs;
    for (size_t i = 0; i < result->expert_count && status == STATUS_OK; i++) {
        struct result_expert *expert = &result->expert[i];
        if (expert->model != NULL && result->feature_count == width) {
            struct figures figures;
            status = judge(&figures, judgement, expert->model);
            expert->accuracy = figures.accuracy;
            expert->auc = figures.auc;
        }
    }
    return status;
}

/* Fits all records on the features of one of the job's maps, and judges the model if its cross-validated
 * loss is below that of the maps before (loss). The records held out choose nothing. */
static enum status judge_block(struct result *result, const struct judgement *judgement,
                               struct block block, double *loss)
{
    struct dataset pooled = {.record_count = 0};
    const struct rival_problem problem = {
        .kind = judgement->label->kind, .outputs = judgement->outputs, .data = &pooled};
    struct figures figures;
    double lambda = 0;
    double own = 0;
    double *weight = calloc(judgement->outputs * block.count, sizeof *weight);
    double *wide = calloc(judgement->outputs * block.all, sizeof *wide);
    enum status status = weight == NULL || wide == NULL
                             ? STATUS_NO_MEMORY
                             : block_dataset(&pooled, &judgement->pooled, block);

    if (status == STATUS_OK) {
        status = rival_best(weight, &lambda, &own, &problem);
    }
    if (status == STATUS_OK && own < *loss) {
        *loss = own;
        block_widen(wide, judgement->outputs, block, weight);
        status = judge(&figures, judgement, wide);
        result->baseline.pooled_accuracy = figures.accuracy;
        result->baseline.pooled_auc = figures.auc;
        result->baseline.pooled_lambda = lambda;
        result->error.pooled = figures.root_mean_square;
    }
    dataset_free(&pooled);
    free(wide);
    free(weight);
    return status;
}

static enum status judge_pooled(struct result *result, const struct judgement *judgement,
                                const struct schema *schema)
{
    double loss = INFINITY;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < block_count(schema) && status == STATUS_OK; i++) {
        status = judge_block(result, judgement, block_at(schema, i), &loss);
    }
    return status;
}

/* What needs no model: the more frequent class, or the records' own mean. */
static void judge_nothing(struct result *result, const struct judgement *judgement)
{
    const struct dataset *held = &judgement->held;
    const double count = (double)held->record_count;
    double sum = 0;
    double squares = 0;
    if (judgement->label->kind != LABEL_NUMBER) {
        result->baseline.majority = metrics_majority(held);
        return;
    }
    for (size_t i = 0; i < held->record_count; i++) {
        sum += held->y[i];
        squares += held->y[i] * held->y[i];
    }
    const double variance = fmax(squares / count - sum / count * (sum / count), 0);
    result->error.constant = judgement->label->half_width * sqrt(variance);
}

enum status simulation_judge(struct result *result, const struct simulation_plan *plan,
                             const struct simulation_records *records, struct why *why)
{
    const struct schema *schema = &plan->job.schema;
    struct judgement judgement = {.label = &schema->label,
                                  .outputs = schema_output_count(schema),
                                  .loss = job_loss(&plan->job)};
    enum status status = gather(&judgement.held, records->held, plan->held_files);
    if (status == STATUS_OK) {
        status = gather(&judgement.pooled, records->share, plan->agent_count);
    }
    if (status == STATUS_OK) {
        result->baseline.records_learn = judgement.pooled.record_count;
        result->baseline.records_held = judgement.held.record_count;
        judgement.score =
            calloc(judgement.held.record_count * judgement.outputs + 1, sizeof *judgement.score);
        status = judgement.score == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (status == STATUS_OK && result->chosen != RESULT_NONE) {
        judge_nothing(result, &judgement);
        status = judge_chosen(result, &judgement, plan, records, why);
        if (status == STATUS_OK) {
            status = judge_experts(result, &judgement);
        }
        if (status == STATUS_OK) {
            status = judge_pooled(result, &judgement, schema);
        }
    }
    free(judgement.score);
    dataset_free(&judgement.pooled);
    dataset_free(&judgement.held);
    return status;
}
