/* Every allocation fails once, at every position. A table, a schema's copy, a model or a fit is
 * then missing as a whole, never cut short. Nothing is leaked (run under ASan). */

#include "learn/dataset.h"
#include "learn/gradient.h"
#include "learn/kernel_machine.h"
#include "learn/model.h"
#include "learn/moments.h"
#include "learn/selftune.h"
#include "learn/selftune_number.h"
#include "tests/support/failing_memory.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void *json_memory(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

static struct column column[] = {
    {.name = "a", .centre = 1, .half_width = 2, .has_missing = true, .missing = 1},
    {.name = "c", .kind = COLUMN_CATEGORY, .category_count = 3, .category = {"x", "y", "z"}}};
static double landmark[] = {1, 2, 0, 1, 3, 0};

/* 0: a series with a Fourier map; 1: classes with landmarks. */
static struct schema schema_of(int kind)
{
    const struct schema series = {
        .column = column,
        .column_count = 2,
        .label = {.name = "y", .kind = LABEL_NUMBER, .centre = 1, .half_width = 2},
        .lag_count = 1,
        .lag = {1},
        .map = {.kind = MAP_FOURIER,
                .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 1},
                .feature_count = 4,
                .seed = 3},
        .keeps_raw = true};
    const struct schema classes = {.column = column,
                                   .column_count = 2,
                                   .label = {.name = "y",
                                             .kind = LABEL_CLASSES,
                                             .class_count = 3,
                                             .class_name = {"0", "1", "2"}},
                                   .map = {.kind = MAP_NYSTROM,
                                           .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 1},
                                           .landmark_count = 3,
                                           .landmark = landmark}};
    return kind == 0 ? series : classes;
}

static const char table[] = "a,c,y\n1,x,0\n2,y,1\n,z,2\n2,y,1\n";

Test(learn_memory, failing_anywhere_gives_no_table)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct schema schema = schema_of(kind);
        long position = 0;
        bool survived = false;
        for (; !survived && position < 10000; position++) {
            struct dataset data;
            struct why why = {{0}};
            countdown = position;
            const enum status status =
                dataset_parse(&data, (struct slice){table, strlen(table)}, "t.csv", &schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, &why);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "at %ld: %s", position,
                         why.text);
            cr_assert((data.x != NULL) == survived);
            dataset_free(&data);
        }
        cr_assert(survived && position > 10, "only %ld allocations were seen", position);
    }
}

Test(learn_memory, failing_anywhere_gives_no_copy)
{
    const struct schema schema = schema_of(1);
    for (long position = 0; position < 3; position++) {
        struct schema copy;
        countdown = position;
        const enum status status = schema_copy(&copy, &schema);
        countdown = -1;
        cr_assert_eq(status, position < 2 ? STATUS_NO_MEMORY : STATUS_OK);
        cr_assert((copy.column != NULL) == (position == 2));
        schema_free(&copy);
    }
}

Test(learn_memory, failing_anywhere_takes_no_model)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct schema schema = schema_of(kind);
        const size_t count = schema_output_count(&schema) * schema_feature_count(&schema);
        double *weight = calloc(count, sizeof *weight);
        bool survived = false;
        cr_assert_not_null(weight);
        weight[0] = 1;
        for (long position = 0; !survived; position++) {
            struct model model = {0};
            countdown = position;
            const enum status status = model_take(&model, &schema, weight);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "at %ld", position);
            cr_assert((model.weight != NULL) == survived);
            model_free(&model);
        }
        free(weight);
    }
}

/* Writes the model with the allocation at position refused; returns whether none was. */
static bool written_at(long position, const struct model *model, const char *whole)
{
    char *text = NULL;
    countdown = position;
    const enum status status = model_to_json(&text, model);
    const bool survived = countdown >= 0;
    countdown = -1;
    cr_assert(status == STATUS_OK || status == STATUS_NO_MEMORY);
    cr_assert(!survived || status == STATUS_OK);
    if (status == STATUS_OK) {
        cr_assert_str_eq(text, whole, "at %ld something was left out", position);
    } else {
        cr_assert(text == NULL);
    }
    free(text);
    return survived;
}

