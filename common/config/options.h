/* options.h - a command line against a table: every option is named there or refused. */

#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTION_MANY_MAX = 64 };

struct option_many {
    const char *value[OPTION_MANY_MAX];
    size_t count;
};

/* Exactly one of text, flag, number, real, whole, many is set. */
struct option {
    const char *name;  /* "--out"; NULL: the one argument without a name */
    const char **text; /* "--out DIR" or "--out=DIR", at most once */
    bool *flag;
    uint64_t *number; /* a whole number, min to max */
    uint64_t min, max;
    double *real;  /* a finite number as people write it */
    double *whole; /* 1 to 2^53 */
    bool *given;   /* may be NULL */
    struct option_many *many;
    bool required;
    const char *what; /* the value in words, for messages: "DIR" */
};

/* A table of options and its length, as options_read takes them. */
#define OPTIONS(table) table, sizeof(table) / sizeof *(table)

/**
 * Reads the arguments. What they point to stays theirs.
 *
 * Fails with STATUS_INVALID: unknown or doubled option, missing value, a number out of range, one
 * argument too many, a required one missing. why says which.
 */
MUST_USE enum status options_read(const struct option *option, size_t option_count, int count,
                                  char **argument, struct why *why);

#endif
