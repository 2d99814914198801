/* main_lead.h - one of several coordinators that share a journal, or a queue, leads; the others stand by. */

#ifndef COORDINATOR_MAIN_LEAD_H
#define COORDINATOR_MAIN_LEAD_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stdint.h>

struct lead_options {
    enum status (*attempt)(void *self, struct why *why); /* takes the lead where nobody has it */
    void *self;
    const struct log *log;
    const char *what; /* that is led: "the job"; NULL: nothing is, it only waits for a database */
    void (*wait)(void *self, int64_t wait_ms);
    void *wait_self;
};

/**
 * Takes the lead. While another coordinator leads, or the database does not answer, it waits and says so once; wait is called
 * for each pause, with its length.
 *
 * signal  out  SIGTERM or SIGINT, which ended the waiting; 0: this one leads, where nothing failed
 *
 * Fails as attempt does, but for STATUS_BUSY and STATUS_AGAIN.
 */
MUST_USE enum status lead_await(const struct lead_options *options, int *signal, struct why *why);

/** Whether a status says that this coordinator leads no longer, and may lead again. */
bool lead_is_lost(enum status status);

#endif
