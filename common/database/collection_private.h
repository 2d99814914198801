/* collection_private.h - what collection.c and collection_parts.c, which reads and deletes parts of rounds, share. */

#ifndef DATABASE_COLLECTION_PRIVATE_H
#define DATABASE_COLLECTION_PRIVATE_H

#include "database/collection.h"
#include "database/database.h"
#include "database/lease.h"

#include <string.h>

struct collection {
    struct database *database;
    struct peer name;
    int64_t term;           /* of the one that leads */
    struct journal records; /* a collector's, read-only */
    bool begun;
    uint32_t round; /* of collection_parts, which has begun */
    struct {
        struct peer collector;
        int64_t number; /* of the latest part that was shown */
    } shown[COLLECTORS_MAX];
    size_t shown_count;
    bool refuses; /* a part's outcome is unknown */
    struct why trouble;
};

static inline struct database_value collection_name(const struct collection *collection)
{
    return database_of_bytes((struct slice){collection->name.name, strlen(collection->name.name)});
}

#endif
