/* The online task: every release is the stream's model after the records that it has seen, in the
 * public order and on the grid; and over all releases together one replaced day moves the answers by
 * no more than the noise is for. */

#include "task/answer.h"

#include "dp/encode.h"
#include "task/online/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAYS = 200, RELEASES = 3, D = 3, BITS = 32, TABLE_BYTES = DAYS * 32 };

static const char text[] =
    "hedgerow: 1\n"
    "job: stream\n"
    "data:\n"
    "  label: {centre: 0, half_width: 1}\n"
    "  series: {column: entries, lags: [1, 7]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 2, delta: 0}\n"
    "cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: online, rounds: 3, t0: 20, share: 1, grid_bits: 32}\n";

struct fixture {
    struct job job;
    struct dataset data;
    size_t order[DAYS];
};

static void read_days(struct dataset *data, const struct job *job, const double *day)
{
    char *table = malloc(TABLE_BYTES);
    size_t used = (size_t)snprintf(table, TABLE_BYTES, "entries\n");
    struct why why = {{0}};
    for (size_t i = 0; i < DAYS; i++) {
        used += (size_t)snprintf(table + used, TABLE_BYTES - used, "%.17g\n", day[i]);
    }
    cr_assert_eq(dataset_parse(data, (struct slice){table, used}, "days", &job->schema,
                               &(struct dataset_options){.use = DATASET_LEARN}, &why),
                 STATUS_OK, "%s", why.text);
    free(table);
}

static void fixture_init(struct fixture *f, const double *day)
{
    struct why why = {{0}};
    memset(f, 0, sizeof *f);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, sizeof text - 1}, "job.yml", &why),
                 STATUS_OK, "%s", why.text);
    read_days(&f->data, &f->job, day);
    cr_assert_eq(f->data.feature_count, D);
    for (size_t i = 0; i < f->data.record_count; i++) {
        f->order[i] = i;
    }
}

static void fixture_free(struct fixture *f)
{
    dataset_free(&f->data);
    job_free(&f->job);
}

static struct private_vector run(const struct fixture *f, uint32_t within)
{
    struct private_vector vector = {0};
    struct task_input input = {.job = &f->job,
                               .stage = &f->job.stage[0],
                               .within = within,
                               .data = &f->data,
                               .order = f->order};
    struct why why = {{0}};
    cr_assert_eq(task_run(&vector, &input, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(vector.count, D);
    return vector;
}

static void fill(double *day, struct seeded_random *seeded)
{
    for (size_t i = 0; i < DAYS; i++) {
        day[i] = seeded_random_below(seeded, 2) == 0 ? -1 : 1;
    }
}

Test(answer_online, a_release_is_the_model_after_the_records_it_has_seen)
{
    struct fixture f;
    struct seeded_random seeded;
    double day[DAYS];
    const uint64_t times[RELEASES] = {21, 61, 141};
    seeded_random_init(&seeded, 1);
    fill(day, &seeded);
    fixture_init(&f, day);
    for (size_t i = 0; i < f.data.record_count; i++) {
        f.order[i] = f.data.record_count - 1 - i; /* whichever order is public */
    }
    for (uint32_t within = 0; within < RELEASES; within++) {
        struct private_vector vector = run(&f, within);
        double w[D] = {0};
        double early[D] = {0};
        bool differs = false;
        for (uint64_t t = 0; t < times[within]; t++) {
            memcpy(early, w, sizeof w);
            online_run(w, &online_stage(&f.job.stage[0])->stream, f.data.x + f.order[t] * D,
                       f.data.y + f.order[t], t, 1);
        }
        for (size_t j = 0; j < D; j++) {
            cr_assert_eq(vector.value[j], encode_value(w[j], BITS));
            cr_assert(vector.low <= vector.value[j] && vector.value[j] <= vector.high);
            differs = differs || encode_value(early[j], BITS) != vector.value[j];
        }
        cr_assert(differs, "a record too few would be seen");
        private_vector_free(&vector);
    }
    fixture_free(&f);
}

/* The sum over the releases of how far they moved, each in its noise's own unit. */
static double moved(const struct fixture *f, const double *day, size_t replaced, double value)
{
    struct fixture other = *f;
    double changed[DAYS];
    double sum = 0;
    memcpy(changed, day, sizeof changed);
    changed[replaced] = value;
    read_days(&other.data, &f->job, changed);
    for (uint32_t within = 0; within < RELEASES; within++) {
        struct private_vector a = run(f, within);
        struct private_vector b = run(&other, within);
        double distance = 0;
        for (size_t j = 0; j < D; j++) {
            distance += fabs((double)(a.value[j] - b.value[j]));
        }
        sum += distance / (double)a.sensitivity;
        private_vector_free(&a);
        private_vector_free(&b);
    }
    dataset_free(&other.data);
    return sum;
}

Test(answer_online, one_replaced_day_costs_no_more_than_the_charge_over_all_releases)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 2);
    double most = 0;
    for (size_t trial = 0; trial < 8; trial++) {
        struct fixture f;
        double day[DAYS];
        fill(day, &seeded);
        fixture_init(&f, day);
        for (size_t i = 0; i < DAYS; i += 1 + trial) {
            double price = moved(&f, day, i, -day[i]);
            cr_assert_leq(price, 1, "day %zu", i);
            most = fmax(most, price);
        }
        fixture_free(&f);
    }
    cr_assert_gt(most, 0.01, "the bound is of this size: %g", most);
}

