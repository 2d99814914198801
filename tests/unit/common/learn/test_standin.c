/* The made-up records of the self-tuning learner, against plain references; and a step on releases
 * that match its model. Fixed seeds. */

#include "learn/features_normal.h"
#include "learn/selftune.h"
#include "learn/standin.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_MOST = 200 };

/* The rehearsal's: of fewer rows, made once. */
Test(standin, copies_rows_and_takes_fewer_of_them)
{
    struct standin standin;
    struct standin copy;
    cr_assert_eq(standin_init_rows(&standin, 60, 7, 3, true), STATUS_OK);
    cr_assert_eq(standin.count, 60);
    for (size_t a = 0; a < 8; a++) {
        for (size_t b = 0; b < 8; b++) {
            double sum = 0;
            for (size_t i = 0; i < 60; i++) {
                sum += standin.row[i * 8 + a] * standin.row[i * 8 + b] / 60;
            }
            cr_expect_float_eq(sum, a == b ? 1 : 0, 1e-12, "%zu %zu", a, b);
        }
    }
    cr_assert_eq(standin_copy(&copy, &standin), STATUS_OK);
    cr_expect_eq(memcmp(copy.row, standin.row, 60 * 8 * sizeof(double)), 0);
    cr_expect_eq(memcmp(copy.norm, standin.norm, 60 * sizeof(double)), 0);
    cr_expect_neq((void *)copy.row, (void *)standin.row);
    const double v[24] = {0.5, -1, 2};
    standin_set(&copy, v);
    standin_set(&standin, v);
    cr_expect_eq(standin_clip(&copy, 0.5), standin_clip(&standin, 0.5));
    standin_free(&standin);
    standin_free(&copy);
}

Test(standin, has_mean_zero_and_covariance_one_to_rounding)
{
    static const size_t widths[] = {1, 7, 64, 100};
    for (size_t k = 0; k < 4; k++) {
        struct standin standin;
        const size_t d = widths[k];
        double worst = 0;
        cr_assert(standin_init(&standin, d, 1, k % 2 == 0) == STATUS_OK);
        cr_assert(standin.count == standin_count(d) && standin.width == d + 1);
        for (size_t i = 0; i <= d; i++) {
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t n = 0; n < standin.count; n++) {
                    sum += standin.row[n * (d + 1) + i] * standin.row[n * (d + 1) + j];
                }
                worst = fmax(worst, fabs(sum / (double)standin.count - (i == j)));
            }
        }
        for (size_t n = 0; n < standin.count; n++) {
            double norm = 0;
            for (size_t j = 0; j <= d; j++) {
                const double x = standin.row[n * (d + 1) + j];
                norm += k % 2 == 0 ? x * x : fabs(x);
            }
            worst = fmax(worst, fabs((k % 2 == 0 ? sqrt(norm) : norm) - standin.norm[n]));
        }
        cr_assert(worst < 1e-12, "%zu: %g", d, worst);
        standin_free(&standin);
    }
    cr_assert(standin_count(1) == 800 && standin_count(30) == 1200 && standin_count(256) == 2560);
}

/* A model as it may come up. */
static void some_model(double *v, size_t width, uint64_t seed)
{
    struct public_random random = public_random_from(seed);
    for (size_t j = 0; j < width; j++) {
        v[j] = public_random_normal(&random);
    }
}

/* Norm and expected share of each gradient, one by one; then the least norm that is enough. */
static double clip_plainly(const struct standin *standin, const double *v, double quantile)
{
    const size_t n = 2 * standin->count;
    double *norm = calloc(2 * n, sizeof *norm);
    double *mass = norm + n;
    double total = 0;
    double best = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        double f = 0;
        for (size_t j = 0; j < standin->width; j++) {
            f += v[j] * standin->row[i / 2 * standin->width + j];
        }
        const double sign = i % 2 == 0 ? 1 : -1;
        norm[i] = standin->norm[i / 2] / (1 + exp(sign * f));
        mass[i] = norm[i] / (1 + exp(-sign * f));
        total += mass[i];
    }
    for (size_t i = 0; i < n; i++) {
        double below = 0;
        for (size_t j = 0; j < n; j++) {
            below += norm[j] <= norm[i] ? mass[j] : 0;
        }
        best = below >= quantile * total && norm[i] < best ? norm[i] : best;
    }
    free(norm);
    return best;
}

