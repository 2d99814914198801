/* The best penalty by cross-validation. The search at one penalty is in rival_search.c. */

#include "learn/rival_private.h"

#include "base/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOLDS = 5,
    SCORES_LOG2_MAX = 20 /* records, features, outputs, multiplied: beyond it one fold is judged */
};

/* Decreases in F beyond it are too small to change a figure; and to change which lambda is chosen. */
static const double enough_to_fit = 1e-9;
static const double enough_to_judge = 1e-7;

static const double lambda_list[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0};

enum { LAMBDAS = sizeof lambda_list / sizeof lambda_list[0] };

static void check_shape(const struct rival_problem *problem)
{
    CHECK(problem->data->record_count > 0 && problem->data->feature_count > 0);
    CHECK(problem->data->y != NULL && problem->outputs > 0);
    CHECK(problem->share == NULL || problem->kind == LABEL_CLASSES);
}

enum status rival_fit(double *w, const struct rival_problem *problem, double lambda)
{
    struct rival_search s;
    check_shape(problem);
    enum status status = rival_search_init(&s, problem, problem->data);
    if (status == STATUS_OK) {
        rival_search_run(&s, w, lambda, problem->enough > 0 ? problem->enough : enough_to_fit);
        rival_search_free(&s);
    }
    return status;
}

/* Copies the records of one fold, or of all others: every fifth record, from `fold` on. */
static enum status copy_fold(struct dataset *out, const struct dataset *from, size_t fold,
                             bool others)
{
    const size_t d = from->feature_count;
    *out = (struct dataset){.feature_count = d};
    out->x = calloc(from->record_count * d + 1, sizeof *out->x);
    out->y = calloc(from->record_count + 1, sizeof *out->y);
    if (out->x == NULL || out->y == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < from->record_count; i++) {
        if ((i % FOLDS == fold) != others) {
            memcpy(out->x + out->record_count * d, from->x + i * d, d * sizeof *out->x);
            out->y[out->record_count++] = from->y[i];
        }
    }
    return STATUS_OK;
}

/* Adds each lambda's sum of losses on one fold to total (LAMBDAS). A fit begins at the one before. Once two
 * lambdas in a row are no better than the best so far, smaller ones only fit more of the noise, and
 * slowly: they are out. */
static enum status judge_fold(double *total, double *w, const struct rival_problem *problem,
                              size_t fold)
{
    struct dataset learn = {0};
    struct dataset held = {0};
    struct rival_search s = {.own = NULL};
    double *score = calloc(problem->data->record_count * problem->outputs + 1, sizeof *score);
    enum status status = score == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        status = copy_fold(&learn, problem->data, fold, true);
    }
    if (status == STATUS_OK) {
        status = copy_fold(&held, problem->data, fold, false);
    }
    if (status == STATUS_OK && learn.record_count > 0 && held.record_count > 0) {
        status = rival_search_init(&s, problem, &learn);
        memset(w, 0, problem->outputs * learn.feature_count * sizeof *w);
        double least = INFINITY;
        int vain = 0;
        for (size_t i = 0; i < LAMBDAS && status == STATUS_OK; i++) {
            double loss = INFINITY;
            if (vain < 2) {
                rival_search_run(&s, w, lambda_list[i], enough_to_judge);
                loss = rival_search_loss(score, &s, w, held.x, held.y, held.record_count);
            }
            vain = loss < 0.999 * least ? 0 : vain + 1;
            least = fmin(least, loss);
            total[i] += loss * (double)held.record_count;
        }
        if (status == STATUS_OK) {
            rival_search_free(&s);
        }
    }
    dataset_free(&learn);
    dataset_free(&held);
    free(score);
    return status;
}

enum status rival_best(double *w, double *lambda, double *loss, const struct rival_problem *problem)
{
    const struct dataset *data = problem->data;
    double total[LAMBDAS] = {0};
    size_t best = 0;
    enum status status = STATUS_OK;
    check_shape(problem);
    CHECK(problem->share == NULL);
    const size_t products = data->record_count * data->feature_count * problem->outputs;
    const bool is_large = products >> SCORES_LOG2_MAX > 0;
    const size_t folds = is_large ? 1 : FOLDS;
    for (size_t fold = 0; fold < folds && status == STATUS_OK; fold++) {
        status = judge_fold(total, w, problem, fold);
    }
    for (size_t i = 1; i < LAMBDAS; i++) {
        best = total[i] < total[best] ? i : best;
    }
    const size_t judged = is_large ? (data->record_count + FOLDS - 1) / FOLDS : data->record_count;
    *lambda = lambda_list[best];
    *loss = total[best] / (double)judged;
    memset(w, 0, problem->outputs * data->feature_count * sizeof *w);
    return status == STATUS_OK ? rival_fit(w, problem, *lambda) : status;
}
