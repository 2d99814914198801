/* The learn task's answers: a look's sums and a step's gradients against plain loops in floating point; a pair of
 * records that comes near a look's bound, in L1 and in L2, and none that passes it; states that no coordinator of
 * ours sends. Fixed seeds: no false alarms. */

#include "task/answer.h"
#include "task/learn/stage.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    M = 40,
    D = 6,
    WIDTH = D + 1,
    STATE_MAX = 2 + D + D + D * D,
    VALUES_MAX = 2 + D + D * (D + 1) / 2
};

struct fixture {
    double z[M * D]; /* columns in -1 .. 1 */
    double x[M * WIDTH];
    double y[M];
    double state[STATE_MAX];
    size_t order[M];
    struct dataset data;
    struct job job;
    struct task_input input;
};

static void fixture_init(struct fixture *f, bool looks, bool gaussian)
{
    char text[2048];
    struct why why = {{0}};
    memset(f, 0, sizeof *f);
    (void)snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: a, centre: 0, half_width: 1}, {column: b, centre: 0, half_width: 1},\n"
        "    {column: c, centre: 0, half_width: 1}, {column: d, centre: 0, half_width: 1},\n"
        "    {column: e, centre: 0, half_width: 1}, {column: f, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: %s, delta: %s}\n"
        "cohort: {minimum: 2, records: %d, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: learn}\n",
        looks ? "100" : "0.5", gaussian ? "0.00001" : "0", M);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "toy", &why), STATUS_OK,
                 "%s", why.text);
    cr_assert_eq(learn_stage(f->job.stage)->tune.looks, looks);
    cr_assert_eq(learn_stage(f->job.stage)->tune.gaussian, gaussian);
    cr_assert_eq(f->job.stage->batch, M);
    for (size_t i = 0; i < M; i++) {
        f->order[i] = (i * 7 + 3) % M;
    }
    f->data = (struct dataset){.record_count = M, .feature_count = WIDTH, .x = f->x, .y = f->y};
    f->input = (struct task_input){.job = &f->job,
                                   .stage = f->job.stage,
                                   .data = &f->data,
                                   .order = f->order,
                                   .experts = f->state};
}

/* Features as the reader makes them of the columns. */
static void set_features(struct fixture *f)
{
    const double constant = schema_constant(&f->job.stage->schema);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < D; j++) {
            f->x[i * WIDTH + j] = constant * f->z[i * D + j];
        }
        f->x[i * WIDTH + D] = constant;
    }
}

static void draw_records(struct fixture *f, struct seeded_random *seeded)
{
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < D; j++) {
            f->z[i * D + j] = 2 * seeded_random_unit(seeded) - 1;
        }
        f->y[i] = seeded_random_below(seeded, 2) == 0 ? -1 : 1;
    }
    set_features(f);
}

/* A clip, a model, and where there is a look means and a whitening. */
static void draw_state(struct fixture *f, struct seeded_random *seeded)
{
    const size_t shown = selftune_shown_count(&learn_stage(f->job.stage)->tune);
    for (size_t i = 0; i < shown; i++) {
        f->state[i] = seeded_random_unit(seeded) - 0.5;
    }
    f->state[0] = 0.6;
}

static struct private_vector run(struct fixture *f, uint32_t within)
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

static void look_by_the_book(double *value, const struct fixture *f)
{
    memset(value, 0, VALUES_MAX * sizeof *value);
    for (size_t i = 0; i < M; i++) {
        const double *z = f->z + i * D;
        size_t at = 2 + D;
        value[f->y[i] > 0 ? 1 : 0]++;
        for (size_t j = 0; j < D; j++) {
            value[2 + j] += z[j];
            for (size_t k = j; k < D; k++) {
                value[at++] += z[j] * z[k];
            }
        }
    }
}

