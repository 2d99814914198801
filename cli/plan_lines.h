/* plan_lines.h - the answer of a planner's part: each number with its unit and where it holds, as a
 * table or as JSON. */

#ifndef CLI_PLAN_LINES_H
#define CLI_PLAN_LINES_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct plan_line {
    const char *key;   /* "noise_scale" */
    double value;      /* NAN: there is none; the line is left out, in JSON null */
    const char *unit;  /* "answer" */
    const char *holds; /* the range of validity, in words */
};

/** Prints the table to standard output. */
void plan_lines_table(const struct plan_line *line, size_t count);

/** Adds every line under its key, the values alone; false without memory. */
bool plan_lines_set(json_t *object, const struct plan_line *line, size_t count);

/** Prints the lines as one JSON object. */
MUST_USE enum status plan_lines_json(const struct plan_line *line, size_t count);

#endif
