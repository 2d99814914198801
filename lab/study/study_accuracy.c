/* Accuracy and AUC on held-out records against epsilon, by trust and method, beside the model that all
 * records in one place would give. Tables, features and the settings of the gradient rounds are those
 * of the job files that are shipped; each method has the whole epsilon for itself. */

#include "lab/study/study.h"

#include "config/config.h"
#include "job/job.h"
#include "lab/study/study_update.h"
#include "task/update/stage.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, RUNS = 20, EPSILONS = 7, ONE = 3, METHODS = 8, TABLES = 2, TEXT = 32 };

/* Times as many runs where there is a target; times less epsilon when planted. */
enum { MORE = 5, PLANTED = 50 };

static const double epsilons[EPSILONS] = {0.1, 0.25, 0.5, 1, 2, 4, 8};

static const struct {
    enum study_method method;
    bool gaussian;
    bool local;
    const char *file; /* the job that has its settings */
    const char *name;
} methods[METHODS] = {
    {STUDY_UPDATE, false, true, "update-local", "update, local, Laplace"},
    {STUDY_UPDATE, false, false, "update-central", "update, central, Laplace"},
    {STUDY_UPDATE, true, false, "update-gaussian", "update, central, Gaussian"},
    {STUDY_STATISTICS, false, true, "update-local", "statistics, local, Laplace"},
    {STUDY_STATISTICS, false, false, "update-central", "statistics, central, Laplace"},
    {STUDY_STATISTICS, true, false, "update-gaussian", "statistics, central, Gaussian"},
    {STUDY_FIT, false, true, "update-local", "fit, local, Laplace"},
    {STUDY_FIT, false, false, "update-central", "fit, central, Laplace"}};

/* What must be reached at epsilon 1; AUC 0: nothing. Lambdas are public choices. */
static const struct {
    const char *name;
    const char *question;
    const char *folder;
    const char *table;
    double fit_lambda;
    double pooled_lambda;
    double accuracy[3]; /* of the first three methods */
    double auc[3];
} tables[TABLES] = {{"flchain",
                     "7,874 patients: who died?",
                     "hospitals",
                     "flchain.csv",
                     0.005,
                     0.0001,
                     {0.80, 0.807, 0.814},
                     {0.825, 0.833, 0.838}},
                    {"wdbc",
                     "569 tumours: which are malignant?",
                     "tumours",
                     "wdbc.csv",
                     0.1,
                     0.001,
                     {0.93, 0.94, 0.94},
                     {0, 0, 0}}};

