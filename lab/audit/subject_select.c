/* The worst pairs of private selection; D is the sensitivity of a score, eta = epsilon / (2 D), and
 * neighbours' scores move by D in opposite directions.
 *
 * Exponential mechanism. With p = P(0|x), moving candidate 0 down and the others up by D gives
 * P(0|x') = p e^epsilon / (1 + p (e^epsilon - 1)): the ratio comes near to e^epsilon only where p
 * is small. The score gap is chosen so that p is about 1/(25 (1 + epsilon)), which costs 1 to 9 %
 * of epsilon between epsilon 0.5 and 2. One other candidate stands for many: they enter through
 * their total weight alone.
 *
 * Permute-and-flip. Two candidates 2 D apart: the worse one is taken when it comes first and its
 * coin e^-epsilon falls, with probability e^-epsilon / 2; after the move both are equal, and it is
 * 1/2: exactly e^epsilon.
 *
 * Report-noisy-max. Candidate 0 wins when its noise is at most T, the least of the others'. Against
 * ONE other candidate the ratio nears e^epsilon only as 1/gap; against many equal ones T is nearly
 * always negative, where the noise's distribution function is exactly exponential. With 15 others
 * at epsilon 0.5, 31 others at 1 and 2, the epsilon of the pair is 0.9988, 0.9997 and 0.977 of the
 * claim. */

#include "lab/audit/harness.h"

#include "dp/mechanism.h"
#include "dp/select.h"
#include "dp/select_private.h"

#include <math.h>

enum { FIELD_SMALL = 16 /* candidates of noisy-max */, FIELD = 32, RARITY = 25 };

static enum status choose(struct audit_harness *harness, const struct random *random, unsigned side,
                          int64_t *score)
{
    const struct harness_selection *selection = harness->code->selection;
    const int64_t *value = harness->value[side];
    const size_t width = harness->width;
    struct grant *grant = NULL;
    size_t chosen = 0;
    enum status status = STATUS_OK;
    if (!harness->setting.direct) {
        status = harness_pay(harness, &grant, selection->mechanism);
        if (status == STATUS_OK) {
            status = selection->paid(&grant, random, &chosen, value, width, harness->sensitivity);
        }
    } else if (selection->direct != NULL) { /* on a table that was made beforehand */
        status = selection->direct(&harness->decay, random, &chosen, value, width);
    } else {
        status = select_draw_noisy(&harness->noise, random, &chosen, value, width);
    }
    *score = (int64_t)chosen;
    return status;
}

static const struct harness_selection exponential = {MECHANISM_EXPONENTIAL, select_exponential,
                                                     select_draw_exponential};
static const struct harness_selection flip = {MECHANISM_PURE, select_permute_and_flip,
                                              select_draw_flip};
static const struct harness_selection noisy = {MECHANISM_PURE, select_noisy_max, NULL};

/* Candidate 0 moves from gap above the others to 2 D closer. */
static void place(struct audit_harness *harness, size_t width, int64_t gap)
{
    int64_t sensitivity = (int64_t)harness->sensitivity;
    harness->width = width;
    for (size_t i = 0; i < width; i++) {
        harness->value[0][i] = i == 0 ? gap : 0;
        harness->value[1][i] = i == 0 ? gap - sensitivity : sensitivity;
    }
}

static enum status decay_prepare(struct audit_harness *harness, struct why *why)
{
    enum status status =
        noise_exponential_init(&harness->decay, harness->setting.epsilon_micro,
                               (uint128)2 * EPSILON_MICRO_ONE * harness->sensitivity);
    if (status != STATUS_OK) {
        why_set(why, "there is no selection at this epsilon and sensitivity");
    }
    return status;
}

static enum status exponential_prepare(struct audit_harness *harness, struct why *why)
{
    double eta = harness->epsilon / (2 * (double)harness->sensitivity);
    place(harness, 2, (int64_t)ceil(fmin(log(RARITY * (1 + harness->epsilon)) / eta, 0x1p60)));
    return decay_prepare(harness, why);
}

static enum status flip_prepare(struct audit_harness *harness, struct why *why)
{
    place(harness, 2, 2 * (int64_t)harness->sensitivity);
    return decay_prepare(harness, why);
}

static enum status noisy_prepare(struct audit_harness *harness, struct why *why)
{
    struct noise_scale scale;
    place(harness, harness->epsilon < 0.75 ? FIELD_SMALL : FIELD, 0); /* the more, the rarer, too */
    enum status status =
        mechanism_scale(&scale, 2 * harness->sensitivity, harness->setting.epsilon_micro, why);
    return status != STATUS_OK ? status : noise_laplace_init(&harness->noise, scale);
}

const struct subject_code subject_exponential = {
    .subject = {.name = "exponential",
                .summary = "the exponential mechanism",
                .worst = "an unlikely candidate gains and all the others lose: the rarer it was, "
                         "the nearer to e^epsilon; chosen to cost 1 to 9 % at epsilon 0.5 to 2",
                .tight = true,
                .paid = true},
    .prepare = exponential_prepare,
    .run = choose,
    .selection = &exponential};

const struct subject_code subject_permute_and_flip = {
    .subject = {.name = "permute-and-flip",
                .summary = "permute-and-flip",
                .worst = "the worse of two candidates, two sensitivities behind, draws level: "
                         "exactly e^epsilon",
                .tight = true,
                .paid = true},
    .prepare = flip_prepare,
    .run = choose,
    .selection = &flip};

const struct subject_code subject_noisy_max = {
    .subject = {.name = "noisy-max",
                .summary = "report-noisy-max with discrete Laplace noise",
                .worst = "one of 16 or 32 equal candidates gains and all the others lose; 0.977 of "
                         "the claim at epsilon 2, 0.9997 at 1",
                .tight = true},
    .prepare = noisy_prepare,
    .run = choose,
    .selection = &noisy};
