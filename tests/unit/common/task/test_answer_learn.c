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
    D = 14,
    WIDTH = D + 1,
    CLASSES = 3,
    STATE_MAX = 1 + CLASSES * WIDTH + D + D * D,
    VALUES_MAX = CLASSES * (1 + WIDTH) + WIDTH * (WIDTH + 1) / 2
};

/* What a stage looks at, its noise, and whether it has three classes, or a number. */
struct way {
    enum selftune_sight sight;
    bool gaussian;
    bool several;
    const char *epsilon;
    bool number;
    const char *loss; /* of a number; NULL: the squared one */
};

static const struct way ways[] = {
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
    {SIGHT_PRODUCTS, true, false, "100", true},
    {SIGHT_SQUARES, false, false, "200", true},
    {SIGHT_SQUARES, true, false, "25", true},
    {SIGHT_NONE, false, false, "0.5", true},
    {SIGHT_NONE, true, false, "0.5", true},
    {SIGHT_PRODUCTS, true, true, "100"},
    {SIGHT_PRODUCTS, false, false, "1000", true, "huber, loss_parameter: 0.3"},
    {SIGHT_NONE, true, false, "0.5", true, "huber, loss_parameter: 0.3"},
    {SIGHT_NONE, false, false, "0.5", true, "pinball, loss_parameter: 0.8"},
    {SIGHT_SQUARES, true, false, "25", true, "pinball, loss_parameter: 0.5"}};

enum { WAYS = sizeof ways / sizeof ways[0] };

struct fixture {
    double z[M * D]; /* columns in -1 .. 1 */
    double x[M * WIDTH];
    double y[M];
    double state[STATE_MAX];
    size_t order[M];
    size_t classes; /* 0 for a number */
    size_t outputs;
    bool number;
    size_t columns; /* of a look */
    struct dataset data;
    struct job job;
    struct task_input input;
};

static void fixture_init(struct fixture *f, const struct way *way)
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
    cr_assert_eq(learn_stage(f->job.stage)->tune.sight, way->sight);
    cr_assert_eq(learn_stage(f->job.stage)->tune.gaussian, way->gaussian);
    cr_assert_eq(learn_class_count(f->job.stage), f->classes);
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
        f->y[i] = f->number ? seeded_random_unit(seeded)
                            : (double)seeded_random_below(seeded, f->classes);
        f->y[i] = f->outputs > 1 ? f->y[i] : 2 * f->y[i] - 1;
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

/* 0, 1, ..: of two classes the positive one is 1. */
static size_t class_of(const struct fixture *f, size_t record)
{
    return f->outputs > 1 ? (size_t)f->y[record] : f->y[record] > 0;
}

static double norm_of(const double *z, bool gaussian)
{
    double sum = 0;
    for (size_t j = 0; j < D; j++) {
        sum += gaussian ? z[j] * z[j] : fabs(z[j]);
    }
    return gaussian ? sqrt(sum) : sum;
}

/* value: counts, of sums alone what is kept, sums, products or squares. Each class has its sums, but two of them beside products. A label
 * that is a number is the first column. weight: what each is multiplied by. Returns how many numbers there are. */
static size_t look_by_the_book(double *value, double *weight, const struct fixture *f)
{
    const struct learn_stage *own = learn_stage(f->job.stage);
    const bool products = own->tune.sight == SIGHT_PRODUCTS;
    const bool clips = own->tune.sight == SIGHT_SUMS;
    const size_t sums = f->classes + (clips ? f->classes : 0);
    const size_t blocks = f->number || (products && f->classes == 2) ? 1 : f->classes;
    const size_t squares = sums + blocks * f->columns;
    size_t at = 0;
    memset(value, 0, VALUES_MAX * sizeof *value);
    for (size_t i = 0; i < M; i++) {
        double z[WIDTH] = {f->y[i]};
        const size_t c = f->number ? 0 : class_of(f, i);
        const double reach = own->tune.gaussian ? 0.35 * sqrt(D) : 0.3 * D;
        const double kept = clips ? fmin(1, reach / norm_of(f->z + i * D, own->tune.gaussian)) : 1;
        memcpy(z + f->columns - D, f->z + i * D, D * sizeof *z);
        if (!f->number) {
            value[c]++;
            value[f->classes + c] += clips ? kept : 0;
        }
        at = squares;
        for (size_t j = 0; j < f->columns; j++) {
            value[sums + (blocks > 1 ? c * D : 0) + j] += kept * z[j];
            for (size_t k = j; k < (clips ? 0 : products ? f->columns : j + 1); k++) {
                value[at++] += z[j] * z[k];
            }
        }
    }
    for (size_t i = 0; i < at; i++) {
        weight[i] = i < f->classes ? own->weights.count
                    : i < sums     ? own->weights.kept
                    : i < squares  ? own->weights.sum
                                   : own->weights.product;
    }
    return at;
}

