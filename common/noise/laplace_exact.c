/* laplace_exact.c - the few words that the integers of a kernel leave open.
 *
 * Let F(d) be the digit's distribution function and M(d) the sum of its masses up to d (all of them
 * from d = 31 on). C(d) = 2^51 F(d) - M(d) never falls, starts at or above 0 and ends at `left`. A
 * uniform real V in [0, left) then means the smallest d with V < C(d): a digit has exactly the
 * probability that its mass lacks. V is known to as many bits as were drawn, C(d) lies between two
 * MPFR numbers rounded down and up; while the two intervals overlap both are refined. C(d) is no
 * binary fraction (it is an algebraic function of exp of a non-zero rational), so that ends with
 * probability 1. So does the comparison of a uniform real with exp(-low/s), the same way.
 *
 * F and the masses come from exp and expm1 with directed rounding: one of every two bounds is
 * below, the other above the truth, whatever the precision. */

#include "noise/laplace_private.h"

#include "noise/whole.h"

#include "base/bytes.h"

#include <gmp.h>

enum { WORD_BITS = 64, PRECISION_BITS = 256 };

void bounds_init(struct bounds *bounds, mpfr_prec_t precision)
{
    mpfr_init2(bounds->low, precision);
    mpfr_init2(bounds->high, precision);
}

void bounds_clear(struct bounds *bounds)
{
    mpfr_clear(bounds->low);
    mpfr_clear(bounds->high);
}

/* The binary logarithm of what one unit of a digit is worth. */
static size_t shift_of(const struct noise_geometric *noise, size_t position)
{
    return noise->low_bits + CELL_BITS * position;
}

/* times * 2^shift / scale, rounded towards `toward`. */
static void exponent_of(mpfr_t out, const struct noise_geometric *noise, size_t shift,
                        uint64_t times, mpfr_rnd_t toward)
{
    mpz_t numerator;
    mpz_t factor;
    mpz_inits(numerator, factor, NULL);
    whole_set_u64(numerator, noise->scale.denominator);
    whole_set_u64(factor, times);
    mpz_mul(numerator, numerator, factor);
    mpz_mul_2exp(numerator, numerator, shift);
    mpfr_set_z(out, numerator, toward);
    whole_set_u64(factor, noise->scale.numerator);
    mpfr_div_z(out, out, factor, toward);
    mpz_clears(numerator, factor, NULL);
}

/* P(digit < times) for a geometric variable without upper end: 1 - exp(-times * 2^shift / s). */
static void below_bounds(struct bounds *out, const struct noise_geometric *noise, size_t position,
                         uint64_t times)
{
    size_t shift = shift_of(noise, position);
    exponent_of(out->low, noise, shift, times, MPFR_RNDD);
    mpfr_neg(out->low, out->low, MPFR_RNDN);
    mpfr_expm1(out->low, out->low, MPFR_RNDU);
    mpfr_neg(out->low, out->low, MPFR_RNDN);
    exponent_of(out->high, noise, shift, times, MPFR_RNDU);
    mpfr_neg(out->high, out->high, MPFR_RNDN);
    mpfr_expm1(out->high, out->high, MPFR_RNDD);
    mpfr_neg(out->high, out->high, MPFR_RNDN);
}

static bool is_last(size_t position)
{
    return position + 1 == NOISE_DIGITS;
}

void noise_exact_distribution(struct bounds *out, const struct noise_geometric *noise,
                              size_t position, uint64_t digit)
{
    below_bounds(out, noise, position, digit + 1);
    if (!is_last(position)) {
        struct bounds whole;
        bounds_init(&whole, mpfr_get_prec(out->low));
        below_bounds(&whole, noise, position, NOISE_BASE);
        mpfr_div(out->low, out->low, whole.high, MPFR_RNDD);
        mpfr_div(out->high, out->high, whole.low, MPFR_RNDU);
        bounds_clear(&whole);
    }
    mpfr_mul_2ui(out->low, out->low, DIGIT_BITS, MPFR_RNDD);
    mpfr_mul_2ui(out->high, out->high, DIGIT_BITS, MPFR_RNDU);
}

