/* Every row of tests/vectors/erm.json, whose answers another implementation found. */

#include "learn/dense.h"
#include "learn/erm.h"
#include "learn/kernel_machine.h"

#include "tests/support/objective.h"
#include "wdbc.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AREA = 3, RECORDS = 569, FEATURES = WDBC_COLUMNS + 1 };

/* Regression: mean_area, the fourth column, from the others and the constant. */
static struct dataset regression_of(const struct dataset *from)
{
    struct dataset data = {.record_count = RECORDS, .feature_count = FEATURES - 1};
    data.x = calloc(RECORDS * (FEATURES - 1), sizeof *data.x);
    data.y = calloc(RECORDS, sizeof *data.y);
    cr_assert(data.x != NULL && data.y != NULL && from->record_count == RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        const double *x = from->x + i * FEATURES;
        data.y[i] = fmin(fmax(x[AREA] * sqrt(FEATURES), -1), 1);
        for (size_t j = 0; j < FEATURES - 1; j++) {
            data.x[i * (FEATURES - 1) + j] =
                x[j < AREA ? j : j + 1] * sqrt(FEATURES) * schema_scale(FEATURES - 1);
        }
    }
    return data;
}

static struct loss loss_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "loss"));
    struct loss loss = {LOSS_SQUARED, 0};
    if (strcmp(name, "least_squares") != 0) {
        cr_assert(loss_from_name(&loss.kind, name) == STATUS_OK);
    }
    loss.parameter = json_number_value(json_object_get(row, "tau"));
    return loss;
}

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* What double precision can promise at the smallest lambda; the solver aims at a sixteenth. */
static double tolerance_of(struct loss loss, double lambda)
{
    return loss_is_smooth(loss) ? (lambda < 0.01 ? 1e-5 : 1e-8) : lambda < 0.001 ? 1.6e-5 : 2e-6;
}

static void check_features(const json_t *row, const struct dataset *data)
{
    const struct loss loss = loss_of(row);
    const double lambda = number(row, "lam");
    const struct erm_problem problem = {.loss = loss,
                                        .lambda = lambda,
                                        .tolerance = tolerance_of(loss, lambda),
                                        .record_count = data->record_count,
                                        .feature_count = data->feature_count};
    struct erm_plan plan;
    struct why why = {{0}};
    double w[FEATURES];
    cr_assert(erm_plan(&plan, &problem, &why) == STATUS_OK, "%s", why.text);
    cr_assert(erm_solve(w, &problem, data, &why) == STATUS_OK);
    const double off = erm_objective(w, &problem, data) - number(row, "objective");
    const double norm = sqrt(dense_dot(w, w, data->feature_count));
    const double granted = fmax(1e-6, number(row, "duality_gap"));
    cr_log_info("%s %g %g: objective off by %.2e, norm by %.2e (distance %.2e)",
                loss_name(loss.kind), loss.parameter, lambda, off, norm - number(row, "w_norm"),
                plan.distance);
    cr_assert(off < 1e-6 && off > -granted, "%s %g: %g", loss_name(loss.kind), lambda, off);
    /* Their point is off by the root of their gap over lambda, ours by less than the distance. */
    const double slack = loss_is_smooth(loss) ? 1e-6 : sqrt(granted / lambda);
    cr_assert(fabs(norm - number(row, "w_norm")) <= plan.distance + slack);
}

static void check_kernel(const json_t *row, const struct dataset *data)
{
    const struct kernel_problem problem = {
        .loss = loss_of(row),
        .kernel = {.kind = KERNEL_GAUSSIAN, .rate = number(row, "g")},
        .lambda = number(row, "lam"),
        .tolerance = 1e-5,
        .record_count = data->record_count,
        .feature_count = data->feature_count,
    };
    struct kernel_model model;
    struct erm_plan plan;
    double f[5];
    cr_assert(kernel_plan(&plan, &problem, NULL) == STATUS_OK);
    cr_assert(kernel_fit(&model, &problem, data, NULL) == STATUS_OK);
    const double off = kernel_objective(&model, &problem, data->y) - number(row, "objective");
    kernel_predict(f, &model, data->x, 5);
    for (size_t i = 0; i < 5; i++) {
        const double expected =
            json_number_value(json_array_get(json_object_get(row, "f_first5"), i));
        cr_assert(fabs(f[i] - expected) < 1e-9, "%g: %g", problem.lambda, f[i] - expected);
    }
    cr_assert(fabs(off) < 1e-9, "%g", off);
    kernel_model_free(&model);
}

Test(erm_vectors, are_met_row_by_row)
{
    struct dataset data = wdbc_load();
    struct dataset regression = regression_of(&data);
    json_t *root = json_load_file(TEST_VECTORS "/erm.json", 0, NULL);
    const json_t *rows = json_object_get(root, "rows");
    size_t i = 0;
    const json_t *row = NULL;
    json_array_foreach(rows, i, row)
    {
        const struct dataset *use = loss_is_classification(loss_of(row)) ? &data : &regression;
        if (json_object_get(row, "kernel") != NULL) {
            check_kernel(row, use);
        } else {
            check_features(row, use);
        }
    }
    cr_assert(i == 28);
    json_decref(root);
    dataset_free(&data);
    dataset_free(&regression);
}
