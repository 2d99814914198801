/* shown.h - the data dictionaries that agents show. A text is asked for, read, and kept. It is hostile until
 * it has been read; what cannot be read is not asked for again. */

#ifndef COORDINATOR_SHOWN_H
#define COORDINATOR_SHOWN_H

#include "base/bytes.h"
#include "base/log.h"
#include "base/status.h"
#include "protocol/machine.h"

#include <stdbool.h>
#include <stdint.h>

enum { SHOW_AGAIN_MS = 10000 /* an agent is asked for its dictionary at most this often */ };

/* Where the texts go. */
struct dictionary_sink {
    /** Returns whether the text of this digest is the one kept for the agent. NULL: nobody is asked. */
    bool (*has)(void *self, const struct peer *agent, const struct digest *digest);
    /** Keeps a text that dictionary_parse reads, in place of the one before it; returns whether it is kept. */
    bool (*put)(void *self, const struct peer *agent, struct slice text);
    void *self;
};

/* What is known of one agent's dictionary. Starts zeroed. */
struct shown {
    struct digest known; /* the text that is kept, or was refused; none before */
    struct digest asked; /* the text that it was asked for; none before */
    int64_t asked_ms;    /* when, if ever: was_asked */
    bool was_asked;
};

/** Returns whether the agent is to be asked (SHOW) for the text that its HELLO names, and notes that it is. */
bool shown_ask(struct shown *shown, const struct dictionary_sink *sink, const struct peer *agent,
               const struct digest *digest, int64_t now_ms);

/** Takes the text of a DICTIONARY; ignores one that nobody has asked for. Logged. Fails with
 * STATUS_NO_MEMORY, with nothing changed. */
MUST_USE enum status shown_take(struct shown *shown, const struct dictionary_sink *sink,
                                const struct log *log, const struct peer *agent,
                                const struct digest *digest, struct slice text);

#endif
