/* What happens to the world while faults last. */

#include "sim/world.h"

static size_t some_machine(struct world *world)
{
    return dice_below(&world->dice, world->machine_count);
}

static size_t some_agent(struct world *world)
{
    return 1 + dice_below(&world->dice, SIM_AGENTS);
}

static void cut(struct world *world)
{
    struct node *node = &world->node[some_machine(world)];
    node->cut_until_ms = world->now_ms + (int64_t)dice_below(&world->dice, 6000);
    world_tell(world, "%s is cut off", peer_name(node->number));
}

static void kill_link(struct world *world)
{
    struct node *node = &world->node[some_agent(world)];
    node->link_dead = true;
    world_tell(world, "the link of %s is dead until it reconnects", peer_name(node->number));
}

static void tick(struct world *world)
{
    struct node *node = &world->node[some_machine(world)];
    struct event event = {.kind = EVENT_TICK};
    if (node->up && !node->held && !node->stopped) {
        node_step(world, node, &event);
    }
}

static void jump_clock(struct world *world)
{
    struct node *node = &world->node[some_machine(world)];
    node->clock_base_ms += (int64_t)dice_below(&world->dice, 3000);
}

static void change_roster(struct world *world)
{
    size_t agent = some_agent(world);
    for (size_t i = 1; i <= SIM_AGENTS && dice_one_in(&world->dice, 2); i++) {
        agent = world->admitted[i] ? agent : i; /* it was a mistake, or the key came back */
    }
    world->admitted[agent] = !world->admitted[agent];
    world->tally.revocations += !world->admitted[agent];
    world_tell(world, "%s is %s", peer_name(agent),
               world->admitted[agent] ? "admitted" : "revoked");
    node_tell_roster(world);
}

static void crash(struct world *world)
{
    node_crash(world, &world->node[some_machine(world)], "killed");
}

/* If one of these came at every turn, nothing else would happen. */
enum { SELDOM = 10 };

static struct node *some_coordinator(struct world *world)
{
    return world_coordinator(world, dice_below(&world->dice, world->plan.coordinators));
}

static void stop(struct world *world)
{
    struct node *node = some_coordinator(world);
    if (node->up && !node->held && !node->stopped && dice_one_in(&world->dice, SELDOM)) {
        node_stop(world, node);
    }
}

static void stop_database(struct world *world)
{
    if (dice_one_in(&world->dice, SELDOM)) {
        server_stop(world, (int64_t)dice_below(&world->dice, 5000));
    }
}

static void cut_database(struct world *world)
{
    struct node *node = some_coordinator(world);
    if (!dice_one_in(&world->dice, SELDOM)) {
        return;
    }
    node->database_cut_until_ms = world->now_ms + (int64_t)dice_below(&world->dice, 12000);
    world->tally.database_cuts++;
    world_tell(world, "coordinator %zu is cut off from the database", node->process);
}

void chaos_strike(struct world *world)
{
    const struct {
        unsigned weight;
        void (*happen)(struct world *world);
    } kind[] = {
        {world->plan.crash, crash},
        {world->plan.partition, cut},
        {world->plan.dead_link, kill_link},
        {world->plan.replay, network_replay},
        {world->plan.junk, junk_act},
        {world->plan.stranger, stranger_act},
        {world->plan.tick, tick},
        {world->plan.clock_jump, jump_clock},
        {world->plan.liar, liar_act},
        {world->plan.mallory, mallory_act},
        {world->plan.revoke, change_roster},
        {world->plan.stop, stop},
        {world->plan.database_stop, stop_database},
        {world->plan.database_cut, cut_database},
    };
    unsigned total = 0;
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        total += kind[i].weight;
    }
    if (total == 0) {
        return;
    }
    unsigned drawn = (unsigned)dice_below(&world->dice, total);
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        if (drawn < kind[i].weight) {
            kind[i].happen(world);
            return;
        }
        drawn -= kind[i].weight;
    }
}

void chaos_heal(struct world *world)
{
    world_tell(world, "the faults are over");
    for (size_t i = 0; i < world->machine_count; i++) {
        world->node[i].cut_until_ms = 0;
        world->node[i].database_cut_until_ms = 0;
    }
    world->server.down_until_ms = 0;
    world->server.led_ms = world->now_ms;
    if (world->plan.mallory > 0 && dice_one_in(&world->dice, 2)) {
        world->admitted[MALLORY] = false;
        node_tell_roster(world);
    }
}
