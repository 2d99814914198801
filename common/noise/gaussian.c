/* gaussian.c - the discrete Gaussian distribution as a shape for table.c.
 *
 * f(k) = exp(-k^2/(2 sigma^2)).
 *
 * A bin has sigma/16 to sigma/8 numbers. Around its centre c, with x = c/sigma and y = h/sigma,
 *
 *     f(c + h t)/f(c) = exp(-x y t - y^2 t^2 / 2) = sum a(n) t^n,
 *     a(0) = 1,   (n + 1) a(n + 1) = -x y a(n) - y^2 a(n - 1).
 *
 * f is entire. On the circle of radius q sigma around c it is at most f(c) exp(e), where e is the
 * maximum of q^2/2 - x q u - q^2 u^2 over u in [-1, 1] (u is the cosine of the angle):
 *
 *     e = q^2/2 + x^2/4  while x <= 2 q,  and  x q - q^2/2  beyond;
 *
 * so by Cauchy's inequality the terms from the n-th on add up to less than
 * exp(e) (y/q)^n / (1 - y/q), for any q > y: the best of a few is taken.
 *
 * Beyond 8 sigma lies the tail: f(k + w)/f(k) <= exp(-k w/sigma^2) <= exp(-8 w/sigma) <= exp(-1) <
 * 1/2 for w >= sigma/8. What is left is exp(-32) of the whole. */

#include "noise/gaussian.h"

#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

enum { SIGMAS = 8, TERMS = 10 };

/* k^2/(2 sigma^2) as a quotient, both initialised. */
static void quotient_of(mpz_t above, mpz_t below, struct noise_scale sigma, uint128 k)
{
    whole_set_u128(above, k);
    whole_set_u128(below, sigma.denominator);
    mpz_mul(above, above, below);
    mpz_mul(above, above, above);
    whole_set_u128(below, sigma.numerator);
    mpz_mul(below, below, below);
    mpz_mul_2exp(below, below, 1);
}

/* The same to the nearest. */
static void exponent_of(mpfr_t out, struct noise_scale sigma, uint128 k)
{
    mpz_t above;
    mpz_t below;
    mpz_inits(above, below, NULL);
    quotient_of(above, below, sigma, k);
    mpfr_set_z(out, above, MPFR_RNDN);
    mpfr_div_z(out, out, below, MPFR_RNDN);
    mpz_clears(above, below, NULL);
}

static void enclose(const void *self, uint128 k, mpfr_t low, mpfr_t high)
{
    const struct noise_gaussian *noise = self;
    mpz_t above;
    mpz_t below;
    mpz_inits(above, below, NULL);
    quotient_of(above, below, noise->sigma, k);
    lazy_enclose_exponential(low, high, above, below);
    mpz_clears(above, below, NULL);
}

/* The bits of the largest power of two that is at most sigma/8, but at least 1. */
static unsigned bin_bits(const void *self, UNUSED uint64_t start)
{
    const struct noise_gaussian *noise = self;
    unsigned bits = 0;
    while ((uint128)noise->sigma.denominator << (bits + 4) <= noise->sigma.numerator) {
        bits++;
    }
    return bits;
}

/* How far the first TERMS terms may be from the truth; rounded up generously. */
static double truncation(double x, double y)
{
    double least = INFINITY;
    for (int quarters = 2; quarters <= 16; quarters++) {
        double q = quarters / 4.0;
        double e = x <= 2 * q ? q * q / 2 + x * x / 4 : x * q - q * q / 2;
        double bound = exp(e) * pow(y / q, TERMS) / (1 - y / q);
        least = bound < least ? bound : least;
    }
    return least * 1.001;
}

