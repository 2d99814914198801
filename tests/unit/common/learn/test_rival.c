/* The model without privacy against scikit-learn's figures, which tests/vectors/rival.py wrote. */

#include "learn/metrics.h"
#include "learn/rival.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TUMOURS = 569, MEASUREMENTS = 30, SEVEN = 3000, LINE = 1500 };

/* The script's generator. */
struct draws {
    uint64_t state;
};

static double uniform(struct draws *draws)
{
    draws->state = draws->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(draws->state >> 32) / 4294967296.0;
}

static double bell(struct draws *draws)
{
    const double first = uniform(draws) + uniform(draws);
    const double second = first + uniform(draws);
    return (second + uniform(draws) - 2) * sqrt(3);
}

static struct dataset table_new(size_t records, size_t columns)
{
    struct dataset data = {.record_count = records, .feature_count = columns + 1};
    data.x = calloc(records * (columns + 1), sizeof *data.x);
    data.y = calloc(records, sizeof *data.y);
    cr_assert(data.x != NULL && data.y != NULL);
    for (size_t i = 0; i < records; i++) {
        data.x[i * (columns + 1) + columns] = 1 / sqrt((double)(columns + 1));
    }
    return data;
}

static void put(struct dataset *data, size_t i, size_t column, double value, double scale)
{
    data->x[i * data->feature_count + column] =
        fmin(fmax(value / scale, -1), 1) / sqrt((double)data->feature_count);
}

static struct dataset tumours(void)
{
    struct dataset data = table_new(TUMOURS, MEASUREMENTS);
    double centre[MEASUREMENTS];
    double scale[MEASUREMENTS];
    char line[1024];
    FILE *bounds = fopen(TEST_VECTORS "/wdbc_public.csv", "r");
    FILE *file = fopen(TEST_VECTORS "/wdbc.csv", "r");
    cr_assert(bounds != NULL && file != NULL);
    cr_assert(fgets(line, sizeof line, bounds) != NULL && fgets(line, sizeof line, file) != NULL);
    for (size_t j = 0; j < MEASUREMENTS; j++) {
        cr_assert(fgets(line, sizeof line, bounds) != NULL);
        char *rest = strchr(line, ',') + 1;
        centre[j] = strtod(rest, &rest);
        scale[j] = strtod(rest + 1, NULL);
    }
    for (size_t i = 0; i < TUMOURS; i++) {
        char *rest = line;
        cr_assert(fgets(line, sizeof line, file) != NULL);
        for (size_t j = 0; j < MEASUREMENTS; j++) {
            put(&data, i, j, strtod(rest, &rest) - centre[j], scale[j]);
            rest++;
        }
        data.y[i] = strtod(rest, NULL) > 0 ? 1 : -1;
    }
    (void)fclose(bounds);
    (void)fclose(file);
    return data;
}

static struct dataset seven(void)
{
    struct dataset data = table_new(SEVEN, 5);
    struct draws draws = {7};
    for (size_t i = 0; i < SEVEN; i++) {
        const double label = fmin(floor(7 * pow(uniform(&draws), 1.3)), 6);
        const double angle = 2 * M_PI * label / 7;
        put(&data, i, 0, cos(angle) + 0.22 * bell(&draws), 2);
        put(&data, i, 1, sin(angle) + 0.22 * bell(&draws), 2);
        for (size_t j = 2; j < 5; j++) {
            put(&data, i, j, bell(&draws), 2);
        }
        data.y[i] = label;
    }
    return data;
}

static struct dataset line(void)
{
    struct dataset data = table_new(LINE, 4);
    struct draws draws = {11};
    for (size_t i = 0; i < LINE; i++) {
        double row[4];
        for (size_t j = 0; j < 3; j++) {
            row[j] = bell(&draws);
        }
        row[3] = row[0] + 0.01 * bell(&draws);
        for (size_t j = 0; j < 4; j++) {
            put(&data, i, j, row[j], 3);
        }
        const double told = 0.3 * row[0] - 0.2 * row[1] + 0.1 * row[2];
        data.y[i] = fmin(fmax(told + 0.1 * bell(&draws), -1), 1);
    }
    return data;
}

static const struct table {
    const char *name;
    struct dataset (*make)(void);
    enum label_kind kind;
    size_t outputs;
} table[] = {{"tumours", tumours, LABEL_SIGN, 1},
             {"seven", seven, LABEL_CLASSES, 7},
             {"line", line, LABEL_NUMBER, 1}};

static const struct table *table_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "table"));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    cr_assert_fail("no table %s", name);
    return NULL;
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

