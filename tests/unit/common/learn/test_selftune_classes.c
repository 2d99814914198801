/* The self-tuning learner of three classes, and a look at squares: against plain references, and from beginning to
 * end on made-up records with noise. Fixed seeds. */

#include "learn/features_normal.h"
#include "learn/selftune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 4, WIDTH = D + 1, K = 3, STATE_MOST = 200, RECORDS = 3000, FRESH = 20000 };

static void softmax(double *p, const double *v, const double *u)
{
    double total = 0;
    for (size_t o = 0; o < K; o++) {
        double f = 0;
        for (size_t j = 0; j < WIDTH; j++) {
            f += v[o * WIDTH + j] * u[j];
        }
        p[o] = exp(f);
        total += p[o];
    }
    for (size_t o = 0; o < K; o++) {
        p[o] /= total;
    }
}

/* sum += (p - y) u, shortened to the clip; returns the norm. */
static double add_gradient(double *sum, const double *v, const double *u, size_t label, double clip,
                           bool gaussian, double times)
{
    double p[K];
    double norm = 0;
    softmax(p, v, u);
    p[label] -= 1;
    for (size_t k = 0; k < K * WIDTH; k++) {
        const double g = p[k / WIDTH] * u[k % WIDTH];
        norm += gaussian ? g * g : fabs(g);
    }
    norm = gaussian ? sqrt(norm) : norm;
    for (size_t k = 0; k < K * WIDTH; k++) {
        sum[k] += times * p[k / WIDTH] * u[k % WIDTH] * fmin(1, clip / norm);
    }
    return norm;
}

static void some_model(double *v, uint64_t seed)
{
    struct public_random random = public_random_from(seed);
    for (size_t k = 0; k < K * WIDTH; k++) {
        v[k] = public_random_normal(&random);
    }
}

static double off_by(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

/* What a federation whose records are as the model says would release: a mean. mass: of the norms up to the clip, and
 * of all. */
static void gradient_plainly(double *mean, double *mass, const struct standin *standin,
                             const double *v, double clip)
{
    memset(mean, 0, K * WIDTH * sizeof *mean);
    mass[0] = 0;
    mass[1] = 0;
    for (size_t i = 0; i < standin->count; i++) {
        const double *u = standin->row + i * WIDTH;
        double p[K];
        softmax(p, v, u);
        for (size_t label = 0; label < K; label++) {
            const double norm = add_gradient(mean, v, u, label, clip, standin->gaussian,
                                             p[label] / (double)standin->count);
            mass[0] += norm <= clip * (1 + 1e-12) ? p[label] * norm : 0;
            mass[1] += p[label] * norm;
        }
    }
}

Test(standin_classes, clips_at_the_quantile_and_expects_what_the_model_gives)
{
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        struct standin standin;
        double v[K * WIDTH];
        double mean[K * WIDTH];
        double plain[K * WIDTH];
        double mass[2];
        cr_assert(standin_init(&standin, D, K, gaussian == 1) == STATUS_OK);
        some_model(v, 11);
        standin_set(&standin, v);
        const double clip = standin_clip(&standin, 0.4);
        gradient_plainly(plain, mass, &standin, v, clip);
        cr_assert(mass[0] >= 0.4 * mass[1] && mass[0] < 0.402 * mass[1], "%g", mass[0] / mass[1]);
        standin_gradient(mean, &standin, clip);
        cr_assert(off_by(mean, plain, K * WIDTH) < 1e-12);
        cr_assert(off_by(mean, (double[K * WIDTH]){0}, K * WIDTH) > 0.01, "a clip biases");
        standin_gradient(mean, &standin, HUGE_VAL);
        cr_assert(off_by(mean, (double[K * WIDTH]){0}, K * WIDTH) < 1e-15);
        standin_free(&standin);
    }
}

