/* plan.h - the parts of `hedgerow plan`, and their common frame: the request is numbers and words on the command
 * line, the answer a table of numbers, each with its unit and where it holds, or one JSON object. */

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli/command.h"
#include "config/options.h"

#include <stdbool.h>

struct plan_line {
    const char *key;   /* "noise_scale"; NULL ends a table */
    double value;      /* NAN: there is none; the line is left out, in JSON null */
    const char *unit;  /* "answer" */
    const char *holds; /* the range of validity, in words */
};

enum { PLAN_TEXT_BYTES = 1024 };

/** Prints the title, the table and the text after it; or under --json every value under its key. */
enum exit_code plan_answer(const struct command *command, bool json, const char *title,
                           const struct plan_line *line, const char *after);

#endif
