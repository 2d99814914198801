/* share_series.c - f(k) = Gamma(k + r)/Gamma(k + 1) exp(-k/s), r = 1/h <= 1, as power series with a
 * bound of what is left out.
 *
 * With w = k + r/2 and d = (r - 1)/2 the first factor is g(w) = Gamma(w + 1/2 + d)/Gamma(w + 1/2 -
 * d). From psi(a) - psi(b) = integral of (exp(-b t) - exp(-a t))/(1 - exp(-t)) dt over t > 0,
 *
 *     (ln g)'(w) = integral of exp(-w t) S(t) dt,     S(t) = sinh(d t)/sinh(t/2) = sum q(j) t^(2j).
 *
 * S has simple poles at 2 pi i n; its partial fractions are
 * sum 8 pi n (-1)^(n+1) sin(2 pi n d) / (t^2 + 4 pi^2 n^2), and each of them, cut off after J terms
 * in t^2, is wrong by at most (t/(2 pi n))^(2J) times its value at 0. Together:
 * |S(t) - first J terms| <= (2/pi) zeta(2J + 1) (t/(2 pi))^(2J) < (t/(2 pi))^(2J). Integrated:
 *
 *     (ln g)'(w) = sum over j < J of (2j)! q(j) w^-(2j+1)  up to (2J)!/((2 pi)^(2J) w^(2J+1))
 *     ln g(w) = 2 d ln w - sum over 1 <= j < J of (2j-1)! q(j) w^-(2j)
 *                                                up to  tail(w) = (2J-1)!/(2 pi w)^(2J)
 *
 * (there is no constant: g(w) w^(-2d) goes to 1), for complex w with w replaced by its real part in
 * the bounds, as |exp(-w t)| = exp(-Re(w) t). Let f~ be f with the first J terms for g. A bin's
 * polynomial is f~'s Taylor series around the centre: (ln f~)' is expanded by the binomial series,
 * and f~ from that by n a(n) = sum l(i) a(n - 1 - i). What it leaves out, by Cauchy's inequality on
 * a circle of radius R < w, is at most f(w) M (half/R)^n/(1 - half/R), where M bounds |f~/f(w)|
 * there:
 *
 *     |f~| <= 2 |f|    for tail(w - R) <= ln 2;
 *     |f(z)| <= f(Re z) as f is an integral of u^z over a positive measure on u (Beta integral);
 *     f(w - R) <= f(w) (w/(w - R))^(1-r) exp(R/s)    as |S| <= 2 |d| = 1 - r.
 *
 * The quotient f~/f itself is off by at most exp(tail(w)) at the bin's start. Bounds in double are
 * rounded up generously. */

#include "noise/share_private.h"

#include "noise/whole.h"

#include "base/check.h"

#include <math.h>

#define TWO_PI_LOW 6.2831853 /* below the truth */

/* q(j) (2j)!, by the division of one series by another: both with t taken out. */
static void find_weights(struct share_series *series, uint64_t shares)
{
    mpfr_t above[SHARE_SERIES_TERMS]; /* d^(2j+1)/(2j+1)! */
    mpfr_t below[SHARE_SERIES_TERMS]; /* (1/2)^(2j+1)/(2j+1)! */
    mpfr_t part;
    mpfr_init2(part, TABLE_PRECISION);
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_inits2(TABLE_PRECISION, above[j], below[j], NULL);
        if (j == 0) {
            mpfr_div_2ui(above[j], series->two_delta, 1, MPFR_RNDN);
            mpfr_set_ui_2exp(below[j], 1, -1, MPFR_RNDN);
        } else {
            mpfr_sqr(part, series->two_delta, MPFR_RNDN);
            mpfr_mul(above[j], above[j - 1], part, MPFR_RNDN);
            mpfr_div_ui(above[j], above[j], 4 * 2 * j * (2 * j + 1), MPFR_RNDN);
            mpfr_div_ui(below[j], below[j - 1], 4 * 2 * j * (2 * j + 1), MPFR_RNDN);
        }
        mpfr_set(series->weight[j], above[j], MPFR_RNDN);
        for (unsigned i = 0; i < j; i++) {
            mpfr_mul(part, series->weight[i], below[j - i], MPFR_RNDN);
            mpfr_sub(series->weight[j], series->weight[j], part, MPFR_RNDN);
        }
        mpfr_mul_2ui(series->weight[j], series->weight[j], 1, MPFR_RNDN);
    }
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_fac_ui(part, 2 * j, MPFR_RNDN);
        mpfr_mul(series->weight[j], series->weight[j], part, MPFR_RNDN);
        mpfr_clears(above[j], below[j], NULL);
    }
    CHECK(shares > 1 || mpfr_zero_p(series->weight[0]));
    mpfr_clear(part);
}

