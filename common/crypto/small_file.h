/* small_file.h - the small text files that hold keys: read with a limit, made anew, or replaced
 * whole. */

#ifndef CRYPTO_SMALL_FILE_H
#define CRYPTO_SMALL_FILE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

enum small_file_kind {
    SMALL_FILE_PUBLIC, /* anybody may read it */
    SMALL_FILE_SECRET  /* refused when anybody but its owner may */
};

/**
 * Reads a regular file as text.
 *
 * text  out  (size) what is in the file, and a final zero
 * used  out  without the zero
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (not a regular file, larger than size - 1,
 * with a zero byte, or a secret that others may read).
 * Privacy: why never repeats content.
 */
MUST_USE enum status small_file_read(char *text, size_t size, size_t *used, const char *path,
                                     enum small_file_kind kind, struct why *why);

/** Writes a file that must not exist yet; on disk when it returns. Fails with STATUS_EXISTS,
 * STATUS_IO. */
MUST_USE enum status small_file_create(const char *path, struct slice text,
                                       enum small_file_kind kind, struct why *why);

/** Puts a new file in the place of path, which is whole at any moment, the old or the new one; on
 * disk when it returns. The owner and mode of the old file are kept. Fails with STATUS_IO, STATUS_INVALID (path is a
 * symbolic link, or no file). */
MUST_USE enum status small_file_replace(const char *path, struct slice text, struct why *why);

/** Cuts the next line off text: returns its start, ends it with a zero in place, without spaces or
 * a carriage return at its end; NULL after the last. rest is where to go on; starts as the text. */
char *small_file_line(char **rest);

#endif
