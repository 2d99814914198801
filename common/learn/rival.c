/* L-BFGS (Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithms 7.4 and 7.5) with the
 * inverse of b X^T X/m + 2 lambda as its first guess of the inverse Hessian, where b bounds the
 * loss's curvature: 1/4 logistic, 1/2 softmax (Boehning 1992), 2 squared. It is exact for least squares,
 * which need one step, and makes the number of steps of the others independent of how the features
 * are scaled. */

#include "learn/rival.h"

#include "base/check.h"
#include "learn/dense.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAST = 10,
    STEPS_MAX = 400,
    HALVINGS_MAX = 40,
    FOLDS = 5,
    FACTOR_MAX = 2048,   /* features; with more the guess is a multiple of the identity */
    SCORES_LOG2_MAX = 20 /* records, features, outputs, multiplied: beyond it one fold is judged */
};

/* Decreases in F beyond it are too small to change a figure; and to change which lambda is chosen. */
static const double enough_to_fit = 1e-9;
static const double enough_to_judge = 1e-7;

static const double lambda_list[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0};

enum { LAMBDAS = sizeof lambda_list / sizeof lambda_list[0] };

/* m records, d features, k outputs, n = k d weights */
struct search {
    enum label_kind kind;
    size_t m;
    size_t d;
    size_t k;
    size_t n;
    const double *x;
    const double *y;
    double lambda;
    double enough;    /* the search ends where F is expected to fall by less */
    double *own;      /* all arrays below */
    double *score;    /* (m, k); after a gradient the slopes */
    double *gradient; /* (n) */
    double *next;     /* (n) its successor */
    double *step;     /* (n) */
    double *trial;    /* (n) */
    double *gram;   /* (d, d) X^T X, lower triangle; NULL when there are too many features; owned */
    double *factor; /* (d, d), or NULL; owned */
    double *moved;  /* (PAST, n) */
    double *turned; /* (PAST, n) */
    double inner[PAST];
    size_t past;
};

static double softmax(double *f, size_t k, size_t own)
{
    double top = f[0];
    double sum = 0;
    for (size_t j = 1; j < k; j++) {
        top = fmax(top, f[j]);
    }
    const double told = f[own] - top;
    for (size_t j = 0; j < k; j++) {
        f[j] = exp(f[j] - top);
        sum += f[j];
    }
    for (size_t j = 0; j < k; j++) {
        f[j] = f[j] / sum - (j == own);
    }
    return log(sum) - told;
}

/* Returns the loss of a record and leaves its slopes in f (k). */
static double slope(enum label_kind kind, double *f, size_t k, double y)
{
    switch (kind) {
    case LABEL_SIGN: {
        const double score = f[0];
        const double small = exp(-fabs(score));
        const double positive = (1 + y) / 2;
        f[0] = ((1 - positive) * (score > 0 ? 1 : small) - positive * (score > 0 ? small : 1)) /
               (1 + small);
        return log1p(small) + (fmax(-score, 0) + (1 - positive) * score);
    }
    case LABEL_CLASSES:
        return softmax(f, k, (size_t)y);
    case LABEL_NUMBER: {
        const double error = f[0] - y;
        f[0] = 2 * error;
        return error * error;
    }
    }
    return 0;
}

static double mean_loss(double *score, const struct search *s, const double *w, const double *x,
                        const double *y, size_t m)
{
    struct dense_sum sum = {0, 0};
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)s->k, (int)s->d, 1, x,
                (int)s->d, w, (int)s->d, 0, score, (int)s->k);
    for (size_t i = 0; i < m; i++) {
        dense_add(&sum, slope(s->kind, score + i * s->k, s->k, y[i]));
    }
    return sum.value / (double)m;
}

static double objective(struct search *s, const double *w)
{
    double squares = 0;
    for (size_t i = 0; i < s->n; i++) {
        squares += (i + 1) % s->d == 0 ? 0 : w[i] * w[i];
    }
    return mean_loss(s->score, s, w, s->x, s->y, s->m) + s->lambda * squares;
}

