/* fake_agent.h - an agent without records: joins, offers a made-up vector, serves it, fetches the
 * released model and judges it. It speaks through the real endpoint. */

#ifndef BENCH_FAKE_AGENT_H
#define BENCH_FAKE_AGENT_H

#include "crypto/key.h"

#include <stddef.h>
#include <sys/types.h>

struct fake_agent {
    size_t number;
    size_t agent_count;
    size_t feature_count;
    unsigned grid_bits;
    struct key_pair key;
    int address_pipe[2]; /* a struct fake_agent_address comes through it */
    int verdict_pipe[2]; /* 'y' goes through it when the released model was the right one */
    pid_t process;
};

struct fake_agent_address {
    char address[128];
    struct digest coordinator_key;
};

/** Plays the agent in a process of its own until SIGTERM. */
_Noreturn void fake_agent_run(const struct fake_agent *agent);

#endif