Test(standin, clips_at_the_quantile_of_the_total_norm)
{
    static const double quantiles[] = {0.05, 0.3, 0.6, 0.95};
    for (size_t k = 0; k < 4; k++) {
        struct standin standin;
        double v[5];
        cr_assert(standin_init(&standin, 4, 1, k % 2 == 0) == STATUS_OK);
        some_model(v, 5, k);
        standin_set(&standin, v);
        const double clip = standin_clip(&standin, quantiles[k]);
        const double plain = clip_plainly(&standin, v, quantiles[k]);
        cr_assert(fabs(clip - plain) < 1e-12, "%g, not %g", clip, plain);
        standin_free(&standin);
    }
}

/* Without clipping the labels' mean is p, so that nothing is left of p - y. */
Test(standin, expects_no_gradient_without_a_clip)
{
    struct standin standin;
    double v[8];
    double mean[8];
    double most = 0;
    cr_assert(standin_init(&standin, 7, 1, false) == STATUS_OK);
    some_model(v, 8, 3);
    standin_set(&standin, v);
    standin_gradient(mean, &standin, HUGE_VAL);
    for (size_t j = 0; j < 8; j++) {
        most = fmax(most, fabs(mean[j]));
    }
    cr_assert(most < 1e-15, "%g", most);
    standin_gradient(mean, &standin, standin_clip(&standin, 0.3));
    for (size_t j = 0; j < 8; j++) {
        most = fmax(most, fabs(mean[j]));
    }
    cr_assert(most > 0.01, "a clip biases: %g", most);
    standin_free(&standin);
}

/* The mean of the clipped gradients over rows and labels, each computed as an agent does. */
static void gradient_plainly(double *mean, const struct standin *standin, const double *v,
                             double clip)
{
    memset(mean, 0, standin->width * sizeof *mean);
    for (size_t i = 0; i < standin->count; i++) {
        const double *u = standin->row + i * standin->width;
        double f = 0;
        for (size_t j = 0; j < standin->width; j++) {
            f += v[j] * u[j];
        }
        const double p = 1 / (1 + exp(-f));
        for (int y = 0; y <= 1; y++) {
            const double chance = y == 1 ? p : 1 - p;
            const double factor = fmin(1, clip / (fabs(p - y) * standin->norm[i]));
            for (size_t j = 0; j < standin->width; j++) {
                mean[j] += chance * factor * (p - y) * u[j] / (double)standin->count;
            }
        }
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

/* If the records are as the model says, a step leaves it alone. A learner that forgets the model's
 * own gradient takes a release of zeros for that. */
Test(selftune, stays_where_the_release_is_what_the_model_gives)
{
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        const struct selftune stage = {.feature_count = 6,
                                       .output_count = 1,
                                       .sight = SIGHT_PRODUCTS,
                                       .gaussian = gaussian == 1,
                                       .steps = 2,
                                       .quantile = 0.3};
        double state[STATE_MOST];
        double v[7];
        double gradient[7];
        struct standin standin;
        cr_assert(selftune_begin(state, &stage) == STATUS_OK);
        cr_assert(standin_init(&standin, 6, 1, stage.gaussian) == STATUS_OK);
        some_model(v, 7, 5);
        memcpy(state + 1, v, sizeof v);
        standin_set(&standin, v);
        state[0] = standin_clip(&standin, stage.quantile);
        gradient_plainly(gradient, &standin, v, state[0]);
        const struct selftune_release release = {
            .step = 1, .record_count = 1, .gradient = gradient, .deviation = 0.01};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
        cr_assert(off_by(state + 1, v, 7) < 1e-9, "%g", off_by(state + 1, v, 7));
        memset(gradient, 0, sizeof gradient);
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
        cr_assert(off_by(state + 1, v, 7) > 0.1, "the model's own gradient is not subtracted");
        standin_free(&standin);
    }
}
