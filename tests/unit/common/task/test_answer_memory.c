/* Tasks free no memory that holds a score, an answer at a point, a weight of a stream's model, labels
 * of a class against the rest, or features of a stage's own map. */

#include "learn/dense.h"
#include "learn/kernel_machine.h"
#include "task/answer.h"
#include "task/losses/stage.h"
#include "task/online/stage.h"
#include "task/predict/stage.h"
#include "tests/support/given_back.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

enum { M = 24, D = 3, K = 5 };

struct fixture {
    double x[M * D];
    double y[M];
    size_t order[M];
    double experts[K * D];
    struct dataset data;
    struct job job;
    struct task_input input;
};

static void fixture_init(struct fixture *f, const char *label, const char *stage, size_t classes)
{
    char text[2048];
    struct why why = {{0}};
    struct seeded_random seeded;
    memset(f, 0, sizeof *f);
    seeded_random_init(&seeded, 12);
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: memory\ndata:\n  label: %s\n  features:\n"
                   "    - {column: a, centre: 0, half_width: 1}\n"
                   "    - {column: b, centre: 0, half_width: 1}\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, "
                   "delta: 0}\n"
                   "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
                   "  - {%s}\n",
                   label, stage);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "memory", &why), STATUS_OK,
                 "%s", why.text);
    for (size_t i = 0; i < M * D; i++) {
        f->x[i] = (2 * seeded_random_unit(&seeded) - 1) / sqrt(D);
    }
    for (size_t i = 0; i < M; i++) {
        f->order[i] = i;
        f->y[i] = classes > 0 ? (double)seeded_random_below(&seeded, classes)
                              : 2 * seeded_random_unit(&seeded) - 1;
    }
    for (size_t i = 0; i < K * D; i++) {
        f->experts[i] = 2 * seeded_random_unit(&seeded) - 1;
    }
    f->data = (struct dataset){.record_count = M, .feature_count = D, .x = f->x, .y = f->y};
    f->input = (struct task_input){.job = &f->job,
                                   .stage = f->job.stage,
                                   .data = &f->data,
                                   .order = f->order,
                                   .experts = f->experts,
                                   .expert_count = K};
}

static void expect_wiped(const struct fixture *f, const double *secret, const char *what)
{
    struct private_vector vector;
    struct why why = {{0}};
    look_for(secret);
    cr_assert_eq(task_run(&vector, &f->input, &why), STATUS_OK, "%s: %s", what, why.text);
    private_vector_free(&vector);
    cr_expect_eq(found, 0, "%s", what);
}

/* A record of the last class, whose labels are made last. */
static void last_against_the_rest(double y[M], const struct fixture *f, size_t classes)
{
    for (size_t i = 0; i < M; i++) {
        y[i] = f->y[i] == (double)(classes - 1) ? 1 : -1;
    }
}

Test(answer_memory, labels_of_one_class_against_the_rest)
{
    static const char label[] = "{column: y, classes: [a, b, c]}";
    struct fixture f;
    double y[M];
    fixture_init(
        &f, label,
        "task: fit, loss: logistic, lambdas: [0.5], tolerance: 0.01, share: 1, grid_bits: 10", 3);
    last_against_the_rest(y, &f, 3);
    expect_wiped(&f, y + 4, "fit");
    job_free(&f.job);
    fixture_init(&f, label,
                 "task: predict, points: [[0, 1], [1, 1], [0.5, -1]], loss: squared, "
                 "kernel: {kind: laplacian, gamma: 2}, lambdas: [0.1], share: 1, grid_bits: 20",
                 3);
    expect_wiped(&f, y + 4, "predict");
    job_free(&f.job);
}

Test(answer_memory, labels_of_a_round)
{
    struct fixture f;
    fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                 "task: statistics, lambdas: [0.5], batch: 12, share: 1, grid_bits: 20", 0);
    expect_wiped(&f, f.y + 4, "statistics");
    job_free(&f.job);
}

