/* worker.h - one long computation at a time, on a thread of its own, announced by a descriptor. What waits for a server may
 * have steps in between that touch what its owner's thread alone may touch: it asks the owner to perform them. */

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

/** Returns the descriptor that is readable when work is done, or asks for something. */
int worker_descriptor(const struct worker *worker);

/** Returns whether work is done since the last call; the worker is idle again then. */
bool worker_collect(struct worker *worker);

/**
 * Called by work: runs what(self) on the thread that owns the worker, in its worker_serve, and waits for that. For a caller that
 * is not a worker's work, what(self) runs at once.
 *
 * Returns false where the owner refuses: nothing was run, and work is to end.
 */
MUST_USE bool worker_on_owner(void (*what)(void *self), void *self);

/** The owner runs what work asks for, if it asks. */
void worker_serve(struct worker *worker);

/** The owner refuses what the present work asks for from now on. */
void worker_refuse(struct worker *worker);

/** Returns whether work has been started and not collected. */
bool worker_is_busy(const struct worker *worker);

#endif
