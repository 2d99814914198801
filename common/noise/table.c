/* table.c - binned rejection with an exact last word.
 *
 * 0, 1, 2, ... is cut into bins of 2^i numbers in which the unnormalised probability f changes
 * little. Bin b has an integer mass m(b) out of 2^64, and a binary fraction K is chosen such that
 * K f(k) 2^i <= m(b) for every k in b. A trial takes three words:
 *
 *   the first   chooses b with probability exactly m(b)/2^64: Walker's alias table, integers only
 *   the second  chooses k in b uniformly: its first i bits
 *   the third   accepts with probability a(k) = K f(k) 2^i / m(b) <= 1
 *
 * so k comes out with probability m(b)/2^64 * 2^-i * a(k) = K f(k)/2^64: proportional to f,
 * exactly, whatever the masses are. No sum of f is needed, and what the masses leave of 2^64 is
 * rejected. The infinite rest beyond the last bin is one outcome, "tail": fair coins choose a bin
 * of 2^tail_bits numbers, the c-th with probability 2^-(c+1), which majorises f because it halves
 * at least as fast.
 *
 * a(k) itself is compared through a polynomial of the offset in fixed point whose error is bounded
 * (table_make.c). A third word within that bound is decided by lazy.c from
 * enclosures of f: the polynomial decides how often that happens and never what is drawn.
 *
 * Where both sides are wanted the last bit of the third word is the sign, and minus zero is
 * rejected.
 *
 * Source: rejection from a histogram of strips, Ahrens and Dieter; alias tables, Walker 1977; exact
 * decisions by refinement, Knuth and Yao 1976. What is different: every trial does the same work,
 * and none of it rounds. */

#include "noise/table.h"

#include "base/mask.h"
#include "noise/lazy.h"
#include "noise/whole.h"

#include "base/bytes.h"
#include "base/check.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

enum {
    WORD_BITS = 64,
    BLOCK_TRIALS = 256,
    TRIAL_WORDS = 3,
    GROUP = 8,
    GROUP_OPEN_BIT = 32,
    LINE_BYTES = 64
};

#define SIGN_OF_WORD (UINT64_C(1) << 63)

/* Nothing is stored before x is known. */
#if defined(__GNUC__)
#define KEEP(x)       __asm__("" : "+r"(x))
#define ALWAYS_INLINE __attribute__((always_inline))
#else
#define KEEP(x) ((void)0)
#define ALWAYS_INLINE
#endif

/* The uniform numerator of 2^62 that a third word stands for: its two lowest bits are for others.
 */
static inline int64_t fraction_of(uint64_t word)
{
    return (int64_t)(word >> (WORD_BITS - TABLE_UNIT_BITS));
}

static inline uint64_t offset_of(uint64_t word, unsigned size_bits)
{
    return word >> 1 >> (WORD_BITS - 1 - size_bits);
}

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

/* One step of Horner's scheme in t^2. It keeps the upper half of a product, so it rounds down by less
 * than 4 units. */
static inline int64_t step(int64_t coefficient, int64_t sum, int64_t square)
{
    return coefficient + high_half(sum, square) * 4;
}

/* 2^62 sum c[n] t^n at t = -1 + 2 offset / 2^size_bits, as sum c[2n] (t^2)^n + t sum c[2n + 1] (t^2)^n:
 * two sums side by side take half as long as one. */
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

int64_t noise_bin_polynomial(const struct noise_bin *bin, uint64_t offset_word)
{
    return polynomial(bin, TABLE_TERMS, offset_of(offset_word, bin->size_bits));
}

/* What one trial comes to: its value, with its sign, and its flags. Two numbers in one register that
 * addresses and products have no use for. */
typedef uint64_t trial __attribute__((vector_size(2 * sizeof(uint64_t))));
enum { VALUE, FLAGS };
enum { ACCEPT = 1, OPEN = 2 /* to be decided exactly */ };

/* value with the sign of `negative` (0 or 1); *accept is cleared for minus zero. */
ALWAYS_INLINE static inline uint64_t with_sign(uint64_t value, uint64_t negative, uint64_t *accept)
{
    *accept &= (negative ^ 1) | (uint64_t)(value != 0);
    return (value ^ (0 - negative)) + negative;
}

/* Which bin a first word chooses. */
ALWAYS_INLINE static inline uint64_t choose(const struct noise_table *table, uint64_t word)
{
    const unsigned low_bits = WORD_BITS - table->cell_bits;
    const struct noise_cell *cell = &table->cell[word >> low_bits];
    const uint64_t low = word & ((UINT64_C(1) << low_bits) - 1);
    const uint64_t second = 0 - (uint64_t)(low >= cell->threshold);
    return cell->bin[0] ^ ((cell->bin[0] ^ cell->bin[1]) & second);
}

