/* table_kernel_avx512.c - eight trials at a time; table_row.c tells how exact the rows are.
 *
 * The bins are chosen one trial after the other. A bin's row is two loads. The rows of eight trials
 * are transposed in registers: register n then holds number n of all eight, and what follows is
 * the same instruction for all. The polynomial has 14 terms, in integers of 52 bits (AVX-512 IFMA).
 * A trial that it leaves open is decided exactly (table.c).
 *
 * What the time tells. Every instruction is the same whatever is drawn. Reads at places that follow
 * from words hit lines that were read just before: rows, cells, and a call's words and values fit
 * into a first cache of 32 KiB together. No store is under way meanwhile (table_kernel_plain.c
 * tells why). A row is a whole line, so the same parts of the cache serve it whichever row it is;
 * its rest is half a line, and a cell a quarter. What remains concerns an observer who shares the
 * processor's cache, as with the plain kernel. */

#include "noise/table_kernel.h"

#ifdef __x86_64__

#include "base/bytes.h"

#include <assert.h>
#include <immintrin.h>
#include <stdatomic.h>
#include <string.h>

/* gcc 12's address sanitizer, when it looks for uses after return, gives local registers a stack
 * that is not aligned to 64 bytes (its bug 110027). What these functions read and write is checked
 * all the same where the plain kernel runs over the same buffers. */
#define UNCHECKED __attribute__((no_sanitize("address")))
#define IFMA      UNCHECKED __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))
#define PART      static inline __attribute__((always_inline))

enum { WORD_BITS = 64, LANES = 8, GROUP = 16 };

static_assert(TABLE_TRIALS_MAX % GROUP == 0, "whole registers are stored");
static_assert(sizeof(struct noise_row) == ROW_BYTES, "a row begins with a line");
static_assert(sizeof(struct noise_rest) == ROW_BYTES / 2, "and ends with half a one");
static_assert(ROW_TERMS == 7 && REST_TERMS == 7, "the steps are written out");

/* Eight values, which of them to keep, and which are open. */
struct eight {
    __m512i value;
    __mmask8 keep;
    __mmask8 open;
};

/* The lanes of four registers that belong to one column: column n < 2 and those 2, 4 and 6 after
 * it. */
IFMA PART void gather_lanes(__m512i *row, __m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i even_low = _mm512_shuffle_i64x2(a, b, 0x88);
    const __m512i even_high = _mm512_shuffle_i64x2(c, d, 0x88);
    const __m512i odd_low = _mm512_shuffle_i64x2(a, b, 0xdd);
    const __m512i odd_high = _mm512_shuffle_i64x2(c, d, 0xdd);
    row[0] = _mm512_shuffle_i64x2(even_low, even_high, 0x88);
    row[2] = _mm512_shuffle_i64x2(odd_low, odd_high, 0x88);
    row[4] = _mm512_shuffle_i64x2(even_low, even_high, 0xdd);
    row[6] = _mm512_shuffle_i64x2(odd_low, odd_high, 0xdd);
}

/* Then row[n] is number n of all eight rows. Loops would keep them in memory. */
IFMA PART void transpose_rows(__m512i row[LANES])
{
    const __m512i even_a = _mm512_unpacklo_epi64(row[0], row[1]);
    const __m512i even_b = _mm512_unpacklo_epi64(row[2], row[3]);
    const __m512i even_c = _mm512_unpacklo_epi64(row[4], row[5]);
    const __m512i even_d = _mm512_unpacklo_epi64(row[6], row[7]);
    const __m512i odd_a = _mm512_unpackhi_epi64(row[0], row[1]);
    const __m512i odd_b = _mm512_unpackhi_epi64(row[2], row[3]);
    const __m512i odd_c = _mm512_unpackhi_epi64(row[4], row[5]);
    const __m512i odd_d = _mm512_unpackhi_epi64(row[6], row[7]);
    gather_lanes(row, even_a, even_b, even_c, even_d);
    gather_lanes(row + 1, odd_a, odd_b, odd_c, odd_d);
}

/* rest[n] has numbers n and n + 4 of the first four rows and then of the others. */
IFMA PART void transpose_rests(__m512 rest[LANES / 2])
{
    const __m512 low_a = _mm512_unpacklo_ps(rest[0], rest[1]);
    const __m512 low_b = _mm512_unpacklo_ps(rest[2], rest[3]);
    const __m512 high_a = _mm512_unpackhi_ps(rest[0], rest[1]);
    const __m512 high_b = _mm512_unpackhi_ps(rest[2], rest[3]);
    rest[0] = _mm512_shuffle_ps(low_a, low_b, 0x44);
    rest[1] = _mm512_shuffle_ps(low_a, low_b, 0xee);
    rest[2] = _mm512_shuffle_ps(high_a, high_b, 0x44);
    rest[3] = _mm512_shuffle_ps(high_a, high_b, 0xee);
}

