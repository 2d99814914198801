/* table_row.h - a table's bins for kernels that work on several trials at once; private to this
 * room and its tests. table_row.c tells how exact they are. */

#ifndef NOISE_TABLE_ROW_H
#define NOISE_TABLE_ROW_H

#include "noise/table.h"

enum {
    ROW_BYTES = 64,       /* a line of a processor's cache; rows begin with one */
    ROW_TERMS = 7,        /* of a polynomial have 64 bits, */
    REST_TERMS = 7,       /* and the next ones 32 */
    ROW_UNIT_BITS = 50,   /* number n is in units of 2^-(50 + n), */
    ROW_NARROW_BITS = 12, /* or in units 2^12 times as large */
    ROW_MARGIN_BITS = 51, /* margins are in units of 2^-51 */
    ROW_FREE_SHIFT = 56
};

#define ROW_OPEN (UINT64_C(1) << 63)

/* place: the bin's start, from ROW_FREE_SHIFT on 64 - size_bits, and ROW_OPEN for the tail, where
 * every trial is open. */
struct noise_row {
    uint64_t place;
    int64_t term[ROW_TERMS];
};

struct noise_rest {
    int32_t term[REST_TERMS];
    uint32_t margin; /* a trial is open when its third word is as near to the polynomial as this */
};

/** Returns how many bytes the rows of that many bins have, with their rests after them. */
static inline size_t noise_rows_bytes(size_t bins)
{
    return (bins + 2) * (sizeof(struct noise_row) + sizeof(struct noise_rest));
}

/**
 * Fills a bin's row.
 *
 * bin    in  start and size_bits are used
 * term   in  (TABLE_TERMS) of the polynomial, in units of 2^-62
 * error  in  how far that polynomial may be from the probability; certainty is 1
 */
void noise_row_fill(struct noise_row *row, struct noise_rest *rest, const struct noise_bin *bin,
                    const int64_t *term, double error);

/** Fills the tail's row, and the one that refuses every trial. */
void noise_row_tail(struct noise_row *row, struct noise_rest *rest, const struct noise_bin *bin);
void noise_row_refuse(struct noise_row *row, struct noise_rest *rest);

#endif
