/* csv.h - reads a table line by line, in bounded memory, and without ever repeating a value in a
 * message. A line is a record: whatever its bytes are, it is one, and no other record changes. */

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
 * file       in  keeps; open for reading, at its start; the caller closes it
 * name       in  keeps; how messages call the file
 * separator  in  what stands between two fields: ',' or ';' or '\t'; 0: what stands in the first line
 *                most often (csv_likely_separator), where the table's holder says nothing
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status csv_new(struct csv **csv, FILE *file, const char *name, char separator);

/**
 * Cuts the lines from here on at that many bytes; 0: at CSV_RECORD_BYTES_MAX, as before the call.
 *
 * line_bytes  in  at most CSV_RECORD_BYTES_MAX, CHECKed
 */
void csv_limit_lines(struct csv *csv, size_t line_bytes);

/** Wipes and frees; csv_free(NULL) does nothing. */
void csv_free(struct csv *csv);

/**
 * Reads the next record: the next line. Every line has a meaning:
 *
 * - A field that begins with a quote ends at the next one; a doubled quote inside it is one quote.
 *   What follows the closing quote, up to the separator, belongs to the field.
 * - If the line ends before the quote closes, the field is the rest of the line with its quote. So a
 *   line break inside quotes ends the record.
 * - A quote that does not stand first in its field is a character like any other, as is a NUL byte.
 * - What lies beyond CSV_RECORD_BYTES_MAX, or csv_limit_lines, is not read: neither the field that is
 *   cut there nor those behind it exist. Fields beyond CSV_FIELDS_MAX do not exist either.
 * - A blank line is a record of one empty field; blank lines at the end of the file are no records.
 *
 * done  out  true when there is none left; nothing else is then valid
 *
 * Fails with STATUS_IO and STATUS_NO_MEMORY alone.
 */
MUST_USE enum status csv_next(struct csv *csv, bool *done, struct why *why);

/** The record just read: its fields (unquoted; valid until the next call; empty from its field count
 * on), the line it stands on (from 1), and its bytes as they stand in the file, without the line's
 * end. */
size_t csv_field_count(const struct csv *csv);
struct slice csv_field(const struct csv *csv, size_t field);
size_t csv_line(const struct csv *csv);
struct slice csv_raw(const struct csv *csv);

/** Answers whether a quote of the record never closes, or the record is too long. */
bool csv_is_broken(const struct csv *csv);

/** Returns what stands between two fields; valid after the first record. */
char csv_separator(const struct csv *csv);

/** Returns how often a separator stands in a line, outside of quotes. */
size_t csv_count(struct slice line, char separator);

/** Returns the separator that stands in a line most often, outside of quotes; a comma where there is none. */
char csv_likely_separator(struct slice line);

/** Answers whether a field says that there is no value. */
bool csv_is_missing(struct slice field);

/** Returns "comma", "semicolon" or "tab". */
const char *csv_separator_name(char separator);

/**
 * Copies a table's records into shares; every share gets the header line. For the simulator and for
 * `up` scripts, which play the part of institutions that each hold their own records.
 *
 * share      in  (share_count) open for writing
 * share_of   in  (record_count) below share_count; which share record i goes to
 * separator  in  as csv_new; the shares keep it
 *
 * Fails with STATUS_INVALID (when the file does not have record_count records), STATUS_IO,
 * STATUS_NO_MEMORY.
 */
MUST_USE enum status csv_split(FILE *file, const char *name, char separator, FILE *const *share,
                               size_t share_count, const size_t *share_of, size_t record_count,
                               struct why *why);

#endif
