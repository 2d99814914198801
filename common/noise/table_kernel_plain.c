/* table_kernel_plain.c - trials of a table in portable C: integers, and no branch on a word.
 * table.c tells the method. */

#include "noise/table_kernel.h"

#include <assert.h>
#include <stdatomic.h>

enum { WORD_BITS = 64, GROUP = 8 };

#define SIGN_OF_WORD (UINT64_C(1) << 63)

/* Nothing is stored before x is known. */
#if defined(__GNUC__)
#define KEEP(x)       __asm__("" : "+r"(x))
#define ALWAYS_INLINE __attribute__((always_inline))
#else
#define KEEP(x) ((void)0)
#define ALWAYS_INLINE
#endif

/* Without KEEP gcc widens b once for all products, and multiplies 128 by 128 bits each time. */
static inline int64_t high_half(int64_t a, int64_t b)
{
    KEEP(b);
    return (int64_t)((int128)a * b >> WORD_BITS);
}

/* Coefficient 9 + n, in units of 2^-62. */
static inline int64_t narrow_of(const struct noise_bin *bin, unsigned n)
{
    return bin->narrow[n] * (INT64_C(1) << (TABLE_UNIT_BITS - TABLE_NARROW_BITS));
}

/* One step of Horner's scheme in t^2. It keeps the upper half of a product, so it rounds down by
 * less than 4 units. */
static inline int64_t step(int64_t coefficient, int64_t sum, int64_t square)
{
    return coefficient + high_half(sum, square) * 4;
}

/* 2^62 sum c[n] t^n at t = -1 + 2 offset / 2^size_bits, as sum c[2n] (t^2)^n + t sum c[2n + 1]
 * (t^2)^n: two sums side by side take half as long as one. */
ALWAYS_INLINE static inline int64_t polynomial(const struct noise_bin *bin, unsigned terms,
                                               uint64_t offset)
{
    static_assert(TABLE_TERMS == 16 && TABLE_TERMS_WIDE == 9, "the steps are written out");
    uint64_t place = (offset << 1 << (WORD_BITS - 1 - bin->size_bits)) ^ SIGN_OF_WORD;
    const int64_t t = (int64_t)place;
    const int64_t square = high_half(t, t); /* 2^62 t^2 */
    int64_t even = 0;
    int64_t odd = 0;
    if (terms > TABLE_TERMS_WIDE + 1) { /* public: the shape's */
        even = step(narrow_of(bin, 3), narrow_of(bin, 5), square);
        odd = step(narrow_of(bin, 4), narrow_of(bin, 6), square);
        even = step(narrow_of(bin, 1), even, square);
        odd = step(narrow_of(bin, 2), odd, square);
    }
    even = step(bin->wide[8], even, square);
    odd = step(narrow_of(bin, 0), odd, square);
    even = step(bin->wide[6], even, square);
    odd = step(bin->wide[7], odd, square);
    even = step(bin->wide[4], even, square);
    odd = step(bin->wide[5], odd, square);
    even = step(bin->wide[2], even, square);
    odd = step(bin->wide[3], odd, square);
    even = step(bin->wide[0], even, square);
    odd = step(bin->wide[1], odd, square);
    return even + high_half(odd, t) * 2;
}

/* No branch depends on a word, and nothing is stored. */
ALWAYS_INLINE static inline noise_trial look_up(const struct noise_table *table,
                                                const uint64_t *word)
{
    KEEP(table); /* read again, rather than put on the stack for another trial */
    const struct noise_bin *bin = &table->bin[noise_table_choose(table, word[0])];
    uint64_t offset = noise_table_offset(word[1], bin->size_bits);
    int64_t probability = polynomial(bin, table->shape.terms, offset);
    int64_t fraction = noise_table_fraction(word[2]);
    uint64_t distance = (uint64_t)fraction - (uint64_t)probability;
    uint64_t accept = distance >> (WORD_BITS - 1);
    uint64_t open = distance + bin->margin <= 2 * bin->margin;
    uint64_t value =
        noise_table_sign(bin->start + offset, word[2] & (uint64_t)table->shape.both_sides, &accept);
    noise_trial done = {value, accept * TRIAL_ACCEPT | open * TRIAL_OPEN};
#if defined(__SSE2__)
    __asm__("" : "+x"(done));
#endif
    return done;
}

/* A processor whose load ends in the same twelve bits as a store that is not done yet takes the two
 * for one and waits, which would tell the row that was looked up. So all earlier stores are done
 * first, and gcc stores nothing before all is looked up: hence functions of their own, whose
 * variables fit into its registers (tests/unit/common/noise/stores.sh reads the machine code).
 * clang 14 stores five public pointers and numbers in try_group: what is installed is built by gcc.
 * */
__attribute__((noinline)) noise_trial noise_table_try(const struct noise_table *table,
                                                      const uint64_t *word)
{
    atomic_thread_fence(memory_order_seq_cst);
    return look_up(table, word);
}

/* GROUP trials as noise_table_try makes one. None waits for another, so a processor works on
 * several at a time.
 *
 * value  out  (GROUP) the accepted ones first
 * open   out  not 0 when one is to be decided exactly
 *
 * Returns where the next value goes. */
__attribute__((noinline)) static uint64_t *
try_group(const struct noise_table *table, const uint64_t *word, uint64_t *value, uint64_t *open)
{
    static_assert(GROUP == 8, "the trials are written out");
    uint64_t any = 0;
    atomic_thread_fence(memory_order_seq_cst);
    const noise_trial first = look_up(table, word);
    const noise_trial second = look_up(table, word + TABLE_TRIAL_WORDS);
    const noise_trial third = look_up(table, word + 2 * TABLE_TRIAL_WORDS);
    const noise_trial fourth = look_up(table, word + 3 * TABLE_TRIAL_WORDS);
    const noise_trial fifth = look_up(table, word + 4 * TABLE_TRIAL_WORDS);
    const noise_trial sixth = look_up(table, word + 5 * TABLE_TRIAL_WORDS);
    const noise_trial seventh = look_up(table, word + 6 * TABLE_TRIAL_WORDS);
    const noise_trial eighth = look_up(table, word + 7 * TABLE_TRIAL_WORDS);
    value = noise_table_store(value, first, &any);
    value = noise_table_store(value, second, &any);
    value = noise_table_store(value, third, &any);
    value = noise_table_store(value, fourth, &any);
    value = noise_table_store(value, fifth, &any);
    value = noise_table_store(value, sixth, &any);
    value = noise_table_store(value, seventh, &any);
    value = noise_table_store(value, eighth, &any);
    *open |= any;
    return value;
}

/* The accepted values are gathered without a branch. */
static bool run(const struct noise_table *table, const uint64_t *word, size_t trials,
                uint64_t *value, size_t *accepted)
{
    uint64_t open = 0;
    uint64_t *next = value;
    size_t i = 0;
    table += noise_table_warm(table, table->bin, (table->bins + 2) * sizeof *table->bin);
    for (; i + GROUP <= trials; i += GROUP) {
        next = try_group(table, &word[TABLE_TRIAL_WORDS * i], next, &open);
    }
    for (; i < trials; i++) {
        next = noise_table_store(next, noise_table_try(table, &word[TABLE_TRIAL_WORDS * i]), &open);
    }
    *accepted = (size_t)(next - value);
    return open == 0;
}

const struct noise_table_kernel noise_table_plain = {.name = "plain", .run = run};
