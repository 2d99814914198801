/* What the constants of `learn`'s plan (common/task/learn/text.c) buy: each plan beside the one that its constant rules out, with
 * the same epsilon, on the rehearsal's made-up tables (learn/rehearsal.h). Fixed seeds: every run has the same figures. A constant that
 * bought nothing would be ahead by 5 standard errors in one of 3 10^6 choices of them. */

#include "job/terms.h"
#include "job/work.h"
#include "task/learn/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 8192 };

/* A plan, and the job whose plan it is. */
struct case_of {
    const char *name;
    size_t columns;
    uint64_t records; /* of each of five agents */
    const char *trust;
    const char *delta;
    double epsilon;
    enum selftune_sight sight;
    uint32_t steps;
    enum selftune_sight other; /* what it is compared with */
    uint32_t other_steps;
    size_t tables;
};

static void write_text(char text[static TEXT_BYTES], const struct case_of *wanted, double epsilon)
{
    char columns[TEXT_BYTES / 2];
    int size = 0;
    for (size_t j = 0; j < wanted->columns; j++) {
        size += snprintf(columns + size, sizeof columns - (size_t)size,
                         "%s{column: c%zu, centre: 0, half_width: 1}", j == 0 ? "" : ", ", j);
    }
    (void)snprintf(text, TEXT_BYTES,
                   "hedgerow: 1\njob: toy\ndata:\n"
                   "  label: {column: y, positive: \"1\", negative: \"0\"}\n  features: [%s]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %.6f, "
                   "delta: %s}\n"
                   "cohort: {minimum: 5, records: %d, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
                   "  - {task: learn}\n",
                   columns, wanted->trust, epsilon, wanted->delta, (int)wanted->records);
}

static void parse(struct job *job, const struct case_of *wanted, double epsilon)
{
    char text[TEXT_BYTES];
    struct why why = {{0}};
    write_text(text, wanted, epsilon);
    cr_assert(job_parse(job, (struct slice){text, strlen(text)}, "toy", &why) == STATUS_OK, "%s",
              why.text);
}

/* Fills the job at that epsilon and its rehearsal. */
static void plan(struct rehearsal *out, struct job *job, const struct case_of *wanted,
                 double epsilon)
{
    struct why why = {{0}};
    const struct terms_size size = {.agents = 5, .records = wanted->records};
    parse(job, wanted, epsilon);
    cr_assert(terms_rehearse(out, job, 0, size, &why) == STATUS_OK, "%s", why.text);
}

static void weigh_noise(struct rehearsal *out, double factor)
{
    out->look_count *= factor;
    out->look_kept *= factor;
    out->look_sum *= factor;
    out->look_product *= factor;
    out->step *= factor;
}

/* The other plan at the case's epsilon. Its look is that of the case, or that of the job with the nearest epsilon which looks so.
 * Laplace noise is as 1/epsilon and the rounds, Gaussian noise as their root. */
static void plan_other(struct rehearsal *out, struct job *job, const struct case_of *wanted)
{
    const bool gaussian = strcmp(wanted->delta, "0") != 0;
    double at = wanted->epsilon;
    plan(out, job, wanted, at);
    for (int turn = 1; out->tune.sight != wanted->other; turn++) {
        job_free(job);
        cr_assert(turn < 100 && !gaussian, "%s: no job looks so", wanted->name);
        at = wanted->epsilon * pow(1.1, turn % 2 == 0 ? turn / 2 : -turn / 2 - 1);
        plan(out, job, wanted, at);
    }
    const double rounds = (1.0 + wanted->other_steps) / (1 + out->tune.steps);
    weigh_noise(out, gaussian ? sqrt(rounds) : rounds * at / wanted->epsilon);
    if (out->tune.steps == 0) { /* its own has no step: agents' Laplace noise of a clip's double */
        out->step = 2 * sqrt(2.0 * out->noises) * (1.0 + wanted->other_steps) / wanted->epsilon;
    }
    out->tune.steps = wanted->other_steps;
    out->groups_second = wanted->other_steps > 0 ? 0 : out->groups_second; /* then all look once */
}