/* What columns vary by beyond the rows holds each class's numbers as a ridge of its own does: by its curvature as it is clipped. */
Test(standin_classes, is_held_along_columns_that_vary_more)
{
    enum { CLIP = 8 };
    static const double factor = 0.7;
    struct standin standin;
    double from[K * WIDTH];
    double g[K * WIDTH];
    double h[K];
    double more[D * D] = {0};
    struct public_random random = public_random_from(6);
    cr_assert(standin_init(&standin, D, K, false) == STATUS_OK);
    some_model(from, 13);
    for (size_t o = 0; o < K; o++) {
        from[o * WIDTH + D] += (double)o;
    }
    standin_set(&standin, from);
    standin_kept_curvature(h, &standin, CLIP);
    cr_assert(fabs(h[0] - h[1]) > 0.01 && fabs(h[1] - h[2]) > 0.01, "%g %g %g", h[0], h[1], h[2]);
    for (size_t k = 0; k < K * WIDTH; k++) {
        g[k] = 0.01 * public_random_normal(&random);
    }
    for (size_t j = 0; j < D; j++) {
        more[j * D + j] = factor;
    }
    double v[2][K * WIDTH];
    for (size_t way = 0; way < 2; way++) {
        double ridge[K * WIDTH];
        for (size_t k = 0; k < K * WIDTH; k++) {
            ridge[k] = 0.05 + (way == 0 || k % WIDTH == D ? 0 : factor * h[k / WIDTH]);
        }
        memcpy(v[way], from, sizeof from);
        cr_assert(standin_move(v[way], &standin, g, CLIP, ridge, way == 0 ? more : NULL) ==
                  STATUS_OK);
    }
    cr_assert(off_by(v[0], v[1], K * WIDTH) < 1e-7, "%g", off_by(v[0], v[1], K * WIDTH));
    cr_assert(off_by(v[0], from, K * WIDTH) > 1e-3);
    standin_free(&standin);
}

/* A small release moves the model to where its gradients differ by it: checked without a clip and with hardly any
 * ridge, by the gradients of the model that it moved to. */
Test(standin_classes, moves_to_where_the_gradients_differ_by_what_was_released)
{
    struct standin standin;
    double v[K * WIDTH];
    double from[K * WIDTH];
    double g[K * WIDTH];
    double sum[K * WIDTH] = {0};
    double ridge[K * WIDTH];
    struct public_random random = public_random_from(5);
    for (size_t k = 0; k < K * WIDTH; k++) {
        ridge[k] = k % 2 == 0 ? 1e-4 : 0.3; /* each number has its own */
    }
    cr_assert(standin_init(&standin, D, K, false) == STATUS_OK);
    some_model(from, 12);
    memcpy(v, from, sizeof v);
    for (size_t k = 0; k < K * WIDTH; k++) {
        g[k] = 0.02 * public_random_normal(&random);
    }
    for (size_t j = 0; j < WIDTH; j++) { /* of a softmax */
        g[2 * WIDTH + j] = -g[j] - g[WIDTH + j];
    }
    standin_set(&standin, v);
    cr_assert(standin_move(v, &standin, g, HUGE_VAL, ridge, NULL) == STATUS_OK);
    for (size_t k = 0; k < K * WIDTH; k++) {
        cr_assert(ridge[k] == (k % 2 == 0 ? 1e-4 : 0.3), "it was short");
    }
    for (size_t i = 0; i < standin.count; i++) {
        double before[K];
        double after[K];
        softmax(before, from, standin.row + i * WIDTH);
        softmax(after, v, standin.row + i * WIDTH);
        for (size_t k = 0; k < K * WIDTH; k++) {
            sum[k] += (after[k / WIDTH] - before[k / WIDTH]) * standin.row[i * WIDTH + k % WIDTH] /
                      (double)standin.count;
        }
    }
    for (size_t k = 0; k < K * WIDTH; k++) {
        const double left = sum[k] + g[k] + ridge[k] * (v[k] - from[k]);
        cr_assert(fabs(left) < 1e-9, "%zu: %g", k, left);
    }
    /* A huge one is held to a radius of 3 for each class. */
    for (size_t k = 0; k < K * WIDTH; k++) {
        g[k] *= 1e6;
    }
    memcpy(v, from, sizeof v);
    cr_assert(standin_move(v, &standin, g, HUGE_VAL, ridge, NULL) == STATUS_OK);
    for (size_t o = 0; o < K; o++) {
        double square = 0;
        for (size_t k = o * WIDTH; k < (o + 1) * WIDTH; k++) {
            square += (v[k] - from[k]) * (v[k] - from[k]);
        }
        cr_assert(square <= 9 && ridge[o * WIDTH] > 1e-4, "%g", square);
    }
    standin_free(&standin);
}

