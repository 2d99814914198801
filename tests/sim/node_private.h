/* node_private.h - what node.c and node_start.c share. */

#ifndef SIM_NODE_PRIVATE_H
#define SIM_NODE_PRIVATE_H

#include "sim/world.h"

/** The world's hooks around a call of a machine; leave answers whether memory was refused. */
void node_enter(struct world *world, const struct node *node);
bool node_leave(struct world *world, const struct node *node);

/** Returns a time from now on, at most so much later. */
int64_t node_after(struct world *world, uint64_t most);

/** Answers whether it is one of the coordinators that share a job. */
bool node_shares(const struct world *world, const struct node *node);

/** Tells it who is admitted, if it is up. */
void node_hear_roster(struct world *world, struct node *node);

#endif
