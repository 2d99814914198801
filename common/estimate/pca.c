/* pca.c - eigenvalues and vectors by Jacobi's rotations. */

#include "estimate/pca.h"

#include <math.h>
#include <stdbool.h>

enum { D = CORRELATE_COLUMNS_MAX, SWEEPS = 60 };

static const double share_noise_most = 0.1;
static const double planned_deviation = 1.0 / 3; /* of values in [-1, 1] */

/* Rotates rows and columns p and q of the symmetric a so that a_pq is 0, and the rows of `vector` along. */
static void rotate(double a[D][D], double vector[D][D], size_t d, size_t p, size_t q)
{
    if (a[p][q] == 0) {
        return;
    }
    const double half = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (half >= 0 ? 1 : -1) / (fabs(half) + sqrt(half * half + 1));
    const double c = 1 / sqrt(t * t + 1);
    const double s = t * c;
    for (size_t k = 0; k < d; k++) {
        const double kp = a[k][p];
        const double kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (size_t k = 0; k < d; k++) {
        const double pk = a[p][k];
        const double qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
        const double p_own = vector[p][k];
        const double q_own = vector[q][k];
        vector[p][k] = c * p_own - s * q_own;
        vector[q][k] = s * p_own + c * q_own;
    }
}

/* Sorts components by falling value, and turns each so that its largest loading is above 0. */
static void put_in_order(struct pca *out, double *value, double vector[D][D])
{
    bool taken[D] = {false};
    double sorted[D] = {0};
    for (size_t place = 0; place < out->columns; place++) {
        size_t best = D;
        size_t largest = 0;
        for (size_t k = 0; k < out->columns; k++) {
            best = !taken[k] && (best == D || value[k] > value[best]) ? k : best;
        }
        taken[best] = true;
        sorted[place] = value[best];
        for (size_t k = 0; k < out->columns; k++) {
            largest = fabs(vector[best][k]) > fabs(vector[best][largest]) ? k : largest;
        }
        for (size_t k = 0; k < out->columns; k++) {
            out->loading[place][k] = vector[best][largest] < 0 ? -vector[best][k] : vector[best][k];
        }
    }
    for (size_t k = 0; k < out->columns; k++) {
        value[k] = sorted[k];
    }
}

/* The correlations, and e. Returns false where a pair is not given. */
static bool fill(double a[D][D], double *e, const struct correlate *all, size_t d)
{
    double square = 0;
    for (size_t i = 0; i < d; i++) {
        a[i][i] = 1;
        for (size_t j = i + 1; j < d; j++) {
            const struct table1_figure figure = correlate_pair(all, i, j);
            if (isnan(figure.estimate.value)) {
                return false;
            }
            a[i][j] = a[j][i] = figure.estimate.value;
            square += figure.estimate.noise * figure.estimate.noise;
        }
    }
    *e = sqrt(2 * square / (double)(d * (d - 1)) + 1 / all->records);
    return true;
}

static bool is_enough(double e, size_t d)
{
    return 2 * e / sqrt((double)d) < share_noise_most;
}

bool pca_is_given(const struct correlate *all)
{
    const size_t d = all->moments->columns;
    double a[D][D];
    double e = 0;
    return fill(a, &e, all, d) && is_enough(e, d);
}

void pca_of(struct pca *out, const struct correlate *all)
{
    const size_t d = all->moments->columns;
    double a[D][D] = {{0}};
    double vector[D][D] = {{0}};
    double value[D] = {0};
    double e = 0;
    double sum = 0;
    *out = (struct pca){.columns = d};
    if (!fill(a, &e, all, d)) {
        return;
    }
    for (size_t k = 0; k < d; k++) {
        vector[k][k] = 1;
    }
    for (size_t turn = 0; turn < SWEEPS * d * d; turn++) {
        const size_t p = turn / d % d;
        const size_t q = turn % d;
        if (p < q) {
            rotate(a, vector, d, p, q);
        }
    }
    for (size_t k = 0; k < d; k++) {
        value[k] = a[k][k];
    }
    put_in_order(out, value, vector);
    out->is_given = is_enough(e, d);
    for (size_t k = 0; k < d; k++) {
        const double above = k > 0 ? value[k - 1] - value[k] : INFINITY;
        const double below = k + 1 < d ? value[k] - value[k + 1] : INFINITY;
        out->has_loadings[k] = fmin(above, below) >= 4 * sqrt((double)d) * e;
        sum += fmax(value[k], 0);
    }
    for (size_t k = 0; k < d; k++) {
        out->share[k] = fmax(value[k], 0) / sum;
    }
}

double pca_expect(double *records, const struct correlate_public *known, size_t columns)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    const double noise = known->variance / (n * n * square * square);
    const double edge = 2 * sqrt(noise + 1 / n) / sqrt((double)columns);
    (void)correlate_expect(records, known, 0);
    *records = fmax(*records, n * edge / share_noise_most);
    return edge;
}