/* From the slopes that objective(w) left. */
static void find_gradient(double *gradient, struct search *s, const double *w)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)s->k, (int)s->d, (int)s->m,
                1 / (double)s->m, s->score, (int)s->k, s->x, (int)s->d, 0, gradient, (int)s->d);
    for (size_t i = 0; i < s->n; i++) {
        gradient[i] += (i + 1) % s->d == 0 ? 0 : 2 * s->lambda * w[i];
    }
}

static double curvature(enum label_kind kind)
{
    switch (kind) {
    case LABEL_SIGN:
        return 0.25;
    case LABEL_CLASSES:
        return 0.5;
    case LABEL_NUMBER:
        return 2;
    }
    return 2;
}

static void find_gram(struct search *s)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)s->d, (int)s->m,
                curvature(s->kind) / (double)s->m, s->x, (int)s->d, 0, s->gram, (int)s->d);
}

/* Equal columns leave a matrix without an inverse: a little is added until it has one. */
static bool find_factor(struct search *s)
{
    double more = 1e-12;
    for (int tries = 0; tries < 8; tries++) {
        memcpy(s->factor, s->gram, s->d * s->d * sizeof *s->factor);
        for (size_t j = 0; j < s->d; j++) {
            s->factor[j * s->d + j] += (j + 1 == s->d ? 0 : 2 * s->lambda) + more;
        }
        if (cholesky_factor(s->factor, s->d)) {
            return true;
        }
        more *= 30;
    }
    return false;
}

/* step = (first guess of the inverse Hessian) step */
static void guess(struct search *s)
{
    for (size_t j = 0; j < s->k && s->factor != NULL; j++) {
        cholesky_solve(s->factor, s->step + j * s->d, s->d);
    }
    if (s->factor == NULL) {
        const double scale = 1 / (curvature(s->kind) + 2 * s->lambda); /* every norm is at most 1 */
        for (size_t i = 0; i < s->n; i++) {
            s->step[i] *= scale;
        }
    }
}

/* step = -(inverse Hessian) gradient, by the last PAST moves; algorithm 7.4. */
static void find_step(struct search *s)
{
    double share[PAST];
    const size_t count = s->past < PAST ? s->past : PAST;
    for (size_t i = 0; i < s->n; i++) {
        s->step[i] = -s->gradient[i];
    }
    for (size_t back = 1; back <= count; back++) {
        const size_t at = (s->past - back) % PAST;
        share[at] = dense_dot(s->moved + at * s->n, s->step, s->n) / s->inner[at];
        dense_axpy(s->step, -share[at], s->turned + at * s->n, s->n);
    }
    guess(s);
    for (size_t back = count; back >= 1; back--) {
        const size_t at = (s->past - back) % PAST;
        const double turn = dense_dot(s->turned + at * s->n, s->step, s->n) / s->inner[at];
        dense_axpy(s->step, share[at] - turn, s->moved + at * s->n, s->n);
    }
}

/* Keeps a move and how it turned the gradient, unless rounding took their meaning. */
static void remember(struct search *s, const double *w)
{
    const size_t at = s->past % PAST;
    double *moved = s->moved + at * s->n;
    double *turned = s->turned + at * s->n;
    for (size_t i = 0; i < s->n; i++) {
        moved[i] = s->trial[i] - w[i];
        turned[i] = s->next[i] - s->gradient[i];
    }
    s->inner[at] = dense_dot(moved, turned, s->n);
    const double size = sqrt(dense_dot(moved, moved, s->n)) * sqrt(dense_dot(turned, turned, s->n));
    if (s->inner[at] > 1e-10 * size) {
        s->past++;
    }
}