static void expand(const void *self, uint64_t start, unsigned size_bits, mpfr_t *term, mpfr_t value,
                   double *error)
{
    const struct noise_gaussian *noise = self;
    const struct noise_scale sigma = noise->sigma;
    uint64_t half = size_bits > 0 ? UINT64_C(1) << (size_bits - 1) : 0;
    uint64_t center = start + half;
    double y = (double)half * (double)sigma.denominator / (double)sigma.numerator;
    double x = (double)center * (double)sigma.denominator / (double)sigma.numerator;
    mpfr_t linear;
    mpfr_t square;
    mpfr_t part;
    mpfr_inits2(TABLE_PRECISION, linear, square, part, NULL);

    exponent_of(value, sigma, center);
    mpfr_neg(value, value, MPFR_RNDN);
    mpfr_exp(value, value, MPFR_RNDN);
    exponent_of(square, sigma, half);
    mpfr_mul_2ui(square, square, 1, MPFR_RNDN); /* y^2 */
    mpfr_set_ui(linear, 0, MPFR_RNDN);
    if (half > 0) { /* x y = y^2 c/h, and c/h is whole: bins begin at multiples of their size */
        mpfr_t ratio;
        mpfr_init2(ratio, TABLE_PRECISION);
        whole_set_real(ratio, center / half, MPFR_RNDN);
        CHECK(center % half == 0);
        mpfr_mul(linear, square, ratio, MPFR_RNDN);
        mpfr_clear(ratio);
    }
    mpfr_set_ui(term[0], 1, MPFR_RNDN);
    for (unsigned n = TERMS; n < TABLE_TERMS; n++) {
        mpfr_set_ui(term[n], 0, MPFR_RNDN);
    }
    for (unsigned n = 0; n + 1 < TERMS; n++) {
        mpfr_mul(term[n + 1], linear, term[n], MPFR_RNDN);
        if (n > 0) {
            mpfr_mul(part, square, term[n - 1], MPFR_RNDN);
            mpfr_add(term[n + 1], term[n + 1], part, MPFR_RNDN);
        }
        mpfr_div_si(term[n + 1], term[n + 1], -(long)(n + 1), MPFR_RNDN);
    }
    *error = 0x1p-80 + (half > 0 ? truncation(x, y) : 0);
    mpfr_clears(linear, square, part, NULL);
}

/* ceil(8 sigma): at least 1, at most 2^43 */
static uint64_t table_end(struct noise_scale sigma)
{
    uint128 eight = (uint128)SIGMAS * sigma.numerator;
    return (uint64_t)((eight + sigma.denominator - 1) / sigma.denominator);
}

enum status noise_gaussian_init(struct noise_gaussian *noise, struct noise_scale sigma)
{
    memset(noise, 0, sizeof *noise);
    if (!noise_scale_is_valid(sigma)) {
        return STATUS_INVALID;
    }
    noise->sigma = sigma;
    unsigned tail_bits = 0;
    while ((uint128)sigma.denominator << (tail_bits + 3) < sigma.numerator) {
        tail_bits++;
    }
    const struct noise_shape shape = {.enclose = enclose,
                                      .expand = expand,
                                      .self = noise,
                                      .size_bits = bin_bits,
                                      .end = table_end(sigma),
                                      .tail_bits = tail_bits,
                                      .terms = TERMS,
                                      .both_sides = true};
    return noise_table_make(&noise->table, &shape);
}

void noise_gaussian_free(struct noise_gaussian *noise)
{
    noise_table_free(&noise->table);
}

/* The least n with n/2^k >= sigma/sqrt(parts), for the largest k that leaves room for n. */
void noise_gaussian_part(struct noise_scale *part, struct noise_scale sigma, uint64_t parts)
{
    enum { NUMERATOR_BITS = 63 };
    mpz_t above;
    mpz_t below;
    mpz_t root;
    CHECK(noise_scale_is_valid(sigma) && parts >= 1);
    *part = sigma;
    if (parts == 1) {
        return;
    }
    mpz_inits(above, below, root, NULL);
    for (unsigned k = NUMERATOR_BITS; k > 0; k--) {
        whole_set_u64(above, sigma.numerator);
        mpz_mul(above, above, above);
        mpz_mul_2exp(above, above, 2 * k);
        whole_set_u64(below, sigma.denominator);
        mpz_mul(below, below, below);
        whole_set_u64(root, parts);
        mpz_mul(below, below, root);
        mpz_cdiv_q(above, above, below);
        mpz_sqrtrem(root, above, above);
        if (mpz_sgn(above) > 0) {
            mpz_add_ui(root, root, 1);
        }
        if (mpz_sizeinbase(root, 2) <= NUMERATOR_BITS) {
            uint64_t numerator = 0;
            mpz_export(&numerator, NULL, 1, sizeof numerator, 0, 0, root);
            *part = (struct noise_scale){numerator, UINT64_C(1) << k};
            break;
        }
    }
    mpz_clears(above, below, root, NULL);
    CHECK(part->numerator > 0);
}

enum status noise_gaussian_add(const struct noise_gaussian *noise, const struct random *random,
                               int64_t *values, size_t count)
{
    return noise_table_add(&noise->table, random, values, count, 1);
}
