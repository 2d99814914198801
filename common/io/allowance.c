#include "io/allowance.h"

#include <stdio.h>
#include <string.h>

/* Returns the name's place, or the one that it is to have. */
static struct allowance_name *place_for(struct allowance *allowance, const char *name,
                                        int64_t now_ms, struct allowance_terms terms)
{
    struct allowance_name *fullest = &allowance->place[0];
    int64_t most = INT64_MIN;
    for (size_t i = 0; i < ALLOWANCE_NAMES; i++) {
        struct allowance_name *place = &allowance->place[i];
        if (place->name[0] == '\0' || strcmp(place->name, name) == 0) {
            return place; /* places are taken in order: after a free one all are free */
        }
        const int64_t level = bucket_level_milli(&place->bucket, now_ms, terms.burst, terms.per_s);
        fullest = level > most ? place : fullest;
        most = level > most ? level : most;
    }
    return fullest;
}

bool allowance_take(struct allowance *allowance, const char *name, int64_t now_ms, uint64_t amount,
                    struct allowance_terms terms)
{
    struct allowance_name *place = place_for(allowance, name, now_ms, terms);
    if (strcmp(place->name, name) != 0) {
        memset(place, 0, sizeof *place);
        (void)snprintf(place->name, sizeof place->name, "%s", name);
    }
    return bucket_take(&place->bucket, now_ms, amount, terms.burst, terms.per_s);
}