/* Halves the step until F falls; returns false where it no longer does. */
static bool advance(struct search *s, double *w, double *value)
{
    const double fall = -dense_dot(s->gradient, s->step, s->n);
    double length = 1;
    if (!(fall > s->enough)) {
        return false;
    }
    for (int tries = 0; tries < HALVINGS_MAX; tries++) {
        memcpy(s->trial, w, s->n * sizeof *w);
        dense_axpy(s->trial, length, s->step, s->n);
        const double tried = objective(s, s->trial);
        if (tried <= *value - 1e-4 * length * fall) {
            find_gradient(s->next, s, s->trial);
            remember(s, w);
            memcpy(w, s->trial, s->n * sizeof *w);
            memcpy(s->gradient, s->next, s->n * sizeof *w);
            *value = tried;
            return true;
        }
        length /= 2;
    }
    return false;
}

static void search_free(struct search *s)
{
    free(s->own);
    free(s->gram);
    free(s->factor);
}

static enum status search_init(struct search *s, const struct rival_problem *problem,
                               const struct dataset *data)
{
    const size_t d = data->feature_count;
    const size_t n = problem->outputs * d;
    const size_t scores = problem->outputs * data->record_count;
    *s = (struct search){.kind = problem->kind,
                         .m = data->record_count,
                         .d = d,
                         .k = problem->outputs,
                         .n = n,
                         .x = data->x,
                         .y = data->y};
    s->own = calloc(scores + (4 + 2 * (size_t)PAST) * n, sizeof *s->own);
    if (d <= FACTOR_MAX) {
        s->gram = calloc(d * d, sizeof *s->gram);
        s->factor = calloc(d * d, sizeof *s->factor);
    }
    if (s->own == NULL || (d <= FACTOR_MAX && (s->gram == NULL || s->factor == NULL))) {
        search_free(s);
        return STATUS_NO_MEMORY;
    }
    s->score = s->own;
    s->gradient = s->score + scores;
    s->next = s->gradient + n;
    s->step = s->next + n;
    s->trial = s->step + n;
    s->moved = s->trial + n;
    s->turned = s->moved + PAST * n;
    if (s->gram != NULL) {
        find_gram(s);
    }
    return STATUS_OK;
}

static void search_run(struct search *s, double *w, double lambda, double enough)
{
    s->lambda = lambda;
    s->enough = enough;
    s->past = 0;
    if (s->factor != NULL && !find_factor(s)) {
        free(s->factor);
        s->factor = NULL;
    }
    double value = objective(s, w);
    find_gradient(s->gradient, s, w);
    for (int i = 0; i < STEPS_MAX; i++) {
        find_step(s);
        if (!advance(s, w, &value)) {
            return;
        }
    }
}

static void check_shape(const struct rival_problem *problem)
{
    CHECK(problem->data->record_count > 0 && problem->data->feature_count > 0);
    CHECK(problem->data->y != NULL && problem->outputs > 0);
}

enum status rival_fit(double *w, const struct rival_problem *problem, double lambda)
{
    struct search s;
    check_shape(problem);
    enum status status = search_init(&s, problem, problem->data);
    if (status == STATUS_OK) {
        search_run(&s, w, lambda, enough_to_fit);
        search_free(&s);
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
    struct search s = {.own = NULL};
    double *score = calloc(problem->data->record_count * problem->outputs + 1, sizeof *score);
    enum status status = score == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        status = copy_fold(&learn, problem->data, fold, true);
    }
    if (status == STATUS_OK) {
        status = copy_fold(&held, problem->data, fold, false);
    }
    if (status == STATUS_OK && learn.record_count > 0 && held.record_count > 0) {
        status = search_init(&s, problem, &learn);
        memset(w, 0, problem->outputs * learn.feature_count * sizeof *w);
        double least = INFINITY;
        int vain = 0;
        for (size_t i = 0; i < LAMBDAS && status == STATUS_OK; i++) {
            double loss = INFINITY;
            if (vain < 2) {
                search_run(&s, w, lambda_list[i], enough_to_judge);
                loss = mean_loss(score, &s, w, held.x, held.y, held.record_count);
            }
            vain = loss < 0.999 * least ? 0 : vain + 1;
            least = fmin(least, loss);
            total[i] += loss * (double)held.record_count;
        }
        if (status == STATUS_OK) {
            search_free(&s);
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