void noise_exact_exponential(struct bounds *out, const struct noise_geometric *noise, uint64_t low)
{
    exponent_of(out->low, noise, 0, low, MPFR_RNDU);
    mpfr_neg(out->low, out->low, MPFR_RNDN);
    mpfr_exp(out->low, out->low, MPFR_RNDD);
    exponent_of(out->high, noise, 0, low, MPFR_RNDD);
    mpfr_neg(out->high, out->high, MPFR_RNDN);
    mpfr_exp(out->high, out->high, MPFR_RNDU);
}

uint64_t noise_exact_factor(const struct noise_geometric *noise)
{
    uint64_t most = (UINT64_C(1) << FRACTION_BITS) - 1;
    uint64_t factor = most;
    mpz_t weight;
    mpz_t numerator;
    mpz_inits(weight, numerator, NULL);
    whole_set_u64(weight, noise->scale.denominator);
    whole_set_u64(numerator, noise->scale.numerator);
    mpz_mul_2exp(weight, weight, FRACTION_BITS + 4 + noise->low_bits);
    mpz_fdiv_q(weight, weight, numerator);
    if (mpz_sizeinbase(weight, 2) <= FRACTION_BITS) {
        mpz_export(&factor, NULL, 1, sizeof factor, 0, 0, weight);
    }
    mpz_clears(weight, numerator, NULL);
    return factor;
}

void noise_exact_mass(struct noise_digit *digit, const struct noise_geometric *noise,
                      size_t position)
{
    struct bounds first; /* P(0), without upper end */
    struct bounds whole;
    mpfr_t mass;
    mpz_t whole_mass;

    mpz_init(whole_mass);
    mpfr_init2(mass, PRECISION_BITS);
    bounds_init(&first, PRECISION_BITS);
    bounds_init(&whole, PRECISION_BITS);
    below_bounds(&first, noise, position, 1);
    below_bounds(&whole, noise, position, NOISE_BASE);

    digit->left = UINT64_C(1) << DIGIT_BITS;
    for (uint64_t d = 0; d < NOISE_BASE; d++) {
        exponent_of(mass, noise, shift_of(noise, position), d, MPFR_RNDU);
        mpfr_neg(mass, mass, MPFR_RNDN);
        mpfr_exp(mass, mass, MPFR_RNDD);
        mpfr_mul(mass, mass, first.low, MPFR_RNDD);
        if (!is_last(position)) {
            mpfr_div(mass, mass, whole.high, MPFR_RNDD);
        }
        mpfr_mul_2ui(mass, mass, DIGIT_BITS, MPFR_RNDD);
        mpfr_get_z(whole_mass, mass, MPFR_RNDD);
        digit->mass[d] = 0;
        mpz_export(&digit->mass[d], NULL, 1, sizeof digit->mass[d], 0, 0, whole_mass);
        digit->left -= digit->mass[d];
    }
    bounds_clear(&first);
    bounds_clear(&whole);
    mpfr_clear(mass);
    mpz_clear(whole_mass);
    mpfr_free_cache();
}

/* A real number in [0, end), drawn bit by bit: it lies in [value, value + 1) * 2^-bits. */
struct lazy_real {
    mpz_t value;
    mpfr_prec_t bits;
};

static enum status lazy_extend(struct lazy_real *real, const struct random *random)
{
    uint64_t word = 0;
    enum status status = random_fill(random, &word, sizeof word);
    if (status == STATUS_OK) {
        mpz_t low;
        mpz_init(low);
        whole_set_u64(low, word);
        mpz_mul_2exp(real->value, real->value, WORD_BITS);
        mpz_add(real->value, real->value, low);
        mpz_clear(low);
        real->bits += WORD_BITS;
    }
    return status;
}

