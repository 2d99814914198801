/* Exact statistics of records: the simulator holds all of them and may compute these. No deployment
 * has this file's figures, and each place that shows one says so. */

#include "cli/simulation.h"

#include "learn/blocks.h"
#include "learn/dataset.h"
#include "learn/metrics.h"
#include "learn/model.h"
#include "learn/rival.h"
#include "report/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    struct loss loss; /* job_loss */
    struct dataset held;
    struct dataset *held_part; /* (simulation_held_files), owned */
    struct dataset *share;     /* (agent_count), owned */
    struct dataset pooled;
    double *score; /* (held.record_count, outputs), owned */
};

enum status simulation_read(struct simulation *simulation, struct dataset *data, const char *path)
{
    memset(data, 0, sizeof *data);
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        why_set(&simulation->why, "%s: %s", path, strerror(errno));
        return STATUS_IO;
    }
    enum status status =
        dataset_read(data, file, path, &simulation->job.schema,
                     &(struct dataset_options){.use = DATASET_LEARN}, &simulation->why);
    (void)fclose(file);
    return status;
}

static enum status read_all(struct simulation *simulation, struct judgement *judgement)
{
    char path[SIMULATION_PATH_BYTES];
    const struct dataset *part[SIMULATION_AGENTS_MAX];
    const size_t held = simulation_held_files(simulation);
    enum status status = STATUS_OK;

    judgement->share = calloc(simulation->agent_count, sizeof *judgement->share);
    judgement->held_part = calloc(held, sizeof *judgement->held_part);
    if (judgement->share == NULL || judgement->held_part == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < held && status == STATUS_OK; i++) {
        part[i] = &judgement->held_part[i];
        status = simulation_held_path(simulation, path, i)
                     ? simulation_read(simulation, &judgement->held_part[i], path)
                     : STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        status = dataset_concat(&judgement->held, part, held);
    }
    for (size_t i = 0; i < simulation->agent_count && status == STATUS_OK; i++) {
        char name[CHILD_NAME_BYTES];
        part[i] = &judgement->share[i];
        simulation_agent_name(simulation, name, i);
        if (!simulation_path(simulation, path, "agents/%s/data.csv", name)) {
            return STATUS_NO_MEMORY;
        }
        status = simulation_read(simulation, &judgement->share[i], path);
    }
    if (status == STATUS_OK) {
        status = dataset_concat(&judgement->pooled, part, simulation->agent_count);
    }
    if (status == STATUS_OK) {
        judgement->score =
            calloc(judgement->held.record_count * judgement->outputs + 1, sizeof *judgement->score);
        status = judgement->score == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    return status;
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
static enum status widen(double *weight, const struct simulation *simulation,
                         const struct judgement *judgement, const struct model *model)
{
    const struct schema *schema = &simulation->job.schema;
    const int index = block_find(schema, &model->schema.map);
    if (index < 0) {
        return STATUS_CORRUPT;
    }
    const struct block block = block_at(schema, (size_t)index);
    if (model->weight_count != judgement->outputs * block.count) {
        return STATUS_CORRUPT;
    }
    block_widen(weight, judgement->outputs, block, model->weight);
    return STATUS_OK;
}

static enum status judge_chosen(struct simulation *simulation, const struct judgement *judgement)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct model model;
    struct result *result = &simulation->result;
    double *weight = calloc(judgement->held.feature_count * judgement->outputs, sizeof *weight);
    enum status status = STATUS_NO_MEMORY;

    memset(&model, 0, sizeof model);
    if (weight != NULL && simulation_path(simulation, path, "coordinator/out/model.json")) {
        status = file_read(&text, &size, path, MODEL_FILE_BYTES_MAX, &simulation->why);
    }
    if (status == STATUS_OK) {
        status = model_from_json(&model, (struct slice){text, size}, path, &simulation->why);
    }
    if (status == STATUS_OK) {
        status = widen(weight, simulation, judgement, &model);
    }
    if (status == STATUS_CORRUPT) {
        why_set(&simulation->why, "%s is a model of other features", path);
    }
    if (status == STATUS_OK) {
        struct figures figures;
        status = judge(&figures, judgement, weight);
        result->accuracy = figures.accuracy;
        result->auc = figures.auc;
        result->error.root_mean_square = figures.root_mean_square;
        result->error.mean_absolute = figures.mean_absolute;
        result->error.pinball = figures.pinball;
        if (status == STATUS_OK) {
            status = simulation_forecast(simulation, judgement->held_part, weight);
        }
    }
    model_free(&model);
    free(weight);
    free(text);
    return status;
}

static enum status judge_experts(struct simulation *simulation, const struct judgement *judgement)
{
    enum status status = STATUS_OK;
    struct result *result = &simulation->result;
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
static enum status judge_block(struct simulation *simulation, const struct judgement *judgement,
                               struct block block, double *loss)
{
    struct result *result = &simulation->result;
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

static enum status judge_pooled(struct simulation *simulation, const struct judgement *judgement)
{
    const struct schema *schema = &simulation->job.schema;
    double loss = INFINITY;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < block_count(schema) && status == STATUS_OK; i++) {
        status = judge_block(simulation, judgement, block_at(schema, i), &loss);
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

static void find_loss(struct judgement *judgement, const struct job *job)
{
    judgement->label = &job->schema.label;
    judgement->outputs = schema_output_count(&job->schema);
    judgement->loss = job_loss(job);
}

enum status simulation_judge(struct simulation *simulation)
{
    struct judgement judgement;
    enum status status;

    memset(&judgement, 0, sizeof judgement);
    find_loss(&judgement, &simulation->job);
    status = read_all(simulation, &judgement);
    const bool has_model = simulation->result.chosen != RESULT_NONE;
    if (status == STATUS_OK) {
        simulation->result.baseline.records_learn = judgement.pooled.record_count;
        simulation->result.baseline.records_held = judgement.held.record_count;
    }
    if (status == STATUS_OK && has_model) {
        judge_nothing(&simulation->result, &judgement);
        status = judge_chosen(simulation, &judgement);
    }
    if (status == STATUS_OK && has_model) {
        status = judge_experts(simulation, &judgement);
    }
    if (status == STATUS_OK && has_model) {
        status = judge_pooled(simulation, &judgement);
    }
    for (size_t i = 0; judgement.share != NULL && i < simulation->agent_count; i++) {
        dataset_free(&judgement.share[i]);
    }
    for (size_t i = 0; judgement.held_part != NULL && i < simulation_held_files(simulation); i++) {
        dataset_free(&judgement.held_part[i]);
    }
    free(judgement.held_part);
    free(judgement.share);
    free(judgement.score);
    dataset_free(&judgement.pooled);
    dataset_free(&judgement.held);
    return status;
}
