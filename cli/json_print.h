/* json_print.h - what `--json` prints. */

#ifndef CLI_JSON_PRINT_H
#define CLI_JSON_PRINT_H

#include "base/status.h"

#include <jansson.h>

/** Prints the object, which it takes, with 17 digits, to standard output. Fails with
 * STATUS_NO_MEMORY, also where object is NULL. */
MUST_USE enum status json_print(json_t *object);

#endif
