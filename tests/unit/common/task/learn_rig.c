/* Jobs that learn in each way, and made-up records and states for them. */

#include "learn_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

const struct learn_way learn_ways[WAYS] = {
    {SIGHT_PRODUCTS, false, false, "200"},
    {SIGHT_PRODUCTS, true, false, "100"},
    {SIGHT_SQUARES, false, false, "40"},
    {SIGHT_SQUARES, true, false, "12.85"},
    {SIGHT_SUMS, false, false, "10"},
    {SIGHT_SUMS, true, false, "5"},
    {SIGHT_PRODUCTS, false, true, "200"},
    {SIGHT_SQUARES, true, true, "12.85"},
    {SIGHT_SUMS, false, true, "16"},
    {SIGHT_SUMS, true, true, "5"},
    {SIGHT_PRODUCTS, false, false, "1000", true},
    {SIGHT_PRODUCTS, true, false, "200", true},
    {SIGHT_SQUARES, false, false, "200", true},
    {SIGHT_SQUARES, true, false, "25", true},
    {SIGHT_NONE, false, false, "0.5", true},
    {SIGHT_NONE, true, false, "0.5", true},
    {SIGHT_PRODUCTS, true, true, "100"},
    {SIGHT_PRODUCTS, false, false, "1000", true, "huber, loss_parameter: 0.3"},
    {SIGHT_NONE, true, false, "0.5", true, "huber, loss_parameter: 0.3"},
    {SIGHT_NONE, false, false, "0.5", true, "pinball, loss_parameter: 0.8"},
    {SIGHT_SQUARES, true, false, "25", true, "pinball, loss_parameter: 0.5"},
    {SIGHT_PRODUCTS, false, false, "1000"},
    {SIGHT_PRODUCTS, true, true, "1000"}};

void learn_rig_init(struct learn_rig *f, const struct learn_way *way)
{
    char text[4096];
    char columns[2048];
    int size = 0;
    struct why why = {{0}};
    memset(f, 0, sizeof *f);
    for (int j = 0; j < D; j++) {
        size += snprintf(columns + size, sizeof columns - (size_t)size,
                         "%s{column: c%d, centre: 0, half_width: 1}", j == 0 ? "" : ", ", j);
    }
    (void)snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, %s}\n  features: [%s]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: %s, delta: %s}\n"
        "cohort: {minimum: 2, records: %d, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: learn%s%s}\n",
        way->several  ? "classes: [\"0\", \"1\", \"2\"]"
        : way->number ? "centre: 0, half_width: 1"
                      : "positive: \"1\", negative: \"0\"",
        columns, way->epsilon, way->gaussian ? "0.00001" : "0", M,
        way->loss == NULL ? "" : ", loss: ", way->loss == NULL ? "" : way->loss);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "toy", &why), STATUS_OK,
                 "%s", why.text);
    f->classes = way->several ? 3 : way->number ? 0 : 2;
    f->number = way->number;
    f->columns = D + (way->number ? 1 : 0);
    f->outputs = way->several ? 3 : 1;
    f->width = f->job.stage->block.count;
    cr_assert_eq(learn_stage(f->job.stage)->tune.sight, way->sight);
    cr_assert_eq(learn_stage(f->job.stage)->tune.gaussian, way->gaussian);
    cr_assert_eq(learn_class_count(f->job.stage), f->classes);
    cr_assert_eq(f->job.stage->batch, M);
    for (size_t i = 0; i < M; i++) {
        f->order[i] = (i * 7 + 3) % M;
    }
    f->data = (struct dataset){.record_count = M, .feature_count = f->width, .x = f->x, .y = f->y};
    f->input = (struct task_input){.job = &f->job,
                                   .stage = f->job.stage,
                                   .data = &f->data,
                                   .order = f->order,
                                   .experts = f->state};
}

void learn_rig_set_features(struct learn_rig *f)
{
    const double constant = schema_constant(&f->job.stage->schema);
    const double scale = schema_column_scale(&f->job.stage->schema);
    for (size_t i = 0; i < M; i++) {
        const double *z = f->z + i * D;
        double *x = f->x + i * f->width;
        for (size_t j = 0; j < D; j++) {
            *x++ = scale * z[j];
        }
        for (size_t j = 0; j < D && f->width > D + 1; j++) {
            for (size_t k = j; k < D; k++) {
                *x++ = scale * z[j] * z[k];
            }
        }
        *x = constant;
    }
}

void learn_rig_draw_records(struct learn_rig *f, struct seeded_random *seeded)
{
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < D; j++) {
            f->z[i * D + j] = 2 * seeded_random_unit(seeded) - 1;
        }
        f->y[i] = f->number ? seeded_random_unit(seeded)
                            : (double)seeded_random_below(seeded, f->classes);
        f->y[i] = f->outputs > 1 ? f->y[i] : 2 * f->y[i] - 1;
    }
    learn_rig_set_features(f);
}

void learn_rig_draw_state(struct learn_rig *f, struct seeded_random *seeded)
{
    const size_t shown = selftune_shown_count(&learn_stage(f->job.stage)->tune);
    for (size_t i = 0; i < shown; i++) {
        f->state[i] = seeded_random_unit(seeded) - 0.5;
    }
    f->state[0] = 0.6;
}

struct private_vector learn_rig_run(struct learn_rig *f, uint32_t within)
{
    struct private_vector vector = {0};
    struct why why = {{0}};
    f->input.within = within;
    cr_assert_eq(task_run(&vector, &f->input, &why), STATUS_OK, "%s", why.text);
    cr_assert_leq(vector.count, VALUES_MAX);
    for (size_t i = 0; i < vector.count; i++) {
        cr_assert(vector.low <= vector.value[i] && vector.value[i] <= vector.high);
    }
    return vector;
}
