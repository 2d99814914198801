/* Whose turn it is to be given a piece. A FETCH that would go beyond what may wait (endpoint_owed.c) is held back, before
 * the machine has made a piece of it, and comes out in its turn. It is small; the piece is not lost, and made late. One that
 * is repeated meanwhile adds nothing.
 *
 * Half of what may wait is for agents that have nothing waiting: one that does not take its pieces costs the others one share,
 * and where somebody waits for others it has to take some of it in time, or it is cut (endpoint_takers.c). A peer that has
 * asked for more than its share waits for itself: that is nobody else's fault. */

#include "io/endpoint_owed.h"

#include "io/clock.h"
#include "io/endpoint_lines.h"
#include "protocol/wire.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether a piece may be made for it, and notes whether the others are in its way, not what it has asked for itself. */
static bool fits(struct endpoint *endpoint, struct admitted *admitted, uint32_t length)
{
    const uint64_t most = endpoint->limits.waiting_bytes_max;
    const uint64_t others = endpoint->listening.fetches.waiting_bytes - endpoint_owed_by(admitted);
    const uint64_t own = endpoint_owed_by(admitted);
    const bool first = own <= SMALL_BYTES;
    const bool own_fits = first || own + length <= SHARE_BYTES;
    const bool all_fit = others == 0 || others + own + length <= (first ? most : most / 2);
    endpoint_owed_hold_up(endpoint, admitted, own_fits && !all_fit);
    return own_fits && all_fit;
}

/* What begins on one way ends there. So a large transfer waits a moment for a line that is being opened: over CURVE it is slower,
 * and each of its pieces lies here twice for each agent. */
static bool waits_for_line(const struct endpoint *endpoint, const struct admitted *admitted,
                           const struct fetched *fetch, int64_t now_ms)
{
    return fetch->offset == 0 && fetch->length >= SHARED_BYTES_LEAST &&
           endpoint_lines_is_coming(endpoint, admitted, now_ms);
}

static void queue(struct fetches *fetches, struct admitted *admitted)
{
    if (!admitted->owed.queued) {
        admitted->owed.queued = true;
        fetches->key[(fetches->first + fetches->count++) % fetches->room] = admitted->entry.key;
    }
}

/* One that asks for something else, or for what comes before, has given up what it asked for. */
static void hold(struct fetches *fetches, struct admitted *admitted, const struct fetched *fetch)
{
    struct owed *owed = &admitted->owed;
    if (owed->held_count > 0 && (!digest_equal(&owed->held[0].digest, &fetch->digest) ||
                                 fetch->offset <= owed->held[0].offset)) {
        owed->held_count = 0;
    }
    if (owed->held_count < FETCHES_HELD) {
        owed->held[owed->held_count++] = *fetch;
        fetches->held++;
        queue(fetches, admitted);
    }
}

/* Returns whether it is held back already, maybe as a part of a larger piece. */
static bool is_held(const struct owed *owed, const struct fetched *fetch)
{
    for (size_t i = 0; i < owed->held_count; i++) {
        const struct fetched *held = &owed->held[i];
        if (digest_equal(&held->digest, &fetch->digest) && held->offset <= fetch->offset &&
            fetch->offset + fetch->length <= held->offset + held->length) {
            return true;
        }
    }
    return false;
}

/* If an agent waits for others, later ones wait after it, even if there is room for what they ask for. */
static bool is_given_at_once(struct endpoint *endpoint, struct admitted *admitted, uint32_t length,
                             int64_t now_ms)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    if (fetches->held_up == 0 && fits(endpoint, admitted, length)) {
        return true;
    }
    endpoint_owed_look_at_all(endpoint, now_ms); /* what others owe is as old as the latest look */
    return fits(endpoint, admitted, length) && fetches->held_up == 0;
}

bool endpoint_turns_hold(struct endpoint *endpoint, struct admitted *admitted, struct slice control)
{
    struct message message;
    if (!wire_is(control, MESSAGE_FETCH) || admitted->entry.token_until_s != 0 ||
        wire_decode(&message, control, (struct slice){NULL, 0}) != STATUS_OK) {
        return false;
    }
    const struct fetched fetch = {message.as.fetch.digest, message.as.fetch.offset,
                                  message.as.fetch.length};
    const int64_t now_ms = clock_now_ms();
    endpoint_owed_look_at(endpoint, admitted, now_ms);
    if (is_held(&admitted->owed, &fetch) || endpoint_owed_has(admitted, &fetch, now_ms)) {
        endpoint->listening.fetches.repeated++;
        return true;
    }
    if (admitted->owed.held_count == 0 && !waits_for_line(endpoint, admitted, &fetch, now_ms) &&
        is_given_at_once(endpoint, admitted, fetch.length, now_ms)) {
        return false;
    }
    hold(&endpoint->listening.fetches, admitted, &fetch);
    return true;
}

