#include "lab/study/study.h"

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
