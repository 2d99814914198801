/* worker.h - one long computation at a time, on a thread of its own, announced by a descriptor. */

#ifndef IO_WORKER_H
#define IO_WORKER_H

#include "base/status.h"

#include <stdbool.h>

struct worker;

/** Makes a worker without work. Fails with STATUS_NO_MEMORY or STATUS_IO (no descriptor). */
MUST_USE enum status worker_new(struct worker **out);

/** Waits for work that is still running, then frees. */
void worker_free(struct worker *worker);

/** Runs work(self) on the thread; the worker must be idle. Fails with STATUS_NO_MEMORY. Ensures:
 * what was written before the call is seen by work, what work wrote is seen after worker_collect.
 */
MUST_USE enum status worker_start(struct worker *worker, void (*work)(void *self), void *self);

/** Returns the descriptor that is readable when work is done. */
int worker_descriptor(const struct worker *worker);

/** Returns whether work is done since the last call; the worker is idle again then. */
bool worker_collect(struct worker *worker);

/** Returns whether work has been started and not collected. */
bool worker_is_busy(const struct worker *worker);

#endif
