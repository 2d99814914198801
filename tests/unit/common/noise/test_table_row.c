/* The rows that kernels of several trials read are as near to the truth as their margins say, on
 * every machine; and a row that is not is caught. */

#include "tests/support/seeded_random.h"
#include "tests/unit/common/noise/tables.h"

#include <math.h>

static int64_t coefficient(const struct noise_table *table, size_t b, size_t n)
{
    return n < ROW_TERMS ? table->row[b].term[n]
                         : table->rest[b].term[n - ROW_TERMS] * (INT64_C(1) << ROW_NARROW_BITS);
}

/* floor(a b / 2^52) */
static int64_t product(int64_t a, int64_t b)
{
    return (int64_t)(((int128)a * b) >> 52);
}

/* A row's polynomial as table_row.c says, without its tricks. */
static double row_polynomial(const struct noise_table *table, size_t b, uint64_t offset)
{
    const unsigned bits = table->bin[b].size_bits;
    const int64_t half = (int64_t)(offset << (52 - bits)) - (INT64_C(1) << 51); /* t/2 */
    const int64_t v = product(half, half);
    int64_t sum[2] = {0, 0};
    for (size_t n = ROW_TERMS + REST_TERMS; n-- > 0;) {
        sum[n % 2] = coefficient(table, b, n) + product(v, sum[n % 2]);
    }
    return ldexp((double)(sum[0] + product(half, sum[1])), -ROW_UNIT_BITS);
}

static double margin_of(const struct noise_table *table, size_t b)
{
    return ldexp(table->rest[b].margin, -ROW_MARGIN_BITS);
}

/* Whether rows stay within their margins at both ends and some other places. */
static bool rows_hold(const struct noise_table *table)
{
    struct seeded_random seeded;
    bool right = true;
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    seeded_random_init(&seeded, 7);
    for (size_t b = 0; b < table->bins; b += b < 40 || b > 100 ? 1 : 7) {
        const uint64_t last = (UINT64_C(1) << table->bin[b].size_bits) - 1;
        for (int i = 0; i < 6; i++) {
            uint64_t offset = i == 0 ? 0 : i == 1 ? last : seeded_random_below(&seeded, last + 1);
            truth_of(truth, table, b, offset);
            mpfr_sub_d(truth, truth, row_polynomial(table, b, offset), MPFR_RNDN);
            const double off = fabs(mpfr_get_d(truth, MPFR_RNDA));
            right = right && off <= margin_of(table, b);
        }
    }
    mpfr_clear(truth);
    return right;
}

/* The probability that a trial is left open by a row, the tail's included. */
static double open_probability(const struct noise_table *table)
{
    double open = (double)table->mass[table->bins] * 0x1p-64;
    for (size_t b = 0; b < table->bins; b++) {
        open += (double)table->mass[b] * 0x1p-64 * (2 * margin_of(table, b) + 0x1p-61);
    }
    return open;
}

Test(table_row, rows_are_as_near_as_their_margins_say)
{
    for (size_t i = 0; i < TABLES; i++) {
        struct made made;
        make(&made, i);
        struct noise_table *table = made.table;
        cr_expect(rows_hold(table), "table %zu", i);
        const double open = open_probability(table);
        cr_expect_lt(open, 0x1p-44, "table %zu: open %g", i, open * 0x1p44);
        for (size_t b = 0; b < table->bins; b++) { /* planted: 3 margins off */
            table->row[b].term[0] += (int64_t)(3 * ldexp(margin_of(table, b), ROW_UNIT_BITS));
        }
        cr_expect_not(rows_hold(table), "table %zu", i);
        unmake(&made);
    }
    mpfr_free_cache();
}

/* A coarser polynomial under the same margin is caught, whichever number is missing. */
Test(table_row, a_row_without_one_of_its_numbers_is_caught)
{
    for (size_t n = 0; n < ROW_TERMS + REST_TERMS; n++) {
        struct made made;
        make(&made, 8);
        for (size_t b = 0; b < made.table->bins; b++) {
            if (n < ROW_TERMS) {
                made.table->row[b].term[n] = 0;
            } else {
                made.table->rest[b].term[n - ROW_TERMS] = 0;
            }
        }
        cr_expect_not(rows_hold(made.table), "number %zu", n);
        unmake(&made);
    }
    mpfr_free_cache();
}
