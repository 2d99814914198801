/* A coordinator of several that hold the agents of one job: the program's own way to follow the others (coordinator/
 * main_collect.c), at every look. It may die in the middle of a look. Its memory is freed when the look has ended. */

#include "sim/world.h"

#include <stdio.h>
#include <string.h>

static const char *const name[] = {"", "east", "west"}; /* of the processes that collect */

bool world_collects(const struct world *world, const struct node *node)
{
    return node->number == COORDINATOR && node->process >= 1 &&
           node->process <= world->plan.collectors;
}

bool world_is_collected(const struct world *world, const struct node *node)
{
    return node->number == COORDINATOR && world->plan.collectors > 0;
}

/* All coordinators that may lead have the same list. */
bool world_lists(const struct world *world, const struct node *node, size_t peer)
{
    const size_t group = world_collects(world, node) ? node->process : 0;
    return world->admitted[peer] &&
           (world->plan.collectors == 0 || world->plan.group[peer] == group);
}

enum status collected_open(struct world *world, struct node *node, struct why *why)
{
    struct coordinator_settings *settings = &node->office.settings;
    memset(&node->office, 0, sizeof node->office);
    node->office.job = world->fixture.job;
    (void)snprintf(settings->state, sizeof settings->state, SERVER_URL);
    if (world_collects(world, node)) {
        (void)snprintf(settings->collector, sizeof settings->collector, "%s", name[node->process]);
    } else {
        (void)snprintf(settings->collectors, sizeof settings->collectors, "%s %s", name[1],
                       name[2]);
    }
    collect_begin(&node->collect, &node->office, &world->log);
    node->look_due_ms = world->now_ms;
    return world_collects(world, node) ? collect_open_journal(&node->collect, &node->journal, why)
                                       : server_open(&node->journal);
}

enum status collected_join(struct world *world, struct node *node)
{
    struct why why = {""};
    struct node *before = server_visit(world, node);
    const enum status status = collect_open(&node->collect, &node->journal, &why);
    if (status == STATUS_OK) {
        collect_join(&node->collect, node->coordinator);
    }
    (void)server_visit(world, before);
    world_tell(world, "coordinator %zu joins: %s", node->process, why.text);
    return status;
}

void collected_leave(struct world *world, struct node *node)
{
    struct node *before = server_visit(world, node);
    collect_leave(&node->collect);
    (void)server_visit(world, before);
}

struct looking {
    struct world *world;
    struct node *node;
};

static enum status hear(void *self, const struct event *event)
{
    const struct looking *looking = self;
    struct event copy = *event;
    if (event->kind == EVENT_RECORD) {
        looking->node->known = event->as.record.sequence;
    }
    node_step(looking->world, looking->node, &copy);
    return looking->node->up ? STATUS_OK : STATUS_REFUSED;
}

void collected_look(struct world *world, struct node *node)
{
    struct looking looking = {world, node};
    struct why why = {""};
    struct node *before = server_visit(world, node);
    node->looks = true;
    const enum status status =
        node->collect.source.look(node->collect.source.self, hear, &looking, &why);
    node->looks = false;
    (void)server_visit(world, before);
    node->look_due_ms = world->now_ms + node->collect.source.every_ms;
    if (!node->up) {
        node_free(world, node); /* it has died or ended meanwhile */
    } else if (status != STATUS_OK || node->killed) {
        world->tally.looks_failed++;
        node_restart(world, node, why.text);
    }
}
