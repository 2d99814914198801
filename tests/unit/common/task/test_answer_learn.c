/* The learn task's answers: a look's sums and a step's gradients against plain loops in floating point; a pair of
 * records that comes near a look's bound, in L1 and in L2, and none that passes it; states that our coordinator
 * never sends. Fixed seeds: no false alarms. */

#include "learn_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* 0, 1, ..: of two classes the positive one is 1. */
static size_t class_of(const struct learn_rig *f, size_t record)
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
static size_t look_by_the_book(double *value, double *weight, const struct learn_rig *f)
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
        struct learn_rig f;
        double wanted[VALUES_MAX];
        double weight[VALUES_MAX];
        if (learn_ways[w].sight == SIGHT_NONE) {
            continue;
        }
        seeded_random_init(&seeded, 1);
        learn_rig_init(&f, &learn_ways[w]);
        learn_rig_draw_records(&f, &seeded);
        const size_t count = look_by_the_book(wanted, weight, &f);
        struct private_vector vector = learn_rig_run(&f, 0);
        cr_assert_eq(vector.count, count, "way %zu", w);
        for (size_t i = 0; i < count; i++) {
            cr_assert_float_eq(ldexp((double)vector.value[i], -LEARN_LOOK_BITS) / weight[i],
                               wanted[i], 1e-4, "way %zu, %zu", w, i);
        }
        private_vector_free(&vector);
        job_free(&f.job);
    }
}

/* u = ((z - mu) W, 1), or (2 z, 1); products of columns, times their scales, before the 1 */
static void whiten(double *u, const struct learn_rig *f, size_t record)
{
    const enum selftune_sight sight = learn_stage(f->job.stage)->tune.sight;
    const double *z = f->z + record * D;
    const double *mu = f->state + 1 + f->outputs * f->width;
    const double *scale = mu + D + D * D;
    double *product = u + D;
    for (size_t j = 0; j < D; j++) {
        u[j] = sight == SIGHT_NONE       ? 2 * z[j]
               : sight == SIGHT_PRODUCTS ? 0
                                         : (z[j] - mu[j]) * mu[D + j];
        for (size_t k = 0; k < D && sight == SIGHT_PRODUCTS; k++) {
            u[j] += (z[k] - mu[k]) * mu[D + k * D + j];
        }
    }
    for (size_t j = 0; j < D && f->width > D + 1; j++) {
        for (size_t k = j; k < D; k++) {
            *product++ = *scale++ * (j == k ? (u[j] * u[j] - 1) / sqrt(2) : u[j] * u[k]);
        }
    }
    *product = 1;
}

/* The slope of a number's loss; for the squared loss, half of it. */
static double slope_of(const struct loss *loss, double off)
{
    return loss->kind == LOSS_HUBER     ? fmax(fmin(off, loss->parameter), -loss->parameter)
           : loss->kind == LOSS_PINBALL ? (off > 0 ? 1 : 0) - loss->parameter
                                        : off;
}

/* For each output (p - y) u, all together shortened to the clip. For a number the loss's slope takes the place of p - y. Returns
 * the sum of the errors of a number. */
static double step_by_the_book(double *value, const struct learn_rig *f)
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
            for (size_t j = 0; j < f->width; j++) {
                p[o] += u[j] * f->state[1 + o * f->width + j];
            }
            misses += fmin(1, fabs(p[o] - f->y[i]));
            slope[o] = p[o] - f->y[i];
            p[o] = exp(p[o]);
            total += p[o];
        }
        for (size_t o = 0; o < f->outputs; o++) {
            slope[o] = f->number ? slope_of(&f->job.stage->loss, slope[o])
                                 : p[o] / total - (class_of(f, i) == (f->outputs > 1 ? o : 1));
            for (size_t j = 0; j < f->width; j++) {
                norm += gaussian ? slope[o] * u[j] * slope[o] * u[j] : fabs(slope[o] * u[j]);
            }
        }
        norm = gaussian ? sqrt(norm) : norm;
        for (size_t k = 0; k < f->outputs * f->width; k++) {
            value[k] += slope[k / f->width] * u[k % f->width] * fmin(1, f->state[0] / norm);
        }
    }
    return misses;
}

