/* folder.h - what is in a folder, as one text: for a program that looks again and again whether it has changed. */

#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

/**
 * Lists the names in a folder, but for those that begin with a dot: sorted, each ended by a line feed.
 *
 * text  out  malloc'd, with a zero after its size bytes; the caller frees it
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status folder_names(char **text, size_t *size, const char *path, struct why *why);

#endif
