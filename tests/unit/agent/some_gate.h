/* some_gate.h - a gate whose noise is seeded, and answers of four numbers for it. */

#ifndef TESTS_UNIT_AGENT_SOME_GATE_H
#define TESTS_UNIT_AGENT_SOME_GATE_H

#include "agent/gate.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { COUNT = 4 };

static struct seeded_random seeded;
static struct random source;

static inline struct gate *new_gate(uint64_t limit_micro)
{
    struct gate *gate = NULL;
    seeded_random_init(&seeded, 7);
    source = seeded_random_interface(&seeded);
    struct allowances allowances = {.total = {.epsilon_micro = limit_micro}};
    cr_assert_eq(gate_new(&gate, &allowances, &source), STATUS_OK);
    return gate;
}

static inline struct private_vector vector_of(int64_t value)
{
    struct private_vector vector = {.count = COUNT, .low = -10, .high = 10, .sensitivity = 4};
    vector.value = calloc(COUNT, sizeof *vector.value);
    for (size_t i = 0; i < COUNT; i++) {
        vector.value[i] = value;
    }
    return vector;
}

static inline struct gate_request request_of(uint32_t round, uint64_t epsilon_micro)
{
    struct gate_request request = {.job = {{1}},
                                   .word_bytes = 8,
                                   .round = round,
                                   .task = "losses",
                                   .invitation = {{9}},
                                   .charge = {.epsilon_micro = epsilon_micro, .row_count = 5}};
    request.charge.pass.byte[0] = (uint8_t)(round + 1);
    return request;
}

/* Whether exactly this much of the limit is spent: the rest can be spent, and no more. */
static inline bool has_spent(struct gate *gate, uint64_t limit_micro, uint64_t spent_micro)
{
    const struct occasion occasion = {.job = {{1}}};
    struct charge charge = request_of(UINT8_MAX - 1, limit_micro - spent_micro).charge;
    const bool covered = gate_covers(gate, &charge, &occasion, NULL);
    charge.epsilon_micro++;
    return covered && !gate_covers(gate, &charge, &occasion, NULL);
}

#endif
