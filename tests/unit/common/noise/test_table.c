/* What makes the table exact: masses fill the words, no acceptance probability is above 1, no
 * polynomial is farther from the truth than its margin, and ties take the exact path. */

#include "noise/gaussian.h"
#include "noise/share.h"
#include "noise/table_kernel.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

enum { PRECISION = 160 };

static const struct noise_scale scales[] = {
    {1, 16}, {1, 2}, {1, 1}, {22, 7}, {1000, 1}, {1048577, 1}, {UINT64_C(1) << 40, 1},
};

static const uint64_t shares[] = {1, 2, 3, 100, 10000, NOISE_SHARES_MAX};

enum { SCALES = sizeof scales / sizeof scales[0], SHARES = sizeof shares / sizeof shares[0] };

/* A bin's polynomial at an offset, in units, by the trials of the plain kernel: the least fraction that they reject. */
static int64_t polynomial(const struct noise_table *table, size_t b, uint64_t offset_word)
{
    const struct noise_cell only = {.bin = {(uint32_t)b, (uint32_t)b}};
    struct noise_cell cell[2] = {only, only};
    struct noise_table of_bin = *table;
    int64_t low = 0;
    int64_t high = INT64_C(1) << TABLE_UNIT_BITS;
    of_bin.cell = cell;
    of_bin.cell_bits = 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const uint64_t word[] = {0, offset_word, (uint64_t)middle << (64 - TABLE_UNIT_BITS)};
        if ((noise_table_try(&of_bin, word)[TRIAL_FLAGS] & TRIAL_ACCEPT) != 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* 2^62 a(k) - polynomial, in units: how far the polynomial is off. */
static double distance(const struct noise_table *table, size_t b, uint64_t offset)
{
    const struct noise_bin *bin = &table->bin[b];
    uint64_t word = bin->size_bits == 0 ? 0 : offset << (64 - bin->size_bits);
    mpfr_t low;
    mpfr_t high;
    mpfr_inits2(PRECISION, low, high, NULL);
    noise_table_enclose(table, b, bin->size_bits, (uint128)bin->start + offset, low, high);
    mpfr_add(low, low, high, MPFR_RNDN);
    mpfr_mul_2ui(low, low, TABLE_UNIT_BITS - 1, MPFR_RNDN);
    mpfr_sub_si(low, low, polynomial(table, b, word), MPFR_RNDN);
    double off = mpfr_get_d(low, MPFR_RNDA);
    mpfr_clears(low, high, NULL);
    return off < 0 ? -off : off;
}

/* Whether polynomials of every step-th bin stay within their margins, at both ends and `more`
 * places. */
static bool within_margins(const struct noise_table *table, size_t step, int more)
{
    struct seeded_random seeded;
    bool right = true;
    seeded_random_init(&seeded, 7);
    for (size_t b = 0; b < table->bins; b += b < 40 && step < 50 ? 1 : step) {
        uint64_t last = (UINT64_C(1) << table->bin[b].size_bits) - 1;
        for (int i = 0; i < 2 + more; i++) {
            uint64_t offset = i == 0 ? 0 : i == 1 ? last : seeded_random_below(&seeded, last + 1);
            right = right && distance(table, b, offset) <= (double)table->bin[b].margin;
        }
    }
    return right;
}

/* The probability that a trial is left open by its words; tail and margins together. */
static double open_probability(const struct noise_table *table)
{
    double open = (double)table->mass[table->bins] * 0x1p-64;
    for (size_t b = 0; b < table->bins; b++) {
        open += (double)table->mass[b] * 0x1p-64 * (double)(2 * table->bin[b].margin + 1) * 0x1p-62;
    }
    return open;
}

static bool masses_fill_the_words(const struct noise_table *table)
{
    static uint64_t seen[2 * (TABLE_BINS_MAX + 2)];
    const uint64_t cell_size = UINT64_C(1) << (64 - table->cell_bits);
    uint128 sum = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < (size_t)1 << table->cell_bits; i++) {
        const struct noise_cell *cell = &table->cell[i];
        cr_assert(cell->threshold <= cell_size);
        seen[cell->bin[0]] += cell->threshold;
        seen[cell->bin[1]] += cell_size - cell->threshold;
    }
    bool right = true;
    for (size_t b = 0; b < (size_t)1 << table->cell_bits; b++) {
        right = right && seen[b] == table->mass[b] && (b < table->bins + 2 || seen[b] == 0);
        sum += table->mass[b];
    }
    return right && sum == (uint128)1 << 64;
}

/* Whether no bin accepts with a probability above 1; f is largest at a bin's start. */
static bool heights_suffice(const struct noise_table *table, size_t step)
{
    bool right = true;
    mpfr_t low;
    mpfr_t high;
    mpfr_inits2(PRECISION, low, high, NULL);
    for (size_t b = 0; b <= table->bins;
         b += b + step > table->bins && b < table->bins ? 1 : step) {
        unsigned bits = table->bin[b].size_bits + (b == table->bins ? 1 : 0);
        noise_table_enclose(table, b, bits, table->bin[b].start, low, high);
        right = right && mpfr_cmp_ui(high, 1) <= 0;
    }
    mpfr_clears(low, high, NULL);
    return right;
}

static void check(struct noise_table *table, size_t step, const char *what, size_t i, size_t j)
{
    cr_expect(masses_fill_the_words(table), "%s %zu %zu", what, i, j);
    cr_expect(within_margins(table, step, 2), "%s %zu %zu", what, i, j);
    cr_expect(heights_suffice(table, step), "%s %zu %zu", what, i, j);
    double open = open_probability(table);
    cr_expect_lt(open, 0x1p-44, "%s %zu %zu: open %g", what, i, j, open * 0x1p44);
    for (size_t b = 1; b < table->bins; b++) {
        uint64_t size = UINT64_C(1) << table->bin[b - 1].size_bits;
        cr_assert_eq(table->bin[b].start, table->bin[b - 1].start + size, "no gap, no overlap");
    }
    cr_assert_eq(table->bin[0].start, 0);
}

Test(table, gaussian_tables_are_exact)
{
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_gaussian noise;
        cr_assert_eq(noise_gaussian_init(&noise, scales[i]), STATUS_OK);
        check(&noise.table, 1, "gaussian", i, 0);
        noise_gaussian_free(&noise);
    }
    mpfr_free_cache();
}

