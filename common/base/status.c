#include "base/status.h"

#include "base/check.h"
#include "base/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *status_text(enum status status)
{
    switch (status) {
#define STATUS_CASE(name, text)                                                                    \
    case name:                                                                                     \
        return text;
        STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

void check_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
    abort();
}

void why_set(struct why *why, const char *format, ...)
{
    va_list arguments;
    if (why == NULL) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
}

void why_file(struct why *why, const char *path, const char *doing, int problem)
{
    const bool is_full = problem == ENOSPC || problem == EDQUOT || problem == EFBIG;
    why_set(why, "%s cannot be %s: %s%s", path, doing, strerror(problem),
            is_full ? "; remedy: make room on its disk, or raise the account's limit" : "");
}
