/* log.h - what an operator is told. Code that may log is given a sink, so that pure machines stay
 * pure and tests can listen. No entry ever holds a value of a record, or anything computed from one
 * that no grant paid for. */

#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* How entries are written down, where there is a choice. */
enum log_format {
    LOG_FORMAT_AUTO, /* text on a terminal, JSON lines otherwise */
    LOG_FORMAT_TEXT, /* 12:49:53 warning hospital-1: sentence */
    LOG_FORMAT_JSON  /* {"time":..., "level":..., "event":..., "peer":..., FIELDS, "text":...} */
};

/* A figure or a name beside the text, for programs: they read fields and never the text, whose words
 * may change at any time. A terminal does not show fields; JSON has them as members. */
struct log_field {
    const char *name; /* lower case, of the code's own; not one of the entry's members */
    const char *text; /* NULL: the number */
    double number;
};

enum { LOG_FIELDS_MAX = 16 };

struct log_entry {
    enum log_level level;
    const char *event; /* kebab-case, stable, for scripts: "offer-refused" */
    const char *peer;  /* the agent's name or address; NULL when none is involved */
    const char *text;  /* one sentence for a person, with the remedy where there is one */
    const struct log_field *field; /* (field_count), at most LOG_FIELDS_MAX */
    size_t field_count;
};

struct log {
    void (*write)(void *self, const struct log_entry *entry);
    void *self;
    enum log_level level; /* entries below it are dropped */
};

/** Formats one entry (text cut at 1023 bytes, control characters shown as '?') and hands it to the
 * sink. log may be NULL: nothing is written. */
void log_event(const struct log *log, enum log_level level, const char *event, const char *peer,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

/** Does the same with count fields, at most LOG_FIELDS_MAX (CHECKed). A field's text is handed on as it
 * is: the sink escapes it. A number that is not finite is written as null. */
void log_event_fields(const struct log *log, enum log_level level, const char *event,
                      const struct log_field *field, size_t count, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/** Returns "debug", "info", "warning" or "error". */
const char *log_level_name(enum log_level level);

#endif