static enum status load(struct job *job, struct dataset *data, const struct study_request *request,
                        size_t table, const char *file, struct why *why)
{
    char path[PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    memset(job, 0, sizeof *job);
    memset(data, 0, sizeof *data);
    int length =
        snprintf(path, sizeof path, "%s/%s/%s.yml", request->compose, tables[table].folder, file);
    enum status status = length < 0 || length >= PATH_BYTES
                             ? why_refuse(why, "--compose: the path is too long")
                             : config_load(&text, &size, path, why);
    if (status == STATUS_OK) {
        status = job_parse(job, (struct slice){text, size}, path, why);
    }
    if (status == STATUS_OK &&
        (job->stage_count != 1 || job->stage[0].task != TASK_UPDATE ||
         job->schema.label.kind != LABEL_SIGN || schema_is_series(&job->schema))) {
        status = why_refuse(why, "%s: the study wants one update stage, and two classes", path);
    }
    (void)snprintf(path, sizeof path, "%s/%s/%s", request->compose, tables[table].folder,
                   tables[table].table);
    FILE *stream = status == STATUS_OK ? fopen(path, "rbe") : NULL;
    if (status == STATUS_OK && stream == NULL) {
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        status = STATUS_NOT_FOUND;
    }
    if (stream != NULL) {
        status = dataset_read(data, stream, path, &job->schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, why);
        (void)fclose(stream);
    }
    free(text);
    return status;
}

static struct study_training training_of(size_t method, size_t table, const struct job *job,
                                         double epsilon)
{
    return (struct study_training){
        .method = methods[method].method,
        .gradient = update_stage(&job->stage[0])->gradient,
        .optimiser = update_stage(&job->stage[0])->optimiser,
        .lambda = methods[method].method == STUDY_FIT ? tables[table].fit_lambda : 0,
        .gaussian = methods[method].gaussian,
        .local = methods[method].local,
        .epsilon_micro = (uint64_t)rint(1e6 * epsilon),
        .delta_atto = DELTA_ATTO_ONE / 100000};
}

/* Two charts of one table. */
struct charts {
    struct study_chart *accuracy;
    struct study_chart *auc;
};

static struct charts open_charts(struct study *study, size_t table)
{
    struct charts charts;
    struct study_chart words = {.x_title = "epsilon: less is more private", .x_log = true};
    (void)snprintf(words.text, sizeof words.text,
                   "%s Five equal sites; the pooled model has no privacy.", tables[table].question);
    (void)snprintf(words.title, sizeof words.title, "%s: accuracy", tables[table].name);
    (void)snprintf(words.y_title, sizeof words.y_title, "held-out accuracy");
    charts.accuracy = study_chart(study, &words);
    (void)snprintf(words.title, sizeof words.title, "%s: AUC", tables[table].name);
    (void)snprintf(words.y_title, sizeof words.y_title, "held-out AUC");
    charts.auc = study_chart(study, &words);
    return charts;
}

static void add_row(struct study *study, size_t table, const char *method, const char *epsilon,
                    const struct study_quality *quality)
{
    char text[4][TEXT];
    (void)snprintf(text[0], TEXT, "%.4f", quality->accuracy);
    (void)snprintf(text[1], TEXT, "%.4f", quality->accuracy_error);
    (void)snprintf(text[2], TEXT, "%.4f", quality->auc);
    (void)snprintf(text[3], TEXT, "%.4f", quality->auc_error);
    study_row(&study->table, 7,
              (const char *const[]){tables[table].name, method, epsilon, text[0], text[1], text[2],
                                    text[3]});
}

static uint64_t runs_of(const struct study_request *request)
{
    return request->runs == 0 ? RUNS : request->runs;
}

static enum status curve(struct study *study, struct charts charts, size_t table, size_t method,
                         struct study_quality *at_one, const struct study_request *request,
                         struct why *why)
{
    struct study_series *accuracy =
        study_series(charts.accuracy, STUDY_MEASURED, (unsigned)method, methods[method].name);
    struct study_series *auc =
        study_series(charts.auc, STUDY_MEASURED, (unsigned)method, methods[method].name);
    struct job job;
    struct dataset data;
    enum status status = load(&job, &data, request, table, methods[method].file, why);
    for (size_t i = 0; i < EPSILONS && status == STATUS_OK; i++) {
        const struct study_training training = training_of(method, table, &job, epsilons[i]);
        struct study_quality quality;
        char text[TEXT];
        status = study_quality(&quality, &training, &data, request->seed,
                               runs_of(request) * (i == ONE ? MORE : 1), why);
        if (status == STATUS_OK) {
            study_point(accuracy, epsilons[i], quality.accuracy);
            study_point(auc, epsilons[i], quality.auc);
            (void)snprintf(text, TEXT, "%g", epsilons[i]);
            add_row(study, table, methods[method].name, text, &quality);
            *at_one = i == ONE ? quality : *at_one;
        }
    }
    dataset_free(&data);
    job_free(&job);
    return status;
}

static enum status pooled(struct study *study, struct charts charts, size_t table,
                          const struct study_request *request, struct why *why)
{
    const struct study_training training = {.method = STUDY_POOLED,
                                            .lambda = tables[table].pooled_lambda};
    struct study_quality quality;
    struct job job;
    struct dataset data;
    enum status status = load(&job, &data, request, table, methods[0].file, why);
    if (status == STATUS_OK) {
        status = study_quality(&quality, &training, &data, request->seed, runs_of(request), why);
    }
    if (status == STATUS_OK) {
        struct study_series *accuracy =
            study_series(charts.accuracy, STUDY_BOUND, METHODS, "pooled, not private");
        struct study_series *auc =
            study_series(charts.auc, STUDY_BOUND, METHODS, "pooled, not private");
        for (size_t i = 0; i < EPSILONS; i++) {
            study_point(accuracy, epsilons[i], quality.accuracy);
            study_point(auc, epsilons[i], quality.auc);
        }
        add_row(study, table, "pooled, not private", "-", &quality);
    }
    dataset_free(&data);
    job_free(&job);
    return status;
}

/* Planted: the noise of an epsilon PLANTED times smaller. */
static enum status claim(struct study *study, size_t table, size_t method, bool of_auc,
                         const struct study_quality *at_one, const struct study_request *request,
                         struct why *why)
{
    struct study_quality quality = *at_one;
    enum status status = STATUS_OK;
    if (request->planted) {
        struct job job;
        struct dataset data;
        status = load(&job, &data, request, table, methods[method].file, why);
        if (status == STATUS_OK) {
            const struct study_training training = training_of(method, table, &job, 1.0 / PLANTED);
            status =
                study_quality(&quality, &training, &data, request->seed, runs_of(request), why);
        }
        dataset_free(&data);
        job_free(&job);
    }
    const uint64_t runs = MORE * runs_of(request);
    study_claim(study, STUDY_AT_LEAST, of_auc ? quality.auc : quality.accuracy,
                of_auc ? tables[table].auc[method] : tables[table].accuracy[method],
                "%s, %s, epsilon 1: mean %s over %llu runs, standard error %.4f",
                tables[table].name, methods[method].name, of_auc ? "AUC" : "accuracy",
                (unsigned long long)runs, of_auc ? quality.auc_error : quality.accuracy_error);
    return status;
}

enum status study_accuracy(struct study *study, const struct study_request *request,
                           struct why *why)
{
    static const char *const columns[] = {"table",          "method", "epsilon",       "accuracy",
                                          "standard error", "AUC",    "standard error"};
    enum status status = STATUS_OK;
    (void)snprintf(study->title, sizeof study->title, "What epsilon buys, by trust and method");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "The shipped tables, dealt to five sites, a fifth held out: gradient rounds, one-shot "
        "ridge of noisy moments, and averaged fits, Gaussian noise at delta 0.00001. The settings "
        "were chosen for epsilon 1, on these tables, whose records are public.");
    study_columns(&study->table, sizeof columns / sizeof columns[0], columns);
    for (size_t table = 0; table < TABLES && status == STATUS_OK; table++) {
        const struct charts charts = open_charts(study, table);
        struct study_quality at_one[METHODS] = {{0, 0, 0, 0}};
        for (size_t method = 0; method < METHODS && status == STATUS_OK; method++) {
            status = curve(study, charts, table, method, &at_one[method], request, why);
            study_progress(request, "accuracy: %s, %s", tables[table].name, methods[method].name);
        }
        if (status == STATUS_OK) {
            status = pooled(study, charts, table, request, why);
        }
        for (size_t i = 0; i < 6 && status == STATUS_OK; i++) {
            if (i % 2 == 0 || tables[table].auc[i / 2] > 0) {
                status = claim(study, table, i / 2, i % 2 == 1, &at_one[i / 2], request, why);
            }
        }
    }
    return status;
}