Test(answer_memory, answers_at_the_points)
{
    struct fixture f;
    struct kernel_model model;
    double answer[GIVEN_BACK_WORDS];
    fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                 "task: predict, points: [[0, 1], [1, 1], [0.5, -1]], loss: squared, "
                 "kernel: {kind: laplacian, gamma: 2}, lambdas: [0.1], share: 1, grid_bits: 20",
                 0);
    const struct kernel_problem problem = {.loss = f.job.stage[0].loss,
                                           .kernel = predict_stage(&f.job.stage[0])->kernel,
                                           .lambda = 0.1,
                                           .tolerance = f.job.stage[0].tolerance,
                                           .record_count = M,
                                           .feature_count = D};
    cr_assert_eq(kernel_fit(&model, &problem, &f.data, NULL), STATUS_OK);
    kernel_predict(answer, &model, predict_stage(&f.job.stage[0])->point, GIVEN_BACK_WORDS);
    kernel_model_free(&model);
    cr_assert(fabs(answer[0]) < 1 && fabs(answer[1]) < 1 && fabs(answer[2]) < 1, "as they are");
    expect_wiped(&f, answer, "predict");
    job_free(&f.job);
}

/* Which are copied, where other stages have other maps. */
Test(answer_memory, features_of_a_stages_own_map)
{
    enum { ALL = 2 * D };
    struct fixture f;
    struct seeded_random seeded;
    double x[M * ALL];
    fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                 "task: update, loss: squared, rounds: 1, batch: 12, clip: 1, rate: 1, share: 0.5, "
                 "grid_bits: 20,\n     map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: "
                 "[[0, 0], [1, 1]]}}\n"
                 "  - {task: statistics, lambdas: [0.5], batch: 12, share: 0.5, grid_bits: 20",
                 0);
    cr_assert(f.job.stage[0].block.count == D && f.job.stage[0].block.all == ALL);
    seeded_random_init(&seeded, 13);
    for (size_t i = 0; i < M * ALL; i++) {
        x[i] = (2 * seeded_random_unit(&seeded) - 1) / sqrt(ALL);
    }
    f.data.x = x;
    f.data.feature_count = ALL;
    expect_wiped(&f, x + 20 * ALL, "update");
    job_free(&f.job);
}

Test(answer_memory, scores_of_a_record)
{
    struct fixture f;
    double score[K];
    fixture_init(
        &f, "{column: y, positive: \"1\", negative: \"0\"}",
        "task: fit, loss: logistic, lambdas: [0.5], tolerance: 0.01, share: 1, grid_bits: 10", 2);
    struct losses_stage own = {.doubling = false};
    struct stage stage = {.task = TASK_LOSSES,
                          .own = &own,
                          .epsilon_micro = 1000000,
                          .grid_bits = 10,
                          .loss = {.kind = LOSS_LOGISTIC},
                          .rounds = 1,
                          .batch = M,
                          .batches = 1};
    f.input.stage = &stage;
    dense_scores(score, f.experts, K, f.x + (M - 1) * D, 1, D);
    expect_wiped(&f, score + 1, "losses");
    job_free(&f.job);
}

static const char STREAM[] =
    "hedgerow: 1\njob: stream\ndata:\n  label: {centre: 0, half_width: 1}\n"
    "  series: {column: entries, lags: [1, 7]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 2, delta: 0}\n"
    "cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n  - {task: online, rounds: 1, t0: 20, share: 1, grid_bits: 32}\n";

Test(answer_memory, weights_of_a_stream)
{
    struct fixture f;
    struct why why = {{0}};
    double w[D] = {0};
    fixture_init(&f, "{column: y, centre: 0, half_width: 1}",
                 "task: statistics, lambdas: [0.5], batch: 12, share: 1, grid_bits: 20", 0);
    job_free(&f.job);
    cr_assert_eq(job_parse(&f.job, (struct slice){STREAM, sizeof STREAM - 1}, "stream", &why),
                 STATUS_OK, "%s", why.text);
    f.input.stage = f.job.stage;
    const struct round_rows rows = round_rows(f.job.stage, 0, M);
    online_run(w, &online_stage(&f.job.stage[0])->stream, f.x, f.y, 0,
               (size_t)(rows.first + rows.count));
    expect_wiped(&f, w, "online");
    job_free(&f.job);
}
