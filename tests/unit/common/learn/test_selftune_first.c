/* What a look at products makes of several classes, against the discriminant of normal classes in closed form; and a step
 * from clipped gradients, against the model whose labels made them. */

#include "learn/features_normal.h"
#include "learn/selftune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { D = 2, WIDTH = D + 1, K = 3, STATE_MOST = 64 };

#define RECORDS 1e6

static const double share[K] = {0.5, 0.3, 0.2};
static const double middle[K][D] = {{0.2, -0.1}, {-0.3, 0.1}, {0.1, 0.35}};
static const double within[D][D] = {{0.09, 0.05}, {0.05, 0.08}}; /* covariance of every class */

static const struct selftune stage = {.feature_count = D,
                                      .output_count = K,
                                      .sight = SIGHT_PRODUCTS,
                                      .gaussian = false,
                                      .steps = 1,
                                      .quantile = 0.3};

/* The look of so many records of these classes, hardly with noise. */
static void take_look(double *state)
{
    double count[K];
    double sum[K * D];
    double product[D * (D + 1) / 2] = {0};
    size_t at = 0;
    for (size_t c = 0; c < K; c++) {
        count[c] = RECORDS * share[c];
        for (size_t j = 0; j < D; j++) {
            sum[c * D + j] = count[c] * middle[c][j];
        }
    }
    for (size_t i = 0; i < D; i++) {
        for (size_t j = i; j < D; j++) {
            for (size_t c = 0; c < K; c++) {
                product[at] += count[c] * (within[i][j] + middle[c][i] * middle[c][j]);
            }
            at++;
        }
    }
    const double noise = 1e-5 * RECORDS;
    const struct selftune_look look = {.record_count = RECORDS,
                                       .count = count,
                                       .sum = sum,
                                       .product = product,
                                       .count_deviation = noise,
                                       .sum_deviation = noise,
                                       .product_deviation = noise};
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    cr_assert(selftune_take_look(state, &stage, &look) == STATUS_OK);
}

/* <a, S^-1 b>, S the covariance within classes */
static double through(const double *a, const double *b)
{
    const double determinant = within[0][0] * within[1][1] - within[0][1] * within[1][0];
    return (a[0] * (within[1][1] * b[0] - within[0][1] * b[1]) +
            a[1] * (within[0][0] * b[1] - within[1][0] * b[0])) /
           determinant;
}

Test(selftune_first, several_classes_after_products_begin_at_their_discriminant)
{
    double state[STATE_MOST] = {0};
    double model[K * WIDTH];
    cr_assert(selftune_state_count(&stage) <= STATE_MOST);
    take_look(state);
    selftune_model(model, state, &stage);
    for (size_t c = 1; c < K; c++) {
        static const double unit[D][D] = {{1, 0}, {0, 1}};
        const double constant = log(share[c] / share[0]) -
                                (through(middle[c], middle[c]) - through(middle[0], middle[0])) / 2;
        for (size_t j = 0; j < D; j++) {
            const double wanted = through(unit[j], middle[c]) - through(unit[j], middle[0]);
            const double found = model[c * WIDTH + j] - model[j];
            cr_expect(fabs(found - wanted) < 0.005 * (1 + fabs(wanted)), "%zu, %zu: %g for %g", c,
                      j, found, wanted);
        }
        cr_expect(fabs(model[c * WIDTH + D] - model[D] - constant) < 0.01, "%zu: %g for %g", c,
                  model[c * WIDTH + D] - model[D], constant);
    }
}

/* g = what clipped gradients of `from` are if `truth` made the labels, less what they are if `from` did. Two classes. */
static void news(double *g, struct standin *standin, const double *from, const double *truth,
                 double clip)
{
    memset(g, 0, WIDTH * sizeof *g);
    for (size_t i = 0; i < standin->count; i++) {
        const double *u = standin->row + i * WIDTH;
        double score[2] = {0, 0};
        for (size_t j = 0; j < WIDTH; j++) {
            score[0] += u[j] * from[j];
            score[1] += u[j] * truth[j];
        }
        const double p = 1 / (1 + exp(-score[0]));
        const double moved = 1 / (1 + exp(-score[1])) - p;
        const double norm = standin->norm[i];
        const double positive = (p - 1) * fmin(1, clip / ((1 - p) * norm));
        const double negative = p * fmin(1, clip / (p * norm));
        for (size_t j = 0; j < WIDTH; j++) {
            g[j] += moved * (positive - negative) * u[j] / (double)standin->count;
        }
    }
}

/* However much is clipped, one step reaches the model that made the labels. */
Test(selftune_first, a_step_reaches_the_model_that_made_the_labels)
{
    static const double from[WIDTH] = {0.3, -0.2, -0.8};
    static const double truth[WIDTH] = {1.1, 0.4, -0.3};
    struct standin standin;
    cr_assert(standin_init(&standin, D, 1, false) == STATUS_OK);
    for (int q = 1; q <= 9; q += 2) {
        double v[WIDTH];
        double g[WIDTH];
        double ridge[WIDTH] = {1e-4, 1e-4, 1e-4};
        memcpy(v, from, sizeof v);
        standin_set(&standin, v);
        const double clip = standin_clip(&standin, 0.1 * q);
        news(g, &standin, from, truth, clip);
        cr_assert(standin_move(v, &standin, g, clip, ridge, NULL) == STATUS_OK);
        for (size_t j = 0; j < WIDTH; j++) {
            cr_expect(fabs(v[j] - truth[j]) < 0.01, "quantile 0.%d, %zu: %g for %g", q, j, v[j],
                      truth[j]);
        }
    }
    standin_free(&standin);
}

