/* The coordinator's messages. Who sent one is what the handler of keys attached to its connection:
 * the routing id in front only tells the way back, and is never believed. */

#include "io/endpoint_private.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libzmq's own routing ids: a zero and a number that grows with every connection. */
enum { ROUTE_BYTES = 5 };

static uint32_t route_number(const uint8_t *bytes)
{
    return (uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 8 | bytes[4];
}

/* Logs what a peer did, cuts its connection and lets its key wait. While it waits, what comes is what a connection that was
 * cut has left in the queue. It is dropped without a word: each message of a flood would be told. */
static void turn_out(struct endpoint *endpoint, struct admitted *admitted, int descriptor,
                     const char *event, const char *text)
{
    int64_t now_ms = clock_now_ms();
    if (now_ms < admitted->penalty_until_ms) {
        endpoint_guard_cut(endpoint, descriptor);
        return;
    }
    endpoint_guard_punish(endpoint, admitted, now_ms);
    log_rate_event(&endpoint->rate, now_ms, LOG_WARN, event, admitted->name, text);
    endpoint_guard_cut(endpoint, descriptor);
}

/* Finds whose connection a frame came by; NULL when its key is not, or no longer, admitted. */
static struct admitted *sender_of(struct endpoint *endpoint, zmq_msg_t *frame, int descriptor)
{
    struct digest key;
    const char *hex = zmq_msg_gets(frame, "Key");
    const char *name = zmq_msg_gets(frame, "User-Id");
    struct admitted *admitted = NULL;

    if (hex != NULL && name != NULL && strlen(hex) == KEY_HEX_BYTES - 1 &&
        hex_decode(key.byte, KEY_BYTES, hex) == STATUS_OK) {
        admitted = endpoint_guard_admitted(endpoint, &key);
    }
    if (admitted == NULL || strcmp(admitted->name, name) != 0) {
        log_rate_event(&endpoint->rate, clock_now_ms(), LOG_WARN, "key-revoked",
                       name == NULL ? NULL : name,
                       "a message under a key that is no longer admitted was dropped");
        endpoint_guard_cut(endpoint, descriptor);
        return NULL;
    }
    return admitted;
}

/* The newest connection of a name is the one that counts: others are cut. (A newer one under the same key has had
 * to wait, endpoint_rivals.c.) Returns false when the message came by one of those others. */
static bool is_present_connection(struct endpoint *endpoint, struct admitted *admitted,
                                  uint32_t route, int descriptor)
{
    struct listening_side *side = &endpoint->listening;
    const size_t first = endpoint_guard_named(endpoint, admitted->name);
    size_t end = first;
    while (end < side->admitted_count && strcmp(side->by_name[end]->name, admitted->name) == 0) {
        const struct admitted *other = side->by_name[end++];
        if (other->connected && endpoint_route_is_newer(other->route, route)) {
            if (descriptor != other->descriptor) {
                endpoint_guard_cut(endpoint, descriptor);
            }
            return false;
        }
    }
    for (size_t i = first; i < end; i++) {
        struct admitted *other = side->by_name[i];
        if (other->connected && other->route != route) {
            other->connected = false;
            if (other->descriptor != descriptor) {
                endpoint_guard_cut(endpoint, other->descriptor);
            }
        }
    }
    if (!admitted->connected || admitted->route != route) {
        endpoint_owed_begin(endpoint, admitted, descriptor);
    }
    admitted->connected = true;
    admitted->route = route;
    admitted->descriptor = descriptor;
    return true;
}

/* Writes down whose connection it is, and that a whole message has come out of it. */
static void mark_connection(struct endpoint *endpoint, const struct admitted *admitted)
{
    struct listening_side *side = &endpoint->listening;
    size_t place = (size_t)admitted->descriptor;
    uint64_t bytes = 0;

    if (admitted->descriptor < 0 || place >= side->connection_room) {
        return;
    }
    struct connection *connection = &side->connection[place];
    if (!connection->live) {
        endpoint_guard_events(endpoint, clock_now_ms()); /* its ACCEPTED has been waiting */
    }
    if (!connection->live ||
        (connection->identified && endpoint_route_is_newer(connection->route, admitted->route))) {
        return; /* the message outlived its connection */
    }
    connection->identified = true;
    connection->waits = false;
    endpoint_strangers_note(endpoint, admitted->descriptor);
    connection->route = admitted->route;
    connection->key = admitted->entry.key;
    memcpy(connection->name, admitted->name, sizeof connection->name);
    if (tcp_bytes_received(&bytes, admitted->descriptor)) {
        connection->bytes_before = bytes;
    }
}

static bool within_limits(struct endpoint *endpoint, struct admitted *admitted, uint64_t bytes)
{
    int64_t now_ms = clock_now_ms();
    const struct endpoint_limits *limits = &endpoint->limits;
    return bucket_take(&admitted->messages, now_ms, 1, limits->messages_burst,
                       limits->messages_per_s) &&
           bucket_take(&admitted->bytes, now_ms, bytes, limits->bytes_burst, limits->bytes_per_s);
}

bool endpoint_listening_allows(struct endpoint *endpoint, struct admitted *admitted, int descriptor,
                               uint64_t bytes)
{
    if (within_limits(endpoint, admitted, bytes)) {
        return true;
    }
    turn_out(endpoint, admitted, descriptor, "flood",
             "it sent far more messages than the protocol has, and was cut");
    return false;
}

void endpoint_listening_name(struct endpoint_message *out, const struct admitted *admitted)
{
    memcpy(out->peer.name, admitted->name, sizeof out->peer.name);
    out->key = admitted->entry.key;
    out->token = admitted->entry.token_until_s != 0;
}

/* Judges the message that has just been taken; returns whether it may come out. */
static bool judge(struct endpoint *endpoint, struct endpoint_message *out, size_t frames,
                  uint64_t bytes)
{
    int descriptor = zmq_msg_get(&endpoint->control, ZMQ_SRCFD);
    struct admitted *admitted = sender_of(endpoint, &endpoint->control, descriptor);

    if (admitted == NULL) {
        return false;
    }
    const uint8_t *route = zmq_msg_data(&endpoint->route);
    if (zmq_msg_size(&endpoint->route) != ROUTE_BYTES || route[0] != 0) {
        turn_out(endpoint, admitted, descriptor, "routing-id-squatted",
                 "it chose a routing id of its own, which no agent does, and was cut");
        return false;
    }
    if (endpoint_rivals_wait(endpoint, admitted, route_number(route), descriptor) ||
        !is_present_connection(endpoint, admitted, route_number(route), descriptor)) {
        return false;
    }
    mark_connection(endpoint, admitted);
    if (!endpoint_listening_allows(endpoint, admitted, descriptor, bytes) ||
        endpoint_rivals_answered(endpoint, admitted)) {
        return false;
    }
    if (endpoint->lines != NULL && wire_is(endpoint_frame(&endpoint->control), MESSAGE_WANT)) {
        endpoint_lines_grant(endpoint, admitted, endpoint_frame(&endpoint->control));
        return false;
    }
    if (frames > 2) {
        log_rate_event(&endpoint->rate, clock_now_ms(), LOG_WARN, "message-malformed",
                       admitted->name, "a message of more than two frames was dropped");
        return false;
    }
    if (endpoint_turns_hold(endpoint, admitted, endpoint_frame(&endpoint->control))) {
        return false;
    }
    endpoint_listening_name(out, admitted);
    out->control = endpoint_frame(&endpoint->control);
    out->payload = endpoint_frame(&endpoint->payload);
    return true;
}

/* Takes the next message that has come. */
static enum status receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    for (int i = 0; i < TAKEN_PER_CALL && !endpoint->socket_rests; i++) {
        uint64_t bytes = 0;
        if (zmq_msg_recv(&endpoint->route, endpoint->socket, ZMQ_DONTWAIT) < 0) {
            endpoint->socket_rests = true;
            return STATUS_AGAIN;
        }
        if (zmq_msg_more(&endpoint->route) == 0) {
            continue;
        }
        size_t frames = endpoint_take_frames(endpoint, &bytes);
        if (judge(endpoint, out, frames, bytes)) {
            return STATUS_OK;
        }
    }
    return STATUS_AGAIN;
}

