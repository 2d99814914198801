/* endpoint_owed.h - what the files about agents that fetch share (endpoint_owed.c, endpoint_turns.c, endpoint_takers.c). */

#ifndef IO_ENDPOINT_OWED_H
#define IO_ENDPOINT_OWED_H

#include "io/endpoint_private.h"
#include "protocol/transfer.h"

enum {
    SMALL_BYTES = 32 * 1024, /* what other messages leave: as good as nothing */
    SHARE_BYTES = TRANSFER_WINDOW_BYTES + 2 * SMALL_BYTES /* of one agent, whatever it asks for */
};

/** Returns what an agent owed when last looked. */
uint64_t endpoint_owed_by(const struct admitted *admitted);

/** Looks what one agent has been given and has not acknowledged; what all have, unless that was done just now. */
void endpoint_owed_look_at(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms);
void endpoint_owed_look_at_all(struct endpoint *endpoint, int64_t now_ms);

/** Notes whether an agent waits for others. */
void endpoint_owed_hold_up(struct endpoint *endpoint, struct admitted *admitted, bool by_others);

/** Returns whether a piece was given that is on its way still, or has only just arrived. The agent was looked at just now. */
bool endpoint_owed_has(const struct admitted *admitted, const struct fetched *fetch,
                       int64_t now_ms);

/** Returns the descriptor by which most of what it owes went; -1: none. */
int endpoint_owed_descriptor(const struct endpoint *endpoint, const struct admitted *admitted);

/** All were looked at: while somebody waits for others, cuts those who do not take what they asked for, once their time for it
 * is over. */
void endpoint_takers_judge(struct endpoint *endpoint, int64_t now_ms);

#endif
