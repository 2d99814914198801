/* file.h - whole files: read within a limit, written so that a reader never sees half of one. */

#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

/**
 * Reads a whole file.
 *
 * text       out  malloc'd, with a zero after its size bytes; the caller frees it
 * bytes_max  in   a larger file is refused
 *
 * Fails with STATUS_NOT_FOUND, STATUS_INVALID (too large, a folder), STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status file_read(char **text, size_t *size, const char *path, size_t bytes_max,
                               struct why *why);

/**
 * Replaces or creates a file: a temporary one beside it is written, synced and renamed.
 *
 * mode  in  permission bits, for example 0644
 *
 * Fails with STATUS_IO; what was there before is then still there.
 */
MUST_USE enum status file_write(const char *path, struct slice bytes, unsigned mode,
                                struct why *why);

#endif