Test(selftune_classes, stays_where_the_release_is_what_the_model_gives)
{
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        const struct selftune stage = {.feature_count = D,
                                       .output_count = K,
                                       .sight = SIGHT_SQUARES,
                                       .gaussian = gaussian == 1,
                                       .steps = 2,
                                       .quantile = 0.3};
        double state[STATE_MOST];
        double v[K * WIDTH];
        double gradient[K * WIDTH];
        double mass[2];
        struct standin standin;
        cr_assert(selftune_state_count(&stage) <= STATE_MOST);
        cr_assert(selftune_begin(state, &stage) == STATUS_OK);
        cr_assert(standin_init(&standin, D, K, stage.gaussian) == STATUS_OK);
        some_model(v, 13);
        memcpy(state + 1, v, sizeof v);
        standin_set(&standin, v);
        state[0] = standin_clip(&standin, stage.quantile);
        gradient_plainly(gradient, mass, &standin, v, state[0]);
        const struct selftune_release release = {
            .step = 1, .record_count = 1, .gradient = gradient, .deviation = 0.01};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
        cr_assert(off_by(state + 1, v, K * WIDTH) < 1e-8, "%g", off_by(state + 1, v, K * WIDTH));
        memset(gradient, 0, sizeof gradient);
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
        cr_assert(off_by(state + 1, v, K * WIDTH) > 0.02, "the model's own is not subtracted");
        standin_free(&standin);
    }
}

/* A look at squares scales each column to a variance near 1, and no column by more than its noise allows; then down, by how
 * little the models say of it. */
Test(selftune_classes, a_look_at_squares_centres_and_scales_columns)
{
    const struct selftune stage = {
        .feature_count = D, .output_count = K, .sight = SIGHT_SQUARES, .steps = 1, .quantile = 0.3};
    const double count[K] = {500, 300, 200};
    const double sum[K * D] = {300, -100, 0, 900, 150, -100, 0, 600, 50, -50, 0, 500};
    const double square[D] = {500, 312.5, 1, -40};
    const struct selftune_look look = {1000, count, NULL, sum,  square, 1e-6,
                                       0,    1e-6,  40,   NULL, NULL};
    double state[STATE_MOST];
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    cr_assert(selftune_take_look(state, &stage, &look) == STATUS_OK);
    cr_assert(selftune_check_shown(state, &stage) == STATUS_OK);
    const double *mu = state + 1 + K * WIDTH;
    const double wanted[] = {0.5, -0.25, 0, 1, 2, 2, 5, 5};
    cr_assert(off_by(mu, wanted, D) < 1e-12);
    /* A class's model is its mean in white columns, less that of all, as hardly any noise shrinks it (by 2^-11, for no slab
     * is larger); then less the models' mean. The longer it is the lower the class starts. */
    double model[K * WIDTH];
    double square_mean = 0;
    for (size_t j = 0; j < D; j++) {
        double mean = 0;
        for (size_t o = 0; o < K; o++) {
            const double own = sum[o * D + j] / count[o];
            model[o * WIDTH + j] = (own - (j == 3 ? 2 : wanted[j])) * wanted[D + j];
            mean += model[o * WIDTH + j] / K;
        }
        for (size_t o = 0; o < K; o++) {
            model[o * WIDTH + j] -= mean;
        }
    }
    double square_of[K] = {0};
    for (size_t o = 0; o < K; o++) {
        double *m = model + o * WIDTH;
        for (size_t j = 0; j < D; j++) {
            square_of[o] += m[j] * m[j];
        }
        const double shorter = fmin(1, 3 / sqrt(square_of[o]));
        for (size_t j = 0; j < D; j++) {
            m[j] *= shorter;
        }
        square_of[o] *= shorter * shorter;
        square_mean += square_of[o] / K;
    }
    double scale[D] = {0};
    double most = 0;
    for (size_t j = 0; j < D;
         j++) { /* without noise Pv is of the models' squares: nine tenths its own */
        for (size_t o = 0; o < K; o++) {
            scale[j] += 0.9 * model[o * WIDTH + j] * model[o * WIDTH + j] + 0.1 * square_of[o] / D;
        }
        most = fmax(most, scale[j]);
    }
    for (size_t j = 0; j < D; j++) {
        scale[j] = sqrt(scale[j] / most);
        cr_expect(fabs(mu[D + j] - wanted[D + j] * scale[j]) < 4e-3, "%zu: %g for %g", j, mu[D + j],
                  wanted[D + j] * scale[j]);
        for (size_t o = 0; o < K; o++) {
            state[1 + o * WIDTH + j] *= mu[D + j] / wanted[D + j];
        }
    }
    const double logs[] = {log(0.5), log(0.3), log(0.2)};
    const double centre = (logs[0] + logs[1] + logs[2]) / 3;
    for (size_t o = 0; o < K; o++) {
        model[o * WIDTH + D] = logs[o] - centre - (square_of[o] - square_mean) / 2;
    }
    cr_assert(off_by(state + 1, model, K * WIDTH) < 4e-3, "%g",
              off_by(state + 1, model, K * WIDTH));
    const double z[D] = {1, 0, -0.5, 0.9};
    double u[WIDTH];
    selftune_transform(u, z, state, &stage);
    const double white[D] = {1, 0.5, -2.5, -0.5};
    for (size_t j = 0; j < D; j++) {
        cr_assert(fabs(u[j] - white[j] * mu[D + j] / wanted[D + j]) < 1e-12);
    }
    cr_assert(u[D] == 1);
}

