#include "base/log.h"

#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>

const char *log_level_name(enum log_level level)
{
    switch (level) {
    case LOG_DEBUG:
        return "debug";
    case LOG_INFO:
        return "info";
    case LOG_WARN:
        return "warning";
    case LOG_ERROR:
        return "error";
    }
    return "error";
}

/* Formats the text of an entry and hands it to the sink. */
__attribute__((format(printf, 3, 0))) static void
tell(const struct log *log, struct log_entry *entry, const char *format, va_list arguments)
{
    char text[1024];

    (void)vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?'; /* a hostile name or text must not forge a second line or move a cursor */
        }
    }
    entry->text = text;
    log->write(log->self, entry);
}

void log_event(const struct log *log, enum log_level level, const char *event, const char *peer,
               const char *format, ...)
{
    va_list arguments;

    if (log == NULL || level < log->level) {
        return;
    }
    va_start(arguments, format);
    tell(log, &(struct log_entry){.level = level, .event = event, .peer = peer}, format, arguments);
    va_end(arguments);
}

void log_event_fields(const struct log *log, enum log_level level, const char *event,
                      const struct log_field *field, size_t count, const char *format, ...)
{
    va_list arguments;

    CHECK(count <= LOG_FIELDS_MAX);
    if (log == NULL || level < log->level) {
        return;
    }
    va_start(arguments, format);
    tell(log,
         &(struct log_entry){.level = level, .event = event, .field = field, .field_count = count},
         format, arguments);
    va_end(arguments);
}
