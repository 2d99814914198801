#include "cli/command.h"

#include "base/exit_code.h"
#include "base/near.h"
#include "base/text.h"
#include "json/json_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct command init_parts[] = {
    {"init job", "write a job to begin with, from a data dictionary", run_init_job, NULL},
    {"init evaluate", "write a job that judges a model, from the model's file", run_init_evaluate, NULL},
    {NULL, NULL, NULL, NULL}};
static const struct command plan_parts[] = {
    {"plan job", "what a job will charge, and how much noise its answers will carry", run_plan_job, NULL},
    {"plan compose", "what a list of events costs together: epsilon or delta", run_plan_compose, NULL},
    {"plan calibrate", "the least noise with which a list of events keeps a budget", run_plan_calibrate, NULL},
    {"plan hedge", "the regret that private experts promise, by strategy and trust", run_plan_hedge, NULL},
    {"plan erm", "the noise on a regularised model's answers", run_plan_erm, NULL},
    {"plan select", "lambda and epsilon from the number of records", run_plan_select, NULL},
    {"plan online", "the noise on what a stream has taught, and what all releases cost", run_plan_online, NULL},
    {"plan pac", "how many records a private pick from a finite class needs", run_plan_pac, NULL},
    {"plan sq", "how many records private statistical queries need", run_plan_sq, NULL},
    {"plan masks", "how many sites a masked sum needs, and its noise", run_plan_masks, NULL},
    {NULL, NULL, NULL, NULL}};
static const struct command commands[] = {
    {"init", "write a file to begin with", NULL, init_parts},
    {"simulate", "rehearse a whole federation on this machine", run_simulate, NULL},
    {"keygen", "make a key pair at the site that will use it", run_keygen, NULL},
    {"predict", "apply a model to records: a probability, a number or a class per row", run_predict, NULL},
    {"report", "draw result.json as a page that a board can read", run_report, NULL},
    {"audit", "measure what a mechanism loses, against what it claims", run_audit, NULL},
    {"plan", "what a plan costs in privacy, before anything is done", NULL, plan_parts},
    {"study", "test the theorems by simulation", run_study, NULL},
    {"enrol", "become an operator of a coordinator on another machine", run_enrol, NULL},
    {"submit", "put a job into that coordinator's queue", run_at_desk, NULL},
    {"jobs", "list the jobs of that queue", run_at_desk, NULL},
    {"status", "tell what one job has come to", run_at_desk, NULL},
    {"watch", "watch a job until it is over, a line a round", run_at_desk, NULL},
    {"result", "fetch the result of a job that is over", run_at_desk, NULL},
    {"cancel", "end a job; what was paid stays paid", run_at_desk, NULL},
    {"agents", "list the agents that coordinator admits", run_at_desk, NULL},
    {NULL, NULL, NULL, NULL}};
/* clang-format on */

extern const struct embedded cli_help[];

enum { WHAT_WIDTH = 52 };

static void help(FILE *stream)
{
    (void)fputs("hedgerow " HEDGEROW_VERSION " - institutions learn together without showing each "
                "other a record\n\n"
                "usage: hedgerow COMMAND [ARGUMENT]...\n"
                "       hedgerow --at NAME COMMAND [ARGUMENT]...\n\n",
                stream);
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (command->run == run_enrol) {
            (void)fputs("\nat a coordinator on another machine:\n", stream);
        }
        (void)fprintf(stream, "  %-10s %s\n", command->name, command->summary);
    }
    (void)fputs("\n  hedgerow COMMAND --help   tells more, with an example\n"
                "  hedgerow --version        prints the version\n\n"
                "example:\n"
                "  hedgerow simulate compose/hospitals/job.yml --out demo-out\n\n"
                "exit codes:\n" EXIT_CODE_HELP,
                stream);
}

enum exit_code command_fail(const struct command *command, enum exit_code code, const char *format,
                            ...)
{
    va_list arguments;
    (void)fprintf(stderr, "hedgerow %s: ", command->name);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    if (code == EXIT_CODE_USAGE) {
        (void)fprintf(stderr, "try: hedgerow %s --help\n", command->name);
    }
    return code;
}

/* How many bytes of a text stand in a line of this width: up to a space, but at least a word. */
static size_t bytes_of_line(const char *text, size_t width)
{
    size_t fit = 0;
    for (size_t at = 0; text[at] != '\0'; at++) {
        if (text[at] == ' ' && (at <= width || fit == 0)) {
            fit = at;
        }
        if (at >= width && fit > 0) {
            return fit;
        }
    }
    return strlen(text);
}

void command_beside(FILE *out, int indent, const char *what, const char *noise)
{
    enum { HANGING = 2 };
    const int room = WRAP_COLUMNS - (int)strlen(noise);
    const int beside = indent + WHAT_WIDTH + 1 < room ? indent + WHAT_WIDTH + 1 : room;
    int lead = indent;
    size_t bytes = bytes_of_line(what, WHAT_WIDTH);
    while (what[bytes] != '\0') {
        (void)fprintf(out, "%*s%.*s\n", lead, "", (int)bytes, what);
        what += bytes + 1;
        lead = indent + HANGING;
        bytes = bytes_of_line(what, WHAT_WIDTH - HANGING);
    }
    int column = lead + (int)bytes;
    (void)fprintf(out, "%*s%s", lead, "", what);
    if (column >= room) { /* not even after one space */
        (void)fputs("\n", out);
        column = 0;
    }
    (void)fprintf(out, "%*s%s\n",
                  column < beside ? beside - column
                  : column > 0    ? 1
                                  : 0,
                  "", noise);
}

