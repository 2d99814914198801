/* plan_fields.h - the request of a planner's part: numbers and words on the command line. */

#ifndef CLI_PLAN_FIELDS_H
#define CLI_PLAN_FIELDS_H

#include "base/status.h"
#include "base/why.h"
#include "config/options.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLAN_FIELDS_MAX = 16 };

/* Exactly one of real, whole, word, flag, many is set. What is not given keeps its value. */
struct plan_field {
    const char *name; /* "--epsilon" */
    const char *what; /* the value in words, for messages: "E" */
    bool required;
    double *real;  /* a finite number as people write it */
    double *whole; /* 1 to 2^53 */
    const char **word;
    bool *flag;
    struct option_many *many;
};

/**
 * Reads the fields, and --json.
 *
 * Fails with STATUS_INVALID: as options_read; not a number. why says which.
 */
MUST_USE enum status plan_fields_read(const struct plan_field *field, size_t field_count,
                                      bool *json, int count, char **argument, struct why *why);

#endif