static void compare(const struct case_of *wanted)
{
    struct job job[2];
    struct rehearsal plans[2];
    double sum = 0;
    double squares = 0;
    plan(&plans[0], &job[0], wanted, wanted->epsilon);
    cr_assert(plans[0].tune.sight == wanted->sight && plans[0].tune.steps == wanted->steps,
              "%s: %u steps after sight %d", wanted->name, plans[0].tune.steps,
              (int)plans[0].tune.sight);
    plan_other(&plans[1], &job[1], wanted);
    for (size_t t = 0; t < wanted->tables; t++) {
        struct rehearsal_answer answer[2];
        cr_assert(rehearsal_play(answer, plans, 2, 1, 1000 * t) == STATUS_OK);
        const double more = answer[1].lost.mean - answer[0].lost.mean;
        sum += more;
        squares += more * more;
    }
    const double n = (double)wanted->tables;
    const double error = sqrt((squares / n - sum / n * (sum / n)) / (n - 1));
    (void)printf("%s: %.4f (%.4f)\n", wanted->name, sum / n, error);
    cr_assert(sum / n > 5 * error, "%s: %.4f (%.4f)", wanted->name, sum / n, error);
    job_free(&job[0]);
    job_free(&job[1]);
}

#define LOCAL_4   "local", "0", 4
#define LOCAL_1   "local", "0", 1
#define LOCAL_0_3 "local", "0", 0.3
#define GAUSS_1   "local", "0.00001", 1

Test(learn_plan, products_pay_where_their_noise_is_small)
{
    compare(
        &(struct case_of){"squares", 7, 1260, LOCAL_4, SIGHT_PRODUCTS, 3, SIGHT_SQUARES, 2, 80});
    compare(&(struct case_of){"products", 7, 1260, LOCAL_0_3, SIGHT_SQUARES, 2, SIGHT_PRODUCTS, 2,
                              260});
}

Test(learn_plan, steps_after_products_are_few_where_noise_is_large)
{
    compare(
        &(struct case_of){"one step", 7, 1260, LOCAL_4, SIGHT_PRODUCTS, 3, SIGHT_PRODUCTS, 1, 60});
    compare(
        &(struct case_of){"8 steps", 7, 1260, LOCAL_1, SIGHT_PRODUCTS, 2, SIGHT_PRODUCTS, 8, 100});
}

Test(learn_plan, steps_after_sums_pay_where_columns_are_few)
{
    compare(&(struct case_of){"no step", 8, 123, LOCAL_1, SIGHT_SUMS, 1, SIGHT_SUMS, 0, 260});
}

static void text_of(char text[static TEXT_BYTES], const char *epsilon, const char *after)
{
    (void)snprintf(
        text, TEXT_BYTES,
        "hedgerow: 1\njob: toy\ndata:\n"
        "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: a, centre: 0, half_width: 1}, "
        "{column: b, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: %s, "
        "delta: 0}\n"
        "cohort: {minimum: 5, records: 1000, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: learn, share: 0.5}\n%s",
        epsilon, after);
}

/* Steps whose noise is small try products of columns; not where an update goes on from the model. */
static bool bends(const char *epsilon, const char *after)
{
    struct job job;
    struct why why = {{0}};
    char text[TEXT_BYTES];
    text_of(text, epsilon, after);
    cr_assert(job_parse(&job, (struct slice){text, strlen(text)}, "toy", &why) == STATUS_OK, "%s",
              why.text);
    const bool tries = learn_stage(job.stage)->tune.bends;
    cr_assert_eq(tries, job.stage->schema.map.kind == MAP_PRODUCTS);
    cr_assert_eq(job.stage->block.count, tries ? 6 : 3);
    cr_assert(!tries || learn_stage(job.stage)->tune.steps >= 4);
    job_free(&job);
    return tries;
}

Test(learn_plan, products_are_tried_where_noise_is_small)
{
    cr_assert(bends("20", ""));
    cr_assert(!bends("0.5", ""));
    cr_assert(!bends(
        "20", "  - {task: update, strategy: average, loss: logistic, noise: laplace, rounds: 2, "
              "batch: 500, clip: 1, rate: 1, share: 0.5}\n"));
    cr_assert(bends(
        "20", "  - {task: query, queries: [\"evaluate: own for y\"], batch: 1000, share: 0.5, "
              "grid_bits: 10, models: [{name: own, chosen: true}]}\n"));
    cr_assert(!bends("20", "  - {task: query, queries: [\"evaluate: card for y\"], batch: 1000, "
                           "share: 0.5, grid_bits: 10, models: [{name: card, constant: 1, "
                           "columns: [{column: a, weights: [2]}]}]}\n"));
}

