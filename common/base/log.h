/* log.h - what an operator is told. A sink is handed to whoever may speak, so that pure machines stay
 * pure and tests can listen. No entry ever holds a value of a record, or anything computed from one
 * that no grant paid for. */

#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* How entries are written down, where there is a choice. */
enum log_format {
    LOG_FORMAT_AUTO, /* text on a terminal, JSON lines otherwise */
    LOG_FORMAT_TEXT, /* 12:49:53 warning hospital-1: sentence */
    LOG_FORMAT_JSON  /* {"time":..., "level":..., "event":..., "peer":..., "text":...} */
};

struct log_entry {
    enum log_level level;
    const char *event; /* kebab-case, stable, for scripts: "offer-refused" */
    const char *peer;  /* the agent's name or address; NULL when none is involved */
    const char *text;  /* one sentence for a person, with the remedy where there is one */
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

/** Returns "debug", "info", "warning" or "error". */
const char *log_level_name(enum log_level level);

#endif
