/* describe.h - drafts a data dictionary from a table of records, for a person to correct. */

#ifndef DESCRIBE_DESCRIBE_H
#define DESCRIBE_DESCRIBE_H

#include "base/status.h"
#include "base/why.h"
#include "dictionary/dictionary.h"
#include "learn/dataset.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    DESCRIBE_CATEGORIES_MAX = 32, /* a column with more distinct texts is drafted without a list */
    DESCRIBE_HOLDERS_MIN = 5      /* a text that fewer records hold is not listed */
};

struct describe_options {
    uint64_t record_count;     /* what the draft states; 0: describe_rounded of the rows read */
    bool exact;                /* in place of these two, the rows read: for rehearsals */
    char separator;            /* as csv_new */
    const char *name;          /* of the data set; NULL or "": it gets none */
    const struct schema *only; /* draft these columns alone; NULL: all of the table's */
};

/* What only the site's person may know. */
struct describe_counts {
    uint64_t rows;           /* records that were read */
    uint64_t commas;         /* cells with a decimal comma, which agents do not read as numbers */
    uint64_t cut;            /* records whose lines are longer than the draft's line_bytes */
    size_t left;             /* columns that were left out: names that no job can write */
    size_t left_first;       /* the first of them, from 1, */
    const char *left_reason; /* and what is wrong with its name */
};

/** Returns rows rounded down: to two significant digits, below 100 to one, below 10 to 2. */
uint64_t describe_rounded(uint64_t rows);

/**
 * Reads a table and writes a dictionary for it: numbers and categories told apart by what most cells
 * hold, the categories that enough records hold listed, the number of records rounded down.
 *
 * text   out  the file's text, the caller frees it
 * counts out
 * file   in   open for reading, at its start; the caller closes it
 * name   in   how messages call the file
 *
 * Fails with STATUS_INVALID (not a table; fewer than two rows; a name or a text of a draft's column that is not
 * UTF-8, with its line), STATUS_IO, STATUS_NO_MEMORY.
 * Privacy: kinds and category lists come from the records. The draft is for the site's own person.
 */
MUST_USE enum status describe_table(char **text, struct describe_counts *counts, FILE *file,
                                    const char *name, const struct describe_options *options,
                                    struct why *why);

/**
 * Counts what a table's cells are beside its dictionary: missing, no number or not among the listed categories,
 * outside low and high. Rows beyond those that the dictionary states are not looked at.
 *
 * out   out  counts by the dictionary's columns, wrong_rows, and in record_count all rows of the file; no
 *            record. dataset_free
 * file  in   open for reading, at its start; the caller closes it
 *
 * Fails with STATUS_INVALID (the header line lacks a column of the dictionary), STATUS_IO, STATUS_NO_MEMORY.
 * Privacy: exact counts over records, for the screen of the site's own person.
 */
MUST_USE enum status describe_cells(struct dataset *out, FILE *file, const char *name,
                                    const struct dictionary *dictionary, struct why *why);

#endif
