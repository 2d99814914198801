/* file.h - whole files: read within a limit, written so that a reader never sees half of one. */

#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

enum file_kind {
    FILE_PUBLIC, /* anybody may read it */
    FILE_SECRET  /* refused when anybody but its owner may */
};

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
 * Reads a small text file, as those that hold keys.
 *
 * text  out  (size) what is in the file, and a final zero
 * used  out  without the zero
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (not a regular file, larger than size - 1,
 * with a zero byte, or a secret that others may read); text is then wiped.
 * Privacy: why never repeats content.
 */
MUST_USE enum status file_read_text(char *text, size_t size, size_t *used, const char *path,
                                    enum file_kind kind, struct why *why);

/**
 * Replaces or creates a file: a temporary one beside it is written, synced and renamed, and the folder synced.
 *
 * mode  in  permission bits, for example 0644
 *
 * Fails with STATUS_IO, also where path is a symbolic link, a device or a pipe: none of these is replaced. What was there
 * before is then still there, unless the folder's sync alone failed: then the new one is there, and a power failure may
 * bring the old one back.
 */
MUST_USE enum status file_write(const char *path, struct slice bytes, unsigned mode,
                                struct why *why);

/** Writes a file that must not exist yet; on disk when it returns. Fails with STATUS_EXISTS,
 * STATUS_IO. */
MUST_USE enum status file_create(const char *path, struct slice text, enum file_kind kind,
                                 struct why *why);

/** Replaces a file as file_write does, with the owner and mode of the old one (0600 where there was none); on disk when
 * it returns. Fails with STATUS_IO, STATUS_INVALID (path is a symbolic link, or no file). */
MUST_USE enum status file_replace(const char *path, struct slice text, struct why *why);

/** Cuts the next line off text: returns its start, ends it with a zero in place, without spaces or
 * a carriage return at its end; NULL after the last. rest is where to go on; starts as the text. */
char *file_line(char **rest);

/* What is in a folder, as one text: for a program that looks again and again whether it has changed. */

/**
 * Lists the names in a folder, but for those that begin with a dot: sorted, each ended by a line feed.
 *
 * text  out  malloc'd, with a zero after its size bytes; the caller frees it
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status file_names(char **text, size_t *size, const char *path, struct why *why);

#endif
