/* The predict task: what it answers, that nothing but q numbers leave, and that one replaced record
 * moves them no farther than the stage says. */

#include "task/answer.h"

#include "learn/kernel_machine.h"
#include "task/predict/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M_MAX = 60, D = 3, Q = 5, BITS = 20 };

struct fixture {
    double x[M_MAX * D];
    double y[M_MAX];
    size_t order[M_MAX];
    struct dataset data;
    struct job job;
    struct task_input input;
};

/* stage: its keys beside the points. The last three points are equal. */
static void fixture_init(struct fixture *f, const char *label, const char *stage, size_t m)
{
    char text[2048];
    struct why why = {{0}};
    memset(f, 0, sizeof *f);
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n  label: %s\n  features:\n"
                   "    - {column: a, centre: 0, half_width: 1}\n"
                   "    - {column: b, centre: 0, half_width: 1}\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, "
                   "delta: 0}\n"
                   "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
                   "  - {task: predict, points: [[-0.5, 0.25], [0, 1], [1, 1], [1, 1], [1, 1]], "
                   "share: 1, grid_bits: %d, %s}\n",
                   label, BITS, stage);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "toy", &why), STATUS_OK,
                 "%s", why.text);
    for (size_t i = 0; i < m; i++) {
        f->order[i] = i;
    }
    f->data = (struct dataset){.record_count = m, .feature_count = D, .x = f->x, .y = f->y};
    f->input = (struct task_input){
        .job = &f->job, .stage = f->job.stage, .data = &f->data, .order = f->order};
}

static void draw_all(struct fixture *f, size_t classes, struct seeded_random *seeded)
{
    for (size_t i = 0; i < f->data.record_count; i++) {
        for (size_t j = 0; j < D; j++) {
            f->x[i * D + j] = (2 * seeded_random_unit(seeded) - 1) / sqrt(D);
        }
        f->y[i] = classes > 0 ? (double)seeded_random_below(seeded, classes)
                              : 2 * seeded_random_unit(seeded) - 1;
    }
}

static struct private_vector run(struct fixture *f, uint32_t within)
{
    struct private_vector vector = {0};
    struct why why = {{0}};
    f->input.within = within;
    cr_assert_eq(task_run(&vector, &f->input, &why), STATUS_OK, "%s", why.text);
    return vector;
}

/* (K + lambda m I) a = y by Gauss and Jordan, for the Laplacian kernel of rate 2; then f at the points. */
static void by_hand(double f[Q], const struct fixture *fixture, const double *y, double lambda)
{
    const size_t m = fixture->data.record_count;
    double a[M_MAX][M_MAX + 1];
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            double square = 0;
            for (size_t k = 0; k < D; k++) {
                square += pow(fixture->x[i * D + k] - fixture->x[j * D + k], 2);
            }
            a[i][j] = exp(-2 * sqrt(square)) + (i == j ? lambda * (double)m : 0);
        }
        a[i][m] = y[i];
    }
    for (size_t k = 0; k < m; k++) {
        for (size_t i = 0; i < m; i++) {
            const double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (size_t j = k; j <= m; j++) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    for (size_t q = 0; q < Q; q++) {
        f[q] = 0;
        for (size_t i = 0; i < m; i++) {
            double square = 0;
            for (size_t k = 0; k < D; k++) {
                square += pow(
                    predict_stage(fixture->job.stage)->point[q * D + k] - fixture->x[i * D + k], 2);
            }
            f[q] += a[i][m] / a[i][i] * exp(-2 * sqrt(square));
        }
    }
}

Test(answer_predict, answers_of_every_lambda_and_class_are_those_of_the_model)
{
    static const double lambda[] = {0.1, 0.01};
    struct seeded_random seeded;
    struct fixture f;
    double y[M_MAX];
    seeded_random_init(&seeded, 1);
    fixture_init(&f, "{column: y, classes: [a, b, c]}",
                 "loss: squared, kernel: {kind: laplacian, gamma: 2}, lambdas: [0.1, 0.01]", 20);
    draw_all(&f, 3, &seeded);
    for (uint32_t within = 0; within < 2; within++) {
        struct private_vector vector = run(&f, within);
        cr_assert_eq(vector.count, 3 * Q);
        for (size_t own = 0; own < 3; own++) {
            double expected[Q];
            for (size_t i = 0; i < 20; i++) {
                y[i] = f.y[i] == (double)own ? 1 : -1;
            }
            by_hand(expected, &f, y, lambda[within]);
            for (size_t q = 0; q < Q; q++) {
                cr_assert_float_eq(ldexp((double)vector.value[own * Q + q], -BITS), expected[q],
                                   2e-6);
            }
        }
        private_vector_free(&vector);
    }
    job_free(&f.job);
}

/* A point of the job is a record like any other: its features are the schema's. */
Test(answer_predict, points_become_features_as_records_do)
{
    struct fixture f;
    fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                 "loss: squared, kernel: {kind: gaussian, gamma: 1}, lambdas: [0.1]", 10);
    cr_assert_eq(predict_stage(f.job.stage)->point_count, Q);
    cr_assert_float_eq(predict_stage(f.job.stage)->point[0], -0.5 / sqrt(3), 1e-12);
    cr_assert_float_eq(predict_stage(f.job.stage)->point[1], 0.25 / sqrt(3), 1e-12);
    cr_assert_float_eq(predict_stage(f.job.stage)->point[2], 1 / sqrt(3), 1e-12);
    cr_assert_str_eq(predict_stage(f.job.stage)->point_name[0], "-0.5, 0.25");
    job_free(&f.job);
}

