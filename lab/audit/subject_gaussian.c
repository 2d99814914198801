/* The worst pair of Gaussian noise: one coordinate, moved by the whole L2 sensitivity. At the
 * claimed epsilon the event "y at least t" with t = sigma^2 epsilon / D + D/2, where the likelihood
 * ratio is e^epsilon, has P(y >= t | x') - e^epsilon P(y >= t | x) = delta: on it the pair's
 * (epsilon, delta) is the exact one of Balle and Wang 2018, and the audit finds this threshold by
 * itself. delta has to be large enough to be seen: at 0.01 the event comes up in some hundredths of
 * the runs. */

#include "lab/audit/harness.h"

#include "dp/mechanism.h"
#include "lab/composition/calibrate.h"

#include <math.h>

static enum status gaussian_draw(void *self, const struct random *random, unsigned side,
                                 int64_t *score, size_t count)
{
    struct audit_harness *harness = self;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK;) {
        size_t part = count - done < HARNESS_BLOCK ? count - done : HARNESS_BLOCK;
        struct grant *grant = NULL;
        for (size_t i = 0; i < part; i++) {
            score[done + i] = harness->value[side][0];
        }
        status = harness_pay(harness, &grant, MECHANISM_DISCRETE_GAUSSIAN);
        if (status == STATUS_OK) {
            status = mechanism_gaussian(&grant, random, score + done, part, harness->sensitivity);
        }
        done += part;
    }
    return status;
}

static enum status gaussian_prepare(struct audit_harness *harness, struct why *why)
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
        status = account_epsilon(&account, &event, 1, harness->delta, why);
        harness->epsilon = account.high;
    }
    return status;
}

const struct subject_code subject_gaussian = {
    .subject = {.name = "gaussian",
                .summary = "discrete Gaussian noise on one integer",
                .worst = "0 against the L2 sensitivity; exactly (epsilon, delta) beyond the point "
                         "where the likelihood ratio is e^epsilon",
                .tight = true,
                .has_delta = true,
                .paid = true},
    .prepare = gaussian_prepare,
    .draw = gaussian_draw};