static enum status lazy_begin(struct lazy_real *real, const struct random *random, uint64_t end)
{
    uint64_t mask = end - 1;
    for (unsigned shift = 1; shift < WORD_BITS; shift *= 2) {
        mask |= mask >> shift;
    }
    uint64_t whole = 0;
    do {
        enum status status = random_fill(random, &whole, sizeof whole);
        if (status != STATUS_OK) {
            return status;
        }
        whole &= mask;
    } while (whole >= end);
    whole_set_u64(real->value, whole);
    real->bits = 0;
    return lazy_extend(real, random);
}

enum order { ORDER_UNDECIDED, ORDER_BELOW, ORDER_NOT_BELOW };

/* Whether the real number is below the bounded one, as far as bits and bounds tell. Spoils the
 * bounds. */
static enum order compare(const struct lazy_real *real, struct bounds *edge)
{
    enum order order = ORDER_UNDECIDED;
    mpz_t end;
    mpz_init(end);
    mpfr_mul_2ui(edge->low, edge->low, (unsigned long)real->bits, MPFR_RNDD);
    mpfr_mul_2ui(edge->high, edge->high, (unsigned long)real->bits, MPFR_RNDU);
    mpz_add_ui(end, real->value, 1);
    if (mpfr_cmp_z(edge->low, end) >= 0) {
        order = ORDER_BELOW;
    } else if (mpfr_cmp_z(edge->high, real->value) <= 0) {
        order = ORDER_NOT_BELOW;
    }
    mpz_clear(end);
    return order;
}

/* The real number beside 2^51 F(digit) - taken. */
static enum order compare_digit(const struct lazy_real *real, const struct noise_geometric *noise,
                                size_t position, uint64_t digit, const mpz_t taken)
{
    struct bounds edge;
    bounds_init(&edge, PRECISION_BITS + real->bits);
    noise_exact_distribution(&edge, noise, position, digit);
    mpfr_sub_z(edge.low, edge.low, taken, MPFR_RNDD);
    mpfr_sub_z(edge.high, edge.high, taken, MPFR_RNDU);
    enum order order = compare(real, &edge);
    bounds_clear(&edge);
    return order;
}

enum status noise_exact_draw(const struct noise_geometric *noise, const struct random *random,
                             size_t position, uint64_t *digit)
{
    const uint64_t *mass = noise->digit[position].mass;
    bool closed = !is_last(position);
    struct lazy_real real;
    mpz_t taken;
    mpz_t more;
    uint64_t d = 0;

    mpz_inits(real.value, taken, more, NULL);
    whole_set_u64(taken, mass[0]);
    enum status status = lazy_begin(&real, random, noise->digit[position].left);
    while (status == STATUS_OK && !(closed && d == NOISE_BASE - 1)) {
        enum order order = compare_digit(&real, noise, position, d, taken);
        if (order == ORDER_BELOW) {
            break;
        }
        if (order == ORDER_UNDECIDED) {
            status = lazy_extend(&real, random);
        } else if (++d < NOISE_BASE) {
            whole_set_u64(more, mass[d]);
            mpz_add(taken, taken, more);
        }
    }
    *digit = status == STATUS_OK ? d : 0;
    mpz_set_ui(real.value, 0);
    mpz_clears(real.value, taken, more, NULL);
    mpfr_free_cache();
    return status;
}

enum status noise_exact_accept(const struct noise_geometric *noise, const struct random *random,
                               uint64_t low, uint64_t u, bool *accept)
{
    enum status status = STATUS_OK;
    enum order order = ORDER_UNDECIDED;
    struct lazy_real real = {.bits = FRACTION_BITS};

    mpz_init(real.value);
    whole_set_u64(real.value, u);
    while (status == STATUS_OK && order == ORDER_UNDECIDED) {
        struct bounds edge;
        bounds_init(&edge, PRECISION_BITS + real.bits);
        noise_exact_exponential(&edge, noise, low);
        order = compare(&real, &edge);
        bounds_clear(&edge);
        if (order == ORDER_UNDECIDED) {
            status = lazy_extend(&real, random);
        }
    }
    *accept = status == STATUS_OK && order == ORDER_BELOW;
    mpz_set_ui(real.value, 0);
    mpz_clear(real.value);
    mpfr_free_cache();
    return status;
}
