/* One program of the world, and a driver as io/driver is: effects in order, commits answered later (node_write.c), any trouble
 * a crash, recovery from the journal. */

#include "base/check.h"
#include "database/journal_place.h"
#include "sim/node_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_LEAD_MS = 1000
}; /* the longest time after which a driver asks again whether another
                               * program has its journal */

static int64_t clock_of(const struct node *node, int64_t world_ms)
{
    return node->clock_base_ms + world_ms + world_ms * node->clock_ppm / 1000000;
}

int64_t node_clock_ms(const struct world *world, const struct node *node)
{
    return clock_of(node, world->now_ms);
}

/* The first world time at which the node's clock shows at least local_ms. */
static int64_t world_time_of(const struct node *node, int64_t local_ms)
{
    int64_t guess = (local_ms - node->clock_base_ms) * 1000000 / (1000000 + node->clock_ppm) - 2;
    while (clock_of(node, guess) < local_ms) {
        guess++;
    }
    return guess;
}

void node_enter(struct world *world, const struct node *node)
{
    if (world->entered != NULL) {
        world->entered(world, node);
    }
}

bool node_leave(struct world *world, const struct node *node)
{
    return world->left != NULL && world->left(world, node);
}

static void work(struct world *world, struct node *node)
{
    if (node->number == COORDINATOR) {
        node->random_failed = world_chance(world, world->plan.random_fails);
        node->work_failed = node->random_failed;
        node->before_work = node->seeded;
    }
    node_enter(world, node);
    node->machine.work(node->machine.self);
    node->starved = node_leave(world, node);
}

int64_t node_after(struct world *world, uint64_t most)
{
    return world->now_ms + (int64_t)dice_below(&world->dice, most + 1);
}

bool node_shares(const struct world *world, const struct node *node)
{
    return node->number == COORDINATOR && world_is_shared(world);
}

/* Whether it may lead, among coordinators that share a job. */
static bool may_lead(const struct world *world, const struct node *node)
{
    return node_shares(world, node) && !world_collects(world, node);
}

static size_t peer_number(const struct peer *peer)
{
    size_t i = 0;
    while (i < PEERS && strcmp(peer_name(i), peer->name) != 0) {
        i++;
    }
    return i;
}

static void perform_work(struct world *world, struct node *node)
{
    if (node->working) {
        world_fail(world, "%s asks for work while it works", peer_name(node->number));
        return;
    }
    node->working = true;
    node->worked_ms = node_after(world, world->plan.work_ms_max);
    if (world->plan.work_at_start) {
        work(world, node);
    }
}

static void perform(struct world *world, struct node *node, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND: {
        size_t to = peer_number(&effect->as.send.peer);
        if (to == PEERS) {
            world_fail(world, "%s writes to nobody", peer_name(node->number));
            return;
        }
        planted_send(world, node, to, effect->as.send.control, effect->as.send.payload);
        liar_overhear(world, node->number, effect->as.send.control);
        break;
    }
    case EFFECT_COMMIT:
        if (planted_early(world, node, effect)) {
            break;
        }
        node_write(world, node, effect);
        break;
    case EFFECT_FORGET:
        node_write(world, node, effect);
        break;
    case EFFECT_WORK:
        perform_work(world, node);
        break;
    case EFFECT_DOUBT:   /* nobody forges pieces here */
    case EFFECT_RESTART: /* no file changes in the simulator */
        break;
    case EFFECT_RECONNECT:
        world_tell(world, "%s reconnects", peer_name(node->number));
        world->tally.reconnects++;
        node->link_dead = false;
        network_reconnect(world, node);
        break;
    case EFFECT_FINISH:
        node_write_all(world, node);
        if (!node->up) {
            break;
        }
        node->exit_code = effect->as.finish.exit_code;
        world_tell(world, "%s finishes: %d", peer_name(node->number), node->exit_code);
        node->finished = true;
        node_free(world, node);
        break;
    }
}

/* Returns whether a program that took itself for the leader knows now that it is not. */
static bool looks(struct world *world, struct node *node)
{
    if (node->reads ||
        (world->now_ms - node->looked_ms < LOOK_LEAD_MS && !dice_one_in(&world->dice, 4))) {
        return false;
    }
    struct node *before = server_visit(world, node);
    const bool lost = journal_is_lost(&node->journal);
    (void)server_visit(world, before);
    node->looked_ms = world->now_ms;
    if (lost) {
        world->tally.leads_lost++;
        node_restart(world, node, "it leads no longer");
    }
    return lost;
}

static void hold_between(struct world *world, struct node *node)
{
    if (world_chance(world, world->plan.held_between)) {
        world_hold(world, node);
    }
    if (node->killed) {
        node_restart(world, node, "killed while it was held up");
    }
}

