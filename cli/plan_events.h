/* plan_events.h - the file of events that `hedgerow plan` reads: JSON, read strictly. */

#ifndef CLI_PLAN_EVENTS_H
#define CLI_PLAN_EVENTS_H

#include "account/event.h"
#include "base/bytes.h"

#include <stddef.h>

enum { PLAN_EVENTS_BYTES_MAX = 16 * 1000 * 1000, PLAN_EVENTS_MAX = 100000 };

struct plan_events {
    struct privacy_event *event; /* (count) each valid by itself; NULL before and after */
    size_t count;
};

/**
 * Reads {"events": [{"mechanism": ..., ...}, ...]}. Every key is known and given once, every number
 * is in its range, at least one event is there.
 *
 * out   out  the caller frees it with plan_events_free; empty when this fails
 * name  in   the file's name for messages
 * why   out  file, event (counted from 1), field and what to write instead; never a byte of the file
 *            that could not be a field's name
 *
 * Fails with STATUS_INVALID, STATUS_NO_MEMORY.
 * Cost: at most about 200 MB of memory for a file of the largest size, whatever is in it.
 */
MUST_USE enum status plan_events_parse(struct plan_events *out, struct slice text, const char *name,
                                       struct why *why);

/**
 * Reads the file at path, or standard input when path is "-".
 *
 * Fails as plan_events_parse does, and with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (too large).
 */
MUST_USE enum status plan_events_read(struct plan_events *out, const char *path, struct why *why);

/** Returns path as messages name it: "standard input" for "-". */
const char *plan_events_name(const char *path);

void plan_events_free(struct plan_events *events);

#endif
