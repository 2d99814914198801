/* The coordinator's connections, kept by descriptor. libzmq bounds a frame and a queue of whole
 * messages, but not the parts of one message, nor what a key may do; so every connection is watched
 * from outside: its received bytes are compared with the messages that came out, and a peer that
 * breaks a limit is cut by shutdown(), which libzmq takes for the peer's own leaving. */

#include "io/endpoint_private.h"

#include "crypto/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { DESCRIPTORS_MIN = 256, BACKLOG = 4096 };

static enum status make_tables(struct endpoint *endpoint, struct why *why)
{
    struct rlimit limit;
    struct listening_side *side = &endpoint->listening;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < DESCRIPTORS_MIN) {
        return why_fail(why, STATUS_IO,
                        "a coordinator needs at least %d open files; remedy: ulimit -n 4096",
                        (int)DESCRIPTORS_MIN);
    }
    const size_t files =
        limit.rlim_cur < DESCRIPTORS_MAX ? (size_t)limit.rlim_cur : DESCRIPTORS_MAX;
    side->connection_room = files - (files / 8 < DESCRIPTORS_SPARE ? files / 8 : DESCRIPTORS_SPARE);
    /* Strangers may use a quarter of the descriptors: the rest is for agents, journal and files. */
    if (endpoint->limits.strangers_max > side->connection_room / 4) {
        endpoint->limits.strangers_max = (uint32_t)(side->connection_room / 4);
    }
    side->connection = calloc(side->connection_room, sizeof *side->connection);
    if (side->connection == NULL || endpoint_strangers_open(endpoint) != STATUS_OK) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the connections");
    }
    return STATUS_OK;
}

static enum status bind_port(struct endpoint *endpoint, struct why *why)
{
    size_t size = sizeof endpoint->address;
    char wanted[ADDRESS_BYTES];

    memcpy(wanted, endpoint->address, sizeof wanted);
    if (zmq_bind(endpoint->socket, wanted) != 0) {
        int error = zmq_errno();
        const char *remedy = error == EADDRINUSE
                                 ? "another program listens there; remedy: stop it, "
                                   "or choose another port"
                             : error == EADDRNOTAVAIL || error == ENODEV
                                 ? "the host must be an address of this machine, or 0.0.0.0"
                             : error == EACCES ? "ports below 1024 need a privilege"
                                               : "remedy: an address like tcp://0.0.0.0:7310";
        why_set(why, "cannot listen on %s (%s): %s", wanted, zmq_strerror(error), remedy);
        return error == EADDRINUSE ? STATUS_BUSY : STATUS_IO;
    }
    if (zmq_getsockopt(endpoint->socket, ZMQ_LAST_ENDPOINT, endpoint->address, &size) != 0) {
        memcpy(endpoint->address, wanted, sizeof wanted);
    }
    return STATUS_OK;
}

/* libzmq numbers connections upwards from a draw of rand(), which it never seeds, and aborts when an agent
 * has taken the next number as a routing id of its own choice. So the draw is made unguessable: with the
 * C library rand() and random() share their state. */
static enum status seed_numbers(struct why *why)
{
    unsigned seed = 0;
    const enum status status = random_once(&seed, sizeof seed);
    if (status == STATUS_OK) {
        srandom(seed);
    } else {
        why_set(why, "the operating system's random source cannot be opened");
    }
    return status;
}

enum status endpoint_guard_open(struct endpoint *endpoint, struct why *why)
{
    /* The name of option 93 is only in libzmq's draft header; the option is in every 4.3. */
    enum { ZAP_ENFORCE_DOMAIN = 93 };
    static const char domain[] = "hedgerow";
    int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED;

