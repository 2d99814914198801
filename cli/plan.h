/* plan.h - the parts of `hedgerow plan`, and their common frame: the request is numbers and words on the command
 * line, the answer a table of numbers, each with its unit and where it holds, or one JSON object. */

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "base/status.h"
#include "base/why.h"
#include "cli/command.h"
#include "config/options.h"

#include <stdbool.h>
#include <stddef.h>

extern const struct command command_plan_compose;
extern const struct command command_plan_calibrate;
extern const struct command command_plan_erm;
extern const struct command command_plan_hedge;
extern const struct command command_plan_job;
extern const struct command command_plan_masks;
extern const struct command command_plan_select;
extern const struct command command_plan_online;
extern const struct command command_plan_pac;
extern const struct command command_plan_sq;

enum { PLAN_FIELDS_MAX = 16 };

/* Exactly one of real, whole, word, flag, many is set. What is not given keeps its value. */
struct plan_field {
    const char *name; /* "--epsilon"; NULL ends a table */
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
MUST_USE enum status plan_fields_read(const struct plan_field *field, bool *json, int count,
                                      char **argument, struct why *why);

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
