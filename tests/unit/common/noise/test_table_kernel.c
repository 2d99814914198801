/* Kernels of tables: each draws what the plain one draws, decides nothing wrongly, and leaves open
 * only what its margin says. */

#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"
#include "tests/unit/common/noise/tables.h"

#include <math.h>

#define KNOWN UINT64_C(0xb7a0baaad3c4488c) /* computed by the code before there were kernels */

enum { TRIALS = TABLE_TRIALS_MAX, WORDS = TABLE_TRIAL_WORDS * TRIALS };

/* A word that chooses a bin: the first or the last of its cell's words. */
static uint64_t word_of_bin(const struct noise_table *table, size_t bin, bool last)
{
    const unsigned low_bits = 64 - table->cell_bits;
    const uint64_t full = UINT64_C(1) << low_bits;
    for (uint64_t i = 0; i < UINT64_C(1) << table->cell_bits; i++) {
        const struct noise_cell *cell = &table->cell[i];
        if (cell->bin[0] == bin && cell->threshold > 0) {
            return (i << low_bits) + (last ? cell->threshold - 1 : 0);
        }
        if (cell->bin[1] == bin && cell->threshold < full) {
            return (i << low_bits) + (last ? full - 1 : cell->threshold);
        }
    }
    cr_assert_fail("bin %zu has no word", bin);
    return 0;
}

/* The third word at the edge of what a number is accepted for, `units` of 2^-53 above it. */
static uint64_t edge_word(const struct noise_table *table, size_t b, uint64_t offset, int64_t units)
{
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    truth_of(truth, table, b, offset);
    mpfr_mul_2ui(truth, truth, 53, MPFR_RNDN);
    int64_t edge = mpfr_get_si(truth, MPFR_RNDD) + units;
    mpfr_clear(truth);
    const int64_t end = INT64_C(1) << 53;
    return (uint64_t)(edge < 0 ? 0 : edge < end ? edge : end - 1) << 11;
}

/* The larger of a bin's margins, in units of 2^-53, and a little more. */
static int64_t reach_of(const struct noise_table *table, size_t b)
{
    const double row = ldexp(table->rest[b].margin, 53 - ROW_MARGIN_BITS);
    const double bin = ldexp((double)table->bin[b].margin, 53 - TABLE_UNIT_BITS);
    return (int64_t)fmax(row, bin) + 2;
}

/* Words of every kind. Three seeds in four have one trial at an edge alone, so that it alone
 * decides whether the block is left open. */
static void make_words(uint64_t *word, const struct noise_table *table, uint64_t seed)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    const size_t alone = seed % 4 == 0 ? TRIALS : seeded_random_below(&seeded, TRIALS);
    for (size_t i = 0; i < TRIALS; i++) {
        uint64_t *trial = &word[TABLE_TRIAL_WORDS * i];
        for (size_t j = 0; j < TABLE_TRIAL_WORDS; j++) {
            trial[j] = seeded_random_word(&seeded);
        }
        if (i != alone && (alone < TRIALS || i % 16 != 0)) {
            continue;
        }
        const uint64_t kind = seeded_random_below(&seeded, 32);
        const size_t b = seeded_random_below(&seeded, table->bins + (kind == 0 ? 2 : 0));
        const unsigned bits = table->bin[b].size_bits;
        trial[0] = word_of_bin(table, b, kind % 2 == 0);
        if (kind < 4) {
            trial[1] = kind < 2 ? 0 : UINT64_MAX;
        }
        const uint64_t offset = bits == 0 ? 0 : trial[1] >> (64 - bits);
        if (kind < 16 && b < table->bins) { /* from far within the margin to beyond it */
            const int64_t reach = reach_of(table, b);
            const int64_t units = (int64_t)seeded_random_below(&seeded, (uint64_t)(4 * reach));
            trial[2] = edge_word(table, b, offset, units - 2 * reach) | (trial[2] & 2047);
        } else if (kind < 20) {
            trial[2] = kind % 2 == 0 ? trial[2] & 1 : trial[2] | ~UINT64_C(1);
        }
    }
}

/* The result of a block. */
struct outcome {
    uint64_t value[TRIALS];
    uint64_t behind[8]; /* is not written to */
    size_t accepted;
    bool decided;
};

