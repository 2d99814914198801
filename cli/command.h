/* command.h - what a subcommand of `hedgerow` is. */

#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/exit_code.h"
#include "base/why.h"

#include <jansson.h>
#include <stdio.h>

struct command;

/** Does the work; arguments begin after the subcommand's name. */
typedef enum exit_code command_run(const struct command *command, int count, char **argument);

/* Either does the work itself (run) or is a family of subcommands (part), one level deep. Its help - usage, options, an
 * example - is a file of cli/help; a family's list of parts is added to it. */
struct command {
    const char *name;    /* all words: "report", "plan compose"; NULL ends a table */
    const char *summary; /* one line for the list */
    command_run *run;
    const struct command *part; /* NULL when it has no parts */
};

/* Of a struct option: a whole number from least to most, and what else is said of it behind. */
#define COMMAND_NUMBER(option, value, least, most, word)                                           \
    .name = (option), .number = (value), .min = (least), .max = (most), .what = (word)

extern command_run run_init_job, run_init_evaluate, run_simulate, run_keygen, run_predict,
    run_report, run_audit, run_study, run_enrol, run_at_desk, run_plan_job, run_plan_compose,
    run_plan_calibrate, run_plan_hedge, run_plan_erm, run_plan_select, run_plan_online,
    run_plan_pac, run_plan_sq, run_plan_masks;

/** Finds the subcommand and runs it: the whole program but for `main`. */
enum exit_code command_main(int count, char **argument);

/** Prints "hedgerow NAME: sentence" to standard error and returns the code. */
enum exit_code command_fail(const struct command *command, enum exit_code code, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

/** Ends a command: EXIT_CODE_OK; or command_fail with the sentence, or the status's own text when there is none. */
enum exit_code command_end(const struct command *command, enum status status,
                           const struct why *why);

/** Prints what was released, in as many lines as it takes, and the noise on it after the last one, or below where
 * both do not fit 80 columns. */
void command_beside(FILE *out, int indent, const char *what, const char *noise);

/* The question that lines printed one after the other have in common. Starts zeroed. */
struct command_question {
    const char *line; /* one of them; NULL: none has been printed */
    size_t bytes;     /* of its beginning, which all have; 0: they have nothing in common */
};

/**
 * Prints the question of a line such as "mean: age by sex: F" by itself where it is the first of several, so that it
 * need not be read in each.
 *
 * line  in  kept until the next call
 * next  in  the line behind it; NULL: none
 *
 * Returns what is left of the line to print.
 */
const char *command_part(FILE *out, int indent, struct command_question *question, const char *line,
                         const char *next);

/** Prints the object, which it takes, to standard output, with 17 digits. Fails with STATUS_NO_MEMORY, also where
 * object is NULL. */
MUST_USE enum status command_print_json(json_t *object);

#endif
