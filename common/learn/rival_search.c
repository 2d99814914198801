/* L-BFGS (Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithms 7.4 and 7.5) with the
 * inverse of b X^T X/m + 2 lambda as its first guess of the inverse Hessian, where b bounds the
 * loss's curvature: 1/4 logistic, 1/2 softmax (Boehning 1992), 2 squared. It is exact for least squares,
 * which need one step, and makes the number of steps of the others independent of how the features
 * are scaled. */

#include "learn/rival_private.h"

#include "base/check.h"
#include "learn/dense.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_MAX = 400,
    HALVINGS_MAX = 40,
    FACTOR_MAX = 2048 /* features; with more the guess is a multiple of the identity */
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

/* The same of several labels. share: (k) sums to 1 */
static double softmax_of_shares(double *f, size_t k, const double *share)
{
    double told = 0;
    for (size_t j = 0; j < k; j++) {
        told += share[j] * f[j];
    }
    const double first = f[0];
    const double loss = softmax(f, k, 0) + first - told;
    f[0] += 1;
    for (size_t j = 0; j < k; j++) {
        f[j] -= share[j];
    }
    return loss;
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

/* share: (m, k) or NULL */
static double loss_of(double *score, const struct rival_search *s, const double *w, const double *x,
                      const double *y, const double *share, size_t m)
{
    struct dense_sum sum = {0, 0};
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)s->k, (int)s->d, 1, x,
                (int)s->d, w, (int)s->d, 0, score, (int)s->k);
    for (size_t i = 0; i < m; i++) {
        double *f = score + i * s->k;
        dense_add(&sum, share != NULL ? softmax_of_shares(f, s->k, share + i * s->k)
                                      : slope(s->kind, f, s->k, y[i]));
    }
    return sum.value / (double)m;
}

double rival_search_loss(double *score, const struct rival_search *s, const double *w,
                         const double *x, const double *y, size_t m)
{
    CHECK(s->share == NULL);
    return loss_of(score, s, w, x, y, NULL, m);
}

static double objective(struct rival_search *s, const double *w)
{
    double squares = 0;
    for (size_t i = 0; i < s->n; i++) {
        squares += (i + 1) % s->d == 0 ? 0 : w[i] * w[i];
    }
    return loss_of(s->score, s, w, s->x, s->y, s->share, s->m) + s->lambda * squares;
}

/* From the slopes that objective(w) left. */
static void find_gradient(double *gradient, struct rival_search *s, const double *w)
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

static void find_gram(struct rival_search *s)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)s->d, (int)s->m,
                curvature(s->kind) / (double)s->m, s->x, (int)s->d, 0, s->gram, (int)s->d);
}

/* Equal columns leave a matrix without an inverse: a little is added until it has one. */
static bool find_factor(struct rival_search *s)
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
static void guess(struct rival_search *s)
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

/* step = -(inverse Hessian) gradient, by the last RIVAL_PAST moves; algorithm 7.4. */
static void find_step(struct rival_search *s)
{
    double share[RIVAL_PAST];
    const size_t count = s->past < RIVAL_PAST ? s->past : RIVAL_PAST;
    for (size_t i = 0; i < s->n; i++) {
        s->step[i] = -s->gradient[i];
    }
    for (size_t back = 1; back <= count; back++) {
        const size_t at = (s->past - back) % RIVAL_PAST;
        share[at] = dense_dot(s->moved + at * s->n, s->step, s->n) / s->inner[at];
        dense_axpy(s->step, -share[at], s->turned + at * s->n, s->n);
    }
    guess(s);
    for (size_t back = count; back >= 1; back--) {
        const size_t at = (s->past - back) % RIVAL_PAST;
        const double turn = dense_dot(s->turned + at * s->n, s->step, s->n) / s->inner[at];
        dense_axpy(s->step, share[at] - turn, s->moved + at * s->n, s->n);
    }
}

/* Keeps a move and how it turned the gradient, unless rounding took their meaning. */
static void remember(struct rival_search *s, const double *w)
{
    const size_t at = s->past % RIVAL_PAST;
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
static bool advance(struct rival_search *s, double *w, double *value)
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

void rival_search_free(struct rival_search *s)
{
    free(s->own);
    free(s->gram);
    free(s->factor);
}

enum status rival_search_init(struct rival_search *s, const struct rival_problem *problem,
                              const struct dataset *data)
{
    const size_t d = data->feature_count;
    const size_t n = problem->outputs * d;
    const size_t scores = problem->outputs * data->record_count;
    *s = (struct rival_search){.kind = problem->kind,
                               .m = data->record_count,
                               .d = d,
                               .k = problem->outputs,
                               .n = n,
                               .x = data->x,
                               .y = data->y,
                               .share = problem->share};
    s->own = calloc(scores + (4 + 2 * (size_t)RIVAL_PAST) * n, sizeof *s->own);
    if (d <= FACTOR_MAX) {
        s->gram = calloc(d * d, sizeof *s->gram);
        s->factor = calloc(d * d, sizeof *s->factor);
    }
    if (s->own == NULL || (d <= FACTOR_MAX && (s->gram == NULL || s->factor == NULL))) {
        rival_search_free(s);
        return STATUS_NO_MEMORY;
    }
    s->score = s->own;
    s->gradient = s->score + scores;
    s->next = s->gradient + n;
    s->step = s->next + n;
    s->trial = s->step + n;
    s->moved = s->trial + n;
    s->turned = s->moved + RIVAL_PAST * n;
    if (s->gram != NULL) {
        find_gram(s);
    }
    return STATUS_OK;
}

void rival_search_run(struct rival_search *s, double *w, double lambda, double enough)
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
