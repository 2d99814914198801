/* exponential.c - exp(-eta d) in fixed point with a certificate, and without one but exact.
 *
 * exp(-eta d) = 2^-y with y = d * eta / ln 2 = whole + quarters/4 + sixteenths/16 + rest, and
 * 2^-rest = exp(-u) with u = rest * ln 2 < 0.0434, which is Taylor's series up to u^9, by Horner's
 * rule. All is unsigned integers in units of 2^-64, so every step's error is known:
 *
 *   the rate: rounded up by at most 2^-62 of itself, which lowers 2^-y by
 *             ln 2 * y 2^-y * 2^-62 <= 1.5 units
 *   y:        rounded down by at most a unit, which raises by less than 0.7
 *   u:        the constant and the product are rounded down, which raises by less than 2
 *   a step:   p <- 1/k! - u p: the constant is at most a unit low, the product less than a unit;
 *             step k's error counts u^k times, together less than 1/(1 - 0.0434) < 1.1 either way
 *   the end:  the terms of the series alternate and fall, and the last one taken is negative, so
 *             that it is low, by less than 0.0434^10/10! < 0.2 units
 *   factors:  2^(-j/4) and 2^(-j/16) are at most a unit low, and so is each product: 4 units
 *
 * So the result is less than 4 units high and less than 7 low. 8 are taken off, hence it is below
 * the truth, by less than 15 units or 3.75 * 2^-62; rounding down to a multiple of 2^-62 adds one.
 * A slack of 8 has room left. tests/unit/common/noise/test_exponential.c holds it against MPFR.
 *
 * The exact answer is lazy.c's: (whole + U) 2^-62 is a drawn number that begins with 62 bits. exp of
 * a non-zero rational is no binary fraction, and exp(0) = 1 is exact, so that it ends. */

#include "noise/exponential.h"

#include "base/mask.h"
#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/bytes.h"

enum { WORD_BITS = 64, PRECISION_BITS = 256, RATE_BITS = 63, MARGIN = 8 };

/* The integer part of log2 of the rate is at most this: 2^-64 is as good as nothing. */
enum { RATE_EXPONENT_MAX = 7 };

#define LN_2      UINT64_C(0xb17217f7d1cf79ab) /* floor(2^64 ln 2) */
#define REST_MASK ((UINT64_C(1) << 60) - 1)    /* of a fraction: what four bits leave */

/* distance * eta as a quotient, both initialised. */
static void exponent_of(mpz_t numerator, mpz_t denominator,
                        const struct noise_exponential *exponential, uint64_t distance)
{
    whole_set_u64(numerator, exponential->numerator);
    whole_set_u64(denominator, distance);
    mpz_mul(numerator, numerator, denominator);
    whole_set_u128(denominator, exponential->denominator);
}

enum status noise_exponential_init(struct noise_exponential *exponential, uint64_t numerator,
                                   uint128 denominator)
{
    *exponential = (struct noise_exponential){.numerator = numerator, .denominator = denominator};
    if (numerator == 0 || denominator == 0) {
        return STATUS_INVALID;
    }
    mpfr_t rate;
    mpfr_t ln_2;
    mpz_t digits;
    mpz_t divisor;
    mpfr_inits2(PRECISION_BITS, rate, ln_2, NULL);
    mpz_inits(digits, divisor, NULL);
    exponent_of(digits, divisor, exponential, 1);
    mpfr_set_z(rate, digits, MPFR_RNDU);
    mpfr_div_z(rate, rate, divisor, MPFR_RNDU);
    mpfr_const_log2(ln_2, MPFR_RNDD);
    mpfr_div(rate, rate, ln_2, MPFR_RNDU);
    if (mpfr_get_exp(rate) > RATE_EXPONENT_MAX) {
        mpfr_set_ui_2exp(rate, 1, RATE_EXPONENT_MAX - 1, MPFR_RNDN);
    }
    /* 2^(exponent - 1) <= rate < 2^exponent */
    long exponent = (long)mpfr_get_exp(rate);
    mpfr_mul_2si(rate, rate, RATE_BITS - exponent, MPFR_RNDU);
    mpfr_get_z(digits, rate, MPFR_RNDU);
    mpz_export(&exponential->rate, NULL, 1, sizeof exponential->rate, 0, 0, digits);
    long shift = exponent + WORD_BITS - RATE_BITS;
    exponential->up = shift > 0 ? (unsigned)shift : 0;
    exponential->down = shift < 0 ? (unsigned)-shift : 0;
    /* rate <= 2^63 and up <= 8: the shifted product has at most 127 bits. */
    exponential->distance_max =
        shift > 0 ? UINT64_C(1) << (WORD_BITS - RATE_EXPONENT_MAX - 1) : UINT64_MAX;
    mpfr_clears(rate, ln_2, NULL);
    mpz_clears(digits, divisor, NULL);
    mpfr_free_cache();
    return STATUS_OK;
}

