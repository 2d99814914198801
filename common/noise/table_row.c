/* table_row.c - a bin's polynomial in numbers of 50 bits, for kernels that work on several trials
 * at once.
 *
 * table_make.c gives a bin's 16 coefficients c[n] in units of 2^-62. A row has 14: number n is c[n]
 * in units of 2^-(50 + n), from n = 7 on in units of 2^-(38 + n). What it cannot hold of c[n], q,
 * moves into the lower coefficients. With Chebyshev's polynomial T(n), whose first coefficient is
 * 2^(n-1),
 *
 *     q t^n = q (t^n - 2^(1-n) T(n)(t)) + q 2^(1-n) T(n)(t).
 *
 * The first part has lower powers alone. The second is at most |q| 2^(1-n) where |t| <= 1, and is
 * left out. All this is done in units of 2^-112, in which every division is exact: q of an odd n is
 * divided by 2^14, 2^12, 2^10, 2^8 and 2^6 one after the other, by 2^50 together, and that of an
 * even n by less.
 *
 * Kernels evaluate, with v = t^2/4 as a fraction of 52 bits,
 *
 *     E = 2^0 c[0] + v (2^2 c[2] + v (2^4 c[4] + ...)),   O = 2^1 c[1] + v (2^3 c[3] + ...),
 *     E + (t/2) O,
 *
 * all but v in units of 2^-50. As v <= 1/4, every inner sum stays below 2^n times the sum of |c[m]|
 * over the m >= n of the same parity: it must be below 2. A product is the upper 52 bits of one of
 * two numbers of 52 bits, so that 2 is added to an inner sum before, and taken away after: it is
 * wrong by less than 1 unit. The errors, in these units, where |t| <= 1:
 *
 *   the coefficients   what table_make.c says of them
 *   what is left out   the sum of |q| 2^(1-n), and of |q| for the first 7
 *   v                  is rounded down by less than 2^-52: the sum of n/2 |c[n]|
 *   E                  6 products, each of which counts a quarter of the next one: 4/3
 *   (t/2) O            the same, half of it; and 1 for the last product. t/2 is exact */

#include "noise/table_row.h"

#include "base/check.h"

#include <math.h>

enum { FINE_BITS = 112, FINE_SHIFT = FINE_BITS - TABLE_UNIT_BITS, TERMS = ROW_TERMS + REST_TERMS };

/* T(n), by T(n + 1) = 2 t T(n) - T(n - 1). */
static void find_chebyshev(int32_t chebyshev[TABLE_TERMS][TABLE_TERMS])
{
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        for (size_t i = 0; i < TABLE_TERMS; i++) {
            const int32_t below = n > 0 && i > 0 ? chebyshev[n - 1][i - 1] : 0;
            const int32_t before = n > 1 ? chebyshev[n - 2][i] : 0;
            chebyshev[n][i] = n < 2 ? (n == i ? 1 : 0) : 2 * below - before;
        }
    }
}

/* The size of a number of units of 2^-112. */
static double size_of(int128 fine)
{
    return ldexp((double)(fine < 0 ? -fine : fine), -FINE_BITS);
}

/* To the nearest whole number of 2^bits, within 32 bits if narrow. */
static int64_t rounded(int128 fine, unsigned bits, bool narrow)
{
    const int128 whole = (fine + ((int128)1 << (bits - 1))) >> bits;
    if (narrow && (whole > INT32_MAX || whole < INT32_MIN)) {
        return whole < 0 ? INT32_MIN : INT32_MAX;
    }
    CHECK(whole > -(INT64_C(1) << 51) && whole < INT64_C(1) << 51);
    return (int64_t)whole;
}

/* Puts into the row what its number n can hold of a coefficient, and returns that. */
static int128 hold(struct noise_row *row, struct noise_rest *rest, size_t n, int128 fine)
{
    const unsigned bits = FINE_BITS - ROW_UNIT_BITS - (unsigned)n;
    if (n < ROW_TERMS) {
        row->term[n] = rounded(fine, bits, false);
        return row->term[n] * ((int128)1 << bits);
    }
    if (n < TERMS) {
        const int64_t term = rounded(fine, bits + ROW_NARROW_BITS, true);
        rest->term[n - ROW_TERMS] = (int32_t)term;
        return term * ((int128)1 << (bits + ROW_NARROW_BITS));
    }
    return 0;
}

/* Moves q t^n into the lower coefficients. Returns what is left out. */
static double move_down(int128 *fine, const int32_t *chebyshev, size_t n, int128 q)
{
    const int128 unit = (int128)1 << (n - 1);
    CHECK(q % unit == 0);
    for (size_t i = 0; i < n; i++) {
        fine[i] -= q / unit * chebyshev[i];
    }
    return size_of(q / unit);
}

static uint64_t place_of(const struct noise_bin *bin)
{
    return bin->start | (uint64_t)(64 - bin->size_bits) << ROW_FREE_SHIFT;
}

void noise_row_fill(struct noise_row *row, struct noise_rest *rest, const struct noise_bin *bin,
                    const int64_t *term, double error)
{
    int32_t chebyshev[TABLE_TERMS][TABLE_TERMS];
    int128 fine[TABLE_TERMS];
    double left_out = 0;
    double slope = 0;       /* the sum of n/2 |c[n]| */
    double sum[2] = {0, 0}; /* of |c[m]|, m >= n, by parity */
    find_chebyshev(chebyshev);
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        fine[n] = (int128)term[n] * ((int128)1 << FINE_SHIFT);
    }
    for (size_t n = TABLE_TERMS; n-- > 0;) {
        const int128 held = hold(row, rest, n, fine[n]);
        const int128 q = fine[n] - held;
        left_out += n < ROW_TERMS ? size_of(q) : move_down(fine, chebyshev[n], n, q);
        slope += (double)n / 2 * size_of(held);
        sum[n % 2] += size_of(held);
        CHECK(ldexp(sum[n % 2], (int)n) < 2 - 0x1p-40);
    }
    const double evaluation = (4.0 / 3 + 2.0 / 3 + 1 + slope) * 0x1p-50;
    const double margin = (error + left_out + evaluation) * 1.001;
    CHECK(margin < 0x1p-20);
    rest->margin = (uint32_t)ldexp(margin, ROW_MARGIN_BITS) + 1;
    row->place = place_of(bin);
}

void noise_row_tail(struct noise_row *row, struct noise_rest *rest, const struct noise_bin *bin)
{
    *row = (struct noise_row){.place = place_of(bin) | ROW_OPEN};
    *rest = (struct noise_rest){.margin = 1};
}

void noise_row_refuse(struct noise_row *row, struct noise_rest *rest)
{
    const int64_t half = INT64_C(1) << (ROW_UNIT_BITS - 1);
    *row = (struct noise_row){.place = UINT64_C(64) << ROW_FREE_SHIFT, .term = {-half}};
    *rest = (struct noise_rest){.margin = 1};
}