/* A kernel expansion has a number for every record, and the records; what is offered has neither. */
Test(answer_predict, what_is_offered_has_q_numbers_however_many_records_there_are)
{
    for (size_t m = 2; m <= M_MAX; m += 29) {
        struct seeded_random seeded;
        struct fixture f;
        seeded_random_init(&seeded, m);
        fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                     "loss: absolute, kernel: {kind: gaussian, gamma: 1}, lambdas: [0.1]", m);
        draw_all(&f, 0, &seeded);
        struct private_vector vector = run(&f, 0);
        cr_assert_eq(vector.count, Q);
        cr_assert(vector.high == INT64_C(1) << BITS && vector.low == -vector.high);
        for (size_t q = 0; q < Q; q++) {
            cr_assert(vector.value[q] >= vector.low && vector.value[q] <= vector.high);
        }
        private_vector_free(&vector);
        job_free(&f.job);
    }
}

static double distance_of(const struct private_vector *before, const struct private_vector *after)
{
    double distance = 0;
    for (size_t q = 0; q < before->count; q++) {
        distance += fabs((double)(before->value[q] - after->value[q]));
    }
    return distance;
}

/* Every point is the record that changes its label. At this lambda every hinge is bent, f = sum y_i K/(2
 * lambda m), and f at that record moves by the whole bound 1/(lambda m). */
Test(answer_predict, one_replaced_record_reaches_the_sensitivity_and_half_of_it_would_be_caught)
{
    struct seeded_random seeded;
    struct fixture f;
    seeded_random_init(&seeded, 5);
    fixture_init(&f, "{column: y, positive: \"1\", negative: \"0\"}",
                 "loss: hinge, kernel: {kind: gaussian, gamma: 1}, lambdas: [2], tolerance: "
                 "0.00000001",
                 20);
    draw_all(&f, 2, &seeded);
    for (size_t i = 0; i < 20; i++) {
        f.y[i] = f.y[i] == 0 ? -1 : 1;
    }
    for (size_t q = 0; q < Q; q++) {
        memcpy(predict_stage(f.job.stage)->point + q * D, f.x + 7 * D, D * sizeof(double));
    }
    struct private_vector before = run(&f, 0);
    f.y[7] = -f.y[7];
    struct private_vector after = run(&f, 0);
    const double distance = distance_of(&before, &after);
    cr_assert_leq(distance, (double)before.sensitivity);
    cr_assert_gt(distance, 0.9 * (double)before.sensitivity);
    cr_assert_gt(distance, 1.1 * (double)before.sensitivity / Q,
                 "a charge for one point, paid for %d, would be caught", Q);
    private_vector_free(&before);
    private_vector_free(&after);
    job_free(&f.job);
}

