/* tables.h - tables of both shapes at several scales, and the truth about them: for the tests of
 * rows and kernels. */

#ifndef TEST_NOISE_TABLES_H
#define TEST_NOISE_TABLES_H

#include "noise/gaussian.h"
#include "noise/share.h"
#include "noise/table_kernel.h"

#include <criterion/criterion.h>
#include <mpfr.h>
#include <string.h>

enum { PRECISION = 160 };

enum { TABLES = 12 };

/* Both shapes at several scales. */
static const struct {
    struct noise_scale scale;
    uint64_t shares; /* 0: a Gaussian */
} tables[TABLES] = {
    {{1, 16}, 0},
    {{1, 1}, 0},
    {{22, 7}, 0},
    {{1000, 1}, 0},
    {{1, 16}, 3},
    {{1, 1}, 1},
    {{22, 7}, 2},
    {{1000, 1}, 3},
    {{1 << 20, 1}, 100},
    {{UINT64_C(1) << 40, 1}, 0},
    {{UINT64_C(1) << 40, 1}, 4},
    {{UINT64_C(1) << 40, 1}, NOISE_SHARES_MAX},
};

struct made {
    struct noise_gaussian gaussian;
    struct noise_share share;
    struct noise_table *table;
};

static inline void make(struct made *made, size_t i)
{
    memset(made, 0, sizeof *made);
    if (tables[i].shares == 0) {
        cr_assert_eq(noise_gaussian_init(&made->gaussian, tables[i].scale), STATUS_OK);
        made->table = &made->gaussian.table;
    } else {
        cr_assert_eq(noise_share_init(&made->share, tables[i].scale, tables[i].shares), STATUS_OK);
        made->table = &made->share.table;
    }
}

static inline void unmake(struct made *made)
{
    noise_gaussian_free(&made->gaussian);
    noise_share_free(&made->share);
}

/* The probability that a trial accepts this number of a bin. */
static inline void truth_of(mpfr_t truth, const struct noise_table *table, size_t b,
                            uint64_t offset)
{
    const struct noise_bin *bin = &table->bin[b];
    mpfr_t high;
    mpfr_init2(high, PRECISION);
    mpfr_set_prec(truth, PRECISION);
    noise_table_enclose(table, b, bin->size_bits, (uint128)bin->start + offset, truth, high);
    mpfr_add(truth, truth, high, MPFR_RNDN);
    mpfr_div_2ui(truth, truth, 1, MPFR_RNDN);
    mpfr_clear(high);
}

#endif
