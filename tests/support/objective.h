/* objective.h - what solvers minimise, by plain loops. */

#ifndef SUPPORT_OBJECTIVE_H
#define SUPPORT_OBJECTIVE_H

#include "learn/erm.h"
#include "learn/kernel_machine.h"

/** Returns (1/m) sum L + lambda ||w||^2. */
static inline double erm_objective(const double *w, const struct erm_problem *problem,
                                   const struct dataset *data)
{
    const size_t d = data->feature_count;
    double sum = 0;
    double square = 0;
    for (size_t i = 0; i < data->record_count; i++) {
        double score = 0;
        for (size_t j = 0; j < d; j++) {
            score += w[j] * data->x[i * d + j];
        }
        sum += loss_value(problem->loss, score, data->y[i]);
    }
    for (size_t j = 0; j < d; j++) {
        square += w[j] * w[j];
    }
    return sum / (double)data->record_count + problem->lambda * square;
}

/** Returns (1/m) sum L + lambda ||f||_K^2 on the model's own records with labels y (m). */
static inline double kernel_objective(const struct kernel_model *model,
                                      const struct kernel_problem *problem, const double *y)
{
    double sum = 0;
    double square = 0;
    for (size_t i = 0; i < model->record_count; i++) {
        double f = 0;
        kernel_predict(&f, model, model->x + i * model->feature_count, 1);
        sum += loss_value(problem->loss, f, y[i]);
        square += model->alpha[i] * f;
    }
    return sum / (double)model->record_count + problem->lambda * square;
}

#endif
