/* fuzz_rig.h - one real machine in the simulator's world, driven by bytes: each step is an
 * operation, a seed of 16 bits for its choices, and what the operation reads. The simulator's
 * checkers watch. */

#ifndef FUZZ_RIG_H
#define FUZZ_RIG_H

#include "base/check.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_STEPS_MAX = 400, RIG_BUSY_MAX = 64 };

struct rig {
    struct world world;
    const uint8_t *data;
    size_t size;
    size_t machine; /* the number of the one that runs */
};

static inline void rig_init(struct rig *rig, size_t machine, const uint8_t *data, size_t size)
{
    struct plan plan;
    plan_calm(&plan, 1);
    plan.cohort_min = 1;
    plan.deadline_s = 3;
    plan.join_deadline_s = 3;
    plan.faulty = true;
    plan.faults_end_ms = INT64_MAX;
    plan.liar = 1;
    plan.mallory = 1;
    world_init(&rig->world, &plan, false);
    rig->data = data;
    rig->size = size;
    rig->machine = machine;
    rig->world.formula_answers = true;
    node_start(&rig->world, &rig->world.node[machine]);
}

/** Ends the input; what a checker found ends the program. */
static inline void rig_end(struct rig *rig)
{
    if (rig->world.failure[0] != '\0') {
        fprintf(stderr, "%s\n", rig->world.failure);
    }
    CHECK(rig->world.failure[0] == '\0');
    world_free(&rig->world);
}

static inline uint8_t rig_byte(struct rig *rig)
{
    if (rig->size == 0) {
        return 0;
    }
    rig->size--;
    return *rig->data++;
}

/* What is due until then. */
static inline void rig_wait(struct rig *rig, int64_t ms)
{
    struct world *world = &rig->world;
    struct node *node = &world->node[rig->machine];
    world->now_ms += ms;
    for (int i = 0; i < RIG_BUSY_MAX && node_due_ms(world, node) <= world->now_ms; i++) {
        node_act(world, node);
    }
}

static inline void rig_hand(struct rig *rig, size_t from, struct slice control,
                            struct slice payload)
{
    struct event event = {.kind = EVENT_MESSAGE};
    struct node *node = &rig->world.node[rig->machine];
    if (node->up) {
        memcpy(event.as.message.peer.name, peer_name(from), strlen(peer_name(from)));
        event.as.message.control = control;
        event.as.message.payload = payload;
        node_step(&rig->world, node, &event);
    }
}

/* A frame as it stands in the input. */
static inline void rig_raw(struct rig *rig, size_t from)
{
    size_t control_size = rig_byte(rig);
    size_t payload_size = rig_byte(rig) % 32;
    if (control_size + payload_size > rig->size) {
        control_size = rig->size;
        payload_size = 0;
    }
    struct slice control = {.data = rig->data, .size = control_size};
    struct slice payload = {.data = rig->data + control_size, .size = payload_size};
    rig->data += control_size + payload_size;
    rig->size -= control_size + payload_size;
    rig_hand(rig, from, control, payload);
}

static inline void rig_trouble(struct rig *rig)
{
    struct world *world = &rig->world;
    struct node *node = &world->node[rig->machine];
    uint8_t what = rig_byte(rig);
    if (what % 4 == 0) {
        node_crash(world, node, "killed");
    } else {
        memory_journal_plan(&node->journal, 1 + what / 4 % 4, (enum journal_fault)(what % 4));
    }
}

#endif
