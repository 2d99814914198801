/* Frames on their way: lost, doubled, late, out of order, damaged, cut off, and old ones again. */

#include "protocol/wire.h"
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

static bool is_before(const struct frame *a, const struct frame *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void swap(struct frame *a, struct frame *b)
{
    struct frame c = *a;
    *a = *b;
    *b = c;
}

static void heap_push(struct world *world, struct frame frame)
{
    if (world->frame_count == world->frame_room) {
        world->frame_room = 2 * world->frame_room + 64;
        world->frame = realloc(world->frame, world->frame_room * sizeof *world->frame);
        if (world->frame == NULL) {
            abort();
        }
    }
    size_t at = world->frame_count++;
    world->frame[at] = frame;
    while (at > 0 && is_before(&world->frame[at], &world->frame[(at - 1) / 2])) {
        swap(&world->frame[at], &world->frame[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

struct frame network_next(struct world *world)
{
    struct frame first = world->frame[0];
    world->frame[0] = world->frame[--world->frame_count];
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < world->frame_count;
             child++) {
            if (is_before(&world->frame[child], &world->frame[least])) {
                least = child;
            }
        }
        if (least == at) {
            return first;
        }
        swap(&world->frame[at], &world->frame[least]);
        at = least;
    }
}

static struct frame frame_of(size_t from, size_t to, struct slice control, struct slice payload)
{
    struct frame frame = {.from = from,
                          .to = to,
                          .bytes = malloc(control.size + payload.size + 1),
                          .control_size = control.size,
                          .payload_size = payload.size};
    if (frame.bytes == NULL) {
        abort();
    }
    if (control.size > 0) {
        memcpy(frame.bytes, control.data, control.size);
    }
    if (payload.size > 0) {
        memcpy(frame.bytes + control.size, payload.data, payload.size);
    }
    return frame;
}

static struct frame copy_of(const struct frame *frame)
{
    struct frame copy = frame_of(
        frame->from, frame->to, (struct slice){.data = frame->bytes, .size = frame->control_size},
        (struct slice){.data = frame->bytes + frame->control_size, .size = frame->payload_size});
    copy.machine = frame->machine;
    return copy;
}

static void remember(struct world *world, const struct frame *frame)
{
    size_t place = world->history_count;
    if (place == HISTORY_MAX) {
        place = dice_below(&world->dice, HISTORY_MAX);
        free(world->history[place].bytes);
    } else {
        world->history_count++;
    }
    world->history[place] = copy_of(frame);
}

void network_keep(struct world *world, const struct world *earlier)
{
    for (size_t i = 0; i < earlier->history_count; i += 2) {
        remember(world, &earlier->history[i]);
    }
}

static void schedule(struct world *world, struct frame frame)
{
    frame.due_ms = world->now_ms + 1 + (int64_t)dice_below(&world->dice, world->plan.delay_ms_max);
    if (world_chance(world, world->plan.delayed)) {
        frame.due_ms += (int64_t)dice_below(&world->dice, 5000);
    }
    frame.order = world->frame_order++;
    heap_push(world, frame);
}

static void damage(struct world *world, struct frame *frame)
{
    size_t size = frame->control_size + frame->payload_size;
    if (world_chance(world, world->plan.cut_short) && size > 0) {
        world->tally.frames_damaged++;
        if (frame->payload_size > 0 && dice_one_in(&world->dice, 2)) {
            frame->payload_size = dice_below(&world->dice, frame->payload_size);
        } else {
            size_t kept = dice_below(&world->dice, frame->control_size);
            memmove(frame->bytes + kept, frame->bytes + frame->control_size, frame->payload_size);
            frame->control_size = kept;
        }
        size = frame->control_size + frame->payload_size;
    }
    if (world_chance(world, world->plan.flipped) && size > 0) {
        world->tally.frames_damaged++;
        frame->bytes[dice_below(&world->dice, size)] ^=
            (uint8_t)(1u << dice_below(&world->dice, 8));
    }
}

static bool is_cut(const struct world *world, const struct node *node)
{
    return node != NULL && (node->link_dead || node->cut_until_ms > world->now_ms);
}

static struct node *some_coordinator(struct world *world)
{
    return world_coordinator(
        world, world_is_shared(world) ? dice_below(&world->dice, world->plan.coordinators) : 0);
}

/* For frames from nowhere. */
static struct node *any_machine(struct world *world, size_t to)
{
    return to == COORDINATOR ? some_coordinator(world) : to < MACHINES ? &world->node[to] : NULL;
}

/* An agent knows the addresses of all coordinators that have it on their lists, and is connected to one. */
void network_reconnect(struct world *world, struct node *agent)
{
    do {
        agent->heard = some_coordinator(world);
    } while (world->plan.collectors > 0 &&
             world->plan.group[agent->number] !=
                 (world_collects(world, agent->heard) ? agent->heard->process : 0));
}

/* Which machine hears a frame; NULL: none does. */
static struct node *way_of(struct world *world, struct node *from, size_t to)
{
    struct node *node = to < MACHINES ? &world->node[to] : NULL;
    if (!world_is_shared(world)) {
        return node;
    }
    if (to != COORDINATOR) {
        return node != NULL && node->heard == from ? node : NULL;
    }
    if (!from->heard->up) { /* it does not listen */
        network_reconnect(world, from);
        return NULL;
    }
    return from->heard;
}

void network_inject(struct world *world, size_t from, size_t to, struct slice control,
                    struct slice payload)
{
    struct frame frame = frame_of(from, to, control, payload);
    frame.machine = any_machine(world, to);
    schedule(world, frame);
}

void network_inject_message(struct world *world, size_t from, size_t to,
                            const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    size_t size = wire_encode(control, message);
    network_inject(world, from, to, (struct slice){.data = control, .size = size}, payload);
}

void network_send(struct world *world, struct node *node, size_t to, struct slice control,
                  struct slice payload)
{
    struct frame frame = frame_of(node->number, to, control, payload);
    frame.machine = way_of(world, node, to);
    remember(world, &frame);
    if (is_cut(world, node) || is_cut(world, frame.machine) ||
        (frame.machine == NULL && to < MACHINES) || world_chance(world, world->plan.lost)) {
        world->tally.frames_lost++;
        free(frame.bytes);
        return;
    }
    if (world_chance(world, world->plan.doubled)) {
        world->tally.frames_doubled++;
        schedule(world, copy_of(&frame));
    }
    damage(world, &frame);
    schedule(world, frame);
}

void network_replay(struct world *world)
{
    if (world->history_count > 0) {
        world->tally.replays++;
        struct frame frame =
            copy_of(&world->history[dice_below(&world->dice, world->history_count)]);
        frame.machine = any_machine(world, frame.to);
        schedule(world, frame);
    }
}

void network_deliver(struct world *world)
{
    struct frame frame = network_next(world);
    struct slice control = {.data = frame.bytes, .size = frame.control_size};
    struct slice payload = {.data = frame.bytes + frame.control_size, .size = frame.payload_size};
    if (frame.to == MALLORY) {
        mallory_hear(world, MALLORY, control);
    } else if (frame.machine != NULL && (frame.machine->held || frame.machine->stopped)) {
        frame.due_ms = frame.machine->held_until_ms + 1;
        frame.order = world->frame_order++;
        heap_push(world, frame);
        return;
    } else if (frame.machine != NULL && frame.machine->up) {
        struct event event = {.kind = EVENT_MESSAGE};
        const char *name = peer_name(frame.from);
        memcpy(event.as.message.peer.name, name, strlen(name));
        event.as.message.control = control;
        event.as.message.payload = payload;
        node_step(world, frame.machine, &event);
    }
    free(frame.bytes);
}

void network_free(struct world *world)
{
    for (size_t i = 0; i < world->frame_count; i++) {
        free(world->frame[i].bytes);
    }
    for (size_t i = 0; i < world->history_count; i++) {
        free(world->history[i].bytes);
    }
    free(world->frame);
}
