/* shown.h - a data dictionary that an agent shows: hostile text until it has been read. */

#ifndef COORDINATOR_SHOWN_H
#define COORDINATOR_SHOWN_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

/**
 * Checks what came in a DICTIONARY.
 *
 * digest   in   as the message says
 * columns  out  how many the dictionary has
 *
 * Fails with STATUS_INVALID (another digest, no dictionary), STATUS_UNSUPPORTED, STATUS_NO_MEMORY.
 */
MUST_USE enum status shown_check(const struct digest *digest, struct slice text, size_t *columns,
                                 struct why *why);

#endif