bool endpoint_turns_are_due(const struct endpoint *endpoint)
{
    return endpoint->listening.fetches.passed < endpoint->listening.fetches.count;
}

static struct admitted *take_first(struct endpoint *endpoint)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    struct admitted *admitted = endpoint_guard_admitted(endpoint, &fetches->key[fetches->first]);
    fetches->first = (fetches->first + 1) % fetches->room;
    fetches->count--;
    if (admitted != NULL) {
        admitted->owed.queued = false;
        endpoint_owed_hold_up(endpoint, admitted, false);
        admitted->owed.held_count = admitted->connected ? admitted->owed.held_count : 0;
    }
    return admitted;
}

/* The first one stays the first. */
static void put_back(struct fetches *fetches, struct admitted *admitted)
{
    admitted->owed.queued = true;
    fetches->first = (fetches->first + fetches->room - 1) % fetches->room;
    fetches->key[fetches->first] = admitted->entry.key;
    fetches->count++;
}

/* Returns the agent whose turn it is, taken from the queue; NULL: nobody's. A peer that has to take its own pieces first
 * does not delay later ones. A peer that waits for others stays the first. */
static struct admitted *next_in_turn(struct endpoint *endpoint)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    while (endpoint_turns_are_due(endpoint)) {
        struct admitted *admitted = take_first(endpoint);
        if (admitted == NULL || admitted->owed.held_count == 0) {
            continue;
        }
        const int64_t now_ms = clock_now_ms();
        endpoint_owed_look_at(endpoint, admitted, now_ms);
        if (!waits_for_line(endpoint, admitted, &admitted->owed.held[0], now_ms) &&
            fits(endpoint, admitted, admitted->owed.held[0].length)) {
            fetches->passed = 0;
            return admitted;
        }
        if (admitted->owed.held_up && endpoint_owed_by(admitted) <= SMALL_BYTES) {
            put_back(fetches, admitted);
            fetches->passed = fetches->count; /* until the next look */
        } else {
            queue(fetches, admitted);
            fetches->passed++;
        }
    }
    return NULL;
}

bool endpoint_turns_next(struct endpoint *endpoint, struct endpoint_message *out)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    struct message message = {.kind = MESSAGE_FETCH};
    struct admitted *admitted = next_in_turn(endpoint);
    if (admitted == NULL) {
        return false;
    }
    struct owed *owed = &admitted->owed;
    message.as.fetch.digest = owed->held[0].digest;
    message.as.fetch.offset = owed->held[0].offset;
    message.as.fetch.length = owed->held[0].length;
    memmove(&owed->held[0], &owed->held[1], --owed->held_count * sizeof owed->held[0]);
    if (owed->held_count > 0) {
        queue(fetches, admitted);
    }
    endpoint_listening_name(out, admitted);
    out->payload = (struct slice){NULL, 0};
    out->control = (struct slice){fetches->frame, wire_encode(fetches->frame, &message)};
    return true;
}

void endpoint_turns_admit(struct endpoint *endpoint, struct digest *key, size_t room)
{
    struct listening_side *side = &endpoint->listening;
    struct fetches *fetches = &side->fetches;
    size_t count = 0;
    for (size_t i = 0; i < fetches->count; i++) {
        const struct digest *waits = &fetches->key[(fetches->first + i) % fetches->room];
        const struct admitted *admitted = endpoint_guard_admitted(endpoint, waits);
        if (admitted != NULL && admitted->owed.queued) {
            key[count++] = *waits;
        }
    }
    free(fetches->key);
    fetches->key = key;
    fetches->room = room;
    fetches->first = 0;
    fetches->count = count;
    fetches->waiting_bytes = 0;
    fetches->held_up = 0;
    for (size_t i = 0; i < side->admitted_count; i++) {
        fetches->waiting_bytes += endpoint_owed_by(&side->admitted[i]);
        fetches->held_up += side->admitted[i].owed.held_up;
    }
}
