#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void text_add_list(char *text, size_t bytes, const char *format, va_list arguments)
{
    const size_t used = strlen(text);
    (void)vsnprintf(text + used, bytes - used, format, arguments);
}

void text_add(char *text, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(text, bytes, format, arguments);
    va_end(arguments);
}

enum status text_close(char **text, FILE *stream)
{
    const bool failed = ferror(stream) != 0;
    if (fclose(stream) == 0 && !failed) {
        return STATUS_OK;
    }
    free(*text);
    *text = NULL;
    return STATUS_NO_MEMORY;
}

int text_order(const void *a, const void *b)
{
    return strcmp(a, b);
}
