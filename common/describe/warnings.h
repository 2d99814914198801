/* warnings.h - cells that a job can make nothing of, told to their holder: a label in another
 * spelling, a column in another unit. For a screen alone: no log, frame or exit code says any of it. */

#ifndef DESCRIBE_WARNINGS_H
#define DESCRIBE_WARNINGS_H

#include "base/status.h"
#include "base/why.h"
#include "dictionary/dictionary.h"
#include "learn/dataset.h"
#include "learn/schema.h"

#include <stddef.h>
#include <stdio.h>

/* The function that prints the sentences, and how many there were. */
struct warnings {
    void (*say)(const char *text);
    size_t count;
};

/**
 * Reads a label's column and warns where one of its classes has no cell, or a cell is neither of two named
 * classes. A number as label, which dataset_read clamps, is passed over.
 *
 * warnings  in-out
 * file      in      open for reading, at its start; the caller closes it
 * name      in      how messages call the file
 * options   in      as dataset_read
 *
 * Fails with STATUS_INVALID (the header line lacks the label's column), STATUS_IO, STATUS_NO_MEMORY.
 * Privacy: counts over records. For a cell it shows the line, and the text only where it is another spelling of
 * one of the label's own texts ("1.0" for "1", "Yes" for "yes").
 */
MUST_USE enum status warnings_of_label(struct warnings *warnings, FILE *file, const char *name,
                                       const struct label *label,
                                       const struct dataset_options *options, struct why *why);

/** Warns of columns, and of a number as label, where no cell has a meaning, or nine numbers in ten are beyond the job's
 * bounds. data: what dataset_read made of the table under this schema. */
void warnings_of_columns(struct warnings *warnings, const struct dataset *data,
                         const struct schema *schema);

/** Warns of a column of numbers where a tenth of the cells or more are one number, or that has few different ones: what takes
 * its values to lie smoothly is about others. data: with its cells (schema's keeps_raw). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status warnings_of_heap(struct warnings *warnings, const struct dataset *data,
                                      const struct schema *schema, size_t column);

/** As warnings_of_columns, by the dictionary's ranges and categories. data: of describe_cells. */
void warnings_of_dictionary(struct warnings *warnings, const struct dataset *data,
                            const struct dictionary *dictionary);

#endif