/* The mean loss, straight from its formula. */
static double plain_loss(const struct table *kind, const double *w, const struct dataset *data)
{
    double sum = 0;
    double *f = calloc(data->record_count * kind->outputs, sizeof *f);
    cr_assert_not_null(f);
    metrics_class_scores(f, w, kind->outputs, data);
    for (size_t i = 0; i < data->record_count; i++) {
        const double *own = f + i * kind->outputs;
        double all = 0;
        for (size_t j = 0; j < kind->outputs; j++) {
            all += exp(own[j]);
        }
        sum += kind->kind == LABEL_SIGN     ? log1p(exp(-data->y[i] * own[0]))
               : kind->kind == LABEL_NUMBER ? pow(data->y[i] - own[0], 2)
                                            : log(all) - own[(size_t)data->y[i]];
    }
    free(f);
    return sum / (double)data->record_count;
}

Test(rival, finds_the_minimum_that_scikit_learn_finds)
{
    json_t *root = json_load_file(TEST_VECTORS "/rival.json", 0, NULL);
    const json_t *rows = json_object_get(root, "fits");
    const json_t *row = NULL;
    size_t i = 0;
    cr_assert_eq(json_array_size(rows), 9);
    json_array_foreach(rows, i, row)
    {
        const struct table *kind = table_of(row);
        const double lambda = number(row, "lambda");
        struct dataset data = kind->make();
        const struct rival_problem problem = {kind->kind, kind->outputs, &data};
        double *w = calloc(kind->outputs * data.feature_count, sizeof *w);
        double squares = 0;
        cr_assert(w != NULL && rival_fit(w, &problem, lambda) == STATUS_OK);
        for (size_t j = 0; j < kind->outputs * data.feature_count; j++) {
            squares += (j + 1) % data.feature_count == 0 ? 0 : w[j] * w[j];
        }
        const double found = plain_loss(kind, w, &data) + lambda * squares;
        const double off = found - number(row, "objective");
        cr_log_info("%s %g: off by %.2e", kind->name, lambda, off);
        cr_expect(fabs(off) < 1e-7, "%s, lambda %g: %.9g for %.9g", kind->name, lambda, found,
                  number(row, "objective"));
        free(w);
        dataset_free(&data);
    }
    json_decref(root);
}

/* Every fifth record of the order is held out. */
static void split(struct dataset *learn, struct dataset *held, const struct dataset *all,
                  const size_t *order)
{
    const size_t d = all->feature_count;
    *learn = table_new(all->record_count, d - 1);
    *held = table_new(all->record_count, d - 1);
    learn->record_count = held->record_count = 0;
    for (size_t i = 0; i < all->record_count; i++) {
        struct dataset *to = i % 5 == 0 ? held : learn;
        memcpy(to->x + to->record_count * d, all->x + order[i] * d, d * sizeof *all->x);
        to->y[to->record_count++] = all->y[order[i]];
    }
}