Test(learn_memory, failing_anywhere_leaves_nothing_out_of_a_model)
{
    json_set_alloc_funcs(json_memory, free);
    for (int kind = 0; kind < 2; kind++) {
        struct model model = {.schema = schema_of(kind), .private = true, .job = "j"};
        double weight[12] = {0.5};
        char *whole = NULL;
        long position = 0;
        bool survived = false;
        model.weight = weight;
        model.weight_count =
            schema_feature_count(&model.schema) * schema_output_count(&model.schema);
        cr_assert(model_to_json(&whole, &model) == STATUS_OK);
        for (; !survived && position < 10000; position++) {
            survived = written_at(position, &model, whole);
        }
        cr_assert(survived && position > 50, "only %ld allocations were seen", position);
        /* jansson's reader does not survive a refusal. While reading, only our own allocations are
         * refused. */
        json_set_alloc_funcs(__real_malloc, free);
        survived = false;
        for (position = 0; !survived && position < 10000; position++) {
            struct model back;
            struct why why = {{0}};
            countdown = position;
            const enum status status =
                model_from_json(&back, (struct slice){whole, strlen(whole)}, "m.json", &why);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "at %ld: %s", position,
                         why.text);
            cr_assert((back.weight != NULL) == survived);
            model_free(&back);
        }
        json_set_alloc_funcs(json_memory, free);
        free(whole);
    }
}

enum { FIT_FEATURES = 3 };

/* Two records that are nearly alike: descent finds no certificate for the absolute loss, and the
 * slower method takes over. */
static double fit_x[] = {1, 0, 0, 1 - 0x1p-15, 0, 0};
static double fit_y[] = {1, 0.25};

/* By features where d <= m, by the records' products where not, or by a kernel. */
static enum status fit_at(enum loss_kind loss, size_t d, bool kernel, struct why *why)
{
    const double lambda = 1e-4;
    const double tolerance = 1e-3;
    const struct dataset data = {.record_count = 2, .feature_count = d, .x = fit_x, .y = fit_y};
    const struct erm_problem fit = {{loss, 0}, lambda, tolerance, 2, d};
    const struct kernel_problem machine = {{loss, 0}, {.kind = KERNEL_LINEAR}, lambda, tolerance, 2,
                                           d};
    struct kernel_model model;
    double w[FIT_FEATURES];
    if (!kernel) {
        return erm_solve(w, &fit, &data, why);
    }
    const enum status status = kernel_fit(&model, &machine, &data, why);
    cr_assert((model.alpha != NULL) == (status == STATUS_OK));
    kernel_model_free(&model);
    return status;
}

Test(learn_memory, failing_anywhere_gives_no_fit)
{
    const enum loss_kind losses[] = {LOSS_SQUARED, LOSS_LOGISTIC, LOSS_ABSOLUTE};
    for (int way = 0; way < 9; way++) {
        const size_t d = way / 3 == 0 ? 1 : FIT_FEATURES;
        long position = 0;
        bool survived = false;
        for (; !survived && position < 1000; position++) {
            struct why why = {{0}};
            countdown = position;
            const enum status status = fit_at(losses[way % 3], d, way / 3 == 2, &why);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "%d at %ld: %s", way,
                         position, why.text);
            cr_assert(survived || why.text[0] != '\0');
        }
        cr_assert(survived && position > 6, "only %ld allocations were seen", position);
    }
}

