/* The statistics task: what it sums, and that one replaced record moves it no farther than the stage
 * says, in L1 and in L2, for two classes, a number and several classes. */

#include "task/answer.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, D = 8, BATCH = 5, BITS = 10, CLASSES = 4 };

static const char *const labels[] = {
    "{column: y, positive: \"1\", negative: \"0\"}",
    "{column: y, centre: 0, half_width: 1}",
    "{column: y, classes: [a, b, c, d]}",
};

struct fixture {
    double x[M * D];
    double y[M];
    size_t order[M];
    struct dataset data;
    struct job job;
    struct task_input input;
};

static void fixture_init(struct fixture *f, enum label_kind kind, bool gaussian)
{
    char text[2048];
    struct why why = {{0}};
    memset(f, 0, sizeof *f);
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n  label: %s\n  features:\n"
                   "    - {column: a, centre: 0, half_width: 1}\n"
                   "    - {column: b, centre: 0, half_width: 1}\n"
                   "    - {column: c, categories: [p, q, r, s, t]}\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 1, "
                   "delta: 0.00001}\n"
                   "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
                   "  - {task: statistics, lambdas: [0.1, 0.2], batch: %d, grid_bits: %d, %s}\n",
                   labels[kind], BATCH, BITS, gaussian ? "noise: gaussian" : "share: 1");
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "toy", &why), STATUS_OK,
                 "%s", why.text);
    for (size_t i = 0; i < M; i++) {
        f->order[i] = (i * 5 + 3) % M;
    }
    f->data = (struct dataset){.record_count = M, .feature_count = D, .x = f->x, .y = f->y};
    f->input = (struct task_input){
        .job = &f->job, .stage = f->job.stage, .data = &f->data, .order = f->order};
}

/* A record of norm 1 at most, and a label; most often at the extremes, where the bounds are reached. */
static void draw_record(double *x, double *y, enum label_kind kind, struct seeded_random *seeded)
{
    const bool extreme = seeded_random_below(seeded, 4) > 0;
    double square = 0;
    for (size_t j = 0; j < D; j++) {
        x[j] = extreme ? (seeded_random_below(seeded, 2) == 0 ? -1 : 1)
                       : 2 * seeded_random_unit(seeded) - 1;
        square += x[j] * x[j];
    }
    for (size_t j = 0; j < D; j++) {
        x[j] /= sqrt(square) * (1 + 1e-15);
    }
    *y = kind == LABEL_CLASSES              ? (double)seeded_random_below(seeded, CLASSES)
         : kind == LABEL_NUMBER && !extreme ? 2 * seeded_random_unit(seeded) - 1
                                            : (seeded_random_below(seeded, 2) == 0 ? -1 : 1);
}

static void draw_all(struct fixture *f, enum label_kind kind, struct seeded_random *seeded)
{
    for (size_t i = 0; i < M; i++) {
        draw_record(f->x + i * D, f->y + i, kind, seeded);
    }
}

static struct private_vector run(const struct fixture *f)
{
    struct private_vector vector = {0};
    struct why why = {{0}};
    cr_assert_eq(task_run(&vector, &f->input, &why), STATUS_OK, "%s", why.text);
    return vector;
}

static int64_t step(double x)
{
    return (int64_t)floor(x * (1 << BITS) + 0.5);
}

Test(answer_statistics, sums_what_its_own_batch_holds_for_every_kind_of_label)
{
    for (int kind = LABEL_SIGN; kind <= LABEL_CLASSES; kind++) {
        struct seeded_random seeded;
        struct fixture f;
        size_t next = 0;
        seeded_random_init(&seeded, 1);
        fixture_init(&f, (enum label_kind)kind, false);
        draw_all(&f, (enum label_kind)kind, &seeded);
        struct private_vector vector = run(&f);
        const size_t outputs = kind == LABEL_CLASSES ? CLASSES : 1;
        cr_assert_eq(vector.count, D * (D + 1) / 2 + outputs * D);
        for (size_t i = 0; i < D + outputs; i++) {
            for (size_t j = i < D ? i : 0; j < D; j++, next++) {
                int64_t expected = 0;
                for (size_t at = 0; at < BATCH; at++) {
                    const double *x = f.x + f.order[at] * D;
                    const double y = f.y[f.order[at]];
                    const double factor = i < D                   ? x[i]
                                          : kind != LABEL_CLASSES ? y
                                                                  : (y == (double)(i - D) ? 1 : 0);
                    expected += step(factor * x[j]);
                }
                cr_assert_eq(vector.value[next], expected, "kind %d, %zu, %zu", kind, i, j);
                cr_assert(vector.low <= expected && expected <= vector.high);
            }
        }
        private_vector_free(&vector);
        job_free(&f.job);
    }
}