Test(answer_learn, a_step_is_the_sum_of_clipped_gradients_and_of_a_number_has_the_misses)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct seeded_random seeded;
        struct learn_rig f;
        double wanted[CLASSES * WIDTH];
        seeded_random_init(&seeded, 2);
        learn_rig_init(&f, &learn_ways[w]);
        learn_rig_draw_records(&f, &seeded);
        learn_rig_draw_state(&f, &seeded);
        const double misses = step_by_the_book(wanted, &f);
        const size_t numbers = f.outputs * f.width;
        const uint32_t first = learn_ways[w].sight != SIGHT_NONE;
        cr_assert_gt(f.job.stage->rounds, first, "way %zu takes no step", w);
        for (uint32_t within = first; within < f.job.stage->rounds; within++) {
            struct private_vector vector = learn_rig_run(&f, within);
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

static double apart(struct learn_rig *f, const double *z, const double *w, bool same)
{
    memcpy(f->z, z, D * sizeof *z);
    f->y[0] = 1;
    learn_rig_set_features(f);
    struct private_vector before = learn_rig_run(f, 0);
    memcpy(f->z, w, D * sizeof *w);
    f->y[0] = f->number ? w[D] : same ? 1 : f->outputs > 1 ? 2 : -1;
    learn_rig_set_features(f);
    struct private_vector after = learn_rig_run(f, 0);
    const double part = distance(&before, &after, learn_stage(f->job.stage)->tune.gaussian) /
                        (double)before.sensitivity;
    private_vector_free(&before);
    private_vector_free(&after);
    return part;
}

/* A record that is as long as a look at sums lets one be. */
static void fill_to_reach(double *z, const struct learn_stage *own)
{
    double rest = learn_reach(own, own->tune.feature_count);
    rest = own->tune.gaussian ? rest * rest : rest;
    for (size_t j = 0; j < D; j++) {
        const double size = fmin(1, rest);
        z[j] = own->tune.gaussian ? sqrt(size) : size;
        rest -= size;
    }
}

/* The worst pairs of the proofs in bounds.c, in one class and in two. Products, L1: corners against a point near 0, on its other
 * side; L2: some columns change their sign, so that <z, w> is slightly below 0. Squares: corners against opposite ones, against
 * 0, and against points on the way: heavier squares would be worst there. Sums: records as long as the clip leaves them, and
 * their opposites. */
static double worst_of_pairs(struct learn_rig *f)
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
        struct learn_rig f;
        if (learn_ways[w].sight == SIGHT_NONE) {
            continue;
        }
        seeded_random_init(&seeded, 3);
        learn_rig_init(&f, &learn_ways[w]);
        learn_rig_draw_records(&f, &seeded);
        const double most = worst_of_pairs(&f);
        cr_expect_leq(most, 1, "way %zu: %g", w, most);
        /* In L2 the diagonal counts for d/2 of d^2 + d/2, and corners do not move it. They move the sums of several classes most. */
        const bool corner = learn_ways[w].several && learn_ways[w].sight == SIGHT_PRODUCTS;
        cr_expect_geq(most, learn_ways[w].gaussian || corner ? 0.95 : 0.98, "way %zu: only %g", w,
                      most);
        /* Planted: a part that weighs a tenth more; squares that weigh as much as sums and a half. */
        struct learn_weights *weights = &learn_stage(f.job.stage)->weights;
        const struct learn_weights right = *weights;
        weights->product =
            learn_ways[w].sight == SIGHT_SQUARES ? 2 * weights->sum : 1.1 * right.product;
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
        struct learn_rig f;
        double most = 0;
        seeded_random_init(&seeded, 4);
        learn_rig_init(&f, &learn_ways[w]);
        for (int trial = 0; trial < 400; trial++) {
            learn_rig_draw_records(&f, &seeded);
            learn_rig_draw_state(&f, &seeded);
            f.state[0] = exp(4 * seeded_random_unit(&seeded) - 4);
            const uint32_t within = (uint32_t)seeded_random_below(&seeded, f.job.stage->rounds);
            struct private_vector before = learn_rig_run(&f, within);
            for (size_t j = 0; j < D; j++) {
                f.z[j] = seeded_random_below(&seeded, 4) == 0 ? 2 * seeded_random_unit(&seeded) - 1
                         : seeded_random_below(&seeded, 2) == 0 ? -1
                                                                : 1;
            }
            f.y[0] = f.outputs > 1 ? (double)((class_of(&f, 0) + 1) % CLASSES) : -f.y[0];
            learn_rig_set_features(&f);
            struct private_vector after = learn_rig_run(&f, within);
            cr_assert_eq(before.sensitivity, after.sensitivity);
            most = fmax(most, distance(&before, &after, learn_ways[w].gaussian) /
                                  (double)before.sensitivity);
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
    static const size_t way[] = {0, 2, 6, 8, 10, 12, 14, 17, 19, 21}; /* Laplace, of each kind */
    const size_t kinds = sizeof way / sizeof way[0];
    for (size_t i = 0; i < kinds * sizeof odd / sizeof odd[0]; i++) {
        struct seeded_random seeded;
        struct learn_rig f;
        seeded_random_init(&seeded, 5);
        learn_rig_init(&f, &learn_ways[way[i % kinds]]);
        learn_rig_draw_records(&f, &seeded);
        for (size_t at = 0; at < STATE_MAX; at += 7) {
            learn_rig_draw_state(&f, &seeded);
            f.state[at] = odd[i / kinds];
            const uint32_t within = f.job.stage->rounds - 1;
            struct private_vector before = learn_rig_run(&f, within);
            f.z[0] = -f.z[0];
            f.y[0] = f.outputs > 1 ? (double)((class_of(&f, 0) + 1) % CLASSES) : -f.y[0];
            learn_rig_set_features(&f);
            struct private_vector after = learn_rig_run(&f, within);
            cr_assert_leq(distance(&before, &after, false), (double)before.sensitivity);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        job_free(&f.job);
    }
}

Test(answer_learn, products_of_columns_are_among_the_ways)
{
    for (size_t w = WAYS - 2; w < WAYS; w++) {
        struct learn_rig f;
        learn_rig_init(&f, &learn_ways[w]);
        cr_assert(learn_stage(f.job.stage)->tune.bends);
        cr_assert_eq(f.width, WIDTH);
        job_free(&f.job);
    }
}