/* center + r/2 */
static void find_w(mpfr_t w, uint64_t center, uint64_t shares)
{
    mpfr_t part;
    mpfr_init2(part, TABLE_PRECISION);
    mpfr_set_ui(part, 1, MPFR_RNDN);
    mpfr_div_ui(part, part, 2 * shares, MPFR_RNDN);
    whole_set_real(w, center, MPFR_RNDN);
    mpfr_add(w, w, part, MPFR_RNDN);
    mpfr_clear(part);
}

/* How many terms make tail(w) less than 2^-80, and tail(w). */
static unsigned terms_needed(double w, double *tail)
{
    unsigned terms = 1;
    *tail = 1 / ((TWO_PI_LOW * w) * (TWO_PI_LOW * w));
    while (terms<SHARE_SERIES_TERMS && * tail> 0x1p-80) {
        *tail *= (2.0 * terms) * (2.0 * terms + 1) / ((TWO_PI_LOW * w) * (TWO_PI_LOW * w));
        terms++;
    }
    return terms;
}

/* exp(2 d ln w - sum (2j)! q(j) w^(-2j)/(2j)); over (terms): (2j)! q(j) w^(-2j) */
static void gamma_quotient(mpfr_t value, const struct share_series *series, mpfr_t w, mpfr_t *over,
                           unsigned terms)
{
    mpfr_t power;
    mpfr_t square;
    mpfr_t part;
    mpfr_inits2(TABLE_PRECISION, power, square, part, NULL);
    mpfr_sqr(square, w, MPFR_RNDN);
    mpfr_ui_div(square, 1, square, MPFR_RNDN);
    mpfr_set_ui(power, 1, MPFR_RNDN);
    mpfr_log(value, w, MPFR_RNDN);
    mpfr_mul(value, value, series->two_delta, MPFR_RNDN);
    for (unsigned j = 0; j < terms; j++) {
        mpfr_mul(over[j], series->weight[j], power, MPFR_RNDN);
        mpfr_mul(power, power, square, MPFR_RNDN);
        if (j > 0) {
            mpfr_div_ui(part, over[j], 2 * j, MPFR_RNDN);
            mpfr_sub(value, value, part, MPFR_RNDN);
        }
    }
    mpfr_exp(value, value, MPFR_RNDN);
    mpfr_clears(power, square, part, NULL);
}

/* term: the Taylor coefficients of exp(L), L' = sum over[j] eta (1 + eta t)^-(2j+1) - slope. */
static void exponential_series(mpfr_t *term, mpfr_t *over, unsigned terms, mpfr_t eta, mpfr_t slope)
{
    mpfr_t derivative[TABLE_TERMS];
    mpfr_t power; /* eta (-eta)^n */
    mpfr_t part;
    mpfr_inits2(TABLE_PRECISION, power, part, NULL);
    mpfr_set(power, eta, MPFR_RNDN);
    for (unsigned n = 0; n < TABLE_TERMS; n++) {
        mpfr_init2(derivative[n], TABLE_PRECISION);
        mpfr_set_ui(derivative[n], 0, MPFR_RNDN);
        for (unsigned j = 0; j < terms; j++) {
            unsigned long binomial = 1; /* (2j + n) over n: below 2^34 */
            for (unsigned i = 1; i <= n; i++) {
                binomial = binomial * (2 * j + i) / i;
            }
            mpfr_mul_ui(part, over[j], binomial, MPFR_RNDN);
            mpfr_add(derivative[n], derivative[n], part, MPFR_RNDN);
        }
        mpfr_mul(derivative[n], derivative[n], power, MPFR_RNDN);
        mpfr_mul(power, power, eta, MPFR_RNDN);
        mpfr_neg(power, power, MPFR_RNDN);
    }
    mpfr_sub(derivative[0], derivative[0], slope, MPFR_RNDN);
    mpfr_set_ui(term[0], 1, MPFR_RNDN);
    for (unsigned n = 1; n < TABLE_TERMS; n++) {
        mpfr_set_ui(term[n], 0, MPFR_RNDN);
        for (unsigned i = 0; i < n; i++) {
            mpfr_mul(part, derivative[i], term[n - 1 - i], MPFR_RNDN);
            mpfr_add(term[n], term[n], part, MPFR_RNDN);
        }
        mpfr_div_ui(term[n], term[n], n, MPFR_RNDN);
    }
    for (unsigned n = 0; n < TABLE_TERMS; n++) {
        mpfr_clear(derivative[n]);
    }
    mpfr_clears(power, part, NULL);
}