/* Number n of all eight rows, and number n + 4. */
IFMA PART __m256i first_of(__m512 rest)
{
    const __m512i bits = _mm512_castps_si512(rest);
    return _mm512_castsi512_si256(_mm512_shuffle_i64x2(bits, bits, 0x88));
}

IFMA PART __m256i second_of(__m512 rest)
{
    const __m512i bits = _mm512_castps_si512(rest);
    return _mm512_castsi512_si256(_mm512_shuffle_i64x2(bits, bits, 0xdd));
}

/* One of the 3 words of each of eight trials. first: the places among the first 16 of their words.
 * second: the places in what that gave, and among the last 8 (from 8 on). */
IFMA PART __m512i pick(const uint64_t *word, __m512i first, __m512i second)
{
    __m512i most = _mm512_permutex2var_epi64(_mm512_loadu_si512(word), first,
                                             _mm512_loadu_si512(word + LANES));
    return _mm512_permutex2var_epi64(most, second, _mm512_loadu_si512(word + 2 * LANES));
}

/* Eight rows, transposed. */
struct rows {
    __m512i row[LANES];
    __m512 rest[LANES / 2];
};

/* A narrow coefficient in the units of a wide one. */
IFMA PART __m512i widened(__m256i narrow)
{
    return _mm512_slli_epi64(_mm512_cvtepi32_epi64(narrow), ROW_NARROW_BITS);
}

/* coefficient + v sum, where 2 is added to the sum, and to what is returned: bias is 2 - 2 v. */
IFMA PART __m512i step(__m512i coefficient, __m512i bias, __m512i v, __m512i sum)
{
    return _mm512_madd52hi_epu64(_mm512_add_epi64(coefficient, bias), v, sum);
}

/* In units of 2^-50; t is in units of 2^-63. */
IFMA PART __m512i polynomial(const struct rows *rows, __m512i t)
{
    const __m512i *row = rows->row;
    const __m512 *rest = rows->rest;
    const __m512i zero = _mm512_setzero_si512();
    const __m512i two = _mm512_set1_epi64(INT64_C(1) << (ROW_UNIT_BITS + 1));
    const __m512i half = _mm512_srli_epi64(_mm512_abs_epi64(t), 12); /* |t|/2, in units of 2^-52 */
    const __m512i v = _mm512_madd52hi_epu64(zero, half, half);       /* the same of (t/2)^2 */
    const __m512i bias = _mm512_sub_epi64(two, _mm512_srli_epi64(v, 1));
    __m512i even = _mm512_add_epi64(widened(second_of(rest[1])), two);
    __m512i odd = _mm512_add_epi64(widened(second_of(rest[2])), two);
    even = step(widened(first_of(rest[3])), bias, v, even);
    odd = step(widened(second_of(rest[0])), bias, v, odd);
    even = step(widened(first_of(rest[1])), bias, v, even);
    odd = step(widened(first_of(rest[2])), bias, v, odd);
    even = step(row[7], bias, v, even);
    odd = step(widened(first_of(rest[0])), bias, v, odd);
    even = step(row[5], bias, v, even);
    odd = step(row[6], bias, v, odd);
    even = step(row[3], bias, v, even);
    odd = step(row[4], bias, v, odd);
    even = _mm512_sub_epi64(step(row[1], bias, v, even), two);
    odd = step(row[2], bias, v, odd);
    odd = _mm512_madd52hi_epu64(_mm512_sub_epi64(zero, _mm512_srli_epi64(half, 1)), half, odd);
    return _mm512_mask_sub_epi64(_mm512_add_epi64(even, odd), _mm512_movepi64_mask(t), even, odd);
}

IFMA PART __m256 load_rest(const struct noise_rest *rest)
{
    return _mm256_castsi256_ps(_mm256_load_si256((const __m256i *)(const void *)rest));
}

/* Rows i and i + 4. */
IFMA PART void load_rows(const struct noise_table *table, const uint64_t *word, struct rows *rows,
                         size_t i)
{
    const uint64_t bin = noise_table_choose(table, word[TABLE_TRIAL_WORDS * i]);
    const uint64_t other = noise_table_choose(table, word[TABLE_TRIAL_WORDS * (i + 4)]);
    rows->row[i] = _mm512_load_si512(&table->row[bin]);
    rows->row[i + 4] = _mm512_load_si512(&table->row[other]);
    const __m512 first = _mm512_castps256_ps512(load_rest(&table->rest[bin]));
    rows->rest[i] = _mm512_insertf32x8(first, load_rest(&table->rest[other]), 1);
}

