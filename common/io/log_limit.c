#include "io/log_sink.h"

#include <string.h>

void log_limit_init(struct log_limit *limit, const struct log *log)
{
    memset(limit, 0, sizeof *limit);
    limit->log = log;
}

static struct log_limit_entry *find(struct log_limit *limit, const char *event)
{
    size_t i = 0;
    while (i + 1 < LOG_LIMIT_EVENTS && limit->entry[i].event != NULL &&
           strcmp(limit->entry[i].event, event) != 0) {
        i++;
    }
    if (limit->entry[i].event == NULL) {
        limit->entry[i].event = event;
    }
    return &limit->entry[i];
}

static void tell(struct log_limit *limit, struct log_limit_entry *entry, int64_t now_ms)
{
    const struct log_field field[] = {{.name = "limited", .text = entry->event},
                                      {.name = "left_out", .number = (double)entry->left_out}};

    log_event_fields(limit->log, entry->level, "log-limited", field, 2,
                     "%llu lines of %s were left out: at most %d of one event are written at once, "
                     "and %d a second after that",
                     (unsigned long long)entry->left_out, entry->event, (int)LOG_LIMIT_BURST,
                     (int)LOG_LIMIT_PER_S);
    entry->left_out = 0;
    entry->told_ms = now_ms;
}

static void tell_when_due(struct log_limit *limit, int64_t now_ms)
{
    for (size_t i = 0; i < LOG_LIMIT_EVENTS && limit->entry[i].event != NULL; i++) {
        struct log_limit_entry *entry = &limit->entry[i];
        if (entry->left_out > 0 && now_ms - entry->told_ms >= LOG_LIMIT_TELL_MS) {
            tell(limit, entry, now_ms);
        }
    }
}

void log_limit_write(struct log_limit *limit, int64_t now_ms, const struct log_entry *from)
{
    struct log_limit_entry *entry = find(limit, from->event);

    if (bucket_take(&entry->bucket, now_ms, 1, LOG_LIMIT_BURST, LOG_LIMIT_PER_S)) {
        limit->log->write(limit->log->self, from);
    } else {
        entry->left_out++;
        entry->level =
            entry->left_out == 1 || from->level > entry->level ? from->level : entry->level;
        if (entry->told_ms == 0) {
            entry->told_ms = now_ms; /* the first count comes a minute after the first loss */
        }
    }
    tell_when_due(limit, now_ms);
}

void log_limit_flush(struct log_limit *limit, int64_t now_ms)
{
    for (size_t i = 0; i < LOG_LIMIT_EVENTS && limit->entry[i].event != NULL; i++) {
        if (limit->entry[i].left_out > 0) {
            tell(limit, &limit->entry[i], now_ms);
        }
    }
}