/* No branch depends on a word, and nothing is stored. */
ALWAYS_INLINE static inline trial look_up(const struct noise_table *table, const uint64_t *word)
{
    KEEP(table); /* read again, rather than put on the stack for another trial */
    const struct noise_bin *bin = &table->bin[choose(table, word[0])];
    uint64_t offset = offset_of(word[1], bin->size_bits);
    int64_t probability = polynomial(bin, table->shape.terms, offset);
    int64_t fraction = fraction_of(word[2]);
    uint64_t distance = (uint64_t)fraction - (uint64_t)probability;
    uint64_t accept = distance >> (WORD_BITS - 1);
    uint64_t open = distance + bin->margin <= 2 * bin->margin;
    uint64_t value =
        with_sign(bin->start + offset, word[2] & (uint64_t)table->shape.both_sides, &accept);
    trial done = {value, accept * ACCEPT | open * OPEN};
#if defined(__SSE2__)
    __asm__("" : "+x"(done));
#endif
    return done;
}

/* A processor whose load ends in the same twelve bits as a store that is not done yet takes the two
 * for one and waits, which would tell the row that was looked up. So all earlier stores are done
 * first, and gcc stores nothing before all is looked up: hence functions of their own, whose variables
 * fit into its registers (tests/unit/common/noise/stores.sh reads the machine code). clang 14 stores five public
 * pointers and numbers in try_group: what is installed is built by gcc. */
__attribute__((noinline)) static trial try_one(const struct noise_table *table,
                                               const uint64_t *word)
{
    atomic_thread_fence(memory_order_seq_cst);
    return look_up(table, word);
}

/* Stores a value, and returns where the next one goes: on top of it unless it is accepted. */
ALWAYS_INLINE static inline uint64_t *store(uint64_t *value, trial done, uint64_t *open)
{
    *value = done[VALUE];
    *open |= done[FLAGS] & OPEN;
    return value + (done[FLAGS] & ACCEPT);
}

/* GROUP trials as try_one makes one. None waits for another, so a processor works at several at a time.
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
    const trial first = look_up(table, word);
    const trial second = look_up(table, word + TRIAL_WORDS);
    const trial third = look_up(table, word + 2 * TRIAL_WORDS);
    const trial fourth = look_up(table, word + 3 * TRIAL_WORDS);
    const trial fifth = look_up(table, word + 4 * TRIAL_WORDS);
    const trial sixth = look_up(table, word + 5 * TRIAL_WORDS);
    const trial seventh = look_up(table, word + 6 * TRIAL_WORDS);
    const trial eighth = look_up(table, word + 7 * TRIAL_WORDS);
    value = store(value, first, &any);
    value = store(value, second, &any);
    value = store(value, third, &any);
    value = store(value, fourth, &any);
    value = store(value, fifth, &any);
    value = store(value, sixth, &any);
    value = store(value, seventh, &any);
    value = store(value, eighth, &any);
    *open |= any;
    return value;
}

/* What an exact decision is about. */
struct question {
    const struct noise_table *table;
    size_t bin;
    unsigned long size_bits;
    uint128 k;
};

static void enclose_question(const void *self, mpfr_t low, mpfr_t high)
{
    const struct question *question = self;
    noise_table_enclose(question->table, question->bin, question->size_bits, question->k, low,
                        high);
}

void noise_table_enclose(const struct noise_table *table, size_t bin, unsigned long size_bits,
                         uint128 k, mpfr_t low, mpfr_t high)
{
    mpfr_t mass;
    mpfr_init2(mass, WORD_BITS);
    whole_set_real(mass, table->mass[bin], MPFR_RNDN);
    table->shape.enclose(table->shape.self, k, low, high);
    mpfr_mul(low, low, table->factor, MPFR_RNDD);
    mpfr_mul_2ui(low, low, size_bits, MPFR_RNDD);
    mpfr_div(low, low, mass, MPFR_RNDD);
    mpfr_mul(high, high, table->factor, MPFR_RNDU);
    mpfr_mul_2ui(high, high, size_bits, MPFR_RNDU);
    mpfr_div(high, high, mass, MPFR_RNDU);
    mpfr_clear(mass);
}

/* Tosses fair coins until one falls for 1; *zeros is how many did not. */
static enum status count_zeros(const struct random *random, uint64_t *zeros)
{
    uint64_t word = 0;
    enum status status = STATUS_OK;
    *zeros = 0;
    do {
        status = random_fill(random, &word, sizeof word);
        for (uint64_t bit = SIGN_OF_WORD; bit != 0 && (word & bit) == 0; bit >>= 1) {
            *zeros += 1;
        }
    } while (status == STATUS_OK && word == 0);
    bytes_wipe(&word, sizeof word);
    return status;
}

