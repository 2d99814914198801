/* Newton's method with a halving line search, for losses with a Lipschitz derivative; where that
 * has a bend (Huber) one of its generalised derivatives serves, and F, piecewise quadratic, still
 * falls at every step. F is 2 lambda-strongly convex, so every Hessian is positive definite.
 *
 * By features, d x d:   (X^T S X/m + 2 lambda) p = -grad,   S = diag L''(f).
 * By Gram: with r = L'(f)/m + 2 lambda c, grad = sum r_i phi(x_i), and the step's coefficients are
 *     p = -(I + S K/(2 lambda m))^-1 r/(2 lambda)
 *       = -(r - D B^-1 D K r/(2 lambda m))/(2 lambda),  D = sqrt(S), B = I + D K D/(2 lambda m)
 * (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 3.4.3, for the
 * same form). Least squares are one Cholesky factorisation: S is constant, and further steps refine
 * with the same factor. The certificate is the gradient's norm, by Gram sqrt(r^T K r), to which the
 * root of that product's rounding error is added, and that of its entries': kappa sum |r_i| times
 * sqrt(8 (m + 32 + entry_error) u). */

#include "learn/erm_core.h"

#include "learn/dense.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { HALVINGS_MAX = 40, BLOCK_ROWS = 128 };
static const double aim = 1.0 / 16; /* of the tolerance: nearly free, as the rate is quadratic */

/* n numbers in w: d by features, m by Gram */
struct newton {
    const struct core *core;
    size_t n;
    double *w;
    double *f;        /* (m) */
    double *r;        /* by features: the slopes over m, (m); by Gram: (m) as above */
    double *gradient; /* (n) by features; by Gram K r */
    double *p;        /* (n) the step */
    double *fp;       /* (m) its scores */
    double *root;     /* (m) D */
    double
        *matrix; /* (d, d) lower triangle, by features; by Gram its place is below K's diagonal */
    double *diagonal; /* (m) by Gram: the factor's, when K's is in place, or the other way round */
    double *block;    /* (BLOCK_ROWS, d) by features */
    double norm;      /* of the gradient */
};

static void newton_free(struct newton *newton)
{
    const size_t m = newton->core->m;
    const size_t n = newton->n;
    core_numbers_free(newton->w, n);
    core_numbers_free(newton->f, m);
    core_numbers_free(newton->r, m);
    core_numbers_free(newton->gradient, n);
    core_numbers_free(newton->p, n);
    core_numbers_free(newton->fp, m);
    core_numbers_free(newton->root, m);
    core_numbers_free(newton->matrix, newton->core->by_gram ? 0 : n * n);
    core_numbers_free(newton->diagonal, m);
    core_numbers_free(newton->block, newton->core->by_gram ? 0 : BLOCK_ROWS * newton->core->d);
}

static bool newton_init(struct newton *newton, const struct core *core)
{
    const size_t m = core->m;
    const size_t n = core->by_gram ? m : core->d;
    *newton = (struct newton){.core = core, .n = n};
    newton->w = core_numbers(n, 1);
    newton->f = core_numbers(m, 1);
    newton->r = core_numbers(m, 1);
    newton->gradient = core_numbers(n, 1);
    newton->p = core_numbers(n, 1);
    newton->fp = core_numbers(m, 1);
    newton->root = core_numbers(m, 1);
    newton->matrix = core_numbers(n, core->by_gram ? 0 : n);
    newton->diagonal = core_numbers(m, 1);
    newton->block = core_numbers(BLOCK_ROWS, core->by_gram ? 0 : core->d);
    return newton->w != NULL && newton->f != NULL && newton->r != NULL &&
           newton->gradient != NULL && newton->p != NULL && newton->fp != NULL &&
           newton->root != NULL && newton->matrix != NULL && newton->diagonal != NULL &&
           newton->block != NULL;
}

/* F at w + t p. */
static double objective(const struct newton *newton, double t, double square)
{
    const struct core *core = newton->core;
    double sum = 0;
    for (size_t i = 0; i < core->m; i++) {
        sum += loss_value(core->loss, newton->f[i] + t * newton->fp[i], core->y[i]);
    }
    return sum / (double)core->m + core->lambda * square;
}

/* Scores, slopes, gradient and its norm at w, all fresh. */
static void evaluate(struct newton *newton)
{
    const struct core *core = newton->core;
    const double mu = 2 * core->lambda;
    core_scores(newton->f, core, newton->w);
    for (size_t i = 0; i < core->m; i++) {
        newton->r[i] = loss_derivative(core->loss, newton->f[i], core->y[i]) / (double)core->m;
    }
    if (core->by_gram) {
        dense_axpy(newton->r, mu, newton->w, core->m);
        core_scores(newton->gradient, core, newton->r);
        const double size = core->kappa * cblas_dasum((int)core->m, newton->r, 1);
        const double error =
            size > 2 * core->kappa * core_slope(core->loss)
                ? HUGE_VAL /* c is larger than core_rounding takes it to be */
                : sqrt(((double)core->m + 32 + core->entry_error) * 4 * DBL_EPSILON) * size;
        newton->norm = sqrt(fmax(dense_dot(newton->r, newton->gradient, core->m), 0)) + error;
    } else {
        core_combine(newton->gradient, newton->p, core, newton->r);
        dense_axpy(newton->gradient, mu, newton->w, core->d);
        newton->norm = sqrt(dense_dot(newton->gradient, newton->gradient, core->d));
    }
}