Test(table, share_tables_are_exact)
{
    for (size_t i = 0; i < SCALES; i++) {
        for (size_t j = 0; j < SHARES; j++) {
            struct noise_share noise;
            cr_assert_eq(noise_share_init(&noise, scales[i], shares[j]), STATUS_OK);
            check(&noise.table, 31, "share", i, j);
            noise_share_free(&noise);
        }
    }
    mpfr_free_cache();
}

/* Every bin's chunk of the tail is majorised by the half of the one before. */
Test(table, the_tail_halves_from_bin_to_bin)
{
    mpfr_t low;
    mpfr_t high;
    mpfr_inits2(PRECISION, low, high, NULL);
    for (size_t i = 0; i < 2 * SCALES; i++) {
        struct noise_gaussian gaussian;
        struct noise_share share;
        cr_assert_eq(noise_gaussian_init(&gaussian, scales[i / 2]), STATUS_OK);
        cr_assert_eq(noise_share_init(&share, scales[i / 2], 3), STATUS_OK);
        const struct noise_table *table = i % 2 == 0 ? &gaussian.table : &share.table;
        const struct noise_bin *tail = &table->bin[table->bins];
        for (unsigned c = 0; c < 200; c += 9) {
            uint128 k = (uint128)tail->start + ((uint128)c << tail->size_bits);
            noise_table_enclose(table, table->bins, tail->size_bits + c + 1, k, low, high);
            cr_expect(mpfr_cmp_ui(high, 1) <= 0, "table %zu bin %u", i, c);
        }
        noise_gaussian_free(&gaussian);
        noise_share_free(&share);
    }
    mpfr_clears(low, high, NULL);
    mpfr_free_cache();
}

/* The table fits the first cache, so no value's rows are read more slowly. */
static size_t bytes_of(const struct noise_table *table)
{
    return (table->bins + 2) * sizeof *table->bin + (sizeof *table->cell << table->cell_bits);
}

/* With rows in place of bins there is room for a block's words and values, and where these go. */
static size_t bytes_of_block(const struct noise_table *table)
{
    return noise_rows_bytes(table->bins) + (sizeof *table->cell << table->cell_bits) +
           (TABLE_TRIAL_WORDS + 2) * TABLE_TRIALS_MAX * sizeof(uint64_t);
}

