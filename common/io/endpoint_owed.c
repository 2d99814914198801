/* What the coordinator's end holds for agents that fetch, and which of them wait. Pieces are large, and all agents ask for
 * them at once when a model is released: what they ask for and have not taken lies here, in libzmq's queues, in a line's, in the
 * kernel's. So bytes count from when they are sent until the agent's machine has acknowledged them, which the kernel tells
 * of a connection and nobody can pretend. A FETCH that would go beyond what may wait is held back, before
 * the machine has made a piece of it, and comes out in its turn. It is small; the piece is not lost, and made late.
 *
 * Half of what may wait is for agents that have nothing waiting: one that does not take its pieces costs the others one share,
 * and where others wait it has to take some of it in time, or it is cut. */

#include "io/endpoint_lines.h"

#include "io/clock.h"
#include "protocol/transfer.h"
#include "protocol/wire.h"

#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    FRAME_BYTES_LARGE = 255, /* a frame of more has a longer head */
    SMALL_BYTES = 32 * 1024, /* what other messages leave: as good as nothing */
    SHARE_BYTES = TRANSFER_WINDOW_BYTES + 2 * SMALL_BYTES, /* of one agent, whatever it asks for */
    TAKEN_BYTES = 64 * 1024                                /* so much in the time for it, or all */
};

static uint64_t owed_of(const struct admitted *admitted)
{
    return admitted->owed.curve + admitted->owed.line;
}

static void set_owed(struct endpoint *endpoint, struct admitted *admitted, uint64_t curve,
                     uint64_t line)
{
    struct owed *owed = &admitted->owed;
    endpoint->listening.fetches.waiting_bytes += curve + line - owed_of(admitted);
    owed->curve = curve;
    owed->line = line;
}

void endpoint_owed_begin(struct endpoint *endpoint, struct admitted *admitted, int descriptor)
{
    set_owed(endpoint, admitted, 0, 0);
    admitted->owed = (struct owed){.queued = admitted->owed.queued};
    (void)tcp_bytes_acknowledged(&admitted->owed.acknowledged_before, descriptor);
}

static void note_sent(struct admitted *admitted, uint64_t bytes)
{
    struct owed *owed = &admitted->owed;
    if (owed_of(admitted) <= SMALL_BYTES) { /* its time begins */
        owed->taken_before = owed->sent;
        owed->taken_ms = clock_now_ms();
    }
    owed->sent += bytes;
}

static uint64_t frame_bytes(size_t size)
{
    const uint64_t sealed = size + CURVE_OVERHEAD;
    return sealed + (sealed > FRAME_BYTES_LARGE ? 9 : 2);
}

void endpoint_owed_sent(struct endpoint *endpoint, struct admitted *admitted, struct slice control,
                        struct slice payload)
{
    const uint64_t bytes =
        frame_bytes(control.size) + (payload.size > 0 ? frame_bytes(payload.size) : 0);
    note_sent(admitted, bytes);
    admitted->owed.given += bytes;
    set_owed(endpoint, admitted, admitted->owed.curve + bytes, admitted->owed.line);
}

/* What of a line's messages has not been acknowledged. */
static uint64_t line_owed(const struct line *line)
{
    int queued = 0;
    if (ioctl(line_descriptor(line), SIOCOUTQ, &queued) != 0 || queued < 0) {
        queued = 0;
    }
    return line_waiting_bytes(line) + (uint64_t)queued;
}

void endpoint_owed_sent_by_line(struct endpoint *endpoint, const struct digest *key,
                                const struct line *line, size_t bytes)
{
    struct admitted *admitted = endpoint_guard_admitted(endpoint, key);
    if (admitted != NULL) {
        note_sent(admitted, bytes);
        set_owed(endpoint, admitted, admitted->owed.curve, line_owed(line));
    }
}

/* How much of what went over its own connection has not been acknowledged. Messages that were not counted - a CHALLENGE -
 * show once all is. */
static uint64_t curve_owed(struct admitted *admitted)
{
    struct owed *owed = &admitted->owed;
    uint64_t acknowledged = 0;
    if (!tcp_bytes_acknowledged(&acknowledged, admitted->descriptor)) {
        return 0; /* it is gone */
    }
    const uint64_t taken = acknowledged - owed->acknowledged_before;
    owed->given = taken > owed->given ? taken : owed->given;
    return owed->given - taken;
}

static const struct line *line_of(const struct endpoint *endpoint, const struct digest *key)
{
    for (size_t i = 0; endpoint->lines != NULL && i < LINES_MAX; i++) {
        const struct held *held = &endpoint->lines->held[i];
        if (held->used && held->line != NULL && digest_equal(&held->key, key)) {
            return held->line;
        }
    }
    return NULL;
}

static void look_at_one(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms)
{
    struct owed *owed = &admitted->owed;
    const struct line *line = owed->line > 0 ? line_of(endpoint, &admitted->entry.key) : NULL;
    set_owed(endpoint, admitted, owed->curve > 0 ? curve_owed(admitted) : 0,
             line != NULL ? line_owed(line) : 0);
    const uint64_t left = owed_of(admitted);
    const uint64_t taken = left < owed->sent ? owed->sent - left : 0;
    if (left <= SMALL_BYTES || taken >= owed->taken_before + TAKEN_BYTES) {
        owed->taken_before = taken;
        owed->taken_ms = now_ms;
    }
}

