#include "dp/mechanism.h"

#include "account/gaussian_steps.h"
#include "base/check.h"
#include "base/decimal.h"
#include "base/wide.h"
#include "noise/gaussian.h"
#include "noise/share.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint128 common_divisor(uint128 a, uint128 b)
{
    while (b != 0) {
        uint128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* numerator/denominator in lowest terms; returns whether noise can have that scale. */
static bool reduce(struct noise_scale *scale, uint128 numerator, uint64_t denominator)
{
    uint128 divisor = common_divisor(numerator, denominator);
    numerator /= divisor;
    *scale = (struct noise_scale){.numerator = (uint64_t)numerator,
                                  .denominator = (uint64_t)(denominator / divisor)};
    bool possible = numerator <= UINT64_MAX && noise_scale_is_valid(*scale);
    *scale = possible ? *scale : (struct noise_scale){0};
    return possible;
}

enum status mechanism_scale(struct noise_scale *scale, uint64_t sensitivity_l1,
                            uint64_t epsilon_micro, struct why *why)
{
    *scale = (struct noise_scale){0};
    if (sensitivity_l1 == 0 || epsilon_micro == 0) {
        return why_refuse(why, "an answer needs a sensitivity and an epsilon above 0");
    }
    const uint128 numerator = (uint128)sensitivity_l1 * EPSILON_MICRO_ONE;
    if (!reduce(scale, numerator, epsilon_micro)) {
        const bool in_range = 16 * numerator >= epsilon_micro && numerator <= (uint128)epsilon_micro
                                                                                  << 40;
        char epsilon[DECIMAL_TEXT_BYTES];
        decimal_format(epsilon, sizeof epsilon, epsilon_micro, EPSILON_DECIMALS);
        return why_refuse(
            why, "noise for sensitivity %" PRIu64 " grid steps at epsilon %s %s", sensitivity_l1,
            epsilon,
            in_range ? "has a scale that is no fraction of 64-bit numbers: choose a coarser "
                       "grid, or an epsilon of fewer digits"
                     : "is outside the scales 1/16 .. 2^40: choose another grid or epsilon");
    }
    return STATUS_OK;
}

enum status mechanism_sigma(struct noise_scale *sigma, uint64_t sensitivity_l2,
                            uint64_t sigma_micro, struct why *why)
{
    *sigma = (struct noise_scale){0};
    if (sensitivity_l2 == 0 || sigma_micro == 0) {
        return why_refuse(why, "an answer needs a sensitivity and a sigma above 0");
    }
    if (!reduce(sigma, (uint128)sensitivity_l2 * sigma_micro, EPSILON_MICRO_ONE)) {
        char text[DECIMAL_TEXT_BYTES];
        decimal_format(text, sizeof text, sigma_micro, EPSILON_DECIMALS);
        return why_refuse(why,
                          "Gaussian noise of %s times the sensitivity %" PRIu64
                          " grid steps is outside 1/16 .. 2^40: choose another grid or sigma",
                          text, sensitivity_l2);
    }
    return STATUS_OK;
}

enum status mechanism_laplace(struct grant **grant, const struct random *random, int64_t *values,
                              size_t count, uint64_t sensitivity_l1)
{
    const struct charge charge = grant_use_up(grant);
    struct noise_scale scale;
    struct noise_laplace noise;

    enum status status = charge.mechanism == MECHANISM_PURE ? STATUS_OK : STATUS_INVALID;
    if (status == STATUS_OK) {
        status = mechanism_scale(&scale, sensitivity_l1, charge.epsilon_micro, NULL);
    }
    if (status == STATUS_OK) {
        status = noise_laplace_init(&noise, scale);
    }
    if (status == STATUS_OK) {
        status = noise_laplace_add(&noise, random, values, count);
    }
    if (status != STATUS_OK && count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return status;
}

enum status mechanism_share(struct grant **grant, struct noise_share *prepared,
                            const struct random *random, int64_t *values, size_t count,
                            uint64_t sensitivity_l1, uint64_t shares)
{
    const struct charge charge = grant_use_up(grant);
    struct noise_scale scale;

    enum status status = charge.mechanism == MECHANISM_PURE ? STATUS_OK : STATUS_INVALID;
    if (status == STATUS_OK) {
        status = mechanism_scale(&scale, sensitivity_l1, charge.epsilon_micro, NULL);
    }
    if (status == STATUS_OK) {
        status = noise_share_prepare(prepared, scale, shares);
    }
    if (status == STATUS_OK) {
        status = noise_share_add(prepared, random, values, count);
    }
    if (status != STATUS_OK && count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return status;
}

enum status mechanism_sigma_of_share(struct noise_scale *sigma, uint64_t sensitivity_l2,
                                     uint64_t sigma_micro, uint64_t shares, struct why *why)
{
    struct noise_scale whole;
    *sigma = (struct noise_scale){0};
    if (shares == 0 || shares > MECHANISM_SHARES_MAX) {
        return why_refuse(why, "Gaussian noise is made up of 1 to %d shares", MECHANISM_SHARES_MAX);
    }
    enum status status = mechanism_sigma(&whole, sensitivity_l2, sigma_micro, why);
    if (status != STATUS_OK) {
        return status;
    }
    noise_gaussian_part(sigma, whole, shares);
    if ((uint128)MECHANISM_SHARE_SIGMA * sigma->denominator > sigma->numerator) {
        *sigma = (struct noise_scale){0};
        return why_refuse(why,
                          "Gaussian noise of sigma %.3g grid steps is too little for %" PRIu64
                          " sites to share out, each needs a sigma of %d: choose a finer grid "
                          "(grid_bits), or a smaller cohort.honest",
                          (double)whole.numerator / (double)whole.denominator, shares,
                          MECHANISM_SHARE_SIGMA);
    }
    return STATUS_OK;
}

uint64_t mechanism_sigma_delta(uint64_t shares, uint64_t count)
{
    const double each = gaussian_sum_distance(MECHANISM_SHARE_SIGMA, shares);
    const double atto = ceil(each * (double)count * (double)DELTA_ATTO_ONE * (1 + 0x1p-50));
    return atto < (double)DELTA_ATTO_ONE ? (uint64_t)atto : DELTA_ATTO_ONE - 1;
}

/* Checks what the noise of a grant is for; `shares` is 0 for the whole noise. */
static enum status check_gaussian(struct noise_scale *sigma, const struct charge *charge,
                                  uint64_t sensitivity_l2, size_t count, uint64_t shares)
{
    if (charge->mechanism != MECHANISM_DISCRETE_GAUSSIAN ||
        (charge_sampling_nano(charge) < SAMPLING_NANO_ONE &&
         sensitivity_l2 < SAMPLED_STEPS_MIN)) { /* priced for a finer grid */
        return STATUS_INVALID;
    }
    if (shares == 0) {
        return mechanism_sigma(sigma, sensitivity_l2, charge->sigma_micro, NULL);
    }
    return charge->delta_atto >= mechanism_sigma_delta(shares, count)
               ? mechanism_sigma_of_share(sigma, sensitivity_l2, charge->sigma_micro, shares, NULL)
               : STATUS_INVALID;
}

static enum status add_gaussian(struct grant **grant, const struct random *random, int64_t *values,
                                size_t count, uint64_t sensitivity_l2, uint64_t shares)
{
    const struct charge charge = grant_use_up(grant);
    struct noise_scale sigma;
    struct noise_gaussian noise = {.sigma = {0}};

    enum status status = check_gaussian(&sigma, &charge, sensitivity_l2, count, shares);
    if (status == STATUS_OK) {
        status = noise_gaussian_init(&noise, sigma);
    }
    if (status == STATUS_OK) {
        status = noise_gaussian_add(&noise, random, values, count);
    }
    if (status != STATUS_OK && count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    noise_gaussian_free(&noise);
    return status;
}

enum status mechanism_gaussian(struct grant **grant, const struct random *random, int64_t *values,
                               size_t count, uint64_t sensitivity_l2)
{
    return add_gaussian(grant, random, values, count, sensitivity_l2, 0);
}

enum status mechanism_gaussian_share(struct grant **grant, const struct random *random,
                                     int64_t *values, size_t count, uint64_t sensitivity_l2,
                                     uint64_t shares)
{
    CHECK(shares > 0);
    return add_gaussian(grant, random, values, count, sensitivity_l2, shares);
}
