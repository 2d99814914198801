/* output.h - what a command printed has to have arrived before it may end with 0. */

#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/exit_code.h"

/**
 * Writes out what standard output still holds. Call it last: a full disk or a closed pipe shows there.
 *
 * program  in  the name that the message begins with, on standard error
 * code     in  what the command came to
 *
 * Returns code, and EXIT_CODE_INTERNAL in place of EXIT_CODE_OK where something was lost.
 */
int output_end(const char *program, int code);

#endif