static const double true_model[K * WIDTH] = {2.5, -3,  0, 1, 0,  -2, 1,   2,
                                             0,   0.5, 0, 2, -2, -1, -0.5};

static size_t draw(double *z, struct public_random *random)
{
    double u[WIDTH];
    double p[K];
    size_t label = 0;
    for (size_t j = 0; j < D; j++) {
        z[j] = fmax(-1, fmin(1, 0.3 + 0.4 * public_random_normal(random)));
        u[j] = z[j];
    }
    u[D] = 1;
    softmax(p, true_model, u);
    double left = ldexp((double)(public_random_next(random) >> 11), -53);
    while (label + 1 < K && left >= p[label]) {
        left -= p[label++];
    }
    return label;
}

static void add_noise(double *x, size_t count, double deviation, struct public_random *random)
{
    for (size_t i = 0; i < count; i++) {
        x[i] += deviation * public_random_normal(random);
    }
}

static size_t best(const double *p)
{
    return p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2;
}

/* Learns with the noise that a central epsilon needs in L1. Returns how much accuracy is lost to the true model, in
 * expectation over labels. */
static double learn(double epsilon, uint32_t steps, uint64_t seed)
{
    const struct selftune stage = {.feature_count = D,
                                   .output_count = K,
                                   .sight = SIGHT_SQUARES,
                                   .steps = steps,
                                   .quantile = 0.3};
    const double part = epsilon / (1 + steps);
    const double counts_noise = sqrt(2) * 2 / (0.05 * part);
    const double sums_noise = sqrt(2) * 2 * D / (0.95 * part);
    struct public_random random = public_random_from(seed);
    double *z = calloc(RECORDS * D, sizeof *z);
    static size_t label[RECORDS];
    double state[STATE_MOST];
    double count[K] = {0};
    double sum[K * D] = {0};
    double square[D] = {0};
    double w[K * WIDTH];
    double lost = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        label[i] = draw(z + i * D, &random);
        count[label[i]]++;
        for (size_t j = 0; j < D; j++) {
            sum[label[i] * D + j] += z[i * D + j];
            square[j] += z[i * D + j] * z[i * D + j];
        }
    }
    add_noise(count, K, counts_noise, &random);
    add_noise(sum, K * D, sums_noise, &random);
    add_noise(square, D, 2 * sums_noise, &random);
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    const struct selftune_look look = {
        RECORDS, count, NULL, sum, square, counts_noise, 0, sums_noise, 2 * sums_noise, NULL, NULL};
    cr_assert(selftune_take_look(state, &stage, &look) == STATUS_OK);
    for (uint32_t step = 0; step < steps; step++) {
        double gradient[K * WIDTH] = {0};
        const double deviation = sqrt(2) * 2 * state[0] / part;
        for (size_t i = 0; i < RECORDS; i++) {
            double u[WIDTH];
            selftune_transform(u, z + i * D, state, &stage);
            (void)add_gradient(gradient, state + 1, u, label[i], state[0], false, 1);
        }
        add_noise(gradient, K * WIDTH, deviation, &random);
        const struct selftune_release release = {step, RECORDS, gradient, deviation};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
    }
    selftune_model(w, state, &stage);
    for (size_t i = 0; i < FRESH; i++) {
        double u[WIDTH];
        double truth[K];
        double found[K];
        (void)draw(u, &random);
        u[D] = 1;
        softmax(truth, true_model, u);
        softmax(found, w, u);
        lost += truth[best(truth)] - truth[best(found)];
    }
    free(z);
    return lost / FRESH;
}

