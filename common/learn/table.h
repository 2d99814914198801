/* table.h - opens a table of records: a plain text, or one that gzip has packed. */

#ifndef LEARN_TABLE_H
#define LEARN_TABLE_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_UNPACK_BYTES = 161 * 1024 }; /* what unpacking takes, whatever is packed */

/**
 * Opens a table for reading. A file that begins as gzip does is unpacked while it is read, of one member
 * or several, whatever it is called. It is unpacked once before that, to nowhere: so whether a packed
 * table can be read depends on the file, and not on which of its rows are used. This takes time in
 * proportion to the unpacked text, which is at most 1,032 times the file's size.
 *
 * file  out  open at the text's start, without a buffer, which would be freed unwiped: read large
 *            blocks; the caller closes it
 *
 * Fails with STATUS_IO (it cannot be opened or read), STATUS_INVALID (not a regular file; packed data that are
 * damaged or cut short), STATUS_NO_MEMORY; never waits for a pipe or a device. A file that changes while it is read ends with a read error, EBADMSG.
 * Ensures that reading takes at most TABLE_UNPACK_BYTES, which are wiped when the file is closed.
 */
MUST_USE enum status table_open(FILE **file, const char *path, struct why *why);

/** Opens a table that is read only once: as table_open, and a pipe without a name too, for example standard input. */
MUST_USE enum status table_open_once(FILE **file, const char *path, struct why *why);

/** Answers whether a file begins as gzip's do; not where it cannot be read, or is a pipe. */
bool table_is_packed(const char *path);

#endif