/* Nobody is cut before somebody waits. */
static void cut_if_due(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms)
{
    const struct listening_side *side = &endpoint->listening;
    const int descriptor = admitted->descriptor;
    if (descriptor < 0 || (size_t)descriptor >= side->connection_room) {
        return;
    }
    const struct connection *connection = &side->connection[descriptor];
    if (!connection->live || connection->cut || !connection->identified ||
        connection->route != admitted->route) {
        return; /* it is another one's by now */
    }
    if (owed_of(admitted) > SMALL_BYTES &&
        now_ms - admitted->owed.taken_ms > (int64_t)endpoint->limits.take_ms) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "pieces-not-taken", admitted->name,
                       "it asked for pieces and did not take them, while somebody waits for its "
                       "turn: its connection was cut");
        tcp_give_up(descriptor, &side->connection[descriptor].peer);
        endpoint_guard_cut(endpoint, descriptor);
    }
}

static void look_at_all(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    struct fetches *fetches = &side->fetches;
    if (now_ms - fetches->looked_ms < SAMPLE_MS) {
        return;
    }
    fetches->looked_ms = now_ms;
    fetches->passed = 0;
    for (size_t i = 0; i < side->admitted_count; i++) {
        struct admitted *admitted = &side->admitted[i];
        if (!admitted->connected) {
            set_owed(endpoint, admitted, 0, 0);
            admitted->owed.held_count = 0;
        } else if (owed_of(admitted) > 0) {
            look_at_one(endpoint, admitted, now_ms);
            cut_if_due(endpoint, admitted, now_ms);
        }
    }
}

void endpoint_owed_look(struct endpoint *endpoint, int64_t now_ms)
{
    if (endpoint->listening.fetches.count > 0) {
        look_at_all(endpoint, now_ms);
    }
}

/* Returns whether a piece may be made for it; *all: the others are in its way, not what it has asked for itself. */
static bool fits(struct endpoint *endpoint, struct admitted *admitted, uint32_t length, bool *all)
{
    const uint64_t most = endpoint->limits.waiting_bytes_max;
    const uint64_t others = endpoint->listening.fetches.waiting_bytes - owed_of(admitted);
    const uint64_t own = owed_of(admitted);
    const bool first = own <= SMALL_BYTES;
    *all = others > 0 && others + own + length > (first ? most : most / 2);
    return !*all && (first || own + length <= SHARE_BYTES);
}

static void queue(struct fetches *fetches, struct admitted *admitted)
{
    if (!admitted->owed.queued) {
        admitted->owed.queued = true;
        fetches->key[(fetches->first + fetches->count++) % fetches->room] = admitted->entry.key;
    }
}

/* One that asks again, or for something else, has given up what it asked for before. */
static void hold(struct fetches *fetches, struct admitted *admitted, const struct fetched *fetch)
{
    struct owed *owed = &admitted->owed;
    if (owed->held_count > 0 && (!digest_equal(&owed->held[0].digest, &fetch->digest) ||
                                 fetch->offset <= owed->held[0].offset)) {
        owed->held_count = 0;
    }
    if (owed->held_count < FETCHES_HELD) {
        owed->held[owed->held_count++] = *fetch;
        queue(fetches, admitted);
    }
}

bool endpoint_owed_holds(struct endpoint *endpoint, struct admitted *admitted, struct slice control)
{
    struct message message;
    bool all = false;
    if (!wire_is(control, MESSAGE_FETCH) || admitted->entry.token_until_s != 0 ||
        wire_decode(&message, control, (struct slice){NULL, 0}) != STATUS_OK) {
        return false;
    }
    const struct fetched fetch = {message.as.fetch.digest, message.as.fetch.offset,
                                  message.as.fetch.length};
    const int64_t now_ms = clock_now_ms();
    look_at_one(endpoint, admitted, now_ms);
    if (admitted->owed.held_count == 0) {
        if (fits(endpoint, admitted, fetch.length, &all)) {
            return false;
        }
        look_at_all(endpoint, now_ms); /* what others owe is as old as the latest look */
        if (fits(endpoint, admitted, fetch.length, &all)) {
            return false;
        }
    }
    hold(&endpoint->listening.fetches, admitted, &fetch);
    return true;
}

bool endpoint_owed_is_due(const struct endpoint *endpoint)
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

/* Returns the agent whose turn it is, taken from the queue; NULL: nobody's. Who has to take its own pieces first does not
 * hold up those behind it; who waits for others stays the first. */
static struct admitted *next_in_turn(struct endpoint *endpoint)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    while (endpoint_owed_is_due(endpoint)) {
        struct admitted *admitted = take_first(endpoint);
        bool all = false;
        if (admitted == NULL || admitted->owed.held_count == 0) {
            continue;
        }
        look_at_one(endpoint, admitted, clock_now_ms());
        if (fits(endpoint, admitted, admitted->owed.held[0].length, &all)) {
            fetches->passed = 0;
            return admitted;
        }
        if (all && owed_of(admitted) <= SMALL_BYTES) {
            put_back(fetches, admitted);
            fetches->passed = fetches->count; /* until the next look */
        } else {
            queue(fetches, admitted);
            fetches->passed++;
        }
    }
    return NULL;
}

bool endpoint_owed_next(struct endpoint *endpoint, struct endpoint_message *out)
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

void endpoint_owed_admit(struct endpoint *endpoint, struct digest *key, size_t room)
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
    for (size_t i = 0; i < side->admitted_count; i++) {
        fetches->waiting_bytes += owed_of(&side->admitted[i]);
    }
}
