#include "learn/metrics.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/loss.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct scored {
    double f;
    double y;
};

void metrics_class_scores(double *f, const double *w, size_t outputs, const struct dataset *data)
{
    const size_t d = data->feature_count;
    for (size_t i = 0; i < data->record_count; i++) {
        for (size_t j = 0; j < outputs; j++) {
            f[i * outputs + j] = dense_dot(w + j * d, data->x + i * d, d);
        }
    }
}

void metrics_scores(double *f, const double *w, const struct dataset *data)
{
    metrics_class_scores(f, w, 1, data);
}

size_t metrics_largest(const double *f, size_t count)
{
    size_t largest = 0;
    for (size_t i = 1; i < count; i++) {
        largest = f[i] > f[largest] ? i : largest;
    }
    return largest;
}

double metrics_accuracy(const double *f, const struct dataset *data)
{
    const struct loss zero_one = {.kind = LOSS_ZERO_ONE};
    double wrong = 0;
    CHECK(data->record_count > 0);
    for (size_t i = 0; i < data->record_count; i++) {
        wrong += loss_value(zero_one, f[i], data->y[i]);
    }
    return 1 - wrong / (double)data->record_count;
}

static int by_score(const void *left, const void *right)
{
    const double a = ((const struct scored *)left)->f;
    const double b = ((const struct scored *)right)->f;
    return (a > b) - (a < b);
}

enum status metrics_auc(double *auc, const double *f, const struct dataset *data)
{
    const size_t m = data->record_count;
    struct scored *sorted = malloc((m + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < m; i++) {
        sorted[i] = (struct scored){.f = f[i], .y = data->y[i]};
    }
    qsort(sorted, m, sizeof *sorted, by_score);
    double negatives = 0; /* below the current score */
    double pairs_right = 0;
    double positives = 0;
    for (size_t start = 0, end = 0; start < m; start = end) {
        double tied_positives = 0;
        for (end = start; end < m && sorted[end].f == sorted[start].f; end++) {
            tied_positives += sorted[end].y > 0 ? 1 : 0;
        }
        const double tied_negatives = (double)(end - start) - tied_positives;
        pairs_right += tied_positives * (negatives + tied_negatives / 2);
        negatives += tied_negatives;
        positives += tied_positives;
    }
    *auc = positives > 0 && negatives > 0 ? pairs_right / (positives * negatives) : 0.5;
    bytes_free(sorted, m * sizeof *sorted);
    return STATUS_OK;
}

double metrics_class_accuracy(const double *f, size_t outputs, const struct dataset *data)
{
    size_t right = 0;
    CHECK(data->record_count > 0);
    for (size_t i = 0; i < data->record_count; i++) {
        const double *score = f + i * outputs;
        const size_t own = (size_t)data->y[i];
        bool alone = true;
        CHECK(own < outputs);
        for (size_t j = 0; j < outputs; j++) {
            alone = alone && (j == own || score[j] < score[own]);
        }
        right += alone ? 1 : 0;
    }
    return (double)right / (double)data->record_count;
}

double metrics_majority(const struct dataset *data)
{
    /* y is +1 or -1, or a class's index: one more of it is an index from 0 either way. */
    size_t count[SCHEMA_CATEGORIES_MAX + 1] = {0};
    size_t most = 0;
    CHECK(data->record_count > 0);
    for (size_t i = 0; i < data->record_count; i++) {
        CHECK(data->y[i] >= -1 && data->y[i] < SCHEMA_CATEGORIES_MAX);
        const size_t at = (size_t)(data->y[i] + 1);
        count[at]++;
        most = count[at] > most ? count[at] : most;
    }
    return (double)most / (double)data->record_count;
}

/* y - pi(f) of one record. */
static double error_of(const double *f, const struct dataset *data, size_t i)
{
    return data->y[i] - fmin(fmax(f[i], -1), 1);
}

double metrics_root_mean_square(const double *f, const struct dataset *data)
{
    double sum = 0;
    CHECK(data->record_count > 0);
    for (size_t i = 0; i < data->record_count; i++) {
        const double error = error_of(f, data, i);
        sum += error * error;
    }
    return sqrt(sum / (double)data->record_count);
}

double metrics_mean_absolute(const double *f, const struct dataset *data)
{
    return 2 * metrics_pinball(f, 0.5, data);
}

double metrics_pinball(const double *f, double tau, const struct dataset *data)
{
    double sum = 0;
    CHECK(data->record_count > 0 && tau > 0 && tau < 1);
    for (size_t i = 0; i < data->record_count; i++) {
        const double error = error_of(f, data, i);
        sum += fmax(tau * error, (tau - 1) * error);
    }
    return sum / (double)data->record_count;
}