/* Any record replaced by any other, for every loss and kernel. The answer never moves by more than
 * the whole range. */
Test(answer_predict, random_and_hostile_neighbours_stay_within_the_sensitivity)
{
    static const char *const stages[] = {
        "loss: squared, kernel: {kind: gaussian, gamma: 3}, lambdas: [0.05]",
        "loss: absolute, kernel: {kind: laplacian, gamma: 1}, lambdas: [0.3], tolerance: 0.0000001",
        "loss: huber, loss_parameter: 1, lambdas: [1], tolerance: 0.00001, kernel: {kind: polynomial, degree: 2}",
        "loss: squared, kernel: {kind: gaussian, gamma: 3}, lambdas: [0.0001], tolerance: 0.00001",
    };
    struct seeded_random seeded;
    seeded_random_init(&seeded, 6);
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++) {
        struct fixture f;
        fixture_init(&f, "{column: y, centre: 0, half_width: 1}", stages[s], 15);
        for (int trial = 0; trial < 100; trial++) {
            draw_all(&f, 0, &seeded);
            const size_t row = seeded_random_below(&seeded, 15);
            if (trial % 2 == 0) {
                memcpy(f.x + row * D, predict_stage(f.job.stage)->point + 2 * D,
                       D * sizeof(double));
                f.y[row] = 1;
            }
            struct private_vector before = run(&f, 0);
            f.y[row] = -f.y[row];
            f.x[row * D] = trial % 4 == 1 ? 1 : f.x[row * D];
            f.x[row * D + 1] = trial % 4 == 1 ? 0 : f.x[row * D + 1];
            f.x[row * D + 2] = trial % 4 == 1 ? 0 : f.x[row * D + 2];
            struct private_vector after = run(&f, 0);
            cr_assert_leq(distance_of(&before, &after), (double)before.sensitivity, "stage %zu", s);
            cr_assert_leq(before.sensitivity, (uint64_t)Q << (BITS + 1));
            private_vector_free(&before);
            private_vector_free(&after);
        }
        job_free(&f.job);
    }
}

/* At the smallest lambda one label moves f by more than the range without the projection. */
Test(answer_predict, answers_that_were_not_projected_would_be_caught)
{
    struct fixture f;
    fixture_init(&f, "{column: y, positive: \"1\", negative: \"0\"}",
                 "loss: logistic, kernel: {kind: gaussian, gamma: 1}, lambdas: [0.001]", 4);
    for (size_t i = 0; i < 4; i++) {
        memcpy(f.x + i * D, predict_stage(f.job.stage)->point + 2 * D, D * sizeof(double));
        f.y[i] = 1;
    }
    const struct kernel_problem problem = {.loss = f.job.stage->loss,
                                           .kernel = predict_stage(f.job.stage)->kernel,
                                           .lambda = 0.001,
                                           .tolerance = f.job.stage->tolerance,
                                           .record_count = 4,
                                           .feature_count = D};
    struct kernel_model model;
    double raw = 0;
    cr_assert_eq(kernel_fit(&model, &problem, &f.data, NULL), STATUS_OK);
    kernel_predict(&raw, &model, predict_stage(f.job.stage)->point + 2 * D, 1);
    kernel_model_free(&model);
    struct private_vector vector = run(&f, 0);
    cr_assert_gt(raw, 2, "the model itself goes far beyond the range: %f", raw);
    cr_assert_eq(vector.value[2], INT64_C(1) << BITS);
    cr_assert_eq(vector.sensitivity, (uint64_t)Q << (BITS + 1));
    private_vector_free(&vector);
    job_free(&f.job);
}