/* The bytes of both lines up to their last colon before they differ, if it comes after the question's own: "kind: text:
 * ". */
static size_t bytes_in_common(const char *line, const char *next)
{
    size_t common = 0;
    int colons = 0;
    for (size_t i = 0; next != NULL && line[i] != '\0' && line[i] == next[i]; i++) {
        if (i > 0 && line[i] == ' ' && line[i - 1] == ':') {
            common = i + 1;
            colons++;
        }
    }
    return colons >= 2 ? common : 0;
}

const char *command_part(FILE *out, int indent, struct command_question *question, const char *line,
                         const char *next)
{
    const bool goes_on = question->bytes > 0 && strncmp(line, question->line, question->bytes) == 0;
    if (!goes_on) {
        question->bytes = bytes_in_common(line, next);
    }
    question->line = line;
    if (!goes_on && question->bytes > 0) {
        (void)fprintf(out, "%*s", indent, "");
        text_wrap(out, indent, indent + 2, "%.*s", (int)question->bytes - 2, line);
    }
    return line + question->bytes;
}

enum status command_print_json(json_t *object)
{
    char *text = json_text(object, 1, 17);
    json_decref(object);
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)puts(text);
    free(text);
    return STATUS_OK;
}

enum exit_code command_end(const struct command *command, enum status status, const struct why *why)
{
    return status == STATUS_OK
               ? EXIT_CODE_OK
               : command_fail(command, exit_code_of(status), "%s",
                              why->text[0] != '\0' ? why->text : status_text(status));
}

static bool asks_for_help(int count, char **argument)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(argument[i], "--help") == 0 || strcmp(argument[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static void help_of(const struct command *command, FILE *stream)
{
    (void)fputs(text_embedded(cli_help, command->name), stream);
    if (command->part != NULL) {
        (void)fputs("\nparts:\n", stream);
        for (const struct command *part = command->part; part->name != NULL; part++) {
            (void)fprintf(stream, "  %-16s %s\n", part->name, part->summary);
        }
        (void)fprintf(stream, "\n  hedgerow %s PART --help   tells more, with examples\n",
                      command->name);
    }
    (void)fputs("\nexit codes:\n" EXIT_CODE_HELP, stream);
}

/* Finds a row by its name after that many bytes; NULL: hint has the nearest. */
static const struct command *find(const struct command *table, size_t skipped, const char *word,
                                  char hint[static NEAR_HINT_BYTES])
{
    struct near near = near_to((struct slice){word, strlen(word)});
    for (const struct command *row = table; row->name != NULL; row++) {
        if (strcmp(row->name + skipped, word) == 0) {
            return row;
        }
        near_offer(&near, row->name + skipped);
    }
    (void)near_hint(hint, &near);
    return NULL;
}

static enum exit_code flushed(enum exit_code code)
{
    return (enum exit_code)text_end_output("hedgerow", (int)code);
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    if (command->part != NULL && count > 0) {
        char hint[NEAR_HINT_BYTES];
        const struct command *part =
            find(command->part, strlen(command->name) + 1, argument[0], hint);
        if (part == NULL && !asks_for_help(count, argument)) {
            return command_fail(command, EXIT_CODE_USAGE, "there is no part \"%s\"%s", argument[0],
                                hint);
        }
        if (part != NULL) {
            command = part;
            count--;
            argument++;
        }
    }
    if (asks_for_help(count, argument)) {
        help_of(command, stdout);
        return EXIT_CODE_OK;
    }
    if (command->part != NULL) {
        return command_fail(command, EXIT_CODE_USAGE, "which part?");
    }
    return command->run(command, count, argument);
}

/* `--at NAME COMMAND ...` is `COMMAND --at NAME ...`: the option is the command's own. */
static void put_behind(int count, char **argument)
{
    const bool one = count > 2 && strncmp(argument[1], "--at=", strlen("--at=")) == 0;
    const bool two = count > 3 && strcmp(argument[1], "--at") == 0;
    if (one || two) {
        char *word = argument[one ? 2 : 3];
        for (int i = one ? 2 : 3; i > 1; i--) {
            argument[i] = argument[i - 1];
        }
        argument[1] = word;
    }
}

enum exit_code command_main(int count, char **argument)
{
    put_behind(count, argument);
    if (count < 2) {
        help(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argument[1], "--help") == 0 || strcmp(argument[1], "-h") == 0 ||
        strcmp(argument[1], "help") == 0) {
        help(stdout);
        return flushed(EXIT_CODE_OK);
    }
    if (strcmp(argument[1], "--version") == 0) {
        (void)puts("hedgerow " HEDGEROW_VERSION);
        return flushed(EXIT_CODE_OK);
    }
    char hint[NEAR_HINT_BYTES];
    const struct command *command = find(commands, 0, argument[1], hint);
    if (command != NULL) {
        return flushed(run(command, count - 2, argument + 2));
    }
    if (strncmp(argument[1], "--at", strlen("--at")) == 0) {
        (void)fputs("hedgerow: --at NAME takes a command behind it\ntry: hedgerow --help\n",
                    stderr);
        return EXIT_CODE_USAGE;
    }
    (void)fprintf(stderr, "hedgerow: there is no command \"%s\"%s\ntry: hedgerow --help\n",
                  argument[1], hint);
    return EXIT_CODE_USAGE;
}