IFMA PART struct eight look_up(const struct noise_table *table, const uint64_t *word)
{
    struct rows rows;
    load_rows(table, word, &rows, 0);
    load_rows(table, word, &rows, 1);
    load_rows(table, word, &rows, 2);
    load_rows(table, word, &rows, 3);
    transpose_rows(rows.row);
    transpose_rests(rows.rest);
    const __m512i second = pick(word, _mm512_setr_epi64(1, 4, 7, 10, 13, 0, 0, 0),
                                _mm512_setr_epi64(0, 1, 2, 3, 4, 8, 11, 14));
    const __m512i third = pick(word, _mm512_setr_epi64(2, 5, 8, 11, 14, 0, 0, 0),
                               _mm512_setr_epi64(0, 1, 2, 3, 4, 9, 12, 15));

    /* A shift by 64 gives 0: a bin of one number has no offset. */
    const __m512i free_bits =
        _mm512_srli_epi64(_mm512_slli_epi64(rows.row[0], 1), ROW_FREE_SHIFT + 1);
    const __m512i offset = _mm512_srlv_epi64(second, free_bits);
    const __m512i t =
        _mm512_xor_si512(_mm512_sllv_epi64(offset, free_bits), _mm512_set1_epi64(INT64_MIN));
    const __m512i probability =
        _mm512_slli_epi64(polynomial(&rows, t), TABLE_UNIT_BITS - ROW_UNIT_BITS);
    const __m512i distance =
        _mm512_sub_epi64(_mm512_srli_epi64(third, WORD_BITS - TABLE_UNIT_BITS), probability);
    const __m512i margin = _mm512_slli_epi64(_mm512_cvtepu32_epi64(second_of(rows.rest[3])),
                                             TABLE_UNIT_BITS - ROW_MARGIN_BITS);

    struct eight eight;
    eight.keep = _mm512_movepi64_mask(distance);
    eight.open = _mm512_cmple_epu64_mask(_mm512_add_epi64(distance, margin),
                                         _mm512_add_epi64(margin, margin)) |
                 _mm512_movepi64_mask(rows.row[0]);
    const __m512i start =
        _mm512_and_si512(rows.row[0], _mm512_set1_epi64((INT64_C(1) << ROW_FREE_SHIFT) - 1));
    const __m512i size = _mm512_add_epi64(start, offset);
    const __mmask8 negative =
        _mm512_test_epi64_mask(third, _mm512_set1_epi64(table->shape.both_sides));
    eight.keep &= (__mmask8)~_mm512_mask_testn_epi64_mask(negative, size, size);
    eight.value = _mm512_mask_sub_epi64(size, negative, _mm512_setzero_si512(), size);
    return eight;
}

/* Where accepted values go: one pointer in place of three values, which would not all stay in
 * registers. */
struct output {
    uint64_t *next;
    unsigned open; /* not 0: a trial is */
};

IFMA PART void store(uint64_t *value, const struct eight *eight, unsigned keep)
{
    _mm512_storeu_si512(value, _mm512_maskz_compress_epi64((__mmask8)keep, eight->value));
}

/* GROUP trials; only the first ones are wanted. */
IFMA __attribute__((noinline)) static void try_vectors(const struct noise_table *table,
                                                       const uint64_t *word, unsigned wanted,
                                                       struct output *output)
{
    atomic_thread_fence(memory_order_seq_cst);
    struct eight first = look_up(table, word);
    /* The registers of the first eight are free before those of the second are wanted. */
    __asm__("" : "+v"(first.value), "+r"(table));
    const struct eight second = look_up(table, word + TABLE_TRIAL_WORDS * LANES);
    const unsigned mask = (1U << wanted) - 1;
    const unsigned keep = first.keep & mask;
    const unsigned keep_too = second.keep & (mask >> LANES);
    const unsigned open = output->open | (first.open & mask) | (second.open & (mask >> LANES));
    uint64_t *next = output->next;
    store(next, &first, keep);
    next += __builtin_popcount(keep);
    store(next, &second, keep_too);
    output->next = next + __builtin_popcount(keep_too);
    output->open = open;
}

static bool run(const struct noise_table *table, const uint64_t *word, size_t trials,
                uint64_t *value, size_t *accepted)
{
    uint64_t last[TABLE_TRIAL_WORDS * GROUP];
    struct output output = {.next = value};
    size_t i = 0;
    table += noise_table_warm(table, table->row, noise_rows_bytes(table->bins));
    for (; i + GROUP <= trials; i += GROUP) {
        try_vectors(table, &word[TABLE_TRIAL_WORDS * i], GROUP, &output);
    }
    if (i < trials) { /* public: how many */
        memset(last, 0, sizeof last);
        memcpy(last, &word[TABLE_TRIAL_WORDS * i], TABLE_TRIAL_WORDS * (trials - i) * sizeof *word);
        try_vectors(table, last, (unsigned)(trials - i), &output);
        bytes_wipe(last, sizeof last);
    }
    *accepted = (size_t)(output.next - value);
    return output.open == 0;
}

static const struct noise_table_kernel kernel_ifma = {.name = "avx512-ifma", .run = run};

const struct noise_table_kernel *noise_table_kernel_at(size_t i)
{
    bool has_ifma =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
        __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512ifma") != 0;
    if (i == 0) {
        return &noise_table_plain;
    }
    return i == 1 && has_ifma ? &kernel_ifma : NULL;
}

#else

const struct noise_table_kernel *noise_table_kernel_at(size_t i)
{
    return i == 0 ? &noise_table_plain : NULL;
}

#endif