Test(answer_learn, a_look_is_counts_sums_and_products_or_squares_or_what_is_kept)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct seeded_random seeded;
        struct fixture f;
        double wanted[VALUES_MAX];
        double weight[VALUES_MAX];
        if (ways[w].sight == SIGHT_NONE) {
            continue;
        }
        seeded_random_init(&seeded, 1);
        fixture_init(&f, &ways[w]);
        draw_records(&f, &seeded);
        const size_t count = look_by_the_book(wanted, weight, &f);
        struct private_vector vector = run(&f, 0);
        cr_assert_eq(vector.count, count, "way %zu", w);
        for (size_t i = 0; i < count; i++) {
            cr_assert_float_eq(ldexp((double)vector.value[i], -LEARN_LOOK_BITS) / weight[i],
                               wanted[i], 1e-4, "way %zu, %zu", w, i);
        }
        private_vector_free(&vector);
        job_free(&f.job);
    }
}

/* u = ((z - mu) W, 1), or (2 z, 1) */
static void whiten(double *u, const struct fixture *f, size_t record)
{
    const enum selftune_sight sight = learn_stage(f->job.stage)->tune.sight;
    const double *z = f->z + record * D;
    const double *mu = f->state + 1 + f->outputs * WIDTH;
    for (size_t j = 0; j < D; j++) {
        u[j] = sight == SIGHT_NONE       ? 2 * z[j]
               : sight == SIGHT_PRODUCTS ? 0
                                         : (z[j] - mu[j]) * mu[D + j];
        for (size_t k = 0; k < D && sight == SIGHT_PRODUCTS; k++) {
            u[j] += (z[k] - mu[k]) * mu[D + k * D + j];
        }
    }
    u[D] = 1;
}

/* Of a number, the slope of the loss, of the squared one halved. */
static double slope_of(const struct loss *loss, double off)
{
    return loss->kind == LOSS_HUBER     ? fmax(fmin(off, loss->parameter), -loss->parameter)
           : loss->kind == LOSS_PINBALL ? (off > 0 ? 1 : 0) - loss->parameter
                                        : off;
}

/* Of each output p - y times u, all together shortened to the clip. Of a number the loss's slope takes the place of p - y. Returns
 * how far a number is missed in all. */
static double step_by_the_book(double *value, const struct fixture *f)
{
    const bool gaussian = learn_stage(f->job.stage)->tune.gaussian;
    double misses = 0;
    memset(value, 0, CLASSES * WIDTH * sizeof *value);
    for (size_t i = 0; i < M; i++) {
        double u[WIDTH] = {0};
        double p[CLASSES] = {0};
        double slope[CLASSES];
        double total = f->outputs > 1 ? 0 : 1; /* the other class scores 0 */
        double norm = 0;
        whiten(u, f, i);
        for (size_t o = 0; o < f->outputs; o++) {
            for (size_t j = 0; j < WIDTH; j++) {
                p[o] += u[j] * f->state[1 + o * WIDTH + j];
            }
            misses += fmin(1, fabs(p[o] - f->y[i]));
            slope[o] = p[o] - f->y[i];
            p[o] = exp(p[o]);
            total += p[o];
        }
        for (size_t o = 0; o < f->outputs; o++) {
            slope[o] = f->number ? slope_of(&f->job.stage->loss, slope[o])
                                 : p[o] / total - (class_of(f, i) == (f->outputs > 1 ? o : 1));
            for (size_t j = 0; j < WIDTH; j++) {
                norm += gaussian ? slope[o] * u[j] * slope[o] * u[j] : fabs(slope[o] * u[j]);
            }
        }
        norm = gaussian ? sqrt(norm) : norm;
        for (size_t k = 0; k < f->outputs * WIDTH; k++) {
            value[k] += slope[k / WIDTH] * u[k % WIDTH] * fmin(1, f->state[0] / norm);
        }
    }
    return misses;
}

