/* exit_code.h - how the three programs tell a script what happened. */

#ifndef BASE_EXIT_CODE_H
#define BASE_EXIT_CODE_H

#include "base/status.h"

/* name, code, what it means: the list that --help prints and docs/REFERENCE repeats */
#define EXIT_CODE_LIST(ENTRY)                                                                      \
    ENTRY(EXIT_CODE_OK, 0, "done")                                                                 \
    ENTRY(EXIT_CODE_INTERNAL, 1, "an error inside the program or its machine")                     \
    ENTRY(EXIT_CODE_USAGE, 2, "the command line is wrong")                                         \
    ENTRY(EXIT_CODE_INPUT, 3, "a file is missing, breaks its rules or cannot be written")          \
    ENTRY(EXIT_CODE_JOB_FAILED, 4, "the job failed, for example below its minimum cohort")         \
    ENTRY(EXIT_CODE_REFUSED, 5, "a policy or a privacy budget forbids it")                         \
    ENTRY(EXIT_CODE_UNREACHABLE, 6, "the other side could not be reached")                         \
    ENTRY(EXIT_CODE_BUSY, 7, "held by another process, or in the way of existing files")           \
    ENTRY(EXIT_CODE_KEY_IN_USE, 8, "another agent runs with this site's key")                      \
    ENTRY(EXIT_CODE_INTERRUPTED, 130, "stopped by Ctrl-C before the end")

enum exit_code {
#define EXIT_CODE_ENUM(name, code, text) name = (code),
    EXIT_CODE_LIST(EXIT_CODE_ENUM)
#undef EXIT_CODE_ENUM
};

#define EXIT_CODE_LINE(name, code, text) "  " #code "  " text "\n"

/* The list as text, a line each, for --help. */
#define EXIT_CODE_HELP EXIT_CODE_LIST(EXIT_CODE_LINE)

/** Returns the exit code for a status that ended a command. */
static inline enum exit_code exit_code_of(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return EXIT_CODE_OK;
    case STATUS_INVALID:
    case STATUS_NOT_FOUND:
    case STATUS_IO:
    case STATUS_CORRUPT:
    case STATUS_FOREIGN:
    case STATUS_UNSUPPORTED:
        return EXIT_CODE_INPUT;
    case STATUS_REFUSED:
    case STATUS_EXHAUSTED:
        return EXIT_CODE_REFUSED;
    case STATUS_EXISTS:
    case STATUS_BUSY:
        return EXIT_CODE_BUSY;
    case STATUS_NO_MEMORY:
    case STATUS_NO_RANDOM:
    case STATUS_UNKNOWN_OUTCOME:
    case STATUS_AGAIN:
        return EXIT_CODE_INTERNAL;
    }
    return EXIT_CODE_INTERNAL;
}

#endif