Test(table, every_table_fits_into_a_first_cache_of_32_KiB)
{
    for (unsigned bits = 0; bits <= 40; bits += 4) {
        const struct noise_scale scale = {UINT64_C(1) << bits, 1};
        struct noise_gaussian gaussian;
        struct noise_share share;
        cr_assert_eq(noise_gaussian_init(&gaussian, scale), STATUS_OK);
        cr_assert_eq(noise_share_init(&share, scale, 3), STATUS_OK);
        cr_expect_leq(bytes_of(&gaussian.table), 32 * 1024, "sigma 2^%u", bits);
        cr_expect_leq(bytes_of(&share.table), 32 * 1024, "scale 2^%u", bits);
        cr_expect_leq(bytes_of_block(&gaussian.table), 32 * 1024, "sigma 2^%u", bits);
        cr_expect_leq(bytes_of_block(&share.table), 32 * 1024, "scale 2^%u", bits);
        noise_gaussian_free(&gaussian);
        noise_share_free(&share);
    }
}

Test(table, planted_faults_are_caught)
{
    struct noise_gaussian noise;
    cr_assert_eq(noise_gaussian_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    struct noise_table *table = &noise.table;
    table->mass[5] -= table->mass[5] >> 30; /* a height that is too small */
    cr_expect_not(heights_suffice(table, 1));
    cr_expect_not(masses_fill_the_words(table));
    noise_gaussian_free(&noise);

    cr_assert_eq(noise_gaussian_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    for (size_t b = 0; b < table->bins; b++) { /* a coarser polynomial, the same margin */
        table->bin[b].wide[TABLE_TERMS_WIDE - 2] = 0;
    }
    cr_expect_not(within_margins(table, 1, 2));
    noise_gaussian_free(&noise);

    cr_assert_eq(noise_gaussian_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    table->bin[9].wide[0] += 2 * (int64_t)table->bin[9].margin;
    cr_expect_not(within_margins(table, 1, 2));
    table->bin[9].margin = 1 << 25; /* the sum of the ties is watched, too */
    cr_expect_gt(open_probability(table), 0x1p-42);
    noise_gaussian_free(&noise);

    struct noise_share share;
    struct noise_share other; /* h off by one */
    cr_assert_eq(noise_share_init(&share, (struct noise_scale){1000, 1}, 3), STATUS_OK);
    cr_assert_eq(noise_share_init(&other, (struct noise_scale){1000, 1}, 4), STATUS_OK);
    share.shares = 4; /* what is enclosed is of another h than what was expanded */
    cr_expect_not(within_margins(&share.table, 31, 2));
    noise_share_free(&share);
    noise_share_free(&other);
}

/* A source that says what it was told to, then zeros. */
struct script {
    uint64_t word[32];
    size_t used;
};

static enum status script_fill(void *self, void *out, size_t bytes)
{
    struct script *script = self;
    for (size_t i = 0; i < bytes / 8; i++, script->used++) {
        uint64_t word = script->used < 32 ? script->word[script->used] : 0;
        memcpy((uint8_t *)out + 8 * i, &word, 8);
    }
    return STATUS_OK;
}

/* A word that chooses this bin. */
static uint64_t word_of_bin(const struct noise_table *table, size_t bin)
{
    const unsigned low_bits = 64 - table->cell_bits;
    for (uint64_t i = 0; i < UINT64_C(1) << table->cell_bits; i++) {
        const struct noise_cell *cell = &table->cell[i];
        if (cell->bin[0] == bin && cell->threshold > 0) {
            return i << low_bits;
        }
        if (cell->bin[1] == bin && cell->threshold < UINT64_C(1) << low_bits) {
            return (i << low_bits) + cell->threshold;
        }
    }
    cr_assert(false, "bin %zu has no word", bin);
    return 0;
}

/* The first 62 + 64 bits of a(k), for k at this place of a bin or of the tail's c-th one. */
static void edge_words(uint64_t word[2], const struct noise_table *table, size_t b, unsigned c,
                       uint64_t offset)
{
    mpfr_t low;
    mpfr_t high;
    mpz_t bits;
    mpz_t part;
    mpfr_inits2(400, low, high, NULL);
    mpz_inits(bits, part, NULL);
    const struct noise_bin *bin = &table->bin[b];
    uint128 k = (uint128)bin->start + offset + ((uint128)c << bin->size_bits);
    unsigned long size_bits = bin->size_bits + (b == table->bins ? c + 1 : 0);
    noise_table_enclose(table, b, size_bits, k, low, high);
    mpfr_mul_2ui(low, low, TABLE_UNIT_BITS + 64, MPFR_RNDD);
    mpfr_get_z(bits, low, MPFR_RNDD);
    mpz_fdiv_q_2exp(part, bits, 64);
    word[0] = mpz_get_ui(part);
    mpz_fdiv_r_2exp(part, bits, 64);
    word[1] = mpz_get_ui(part);
    mpz_clears(bits, part, NULL);
    mpfr_clears(low, high, NULL);
}

/* Draws one value from words that tie in the first trial; the block's four other trials are
 * refused. Returns how many words were used. */
static size_t draw_tie(const struct noise_table *table, uint64_t first, uint64_t second,
                       uint64_t third, uint64_t extension, uint64_t *value)
{
    struct script script = {.word = {first, second, third}};
    struct random random = {.fill = script_fill, .self = &script};
    uint64_t refused = word_of_bin(table, table->bins + 1);
    for (size_t i = 1; i < 5; i++) {
        script.word[3 * i] = refused;
    }
    script.word[15] = extension;
    script.word[16] = refused; /* what follows when the tie falls for "no": the next block */
    cr_assert_eq(noise_table_draw(table, &random, value, 1), STATUS_OK);
    return script.used;
}

Test(table, a_tie_is_refined_and_never_rounded)
{
    struct noise_gaussian gaussian;
    struct noise_share share;
    cr_assert_eq(noise_gaussian_init(&gaussian, (struct noise_scale){1000, 1}), STATUS_OK);
    cr_assert_eq(noise_share_init(&share, (struct noise_scale){100000, 1}, 3), STATUS_OK);
    for (size_t i = 0; i < 40; i++) {
        const struct noise_table *table = i % 2 == 0 ? &gaussian.table : &share.table;
        size_t b = 1 + i * (table->bins - 2) / 40;
        uint64_t offset = (UINT64_C(1) << table->bin[b].size_bits) * i / 40;
        uint64_t second =
            table->bin[b].size_bits == 0 ? 0 : offset << (64 - table->bin[b].size_bits);
        uint64_t first = word_of_bin(table, b);
        uint64_t edge[2];
        uint64_t value = 0;
        edge_words(edge, table, b, 0, offset);
        if (edge[1] == 0 || edge[1] == UINT64_MAX) {
            continue;
        }
        size_t used = draw_tie(table, first, second, edge[0] << 2, edge[1] - 1, &value);
        cr_expect_eq(value, table->bin[b].start + offset, "below the edge: accepted");
        cr_expect_eq(used, 16, "with one more word");
        used = draw_tie(table, first, second, edge[0] << 2, edge[1] + 1, &value);
        cr_expect_gt(used, 16, "above: refused, and another block");
        /* Near the edge, but decided without more bits: exact for every polynomial.
         */
        used = draw_tie(table, first, second, (edge[0] - 1) << 2, 0, &value);
        cr_expect(used == 15 && value == table->bin[b].start + offset);
        used = draw_tie(table, first, second, (edge[0] + 1) << 2, 0, &value);
        cr_expect_gt(used, 15);
    }
    noise_gaussian_free(&gaussian);
    noise_share_free(&share);
}

Test(table, the_tail_is_drawn_exactly)
{
    struct noise_share share;
    uint64_t value = 0;
    cr_assert_eq(noise_share_init(&share, (struct noise_scale){1000, 1}, 3), STATUS_OK);
    const struct noise_table *table = &share.table;
    const struct noise_bin *tail = &table->bin[table->bins];
    uint64_t first = word_of_bin(table, table->bins);
    uint64_t offset = UINT64_C(5) << (64 - tail->size_bits);
    for (unsigned zeros = 0; zeros < 4; zeros++) {
        (void)draw_tie(table, first, offset, 0, UINT64_C(1) << (63 - zeros), &value);
        cr_expect_eq(value, tail->start + 5 + ((uint64_t)zeros << tail->size_bits));
    }
    size_t used = draw_tie(table, first, offset, UINT64_MAX, UINT64_C(1) << 63, &value);
    cr_expect_gt(used, 16, "refused: another block");
    for (unsigned zeros = 0; zeros < 40; zeros += 3) { /* accepted as often as f says, not less */
        const uint64_t coins = UINT64_C(1) << (63 - zeros);
        uint64_t edge[2];
        edge_words(edge, table, table->bins, zeros, 5);
        cr_assert_gt(edge[0], 0);
        used = draw_tie(table, first, offset, (edge[0] - 1) << 2, coins, &value);
        cr_expect_eq(used, 16, "just below, after %u zeros", zeros);
        used = draw_tie(table, first, offset, (edge[0] + 1) << 2, coins, &value);
        cr_expect_gt(used, 16, "just above, after %u zeros", zeros);
    }
    noise_share_free(&share);
}

/* The same for what trials are compared with, bins and tail, to the last bit of a low precision. */
Test(table, acceptance_probabilities_are_enclosed_at_any_precision)
{
    mpfr_t bound[2];
    mpfr_t truth[2];
    mpfr_inits2(900, truth[0], truth[1], NULL);
    for (size_t i = 0; i < 2 * SCALES; i++) {
        struct noise_gaussian gaussian;
        struct noise_share share;
        cr_assert_eq(noise_gaussian_init(&gaussian, scales[i / 2]), STATUS_OK);
        cr_assert_eq(noise_share_init(&share, scales[i / 2], 3), STATUS_OK);
        const struct noise_table *table = i % 2 == 0 ? &gaussian.table : &share.table;
        for (size_t b = 0; b <= table->bins;
             b += b + 29 > table->bins && b < table->bins ? 1 : 29) {
            const struct noise_bin *bin = &table->bin[b];
            noise_table_enclose(table, b, bin->size_bits + 1, bin->start, truth[0], truth[1]);
            for (mpfr_prec_t precision = 20; precision < 200; precision += 13) {
                mpfr_inits2(precision, bound[0], bound[1], NULL);
                noise_table_enclose(table, b, bin->size_bits + 1, bin->start, bound[0], bound[1]);
                cr_expect(mpfr_lessequal_p(bound[0], truth[0]), "table %zu bin %zu", i, b);
                cr_expect(mpfr_greaterequal_p(bound[1], truth[1]), "table %zu bin %zu", i, b);
                mpfr_clears(bound[0], bound[1], NULL);
            }
        }
        noise_gaussian_free(&gaussian);
        noise_share_free(&share);
    }
    mpfr_clears(truth[0], truth[1], NULL);
    mpfr_free_cache();
}

/* Enclosures of few bits hold those of many, wherever the table may ask. */
Test(table, enclosures_hold_the_truth_at_any_precision)
{
    static const uint64_t numbers[] = {0, 1, 2, 31, 32, 999, 1 << 20, UINT64_C(1) << 46};
    mpfr_t bound[2];
    mpfr_t truth[2];
    mpfr_inits2(900, truth[0], truth[1], NULL);
    for (size_t i = 0; i < SCALES * SHARES; i++) {
        struct noise_gaussian gaussian;
        struct noise_share share;
        cr_assert_eq(noise_gaussian_init(&gaussian, scales[i / SHARES]), STATUS_OK);
        cr_assert_eq(noise_share_init(&share, scales[i / SHARES], shares[i % SHARES]), STATUS_OK);
        for (size_t n = 0; n < 2 * sizeof numbers / sizeof numbers[0]; n++) {
            const struct noise_shape *shape =
                n % 2 == 0 ? &gaussian.table.shape : &share.table.shape;
            shape->enclose(shape->self, numbers[n / 2], truth[0], truth[1]);
            for (mpfr_prec_t precision = 20; precision < 400; precision += 93) {
                mpfr_inits2(precision, bound[0], bound[1], NULL);
                shape->enclose(shape->self, numbers[n / 2], bound[0], bound[1]);
                cr_expect(mpfr_lessequal_p(bound[0], truth[0]), "scale %zu number %zu", i, n);
                cr_expect(mpfr_greaterequal_p(bound[1], truth[1]), "scale %zu number %zu", i, n);
                mpfr_clears(bound[0], bound[1], NULL);
            }
        }
        noise_gaussian_free(&gaussian);
        noise_share_free(&share);
    }
    mpfr_clears(truth[0], truth[1], NULL);
    mpfr_free_cache();
}
