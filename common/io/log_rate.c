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

void log_limit_init(struct log_limit *limit, const struct log *log)
{
    memset(limit, 0, sizeof *limit);
    limit->log = log;
}

static struct log_limit_entry *find_limit(struct log_limit *limit, const char *event)
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
    struct log_limit_entry *entry = find_limit(limit, from->event);

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

int64_t bucket_level_milli(const struct bucket *bucket, int64_t now_ms, uint64_t burst,
                           uint64_t per_s)
{
    const int64_t full = (int64_t)burst * 1000;
    if (bucket->at_ms == 0) {
        return full;
    }
    const int64_t passed = now_ms - bucket->at_ms;
    const int64_t room = full - bucket->level_milli;
    /* The bucket is full long before the product could overflow. */
    return bucket->level_milli + (passed > room / (int64_t)per_s ? room : passed * (int64_t)per_s);
}

bool bucket_take(struct bucket *bucket, int64_t now_ms, uint64_t amount, uint64_t burst,
                 uint64_t per_s)
{
    const int64_t wanted = (int64_t)amount * 1000;

    bucket->level_milli = bucket_level_milli(bucket, now_ms, burst, per_s);
    bucket->at_ms = now_ms;
    if (bucket->level_milli < wanted) {
        return false;
    }
    bucket->level_milli -= wanted;
    return true;
}