enum { COLUMNS = 32, MATTER = 4, LOOKED_MOST = 1600 };

/* A look at sums of which so many columns tell the classes apart; the others' sums are the noise that the look has. */
static double clip_after(double *state, size_t telling)
{
    static const struct selftune sums = {.feature_count = COLUMNS,
                                         .output_count = 1,
                                         .sight = SIGHT_SUMS,
                                         .steps = 1,
                                         .quantile = 0.3};
    const double count[2] = {0.5 * RECORDS, 0.5 * RECORDS};
    const double deviation = 0.005 * RECORDS;
    double sum[2 * COLUMNS];
    struct public_random random = public_random_from(9);
    for (size_t i = 0; i < sizeof sum / sizeof sum[0]; i++) {
        const double sign = i < COLUMNS ? -1 : 1;
        sum[i] = deviation * public_random_normal(&random) +
                 (i % COLUMNS < telling ? sign * 0.1 * RECORDS : 0);
    }
    const struct selftune_look look = {.record_count = RECORDS,
                                       .count = count,
                                       .kept = count,
                                       .sum = sum,
                                       .count_deviation = deviation,
                                       .kept_deviation = deviation,
                                       .sum_deviation = deviation};
    cr_assert(selftune_state_count(&sums) <= LOOKED_MOST);
    cr_assert(selftune_begin(state, &sums) == STATUS_OK);
    cr_assert(selftune_take_look(state, &sums, &look) == STATUS_OK);
    return state[0];
}

/* Columns of which there is nothing to learn are a small part of a gradient, so its clip is lower, and so the noise on all of
 * them. Where all columns matter, all keep their size. */
Test(selftune_first, columns_that_do_not_matter_are_scaled_down)
{
    double state[LOOKED_MOST];
    const double *w = state + 1 + COLUMNS + 1 + COLUMNS;
    const double all = clip_after(state, COLUMNS);
    for (size_t j = 0; j < COLUMNS; j++) {
        cr_expect(w[j] > 0.8 * 2, "%zu: %g", j, w[j]);
    }
    const double few = clip_after(state, MATTER);
    for (size_t j = 0; j < COLUMNS; j++) {
        cr_expect(j < MATTER ? w[j] > 0.8 * 2 : w[j] < 0.4 * 2, "%zu: %g", j, w[j]);
    }
    cr_expect(few < 0.6 * all, "%g of %g", few, all);
}

/* A weaker model has the same score at the records' mean, and its columns count less. */
Test(selftune_first, a_model_is_weakened_about_the_mean)
{
    double state[STATE_MOST] = {0};
    double whole[K * WIDTH];
    take_look(state);
    selftune_model(whole, state, &stage);
    const double *mu = state + 1 + K * WIDTH;
    for (int part = 0; part <= 2; part++) {
        double weak[K * WIDTH];
        memcpy(weak, whole, sizeof weak);
        selftune_weaken(weak, state, &stage, 0.5 * part);
        for (size_t o = 0; o < K; o++) {
            double before = whole[o * WIDTH + D];
            double after = weak[o * WIDTH + D];
            for (size_t j = 0; j < D; j++) {
                cr_expect(fabs(weak[o * WIDTH + j] - 0.5 * part * whole[o * WIDTH + j]) < 1e-12);
                before += mu[j] * whole[o * WIDTH + j];
                after += mu[j] * weak[o * WIDTH + j];
            }
            cr_expect(fabs(after - before) < 1e-12, "%zu: %g for %g", o, after, before);
        }
    }
}

enum { MANY = 20, LOOKS = 400 };

/* The model's score at the records' mean, which is 0, less the logarithm of the classes' ratio: after a look at sums of classes
 * that nothing tells apart, a fifth of the records in the first, with noise that the learner knows. */
static double off_by(struct public_random *random)
{
    static const struct selftune sums = {
        .feature_count = MANY, .output_count = 1, .sight = SIGHT_SUMS, .quantile = 0.3};
    const double noise = 0.1 * RECORDS;
    const double count[2] = {0.2 * RECORDS, 0.8 * RECORDS};
    double sum[2 * MANY];
    double state[6 * MANY];
    double model[MANY + 1];
    for (size_t j = 0; j < 2 * MANY; j++) {
        sum[j] = noise * public_random_normal(random);
    }
    const struct selftune_look look = {.record_count = RECORDS,
                                       .count = count,
                                       .kept = count,
                                       .sum = sum,
                                       .count_deviation = 1,
                                       .kept_deviation = 1,
                                       .sum_deviation = noise};
    cr_assert(selftune_state_count(&sums) <= 6 * MANY);
    cr_assert(selftune_begin(state, &sums) == STATUS_OK);
    cr_assert(selftune_take_look(state, &sums, &look) == STATUS_OK);
    selftune_model(model, state, &sums);
    return model[MANY] - log(4);
}

/* Noise is in the means and in the model. Were it the same noise, it would move the threshold always the same way: by 0.043, where the
 * mean of 400 looks has a standard error of 0.0043. */
Test(selftune_first, noise_of_sums_moves_the_threshold_to_neither_side)
{
    struct public_random random = public_random_from(11);
    double mean = 0;
    double square = 0;
    for (int i = 0; i < LOOKS; i++) {
        const double off = off_by(&random);
        mean += off / LOOKS;
        square += off * off / LOOKS;
    }
    const double error = sqrt((square - mean * mean) / LOOKS);
    cr_assert(fabs(mean) < 5 * error, "%g, standard error %g", mean, error);
}
