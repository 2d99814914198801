#include "io/log_sink.h"

#include <stdio.h>
#include <string.h>

void log_rate_init(struct log_rate *rate, const struct log *log, int64_t period_ms)
{
    memset(rate, 0, sizeof *rate);
    rate->log = log;
    rate->period_ms = period_ms;
}

static void tell_count(struct log_rate *rate, struct log_rate_entry *entry)
{
    if (entry->left_out > 0) {
        log_event(rate->log, entry->level, entry->event,
                  entry->peer[0] == '\0' ? NULL : entry->peer,
                  "the same happened %llu more times within %lld seconds",
                  (unsigned long long)entry->left_out, (long long)(rate->period_ms / 1000));
    }
}

static struct log_rate_entry *find(struct log_rate *rate, const char *event, const char *peer)
{
    for (size_t i = 0; i < LOG_RATE_ROOM; i++) {
        struct log_rate_entry *entry = &rate->entry[i];
        if (entry->event != NULL && strcmp(entry->event, event) == 0 &&
            strncmp(entry->peer, peer, sizeof entry->peer - 1) == 0) {
            return entry;
        }
    }
    return NULL;
}

static struct log_rate_entry *take_free(struct log_rate *rate, size_t from)
{
    for (size_t i = from; i < LOG_RATE_ROOM; i++) {
        if (rate->entry[i].event == NULL) {
            return &rate->entry[i];
        }
    }
    return NULL;
}

void log_rate_event(struct log_rate *rate, int64_t now_ms, enum log_level level, const char *event,
                    const char *peer, const char *text)
{
    enum {
        SHARED = 16
    }; /* entries kept for "many others", so that new kinds of event still show */
    const char *name = peer == NULL ? "" : peer;

    log_rate_flush(rate, now_ms);
    struct log_rate_entry *entry = find(rate, event, name);
    if (entry == NULL) {
        entry = take_free(rate, SHARED);
        if (entry == NULL) {
            name = "many others";
            entry = find(rate, event, name);
        }
        if (entry == NULL) {
            entry = take_free(rate, 0);
        }
        if (entry == NULL) {
            return;
        }
        if (entry->event == NULL) {
            entry->event = event;
            (void)snprintf(entry->peer, sizeof entry->peer, "%s", name);
            entry->since_ms = now_ms;
            entry->left_out = 0;
            entry->level = level;
            log_event(rate->log, level, event, peer, "%s", text);
            return;
        }
    }
    entry->left_out++;
}

void log_rate_flush(struct log_rate *rate, int64_t now_ms)
{
    for (size_t i = 0; i < LOG_RATE_ROOM; i++) {
        struct log_rate_entry *entry = &rate->entry[i];
        if (entry->event != NULL && now_ms - entry->since_ms >= rate->period_ms) {
            tell_count(rate, entry);
            memset(entry, 0, sizeof *entry);
        }
    }
}
