/* owed_rig.h - a coordinator's end without a loop: agents whose connections carry nothing, the bytes that they were sent and
 * have taken, and a clock that the test moves. A kernel acknowledges bytes when it likes; here the bytes that an agent takes
 * are acknowledged at once. integration/io/test_fetches has real connections. */

#ifndef TESTS_UNIT_OWED_RIG_H
#define TESTS_UNIT_OWED_RIG_H

#include "io/endpoint_owed.h"

enum { RIG_AGENTS = 8 };

struct rig_agent {
    int end;         /* its end of the connection */
    uint64_t sent;   /* bytes, so far, */
    uint64_t taken;  /* and how many of them it took and acknowledged */
    uint64_t pieces; /* how many it was given */
    uint64_t offset; /* of the latest */
};

struct rig {
    struct endpoint endpoint;
    struct admitted admitted[RIG_AGENTS];
    struct admitted *by_name[RIG_AGENTS];
    struct rig_agent agent[RIG_AGENTS];
};

/** Starts with a limit for what may wait, and the time for taking some of it. */
void rig_init(struct rig *rig, uint64_t waiting_bytes_max, uint32_t take_ms);
void rig_free(struct rig *rig);

/** Moves the clock forward. */
void rig_wait(int64_t ms);
int64_t rig_now_ms(void);

/** Agent i asks for a piece. Returns whether it was given one at once. */
bool rig_fetch(struct rig *rig, size_t i, uint64_t offset, uint32_t length);

/** Gives a piece without asking the coordinator's end. */
void rig_give(struct rig *rig, size_t i, uint64_t offset, uint32_t length);

/** Agent i takes bytes that were sent to it, at most this many. Returns how many it took. */
uint64_t rig_take(struct rig *rig, size_t i, uint64_t bytes);

/** One turn of a loop: looks, and gives those whose turn it is their pieces. */
void rig_turn(struct rig *rig);

/** What tcp_window_is_closed says of all. */
extern bool rig_closed;

#endif
