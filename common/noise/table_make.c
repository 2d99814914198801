/* table_make.c - bins, masses and polynomials of a shape, with what they may be wrong by.
 *
 * A bin's polynomial is its shape's expansion, divided by an upper bound of f in the bin, in units
 * of 2^-62. Its errors, in those units:
 *
 *   the expansion:   what the shape says
 *   a coefficient:   rounded (1/2), then multiplied by K f_max 2^i / m, which is itself rounded
 *                    down (3/2 together), rounding down (1): 3 of its own units, as |t| <= 1
 *   t^2:             rounded down by less than 1; the sum of n |c[n]| is below 16 * 2^62, so 16
 *   the evaluation:  each of 15 steps rounds down by less than 4 units
 *
 * 16 coefficients: 48 units. 7 of them are kept in units that are 2^10 times as large, rounding
 * down: 7 * 2^10. 2^15 covers the last three rows. table_row.c makes rows of the coefficients
 * before that, with errors of its own. K is chosen last, so that the masses fill 2^64 but for 2^20
 * words and what their rounding up costs. */

#include "noise/table_kernel.h"
#include "noise/whole.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, FIXED_POINT_ERROR = 1 << 15, EXACT_ERROR = 48, SPARE_BITS = 20 };

/* What is only needed until the table is made. */
struct draft {
    mpfr_t *upper; /* (bins + 1): f <= upper in the bin; the last is the tail's, at its start */
    int64_t (*exact)[TABLE_TERMS]; /* (bins + 1): the polynomials, in units of 2^-62 */
    mpfr_t term[TABLE_TERMS];
    mpfr_t value;
    mpfr_t part;
};

/* Returns how many bins there are, and where the last one ends. */
static size_t count_bins(const struct noise_shape *shape, uint64_t *end)
{
    size_t bins = 0;
    *end = 0;
    while (*end < shape->end && bins <= TABLE_BINS_MAX) {
        *end += UINT64_C(1) << shape->size_bits(shape->self, *end);
        bins++;
    }
    return bins;
}

static size_t rounded_up(size_t bytes)
{
    return (bytes + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
}

static enum status allocate(struct noise_table *table, struct draft *draft, size_t bins)
{
    table->bins = bins;
    table->cell_bits = 1;
    while (((size_t)1 << table->cell_bits) < bins + 2) {
        table->cell_bits++;
    }
    size_t cells = (size_t)1 << table->cell_bits;
    table->bin = calloc(bins + 2, sizeof *table->bin);
    table->mass = calloc(cells, sizeof *table->mass);
    table->cell = calloc(cells, sizeof *table->cell);
    table->row = aligned_alloc(ROW_BYTES, rounded_up(noise_rows_bytes(bins)));
    draft->upper = calloc(bins + 1, sizeof *draft->upper);
    draft->exact = calloc(bins + 1, sizeof *draft->exact);
    if (table->bin == NULL || table->mass == NULL || table->cell == NULL || table->row == NULL ||
        draft->upper == NULL || draft->exact == NULL) {
        free(table->bin);
        free(table->mass);
        free(table->cell);
        free(table->row);
        free(draft->upper);
        free(draft->exact);
        memset(table, 0, sizeof *table);
        return STATUS_NO_MEMORY;
    }
    table->rest = (struct noise_rest *)(void *)(table->row + bins + 2);
    mpfr_init2(table->factor, WORD_BITS);
    mpfr_inits2(TABLE_PRECISION, draft->value, draft->part, NULL);
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        mpfr_init2(draft->term[n], TABLE_PRECISION);
    }
    for (size_t b = 0; b <= bins; b++) {
        mpfr_init2(draft->upper[b], TABLE_PRECISION);
    }
    return STATUS_OK;
}

static void draft_clear(struct draft *draft, size_t bins)
{
    mpfr_clears(draft->value, draft->part, NULL);
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        mpfr_clear(draft->term[n]);
    }
    for (size_t b = 0; b <= bins; b++) {
        mpfr_clear(draft->upper[b]);
    }
    free(draft->upper);
    free(draft->exact);
}

/* value * 2^bits to the nearest. */
static int64_t to_units(mpfr_t value, unsigned bits)
{
    mpfr_mul_2ui(value, value, bits, MPFR_RNDN);
    CHECK(mpfr_fits_slong_p(value, MPFR_RNDN));
    return mpfr_get_si(value, MPFR_RNDN);
}

