/* log_sink.h - where log entries go: a line of text for a person at a terminal, a JSON object per
 * line for everything else. Each entry is one write(2), so that lines of threads never mix. */

#ifndef IO_LOG_SINK_H
#define IO_LOG_SINK_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct bucket {
    int64_t level_milli;
    int64_t at_ms; /* 0: still full */
};

/** Returns what is in the bucket now, in thousandths. */
int64_t bucket_level_milli(const struct bucket *bucket, int64_t now_ms, uint64_t burst,
                           uint64_t per_s);

/** Takes amount from the bucket; returns false, taking nothing, when it is not there. */
bool bucket_take(struct bucket *bucket, int64_t now_ms, uint64_t amount, uint64_t burst,
                 uint64_t per_s);

struct log_sink {
    int descriptor;
    bool json;
};

/** Prepares a sink on an open descriptor and returns the log that writes to it; sink is kept. */
struct log log_sink_init(struct log_sink *sink, int descriptor, enum log_format format,
                         enum log_level level);

enum { LOG_RATE_ROOM = 128, LOG_RATE_PEER_BYTES = 64 };

/* At most one line per event and peer in each period; the next one tells how many were left out. A
 * stranger can therefore fill neither the disk nor the operator's patience. Bounded: peers beyond
 * the room share one entry per period. */
struct log_rate {
    const struct log *log; /* kept; may be NULL */
    int64_t period_ms;
    struct log_rate_entry {
        const char *event; /* NULL: free */
        char peer[LOG_RATE_PEER_BYTES];
        int64_t since_ms;
        uint64_t left_out;
        enum log_level level;
    } entry[LOG_RATE_ROOM];
};

void log_rate_init(struct log_rate *rate, const struct log *log, int64_t period_ms);

/** Logs the entry, or counts it. event must outlive the rate (a literal). */
void log_rate_event(struct log_rate *rate, int64_t now_ms, enum log_level level, const char *event,
                    const char *peer, const char *text);

/** Tells the counts of periods that are over. To be called now and then. */
void log_rate_flush(struct log_rate *rate, int64_t now_ms);

enum {
    LOG_LIMIT_EVENTS = 96,
    LOG_LIMIT_BURST = 4096,
    LOG_LIMIT_PER_S = 1,
    LOG_LIMIT_TELL_MS = 60000
};

/* Each event may have, at every level, LOG_LIMIT_BURST lines at once and LOG_LIMIT_PER_S a second on average,
 * whatever causes them. What is left out is counted, and told once a minute. So nobody fills a disk through a log: an event
 * of 300 bytes a line writes 26 MB a day at most. */
struct log_limit {
    const struct log *log; /* kept */
    struct log_limit_entry {
        const char *event; /* NULL: free */
        struct bucket bucket;
        int64_t told_ms;
        uint64_t left_out;
        enum log_level level;
    } entry[LOG_LIMIT_EVENTS]; /* the last one is shared by all events that find no room */
};

void log_limit_init(struct log_limit *limit, const struct log *log);

/** Writes the entry, or counts it. entry->event must outlive the limit (a literal). now_ms > 0. */
void log_limit_write(struct log_limit *limit, int64_t now_ms, const struct log_entry *entry);

/** Tells the counts that nobody was told of yet. */
void log_limit_flush(struct log_limit *limit, int64_t now_ms);

#endif
