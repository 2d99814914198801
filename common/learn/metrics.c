#include "learn/metrics.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/loss.h"

#include <stdlib.h>

struct scored {
    double f;
    double y;
};

void metrics_scores(double *f, const double *w, const struct dataset *data)
{
    const size_t d = data->feature_count;
    for (size_t i = 0; i < data->record_count; i++) {
        f[i] = dense_dot(w, data->x + i * d, d);
    }
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
    bytes_wipe(sorted, m * sizeof *sorted);
    free(sorted);
    return STATUS_OK;
}

double metrics_majority(const struct dataset *data)
{
    size_t positives = 0;
    CHECK(data->record_count > 0);
    for (size_t i = 0; i < data->record_count; i++) {
        positives += data->y[i] > 0 ? 1 : 0;
    }
    const size_t negatives = data->record_count - positives;
    return (double)(positives > negatives ? positives : negatives) / (double)data->record_count;
}