void share_series_init(struct share_series *series, const struct noise_share *noise)
{
    mpfr_t w;
    mpfr_t over[SHARE_SERIES_TERMS];
    mpfr_inits2(TABLE_PRECISION, series->two_delta, series->rate, series->at_unit_end, w, NULL);
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_inits2(TABLE_PRECISION, series->weight[j], over[j], NULL);
    }
    mpfr_set_si(series->two_delta, 1 - (long)noise->shares, MPFR_RNDN);
    mpfr_div_ui(series->two_delta, series->two_delta, noise->shares, MPFR_RNDN);
    whole_set_real(series->rate, noise->scale.denominator, MPFR_RNDN);
    whole_set_real(w, noise->scale.numerator, MPFR_RNDN);
    mpfr_div(series->rate, series->rate, w, MPFR_RNDN);
    find_weights(series, noise->shares);
    find_w(w, SHARE_UNIT_END, noise->shares);
    gamma_quotient(series->at_unit_end, series, w, over, SHARE_SERIES_TERMS);
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_clear(over[j]);
    }
    mpfr_clear(w);
}

void share_series_clear(struct share_series *series)
{
    mpfr_clears(series->two_delta, series->rate, series->at_unit_end, NULL);
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_clear(series->weight[j]);
    }
}

/* How far the first TABLE_TERMS terms may be from f~ around w, relative to f(w). */
static double truncation(double w, double half, double rate, double r)
{
    double least = INFINITY;
    for (int i = 1; i < 16; i++) { /* tail(w/16) is below ln 2 as tail(w) is below 2^-80 */
        double radius = w * i / 16;
        double ratio = half / radius;
        double bound = 2 * pow(w / (w - radius), 1 - r) * exp(radius * rate) *
                       pow(ratio, TABLE_TERMS) / (1 - ratio);
        least = ratio < 1 && bound < least ? bound : least;
    }
    return least * 1.001;
}

/* value *= exp(-center/s) */
static void multiply_decay(mpfr_t value, const struct share_series *series, uint64_t center)
{
    mpfr_t decay;
    mpfr_init2(decay, TABLE_PRECISION);
    whole_set_real(decay, center, MPFR_RNDN);
    mpfr_mul(decay, decay, series->rate, MPFR_RNDN);
    mpfr_neg(decay, decay, MPFR_RNDN);
    mpfr_exp(decay, decay, MPFR_RNDN);
    mpfr_mul(value, value, decay, MPFR_RNDN);
    mpfr_clear(decay);
}

/* A number of its own below SHARE_UNIT_END: f(k) = f(k + 1) (k + 1)/(k + r) exp(1/s). */
static void expand_small(const struct noise_share *noise, uint64_t k, mpfr_t value)
{
    mpfr_set(value, noise->series->at_unit_end, MPFR_RNDN);
    for (uint64_t i = k; i < SHARE_UNIT_END; i++) {
        mpfr_mul_ui(value, value, (i + 1) * noise->shares, MPFR_RNDN);
        mpfr_div_ui(value, value, i * noise->shares + 1, MPFR_RNDN);
    }
}

void share_expand(const void *self, uint64_t start, unsigned size_bits, mpfr_t *term, mpfr_t value,
                  double *error)
{
    const struct noise_share *noise = self;
    const uint64_t half = size_bits > 0 ? UINT64_C(1) << (size_bits - 1) : 0;
    const uint64_t center = start + half;
    mpfr_t over[SHARE_SERIES_TERMS];
    mpfr_t w;
    mpfr_t eta;
    mpfr_t slope;
    double tail = 0;

    mpfr_inits2(TABLE_PRECISION, w, eta, slope, NULL);
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_init2(over[j], TABLE_PRECISION);
    }
    uint64_t lowest = start < SHARE_UNIT_END ? SHARE_UNIT_END : start;
    unsigned terms = terms_needed((double)lowest, &tail);
    find_w(w, center, noise->shares);
    whole_set_real(eta, half, MPFR_RNDN);
    mpfr_mul(slope, eta, noise->series->rate, MPFR_RNDN);
    mpfr_div(eta, eta, w, MPFR_RNDN);
    if (start < SHARE_UNIT_END) {
        CHECK(size_bits == 0);
        expand_small(noise, start, value);
    } else {
        gamma_quotient(value, noise->series, w, over, terms);
    }
    multiply_decay(value, noise->series, center);
    *error = 0x1p-80 + 8 * tail;
    for (unsigned n = 0; n < TABLE_TERMS; n++) {
        mpfr_set_ui(term[n], n == 0 ? 1 : 0, MPFR_RNDN);
    }
    if (half > 0) {
        exponential_series(term, over, terms, eta, slope);
        *error += truncation((double)center, (double)half,
                             mpfr_get_d(noise->series->rate, MPFR_RNDU), 1 / (double)noise->shares);
    }
    for (unsigned j = 0; j < SHARE_SERIES_TERMS; j++) {
        mpfr_clear(over[j]);
    }
    mpfr_clears(w, eta, slope, NULL);
}
