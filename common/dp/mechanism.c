#include "dp/mechanism.h"

#include "base/check.h"
#include "base/decimal.h"
#include "dp/grant_private.h"
#include "base/wide.h"

#include <inttypes.h>
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

enum status mechanism_scale(struct noise_scale *scale, uint64_t sensitivity_l1,
                            uint64_t epsilon_micro, struct why *why)
{
    *scale = (struct noise_scale){0};
    if (sensitivity_l1 == 0 || epsilon_micro == 0) {
        why_set(why, "an answer needs a sensitivity and an epsilon above 0");
        return STATUS_INVALID;
    }
    uint128 numerator = (uint128)sensitivity_l1 * EPSILON_MICRO_ONE;
    uint128 divisor = common_divisor(numerator, epsilon_micro);
    numerator /= divisor;
    struct noise_scale result = {.numerator = (uint64_t)numerator,
                                 .denominator = (uint64_t)(epsilon_micro / divisor)};
    if (numerator > UINT64_MAX || !noise_scale_is_valid(result)) {
        char epsilon[DECIMAL_TEXT_BYTES];
        decimal_format(epsilon, sizeof epsilon, epsilon_micro, EPSILON_DECIMALS);
        why_set(why,
                "noise for sensitivity %" PRIu64 " grid steps at epsilon %s is outside the scales "
                "1/16 .. 2^40: choose another grid or epsilon",
                sensitivity_l1, epsilon);
        return STATUS_INVALID;
    }
    *scale = result;
    return STATUS_OK;
}

enum status mechanism_laplace(struct grant **grant, const struct random *random, int64_t *values,
                              size_t count, uint64_t sensitivity_l1)
{
    CHECK(grant != NULL && *grant != NULL);
    uint64_t epsilon_micro = (*grant)->charge.epsilon_micro;
    struct noise_scale scale;
    struct noise_laplace noise;

    grant_free(*grant); /* used up, whatever happens next */
    *grant = NULL;
    enum status status = mechanism_scale(&scale, sensitivity_l1, epsilon_micro, NULL);
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
