/* Two connections under one key: the newer one waits, and nothing of it is heard, until it is known whether an
 * agent is still there at the end of the older one. An agent that waits gets no invitation, so it charges nothing. */

#include "io/endpoint_private.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <string.h>

/* An agent that waits repeats its HELLO; a peer that says far more is no agent. */
enum { UNHEARD_MAX = 1000 };

/* A rival that is away for longer has given up. An agent comes back within 5 s. */
enum { RETURN_MS = 10000 };

/* How long an answer of the older one counts: a rival that was away when the answer came is told when it is
 * back. Otherwise a rival that connects again in step with the answers would never be told. */
enum { STAYS_MS = 5000 };

static struct connection *connection_at(struct endpoint *endpoint, int descriptor)
{
    struct listening_side *side = &endpoint->listening;
    if (descriptor < 0 || (size_t)descriptor >= side->connection_room) {
        return NULL;
    }
    struct connection *connection = &side->connection[descriptor];
    return connection->live && !connection->cut ? connection : NULL;
}

/* The connection that has the key's place, NULL when it has ended. */
static struct connection *holder_of(struct endpoint *endpoint, const struct admitted *admitted)
{
    struct connection *connection = connection_at(endpoint, admitted->descriptor);
    return admitted->connected && connection != NULL && connection->identified &&
                   connection->route == admitted->route
               ? connection
               : NULL;
}

static struct connection *rival_of(struct endpoint *endpoint, const struct admitted *admitted)
{
    struct connection *connection = connection_at(endpoint, admitted->rival.descriptor);
    return connection != NULL && connection->waits && connection->route == admitted->rival.route
               ? connection
               : NULL;
}

static void say(struct endpoint *endpoint, uint32_t route, const struct message *message)
{
    uint8_t control[CONTROL_BYTES_MAX];
    size_t size = wire_encode(control, message);
    (void)!endpoint_listening_send_by(endpoint, route, (struct slice){control, size},
                                      (struct slice){NULL, 0});
}

static void turn_away(struct endpoint *endpoint, const struct admitted *admitted,
                      const struct connection *holder, struct connection *rival, int64_t now_ms)
{
    const struct message in_use = {.kind = MESSAGE_KEY_IN_USE};
    char text[320];

    (void)snprintf(
        text, sizeof text,
        "an agent at %s was turned away, because another one with the same key is connected from %s; "
        "remedy: one agent per key. If nobody at the site started two, its key is known to others: "
        "revoke it",
        rival->peer.host, holder->peer.host);
    log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "key-in-use", admitted->name, text);
    say(endpoint, rival->route, &in_use);
    rival->cut_at_ms = now_ms + FAREWELL_MS;
}

/* The rival's next message takes the place. */
static void let_in(struct endpoint *endpoint, struct admitted *admitted, struct connection *rival,
                   int64_t now_ms)
{
    admitted->connected = false;
    rival->waits = false;
    endpoint_strangers_note(endpoint, admitted->rival.descriptor);
    rival->accepted_ms = now_ms; /* it was not silent, it was not heard */
}

static void ask(struct endpoint *endpoint, struct challenge *challenge, uint32_t route,
                int64_t now_ms)
{
    const struct message question = {.kind = MESSAGE_CHALLENGE,
                                     .as.challenge.number = challenge->number};
    if (challenge_asks(challenge, now_ms)) {
        say(endpoint, route, &question);
    }
}

static void decide(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms)
{
    struct rival *place = &admitted->rival;
    struct connection *holder = holder_of(endpoint, admitted);
    struct connection *rival = rival_of(endpoint, admitted);
    uint64_t bytes = place->challenge.bytes;
    bool over = true;

    if (holder == NULL || holder->route != place->older) {
        place->challenge.number = 0;
        if (holder == NULL && rival != NULL) {
            let_in(endpoint, admitted, rival, now_ms);
        }
        return;
    }
    (void)tcp_bytes_received(&bytes, admitted->descriptor);
    place->seen_ms = rival != NULL ? now_ms : place->seen_ms;
    switch (challenge_look(&place->challenge, now_ms, bytes)) {
    case CHALLENGE_STAYS:
        if (rival != NULL && rival->cut_at_ms == 0) {
            turn_away(endpoint, admitted, holder, rival, now_ms);
        }
        over = now_ms - place->stayed_ms > STAYS_MS;
        break;
    case CHALLENGE_YIELDS:
        if (rival != NULL) {
            log_rate_event(
                &endpoint->rate, now_ms, LOG_WARN, "connection-replaced", admitted->name,
                "its connection did not answer any more: a newer one under its key took its place");
            endpoint_guard_cut(endpoint, admitted->descriptor);
            let_in(endpoint, admitted, rival, now_ms);
            break;
        }
        over = now_ms - place->seen_ms > RETURN_MS; /* nobody wants the place: nobody loses it */
        break;
    case CHALLENGE_OPEN:
        over = now_ms - place->seen_ms > RETURN_MS;
        ask(endpoint, &place->challenge, admitted->route, now_ms);
        break;
    }
    place->challenge.number = over ? 0 : place->challenge.number;
}