static void shuffle(struct draws *draws, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count - 1; i > 0; i--) {
        const size_t j = (size_t)(uniform(draws) * (double)(i + 1));
        const size_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* What one split's model reaches on the records held out. */
static void reach(double *figure, double *auc, const struct table *kind, const struct dataset *all,
                  const size_t *order)
{
    struct dataset learn;
    struct dataset held;
    double lambda = 0;
    double loss = 0;
    split(&learn, &held, all, order);
    const struct rival_problem problem = {kind->kind, kind->outputs, &learn};
    double *w = calloc(kind->outputs * all->feature_count, sizeof *w);
    double *f = calloc(held.record_count * kind->outputs, sizeof *f);
    cr_assert(w != NULL && f != NULL);
    cr_assert(rival_best(w, &lambda, &loss, &problem) == STATUS_OK);
    metrics_class_scores(f, w, kind->outputs, &held);
    *auc = 0;
    if (kind->kind == LABEL_SIGN) {
        *figure = metrics_accuracy(f, &held);
        cr_assert(metrics_auc(auc, f, &held) == STATUS_OK);
    } else if (kind->kind == LABEL_CLASSES) {
        *figure = metrics_class_accuracy(f, kind->outputs, &held);
    } else {
        *figure = metrics_root_mean_square(f, &held);
    }
    free(f);
    free(w);
    dataset_free(&learn);
    dataset_free(&held);
}

Test(rival, reaches_what_scikit_learn_reaches, .timeout = 120)
{
    json_t *root = json_load_file(TEST_VECTORS "/rival.json", 0, NULL);
    const json_t *rows = json_object_get(root, "best");
    const json_t *row = NULL;
    size_t i = 0;
    cr_assert_eq(json_array_size(rows), 3);
    json_array_foreach(rows, i, row)
    {
        const struct table *kind = table_of(row);
        struct dataset all = kind->make();
        struct draws draws = {5};
        size_t *order = calloc(all.record_count, sizeof *order);
        double figures = 0;
        double areas = 0;
        cr_assert_not_null(order);
        const double splits = number(row, "splits");
        for (double repeat = 0; repeat < splits; repeat++) {
            double figure = 0;
            double auc = 0;
            shuffle(&draws, order, all.record_count);
            reach(&figure, &auc, kind, &all, order);
            figures += figure / splits;
            areas += auc / splits;
        }
        cr_log_info("%s: %.4f for %.4f, AUC %.4f for %.4f", kind->name, figures,
                    number(row, "figure"), areas, number(row, "auc"));
        cr_expect(fabs(figures - number(row, "figure")) < 0.003, "%s: %.4f for %.4f", kind->name,
                  figures, number(row, "figure"));
        cr_expect(fabs(areas - number(row, "auc")) < 0.003, "%s: AUC %.4f for %.4f", kind->name,
                  areas, number(row, "auc"));
        free(order);
        dataset_free(&all);
    }
    json_decref(root);
}

Test(rival, equal_columns_and_separated_classes_are_no_trouble)
{
    struct dataset data = table_new(40, 3);
    double w[4 * 3] = {0};
    double lambda = 0;
    double loss = 0;
    for (size_t i = 0; i < 40; i++) {
        const double class = (double)(i % 3);
        for (size_t j = 0; j < 3; j++) {
            put(&data, i, j, class - 1, 1); /* three times the same */
        }
        data.y[i] = class;
    }
    const struct rival_problem classes = {LABEL_CLASSES, 3, &data};
    cr_assert(rival_best(w, &lambda, &loss, &classes) == STATUS_OK);
    cr_expect(isfinite(loss) && loss < 0.05, "%g at lambda %g", loss, lambda);
    for (size_t i = 0; i < 40; i++) {
        data.y[i] = i % 3 == 0 ? 1 : -1;
    }
    memset(w, 0, sizeof w);
    const struct rival_problem two = {LABEL_SIGN, 1, &data};
    cr_assert(rival_fit(w, &two, 0) == STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        cr_expect(isfinite(w[i]), "%g", w[i]);
    }
    dataset_free(&data);
}

/* Far from the minimum the logistic loss is nearly straight, so what the steps learn of its curvature is far
 * too small: the next step, of some 10^5, goes beyond the minimum to where the loss is larger, and only its
 * half, often enough, descends. Three records of four are positive and there is only the constant: the
 * minimum is at log 3. The planted fault, a search that tries the same length again, stays where it began. */
Test(rival, halves_steps_that_go_beyond_the_minimum)
{
    static const double start[] = {-14, -10, 12, 16};
    for (size_t i = 0; i < sizeof start / sizeof start[0]; i++) {
        double x[] = {1, 1, 1, 1};
        double y[] = {1, 1, 1, -1};
        double w = start[i];
        const struct dataset data = {.record_count = 4, .feature_count = 1, .x = x, .y = y};
        const struct rival_problem problem = {LABEL_SIGN, 1, &data};
        cr_assert(rival_fit(&w, &problem, 0) == STATUS_OK);
        cr_expect(fabs(w - log(3)) < 1e-3, "from %g: %.9g", start[i], w);
    }
}

/* A record whose labels are of several is as many records: of three, two of one class and one of another. */
Test(rival, shares_of_classes_are_records_of_one_class_each)
{
    enum { ROWS = 60, COPIES = 3, D = 3, K = 3 };
    struct draws draws = {5};
    double x[ROWS * COPIES * D];
    double y[ROWS * COPIES];
    double few[ROWS * D];
    double share[ROWS * K] = {0};
    double w[2][K * D] = {{0}, {0}};
    for (size_t i = 0; i < ROWS; i++) {
        few[i * D] = uniform(&draws) - 0.5;
        few[i * D + 1] = uniform(&draws) - 0.5;
        few[i * D + 2] = 1;
        for (size_t c = 0; c < COPIES; c++) {
            const double at = few[i * D] + 0.5 * uniform(&draws);
            const size_t own = at < 0 ? 0 : at < 0.3 ? 1 : 2;
            memcpy(x + (i * COPIES + c) * D, few + i * D, D * sizeof *x);
            y[i * COPIES + c] = (double)own;
            share[i * K + own] += 1.0 / COPIES;
        }
    }
    const struct dataset all = {.record_count = ROWS * COPIES, .feature_count = D, .x = x, .y = y};
    const struct dataset shared = {.record_count = ROWS, .feature_count = D, .x = few, .y = y};
    const struct rival_problem problem[] = {
        {.kind = LABEL_CLASSES, .outputs = K, .data = &all},
        {.kind = LABEL_CLASSES, .outputs = K, .data = &shared, .share = share}};
    for (size_t i = 0; i < 2; i++) {
        cr_assert(rival_fit(w[i], &problem[i], 1e-3) == STATUS_OK);
    }
    for (size_t j = 0; j < K * D; j++) {
        cr_expect(fabs(w[0][j] - w[1][j]) < 1e-3, "%zu: %g, %g", j, w[0][j], w[1][j]);
    }
    cr_expect(fabs(w[0][0]) > 0.1);
}
