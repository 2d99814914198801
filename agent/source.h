/* source.h - where an agent's records come from: handed to the participant so that it needs no
 * file. */

#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/schema.h"

struct source {
    /** Reads all records. Fails with STATUS_INVALID or STATUS_IO; why names file, line, column and
     * remedy, never a value; it is shown to the agent's own operator only. */
    enum status (*load)(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why);
    void *self;
};

#endif
