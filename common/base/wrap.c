#include "base/wrap.h"

#include <stdarg.h>
#include <string.h>

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

void wrap_print(FILE *out, int used, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, WRAP_COLUMNS, used, indent, format, arguments);
    va_end(arguments);
}

void wrap_print_in(FILE *out, int columns, int used, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, columns, used, indent, format, arguments);
    va_end(arguments);
}