Test(answer_learn, a_look_is_counts_sums_and_products)
{
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        struct seeded_random seeded;
        struct fixture f;
        double wanted[VALUES_MAX];
        seeded_random_init(&seeded, 1);
        fixture_init(&f, true, gaussian != 0);
        draw_records(&f, &seeded);
        look_by_the_book(wanted, &f);
        struct private_vector vector = run(&f, 0);
        cr_assert_eq(vector.count, VALUES_MAX);
        const struct learn_weights *weights = &learn_stage(f.job.stage)->weights;
        for (size_t i = 0; i < VALUES_MAX; i++) {
            const double weight = i < 2       ? weights->count
                                  : i < 2 + D ? weights->sum
                                              : weights->product;
            cr_assert_float_eq(ldexp((double)vector.value[i], -LEARN_LOOK_BITS) / weight, wanted[i],
                               1e-5);
        }
        private_vector_free(&vector);
        job_free(&f.job);
    }
}

/* ((z - mu) W, 1), or (2 z, 1); the slope of the logistic loss times it, shortened to the clip. */
static void step_by_the_book(double *value, const struct fixture *f)
{
    const struct selftune *tune = &learn_stage(f->job.stage)->tune;
    const double *mu = f->state + 2 + D;
    memset(value, 0, WIDTH * sizeof *value);
    for (size_t i = 0; i < M; i++) {
        double u[WIDTH] = {0};
        double f_of = 0;
        double norm = 0;
        for (size_t j = 0; j < D; j++) {
            u[j] = tune->looks ? 0 : 2 * f->z[i * D + j];
            for (size_t k = 0; k < D && tune->looks; k++) {
                u[j] += (f->z[i * D + k] - mu[k]) * mu[D + k * D + j];
            }
        }
        u[D] = 1;
        for (size_t j = 0; j < WIDTH; j++) {
            f_of += u[j] * f->state[1 + j];
            norm += tune->gaussian ? u[j] * u[j] : fabs(u[j]);
        }
        const double slope = 1 / (1 + exp(-f_of)) - (f->y[i] > 0 ? 1 : 0);
        norm = (tune->gaussian ? sqrt(norm) : norm) * fabs(slope);
        for (size_t j = 0; j < WIDTH; j++) {
            value[j] += slope * u[j] * fmin(1, f->state[0] / norm);
        }
    }
}

Test(answer_learn,
     a_step_is_the_sum_of_clipped_gradients_and_a_first_one_without_a_look_has_the_counts)
{
    for (int way = 0; way < 4; way++) {
        struct seeded_random seeded;
        struct fixture f;
        double wanted[WIDTH];
        seeded_random_init(&seeded, 2);
        fixture_init(&f, way % 2 == 0, way / 2 == 0);
        draw_records(&f, &seeded);
        draw_state(&f, &seeded);
        step_by_the_book(wanted, &f);
        for (uint32_t within = way % 2 == 0 ? 1 : 0; within < f.job.stage->rounds; within++) {
            struct private_vector vector = run(&f, within);
            const bool counted = learn_counts_in_step(f.job.stage, within);
            const double unit = f.state[0] / (double)learn_clip(f.job.stage, within);
            double ones = 0;
            cr_assert_eq(vector.count, WIDTH + (counted ? 2u : 0u));
            for (size_t j = 0; j < WIDTH; j++) {
                /* Every record is rounded to a grid of 2^-15 of the clip, twice. */
                cr_assert_float_eq((double)vector.value[j] * unit, wanted[j], 2 * M * unit,
                                   "way %d, %zu", way, j);
            }
            for (size_t i = 0; i < M; i++) {
                ones += f.y[i] > 0;
            }
            for (size_t c = 0; c < 2 && counted; c++) {
                cr_assert_eq(vector.value[WIDTH + c], learn_stage(f.job.stage)->count_step *
                                                          (int64_t)(c == 1 ? ones : M - ones));
            }
            private_vector_free(&vector);
        }
        job_free(&f.job);
    }
}

static double distance(const struct private_vector *a, const struct private_vector *b,
                       bool gaussian)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        const double apart = (double)(a->value[i] - b->value[i]);
        sum += gaussian ? apart * apart : fabs(apart);
    }
    return gaussian ? sqrt(sum) : sum;
}

/* The worst pairs of the proofs in bounds.c. L1: corners against a point near 0, on its other side. L2: columns of
 * which some turn their sign, so that <z, w> is near 0 and below; the two classes. */
