#include "tests/study/study.h"

#include <stdarg.h>
#include <stdio.h>

void study_progress(const struct study_request *request, const char *format, ...)
{
    if (!request->quiet) {
        va_list arguments;
        va_start(arguments, format);
        (void)vfprintf(stderr, format, arguments);
        va_end(arguments);
        (void)fputc('\n', stderr);
    }
}

bool study_is_planted(const struct study *study, const struct study_request *request)
{
    return request->planted == study->claim_count + 1;
}
