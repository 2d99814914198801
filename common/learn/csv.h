/* csv.h - reads a table of comma-separated values (RFC 4180) record by record, in bounded memory,
 * and without ever repeating a value in a message. */

#ifndef LEARN_CSV_H
#define LEARN_CSV_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CSV_RECORD_BYTES_MAX = 1024 * 1024, CSV_FIELDS_MAX = 16384 };

struct csv; /* one pass over one file */

/**
 * Starts to read a table. A byte-order mark at the start is skipped; lines end in LF or CRLF.
 *
 * file  in  keeps; open for reading, at its start; the caller closes it
 * name  in  keeps; how messages call the file
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status csv_new(struct csv **csv, FILE *file, const char *name);

/** Wipes and frees; csv_free(NULL) does nothing. */
void csv_free(struct csv *csv);

/**
 * Reads the next record. Blank lines at the end of the file are ignored.
 *
 * done  out  true when there is none left; nothing else is then valid
 *
 * Fails with STATUS_INVALID (a record over CSV_RECORD_BYTES_MAX, too many fields, misplaced quote,
 * NUL byte, lone carriage return, blank line amid the records: `why` names file, line and remedy,
 * never a value), STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status csv_next(struct csv *csv, bool *done, struct why *why);

/** The record just read: its fields (unquoted; valid until the next call), the line it starts on
 * (from 1), and its bytes as they stand in the file, without the line's end. */
size_t csv_field_count(const struct csv *csv);
struct slice csv_field(const struct csv *csv, size_t field);
size_t csv_line(const struct csv *csv);
struct slice csv_raw(const struct csv *csv);

/**
 * Copies a table's records into shares; every share gets the header line. For the simulator and for
 * `up` scripts, which play the part of institutions that each hold their own records.
 *
 * share     in  (share_count) open for writing
 * share_of  in  (record_count) below share_count; which share record i goes to
 *
 * Fails with STATUS_INVALID (also when the file does not have record_count records), STATUS_IO,
 * STATUS_NO_MEMORY.
 */
MUST_USE enum status csv_split(FILE *file, const char *name, FILE *const *share, size_t share_count,
                               const size_t *share_of, size_t record_count, struct why *why);

#endif
