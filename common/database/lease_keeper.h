/* lease_keeper.h - calls what renews a lease again and again, on a thread of its own. */

#ifndef DATABASE_LEASE_KEEPER_H
#define DATABASE_LEASE_KEEPER_H

#include "base/status.h"

#include <stdbool.h>

struct lease_keeper;

/* goes_on: false the last time */
typedef void lease_turn(void *self, bool goes_on);

/** Begins. The first turn comes LEASE_RENEWAL_MS later. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status lease_keeper_new(struct lease_keeper **out, lease_turn *turn, void *self);

/** Has the last turn taken, and waits for it. Does nothing on NULL. */
void lease_keeper_free(struct lease_keeper *keeper);

#endif