static void run(struct outcome *outcome, const struct noise_table_kernel *kernel,
                const struct noise_table *table, const uint64_t *word, size_t trials)
{
    memset(outcome->behind, 0x5a, sizeof outcome->behind);
    outcome->decided = kernel->run(table, word, trials, outcome->value, &outcome->accepted);
    cr_assert_leq(outcome->accepted, trials);
    for (size_t i = 0; i < sizeof outcome->behind / sizeof outcome->behind[0]; i++) {
        cr_assert_eq(outcome->behind[i], UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
}

static bool same_values(const struct outcome *a, const struct outcome *b)
{
    return a->accepted == b->accepted &&
           memcmp(a->value, b->value, a->accepted * sizeof *a->value) == 0;
}

/* Whether a kernel agrees with the plain one where both decide: margins differ, so what one leaves
 * open another may decide. *open counts blocks that are left open. */
static bool agrees(const struct noise_table_kernel *kernel, const struct noise_table *table,
                   const uint64_t *word, size_t trials, size_t *open)
{
    struct outcome expected;
    struct outcome found;
    run(&expected, &noise_table_plain, table, word, trials);
    run(&found, kernel, table, word, trials);
    *open += found.decided ? 0 : 1;
    return !found.decided || !expected.decided || same_values(&found, &expected);
}

/* 4 million trials for each kernel. */
Test(table_kernel, every_kernel_decides_as_the_plain_one_does)
{
    enum { ROUNDS = 1536, FULL_ROUNDS = ROUNDS - TRIALS };
    static uint64_t word[WORDS];
    size_t kernels = 0;
    cr_assert_eq(noise_table_kernel_at(0), &noise_table_plain);
    for (size_t k = 1; noise_table_kernel_at(k) != NULL; k++) {
        size_t open = 0;
        kernels++;
        for (size_t i = 0; i < TABLES; i++) {
            struct made made;
            make(&made, i);
            for (uint64_t seed = 0; seed < ROUNDS; seed++) {
                const size_t trials = seed < FULL_ROUNDS ? TRIALS : seed - FULL_ROUNDS + 1;
                make_words(word, made.table, seed);
                cr_assert(agrees(noise_table_kernel_at(k), made.table, word, trials, &open),
                          "%s, table %zu, seed %lu", noise_table_kernel_at(k)->name, i,
                          (unsigned long)seed);
            }
            unmake(&made);
        }
        cr_log_info("%s: %zu of %d blocks open", noise_table_kernel_at(k)->name, open,
                    TABLES * ROUNDS);
        cr_assert_geq(open, TABLES * ROUNDS / 8, "blocks that are left open");
        cr_assert_leq(open, TABLES * ROUNDS * 7 / 8, "and blocks that are not");
    }
    cr_log_info("%zu kernels beside the plain one", kernels);
    mpfr_free_cache();
}

/* Kernels with a fault each. */

static bool without_signs(const struct noise_table *table, const uint64_t *word, size_t trials,
                          uint64_t *value, size_t *accepted)
{
    struct noise_table wrong = *table;
    wrong.shape.both_sides = false;
    return noise_table_plain.run(&wrong, word, trials, value, accepted);
}

static bool without_the_last_trial(const struct noise_table *table, const uint64_t *word,
                                   size_t trials, uint64_t *value, size_t *accepted)
{
    return noise_table_plain.run(table, word, trials - 1, value, accepted);
}

static bool with_two_trials_exchanged(const struct noise_table *table, const uint64_t *word,
                                      size_t trials, uint64_t *value, size_t *accepted)
{
    uint64_t other[WORDS];
    memcpy(other, word, TABLE_TRIAL_WORDS * trials * sizeof *word);
    memcpy(other, &word[TABLE_TRIAL_WORDS], TABLE_TRIAL_WORDS * sizeof *word);
    memcpy(&other[TABLE_TRIAL_WORDS], word, TABLE_TRIAL_WORDS * sizeof *word);
    return noise_table_plain.run(table, other, trials, value, accepted);
}

static bool with_another_offset(const struct noise_table *table, const uint64_t *word,
                                size_t trials, uint64_t *value, size_t *accepted)
{
    const bool decided = noise_table_plain.run(table, word, trials, value, accepted);
    value[*accepted / 2] ^= 1;
    return decided;
}

Test(table_kernel, a_faulty_kernel_is_told_from_the_plain_one)
{
    static const struct noise_table_kernel faulty[] = {{"signs", without_signs},
                                                       {"last", without_the_last_trial},
                                                       {"exchanged", with_two_trials_exchanged},
                                                       {"offset", with_another_offset}};
    struct made made;
    make(&made, 3);
    for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
        static uint64_t word[WORDS];
        size_t told = 0;
        size_t open = 0;
        for (uint64_t seed = 0; seed < 64; seed++) {
            make_words(word, made.table, seed);
            told += agrees(&faulty[i], made.table, word, TRIALS, &open) ? 0 : 1;
        }
        cr_expect_gt(told, 10, "%s", faulty[i].name);
    }
    unmake(&made);
    mpfr_free_cache();
}

Test(table_kernel, the_fastest_that_the_processor_has_is_taken)
{
    struct made made;
    size_t kernels = 1;
    size_t expected = 1;
    while (noise_table_kernel_at(kernels) != NULL) {
        kernels++;
    }
#ifdef __x86_64__
    expected += __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                        __builtin_cpu_supports("avx512vl") != 0 &&
                        __builtin_cpu_supports("avx512ifma") != 0
                    ? 1
                    : 0;
#endif
    cr_assert_eq(kernels, expected);
    make(&made, 0);
    cr_assert_eq(made.table->kernel, noise_table_kernel_at(kernels - 1));
    unmake(&made);
}

/* A source that gives a block's words first, then a seeded stream. */
struct source {
    const uint64_t *word;
    size_t left; /* words */
    struct seeded_random seeded;
};

static enum status source_fill(void *self, void *out, size_t bytes)
{
    struct source *source = self;
    const struct random random = seeded_random_interface(&source->seeded);
    const size_t taken = bytes / 8 < source->left ? bytes / 8 : source->left;
    memcpy(out, source->word, 8 * taken);
    source->word += taken;
    source->left -= taken;
    return random_fill(&random, (uint8_t *)out + 8 * taken, bytes - 8 * taken);
}

/* Ties, the tail and all: the same values, and the same words used. */
Test(table_kernel, every_kernel_draws_the_same_values_from_the_same_source)
{
    enum { ROUNDS = 300, VALUES = 3000 };
    static uint64_t word[WORDS];
    static uint64_t drawn[2][VALUES];
    for (size_t k = 1; noise_table_kernel_at(k) != NULL; k++) {
        for (size_t i = 0; i < TABLES; i++) {
            struct made made;
            make(&made, i);
            for (uint64_t seed = 0; seed < ROUNDS; seed++) {
                const size_t count = seed < 20 ? VALUES - seed : 1 + seed % 200;
                uint64_t after[2];
                make_words(word, made.table, seed);
                for (size_t j = 0; j < 2; j++) {
                    struct source source = {.word = word, .left = WORDS};
                    const struct random random = {.fill = source_fill, .self = &source};
                    seeded_random_init(&source.seeded, seed);
                    made.table->kernel = noise_table_kernel_at(j == 0 ? 0 : k);
                    cr_assert_eq(noise_table_draw(made.table, &random, drawn[j], count), STATUS_OK);
                    after[j] = seeded_random_word(&source.seeded);
                }
                cr_assert_arr_eq(drawn[0], drawn[1], count * sizeof **drawn, "table %zu, seed %lu",
                                 i, (unsigned long)seed);
                cr_assert_eq(after[0], after[1], "as many words are used");
            }
            unmake(&made);
        }
    }
    mpfr_free_cache();
}

/* Noise of a seed is the same on every machine, and has not changed in vectors of up to 16,383
 * values: a simulation can be repeated. */
Test(table_kernel, what_a_seed_gives_has_not_changed)
{
    static int64_t values[16384];
    for (size_t k = 0; noise_table_kernel_at(k) != NULL; k++) {
        uint64_t seen = 0;
        for (size_t i = 0; i < TABLES; i++) {
            struct made made;
            make(&made, i);
            made.table->kernel = noise_table_kernel_at(k);
            for (size_t count = 1; count < 16384; count = 3 * count + 1) {
                struct seeded_random seeded;
                const struct random random = seeded_random_interface(&seeded);
                seeded_random_init(&seeded, count);
                cr_assert_eq(tables[i].shares == 0
                                 ? noise_gaussian_draw(&made.gaussian, &random, values, count)
                                 : noise_share_draw(&made.share, &random, values, count),
                             STATUS_OK);
                for (size_t j = 0; j < count; j++) {
                    seen = (seen ^ (uint64_t)values[j]) * UINT64_C(1099511628211);
                }
                seen = (seen ^ seeded_random_word(&seeded)) * UINT64_C(1099511628211);
            }
            unmake(&made);
        }
        cr_expect_eq(seen, KNOWN, "%s: %016lx", noise_table_kernel_at(k)->name,
                     (unsigned long)seen);
    }
}

/* What a kernel makes of one trial, the others of its block being refused. */
enum verdict { REFUSED, ACCEPTED, OPEN };

static enum verdict verdict_of(const struct noise_table_kernel *kernel,
                               const struct noise_table *table, const uint64_t *trial, size_t at,
                               uint64_t value)
{
    uint64_t word[WORDS] = {0};
    struct outcome outcome;
    const uint64_t refused = word_of_bin(table, table->bins + 1, false);
    for (size_t i = 0; i < TRIALS; i++) {
        word[TABLE_TRIAL_WORDS * i] = refused;
    }
    memcpy(&word[TABLE_TRIAL_WORDS * at], trial, TABLE_TRIAL_WORDS * sizeof *word);
    run(&outcome, kernel, table, word, at + 1);
    if (!outcome.decided) {
        return OPEN;
    }
    cr_assert(outcome.accepted == 0 || (outcome.accepted == 1 && outcome.value[0] == value));
    return outcome.accepted == 0 ? REFUSED : ACCEPTED;
}

/* Whether a kernel accepts below the edge, refuses above it, and is open at the edge, within twice
 * the margin. */
static bool decides_rightly(const struct noise_table_kernel *kernel,
                            const struct noise_table *table)
{
    struct seeded_random seeded;
    bool right = true;
    seeded_random_init(&seeded, 5);
    for (size_t i = 0; i < 200; i++) {
        const size_t b = seeded_random_below(&seeded, table->bins);
        const unsigned bits = table->bin[b].size_bits;
        const int64_t reach = 2 * reach_of(table, b);
        uint64_t trial[TABLE_TRIAL_WORDS] = {word_of_bin(table, b, i % 2 == 0)};
        trial[1] = seeded_random_word(&seeded);
        const uint64_t offset = bits == 0 ? 0 : trial[1] >> (64 - bits);
        const uint64_t value = table->bin[b].start + offset;
        const size_t at = seeded_random_below(&seeded, TRIALS);
        trial[2] = edge_word(table, b, offset, -reach);
        right = right && (trial[2] == 0 || (table->shape.both_sides && value == 0) ||
                          verdict_of(kernel, table, trial, at, value) == ACCEPTED);
        trial[2] = edge_word(table, b, offset, reach);
        right = right && (trial[2] >> 11 == (UINT64_C(1) << 53) - 1 ||
                          verdict_of(kernel, table, trial, at, value) == REFUSED);
        trial[2] = edge_word(table, b, offset, 0);
        right = right && verdict_of(kernel, table, trial, at, value) == OPEN;
    }
    return right;
}

Test(table_kernel, no_kernel_decides_against_the_truth)
{
    for (size_t k = 0; noise_table_kernel_at(k) != NULL; k++) {
        for (size_t i = 0; i < TABLES; i++) {
            struct made made;
            make(&made, i);
            cr_expect(decides_rightly(noise_table_kernel_at(k), made.table), "%s, table %zu",
                      noise_table_kernel_at(k)->name, i);
            if (k > 0) { /* planted: wrong rows, and rows with too small margins */
                for (size_t b = 0; b < made.table->bins; b++) {
                    made.table->row[b].term[0] += 8 * (int64_t)made.table->rest[b].margin;
                }
                cr_expect_not(decides_rightly(noise_table_kernel_at(k), made.table));
                unmake(&made);
                make(&made, i);
                for (size_t b = 0; b < made.table->bins; b++) {
                    made.table->rest[b].margin = 0;
                }
                cr_expect_not(decides_rightly(noise_table_kernel_at(k), made.table));
            }
            unmake(&made);
        }
    }
    mpfr_free_cache();
}