enum status endpoint_listening_receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    struct listening_side *side = &endpoint->listening;
    side->turn = !side->turn;
    if (side->turn && endpoint_turns_next(endpoint, out)) {
        return STATUS_OK;
    }
    const enum status status = receive(endpoint, out);
    return status != STATUS_OK && !side->turn && endpoint_turns_next(endpoint, out) ? STATUS_OK
                                                                                    : status;
}

enum status endpoint_listening_send_by(struct endpoint *endpoint, uint32_t route,
                                       struct slice control, struct slice payload)
{
    const uint8_t frame[ROUTE_BYTES] = {0, (uint8_t)(route >> 24), (uint8_t)(route >> 16),
                                        (uint8_t)(route >> 8), (uint8_t)route};
    if (endpoint_send_first(endpoint, frame, sizeof frame, ZMQ_SNDMORE) < 0) {
        return zmq_errno() == EHOSTUNREACH ? STATUS_NOT_FOUND : STATUS_AGAIN;
    }
    return endpoint_send_frames(endpoint, control, payload);
}

enum status endpoint_listening_send(struct endpoint *endpoint, const struct peer *peer,
                                    struct slice control, struct slice payload)
{
    struct listening_side *side = &endpoint->listening;
    for (size_t i = endpoint_guard_named(endpoint, peer->name);
         i < side->admitted_count && strcmp(side->by_name[i]->name, peer->name) == 0; i++) {
        struct admitted *admitted = side->by_name[i];
        if (!admitted->connected) {
            continue;
        }
        enum status status =
            endpoint_listening_send_by(endpoint, admitted->route, control, payload);
        if (status == STATUS_OK) {
            endpoint_owed_sent(endpoint, admitted, control, payload);
        }
        if (status != STATUS_NOT_FOUND) {
            return status;
        }
        admitted->connected = false;
    }
    return STATUS_NOT_FOUND;
}

