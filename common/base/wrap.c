#include "base/wrap.h"

#include <stdarg.h>
#include <string.h>

static void print(FILE *out, int columns, int used, int indent, const char *text)
{
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

void wrap_print(FILE *out, int used, int indent, const char *format, ...)
{
    char text[WRAP_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print(out, WRAP_COLUMNS, used, indent, text);
}

void wrap_print_in(FILE *out, int columns, int used, int indent, const char *format, ...)
{
    char text[WRAP_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print(out, columns, used, indent, text);
}
