#include "base/text.h"

#include "base/check.h"
#include "base/exit_code.h"

#include <stdarg.h>
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

__attribute__((format(printf, 5, 0))) static void
print(FILE *out, int columns, int used, int indent, const char *format, va_list arguments)
{
    char text[WRAP_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    for (const char *at = text;;) {
        const int room = columns - used;
        int length = (int)strlen(at);
        if (length > room) {
            length = room > 1 ? room : 1;
            while (length > 1 && at[length] != ' ') {
                length--;
            }
        }
        if (length == 1 && at[1] != '\0' && at[1] != ' ') { /* a word longer than a line */
            length = (int)strcspn(at, " ");
        }
        (void)fprintf(out, "%.*s\n", length, at);
        at += length;
        at += *at == ' ';
        if (*at == '\0') {
            return;
        }
        (void)fprintf(out, "%*s", indent, "");
        used = indent;
    }
}

void text_wrap(FILE *out, int used, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, WRAP_COLUMNS, used, indent, format, arguments);
    va_end(arguments);
}

void text_wrap_in(FILE *out, int columns, int used, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, columns, used, indent, format, arguments);
    va_end(arguments);
}

const char *text_embedded(const struct embedded *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0) {
        table++;
    }
    CHECK(table->name != NULL);
    return table->text;
}

int text_end_output(const char *program, int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_CODE_OK) {
        (void)fprintf(stderr,
                      "%s: standard output cannot be written: what the command did is done, and a "
                      "part of what it told is lost\n",
                      program);
        return EXIT_CODE_INTERNAL;
    }
    return code;
}