static inline uint64_t high_product(uint64_t a, uint64_t b)
{
    return (uint64_t)((uint128)a * b >> WORD_BITS);
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return mask_choose(mask_of(a < b), a, b);
}

/* 1/factorial - u p, all in units of 2^-64. */
static inline uint64_t step(uint64_t factorial, uint64_t u, uint64_t p)
{
    return UINT64_MAX / factorial - high_product(u, p);
}

/* One of four constants; no address depends on which. */
static inline uint64_t pick(uint64_t index, const uint64_t constant[4])
{
    const uint64_t odd = mask_of(index & 1);
    const uint64_t upper = mask_of(index >> 1 & 1);
    return mask_choose(upper, mask_choose(odd, constant[3], constant[2]),
                       mask_choose(odd, constant[1], constant[0]));
}

/* 2^-fraction, in units of 2^-64. Written out: gcc's loop takes a tenth longer. */
static inline uint64_t power_of_half(uint64_t fraction)
{
    static const uint64_t quarters[4] = {UINT64_MAX, UINT64_C(0xd744fccad69d6af4),
                                         UINT64_C(0xb504f333f9de6484),
                                         UINT64_C(0x9837f0518db8a96f)};
    static const uint64_t sixteenths[4] = {UINT64_MAX, UINT64_C(0xf5257d152486cc2c),
                                           UINT64_C(0xeac0c6e7dd24392e),
                                           UINT64_C(0xe0ccdeec2a94e111)};
    const uint64_t u = high_product(fraction & REST_MASK, LN_2);
    uint64_t p = UINT64_MAX / 362880;
    p = step(40320, u, p);
    p = step(5040, u, p);
    p = step(720, u, p);
    p = step(120, u, p);
    p = step(24, u, p);
    p = step(6, u, p);
    p = step(2, u, p);
    p = step(1, u, p);
    p = step(1, u, p);
    p = high_product(p, pick(fraction >> 60, sixteenths));
    return high_product(p, pick(fraction >> 62, quarters));
}

void noise_exponential_floor(const struct noise_exponential *exponential, uint64_t *weight,
                             const uint64_t *distance, size_t count)
{
    const uint64_t rate = exponential->rate;
    const uint64_t distance_max = exponential->distance_max;
    const unsigned up = exponential->up;
    const unsigned down = exponential->down;
    for (size_t i = 0; i < count; i++) {
        uint128 y = (uint128)rate * smaller(distance[i], distance_max) << up >> down;
        uint64_t whole = smaller((uint64_t)(y >> WORD_BITS), NOISE_EXPONENTIAL_BITS);
        uint64_t value = power_of_half((uint64_t)y) - MARGIN;
        weight[i] = value >> 1 >> (whole + 1);
    }
}

/* What an exact decision is about. */
struct question {
    const struct noise_exponential *exponential;
    uint64_t distance;
};

static void enclose(const void *self, mpfr_t low, mpfr_t high)
{
    const struct question *question = self;
    mpz_t numerator;
    mpz_t denominator;
    mpz_inits(numerator, denominator, NULL);
    exponent_of(numerator, denominator, question->exponential, question->distance);
    lazy_enclose_exponential(low, high, numerator, denominator);
    mpz_clears(numerator, denominator, NULL);
}

enum status noise_exponential_above(const struct noise_exponential *exponential,
                                    const struct random *random, uint64_t distance, uint64_t whole,
                                    bool *above)
{
    struct question question = {.exponential = exponential, .distance = distance};
    const struct real given = {.enclose = enclose, .self = &question};
    enum status status = lazy_is_below(random, whole, NOISE_EXPONENTIAL_BITS, &given, above);
    bytes_wipe(&question, sizeof question);
    return status;
}
