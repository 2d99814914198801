/* The worst pairs of additive noise.
 *
 * Laplace, one coordinate moved by the whole sensitivity D: for an answer y >= x + D the ratio of
 * the two probabilities is exactly e^epsilon, and this event has a probability above 1/2 on one
 * side. So the epsilon of this pair is the claimed one, and few runs show it.
 *
 * Laplace, D spread over several coordinates: the log-likelihood ratio is the sum over the
 * coordinates of min(max(y_i - x_i, 0), D_i), up to sign, constants and the scale; this sum is the
 * score. It reaches its end, and the ratio e^epsilon, when every y_i is beyond x_i + D_i: with
 * probability above 2^-coordinates.
 *
 * The pipeline: losses of one record are clamped to [0, 1], encoded, added to a batch's, released.
 * The record's losses are all far below 0 on one side and all far above 1 on the other.
 *
 * A block of runs is one call of the mechanism on a long vector: its coordinates are independent,
 * so the parts of width `width` are independent runs, each on the scale that the sensitivity of ONE
 * of them asks for.
 *
 * Gaussian noise, one coordinate, moved by the whole L2 sensitivity. At the
 * claimed epsilon the event "y at least t" with t = sigma^2 epsilon / D + D/2, where the likelihood
 * ratio is e^epsilon, has P(y >= t | x') - e^epsilon P(y >= t | x) = delta: on it the pair's
 * (epsilon, delta) is the exact one of Balle and Wang 2018, and the audit finds this threshold by
 * itself. delta has to be large enough to be seen: at 0.01 the event comes up in some hundredths of
 * the runs. */

#include "lab/audit/harness.h"

#include "dp/encode.h"
#include "dp/mechanism.h"
#include "lab/composition/calibrate.h"

#include <math.h>

enum {
    SPREAD = 4, /* coordinates of laplace-vector */
    PIPELINE_EXPERTS = 4,
    PIPELINE_RECORDS = 8,
    PIPELINE_BITS = 8
};

/* How far y lies from x towards x + distance, cut off at both ends. */
static int64_t between(int64_t y, int64_t x, int64_t distance)
{
    /* The noise is added modulo 2^64, so the difference is taken there too. */
    int64_t moved = (int64_t)((uint64_t)y - (uint64_t)x);
    return moved < 0 ? 0 : moved > distance ? distance : moved;
}

/* Laplace noise, or Gaussian where the harness has a sigma. */
static enum status noise_draw(void *self, const struct random *random, unsigned side,
                              int64_t *score, size_t count)
{
    struct audit_harness *harness = self;
    const bool gaussian = harness->sigma_micro > 0;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK;) {
        size_t part = count - done < HARNESS_BLOCK ? count - done : HARNESS_BLOCK;
        struct grant *grant = NULL;
        for (size_t i = 0; i < part * harness->width; i++) {
            harness->work[i] = harness->value[side][i % harness->width];
        }
        status =
            harness_pay(harness, &grant, gaussian ? MECHANISM_DISCRETE_GAUSSIAN : MECHANISM_PURE);
        if (status == STATUS_OK) {
            status = (gaussian ? mechanism_gaussian : mechanism_laplace)(
                &grant, random, harness->work, part * harness->width, harness->sensitivity);
        }
        for (size_t run = 0; run < part && status == STATUS_OK; run++) {
            int64_t sum = 0;
            for (size_t i = 0; i < harness->width; i++) {
                int64_t low = harness->value[0][i];
                sum += between(harness->work[run * harness->width + i], low,
                               harness->value[1][i] - low);
            }
            score[done + run] = harness->width == 1 ? harness->work[run] : sum;
        }
        done += part;
    }
    return status;
}

static enum status has_noise(const struct audit_harness *harness, struct why *why)
{
    struct noise_scale scale;
    return mechanism_scale(&scale, harness->sensitivity, harness->setting.epsilon_micro, why);
}

static enum status laplace_prepare(struct audit_harness *harness, struct why *why)
{
    harness->width = 1;
    harness->value[1][0] = (int64_t)harness->sensitivity;
    return has_noise(harness, why);
}

