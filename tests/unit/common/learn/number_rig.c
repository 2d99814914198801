/* See number_rig.h. */

#include "number_rig.h"

#include "learn/dense.h"
#include "learn/features_normal.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define SQUARED                                                                                    \
    {                                                                                              \
        LOSS_SQUARED, 0                                                                            \
    }
#define HUBER                                                                                      \
    {                                                                                              \
        LOSS_HUBER, 0.05                                                                           \
    }
#define MEDIAN                                                                                     \
    {                                                                                              \
        LOSS_PINBALL, 0.5                                                                          \
    }
#define QUANTILE(t)                                                                                \
    {                                                                                              \
        LOSS_PINBALL, t                                                                            \
    }

const struct number_way number_ways[NUMBER_WAYS] = {
    {SQUARED, SIGHT_PRODUCTS, false, 3, 1e-9, 0.005},
    {SQUARED, SIGHT_PRODUCTS, true, 3, 1e-9, 0.005},
    {SQUARED, SIGHT_SQUARES, false, 12, 1e-9, 0.05},
    {SQUARED, SIGHT_SQUARES, true, 12, 1e-9, 0.05},
    {SQUARED, SIGHT_NONE, false, 12, 1e-9, 0.1},
    {SQUARED, SIGHT_NONE, true, 12, 1e-9, 0.1},
    {SQUARED, SIGHT_PRODUCTS, false, 4, 3e-4, 0.05},
    {SQUARED, SIGHT_SQUARES, false, 8, 1e-3, 0.15},
    {SQUARED, SIGHT_NONE, false, 6, 2e-3, 0.4},
    {SQUARED, SIGHT_NONE, true, 6, 1e-2, 0.4},
    {HUBER, SIGHT_PRODUCTS, false, 3, 1e-9, 0.005},
    {HUBER, SIGHT_SQUARES, true, 12, 1e-9, 0.05},
    {HUBER, SIGHT_NONE, false, 12, 1e-9, 0.2},
    {HUBER, SIGHT_PRODUCTS, false, 4, 3e-4, 0.05},
    {HUBER, SIGHT_NONE, true, 6, 1e-2, 0.4},
    {MEDIAN, SIGHT_PRODUCTS, false, 4, 1e-9, 0.005},
    {MEDIAN, SIGHT_NONE, false, 12, 1e-9, 0.2},
    {MEDIAN, SIGHT_PRODUCTS, false, 4, 3e-4, 0.05},
    {QUANTILE(0.9), SIGHT_PRODUCTS, false, 4, 1e-9, 0.005},
    {QUANTILE(0.9), SIGHT_SQUARES, true, 12, 1e-9, 0.05},
    {QUANTILE(0.9), SIGHT_NONE, false, 12, 1e-9, 0.2},
    {QUANTILE(0.9), SIGHT_PRODUCTS, true, 4, 3e-4, 0.05},
    {QUANTILE(0.1), SIGHT_PRODUCTS, false, 4, 1e-9, 0.005},
    {QUANTILE(0.1), SIGHT_PRODUCTS, false, 4, 3e-4, 0.1},
    {QUANTILE(0.1), SIGHT_NONE, true, 6, 1e-2, 0.4},
};

static double score_of(const double *w, const double *z)
{
    return dense_dot(w, z, D) + w[D];
}

/* The mean loss of a model, of a squared one its root. */
static double error_of(const double *w, const struct loss *loss, const struct number_table *t)
{
    double sum = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        sum += loss_value(*loss, score_of(w, t->z + i * D), t->y[i]) / RECORDS;
    }
    return loss->kind == LOSS_SQUARED ? sqrt(sum) : sum;
}

static const double truth[WIDTH] = {0.5, -0.7, 0.3, 0, 1.2, -0.4, 0.15};

/* The least loss over its constant of the best weights times `part`: a search by thirds, as the loss is convex. Of the squared
 * loss the weights are those of least squares, of others those behind the labels: the rest is alike whatever the columns are. */
double number_rig_least(double part, const struct loss *loss, const struct number_table *t)
{
    const double *best = loss->kind == LOSS_SQUARED ? t->squares : truth;
    double low = -1;
    double high = 1;
    double w[WIDTH] = {0};
    for (size_t j = 0; j < D; j++) {
        w[j] = part * best[j];
    }
    for (int i = 0; i < 40; i++) {
        const double third = (high - low) / 3;
        w[D] = low + third;
        const double left = error_of(w, loss, t);
        w[D] = high - third;
        if (left < error_of(w, loss, t)) {
            high -= third;
        } else {
            low += third;
        }
    }
    return error_of(w, loss, t);
}

/* Columns that have a part in common, of different lengths, and a skewed rest. */
void number_rig_draw(struct number_table *t)
{
    struct public_random random = public_random_from(11);
    double square[WIDTH * WIDTH] = {0};
    memset(t->squares, 0, sizeof t->squares);
    for (size_t i = 0; i < RECORDS; i++) {
        double *z = t->z + i * D;
        double one[WIDTH];
        const double common = public_random_normal(&random);
        for (size_t j = 0; j < D; j++) {
            z[j] = (j % 3 == 2 ? 0.3 : 1) * (0.25 * common + 0.2 * public_random_normal(&random));
            one[j] = z[j] = fmax(-1, fmin(1, z[j] + (j == 4 ? 0.3 : 0)));
        }
        one[D] = 1;
        const double rest = public_random_normal(&random);
        t->y[i] = fmax(-1, fmin(1, score_of(truth, z) + 0.1 * (rest * rest - 1) / sqrt(2)));
        for (size_t j = 0; j < WIDTH; j++) {
            dense_axpy(square + j * WIDTH, one[j], one, WIDTH);
        }
        dense_axpy(t->squares, t->y[i], one, WIDTH);
    }
    cr_assert(cholesky_factor(square, WIDTH));
    cholesky_solve(square, t->squares, WIDTH);
}