/* Expands one bin: its upper bound, and the polynomial relative to that. */
static void make_bin(struct noise_table *table, struct draft *draft, size_t b, uint64_t start)
{
    const struct noise_shape *shape = &table->shape;
    struct noise_bin *bin = &table->bin[b];
    double error = 0;

    bin->start = start;
    bin->size_bits = shape->size_bits(shape->self, start);
    shape->expand(shape->self, start, bin->size_bits, draft->term, draft->value, &error);
    CHECK(error >= 0 && error < 0x1p-20);
    mpfr_set_d(draft->upper[b], error, MPFR_RNDU); /* f is largest at t = -1 */
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        if (n % 2 == 0) {
            mpfr_add(draft->upper[b], draft->upper[b], draft->term[n], MPFR_RNDU);
        } else {
            mpfr_sub(draft->upper[b], draft->upper[b], draft->term[n], MPFR_RNDU);
        }
    }
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        mpfr_div(draft->part, draft->term[n], draft->upper[b], MPFR_RNDN);
        draft->exact[b][n] = to_units(draft->part, TABLE_UNIT_BITS);
    }
    mpfr_mul(draft->upper[b], draft->upper[b], draft->value, MPFR_RNDU);
    /* The bound of f is at least f at the centre: what is divided by it is not wrong by more. */
    bin->margin = (uint64_t)(error * 1.0001 * 0x1p62) + FIXED_POINT_ERROR + 2;
}

/* K f_max 2^size_bits of a bin, rounded up; the tail's bins together are as one twice as large. */
static void wanted_mass(mpfr_t out, const struct noise_table *table, const struct draft *draft,
                        size_t b)
{
    unsigned bits = b < table->bins ? table->bin[b].size_bits : table->shape.tail_bits + 1;
    mpfr_mul_2ui(out, draft->upper[b], bits, MPFR_RNDU);
    mpfr_mul(out, out, table->factor, MPFR_RNDU);
}

/* Chooses K, and the masses that follow from it. */
static void make_masses(struct noise_table *table, struct draft *draft)
{
    uint128 rest = (uint128)1 << WORD_BITS;
    mpz_t whole;
    mpz_init(whole);
    mpfr_set_ui(table->factor, 1, MPFR_RNDN);
    mpfr_set_ui(draft->value, 0, MPFR_RNDN);
    for (size_t b = 0; b <= table->bins; b++) {
        wanted_mass(draft->part, table, draft, b);
        mpfr_add(draft->value, draft->value, draft->part, MPFR_RNDU);
    }
    mpfr_set_ui_2exp(draft->part, 1, WORD_BITS, MPFR_RNDN);
    mpfr_sub_ui(draft->part, draft->part, 1U << SPARE_BITS, MPFR_RNDN);
    mpfr_div(table->factor, draft->part, draft->value, MPFR_RNDD);
    for (size_t b = 0; b <= table->bins; b++) {
        wanted_mass(draft->part, table, draft, b);
        mpfr_get_z(whole, draft->part, MPFR_RNDU);
        mpz_export(&table->mass[b], NULL, 1, sizeof *table->mass, 0, 0, whole);
        CHECK(table->mass[b] > 0 && rest > table->mass[b]);
        rest -= table->mass[b];
    }
    table->mass[table->bins + 1] = (uint64_t)rest;
    mpz_clear(whole);
}

/* Multiplies a bin's polynomial by K f_max 2^size_bits / mass <= 1. */
static void scale_bin(struct noise_table *table, struct draft *draft, size_t b)
{
    struct noise_bin *bin = &table->bin[b];
    wanted_mass(draft->part, table, draft, b);
    whole_set_real(draft->value, table->mass[b], MPFR_RNDN);
    mpfr_div(draft->part, draft->part, draft->value, MPFR_RNDD);
    mpfr_mul_2ui(draft->part, draft->part, TABLE_UNIT_BITS, MPFR_RNDD);
    int64_t factor = mpfr_get_si(draft->part, MPFR_RNDD);
    CHECK(factor >= 0 && factor <= INT64_C(1) << TABLE_UNIT_BITS);
    for (size_t n = 0; n < TABLE_TERMS; n++) {
        const int64_t exact = (int64_t)((int128)draft->exact[b][n] * factor >> TABLE_UNIT_BITS);
        draft->exact[b][n] = exact;
        if (n < TABLE_TERMS_WIDE) {
            bin->wide[n] = exact;
        } else {
            const int64_t narrow = exact >> (TABLE_UNIT_BITS - TABLE_NARROW_BITS);
            CHECK(narrow >= INT32_MIN && narrow <= INT32_MAX);
            bin->narrow[n - TABLE_TERMS_WIDE] = (int32_t)narrow;
        }
    }
    noise_row_fill(&table->row[b], &table->rest[b], bin, draft->exact[b],
                   (double)(bin->margin - FIXED_POINT_ERROR + EXACT_ERROR) * 0x1p-62);
}