/* So it reads a job that programs of before have begun. */
Test(learn_plan, an_older_job_tries_no_products_and_differs_in_nothing_else)
{
    struct job now;
    struct job older;
    char text[TEXT_BYTES];
    text_of(text, "20", "");
    const struct slice bytes = {text, strlen(text)};
    cr_assert(job_parse(&now, bytes, "toy", NULL) == STATUS_OK);
    cr_assert(job_parse_older(&older, bytes, JOB_UP_TO_4, "toy", NULL) == STATUS_OK);
    cr_assert(job_differs_older(&now) && !job_differs_older(&older));
    cr_assert(!learn_stage(older.stage)->tune.bends);
    cr_assert_eq(older.stage->block.count, 3);
    cr_assert_eq(older.stage->rounds, now.stage->rounds);
    cr_assert_eq(older.stage->charge.epsilon_micro, now.stage->charge.epsilon_micro);
    cr_assert_eq(memcmp(&learn_stage(older.stage)->weights, &learn_stage(now.stage)->weights,
                        sizeof(struct learn_weights)),
                 0);
    for (uint32_t within = 0; within < now.stage->rounds; within++) {
        struct round_bounds bounds[2];
        cr_assert(round_bounds(&bounds[0], &now, now.stage, within, 1000, 0, NULL) == STATUS_OK &&
                  round_bounds(&bounds[1], &older, older.stage, within, 1000, 0, NULL) ==
                      STATUS_OK);
        cr_assert_eq(bounds[0].sensitivity, bounds[1].sensitivity);
    }
    job_free(&now);
    job_free(&older);
}

/* A job that programs of before have begun keeps its two steps. */
Test(learn_plan, an_older_job_takes_two_steps)
{
    const struct case_of wanted = {.columns = 30, .records = 91, .trust = "central", .delta = "0"};
    struct job now;
    parse(&now, &wanted, 20);
    cr_expect_eq(learn_stage(now.stage)->tune.steps, 3);
    cr_expect(job_differs_older(&now));
    struct job older;
    char text[TEXT_BYTES];
    write_text(text, &wanted, 20);
    cr_assert(job_parse_older(&older, (struct slice){text, strlen(text)}, JOB_UP_TO_4, "toy",
                              NULL) == STATUS_OK);
    cr_expect_eq(learn_stage(older.stage)->tune.steps, 2);
    cr_expect_eq(older.stage->rounds, 3);
    cr_expect(!job_differs_older(&older));
    job_free(&now);
    job_free(&older);
    for (int other = 0; other < 2; other++) { /* more noise, and less */
        parse(&now, &wanted, other == 0 ? 8 : 60);
        cr_expect_eq(learn_stage(now.stage)->tune.steps, other == 0 ? 2 : 4);
        cr_expect(!job_differs_older(&now));
        job_free(&now);
    }
}

/* Sites refuse what is too much work for their slots: products are no matrix of their own. */
Test(learn_plan, products_of_many_columns_are_a_little_more_work)
{
    static char text[TEXT_BYTES];
    const struct work_size size = {.records = 100000, .agents = 5};
    struct work_need need[2];
    struct job job;
    char columns[TEXT_BYTES / 2];
    size_t used = 0;
    for (int i = 0; i < SELFTUNE_BENDS_MAX; i++) {
        used +=
            (size_t)snprintf(columns + used, sizeof columns - used,
                             "%s{column: c%d, centre: 0, half_width: 1}", i == 0 ? "" : ", ", i);
    }
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n"
                   "  label: {column: y, positive: \"1\", negative: \"0\"}\n  features: [%s]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 20, "
                   "delta: 0}\n"
                   "cohort: {minimum: 5, records: 100000, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages:\n  - {task: learn}\n",
                   columns);
    for (int older = 0; older < 2; older++) {
        const struct slice bytes = {text, strlen(text)};
        cr_assert(job_parse_older(&job, bytes, older == 1 ? JOB_UP_TO_4 : JOB_OF_NOW, "toy",
                                  NULL) == STATUS_OK);
        cr_assert_eq(learn_stage(job.stage)->tune.bends, older == 0);
        cr_assert(work_of_stage(&need[older], &job, 0, size, NULL) == STATUS_OK);
        job_free(&job);
    }
    cr_expect_lt(need[0].flops, 10 * need[1].flops, "%g times", need[0].flops / need[1].flops);
}

Test(learn_plan, gaussian_steps_are_many)
{
    compare(
        &(struct case_of){"3 steps", 7, 1260, GAUSS_1, SIGHT_PRODUCTS, 8, SIGHT_PRODUCTS, 3, 300});
    compare(&(struct case_of){"one step", 57, 736, GAUSS_1, SIGHT_SUMS, 4, SIGHT_SUMS, 1, 110});
}
