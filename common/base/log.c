#include "base/log.h"

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

void log_event(const struct log *log, enum log_level level, const char *event, const char *peer,
               const char *format, ...)
{
    char text[1024];
    va_list arguments;

    if (log == NULL || level < log->level) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?'; /* a hostile name or text must not forge a second line or move a cursor */
        }
    }
    log->write(log->self,
               &(struct log_entry){.level = level, .event = event, .peer = peer, .text = text});
}