/* Over 100 seeds a run at epsilon 8 loses 0.0019 by sums alone (deviation
 * 0.0007), and 0.0013 after three steps (0.0006). With other seeds the mean of four passes its bound with less than 1e-6.
 * At epsilon 0.05 noise
 * outweighs the records, and a test that passes there would see nothing. */
Test(selftune_classes, reaches_the_true_model)
{
    static const struct {
        uint32_t steps;
        double most;
    } way[] = {{0, 0.005}, {3, 0.004}};
    for (size_t i = 0; i < 2; i++) {
        double much = 0;
        double little = 0;
        for (uint64_t seed = 0; seed < 4; seed++) {
            much += learn(8, way[i].steps, 100 + seed) / 4;
            little += learn(0.05, way[i].steps, 100 + seed) / 4;
        }
        cr_assert(much < way[i].most, "%u steps: %g", way[i].steps, much);
        cr_assert(little > 0.06, "%u steps: %g: nothing would be seen", way[i].steps, little);
    }
}

/* Gradients that are steep for two classes tell of columns that are alike, whichever classes these are. */
Test(selftune_classes, each_class_tells_of_columns_that_are_alike)
{
    const struct selftune stage = {
        .feature_count = D, .output_count = K, .sight = SIGHT_SQUARES, .steps = 2, .quantile = 1};
    const double count[K] = {RECORDS / 3.0, RECORDS / 3.0, RECORDS / 3.0};
    const double square[D] = {RECORDS / 4.0, RECORDS / 4.0, RECORDS / 4.0, RECORDS / 4.0};
    for (size_t class = 0; class < K; class ++) {
        double state[STATE_MOST];
        double sum[K * D] = {0};
        double gradient[K * WIDTH] = {0};
        cr_assert(selftune_state_count(&stage) <= STATE_MOST);
        sum[class * D] = 0.05 * RECORDS;
        sum[(class + 1) % K * D] = -0.05 * RECORDS; /* the third class has no model */
        const struct selftune_look look = {
            .record_count = RECORDS, .count = count, .sum = sum, .product = square};
        cr_assert(selftune_begin(state, &stage) == STATUS_OK);
        cr_assert(selftune_take_look(state, &stage, &look) == STATUS_OK);
        cr_assert(selftune_shortened(state, &stage) == 1);
        const double v = state[1 + class * WIDTH];
        cr_assert(v > 0.1, "%g", v);
        gradient[class * WIDTH] = 0.1 * RECORDS; /* it points back along the classes' own models */
        gradient[(class + 1) % K * WIDTH] = -0.1 * RECORDS;
        const struct selftune_release release = {0, RECORDS, gradient, 1e-6};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
        cr_expect(selftune_shortened(state, &stage) > 1.3, "%zu: %g", class,
                  selftune_shortened(state, &stage));
    }
}
