/* endpoint.h - one end of the encrypted connections between agents and coordinator. Every peer has
 * proved its key before one of its bytes is seen here; who it is follows from that key alone.
 *
 * The coordinator's end listens, admits the keys of a roster, and keeps strangers and hostile
 * agents from harming the others. The agent's end dials out and rebuilds itself whenever the
 * connection is refused or broken. Sends may be lost; nothing here blocks but endpoint_poll. */

#ifndef IO_ENDPOINT_H
#define IO_ENDPOINT_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"
#include "crypto/key.h"
#include "io/roster.h"
#include "protocol/machine.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct endpoint;

/* What the coordinator's end grants one key, and all strangers together. 0 means the default. */
struct endpoint_limits {
    uint32_t handshakes_burst; /* 8 at once, */
    uint32_t handshakes_per_s; /* then 1/s per key */
    uint32_t messages_burst;   /* 4000 at once, */
    uint32_t messages_per_s;   /* then 1000/s per key */
    uint64_t bytes_burst;      /* 512 MiB at once, */
    uint64_t bytes_per_s;      /* then 64 MiB/s per key */
    uint32_t strangers_max; /* 256 connections without an admitted key; see endpoint_strangers.c */
    uint32_t silence_ms;    /* 10,000 for the first message */
    uint32_t penalty_ms;    /* 5,000 without a handshake for a key that broke a limit */
    uint64_t waiting_bytes_max; /* of all: TRANSFER_WAITING_BYTES; see endpoint_owed.c */
    uint32_t
        take_ms; /* 30,000 for 64 KiB of what was sent, while somebody waits for its turn; see endpoint_takers.c */
};

struct endpoint_options {
    const char *
        address; /* "tcp://host:port"; IPv6 hosts in brackets; port 0: any free one. Agent: or several with
                          * blanks between, of coordinators that share a key: one after the other is tried */
    const char
        *written_in; /* agent: the settings file that has the address, for messages; may be NULL */
    const struct key_pair *key; /* copied; wiped by endpoint_free */
    const struct log *log;      /* kept; may be NULL */
    size_t payload_bytes_max;   /* the largest second frame, for example CHUNK_BYTES_MAX */
    const char *
        lines; /* coordinator: "tcp://host:port", where agents' lines come in (io/line.h), NULL: there are
                        * none; agent: not NULL: it asks for one */
    struct digest coordinator_key; /* agent: whom it expects to meet */
    bool operators; /* it is an operators' desk, or a command that dials one: for messages */
    struct endpoint_limits limits; /* coordinator */
};

/** Checks an address before anything is opened. Fails with STATUS_INVALID; why shows the right
 * form. */
MUST_USE enum status endpoint_check_address(const char *address, struct why *why);

/** Opens the coordinator's end; it admits nobody until endpoint_admit. Fails with STATUS_INVALID
 * (the address), STATUS_BUSY (another program listens there), STATUS_IO, STATUS_NO_MEMORY, and with
 * STATUS_UNSUPPORTED when the handler that checks keys, or any option that protects, is not in
 * force: without it libzmq would admit everybody. */
MUST_USE enum status endpoint_listen(struct endpoint **out, const struct endpoint_options *options,
                                     struct why *why);

/** Opens the agent's end. It need not find a coordinator: it keeps trying. Fails like
 * endpoint_listen. */
MUST_USE enum status endpoint_dial(struct endpoint **out, const struct endpoint_options *options,
                                   struct why *why);

void endpoint_free(struct endpoint *endpoint);

/** Returns the address it listens on or dials, with the port in the place of 0. */
const char *endpoint_address(const struct endpoint *endpoint);

/** Coordinator: replaces the allow-list (copied). Keys that are gone lose their connections at
 * once, and frames of theirs that are still queued are dropped. */
bool endpoint_admit(struct endpoint *endpoint, const struct roster *roster);

/** Waits until a message may be there, other (count) has revents, or timeout_ms (-1: no limit) is
 * over; answers handshakes and watches connections meanwhile. Fails with STATUS_IO. May return
 * early. */
MUST_USE enum status endpoint_poll(struct endpoint *endpoint, struct pollfd *other, size_t count,
                                   int timeout_ms);

enum { ENDPOINT_OTHERS_MAX = 40 };

struct endpoint_message {
    struct peer
        peer; /* an agent's name, "token:NAME" under a one-time token; at agents "coordinator" */
    struct digest key; /* coordinator: the key it has proved */
    bool token;
    struct slice control; /* both valid until the next endpoint_receive */
    struct slice payload;
};

/** Takes the next message. Fails with STATUS_AGAIN when there is none. Messages of the wrong number
 * of frames, of revoked keys and of peers above their limits never come out. */
MUST_USE enum status endpoint_receive(struct endpoint *endpoint, struct endpoint_message *out);

/** Coordinator: takes the next agent that was cut because it broke a limit, as floods and endless messages
 * do. Fails with STATUS_AGAIN when there is none. */
MUST_USE enum status endpoint_next_cut(struct endpoint *endpoint, struct peer *out);

/** Coordinator: tells of entry number index of the allow-list, by name: several keys may have one name. name: out, "token:NAME"
 * of a one-time token, borrowed until the next endpoint_admit. Returns false after the last one. */
bool endpoint_look(const struct endpoint *endpoint, size_t index, const char **name,
                   bool *connected);

/* What waits at the coordinator's end for agents that fetch. */
struct endpoint_fetches {
    uint64_t waiting_bytes;  /* of pieces that were sent and are not acknowledged, */
    uint64_t agents_waiting; /* and agents whose turn has not come */
    uint64_t held;           /* since it opened: FETCHes that were held back, */
    uint64_t repeated;       /* that asked for what waited already, */
    uint64_t not_taken;      /* and connections that were cut, as nothing was taken */
};

/** Coordinator: tells what waits for agents that fetch. */
void endpoint_fetches(struct endpoint *endpoint, struct endpoint_fetches *out);

/** Sends to a peer, at an agent to the coordinator; the bytes are copied. Fails with
 * STATUS_NOT_FOUND (not connected) or STATUS_AGAIN (its queue is full); the message is then lost,
 * which is normal. */
MUST_USE enum status endpoint_send(struct endpoint *endpoint, const struct peer *peer,
                                   struct slice control, struct slice payload);

/** Agent: drops the connection and builds it anew, after 0.25 s to 7.5 s when that has not helped
 * lately. */
void endpoint_rebuild(struct endpoint *endpoint);

/** Agent: what came does not match its digest. Nothing is to be sealed for others, too, as long as this agent runs; what it asks
 * for next goes over the other connection. */
void endpoint_doubt(struct endpoint *endpoint);

/** Agent: returns whether bytes of the coordinator have come since this was last asked, by a connection under which it was let
 * in; *anew: that is another one. What is looked at is at most half a second old. */
bool endpoint_next_link(struct endpoint *endpoint, bool *anew);

/** Agent: returns whether the coordinator's last word was that it does not admit this key. */
bool endpoint_was_refused(const struct endpoint *endpoint);

/** Agent: returns what stands between it and the coordinator, with the remedy; "" when nothing
 * known. */
const char *endpoint_trouble(const struct endpoint *endpoint);

#endif
