/* table.h - exact samples of any non-increasing distribution on 0, 1, 2, ... whose probabilities
 * are known up to a common factor, in trials that all take the same time. gaussian.h and share.h
 * are the distributions; nobody else needs this header. table.c has the method. */

#ifndef NOISE_TABLE_H
#define NOISE_TABLE_H

#include "base/random.h"
#include "base/wide.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLE_TERMS = 16,       /* of a bin's polynomial */
    TABLE_TERMS_WIDE = 9,   /* the first of them have 64 bits, the others 32 */
    TABLE_BINS_MAX = 4094,  /* 12 bits of the first word choose a cell at most */
    TABLE_UNIT_BITS = 62,   /* probabilities are in units of 2^-62 */
    TABLE_NARROW_BITS = 52, /* coefficients of 32 bits are in units of 2^-52 */
    TABLE_PRECISION = 128,  /* of what a shape expands */
    TABLE_LONG = 1024       /* a call for this many values asks for more words at once */
};

/* A distribution: f(k) > 0, non-increasing, the same factor left out everywhere. */
struct noise_shape {
    /** Encloses f(k), as struct real does. */
    void (*enclose)(const void *self, uint128 k, mpfr_t low, mpfr_t high);
    /**
     * Expands f over a bin of 2^size_bits numbers from start on: f(center + h t) / f(center) is
     * sum term[n] t^n within *error wherever -1 <= t <= 1, for h = 2^(size_bits - 1), center =
     * start + h; value is f(center). A bin of one number is one term, at start. The sum of
     * |term[n]| stays below 1.5 f(start)/f(center), that from TABLE_TERMS_WIDE on below 2^-21 of it.
     *
     * error  out  also covers what value is wrong by, relative to itself; below 2^-20
     */
    void (*expand)(const void *self, uint64_t start, unsigned size_bits, mpfr_t *term, mpfr_t value,
                   double *error);
    const void *self;
    /* The bin that begins at start: how many bits its size has. */
    unsigned (*size_bits)(const void *self, uint64_t start);
    uint64_t end;       /* the table covers k < end, or a little more */
    unsigned tail_bits; /* from end on f(k + 2^tail_bits) <= f(k)/2 */
    unsigned terms;     /* of a bin's polynomial, above TABLE_TERMS_WIDE; the others are 0 */
    bool both_sides;    /* draw z with P(z) ~ f(|z|) in place of k */
};

struct noise_bin {
    uint64_t start;
    uint64_t margin; /* the polynomial's largest error, and one; more than any word for the tail */
    int64_t wide[TABLE_TERMS_WIDE];
    int32_t narrow[TABLE_TERMS - TABLE_TERMS_WIDE];
    uint32_t size_bits;
};

/* A word's first bits choose a cell, the others which of its two bins. */
struct noise_cell {
    uint64_t threshold;
    uint32_t bin[2];
};

struct noise_row; /* table_row.h */
struct noise_rest;
struct noise_table_kernel; /* table_kernel.h */

struct noise_table {
    struct noise_bin *bin; /* (bins + 2): the last two are the tail and immediate rejection */
    struct noise_row
        *row; /* (bins + 2), the same for kernels that work on several trials at once */
    struct noise_rest *rest; /* (bins + 2), in row's memory */
    uint64_t *mass;          /* (bins + 2): of the 2^64 words; adds up to 2^64 */
    struct noise_cell *cell; /* (2^cell_bits) */
    size_t bins;
    unsigned cell_bits;
    mpfr_t factor;                           /* K of table.c; a binary fraction, exact */
    const struct noise_table_kernel *kernel; /* the fastest that this processor has */
    struct noise_shape shape;
};

/**
 * Makes the table of a shape.
 *
 * table  out  caller owns; noise_table_free
 * shape  in   copied; keeps shape->self
 *
 * Fails with STATUS_NO_MEMORY, or STATUS_INVALID when there would be too many bins.
 */
MUST_USE enum status noise_table_make(struct noise_table *table, const struct noise_shape *shape);

/** Frees what the table owns and zeroes it. A zeroed table is fine. */
void noise_table_free(struct noise_table *table);

/**
 * Draws independent values.
 *
 * values  out  (count); wiped on failure
 *
 * Fails with STATUS_NO_RANDOM.
 */
MUST_USE enum status noise_table_draw(const struct noise_table *table, const struct random *random,
                                      uint64_t *values, size_t count);

/** Adds to every value (count), modulo 2^64, an independent draw (each 1), or the difference of two (each 2). Fails likewise; then
 * all values are zero, as a part of them may be without noise. */
MUST_USE enum status noise_table_add(const struct noise_table *table, const struct random *random,
                                     int64_t *values, size_t count, size_t each);

/** Encloses the probability, 0 .. 1, with which the bin is to accept k; size_bits is the bin's, for
 * the tail's c-th bin it is tail_bits + c + 1. */
void noise_table_enclose(const struct noise_table *table, size_t bin, unsigned long size_bits,
                         uint128 k, mpfr_t low, mpfr_t high);

#endif
