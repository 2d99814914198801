/* table_kernel.h - what turns random words into accepted trials of a table; private to this room
 * and its tests. table.c tells the method. Kernels differ in which trials they leave open, and
 * these are decided exactly: so all of them give the same values from the same words. */

#ifndef NOISE_TABLE_KERNEL_H
#define NOISE_TABLE_KERNEL_H

#include "noise/table_row.h"

#include "base/mask.h"

enum {
    TABLE_TRIAL_WORDS = 3,
    TABLE_TRIALS_MAX = 128 /* of one call: words and values leave room for rows in a first cache */
};

/* The result of one trial: its value, with its sign, and its flags. Two numbers in one register,
 * which no address and no product uses. */
typedef uint64_t noise_trial __attribute__((vector_size(2 * sizeof(uint64_t))));
enum { TRIAL_VALUE, TRIAL_FLAGS };
enum { TRIAL_ACCEPT = 1, TRIAL_OPEN = 2 /* to be decided exactly */ };

/**
 * Writes the values of the accepted trials, in their order.
 *
 * word      in   (TABLE_TRIAL_WORDS * trials) those of a trial side by side
 * trials    in   at most TABLE_TRIALS_MAX
 * value     out  (TABLE_TRIALS_MAX) the first *accepted of them; the rest is unspecified
 *
 * Returns whether every trial was decided; else the values are to be thrown away, and the words to
 * be gone through again one by one.
 */
struct noise_table_kernel {
    const char *name;
    bool (*run)(const struct noise_table *table, const uint64_t *word, size_t trials,
                uint64_t *value, size_t *accepted);
};

extern const struct noise_table_kernel noise_table_plain;

/** Returns kernel i of those that this processor can run, NULL when there are fewer; slowest first:
 * number 0 is the plain one. */
const struct noise_table_kernel *noise_table_kernel_at(size_t i);

/** One trial by the plain kernel. */
noise_trial noise_table_try(const struct noise_table *table, const uint64_t *word);

/** The uniform numerator of 2^62 that a third word stands for. Its two lowest bits are spare. */
static inline int64_t noise_table_fraction(uint64_t word)
{
    return (int64_t)(word >> (64 - TABLE_UNIT_BITS));
}

/** Where in a bin of 2^size_bits numbers a second word points. */
static inline uint64_t noise_table_offset(uint64_t word, unsigned size_bits)
{
    return word >> 1 >> (63 - size_bits);
}

/** Which bin a first word chooses. */
__attribute__((always_inline)) static inline uint64_t
noise_table_choose(const struct noise_table *table, uint64_t word)
{
    const unsigned low_bits = 64 - table->cell_bits;
    const struct noise_cell *cell = &table->cell[word >> low_bits];
    const uint64_t low = word & ((UINT64_C(1) << low_bits) - 1);
    const uint64_t second = 0 - (uint64_t)(low >= cell->threshold);
    return cell->bin[0] ^ ((cell->bin[0] ^ cell->bin[1]) & second);
}

/** value with the sign of `negative` (0 or 1); *accept is cleared for minus zero. */
__attribute__((always_inline)) static inline uint64_t
noise_table_sign(uint64_t value, uint64_t negative, uint64_t *accept)
{
    *accept &= (negative ^ 1) | (uint64_t)(value != 0);
    return (value ^ (0 - negative)) + negative;
}

/** Stores a value, and returns where the next one goes: on top of it unless it is accepted. */
__attribute__((always_inline)) static inline uint64_t *
noise_table_store(uint64_t *value, noise_trial done, uint64_t *open)
{
    *value = done[TRIAL_VALUE];
    *open |= done[TRIAL_FLAGS] & TRIAL_OPEN;
    return value + (done[TRIAL_FLAGS] & TRIAL_ACCEPT);
}

/** Reads one byte of every line of memory in [data, data + bytes). */
static inline uint64_t noise_table_touch(const void *data, size_t bytes)
{
    const volatile uint8_t *line = data;
    uint64_t seen = line[bytes - 1];
    for (size_t at = 0; at < bytes; at += ROW_BYTES) {
        seen |= line[at];
    }
    return seen;
}

/**
 * Brings a kernel's rows, and the cells, into the processor's first cache. Which rows a trial reads
 * follows from what it draws; a row that is rarely drawn would else come from further away, and
 * take longer.
 *
 * Returns 0 in a way that the compiler and the processor know of only when the last line is there:
 * what is looked up at table[0] waits for all of them.
 */
static inline size_t noise_table_warm(const struct noise_table *table, const void *rows,
                                      size_t bytes)
{
    uint64_t seen = noise_table_touch(rows, bytes);
    seen |= noise_table_touch(table->cell, sizeof *table->cell << table->cell_bits);
    return (size_t)(seen & mask_of(0));
}

#endif
