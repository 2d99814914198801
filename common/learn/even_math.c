/* All bring the argument to where a series of few terms is exact to a fraction of an ulp, with
 * arithmetic on the bits of a double in place of tables and branches. The sums are split in parts that
 * a processor computes side by side.
 *
 * exp: x = k ln 2 + r, |r| <= ln 2/2, and exp(r) = 1 + r + r^2 (1/2! + .. + r^11/13!); what is left out
 * is below 2^-57.
 *
 * log: with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f/(2 + f), z = s^2 <= 0.0295: ln m = 2 atanh(s) =
 * 2 s + s R, R = 2 (z/3 + z^2/5 + .. + z^10/21), and 2 s = f - s f; what is left out is below 2^-61.
 *
 * log1p: u = 1 + x = 2^k m, c what rounding took from u: ln(1 + x) = k ln 2 + ln m + c/u. */

#include "learn/even_math.h"

#include "base/even.h"

/* The first has 20 zero bits at its end: products with exponents are exact. */
#define LN2_HIGH    0x1.62e42feep-1
#define LN2_LOW     0x1.a39ef35793c76p-33
#define LN2         0x1.62e42fefa39efp-1
#define INVERSE_LN2 0x1.71547652b82fep+0
#define ROOT_OF_2   0x1.6a09e667f3bcdp+0
#define ROUNDING    0x1.8p52 /* added and taken away again: the nearest whole number */

double even_exp(double x)
{
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    const double at = even_max(even_min(x, 700), -700);
    const double shifted = at * INVERSE_LN2 + ROUNDING;
    const double k = shifted - ROUNDING;
    const double r = even_flushed((at - k * LN2_HIGH) - k * LN2_LOW);
    const double q = r * r;
    const double q2 = q * q;
    const double low = (c[0] + c[1] * r) + q * (c[2] + c[3] * r);
    const double middle = (c[4] + c[5] * r) + q * (c[6] + c[7] * r);
    const double high = (c[8] + c[9] * r) + q * (c[10] + c[11] * r);
    const double value = 1 + (r + q * (low + q2 * (middle + q2 * high)));
    /* the lowest bits of `shifted` are those of k */
    return even_double(even_bits(value) + (even_bits(shifted) << 52));
}

/* R/z of z = s^2. */
static double series(double z)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    const double z2 = z * z;
    const double z4 = z2 * z2;
    const double low = (c[0] + c[1] * z) + z2 * (c[2] + c[3] * z);
    const double middle = (c[4] + c[5] * z) + z2 * (c[6] + c[7] * z);
    return low + z4 * (middle + z4 * (c[8] + c[9] * z));
}

double even_softplus(double t)
{
    const double u = 1 + even_exp(-t); /* 1 .. 2 */
    const uint64_t upper = mask_of(u > ROOT_OF_2);
    const double f = even_choose(upper, u / 2, u) - 1;
    const double s = f / (2 + f);
    const double z = s * s;
    return even_keep(upper, LN2) + (2 * s + s * (z * series(z)));
}

/* ln(1 + x), 2^-60 <= |x|, -1 < x < infinity */
static double log1p_inside(double x)
{
    const uint64_t root = even_bits(ROOT_OF_2 / 2);
    const double u = 1 + x;
    const double lost = even_choose(mask_of(x > 1), 1 - (u - x), x - (u - 1));
    const double c = even_keep(even_is_below(x, 0x1p60), lost) / u;
    /* above root by 2^k: the exponents' difference, as if counted from 2046 */
    const uint64_t above = even_bits(u) - root + (UINT64_C(2046) << 52);
    const uint64_t shift = (above >> 52) - 2046;
    const double k = (double)(int64_t)shift;
    const double f = even_double(even_bits(u) - (shift << 52)) - 1;
    const double half = f * f / 2;
    const double s = f / (2 + f);
    const double z = s * s;
    return k * LN2_HIGH - ((half - (s * (half + z * series(z)) + (k * LN2_LOW + c))) - f);
}

double even_log1p(double x)
{
    const uint64_t tiny = even_is_below(x, 0x1p-60); /* ln(1 + x) = x to the last bit but one */
    const uint64_t under = mask_of(even_key(x) <= even_key(-1));
    const uint64_t special = even_is_nan(x) | mask_of(even_bits(x) == EVEN_INFINITY);
    const double inside = log1p_inside(even_choose(tiny | under | special, 1, x));
    const double value = even_choose(tiny | special, x, inside);
    return even_choose(under & ~even_is_nan(x), -even_double(EVEN_INFINITY), value);
}