Test(learn_memory, failing_anywhere_gives_no_sum)
{
    const struct gradient gradient = {{LOSS_LOGISTIC, 0}, 1, 1, 10, GRADIENT_L1, 1000};
    const struct gradient_rows rows = {.x = fit_x, .y = fit_y, .row_count = 1};
    const struct moments moments = {.feature_count = 1, .grid_bits = 10, .bound_y = 1};
    for (int task = 0; task < 2; task++) {
        bool survived = false;
        for (long position = 0; !survived && position < 100; position++) {
            const double weight = 0;
            int64_t sum[2] = {7, 7};
            countdown = position;
            const enum status status = task == 0 ? gradient_sum(sum, &gradient, &weight, &rows)
                                                 : moments_sum(sum, &moments, fit_x, fit_y, 1);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY);
            cr_assert((sum[0] == 0) == !survived, "nothing is left of a sum that failed");
        }
        cr_assert(survived);
    }
}

/* Three features: begins, takes a look, takes a step; of classes, then of a number. */
static enum status selftune_at(int task, double *state, const struct selftune *stage)
{
    static const double sums[14] = {4, 1, 0, 4, 1, 4};
    const double *kept = stage->sight == SIGHT_SUMS ? sums : NULL;
    const struct selftune_look look = {10, sums, kept, sums, sums, 1, 0, 1, 1, NULL, NULL};
    const struct selftune_release step = {
        .step = 1, .record_count = 10, .gradient = sums, .deviation = 1};
    const struct selftune_number number = {*stage, {LOSS_SQUARED, 0}, 0.1};
    const struct selftune_number_look seen = {10, sums, sums + 4, 1, 1};
    const struct selftune_number_release turn = {10, sums, 1, 1, 1};
    switch (task) {
    case 0:
        return selftune_begin(state, stage);
    case 1:
        return selftune_take_look(state, stage, &look);
    case 2:
        return selftune_take_gradient(state, stage, &step);
    case 3:
        return selftune_number_begin(state, &number);
    case 4:
        return selftune_number_take_look(state, &number, &seen);
    default:
        return selftune_number_take_gradient(state, &number, &turn);
    }
}

enum { LEARNER_STATE = 48 };

/* Each of so many tasks, with every allocation failing once. before: (LEARNER_STATE) */
static void fail_anywhere(const double *before, int tasks, const struct selftune *stage)
{
    for (int task = 0; task < tasks; task++) {
        long position = 0;
        for (bool survived = false; !survived && position < 100; position++) {
            double state[LEARNER_STATE];
            memcpy(state, before, sizeof state);
            countdown = position;
            const enum status status = selftune_at(task, state, stage);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY);
            const bool same = memcmp(state, before, sizeof state) == 0;
            cr_assert(task % 3 == 0 || same == !survived, "%d at %ld", task, position);
        }
        cr_assert(position > 4, "only %ld allocations were seen", position);
    }
}

Test(learn_memory, failing_anywhere_leaves_a_learners_state_as_it_was)
{
    const struct selftune stage = {.feature_count = 3,
                                   .output_count = 1,
                                   .sight = SIGHT_PRODUCTS,
                                   .steps = 2,
                                   .quantile = 0.3};
    const struct selftune_number number = {stage, {LOSS_SQUARED, 0}, 0.1};
    double before[LEARNER_STATE] = {0};
    cr_assert(selftune_number_state_count(&number) <= LEARNER_STATE &&
              selftune_number_begin(before, &number) == STATUS_OK);
    fail_anywhere(before, 6, &stage);
}

/* A look at sums is followed by steps that keep secants. */
Test(learn_memory, failing_anywhere_leaves_secants_as_they_were)
{
    const struct selftune stage = {
        .feature_count = 3, .output_count = 1, .sight = SIGHT_SUMS, .steps = 2, .quantile = 0.3};
    double before[LEARNER_STATE] = {0};
    cr_assert(selftune_secant_count(&stage) > 0 && selftune_state_count(&stage) <= LEARNER_STATE &&
              selftune_begin(before, &stage) == STATUS_OK);
    fail_anywhere(before, 3, &stage);
}
