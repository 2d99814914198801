#include "base/why.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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