Test(answer_learn, a_step_is_the_sum_of_clipped_gradients_and_of_a_number_has_the_misses)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct seeded_random seeded;
        struct fixture f;
        double wanted[CLASSES * WIDTH];
        seeded_random_init(&seeded, 2);
        fixture_init(&f, &ways[w]);
        draw_records(&f, &seeded);
        draw_state(&f, &seeded);
        const double misses = step_by_the_book(wanted, &f);
        const size_t numbers = f.outputs * WIDTH;
        const uint32_t first = ways[w].sight != SIGHT_NONE;
        cr_assert_gt(f.job.stage->rounds, first, "way %zu takes no step", w);
        for (uint32_t within = first; within < f.job.stage->rounds; within++) {
            struct private_vector vector = run(&f, within);
            const double unit = f.state[0] / (double)learn_clip(f.job.stage);
            cr_assert_eq(vector.count, numbers + (f.number ? 1 : 0));
            if (f.number) { /* every record's is rounded */
                cr_assert_float_eq((double)vector.value[numbers],
                                   (double)learn_stage(f.job.stage)->count_step * misses, M);
            }
            for (size_t j = 0; j < numbers; j++) {
                /* Every record is rounded to a grid of 2^-15 of the clip, twice. */
                cr_assert_float_eq((double)vector.value[j] * unit, wanted[j], 2 * M * unit,
                                   "way %zu, %zu", w, j);
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

static double apart(struct fixture *f, const double *z, const double *w, bool same)
{
    memcpy(f->z, z, D * sizeof *z);
    f->y[0] = 1;
    set_features(f);
    struct private_vector before = run(f, 0);
    memcpy(f->z, w, D * sizeof *w);
    f->y[0] = f->number ? w[D] : same ? 1 : f->outputs > 1 ? 2 : -1;
    set_features(f);
    struct private_vector after = run(f, 0);
    const double part = distance(&before, &after, learn_stage(f->job.stage)->tune.gaussian) /
                        (double)before.sensitivity;
    private_vector_free(&before);
    private_vector_free(&after);
    return part;
}

/* A record that is as long as a look at sums lets one be. */
static void fill_to_reach(double *z, const struct learn_stage *own)
{
    double rest = learn_reach(own);
    rest = own->tune.gaussian ? rest * rest : rest;
    for (size_t j = 0; j < D; j++) {
        const double size = fmin(1, rest);
        z[j] = own->tune.gaussian ? sqrt(size) : size;
        rest -= size;
    }
}

/* The worst pairs of the proofs in bounds.c, of one class and of two. Products, L1: corners against a point near 0, on its other
 * side; L2: columns of which some turn their sign, so that <z, w> is near 0 and below. Squares: corners against opposite ones,
 * against 0, and against points on the way: heavier squares would be worst there. Sums: records as long as the clip
 * leaves them, and their opposites. */
static double worst_of_pairs(struct fixture *f)
{
    const struct learn_stage *own = learn_stage(f->job.stage);
    double most = 0;
    for (size_t k = 0; k <= 3 * f->columns + 1; k++) {
        double z[D];
        double w[D + 1];
        const size_t turned = k % (f->columns + 1);
        for (size_t j = 0; j <= D; j++) {
            const double side = j < turned ? -1 : 1;
            z[j < D ? j : 0] = 1;
            w[j] = k <= f->columns           ? side
                   : k <= 2 * f->columns + 1 ? -0.05 * (double)turned
                                             : -1 + 0.1 * (double)turned;
        }
        w[D] = k <= f->columns && turned > D ? -1 : w[D - 1];
        most = fmax(most, fmax(apart(f, z, w, true), apart(f, z, w, false)));
        if (own->tune.sight == SIGHT_SUMS) {
            fill_to_reach(z, own);
            for (size_t j = 0; j < D; j++) {
                w[j] = j < turned ? -z[j] : z[j];
            }
            most = fmax(most, fmax(apart(f, z, w, true), apart(f, z, w, false)));
        }
    }
    return most;
}

Test(answer_learn, a_look_comes_near_its_bound_and_never_passes_it)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct seeded_random seeded;
        struct fixture f;
        if (ways[w].sight == SIGHT_NONE) {
            continue;
        }
        seeded_random_init(&seeded, 3);
        fixture_init(&f, &ways[w]);
        draw_records(&f, &seeded);
        const double most = worst_of_pairs(&f);
        cr_expect_leq(most, 1, "way %zu: %g", w, most);
        /* In L2 the diagonal counts for d/2 of d^2 + d/2, and corners do not move it. They move the sums of several classes most. */
        const bool corner = ways[w].several && ways[w].sight == SIGHT_PRODUCTS;
        cr_expect_geq(most, ways[w].gaussian || corner ? 0.95 : 0.98, "way %zu: only %g", w, most);
        /* Planted: a part that weighs a tenth more; squares that weigh as much as sums and a half. */
        struct learn_weights *weights = &learn_stage(f.job.stage)->weights;
        const struct learn_weights right = *weights;
        weights->product = ways[w].sight == SIGHT_SQUARES ? 2 * weights->sum : 1.1 * right.product;
        weights->kept *= 1.1;
        cr_expect_gt(worst_of_pairs(&f), 1, "way %zu: heavier products are not seen", w);
        *weights = right;
        weights->sum *= corner ? 1.2 : 1.1;
        cr_expect_gt(worst_of_pairs(&f), 1, "way %zu: heavier sums are not seen", w);
        job_free(&f.job);
    }
}