static double worst_pair(struct fixture *f, bool gaussian, size_t turned, double other)
{
    for (size_t j = 0; j < D; j++) {
        f->z[j] = 1;
    }
    f->y[0] = 1;
    set_features(f);
    struct private_vector before = run(f, 0);
    for (size_t j = 0; j < D; j++) {
        f->z[j] = gaussian ? (j < turned ? -1 : 1) : other;
    }
    f->y[0] = -1;
    set_features(f);
    struct private_vector after = run(f, 0);
    const double part = distance(&before, &after, gaussian) / (double)before.sensitivity;
    private_vector_free(&before);
    private_vector_free(&after);
    return part;
}

Test(answer_learn, a_look_comes_near_its_bound_and_never_passes_it)
{
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        struct seeded_random seeded;
        struct fixture f;
        double most = 0;
        seeded_random_init(&seeded, 3);
        fixture_init(&f, true, gaussian != 0);
        draw_records(&f, &seeded);
        for (size_t turned = 0; turned <= D; turned++) {
            most = fmax(most, worst_pair(&f, gaussian != 0, turned, -0.05 * (double)turned));
        }
        cr_expect_leq(most, 1, "gaussian %d: %g", gaussian, most);
        /* In L2 the diagonal counts for d/2 of d^2 + d/2, and corners do not move it. */
        cr_expect_geq(most, gaussian != 0 ? 0.95 : 0.98, "gaussian %d: only %g", gaussian, most);
        /* Planted: a look whose products weigh a tenth more. */
        learn_stage(f.job.stage)->weights.product *= 1.1;
        most = 0;
        for (size_t turned = 0; turned <= D; turned++) {
            most = fmax(most, worst_pair(&f, gaussian != 0, turned, -0.05 * (double)turned));
        }
        cr_expect_gt(most, 1, "gaussian %d: a heavier part is not seen: %g", gaussian, most);
        job_free(&f.job);
    }
}

/* Neighbours at random, nearly always at corners; any model and clip. */
Test(answer_learn, no_record_moves_an_answer_by_more_than_its_sensitivity)
{
    for (int way = 0; way < 4; way++) {
        struct seeded_random seeded;
        struct fixture f;
        double most = 0;
        seeded_random_init(&seeded, 4);
        fixture_init(&f, way % 2 == 0, way / 2 == 0);
        for (int trial = 0; trial < 400; trial++) {
            draw_records(&f, &seeded);
            draw_state(&f, &seeded);
            f.state[0] = exp(4 * seeded_random_unit(&seeded) - 4);
            const uint32_t within = (uint32_t)seeded_random_below(&seeded, f.job.stage->rounds);
            struct private_vector before = run(&f, within);
            for (size_t j = 0; j < D; j++) {
                f.z[j] = seeded_random_below(&seeded, 4) == 0 ? 2 * seeded_random_unit(&seeded) - 1
                         : seeded_random_below(&seeded, 2) == 0 ? -1
                                                                : 1;
            }
            f.y[0] = -f.y[0];
            set_features(&f);
            struct private_vector after = run(&f, within);
            cr_assert_eq(before.sensitivity, after.sensitivity);
            most = fmax(most, distance(&before, &after, way / 2 == 0) / (double)before.sensitivity);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_expect_leq(most, 1, "way %d: %g", way, most);
        cr_expect_geq(most, 0.7, "way %d: only %g", way, most);
        job_free(&f.job);
    }
}

Test(answer_learn, a_state_that_is_nonsense_stays_within_the_bounds)
{
    const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 0, 1e-310, -3};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct seeded_random seeded;
        struct fixture f;
        seeded_random_init(&seeded, 5);
        fixture_init(&f, true, false);
        draw_records(&f, &seeded);
        for (size_t at = 0; at < STATE_MAX; at += 7) {
            draw_state(&f, &seeded);
            f.state[at] = odd[i];
            struct private_vector before = run(&f, 1);
            f.z[0] = -f.z[0];
            f.y[0] = -f.y[0];
            set_features(&f);
            struct private_vector after = run(&f, 1);
            cr_assert_leq(distance(&before, &after, false), (double)before.sensitivity);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        job_free(&f.job);
    }
}