    enum status status = make_tables(endpoint, why);
    if (status == STATUS_OK) {
        status = seed_numbers(why);
    }
    if (status == STATUS_OK) {
        status = endpoint_zap_open(endpoint, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    endpoint->socket = zmq_socket(endpoint->context, ZMQ_ROUTER);
    if (endpoint->socket == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    void *socket = endpoint->socket;
    status = endpoint_set_common(endpoint, socket, why);
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZMQ_CURVE_SERVER, 1, "CURVE_SERVER", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set_bytes(socket, ZMQ_ZAP_DOMAIN, domain, sizeof domain - 1, "ZAP_DOMAIN",
                                    why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZAP_ENFORCE_DOMAIN, 1, "ZAP_ENFORCE_DOMAIN", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZMQ_ROUTER_MANDATORY, 1, "ROUTER_MANDATORY", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZMQ_BACKLOG, BACKLOG, "BACKLOG", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_monitor_open(endpoint, events, why);
    }
    return status == STATUS_OK ? bind_port(endpoint, why) : status;
}

static int key_and_admitted(const void *key, const void *admitted)
{
    return memcmp(key, ((const struct admitted *)admitted)->entry.key.byte, KEY_BYTES);
}

/* libzmq asks about a key only when its owner has shown that it has the other half: how long the answer takes tells nobody
 * of others' keys, which are public besides. */
struct admitted *endpoint_guard_admitted(struct endpoint *endpoint, const struct digest *key)
{
    const struct listening_side *side = &endpoint->listening;
    return side->admitted_count == 0 ? NULL
                                     : bsearch(key->byte, side->admitted, side->admitted_count,
                                               sizeof *side->admitted, key_and_admitted);
}

size_t endpoint_guard_named(const struct endpoint *endpoint, const char *name)
{
    const struct listening_side *side = &endpoint->listening;
    size_t low = 0;
    size_t high = side->admitted_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(side->by_name[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct admitted *endpoint_guard_connected(const struct endpoint *endpoint, const char *name)
{
    const struct listening_side *side = &endpoint->listening;
    for (size_t i = endpoint_guard_named(endpoint, name);
         i < side->admitted_count && strcmp(side->by_name[i]->name, name) == 0; i++) {
        if (side->by_name[i]->connected) {
            return side->by_name[i];
        }
    }
    return NULL;
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many strangers may be there. Every agent that is not connected may be on its way: when a coordinator begins anew, all are. They take no more memory
 * than they will when they are let in. An agent has one connection, whatever the number of its keys; a one-time token is
 * no agent yet. So strangers and agents together are never more than the agents of the list, or
 * the usual number of strangers beside those that are connected. */
static size_t strangers_max_of(const struct endpoint *endpoint)
{
    const struct listening_side *side = &endpoint->listening;
    const size_t known = side->live - side->unknown_count - side->going;
    const size_t room = less(side->connection_room - DESCRIPTORS_OPEN, PEERS_MAX);
    const size_t places = less(side->agent_count, room);
    const size_t absent = places > known ? places - known : 0;
    return absent > endpoint->limits.strangers_max ? absent : endpoint->limits.strangers_max;
}

/* How long a connection may say nothing. A handshake takes a millisecond or more of the processor: when many are under
 * way, each waits for the others. Where places become scarce it has to be quick, but a key that has been let in may take
 * its time for the first word. */
static int64_t silence_ms(const struct endpoint *endpoint, const struct connection *connection)
{
    enum { HANDSHAKE_WAIT_MS = 10 };
    const size_t unknown = endpoint->listening.unknown_count;
    const int64_t longer = (int64_t)unknown * HANDSHAKE_WAIT_MS;
    const int64_t most = endpoint->limits.silence_ms;
    const bool hurries = !connection->passed && unknown > strangers_max_of(endpoint) / 2;
    return (hurries && most > HANDSHAKE_MS ? HANDSHAKE_MS : most) +
           (longer < HANDSHAKE_MS_MAX ? longer : HANDSHAKE_MS_MAX);
}

void endpoint_guard_cut(struct endpoint *endpoint, int descriptor)
{
    struct listening_side *side = &endpoint->listening;
    if (descriptor < 0 || (size_t)descriptor >= side->connection_room) {
        return;
    }
    struct connection *connection = &side->connection[descriptor];
    if (connection->live && !connection->cut) {
        connection->cut = true;
        side->going++;
        endpoint_strangers_note(endpoint, descriptor);
        tcp_cut(descriptor, &connection->peer);
    }
}

static void forget_connection(struct endpoint *endpoint, int descriptor, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    struct connection *connection = &side->connection[descriptor];

    if (!connection->live) {
        return;
    }
    struct admitted *admitted =
        connection->identified ? endpoint_guard_admitted(endpoint, &connection->key) : NULL;
    if (admitted != NULL && admitted->connected && admitted->descriptor == descriptor &&
        admitted->route == connection->route) {
        admitted->connected = false;
    }
    if (!connection->identified && !connection->waits && !connection->cut) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "stranger-left", connection->peer.host,
                       "a connection that never sent a message under an admitted key has ended");
    }
    side->going -= connection->cut;
    side->live--;
    connection->live = false;
    endpoint_strangers_note(endpoint, descriptor);
    memset(connection, 0, sizeof *connection);
}

static void remember_connection(struct endpoint *endpoint, int descriptor, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    struct tcp_peer peer;

    if (descriptor < 0) {
        return;
    }
    if (!tcp_peer_of(&peer, descriptor)) {
        return; /* gone already; its DISCONNECTED, if any, finds nothing to forget */
    }
    if ((size_t)descriptor >= side->connection_room) {
        log_rate_event(&endpoint->rate, now_ms, LOG_ERROR, "connections-full", peer.host,
                       "there are as many connections as the limit of open files allows, and one "
                       "more was cut; remedy: a higher limit (ulimit -n, LimitNOFILE)");
        tcp_cut(descriptor, &peer);
        endpoint_strangers_shed(endpoint, now_ms, strangers_max_of(endpoint) / 4);
        return;
    }
    forget_connection(endpoint, descriptor, now_ms); /* the number is used again */
    struct connection *connection = &side->connection[descriptor];
    connection->live = true;
    connection->accepted_ms = now_ms;
    connection->peer = peer;
    side->live++;
    side->used = (size_t)descriptor >= side->used ? (size_t)descriptor + 1 : side->used;
    endpoint_strangers_note(endpoint, descriptor);
}

void endpoint_guard_events(struct endpoint *endpoint, int64_t now_ms)
{
    int event = 0;
    int value = 0;
    bool accepted = false;

    while (endpoint_monitor_next(endpoint, &event, &value)) {
        if (event == ZMQ_EVENT_ACCEPTED) {
            accepted = true;
            remember_connection(endpoint, value, now_ms);
        } else if (event == ZMQ_EVENT_DISCONNECTED && value >= 0 &&
                   (size_t)value < endpoint->listening.connection_room) {
            forget_connection(endpoint, value, now_ms);
        } else if (event == ZMQ_EVENT_ACCEPT_FAILED) {
            log_rate_event(
                &endpoint->rate, now_ms, LOG_ERROR, "accept-failed", NULL,
                "a connection could not be accepted; remedy: a higher limit of open files");
            endpoint_strangers_shed(endpoint, now_ms, strangers_max_of(endpoint) / 4);
        }
    }
    const size_t strangers_max = strangers_max_of(endpoint);
    if (accepted && endpoint->listening.live > strangers_max) {
        endpoint_strangers_shed(endpoint, now_ms, strangers_max);
    }
}

void endpoint_guard_punish(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;

    admitted->penalty_until_ms = now_ms + endpoint->limits.penalty_ms;
    if (side->cut_count < CUTS_MAX && admitted->entry.token_until_s == 0) {
        memcpy(side->cut[side->cut_count++].name, admitted->name, PEER_NAME_BYTES);
    }
}

enum status endpoint_next_cut(struct endpoint *endpoint, struct peer *out)
{
    struct listening_side *side = &endpoint->listening;

    if (side->cut_count == 0) {
        return STATUS_AGAIN;
    }
    *out = side->cut[--side->cut_count];
    return STATUS_OK;
}

static void punish(struct endpoint *endpoint, const struct connection *connection, int64_t now_ms)
{
    if (connection->identified) {
        struct admitted *admitted = endpoint_guard_admitted(endpoint, &connection->key);
        if (admitted != NULL) {
            endpoint_guard_punish(endpoint, admitted, now_ms);
        }
    }
}

static void sample_one(struct endpoint *endpoint, int descriptor, int64_t now_ms)
{
    struct connection *connection = &endpoint->listening.connection[descriptor];
    const char *name = connection->identified ? connection->name : connection->peer.host;
    uint64_t bytes = 0;

    if (connection->cut_at_ms != 0 && now_ms >= connection->cut_at_ms) {
        endpoint_guard_cut(endpoint, descriptor);
    } else if (!connection->identified && !connection->waits &&
               now_ms - connection->accepted_ms > silence_ms(endpoint, connection)) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN,
                       connection->passed ? "silent-cut" : "stranger-cut", name,
                       connection->passed
                           ? "a connection under an admitted key that said nothing was cut"
                           : "a connection without a message under an admitted key was cut");
        endpoint_guard_cut(endpoint, descriptor);
    } else if (tcp_bytes_received(&bytes, descriptor) && bytes > connection->bytes_before &&
               bytes - connection->bytes_before > endpoint_bytes_between(endpoint)) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "message-endless", name,
                       "it sent more than a message may have without ending one, and was cut");
        punish(endpoint, connection, now_ms);
        endpoint_guard_cut(endpoint, descriptor);
    }
}

void endpoint_guard_sample(struct endpoint *endpoint, int64_t now_ms)
{
    if (endpoint->listening.live == 0 || now_ms - endpoint->sampled_ms < SAMPLE_MS) {
        return;
    }
    struct listening_side *side = &endpoint->listening;
    size_t samples = 0;
    endpoint->sampled_ms = now_ms;
    for (size_t i = 0; i < side->used && samples < SAMPLES_MAX; i++) {
        const struct connection *connection = &side->connection[side->sampled];
        if (connection->live && !connection->cut) {
            sample_one(endpoint, (int)side->sampled, now_ms);
            samples++;
        }
        side->sampled = (side->sampled + 1) % side->used;
    }
}
