/* Exact statistics of records: the simulator holds all of them and may compute these. No deployment
 * has this file's figures, and each place that shows one says so. */

#include "cli/simulation.h"

#include "learn/dataset.h"
#include "learn/erm.h"
#include "learn/metrics.h"
#include "learn/model.h"
#include "report/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The pooled model's list is public, and its best is picked by looking at the held-out records: a
 * little more than anybody may do, in the rival's favour. */
static const double pooled_lambda[] = {0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01};

enum { POOLED_COUNT = sizeof pooled_lambda / sizeof pooled_lambda[0] };

struct judgement {
    struct dataset held;
    struct dataset *share; /* (agent_count), owned */
    struct dataset pooled;
    double *score; /* (held.record_count), owned */
};

static enum status read_share(struct simulation *simulation, struct dataset *data, const char *path)
{
    memset(data, 0, sizeof *data);
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        why_set(&simulation->why, "%s: %s", path, strerror(errno));
        return STATUS_IO;
    }
    enum status status =
        dataset_read(data, file, path, &simulation->job.schema, DATASET_LEARN, &simulation->why);
    (void)fclose(file);
    return status;
}

static enum status read_all(struct simulation *simulation, struct judgement *judgement)
{
    char path[SIMULATION_PATH_BYTES];
    const struct dataset *part[SIMULATION_AGENTS_MAX];
    enum status status = STATUS_OK;

    judgement->share = calloc(simulation->agent_count, sizeof *judgement->share);
    if (judgement->share == NULL || !simulation_path(simulation, path, "held-out.csv")) {
        return STATUS_NO_MEMORY;
    }
    status = read_share(simulation, &judgement->held, path);
    for (size_t i = 0; i < simulation->agent_count && status == STATUS_OK; i++) {
        part[i] = &judgement->share[i];
        if (!simulation_path(simulation, path, "agents/hospital-%zu/data.csv", i + 1)) {
            return STATUS_NO_MEMORY;
        }
        status = read_share(simulation, &judgement->share[i], path);
    }
    if (status == STATUS_OK) {
        status = dataset_concat(&judgement->pooled, part, simulation->agent_count);
    }
    if (status == STATUS_OK) {
        judgement->score = calloc(judgement->held.record_count + 1, sizeof *judgement->score);
        status = judgement->score == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    return status;
}

static enum status judge(const struct judgement *judgement, const double *weight, double *accuracy,
                         double *auc)
{
    metrics_scores(judgement->score, weight, &judgement->held);
    *accuracy = metrics_accuracy(judgement->score, &judgement->held);
    return metrics_auc(auc, judgement->score, &judgement->held);
}

static enum status judge_chosen(struct simulation *simulation, const struct judgement *judgement)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct model model;
    enum status status = STATUS_NO_MEMORY;

    memset(&model, 0, sizeof model);
    if (simulation_path(simulation, path, "coordinator/out/model.json")) {
        status = file_read(&text, &size, path, MODEL_FILE_BYTES_MAX, &simulation->why);
    }
    if (status == STATUS_OK) {
        status = model_from_json(&model, (struct slice){text, size}, path, &simulation->why);
    }
    if (status == STATUS_OK && model.weight_count != judgement->held.feature_count) {
        why_set(&simulation->why, "%s is a model of other features", path);
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        status =
            judge(judgement, model.weight, &simulation->result.accuracy, &simulation->result.auc);
    }
    model_free(&model);
    free(text);
    return status;
}

static enum status judge_experts(struct simulation *simulation, const struct judgement *judgement)
{
    enum status status = STATUS_OK;
    struct result *result = &simulation->result;
    for (size_t i = 0; i < result->expert_count && status == STATUS_OK; i++) {
        struct result_expert *expert = &result->expert[i];
        if (expert->model != NULL && result->feature_count == judgement->held.feature_count) {
            status = judge(judgement, expert->model, &expert->accuracy, &expert->auc);
        }
    }
    return status;
}

static enum status judge_pooled(struct simulation *simulation, const struct judgement *judgement)
{
    struct result *result = &simulation->result;
    double *weight = calloc(judgement->pooled.feature_count + 1, sizeof *weight);
    enum status status = weight == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    result->baseline.pooled_auc = -1.0;
    for (size_t i = 0; i < POOLED_COUNT && status == STATUS_OK; i++) {
        const struct erm_problem problem = {.loss = {.kind = LOSS_LOGISTIC},
                                            .lambda = pooled_lambda[i],
                                            .tolerance = 0.00002,
                                            .record_count = judgement->pooled.record_count,
                                            .feature_count = judgement->pooled.feature_count};
        double accuracy = NAN;
        double auc = NAN;
        status = erm_solve(weight, &problem, &judgement->pooled, &simulation->why);
        if (status == STATUS_OK) {
            status = judge(judgement, weight, &accuracy, &auc);
        }
        if (status == STATUS_OK && auc > result->baseline.pooled_auc) {
            result->baseline.pooled_accuracy = accuracy;
            result->baseline.pooled_auc = auc;
            result->baseline.pooled_lambda = pooled_lambda[i];
        }
    }
    free(weight);
    return status;
}

enum status simulation_judge(struct simulation *simulation)
{
    struct judgement judgement;
    enum status status;

    memset(&judgement, 0, sizeof judgement);
    status = read_all(simulation, &judgement);
    if (status == STATUS_OK) {
        simulation->result.baseline.majority = metrics_majority(&judgement.held);
        simulation->result.baseline.records_learn = judgement.pooled.record_count;
        simulation->result.baseline.records_held = judgement.held.record_count;
        status = judge_chosen(simulation, &judgement);
    }
    if (status == STATUS_OK) {
        status = judge_experts(simulation, &judgement);
    }
    if (status == STATUS_OK) {
        status = judge_pooled(simulation, &judgement);
    }
    for (size_t i = 0; judgement.share != NULL && i < simulation->agent_count; i++) {
        dataset_free(&judgement.share[i]);
    }
    free(judgement.share);
    free(judgement.score);
    dataset_free(&judgement.pooled);
    dataset_free(&judgement.held);
    return status;
}