/* A newer connection has said something, for the first time. */
static void begin(struct endpoint *endpoint, struct admitted *admitted, struct connection *rival,
                  uint32_t route, int descriptor, int64_t now_ms)
{
    struct rival *place = &admitted->rival;
    uint64_t bytes = 0;

    rival->waits = true;
    endpoint_strangers_note(endpoint, descriptor);
    rival->route = route;
    rival->key = admitted->entry.key;
    memcpy(rival->name, admitted->name, sizeof rival->name);
    place->route = route;
    place->descriptor = descriptor;
    if (place->challenge.number == 0) {
        (void)tcp_bytes_received(&bytes, admitted->descriptor);
        place->older = admitted->route;
        endpoint->listening.challenged = true;
        challenge_begin(&place->challenge, ++endpoint->listening.challenges, now_ms, bytes);
    }
    decide(endpoint, admitted, now_ms);
}

bool endpoint_rivals_wait(struct endpoint *endpoint, struct admitted *admitted, uint32_t route,
                          int descriptor)
{
    const struct rival *place = &admitted->rival;
    int64_t now_ms = clock_now_ms();
    uint64_t bytes = 0;

    if (admitted->entry.token_until_s != 0 || !admitted->connected ||
        !endpoint_route_is_newer(route, admitted->route)) {
        return false;
    }
    endpoint_guard_events(endpoint, now_ms); /* that the older one has ended may be waiting there */
    struct connection *rival = connection_at(endpoint, descriptor);
    if (rival != NULL && rival->cut_at_ms != 0) {
        return true; /* it has been turned away */
    }
    if (holder_of(endpoint, admitted) == NULL) {
        return false;
    }
    if (rival == NULL) {
        return true;
    }
    const struct connection *waiting = rival_of(endpoint, admitted);
    if (place->challenge.number != 0 && place->route != route && waiting != NULL &&
        waiting->cut_at_ms == 0) {
        endpoint_guard_cut(endpoint, descriptor); /* one waits, or they would be many */
        return true;
    }
    if (++rival->unheard > UNHEARD_MAX) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "flood", admitted->name,
                       "it sent far more messages than the protocol has, and was cut");
        endpoint_guard_cut(endpoint, descriptor);
        return true;
    }
    if (tcp_bytes_received(&bytes, descriptor)) {
        rival->bytes_before = bytes;
    }
    if (!rival->waits || place->challenge.number == 0 || place->route != route) {
        begin(endpoint, admitted, rival, route, descriptor, now_ms);
    }
    return true;
}

bool endpoint_rivals_answered(struct endpoint *endpoint, struct admitted *admitted)
{
    struct rival *place = &admitted->rival;
    struct challenge *challenge = &place->challenge;
    struct message message;
    int64_t now_ms = clock_now_ms();

    if (challenge->number == 0) {
        return false;
    }
    challenge_heard(challenge, now_ms);
    if (wire_decode(&message, endpoint_frame(&endpoint->control),
                    endpoint_frame(&endpoint->payload)) != STATUS_OK ||
        message.kind != MESSAGE_PRESENT) {
        return false;
    }
    place->stayed_ms = challenge->answered ? place->stayed_ms : now_ms;
    challenge_answered(challenge, message.as.present.number);
    decide(endpoint, admitted, now_ms);
    return true;
}

void endpoint_rivals_look(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    const size_t count = side->challenged ? side->admitted_count : 0;
    side->challenged = false;
    for (size_t i = 0; i < count; i++) {
        if (side->admitted[i].rival.challenge.number != 0) {
            decide(endpoint, &side->admitted[i], now_ms);
            side->challenged = true;
        }
    }
}