/* Fills in one admitted key, with what was known of it before. */
static void take_over(struct endpoint *endpoint, struct admitted *now,
                      const struct roster_entry *entry)
{
    struct admitted *before = endpoint_guard_admitted(endpoint, &entry->key);

    memset(now, 0, sizeof *now);
    now->entry = *entry;
    (void)snprintf(now->name, sizeof now->name, "%s%s", entry->token_until_s != 0 ? "token:" : "",
                   entry->name);
    if (before != NULL) {
        struct admitted kept = *before;
        bool same = strcmp(kept.name, now->name) == 0;
        kept.entry = now->entry;
        memcpy(kept.name, now->name, sizeof kept.name);
        kept.connected = kept.connected && same; /* under another name it has to connect anew */
        kept.rival.challenge.number = same ? kept.rival.challenge.number : 0;
        *now = kept;
    }
}

static int by_key(const void *a, const void *b)
{
    return memcmp(((const struct admitted *)a)->entry.key.byte,
                  ((const struct admitted *)b)->entry.key.byte, KEY_BYTES);
}

static int by_name_then_key(const void *a, const void *b)
{
    const struct admitted *left = *(struct admitted *const *)a;
    const struct admitted *right = *(struct admitted *const *)b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : by_key(left, right);
}

/* The keys of one name stand together. A token's name has a prefix, so it stands elsewhere. */
static size_t count_agents(struct admitted *const *by_name, size_t count)
{
    size_t agents = 0;
    for (size_t i = 0; i < count; i++) {
        agents += by_name[i]->entry.token_until_s == 0 &&
                  (i == 0 || strcmp(by_name[i]->name, by_name[i - 1]->name) != 0);
    }
    return agents;
}

/* Every connection is an open file, and the journal needs some too. */
static void tell_if_too_many(const struct endpoint *endpoint)
{
    const struct listening_side *side = &endpoint->listening;
    if (side->admitted_count + DESCRIPTORS_OPEN > side->connection_room) {
        log_event(
            endpoint->log, LOG_WARN, "too-few-files", NULL,
            "the list has %zu keys, and the limit of open files leaves %zu for connections: not "
            "all can be connected at once; remedy: a higher limit (ulimit -n, LimitNOFILE)",
            side->admitted_count, side->connection_room - DESCRIPTORS_OPEN);
    }
}

bool endpoint_admit(struct endpoint *endpoint, const struct roster *roster)
{
    struct listening_side *side = &endpoint->listening;
    int64_t now_ms = clock_now_ms();

    struct admitted *fresh = calloc(roster->count + 1, sizeof *fresh);
    struct admitted **by_name = malloc((roster->count + 1) * sizeof(*by_name));
    struct digest *waiting = malloc((roster->count + 1) * sizeof *waiting);
    if (fresh == NULL || by_name == NULL || waiting == NULL) {
        /* Better nobody than somebody who was revoked, until the caller tries again. */
        free(fresh);
        free(by_name);
        free(waiting);
        side->admitted_count = 0;
        side->agent_count = 0;
        log_event(endpoint->log, LOG_ERROR, "list-lost", NULL,
                  "no memory for the allow-list: nobody is admitted until there is some");
        return false;
    }
    for (size_t i = 0; i < roster->count; i++) {
        take_over(endpoint, &fresh[i], &roster->entry[i]);
    }
    qsort(fresh, roster->count, sizeof *fresh, by_key);
    for (size_t i = 0; i < roster->count; i++) {
        by_name[i] = &fresh[i];
    }
    qsort(by_name, roster->count, sizeof(*by_name), by_name_then_key);
    free(side->admitted);
    free(side->by_name);
    side->admitted = fresh;
    side->by_name = by_name;
    side->admitted_count = roster->count;
    side->agent_count = count_agents(by_name, roster->count);
    endpoint_turns_admit(endpoint, waiting, roster->count + 1);
    tell_if_too_many(endpoint);
    for (size_t i = 0; i < side->used; i++) {
        struct connection *connection = &side->connection[i];
        if (!connection->live || connection->cut ||
            !(connection->identified || connection->waits)) {
            continue;
        }
        const struct admitted *admitted = endpoint_guard_admitted(endpoint, &connection->key);
        if (admitted != NULL && strcmp(admitted->name, connection->name) == 0) {
            continue;
        }
        if (strncmp(connection->name, "token:", 6) == 0) {
            connection->cut_at_ms = now_ms + FAREWELL_MS; /* its ENROLLED may still be on the way */
            continue;
        }
        log_event(endpoint->log, LOG_INFO, "key-revoked", connection->name,
                  "its key is no longer admitted: the connection was cut");
        endpoint_guard_cut(endpoint, (int)i);
    }
    endpoint_lines_judge(endpoint);
    return true;
}

bool endpoint_look(const struct endpoint *endpoint, size_t index, const char **name,
                   bool *connected)
{
    const struct listening_side *side = &endpoint->listening;
    if (index >= side->admitted_count) {
        return false;
    }
    *name = side->by_name[index]->name;
    *connected = side->by_name[index]->connected;
    return true;
}
