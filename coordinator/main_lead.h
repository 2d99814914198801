/* main_lead.h - one of several coordinators that share a journal leads; the others stand by. */

#ifndef COORDINATOR_MAIN_LEAD_H
#define COORDINATOR_MAIN_LEAD_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"
#include "io/journal.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Opens a shared journal, and with it takes the lead. While another coordinator leads, or the database does not answer, it
 * waits and says so once; wait is called for each pause, with its length. The journal is the caller's to close.
 *
 * Fails as journal_open does, but for STATUS_BUSY and STATUS_AGAIN.
 */
MUST_USE enum status lead_await(struct journal *journal, const char *place, const struct log *log,
                                void (*wait)(void *self, int64_t wait_ms), void *wait_self,
                                struct why *why);

/** Whether a status says that this coordinator leads no longer, and may lead again. */
bool lead_is_lost(enum status status);

#endif