/* The largest distance between neighbours' vectors as a part of the sensitivity. */
static double largest_part(enum label_kind kind, bool gaussian)
{
    struct seeded_random seeded;
    struct fixture f;
    double largest = 0;
    seeded_random_init(&seeded, 2);
    fixture_init(&f, kind, gaussian);
    for (int trial = 0; trial < 2000; trial++) {
        double distance = 0;
        const size_t row = f.order[seeded_random_below(&seeded, BATCH)];
        draw_all(&f, kind, &seeded);
        struct private_vector before = run(&f);
        draw_record(f.x + row * D, f.y + row, kind, &seeded);
        struct private_vector after = run(&f);
        for (size_t j = 0; j < before.count; j++) {
            const double apart = (double)(before.value[j] - after.value[j]);
            distance += gaussian ? apart * apart : fabs(apart);
        }
        distance = gaussian ? sqrt(distance) : distance;
        cr_assert_leq(distance, (double)before.sensitivity);
        largest = fmax(largest, distance / (double)before.sensitivity);
        private_vector_free(&before);
        private_vector_free(&after);
    }
    job_free(&f.job);
    return largest;
}

Test(answer_statistics,
     one_replaced_record_stays_within_the_sensitivity_and_half_of_it_would_be_caught)
{
    for (int kind = LABEL_SIGN; kind <= LABEL_CLASSES; kind++) {
        const double l1 = largest_part((enum label_kind)kind, false);
        const double l2 = largest_part((enum label_kind)kind, true);
        cr_assert_gt(l1, 0.6, "kind %d: %f", kind, l1);
        cr_assert_gt(l2, 0.9, "kind %d: %f", kind, l2);
    }
}

/* Were each class's labels -1 and +1, as many blocks as there are classes would move: what the classes'
 * sensitivity leaves no room for. */
Test(answer_statistics, labels_of_minus_one_for_the_other_classes_would_be_caught)
{
    struct seeded_random seeded;
    struct fixture f;
    double largest = 0;
    seeded_random_init(&seeded, 3);
    fixture_init(&f, LABEL_CLASSES, false);
    struct private_vector vector = run(&f);
    const uint64_t sensitivity = vector.sensitivity;
    private_vector_free(&vector);
    for (int trial = 0; trial < 2000; trial++) {
        double x[2][D];
        double y[2];
        double distance = 0;
        for (size_t side = 0; side < 2; side++) {
            draw_record(x[side], &y[side], LABEL_CLASSES, &seeded);
        }
        for (size_t i = 0; i < D; i++) {
            for (size_t j = i; j < D; j++) {
                distance += fabs(x[0][i] * x[0][j] - x[1][i] * x[1][j]);
            }
            for (size_t own = 0; own < CLASSES; own++) {
                const double left = y[0] == (double)own ? x[0][i] : -x[0][i];
                const double right = y[1] == (double)own ? x[1][i] : -x[1][i];
                distance += fabs(left - right);
            }
        }
        largest = fmax(largest, ldexp(distance, BITS));
    }
    cr_assert_gt(largest, (double)sensitivity);
    job_free(&f.job);
}

Test(answer_statistics, rows_outside_of_the_batch_do_not_count)
{
    struct seeded_random seeded;
    struct fixture f;
    seeded_random_init(&seeded, 4);
    fixture_init(&f, LABEL_NUMBER, false);
    draw_all(&f, LABEL_NUMBER, &seeded);
    struct private_vector before = run(&f);
    for (size_t at = BATCH; at < M; at++) {
        draw_record(f.x + f.order[at] * D, f.y + f.order[at], LABEL_NUMBER, &seeded);
    }
    struct private_vector after = run(&f);
    cr_assert_arr_eq(before.value, after.value, before.count * sizeof *before.value);
    private_vector_free(&before);
    private_vector_free(&after);
    job_free(&f.job);
}