/* Walker's alias table: every outcome with less than a cell's worth gets a cell of its own, filled
 * up by one that has a cell's worth or more. Masses beyond the last outcome are 0. */
static void make_cells(struct noise_table *table, uint64_t *rest, uint32_t *list)
{
    const size_t cells = (size_t)1 << table->cell_bits;
    const uint64_t cell_size = UINT64_C(1) << (WORD_BITS - table->cell_bits);
    size_t small = 0;     /* list[0 .. small): less than a cell's worth */
    size_t large = cells; /* list[large .. cells): the others */
    memcpy(rest, table->mass, cells * sizeof *rest);
    for (size_t i = 0; i < cells; i++) {
        list[rest[i] < cell_size ? small++ : --large] = (uint32_t)i;
    }
    while (small > 0) {
        uint32_t filled = list[--small];
        CHECK(large < cells);
        uint32_t filler = list[large];
        table->cell[filled] =
            (struct noise_cell){.threshold = rest[filled], .bin = {filled, filler}};
        rest[filler] -= cell_size - rest[filled];
        if (rest[filler] < cell_size) {
            large++;
            list[small++] = filler;
        }
    }
    for (; large < cells; large++) {
        uint32_t full = list[large];
        CHECK(rest[full] == cell_size);
        table->cell[full] = (struct noise_cell){.threshold = cell_size, .bin = {full, full}};
    }
}

static void make_tail(struct noise_table *table, struct draft *draft, uint64_t end)
{
    struct noise_bin *tail = &table->bin[table->bins];
    const int64_t half = INT64_C(1) << (TABLE_UNIT_BITS - 1);
    tail->start = end;
    tail->size_bits = table->shape.tail_bits;
    tail->margin = UINT64_C(1) << TABLE_UNIT_BITS; /* every word is open */
    tail->wide[0] = half;
    mpfr_set_prec(draft->value, TABLE_PRECISION);
    table->shape.enclose(table->shape.self, end, draft->value, draft->upper[table->bins]);
    tail[1].wide[0] = -half; /* no word is below, and none is near */
    noise_row_tail(&table->row[table->bins], &table->rest[table->bins], tail);
    noise_row_refuse(&table->row[table->bins + 1], &table->rest[table->bins + 1]);
}

static const struct noise_table_kernel *fastest_kernel(void)
{
    const struct noise_table_kernel *kernel = &noise_table_plain;
    for (size_t i = 0; noise_table_kernel_at(i) != NULL; i++) {
        kernel = noise_table_kernel_at(i);
    }
    return kernel;
}

enum status noise_table_make(struct noise_table *table, const struct noise_shape *shape)
{
    struct draft draft = {.upper = NULL};
    uint64_t end = 0;
    uint64_t start = 0;

    memset(table, 0, sizeof *table);
    size_t bins = count_bins(shape, &end);
    if (bins > TABLE_BINS_MAX) {
        return STATUS_INVALID;
    }
    if (allocate(table, &draft, bins) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    CHECK(shape->terms > TABLE_TERMS_WIDE && shape->terms <= TABLE_TERMS);
    table->shape = *shape;
    table->kernel = fastest_kernel();
    for (size_t b = 0; b < bins; b++) {
        make_bin(table, &draft, b, start);
        start += UINT64_C(1) << table->bin[b].size_bits;
    }
    make_tail(table, &draft, end);
    make_masses(table, &draft);
    for (size_t b = 0; b < bins; b++) {
        scale_bin(table, &draft, b);
    }
    draft_clear(&draft, bins);
    mpfr_free_cache();

    size_t cells = (size_t)1 << table->cell_bits;
    uint64_t *rest = calloc(cells, sizeof *rest);
    uint32_t *list = calloc(cells, sizeof *list);
    enum status status = rest != NULL && list != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        make_cells(table, rest, list);
    } else {
        noise_table_free(table);
    }
    free(rest);
    free(list);
    return status;
}

void noise_table_free(struct noise_table *table)
{
    if (table->bin != NULL) {
        mpfr_clear(table->factor);
    }
    free(table->bin);
    free(table->row);
    free(table->mass);
    free(table->cell);
    memset(table, 0, sizeof *table);
}
