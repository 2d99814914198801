/* dataset.h - an institution's records as features and labels, built by the public schema alone. The
 * reading is total: whatever stands in the records, every one of them becomes a record, by itself.
 * What may fail is public or has nothing to do with them: the file, its header line, memory. */

#ifndef LEARN_DATASET_H
#define LEARN_DATASET_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

#include <stddef.h>
#include <stdio.h>

/* What was met in one column's cells. Private: computed from the records, for the institution's own
 * operator only. */
struct cell_counts {
    size_t missing;  /* empty or NA */
    size_t unlisted; /* a text that is no number, or none of the categories or classes */
    size_t clamped;  /* numbers beyond the public bounds */
    size_t commas;   /* of the unlisted: numbers with a decimal comma */
    size_t line;     /* of the first unlisted one, from 1; 0: there is none */
};

/* m = record_count, d = feature_count */
struct dataset {
    size_t record_count;
    size_t feature_count;
    double *x;           /* (m, d) row by row; the norm of every row is at most 1; owned */
    double *y;           /* (m) as the label's kind says: schema.h; NULL when the table was read for
                            prediction; owned */
    size_t column_count; /* the schema's */
    double *raw;         /* (m, column_count) cells as they are, for questions: a number as in the
                            file, NAN where missing or no number; a category's index, NAN where
                            missing, FEATURES_UNLISTED where none; NULL unless the schema keeps
                            them; owned */
    double *raw_label;   /* (m) the label alike: a number or a class's index; of two classes y. NULL
                            where raw or y is; owned */
    struct cell_counts *counts; /* (column_count + 1) the label's are the last; owned */
    size_t wrong_rows;  /* rows with more or fewer fields than the header line, with a quote that
                            never closes, or too long: private as the counts are */
    size_t wrong_line;  /* of the first of them */
    size_t filled_rows; /* rows of missing cells that were added to make up row_count */
};

enum dataset_use {
    DATASET_LEARN,  /* the label is needed, and at least two records */
    DATASET_PREDICT /* the label's column may be absent and is not read; one record will do. In a
                       series it must be there, as lags come from it */
};

enum { DATASET_ALL_ROWS = 0 };

struct dataset_options {
    enum dataset_use use;
    char separator;    /* as csv_new */
    size_t line_bytes; /* where the lines after the header line are cut: csv_limit_lines */
    size_t
        row_count; /* how many rows are used, by public knowledge: what the site's data dictionary
                         admits. Rows beyond it are not read; rows that the file does not have are
                         made of missing cells. DATASET_ALL_ROWS: as many as the file has, for the
                         simulator, for predictions and for tests */
};

/**
 * Reads a table. Columns may stand in any order; those the schema does not name are ignored. In a
 * series the rows are days in the order of time, and the first max(lag) of them give no record;
 * records keep that order. What each line is: csv.h. What each cell becomes:
 *
 * number     clamped to its public bounds; missing (empty, NA) or no number (as base/decimal.h reads cells): what the
 *            schema says in its place, or the centre
 * category   its index; missing: what the schema says, or as unlisted; unlisted: the schema's
 *            `other`, or none of them
 * label      two classes: any text but the positive one is the negative class; several: an unlisted
 *            or missing text is the schema's `other`, or the last; a number that is missing or none:
 *            the centre, also as a lag of later days
 *
 * A field that a row does not have is a missing cell; fields it has too many are ignored.
 *
 * out      out  whole, or zeroed on failure; dataset_free
 * file     in   read to its end or to the last row used; the caller closes it
 * name     in   how messages call the file
 *
 * Fails with STATUS_INVALID (the header line lacks a column, or names it twice; too few rows; `why`
 * says what to do), STATUS_IO, STATUS_NO_MEMORY.
 * Ensures that a row changes no record but its own, in a series the records of later days that look
 * at it; with a row_count, that nothing but x, y, raw and the counts depends on any row.
 * Privacy: everything here stays with the institution.
 */
MUST_USE enum status dataset_read(struct dataset *out, FILE *file, const char *name,
                                  const struct schema *schema,
                                  const struct dataset_options *options, struct why *why);

/** The same from memory; an empty text is an empty file. */
MUST_USE enum status dataset_parse(struct dataset *out, struct slice text, const char *name,
                                   const struct schema *schema,
                                   const struct dataset_options *options, struct why *why);

/** Appends all datasets of one schema into one: the simulator's pooled table. Fails with
 * STATUS_NO_MEMORY. CHECKs that they have the same shape and at least one is given. */
MUST_USE enum status dataset_concat(struct dataset *out, const struct dataset *const *from,
                                    size_t count);

/** Returns the sum of the counts over the columns and the label. Private, as they are. */
struct cell_counts dataset_count(const struct dataset *dataset);

/** Wipes the records and frees; dataset_free(NULL) does nothing. */
void dataset_free(struct dataset *dataset);

/**
 * Prints every column in which cells are missing, unlisted or clamped, with the counts, and how many
 * rows do not have the header line's fields. Prints nothing where there is none.
 *
 * prefix   in  what every line begins with
 * name_of  in  what a column's counts are headed by, such as schema_name_of; self is handed on
 *
 * Privacy: exact counts over records. For the screen of the records' holder, and for no log.
 */
void cells_show(FILE *stream, const char *prefix, const struct dataset *data,
                const char *(*name_of)(const void *self, size_t column), const void *self);

#endif
