/* collection.h - what the coordinators of one job tell each other by the database that they share: one leads, the others
 * collect (coordinator/round_collect.c). The one that leads has the journal; beside it stand the collectors' parts of rounds,
 * and how each of them stands. */

#ifndef DATABASE_COLLECTION_H
#define DATABASE_COLLECTION_H

#include "base/status.h"
#include "base/why.h"
#include "io/journal.h"
#include "protocol/machine.h"

#include <stdint.h>

struct collection;

enum { COLLECTORS_MAX = 64 };

/* What collection_open is told. */
struct collection_options {
    const char *place;
    uint32_t job; /* of a queue, whose schema has the tables (journal_place.h); 0: there is none */
    const char *
        name; /* of this collector; "": the coordinator that leads, which makes the tables where they are missing */
    const struct peer
        *collectors; /* (count) the only ones whose parts are shown; of the one that leads */
    size_t count;
    int64_t
        term; /* of the one that leads: journal_term of its journal. Once the lease has another, it writes nothing */
};

/** Is told a part: whose it is, a record, and its sum; this is empty where it does not match its digest. */
typedef enum status collection_visit(void *self, const struct peer *collector, struct slice body,
                                     struct slice blob);

/** Connects to a database. Fails as journal_open does; of the one that leads with STATUS_BUSY where another one leads by now; of
 * a collector with STATUS_AGAIN also where no coordinator with
 * collectors has led yet. */
MUST_USE enum status collection_open(struct collection **out,
                                     const struct collection_options *options, struct why *why);
void collection_close(struct collection *collection);

/** Makes the journal of a collector's machine, which owns the collection from then on. Its `each` reads the records of the one
 * that leads, so far; `append` commits a further part of a round (record, body; sum, blob); `forget` does nothing. */
struct journal collection_journal(struct collection *collection);

/** Shows a collector the records that the one that leads has committed since. Fails as a journal's `each` does. */
MUST_USE enum status collection_follow(struct collection *collection, journal_visit *visit,
                                       void *visit_self, struct why *why);

/** Says how this one stands: own, whose name is not read. Fails as database_ask does; with STATUS_REFUSED where the one that
 * leads has no collector of this name, and STATUS_BUSY where another one leads by now. */
MUST_USE enum status collection_tell(struct collection *collection, const struct standing_of *own,
                                     struct why *why);

/** A collector is through with the job: it counts as present no longer. Fails as collection_tell does. */
MUST_USE enum status collection_retire(struct collection *collection, struct why *why);

/** Reads how all stand, this one included: of (COLLECTORS_MAX + 1), count out. Fails as database_ask does. */
MUST_USE enum status collection_ask(struct collection *collection, struct standing_of *of,
                                    size_t *count, struct why *why);

/** Shows the parts of a round that have come in and have not been shown: to a collector its own, to the one that leads those of
 * its collectors. Parts of earlier rounds are deleted by the latter. Fails as database_ask does, or as visit. */
MUST_USE enum status collection_parts(struct collection *collection, uint32_t round,
                                      collection_visit *visit, void *visit_self, struct why *why);

/** The job is over: deletes all parts, where nobody else leads by now. */
MUST_USE enum status collection_clear(struct collection *collection, struct why *why);

#endif