static void add_noise(double *x, size_t count, double deviation, struct public_random *random)
{
    for (size_t i = 0; i < count; i++) {
        x[i] += deviation * public_random_normal(random);
    }
}

/* Every record's label and columns, and their products or squares. `noise` of a sum whose part weighs 1. */
static void look(double *state, const struct selftune_number *stage, const struct number_table *t,
                 double noise, struct public_random *random)
{
    double sum[WIDTH + PRODUCTS] = {0};
    const bool products = stage->tune.sight == SIGHT_PRODUCTS;
    const double scale = noise * RECORDS * WIDTH * (products ? WIDTH : 2);
    for (size_t i = 0; i < RECORDS; i++) {
        double one[WIDTH] = {t->y[i]};
        double *at = sum + WIDTH;
        memcpy(one + 1, t->z + i * D, D * sizeof *one);
        for (size_t j = 0; j < WIDTH; j++) {
            sum[j] += one[j];
            for (size_t k = j; k < (products ? WIDTH : j + 1); k++) {
                *at++ += one[j] * one[k];
            }
        }
    }
    add_noise(sum, WIDTH + (products ? PRODUCTS : WIDTH), scale, random);
    const struct selftune_number_look seen = {.record_count = RECORDS,
                                              .sum = sum,
                                              .product = sum + WIDTH,
                                              .sum_deviation = scale,
                                              .product_deviation = scale};
    cr_assert_eq(selftune_number_take_look(state, stage, &seen), STATUS_OK);
}

static void step(double *state, const struct selftune_number *stage, const struct number_table *t,
                 double noise, struct public_random *random)
{
    double sum[WIDTH] = {0};
    double size = 0;
    const double clip = state[0];
    for (size_t i = 0; i < RECORDS; i++) {
        double u[WIDTH];
        double norm = 0;
        selftune_transform(u, t->z + i * D, state, &stage->tune);
        const double f = score_of(state + 1, u);
        const double off =
            loss_derivative(stage->loss, f, t->y[i]) / (stage->loss.kind == LOSS_SQUARED ? 2 : 1);
        for (size_t j = 0; j < WIDTH; j++) {
            norm += stage->tune.gaussian ? u[j] * u[j] : fabs(u[j]);
        }
        norm = fabs(off) * (stage->tune.gaussian ? sqrt(norm) : norm);
        dense_axpy(sum, off * fmin(1, clip / norm), u, WIDTH);
        size += fmin(1, fabs(f - t->y[i]));
    }
    add_noise(sum, WIDTH, stage->noise * clip * RECORDS, random);
    add_noise(&size, 1, 20 * noise * RECORDS, random);
    const struct selftune_number_release release = {.record_count = RECORDS,
                                                    .gradient = sum,
                                                    .deviation = stage->noise * clip * RECORDS,
                                                    .size = size,
                                                    .size_deviation = 20 * noise * RECORDS};
    cr_assert_eq(selftune_number_take_gradient(state, stage, &release), STATUS_OK);
    cr_assert_eq(selftune_check_shown(state, &stage->tune), STATUS_OK);
}

struct selftune_number number_rig_stage(const struct number_way *way)
{
    return (struct selftune_number){.loss = way->loss,
                                    .tune = {.feature_count = D,
                                             .output_count = 1,
                                             .sight = way->sight,
                                             .gaussian = way->gaussian,
                                             .steps = way->steps,
                                             .quantile = 1},
                                    .noise = 2 * way->noise};
}

double number_rig_learn(const struct number_way *way, const struct number_table *t, uint64_t seed)
{
    double state[STATE_MOST];
    double w[WIDTH];
    struct public_random random = public_random_from(seed);
    const struct selftune_number stage = number_rig_stage(way);
    cr_assert_leq(selftune_number_state_count(&stage), STATE_MOST);
    cr_assert_eq(selftune_number_begin(state, &stage), STATUS_OK);
    cr_assert_eq(selftune_check_shown(state, &stage.tune), STATUS_OK);
    if (way->sight != SIGHT_NONE) {
        look(state, &stage, t, way->noise, &random);
        cr_assert_eq(selftune_check_shown(state, &stage.tune), STATUS_OK);
    }
    for (uint32_t i = 0; i < way->steps; i++) {
        step(state, &stage, t, way->noise, &random);
    }
    selftune_model(w, state, &stage.tune);
    return error_of(w, &way->loss, t);
}

void number_rig_first(double *state, const struct selftune_number *stage,
                      const struct number_table *t)
{
    struct public_random random = public_random_from(3);
    cr_assert_eq(selftune_number_begin(state, stage), STATUS_OK);
    look(state, stage, t, 1e-3, &random);
    step(state, stage, t, 1e-3, &random);
}
