/* dataset.h - an institution's records as features and labels, built by the public schema alone. */

#ifndef LEARN_DATASET_H
#define LEARN_DATASET_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

#include <stddef.h>
#include <stdio.h>

/* m = record_count, d = feature_count */
struct dataset {
    size_t record_count;
    size_t feature_count;
    double *x;           /* (m, d) row by row; the norm of every row is at most 1; owned */
    double *y;           /* (m) as the label's kind says: schema.h; NULL when the table was read for
                            prediction; owned */
    size_t column_count; /* the schema's */
    double *raw;         /* (m, column_count) cells: a number transformed and clamped to centre +-
                            half_width, a category's index; NULL unless the schema keeps them;
                            owned */
    size_t *clamped;     /* (column_count) values out of their public bounds. Private: computed from
                            the records, for the institution's own operator only; owned */
    size_t label_clamped; /* the same of a number's label */
};

enum dataset_use {
    DATASET_LEARN,  /* the label is needed, and at least two records */
    DATASET_PREDICT /* the label's column may be absent and is not read; one record will do. In a
                       series it must be there, as lags come from it, but may be empty on days that
                       no later day looks back at: the days to forecast */
};

/**
 * Reads a table. Columns may stand in any order; those the schema does not name are ignored. A
 * value out of its public bounds is clamped to them and counted. In a series the rows are days in
 * the order of time, and the first max(lag) of them give no record; records keep that order.
 *
 * out     out  whole, or zeroed on failure; dataset_free
 * file    in   read to its end; the caller closes it
 * name    in   how messages call the file
 *
 * Fails with STATUS_INVALID (`why` names file, line, column and remedy, and never a value),
 * STATUS_IO, STATUS_NO_MEMORY.
 * Privacy: everything here stays with the institution; nothing about the outcome may be told.
 */
MUST_USE enum status dataset_read(struct dataset *out, FILE *file, const char *name,
                                  const struct schema *schema, enum dataset_use use,
                                  struct why *why);

/** The same from memory; an empty text is an empty file. */
MUST_USE enum status dataset_parse(struct dataset *out, struct slice text, const char *name,
                                   const struct schema *schema, enum dataset_use use,
                                   struct why *why);

/** Appends all datasets of one schema into one: the simulator's pooled table. Fails with
 * STATUS_NO_MEMORY. CHECKs that they have the same shape and at least one is given. */
MUST_USE enum status dataset_concat(struct dataset *out, const struct dataset *const *from,
                                    size_t count);

/** Returns the sum of clamped over the columns, and the label's. */
size_t dataset_clamped_total(const struct dataset *dataset);

/** Wipes the records and frees; dataset_free(NULL) does nothing. */
void dataset_free(struct dataset *dataset);

#endif