/* A record unlike all others, whose influence fades only by the regularisation, through the agent's
 * own code. It loses nearly half of what is charged. Planted: without the stream's factor it loses
 * more than twice the charge. */
Test(answer_online, a_lone_record_would_pay_more_than_the_charge_were_the_factor_forgotten)
{
    enum { ROWS = 200, TIMES = 6, LONE = 3 };
    static const char lone_text[] =
        "hedgerow: 1\n"
        "job: lone\n"
        "data: {label: {column: y, centre: 0, half_width: 1}, features: [{column: v, centre: 0,\n"
        "  half_width: 1}]}\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 2, delta: 0}\n"
        "cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}\n"
        "stages: [{task: online, rounds: 6, t0: 3, theta: 0.95, share: 1, grid_bits: 32}]\n";
    struct job job;
    size_t order[ROWS];
    struct private_vector answer[2];
    double price = 0;
    double forgotten = 0;
    cr_assert_eq(job_parse(&job, (struct slice){lone_text, sizeof lone_text - 1}, "job.yml", NULL),
                 STATUS_OK);
    for (uint32_t within = 0; within < TIMES; within++) {
        for (size_t side = 0; side < 2; side++) {
            char table[ROWS * 8] = "v,y\n";
            struct dataset data;
            for (size_t i = 0; i < ROWS; i++) {
                const char *row = i != LONE ? "-1,1\n" : side == 0 ? "1,1\n" : "1,-1\n";
                (void)strncat(table, row, sizeof table - strlen(table) - 1);
                order[i] = i;
            }
            cr_assert_eq(dataset_parse(&data, (struct slice){table, strlen(table)}, "rows",
                                       &job.schema, &(struct dataset_options){.use = DATASET_LEARN},
                                       NULL),
                         STATUS_OK);
            struct task_input input = {.job = &job,
                                       .stage = &job.stage[0],
                                       .within = within,
                                       .data = &data,
                                       .order = order};
            cr_assert_eq(task_run(&answer[side], &input, NULL), STATUS_OK);
            dataset_free(&data);
        }
        double moved = 0;
        for (size_t j = 0; j < answer[0].count; j++) {
            moved += fabs((double)(answer[0].value[j] - answer[1].value[j]));
        }
        price += moved / (double)answer[0].sensitivity;
        forgotten += moved / (double)answer[0].sensitivity *
                     online_stream_factor(&online_stage(&job.stage[0])->stream, TIMES);
        private_vector_free(&answer[0]);
        private_vector_free(&answer[1]);
    }
    cr_assert(price > 0.4 && price <= 1, "%g", price);
    cr_assert_gt(forgotten, 2, "%g", forgotten);
    job_free(&job);
}

Test(answer_online, a_site_with_too_few_days_is_told_before_anything_runs)
{
    struct fixture f;
    double day[DAYS] = {0};
    struct why why = {{0}};
    fixture_init(&f, day);
    cr_assert_eq(task_check(&f.job, &f.job.stage[0], 141, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(task_check(&f.job, &f.job.stage[0], 140, &why), STATUS_INVALID);
    cr_assert_not_null(strstr(why.text, "needs 141 records"), "%s", why.text);
    fixture_free(&f);
}
