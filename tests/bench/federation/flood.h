/* flood.h - a hostile agent with an admitted key, for bench_many: it is present, never ready, and floods on a signal. */

#ifndef BENCH_FLOOD_H
#define BENCH_FLOOD_H

#include "crypto/key.h"

enum flood_kind {
    FLOOD_NONE,
    FLOOD_HELLOS, /* 950 a second, just below the limit of a key: each is answered */
    FLOOD_BYTES,  /* 60 MiB a second in pieces of 256 KiB, just below the limit */
    FLOOD_BEYOND, /* HELLOs as fast as they go: it is cut, comes back, and goes on */
    FLOOD_KINDS
};

extern const char *const flood_names[FLOOD_KINDS];

struct flood {
    enum flood_kind kind;
    struct key_pair key;
    const char *address;      /* of the coordinator, */
    struct digest public_key; /* and its key */
};

/** Says HELLO every two seconds, and floods from SIGUSR1 on, until the process is killed. SIGUSR1 has to be blocked. */
_Noreturn void flood_run(const struct flood *flood);

#endif