void node_step(struct world *world, struct node *node, struct event *event)
{
    if (may_lead(world, node) && event->kind != EVENT_START && looks(world, node)) {
        return;
    }
    event->now_ms = clock_of(node, world->now_ms);
    /* A second is a quarter of a day, and the site's clock is wrong by up to a day either way. */
    event->wall_ms =
        world->now_ms * 21600 + (int64_t)dice_below(&world->dice, 172800000) - 86400000;
    effects_clear(&node->effects);
    node->random_failed = world_chance(world, world->plan.random_fails);
    node->before_step = node->seeded;
    if (node->number == COORDINATOR && event->kind == EVENT_WORKED) {
        node->before_step = node->before_work;
        node->random_failed = node->random_failed || node->work_failed;
    }
    node_enter(world, node);
    enum status status = node->machine.step(node->machine.self, event, &node->effects);
    bool starved = node_leave(world, node) || (event->kind == EVENT_WORKED && node->starved);
    if (starved != (status == STATUS_NO_MEMORY)) {
        world_fail(world, "%s: memory %s, and the step says: %s", peer_name(node->number),
                   starved ? "was refused" : "was there", status_text(status));
    }
    if (status != STATUS_OK) {
        if (!starved && (status != STATUS_NO_RANDOM || !node->random_failed)) {
            world_fail(world, "%s: a step failed: %s", peer_name(node->number),
                       status_text(status));
        }
        world->tally.no_random++;
        node_restart(world, node, status_text(status));
        return;
    }
    for (size_t i = 0; i < node->effects.count && node->up && !node->finished; i++) {
        if (world_chance(world, world->plan.crash_between)) {
            node_crash(world, node, "between two effects");
            return;
        }
        perform(world, node, &node->effects.item[i]);
        if (node->up && node_shares(world, node)) {
            hold_between(world, node);
        }
    }
    if (node->up && node->write == NULL &&
        (node->number != COORDINATOR || server_is_led_by(world, node)) &&
        (event->kind == EVENT_START || event->kind == EVENT_COMMITTED)) {
        checker_on_kept(world, node);
    }
    if (node->up && world_chance(world, world->plan.crash_between / 4)) {
        node_crash(world, node, "after a step");
    }
}

static int64_t wake_of(const struct world *world, const struct node *node)
{
    int64_t wake = node->machine.wake_ms(node->machine.self);
    if (wake == INT64_MAX) {
        return INT64_MAX;
    }
    int64_t due = world_time_of(node, wake);
    return due > world->now_ms ? due : world->now_ms;
}

int64_t node_due_ms(const struct world *world, const struct node *node)
{
    if (node->held || node->stopped) {
        return machine_earlier(node->keeper_held ? INT64_MAX : server_keeper_due_ms(node),
                               node->stopped ? node->held_until_ms : INT64_MAX);
    }
    if (node->finished) {
        return INT64_MAX;
    }
    if (!node->up) {
        return node->restart_ms;
    }
    if (node->roster_due) {
        return world->now_ms;
    }
    int64_t due = wake_of(world, node);
    if (may_lead(world, node)) {
        due = machine_earlier(
            due, machine_earlier(server_keeper_due_ms(node), node->looked_ms + LOOK_LEAD_MS));
    }
    if (world_is_collected(world, node)) {
        due = machine_earlier(due, node->look_due_ms);
    }
    if (node->working && node->worked_ms < due) {
        due = node->worked_ms;
    }
    if (node->committed_count > 0 && node->committed_ms[0] < due) {
        due = node->committed_ms[0];
    }
    due = machine_earlier(due, node_write_due_ms(node));
    return due;
}

static void tell_committed(struct world *world, struct node *node)
{
    struct event event = {.kind = EVENT_COMMITTED};
    event.as.committed.sequence = node->committed_sequence[0];
    node->committed_count--;
    for (size_t i = 0; i < node->committed_count; i++) {
        node->committed_ms[i] = node->committed_ms[i + 1];
        node->committed_sequence[i] = node->committed_sequence[i + 1];
    }
    node_step(world, node, &event);
}

static void tell_worked(struct world *world, struct node *node)
{
    struct event event = {.kind = EVENT_WORKED};
    if (!world->plan.work_at_start) {
        work(world, node);
    }
    node->working = false;
    node_step(world, node, &event);
}

void node_act(struct world *world, struct node *node)
{
    if (node->stopped && node->held_until_ms <= world->now_ms) {
        node->stopped = false;
        world_tell(world, "coordinator %zu goes on", node->process);
        return;
    }
    if (server_keeper_due_ms(node) <= world->now_ms) {
        server_keep(world, node);
        return;
    }
    if (node->up && node->roster_due) {
        node_hear_roster(world, node);
        return;
    }
    if (!node->up) {
        node_start(world, node);
        return;
    }
    if (node_write_due_ms(node) <= world->now_ms) {
        node_write_first(world, node);
        if (node->up) {
            hold_between(world, node);
        }
        return;
    }
    if (node->committed_count > 0 && node->committed_ms[0] <= world->now_ms) {
        tell_committed(world, node);
        return;
    }
    if (node->working && node->worked_ms <= world->now_ms) {
        tell_worked(world, node);
        return;
    }
    if (world_is_collected(world, node) && node->look_due_ms <= world->now_ms) {
        collected_look(world, node);
        return;
    }
    struct event event = {.kind = EVENT_TICK};
    node_step(world, node, &event);
    bool spins = node->up && wake_of(world, node) <= world->now_ms;
    node->spins = spins ? node->spins + 1 : 0;
    if (node->spins > 3) {
        world_fail(world, "%s wants to be woken again and again at the same time",
                   peer_name(node->number));
    }
}
