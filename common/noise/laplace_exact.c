/* laplace_exact.c - the few words that the integers of a kernel leave open.
 *
 * Let F(d) be the digit's distribution function and M(d) the sum of its masses up to d (all of them
 * from d = 31 on). C(d) = 2^51 F(d) - M(d) never falls, starts at or above 0 and ends at `left`. A
 * uniform real V in [0, left) then means the smallest d with V < C(d): a digit has exactly the
 * probability that its mass lacks. lazy.c compares the two: C(d) is no binary fraction (it is an
 * algebraic function of exp of a non-zero rational), so that ends with probability 1. So does the
 * comparison of a uniform real with exp(-low/s).
 *
 * F and the masses come from exp and expm1 with directed rounding: one of every two bounds is
 * below, the other above the truth, whatever the precision. */

#include "noise/laplace_private.h"

#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/bytes.h"

enum { WORD_BITS = 64, PRECISION_BITS = 256 };

/* The binary logarithm of what one unit of a digit is worth. */
static size_t shift_of(const struct noise_geometric *noise, size_t position)
{
    return noise->low_bits + CELL_BITS * position;
}

/* times * 2^shift / scale as a quotient, both initialised. */
static void quotient_of(mpz_t above, mpz_t below, const struct noise_geometric *noise, size_t shift,
                        uint64_t times)
{
    whole_set_u64(above, noise->scale.denominator);
    whole_set_u64(below, times);
    mpz_mul(above, above, below);
    mpz_mul_2exp(above, above, shift);
    whole_set_u64(below, noise->scale.numerator);
}

/* The same rounded towards `toward`. */
static void exponent_of(mpfr_t out, const struct noise_geometric *noise, size_t shift,
                        uint64_t times, mpfr_rnd_t toward)
{
    mpz_t above;
    mpz_t below;
    mpz_inits(above, below, NULL);
    quotient_of(above, below, noise, shift, times);
    mpfr_set_z(out, above, toward);
    mpfr_div_z(out, out, below, toward);
    mpz_clears(above, below, NULL);
}

/* P(digit < times) for a geometric variable without upper end: 1 - exp(-times * 2^shift / s). */
static void enclose_below(mpfr_t low, mpfr_t high, const struct noise_geometric *noise,
                          size_t position, uint64_t times)
{
    size_t shift = shift_of(noise, position);
    exponent_of(low, noise, shift, times, MPFR_RNDD);
    mpfr_neg(low, low, MPFR_RNDN);
    mpfr_expm1(low, low, MPFR_RNDU);
    mpfr_neg(low, low, MPFR_RNDN);
    exponent_of(high, noise, shift, times, MPFR_RNDU);
    mpfr_neg(high, high, MPFR_RNDN);
    mpfr_expm1(high, high, MPFR_RNDD);
    mpfr_neg(high, high, MPFR_RNDN);
}

static bool is_last(size_t position)
{
    return position + 1 == NOISE_DIGITS;
}

void noise_exact_distribution(mpfr_t low, mpfr_t high, const struct noise_geometric *noise,
                              size_t position, uint64_t digit)
{
    enclose_below(low, high, noise, position, digit + 1);
    if (!is_last(position)) {
        mpfr_t whole_low;
        mpfr_t whole_high;
        mpfr_inits2(mpfr_get_prec(low), whole_low, whole_high, NULL);
        enclose_below(whole_low, whole_high, noise, position, NOISE_BASE);
        mpfr_div(low, low, whole_high, MPFR_RNDD);
        mpfr_div(high, high, whole_low, MPFR_RNDU);
        mpfr_clears(whole_low, whole_high, NULL);
    }
    mpfr_mul_2ui(low, low, DIGIT_BITS, MPFR_RNDD);
    mpfr_mul_2ui(high, high, DIGIT_BITS, MPFR_RNDU);
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
    mpfr_t first; /* at most P(0), without upper end */
    mpfr_t whole; /* at least P(digit < 32), likewise */
    mpfr_t other;
    mpfr_t mass;
    mpz_t whole_mass;

    mpz_init(whole_mass);
    mpfr_inits2(PRECISION_BITS, first, whole, other, mass, NULL);
    enclose_below(first, other, noise, position, 1);
    enclose_below(other, whole, noise, position, NOISE_BASE);

    digit->left = UINT64_C(1) << DIGIT_BITS;
    for (uint64_t d = 0; d < NOISE_BASE; d++) {
        exponent_of(mass, noise, shift_of(noise, position), d, MPFR_RNDU);
        mpfr_neg(mass, mass, MPFR_RNDN);
        mpfr_exp(mass, mass, MPFR_RNDD);
        mpfr_mul(mass, mass, first, MPFR_RNDD);
        if (!is_last(position)) {
            mpfr_div(mass, mass, whole, MPFR_RNDD);
        }
        mpfr_mul_2ui(mass, mass, DIGIT_BITS, MPFR_RNDD);
        mpfr_get_z(whole_mass, mass, MPFR_RNDD);
        digit->mass[d] = 0;
        mpz_export(&digit->mass[d], NULL, 1, sizeof digit->mass[d], 0, 0, whole_mass);
        digit->left -= digit->mass[d];
    }
    mpfr_clears(first, whole, other, mass, NULL);
    mpz_clear(whole_mass);
    mpfr_free_cache();
}

