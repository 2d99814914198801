/* fake_agent.h - an agent without records: joins, and answers each round with the same made-up vector once that is in its
 * journal; fetches the released model and judges it. Its machine is a stand-in; driver, endpoint and journal are the real
 * ones. */

#ifndef BENCH_FAKE_AGENT_H
#define BENCH_FAKE_AGENT_H

#include "crypto/key.h"
#include "dp/encode.h"

#include <stddef.h>
#include <sys/types.h>

enum { FAKE_VALUE_MAX = 1 << 26 }; /* no number of an answer is beyond it */

struct fake_agent {
    size_t number;
    size_t agent_count;
    size_t feature_count;
    struct encode_form form; /* of its answer */
    double scale;            /* of the right model, to the average of all answers */
    long long stall_ms;      /* how long it leaves a pull unanswered, once */
    char folder[256];        /* of its journal */
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