/* Decides a trial that the words left open: exactly. */
static enum status decide(const struct noise_table *table, const struct random *random,
                          const uint64_t *word, trial *done)
{
    const size_t chosen = choose(table, word[0]);
    const struct noise_bin *bin = &table->bin[chosen];
    struct question question = {.table = table, .bin = chosen, .size_bits = bin->size_bits};
    const struct real probability = {.enclose = enclose_question, .self = &question};
    enum status status = STATUS_OK;
    bool below = false;

    question.k = (uint128)bin->start + offset_of(word[1], bin->size_bits);
    if (chosen == table->bins) { /* the tail */
        uint64_t zeros = 0;
        status = count_zeros(random, &zeros);
        question.k += (uint128)zeros << bin->size_bits;
        question.size_bits += zeros + 1;
    }
    if (status == STATUS_OK) {
        status = lazy_is_below(random, (uint64_t)fraction_of(word[2]), TABLE_UNIT_BITS,
                               &probability, &below);
    }
    uint64_t accept = below ? 1 : 0;
    const uint64_t negative = word[2] & (uint64_t)table->shape.both_sides;
    *done = (trial){with_sign((uint64_t)question.k, negative, &accept), accept * ACCEPT};
    bytes_wipe(&question, sizeof question);
    return status;
}

/* Goes through a block one by one. */
static enum status run_careful(const struct noise_table *table, const struct random *random,
                               const uint64_t *word, size_t trials, uint64_t *value,
                               size_t *accepted)
{
    enum status status = STATUS_OK;
    uint64_t *next = value;
    for (size_t i = 0; i < trials && status == STATUS_OK; i++) {
        uint64_t open = 0;
        trial done = try_one(table, &word[TRIAL_WORDS * i]);
        if ((done[FLAGS] & OPEN) != 0) {
            status = decide(table, random, &word[TRIAL_WORDS * i], &done);
        }
        next = store(next, done, &open);
    }
    *accepted = (size_t)(next - value);
    return status;
}

/* Reads one byte of every line of memory in [data, data + bytes). */
static inline uint64_t touch(const void *data, size_t bytes)
{
    const volatile uint8_t *line = data;
    uint64_t seen = line[bytes - 1];
    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        seen |= line[at];
    }
    return seen;
}

/* Brings the whole table into the processor's first cache. Which rows a trial reads follows from
 * what it draws; a row that is rarely drawn would else come from further away, and take longer.
 *
 * Returns 0 in a way that the compiler and the processor know of only when the last line is there:
 * what is looked up at table[0] waits for all of them. */
static inline size_t warm(const struct noise_table *table)
{
    uint64_t seen = touch(table->bin, (table->bins + 2) * sizeof *table->bin);
    seen |= touch(table->cell, sizeof *table->cell << table->cell_bits);
    return (size_t)(seen & mask_of(0));
}

/* value (trials): the accepted ones, gathered without a branch. */
static enum status run(const struct noise_table *table, const struct random *random,
                       const uint64_t *word, size_t trials, uint64_t *value, size_t *accepted)
{
    uint64_t open = 0;
    uint64_t *next = value;
    size_t i = 0;
    for (; i + GROUP <= trials; i += GROUP) {
        next = try_group(table, &word[TRIAL_WORDS * i], next, &open);
    }
    for (; i < trials; i++) {
        next = store(next, try_one(table, &word[TRIAL_WORDS * i]), &open);
    }
    *accepted = (size_t)(next - value);
    if (open == 0) {
        return STATUS_OK;
    }
    const enum status status = run_careful(table, random, word, trials, value, accepted);
    stack_wipe();
    return status;
}

enum status noise_table_draw(const struct noise_table *table, const struct random *random,
                             uint64_t *values, size_t count)
{
    uint64_t word[TRIAL_WORDS * BLOCK_TRIALS];
    uint64_t value[BLOCK_TRIALS];
    size_t done = 0;
    enum status status = STATUS_OK;

    CHECK(table->bin != NULL);
    while (done < count && status == STATUS_OK) {
        size_t accepted = 0;
        size_t left = count - done;
        size_t trials = left < BLOCK_TRIALS / 2 ? left + left / 8 + 4 : BLOCK_TRIALS;
        status = random_fill(random, word, TRIAL_WORDS * trials * sizeof *word);
        if (status == STATUS_OK) {
            status = run(&table[warm(table)], random, word, trials, value, &accepted);
        }
        accepted = accepted < left ? accepted : left;
        memcpy(&values[done], value, accepted * sizeof *value);
        done += accepted;
    }
    if (status != STATUS_OK) {
        bytes_wipe(values, count * sizeof *values);
    }
    bytes_wipe(word, sizeof word);
    bytes_wipe(value, sizeof value);
    return status;
}
