/* Who is cut when too many connections without an admitted key are open. libzmq tells neither how far a handshake
 * is nor to which connection a key belongs, so both are read off the connection from outside.
 *
 * The order is one of fairness first: networks that hold more than their share lose what is above it. Within a
 * network, and when no network is above its share, those go first that have said least, and of these the oldest.
 * An agent's first bytes come with its connection, so silent connections never push it out, however many there are
 * and wherever they come from; and a stranger who speaks the protocol in order to push others out does so in his own network. */

#include "io/endpoint_private.h"

#include <stdlib.h>
#include <string.h>

enum {
    GREETING_BYTES = 64,
    HELLO_BYTES = GREETING_BYTES + 2 + 200,
    INITIATE_BYTES = HELLO_BYTES + 2 + 257, /* at least: the client's metadata comes on top */
    SHARE_PARTS = 8,                        /* a network's share is an eighth of the places, */
    SHARE_MIN = 16,                         /* and not less than this */
    LOOKS_MAX = 64,
    ROOM_PARTS = 8 /* this much is made free at once, so that it is not done for each one */
};

struct stranger {
    int descriptor;
    unsigned stage; /* 0: silent .. 4: its key is on the way */
    size_t above;   /* its number among those above their network's share; 0: within it */
    uint64_t network;
    int64_t accepted_ms;
};

static unsigned stage_of(uint64_t bytes)
{
    return bytes == 0               ? 0
           : bytes < GREETING_BYTES ? 1
           : bytes < HELLO_BYTES    ? 2
           : bytes < INITIATE_BYTES ? 3
                                    : 4;
}

static bool is_stranger(const struct connection *connection)
{
    return connection->live && !connection->identified && !connection->waits &&
           !connection->passed && !connection->cut;
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Networks together; in each the most advanced first, then the newest. */
static int by_network(const void *left, const void *right)
{
    const struct stranger *a = left;
    const struct stranger *b = right;
    if (a->network != b->network) {
        return a->network < b->network ? -1 : 1;
    }
    return a->stage != b->stage ? compare(b->stage, a->stage)
                                : compare(b->accepted_ms, a->accepted_ms);
}

/* The one to go first comes first. */
static int by_turn(const void *left, const void *right)
{
    const struct stranger *a = left;
    const struct stranger *b = right;
    if (a->above != b->above) {
        return a->above > b->above ? -1 : 1;
    }
    return a->stage != b->stage ? compare(a->stage, b->stage)
                                : compare(a->accepted_ms, b->accepted_ms);
}

void endpoint_strangers_note(struct endpoint *endpoint, int descriptor)
{
    struct listening_side *side = &endpoint->listening;
    struct connection *connection = &side->connection[descriptor];
    if (is_stranger(connection) == (connection->listed != 0)) {
        return;
    }
    if (connection->listed == 0) {
        side->unknown[side->unknown_count++] = descriptor;
        connection->listed = side->unknown_count;
    } else { /* the last one takes its place */
        const int last = side->unknown[--side->unknown_count];
        side->unknown[connection->listed - 1] = last;
        side->connection[last].listed = connection->listed;
        connection->listed = 0;
    }
}

static size_t collect(const struct endpoint *endpoint, struct stranger *out)
{
    const struct listening_side *side = &endpoint->listening;

    for (size_t i = 0; i < side->unknown_count; i++) {
        const int descriptor = side->unknown[i];
        const struct connection *connection = &side->connection[descriptor];
        uint64_t bytes = 0;
        uint32_t idle_ms = 0;
        (void)tcp_progress(&bytes, &idle_ms, descriptor);
        out[i] = (struct stranger){.descriptor = descriptor,
                                   .stage = stage_of(bytes),
                                   .network = tcp_network_of(&connection->peer),
                                   .accepted_ms = connection->accepted_ms};
    }
    return side->unknown_count;
}

void endpoint_strangers_shed(struct endpoint *endpoint, int64_t now_ms, size_t keep)
{
    struct listening_side *side = &endpoint->listening;
    struct stranger *stranger = side->stranger;
    size_t share = keep / SHARE_PARTS > SHARE_MIN ? keep / SHARE_PARTS : SHARE_MIN;
    size_t at = 0;

    if (side->unknown_count <= keep) {
        return;
    }
    size_t count = collect(endpoint, stranger);
    qsort(stranger, count, sizeof *stranger, by_network);
    for (size_t i = 0; i < count; i++) {
        at = i > 0 && stranger[i].network == stranger[i - 1].network ? at + 1 : 0;
        stranger[i].above = at >= share ? at - share + 1 : 0;
    }
    qsort(stranger, count, sizeof *stranger, by_turn);
    for (size_t i = 0; i + (keep - keep / ROOM_PARTS) < count; i++) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "stranger-cut",
                       side->connection[stranger[i].descriptor].peer.host,
                       "too many connections without an admitted key: of the network with most of "
                       "them, one that has said least was cut");
        endpoint_guard_cut(endpoint, stranger[i].descriptor);
    }
}

/* libzmq asks about a key when the last part of its handshake has just come. Where very many are under way some are
 * looked at: another one of this host is then taken for it, which ends like any that says nothing. */
void endpoint_strangers_passed(struct endpoint *endpoint, const char *host, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    int latest = -1;
    uint32_t latest_idle_ms = 0;

    endpoint_guard_events(endpoint, now_ms); /* its ACCEPTED may still be waiting */
    for (size_t i = 0; i < side->unknown_count && i < LOOKS_MAX; i++) {
        const int descriptor = side->unknown[side->looked++ % side->unknown_count];
        const struct connection *connection = &side->connection[descriptor];
        uint64_t bytes = 0;
        uint32_t idle_ms = 0;
        if (strcmp(connection->peer.host, host) == 0 &&
            tcp_progress(&bytes, &idle_ms, descriptor) && bytes >= INITIATE_BYTES &&
            (latest < 0 || idle_ms < latest_idle_ms)) {
            latest = descriptor;
            latest_idle_ms = idle_ms;
        }
    }
    if (latest >= 0) {
        side->connection[latest].passed = true;
        endpoint_strangers_note(endpoint, latest);
    }
}

enum status endpoint_strangers_open(struct endpoint *endpoint)
{
    struct listening_side *side = &endpoint->listening;
    side->stranger = calloc(side->connection_room, sizeof *side->stranger);
    side->unknown = calloc(side->connection_room, sizeof *side->unknown);
    return side->stranger == NULL || side->unknown == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}
