/* fuzz_harness.h - one real machine in the simulator's world, driven by bytes: each step is an
 * operation, a seed of 16 bits for its choices, and what the operation reads. The simulator's
 * checkers watch. */

#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include "base/check.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HARNESS_STEPS_MAX = 400, HARNESS_BUSY_MAX = 64 };

struct harness {
    struct world world;
    const uint8_t *data;
    size_t size;
    size_t machine; /* the number of the one that runs */
};

static inline void harness_init(struct harness *harness, size_t machine, const uint8_t *data,
                                size_t size)
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
    world_init(&harness->world, &plan, false);
    harness->data = data;
    harness->size = size;
    harness->machine = machine;
    harness->world.formula_answers = true;
    node_start(&harness->world, &harness->world.node[machine]);
}

/** Ends the input; what a checker found ends the program. */
static inline void harness_end(struct harness *harness)
{
    if (harness->world.failure[0] != '\0') {
        fprintf(stderr, "%s\n", harness->world.failure);
    }
    CHECK(harness->world.failure[0] == '\0');
    world_free(&harness->world);
}

static inline uint8_t harness_byte(struct harness *harness)
{
    if (harness->size == 0) {
        return 0;
    }
    harness->size--;
    return *harness->data++;
}

/* What is due until then. */
static inline void harness_wait(struct harness *harness, int64_t ms)
{
    struct world *world = &harness->world;
    struct node *node = &world->node[harness->machine];
    world->now_ms += ms;
    for (int i = 0; i < HARNESS_BUSY_MAX && node_due_ms(world, node) <= world->now_ms; i++) {
        node_act(world, node);
    }
}

static inline void harness_hand(struct harness *harness, size_t from, struct slice control,
                                struct slice payload)
{
    struct event event = {.kind = EVENT_MESSAGE};
    struct node *node = &harness->world.node[harness->machine];
    if (node->up) {
        memcpy(event.as.message.peer.name, peer_name(from), strlen(peer_name(from)));
        event.as.message.control = control;
        event.as.message.payload = payload;
        node_step(&harness->world, node, &event);
    }
}

/* A frame as it stands in the input. */
static inline void harness_raw(struct harness *harness, size_t from)
{
    size_t control_size = harness_byte(harness);
    size_t payload_size = harness_byte(harness) % 32;
    if (control_size + payload_size > harness->size) {
        control_size = harness->size;
        payload_size = 0;
    }
    struct slice control = {.data = harness->data, .size = control_size};
    struct slice payload = {.data = harness->data + control_size, .size = payload_size};
    harness->data += control_size + payload_size;
    harness->size -= control_size + payload_size;
    harness_hand(harness, from, control, payload);
}

static inline void harness_trouble(struct harness *harness)
{
    struct world *world = &harness->world;
    struct node *node = &world->node[harness->machine];
    uint8_t what = harness_byte(harness);
    if (what % 4 == 0) {
        node_crash(world, node, "killed");
    } else {
        memory_journal_plan(node->memory, 1 + what / 4 % 4, (enum journal_fault)(what % 4));
    }
}

#endif
