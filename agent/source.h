/* source.h - where an agent's records come from: handed to the participant so that it needs no
 * file. */

#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/schema.h"

struct source {
    /** Reads the records that the site's dictionary states: as many, whatever the file holds.
     * Fails with STATUS_IO, STATUS_INVALID (the header line lacks a column of the dictionary),
     * STATUS_NO_MEMORY, whatever the schema asks for; why is for the agent's own operator. */
    enum status (*load)(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why);
    /** Returns the milliseconds that load takes at most, by public numbers: sizes, and the speed of this
     * machine on made-up records. NULL: load takes no more than a slot. Called where load is. */
    uint64_t (*longest_ms)(void *self, const struct schema *schema);
    void *self;
};

#endif
