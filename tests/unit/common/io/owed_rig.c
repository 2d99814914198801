#include "owed_rig.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 1024 };

static const struct digest model = {{1}};
static int64_t shift_ms;
static const struct rig *present;
bool rig_closed;

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);
bool __wrap_tcp_window_is_closed(int descriptor);
bool __wrap_tcp_bytes_acknowledged(uint64_t *bytes, int descriptor);

int64_t __wrap_clock_now_ms(void)
{
    return __real_clock_now_ms() + shift_ms;
}

bool __wrap_tcp_window_is_closed(int descriptor)
{
    cr_assert_geq(descriptor, 0);
    return rig_closed;
}

bool __wrap_tcp_bytes_acknowledged(uint64_t *bytes, int descriptor)
{
    size_t i = 0;
    while (i < RIG_AGENTS && present->admitted[i].descriptor != descriptor) {
        i++;
    }
    cr_assert_lt(i, RIG_AGENTS);
    *bytes = present->agent[i].taken;
    return true;
}

void rig_wait(int64_t ms)
{
    shift_ms += ms;
}

int64_t rig_now_ms(void)
{
    return clock_now_ms();
}

static void connect_to(int listener, struct rig *rig, size_t i)
{
    struct sockaddr_in at = {0};
    socklen_t size = sizeof at;
    struct admitted *admitted = &rig->admitted[i];
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    rig->agent[i].end = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(rig->agent[i].end, (struct sockaddr *)&at, sizeof at), 0);
    admitted->descriptor = accept(listener, NULL, NULL);
    cr_assert(admitted->descriptor >= 0 && admitted->descriptor < CONNECTIONS);
    admitted->entry.key.byte[0] = (uint8_t)i;
    (void)snprintf(admitted->name, sizeof admitted->name, "a%zu", i);
    admitted->connected = true;
    admitted->route = (uint32_t)i + 1;
    struct connection *connection = &rig->endpoint.listening.connection[admitted->descriptor];
    connection->live = connection->identified = true;
    connection->route = admitted->route;
    connection->key = admitted->entry.key;
    cr_assert(tcp_peer_of(&connection->peer, admitted->descriptor));
    endpoint_owed_begin(&rig->endpoint, admitted, admitted->descriptor);
}

void rig_init(struct rig *rig, uint64_t waiting_bytes_max, uint32_t take_ms)
{
    static const struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};
    struct listening_side *side = &rig->endpoint.listening;
    struct digest *key = calloc(RIG_AGENTS + 1, sizeof *key);
    *rig = (struct rig){.endpoint = {.listens = true}};
    present = rig;
    rig->endpoint.limits.waiting_bytes_max = waiting_bytes_max;
    rig->endpoint.limits.take_ms = take_ms;
    side->admitted = rig->admitted;
    side->by_name = rig->by_name;
    side->admitted_count = RIG_AGENTS;
    side->connection = calloc(CONNECTIONS, sizeof *side->connection);
    side->connection_room = side->used = CONNECTIONS;
    cr_assert(key != NULL && side->connection != NULL);
    endpoint_turns_admit(&rig->endpoint, key, RIG_AGENTS + 1);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (const struct sockaddr *)&here, sizeof here), 0);
    cr_assert_eq(listen(listener, RIG_AGENTS), 0);
    for (size_t i = 0; i < RIG_AGENTS; i++) {
        connect_to(listener, rig, i);
        rig->by_name[i] = &rig->admitted[i];
    }
    (void)close(listener);
}

void rig_free(struct rig *rig)
{
    for (size_t i = 0; i < RIG_AGENTS; i++) {
        (void)close(rig->agent[i].end);
        (void)close(rig->admitted[i].descriptor);
    }
    free(rig->endpoint.listening.connection);
    free(rig->endpoint.listening.fetches.key);
}

void rig_give(struct rig *rig, size_t i, uint64_t offset, uint32_t length)
{
    static const uint8_t zeros[CHUNK_BYTES_MAX];
    struct admitted *admitted = &rig->admitted[i];
    struct message piece = {.kind = MESSAGE_PIECE};
    uint8_t control[CONTROL_BYTES_MAX];
    piece.as.piece.digest = model;
    piece.as.piece.offset = offset;
    const uint64_t before = admitted->owed.given;
    endpoint_owed_sent(&rig->endpoint, admitted,
                       (struct slice){control, wire_encode(control, &piece)},
                       (struct slice){zeros, length});
    rig->agent[i].sent += admitted->owed.given - before;
    rig->agent[i].pieces++;
    rig->agent[i].offset = offset;
}

bool rig_fetch(struct rig *rig, size_t i, uint64_t offset, uint32_t length)
{
    struct message fetch = {.kind = MESSAGE_FETCH};
    uint8_t control[CONTROL_BYTES_MAX];
    fetch.as.fetch.digest = model;
    fetch.as.fetch.offset = offset;
    fetch.as.fetch.length = length;
    if (endpoint_turns_hold(&rig->endpoint, &rig->admitted[i],
                            (struct slice){control, wire_encode(control, &fetch)})) {
        return false;
    }
    rig_give(rig, i, offset, length);
    return true;
}

uint64_t rig_take(struct rig *rig, size_t i, uint64_t bytes)
{
    struct rig_agent *agent = &rig->agent[i];
    const uint64_t taken = bytes < agent->sent - agent->taken ? bytes : agent->sent - agent->taken;
    agent->taken += taken;
    return taken;
}

void rig_turn(struct rig *rig)
{
    struct endpoint_message from;
    struct message message;
    endpoint_owed_look(&rig->endpoint, clock_now_ms());
    while (endpoint_turns_next(&rig->endpoint, &from)) {
        cr_assert_eq(wire_decode(&message, from.control, from.payload), STATUS_OK);
        cr_assert_eq(message.kind, MESSAGE_FETCH);
        rig_give(rig, (size_t)(from.peer.name[1] - '0'), message.as.fetch.offset,
                 message.as.fetch.length);
    }
}
