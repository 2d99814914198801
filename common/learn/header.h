/* header.h - finds columns in a table's header line. */

#ifndef LEARN_HEADER_H
#define LEARN_HEADER_H

#include "base/status.h"
#include "base/why.h"
#include "learn/csv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct header {
    const struct csv *csv;  /* its first record has been read */
    const char *name;       /* how messages call the table */
    const char *asked_by;   /* what lists the columns: "the job", a dictionary's file name */
    const char *dictionary; /* what a separator is written in: the file's name, if it is known */
    size_t field_count;     /* of the first line */
    bool is_of_a_model;     /* the columns are what a model needs */
    bool shows_near;        /* a person who holds the table reads the messages: no log does */
};

/**
 * Finds the field with this name.
 *
 * Fails with STATUS_INVALID when the line names it twice or not at all; why says what is there in its place:
 * another separator, or nearly the same name.
 * Privacy: a message repeats nothing of the line, as that may be a record where a line of names was left
 * out. It may show a name that differs from the one asked for in case, spaces and punctuation alone; with
 * shows_near also the one that is a few slips away, if it is no number.
 */
MUST_USE enum status header_need(size_t *field, const struct header *header, const char *column,
                                 struct why *why);

#endif