/* Neighbours at random, nearly always at corners; any model and clip. */
Test(answer_learn, no_record_moves_an_answer_by_more_than_its_sensitivity)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct seeded_random seeded;
        struct fixture f;
        double most = 0;
        seeded_random_init(&seeded, 4);
        fixture_init(&f, &ways[w]);
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
            f.y[0] = f.outputs > 1 ? (double)((class_of(&f, 0) + 1) % CLASSES) : -f.y[0];
            set_features(&f);
            struct private_vector after = run(&f, within);
            cr_assert_eq(before.sensitivity, after.sensitivity);
            most = fmax(most,
                        distance(&before, &after, ways[w].gaussian) / (double)before.sensitivity);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_expect_leq(most, 1, "way %zu: %g", w, most);
        cr_expect_geq(most, 0.6, "way %zu: only %g", w, most);
        job_free(&f.job);
    }
}

Test(answer_learn, a_state_that_is_nonsense_stays_within_the_bounds)
{
    const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 0, 1e-310, -3};
    static const size_t way[] = {0, 2, 6, 8, 10, 12, 14, 17, 19}; /* Laplace, of each kind */
    const size_t kinds = sizeof way / sizeof way[0];
    for (size_t i = 0; i < kinds * sizeof odd / sizeof odd[0]; i++) {
        struct seeded_random seeded;
        struct fixture f;
        seeded_random_init(&seeded, 5);
        fixture_init(&f, &ways[way[i % kinds]]);
        draw_records(&f, &seeded);
        for (size_t at = 0; at < STATE_MAX; at += 7) {
            draw_state(&f, &seeded);
            f.state[at] = odd[i / kinds];
            const uint32_t within = f.job.stage->rounds - 1;
            struct private_vector before = run(&f, within);
            f.z[0] = -f.z[0];
            f.y[0] = f.outputs > 1 ? (double)((class_of(&f, 0) + 1) % CLASSES) : -f.y[0];
            set_features(&f);
            struct private_vector after = run(&f, within);
            cr_assert_leq(distance(&before, &after, false), (double)before.sensitivity);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        job_free(&f.job);
    }
}