static enum status vector_prepare(struct audit_harness *harness, struct why *why)
{
    harness->width = SPREAD;
    for (size_t i = 0; i < SPREAD; i++) { /* they sum to the sensitivity, whatever it is */
        harness->value[1][i] = (int64_t)((harness->sensitivity + i) / SPREAD);
    }
    return has_noise(harness, why);
}

/* The sum over a batch in which record 0 is the worst on this side. */
static void batch(int64_t *sum, unsigned side)
{
    for (size_t record = 0; record < PIPELINE_RECORDS; record++) {
        double loss[PIPELINE_EXPERTS];
        int64_t encoded[PIPELINE_EXPERTS];
        for (size_t i = 0; i < PIPELINE_EXPERTS; i++) {
            loss[i] = (double)((record * 5 + i * 3) % 9) / 9;
            loss[i] = record > 0 ? loss[i] : side == 0 ? -7.5 : 9e99;
        }
        encode_vector(encoded, loss, PIPELINE_EXPERTS, PIPELINE_BITS);
        clip_box(encoded, PIPELINE_EXPERTS, 0, INT64_C(1) << PIPELINE_BITS);
        for (size_t i = 0; i < PIPELINE_EXPERTS; i++) {
            sum[i] += encoded[i];
        }
    }
}

static enum status pipeline_prepare(struct audit_harness *harness, struct why *why)
{
    harness->width = PIPELINE_EXPERTS;
    harness->sensitivity = (uint64_t)PIPELINE_EXPERTS << PIPELINE_BITS; /* k/g */
    batch(harness->value[0], 0);
    batch(harness->value[1], 1);
    return has_noise(harness, why);
}

enum status harness_set_gaussian(struct audit_harness *harness, struct why *why)
{
    double unit = (double)harness->sensitivity;
    struct noise_scale sigma;
    struct calibration calibration;
    struct account account;
    struct privacy_event event = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = unit,
                                  .sensitivity = unit,
                                  .count = 1,
                                  .sampling = 1};
    harness->width = 1;
    harness->value[1][0] = (int64_t)harness->sensitivity;
    enum status status = calibrate(&calibration, &event, 1, harness->epsilon, harness->delta, why);
    if (status != STATUS_OK) {
        return status;
    }
    harness->sigma_micro = (uint64_t)fmin(ceil(event.parameter / unit * 1e6), 0x1p62);
    status = mechanism_sigma(&sigma, harness->sensitivity, harness->sigma_micro, why);
    if (status == STATUS_OK) {
        event.parameter = (double)harness->sigma_micro / 1e6 * unit;
        status = account_ask(
            &account, &event, 1,
            (struct composition_question){.wants_epsilon = true, .at = harness->delta}, why);
        harness->epsilon = account.high;
    }
    return status;
}

const struct subject_code subject_laplace = {
    .subject = {.name = "laplace",
                .summary = "discrete Laplace noise on one integer",
                .worst = "0 against the sensitivity; answers beyond the larger one have exactly "
                         "e^epsilon times the probability",
                .tight = true,
                .paid = true},
    .prepare = laplace_prepare,
    .draw = noise_draw};

const struct subject_code subject_laplace_vector = {
    .subject = {.name = "laplace-vector",
                .summary = "the same on a vector: the sensitivity spread over four coordinates",
                .worst = "each coordinate moved by a quarter; e^epsilon where all four answers lie "
                         "beyond, one run in 16",
                .tight = true,
                .paid = true},
    .prepare = vector_prepare,
    .draw = noise_draw};

const struct subject_code subject_pipeline = {
    .subject = {.name = "pipeline",
                .summary = "records' losses clamped, encoded, summed over a batch, released",
                .worst = "one record's four losses all below 0 against all above 1; replace-one "
                         "sensitivity k/g",
                .tight = true,
                .paid = true},
    .prepare = pipeline_prepare,
    .draw = noise_draw};

const struct subject_code subject_gaussian = {
    .subject = {.name = "gaussian",
                .summary = "discrete Gaussian noise on one integer",
                .worst = "0 against the L2 sensitivity; exactly (epsilon, delta) beyond the point "
                         "where the likelihood ratio is e^epsilon",
                .tight = true,
                .has_delta = true,
                .paid = true},
    .prepare = harness_set_gaussian,
    .draw = noise_draw};
