/* idle.h - the coordinator's machine while no job can run: it answers the agents, so that they stay connected, and ends
 * when the queue's folder changes. */

#ifndef COORDINATOR_IDLE_H
#define COORDINATOR_IDLE_H

#include "base/log.h"
#include "coordinator/shown.h"
#include "protocol/machine.h"

struct idle;

/**
 * Makes the machine.
 *
 * names  in  what the queue's folder held when no job was found in it (base/file.h): EVENT_FILE with anything else
 *            ends the machine, so that no job that comes in between is missed
 *
 * Fails with STATUS_NO_MEMORY. sink's functions and log are kept.
 */
MUST_USE enum status idle_new(struct idle **out, struct slice names,
                              const struct dictionary_sink *sink, const struct log *log);
void idle_free(struct idle *idle);

/** Returns the machine's face for a driver; valid as long as the machine. It commits nothing. */
struct machine idle_machine(struct idle *idle);

#endif
