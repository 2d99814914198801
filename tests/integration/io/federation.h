/* federation.h - a coordinator's end that echoes, in a process of its own, and agents' ends to
 * measure it with. Tests of hostile peers share it. */

#ifndef TESTS_IO_FEDERATION_H
#define TESTS_IO_FEDERATION_H

#include "base/log.h"
#include "crypto/key.h"
#include "io/clock.h"
#include "io/endpoint.h"
#include "io/roster.h"
#include "io/token.h"

#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* An address sanitizer keeps freed memory for a while: no limit of memory holds with it. */
#if defined(__SANITIZE_ADDRESS__)
enum { KIB_PER_MIB = 64 * 1024 };
#else
enum { KIB_PER_MIB = 1024 };
#endif

/* How long a test waits for what must come. It is long, so that a slow machine is not taken for a
 * program that stands still. Nothing is expected to take a large part of it. */
enum { PATIENCE_MS = 60 * 1000, FEDERATION_AGENTS = 48, PAYLOAD_MAX = 64 * 1024 };

struct federation {
    struct scratch scratch;
    struct key_pair coordinator;
    struct key_pair agent[FEDERATION_AGENTS]; /* named a0, a1, ... */
    char address[ADDRESS_BYTES];
    char agents_path[160];
    char log_path[160];
    pid_t process;
};

/* Starts it with the first `admitted` agents on the list; limits may be NULL. */
void federation_start(struct federation *federation, int admitted,
                      const struct endpoint_limits *limits);

/* What the coordinator does in place of an echo. */
struct federation_ways {
    struct endpoint_limits limits;
    size_t payload_bytes_max;
    void (*answer)(struct endpoint *endpoint, const struct endpoint_message *message);
    void (*look)(struct endpoint *endpoint); /* once a turn; may be NULL */
};
void federation_start_as(struct federation *federation, int admitted,
                         const struct federation_ways *ways);
/* Kills it, and starts it again at its address, with an echo. */
void federation_restart(struct federation *federation);
void federation_stop(struct federation *federation);
void federation_admit(struct federation *federation, int agent);
void federation_revoke(struct federation *federation, int agent);

/* An agent's end that dials the coordinator. */
struct endpoint *federation_dial(const struct federation *federation, const struct key_pair *key);

/* Sends until an answer comes back; returns how long that took, -1 when it never came. */
int federation_round_trip(struct endpoint *endpoint, int timeout_ms);

/* Asks until the endpoint's trouble holds the text, up to PATIENCE_MS; false too when an answer comes. */
bool federation_told(struct endpoint *endpoint, const char *text);

/* Whether the coordinator's log has a line with both; waits for it up to timeout_ms. */
bool federation_logged(const struct federation *federation, const char *event, const char *peer,
                       int timeout_ms);

/* Resident memory of the coordinator in KiB: now, or at its peak. */
long federation_memory_kib(const struct federation *federation, bool peak);

/* A raw TCP connection to the coordinator's port, or to another port of this machine; -1 without one. */
int federation_connect(const struct federation *federation);
int federation_connect_at(uint32_t port);

#endif
