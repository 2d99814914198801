/* light_agents.h - some hundred agents in one process, without records, noise and journals: each has a key and a CURVE
 * connection of its own, greets, and answers each round with made-up numbers at once. */

#ifndef BENCH_LIGHT_AGENTS_H
#define BENCH_LIGHT_AGENTS_H

#include "crypto/key.h"

#include <stddef.h>

struct light_agents {
    const struct key_pair *key; /* (count) */
    size_t first;               /* the number of the first one */
    size_t count;
    size_t number_count;      /* of an answer */
    unsigned word_bytes;      /* of a number of it */
    const char *address;      /* of the coordinator, */
    struct digest public_key; /* and its key */
};

enum {
    LIGHT_STARTS_PER_S = 300, /* of all together */
    LIGHT_NICE = 5, /* agents have machines of their own: here they yield to the coordinator */
    LIGHT_HELLO_MS = 2000, /* as agents do, by default */
    LIGHT_SILENCE_MS =
        10000 /* then a connection is built anew, which has twice as long for its first word */
};

/** Returns the number at a place of an agent's answers. */
long long light_agents_value(size_t agent, size_t place);

/** Plays them until the process is killed. */
_Noreturn void light_agents_run(const struct light_agents *agents);

#endif
