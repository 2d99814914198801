/* node_private.h - what node.c, node_start.c and node_write.c share. */

#ifndef SIM_NODE_PRIVATE_H
#define SIM_NODE_PRIVATE_H

#include "sim/world.h"

/** The world's hooks around a call of a machine; leave answers whether memory was refused. */
void node_enter(struct world *world, const struct node *node);
bool node_leave(struct world *world, const struct node *node);

/** Returns a time from now on, later by at most this much. */
int64_t node_after(struct world *world, uint64_t most);

/** Performs an EFFECT_COMMIT or EFFECT_FORGET, or has it done later. */
void node_write(struct world *world, struct node *node, const struct effect *effect);

/** When the first of what is to be done later is due, INT64_MAX; does that, or all; forgets it all. */
int64_t node_write_due_ms(const struct node *node);
void node_write_first(struct world *world, struct node *node);
void node_write_all(struct world *world, struct node *node);
void node_drop_writes(struct node *node);

/** Answers whether it is one of the coordinators that share a job. */
bool node_shares(const struct world *world, const struct node *node);

/** Tells it who is admitted, if it is up. */
void node_hear_roster(struct world *world, struct node *node);

#endif
