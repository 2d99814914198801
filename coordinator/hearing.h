/* hearing.h - what a coordinator without a job hears of the sites that come: that they are there, and the data
 * dictionaries that they show. */

#ifndef COORDINATOR_HEARING_H
#define COORDINATOR_HEARING_H

#include "base/log.h"
#include "coordinator/shown.h"
#include "protocol/machine.h"
#include "protocol/message.h"

struct heard_site;

/* Starts zeroed but for sink and log, which are kept. Sites beyond PEERS_MAX, or without memory, are not asked. */
struct hearing {
    struct dictionary_sink sink;
    const struct log *log;
    struct heard_site **site; /* (count) sorted by name, owned */
    size_t count;
    size_t room;
};

void hearing_free(struct hearing *hearing);

/** Tells the log why wire_decode refused an agent's frame: of another version both versions, and which program to upgrade. */
void hearing_refuse(const struct log *log, const struct peer *peer, struct slice control,
                    enum status status);

/** Hears a message of a site that is let in; returns whether answer (out) is to be sent to it, beside HELLO's own. */
bool hearing_take(struct hearing *hearing, const struct peer *site, const struct message *message,
                  struct slice payload, int64_t now_ms, struct message *answer);

#endif