static bool factor_by_features(struct newton *newton)
{
    const struct core *core = newton->core;
    const size_t d = core->d;
    memset(newton->matrix, 0, d * d * sizeof *newton->matrix);
    for (size_t first = 0; first < core->m; first += BLOCK_ROWS) {
        const size_t rows = core->m - first < BLOCK_ROWS ? core->m - first : BLOCK_ROWS;
        for (size_t i = 0; i < rows; i++) {
            const double root = newton->root[first + i] / sqrt((double)core->m);
            for (size_t j = 0; j < d; j++) {
                newton->block[i * d + j] = root * core->x[(first + i) * d + j];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)rows, 1, newton->block,
                    (int)d, 1, newton->matrix, (int)d);
    }
    for (size_t j = 0; j < d; j++) {
        newton->matrix[j * d + j] += 2 * core->lambda;
    }
    return cholesky_factor(newton->matrix, d);
}

static void swap_diagonals(struct newton *newton)
{
    const size_t m = newton->core->m;
    for (size_t i = 0; i < m; i++) {
        const double kept = newton->diagonal[i];
        newton->diagonal[i] = newton->core->gram[i * m + i];
        newton->core->gram[i * m + i] = kept;
    }
}

/* B goes below K's diagonal: half the memory, whose first touch costs as much as the algebra. */
static bool factor_by_gram(struct newton *newton)
{
    enum { TILE = 64 };
    const struct core *core = newton->core;
    const size_t m = core->m;
    const double scale = 1 / (2 * core->lambda * (double)m);
    for (size_t top = 0; top < m; top += TILE) {
        for (size_t left = 0; left <= top; left += TILE) {
            for (size_t i = top; i < m && i < top + TILE; i++) {
                const double factor = scale * newton->root[i];
                for (size_t j = left; j < i && j < left + TILE; j++) {
                    core->gram[i * m + j] = factor * newton->root[j] * core->gram[j * m + i];
                }
            }
        }
    }
    for (size_t i = 0; i < m; i++) {
        newton->diagonal[i] = 1 + scale * newton->root[i] * newton->root[i] * core->gram[i * m + i];
    }
    swap_diagonals(newton);
    const bool good = cholesky_factor(core->gram, m);
    swap_diagonals(newton);
    return good;
}

static bool factor(struct newton *newton)
{
    const struct core *core = newton->core;
    for (size_t i = 0; i < core->m; i++) {
        newton->root[i] = sqrt(loss_second_derivative(core->loss, newton->f[i], core->y[i]));
    }
    return core->by_gram ? factor_by_gram(newton) : factor_by_features(newton);
}

static void direction(struct newton *newton)
{
    const struct core *core = newton->core;
    const double mu = 2 * core->lambda;
    if (!core->by_gram) {
        for (size_t j = 0; j < core->d; j++) {
            newton->p[j] = -newton->gradient[j];
        }
        cholesky_solve(newton->matrix, newton->p, core->d);
    } else {
        for (size_t i = 0; i < core->m; i++) {
            newton->p[i] = newton->root[i] * newton->gradient[i];
        }
        swap_diagonals(newton);
        cholesky_solve(core->gram, newton->p, core->m);
        swap_diagonals(newton);
        for (size_t i = 0; i < core->m; i++) {
            const double turned = newton->root[i] * newton->p[i] / (mu * (double)core->m);
            newton->p[i] = -(newton->r[i] - turned) / mu;
        }
    }
    core_scores(newton->fp, core, newton->p);
}

/* Moves w along p, by half as much until F falls enough. Returns false when it does not: then w is
 * as exact as rounding allows, or the method has failed. */
static bool move(struct newton *newton)
{
    const struct core *core = newton->core;
    const double square = core_square(core, newton->w, newton->f);
    const double cross = core->by_gram ? dense_dot(newton->p, newton->f, core->m)
                                       : dense_dot(newton->p, newton->w, core->d);
    const double square_p = core_square(core, newton->p, newton->fp);
    const double slope = dense_dot(newton->p, newton->gradient, newton->n);
    const double before = objective(newton, 0, square);
    const double slack = 1e-14 * (1 + fabs(before)); /* near the end F's rounding is all there is */
    for (int half = 0; half < HALVINGS_MAX; half++) {
        const double t = ldexp(1, -half);
        const double after = objective(newton, t, square + 2 * t * cross + t * t * square_p);
        if (after <= before + 1e-4 * t * slope + slack) {
            dense_axpy(newton->w, t, newton->p, newton->n);
            return true;
        }
    }
    return false;
}

enum status newton_descend(double *w, bool *certified, const struct core *core, uint64_t most)
{
    struct newton newton;
    enum status status = STATUS_NO_MEMORY;
    *certified = false;
    if (!newton_init(&newton, core)) {
        goto done;
    }
    const double rounding = core_rounding(core);
    const double enough = core->tolerance - rounding;
    double least = HUGE_VAL;
    bool factored = false;
    for (uint64_t step = 0; step < most; step++) {
        evaluate(&newton);
        const bool better = newton.norm < least;
        if (better) {
            least = newton.norm;
            memcpy(w, newton.w, newton.n * sizeof *w);
        }
        if (least <= core->tolerance * aim || (!better && least <= enough)) {
            break;
        }
        factored = (factored && core->loss.kind == LOSS_SQUARED) || factor(&newton);
        if (!factored) {
            break;
        }
        direction(&newton);
        if (!move(&newton)) {
            break;
        }
    }
    *certified = least <= enough;
    status = STATUS_OK;
done:
    newton_free(&newton);
    return status;
}
