#include "cli/command.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {&command_simulate, &command_keygen,
                                                 &command_predict, &command_report};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void help(FILE *stream)
{
    (void)fputs("hedgerow " HEDGEROW_VERSION " - institutions learn together without showing each "
                "other a record\n\n"
                "usage: hedgerow COMMAND [ARGUMENT]...\n\n",
                stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        (void)fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
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

static bool asks_for_help(int count, char **argument)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(argument[i], "--help") == 0 || strcmp(argument[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

/* Output that did not arrive is a failure, also of --help: a full disk, a closed pipe. */
static enum exit_code flushed(enum exit_code code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_CODE_OK) {
        (void)fputs("hedgerow: standard output cannot be written\n", stderr);
        return EXIT_CODE_INTERNAL;
    }
    return code;
}

enum exit_code command_main(int count, char **argument)
{
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
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argument[1], commands[i]->name) != 0) {
            continue;
        }
        if (asks_for_help(count - 2, argument + 2)) {
            (void)fputs(commands[i]->help, stdout);
            (void)fputs("\nexit codes:\n" EXIT_CODE_HELP, stdout);
            return flushed(EXIT_CODE_OK);
        }
        return flushed(commands[i]->run(commands[i], count - 2, argument + 2));
    }
    (void)fprintf(stderr, "hedgerow: there is no command \"%s\"; try: hedgerow --help\n",
                  argument[1]);
    return EXIT_CODE_USAGE;
}
