/* share.c - the negative binomial distribution as a shape for table.c, and differences of two.
 *
 * f(k) = Gamma(k + r)/Gamma(k + 1) exp(-k/s) with r = 1/h does not grow: f(k + 1)/f(k) =
 * p (k + r)/(k + 1) <= p. Below 32 every number is a bin of its own; then there are 4 bins in
 * every octave, but none has more than s numbers. So few bins fit into a processor's first cache. From 32 s on lies the tail, in bins of s to 2 s
 * numbers: p^s = exp(-1) < 1/2. share_series.c expands f over a bin.
 *
 * Why shares add up: NB(r, p) has the generating function ((1 - p)/(1 - p x))^r, so h independent
 * ones of r = 1/h make a geometric variable, and the difference of two of these is discrete Laplace
 * noise (Inusah and Kozubowski 2006). */

#include "noise/share_private.h"

#include "noise/whole.h"

#include <string.h>

enum { SCALES = 32, OCTAVE_BITS = 2 };

/* k + plus, rounded towards `toward`. */
static void set_sum(mpfr_t out, uint128 k, unsigned plus, mpfr_rnd_t toward)
{
    mpz_t whole;
    mpz_init(whole);
    whole_set_u128(whole, k);
    mpz_add_ui(whole, whole, plus);
    mpfr_set_z(out, whole, toward);
    mpz_clear(whole);
}

/* ln f(k) = lngamma(k + 1 + r) - ln(k + r) - lngamma(k + 1) - k/s, every step to the nearest. With
 * k + 2 < 2^bits all parts are below 2^(bits + 8), or 2^20 for ln r; what a step rounds, by
 * 2^-precision of its result, counts no more than 2^(bits + 8) times in the sum, as |psi(x)| < 1 +
 * ln x for x >= 1: the 12 steps together stay below 2^(bits + 28 - precision). */
static void enclose(const void *self, uint128 k, mpfr_t low, mpfr_t high)
{
    const struct noise_share *noise = self;
    const mpfr_prec_t bits = 2 + (k >> 64 > 0 ? 128 : 64);
    const mpfr_prec_t precision = mpfr_get_prec(low) + bits + 28;
    mpfr_t sum;
    mpfr_t part;
    mpfr_t r;
    mpfr_inits2(precision, sum, part, r, NULL);
    mpfr_set_ui(r, 1, MPFR_RNDN);
    mpfr_div_ui(r, r, noise->shares, MPFR_RNDN);
    set_sum(part, k, 1, MPFR_RNDN);
    mpfr_lngamma(sum, part, MPFR_RNDN);
    mpfr_add(part, part, r, MPFR_RNDN);
    mpfr_lngamma(part, part, MPFR_RNDN);
    mpfr_sub(sum, part, sum, MPFR_RNDN);
    set_sum(part, k, 0, MPFR_RNDN);
    mpfr_add(part, part, r, MPFR_RNDN);
    mpfr_log(part, part, MPFR_RNDN);
    mpfr_sub(sum, sum, part, MPFR_RNDN);
    whole_set_real(r, noise->scale.denominator, MPFR_RNDN);
    set_sum(part, k, 0, MPFR_RNDN);
    mpfr_mul(part, part, r, MPFR_RNDN);
    whole_set_real(r, noise->scale.numerator, MPFR_RNDN);
    mpfr_div(part, part, r, MPFR_RNDN);
    mpfr_sub(sum, sum, part, MPFR_RNDN);

    mpfr_set_ui_2exp(part, 1, bits + 28 - precision, MPFR_RNDU);
    mpfr_sub(low, sum, part, MPFR_RNDD);
    mpfr_exp(low, low, MPFR_RNDD);
    mpfr_add(high, sum, part, MPFR_RNDU);
    mpfr_exp(high, high, MPFR_RNDU);
    mpfr_clears(sum, part, r, NULL);
}

static unsigned bin_bits(const void *self, uint64_t start)
{
    const struct noise_scale scale = ((const struct noise_share *)self)->scale;
    unsigned bits = 0;
    while (start >= SHARE_UNIT_END && start >> (bits + OCTAVE_BITS + 1) > 0 &&
           (uint128)scale.denominator << (bits + 1) <= scale.numerator) {
        bits++;
    }
    return bits;
}

enum status noise_share_init(struct noise_share *noise, struct noise_scale scale, uint64_t shares)
{
    struct share_series series;
    memset(noise, 0, sizeof *noise);
    if (!noise_scale_is_valid(scale) || shares == 0 || shares > NOISE_SHARES_MAX) {
        return STATUS_INVALID;
    }
    noise->scale = scale;
    noise->shares = shares;
    unsigned tail_bits = 0;
    while ((uint128)scale.denominator << tail_bits < scale.numerator) {
        tail_bits++;
    }
    uint128 reach = (uint128)SCALES * scale.numerator + scale.denominator - 1;
    const struct noise_shape shape = {.enclose = enclose,
                                      .expand = share_expand,
                                      .self = noise,
                                      .size_bits = bin_bits,
                                      .end = (uint64_t)(reach / scale.denominator),
                                      .tail_bits = tail_bits,
                                      .terms = TABLE_TERMS,
                                      .both_sides = false};
    share_series_init(&series, noise);
    noise->series = &series;
    enum status status = noise_table_make(&noise->table, &shape);
    noise->series = NULL;
    share_series_clear(&series);
    return status;
}

enum status noise_share_prepare(struct noise_share *noise, struct noise_scale scale,
                                uint64_t shares)
{
    if (noise->table.bin != NULL && noise->shares == shares &&
        noise->scale.numerator == scale.numerator &&
        noise->scale.denominator == scale.denominator) {
        return STATUS_OK;
    }
    noise_share_free(noise);
    const enum status status = noise_share_init(noise, scale, shares);
    if (status != STATUS_OK) {
        noise_share_free(noise);
        memset(noise, 0, sizeof *noise);
    }
    return status;
}

void noise_share_free(struct noise_share *noise)
{
    noise_table_free(&noise->table);
}

enum status noise_share_add(const struct noise_share *noise, const struct random *random,
                            int64_t *values, size_t count)
{
    return noise_table_add(&noise->table, random, values, count, 2);
}