/* V below `end`: its whole part and 64 bits more. */
static enum status begin_below(struct lazy_real *drawn, const struct random *random, uint64_t end)
{
    uint64_t mask = end - 1;
    uint64_t whole = 0;
    enum status status = STATUS_OK;
    for (unsigned shift = 1; shift < WORD_BITS; shift *= 2) {
        mask |= mask >> shift;
    }
    do {
        status = random_fill(random, &whole, sizeof whole);
        whole &= mask;
    } while (status == STATUS_OK && whole >= end);
    lazy_real_begin(drawn, whole, 0);
    bytes_wipe(&whole, sizeof whole);
    return status;
}

/* 2^51 F(digit) - taken, which is C(digit). */
struct edge {
    const struct noise_geometric *noise;
    size_t position;
    uint64_t digit;
    mpz_t taken;
};

static void enclose_edge(const void *self, mpfr_t low, mpfr_t high)
{
    const struct edge *edge = self;
    noise_exact_distribution(low, high, edge->noise, edge->position, edge->digit);
    mpfr_sub_z(low, low, edge->taken, MPFR_RNDD);
    mpfr_sub_z(high, high, edge->taken, MPFR_RNDU);
}

static void take(struct edge *edge, uint64_t mass)
{
    mpz_t more;
    mpz_init(more);
    whole_set_u64(more, mass);
    mpz_add(edge->taken, edge->taken, more);
    mpz_clear(more);
}

enum status noise_exact_draw(const struct noise_geometric *noise, const struct random *random,
                             size_t position, uint64_t *digit)
{
    const struct noise_digit *masses = &noise->digit[position];
    const bool closed = !is_last(position);
    struct edge edge = {.noise = noise, .position = position};
    const struct real given = {.enclose = enclose_edge, .self = &edge};
    struct lazy_real drawn;
    bool below = false;

    mpz_init(edge.taken);
    enum status status = begin_below(&drawn, random, masses->left);
    take(&edge, masses->mass[0]);
    while (status == STATUS_OK && !below && !(closed && edge.digit == NOISE_BASE - 1)) {
        status = lazy_real_is_below(&drawn, random, &given, &below);
        if (!below && ++edge.digit < NOISE_BASE) {
            take(&edge, masses->mass[edge.digit]);
        }
    }
    *digit = status == STATUS_OK ? edge.digit : 0;
    mpz_clear(edge.taken);
    lazy_real_end(&drawn);
    bytes_wipe(&edge, sizeof edge);
    return status;
}

/* What the acceptance of a low part is about. */
struct question {
    const struct noise_geometric *noise;
    uint64_t low;
};

static void enclose_question(const void *self, mpfr_t low, mpfr_t high)
{
    const struct question *question = self;
    mpz_t above;
    mpz_t below;
    mpz_inits(above, below, NULL);
    quotient_of(above, below, question->noise, 0, question->low);
    lazy_enclose_exponential(low, high, above, below);
    mpz_clears(above, below, NULL);
}

enum status noise_exact_accept(const struct noise_geometric *noise, const struct random *random,
                               uint64_t low, uint64_t u, bool *accept)
{
    struct question question = {.noise = noise, .low = low};
    const struct real given = {.enclose = enclose_question, .self = &question};
    enum status status = lazy_is_below(random, u, FRACTION_BITS, &given, accept);
    bytes_wipe(&question, sizeof question);
    return status;
}
