/* What the coordinator's end holds for agents that fetch. Pieces are large, and all agents ask for
 * them at once when a model is released: what they ask for and have not taken lies here, in libzmq's queues, in a line's, in the
 * kernel's. So bytes count from when they are sent until the agent's machine has acknowledged them, which the kernel tells
 * of a connection and nobody can pretend.
 *
 * The latest pieces that an agent was given are remembered until then. If it asks for one of them again, because it comes
 * late, nothing is sent twice: it is on its way. What a connection or a line has lost with its end no longer waits. */

#include "io/endpoint_owed.h"

#include "io/clock.h"
#include "io/endpoint_lines.h"
#include "protocol/wire.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

enum {
    FRAME_BYTES_LARGE = 255, /* a frame of more has a longer head */
    SEALED_BYTES = 1024,  /* more than the records' heads are that the count of a line leaves out */
    CROSSED_MS = 200,     /* a FETCH and its piece may have crossed up to this long after this was
                           * taken */
    GIVEN_MS_MAX = 60000, /* what seems to wait longer is given again, whatever the counts say, */
    MOVED_BYTES =
        8 *
        1024, /* unless this much is taken in each such time: the link is slow. Other messages are less */
    TOLD_MS = 1000 /* the answer about what waits is at most this old */
};

uint64_t endpoint_owed_by(const struct admitted *admitted)
{
    return admitted->owed.curve + admitted->owed.line;
}

static void set_owed(struct endpoint *endpoint, struct admitted *admitted, uint64_t curve,
                     uint64_t line)
{
    struct owed *owed = &admitted->owed;
    endpoint->listening.fetches.waiting_bytes += curve + line - endpoint_owed_by(admitted);
    owed->curve = curve;
    owed->line = line;
}

void endpoint_owed_hold_up(struct endpoint *endpoint, struct admitted *admitted, bool by_others)
{
    struct fetches *fetches = &endpoint->listening.fetches;
    fetches->held_up = fetches->held_up - admitted->owed.held_up + by_others;
    admitted->owed.held_up = by_others;
}

void endpoint_owed_begin(struct endpoint *endpoint, struct admitted *admitted, int descriptor)
{
    endpoint_owed_hold_up(endpoint, admitted, false);
    set_owed(endpoint, admitted, 0, 0);
    admitted->owed = (struct owed){.queued = admitted->owed.queued};
    (void)tcp_bytes_acknowledged(&admitted->owed.acknowledged_before, descriptor);
}

static void note_piece(struct owed *owed, struct slice control, struct slice payload,
                       int64_t now_ms)
{
    struct message message;
    if (!wire_is(control, MESSAGE_PIECE) || wire_decode(&message, control, payload) != STATUS_OK) {
        return;
    }
    if (!digest_equal(&owed->of, &message.as.piece.digest)) {
        owed->of = message.as.piece.digest;
        owed->pieces = 0;
    }
    owed->piece[owed->pieces++ % PIECES_GIVEN] =
        (struct piece_given){.offset = message.as.piece.offset,
                             .length = (uint32_t)payload.size,
                             .sent = owed->sent,
                             .sent_ms = now_ms,
                             .seen_ms = now_ms};
}

static void note_sent(struct admitted *admitted, uint64_t bytes, struct slice control,
                      struct slice payload)
{
    struct owed *owed = &admitted->owed;
    const int64_t now_ms = clock_now_ms();
    if (endpoint_owed_by(admitted) <= SMALL_BYTES) {
        owed->since_ms = now_ms;
    }
    owed->sent += bytes;
    note_piece(owed, control, payload, now_ms);
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
    note_sent(admitted, bytes, control, payload);
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
                                const struct line *line, struct slice control, struct slice payload)
{
    struct admitted *admitted = endpoint_guard_admitted(endpoint, key);
    if (admitted != NULL) {
        note_sent(admitted, control.size + payload.size, control, payload);
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

int endpoint_owed_descriptor(const struct endpoint *endpoint, const struct admitted *admitted)
{
    const bool by_line = admitted->owed.line > admitted->owed.curve;
    const struct line *line = by_line ? line_of(endpoint, &admitted->entry.key) : NULL;
    return !by_line ? admitted->descriptor : line != NULL ? line_descriptor(line) : -1;
}

static bool is_taken(const struct owed *owed, const struct piece_given *piece)
{
    return owed->taken + SEALED_BYTES >= piece->sent;
}

void endpoint_owed_look_at(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms)
{
    struct owed *owed = &admitted->owed;
    const struct line *line = owed->line > 0 ? line_of(endpoint, &admitted->entry.key) : NULL;
    set_owed(endpoint, admitted, owed->curve > 0 ? curve_owed(admitted) : 0,
             line != NULL ? line_owed(line) : 0);
    const uint64_t left = endpoint_owed_by(admitted);
    owed->taken = left < owed->sent ? owed->sent - left : 0;
    if (owed->taken >= owed->moved + MOVED_BYTES) {
        owed->moved = owed->taken;
        owed->moved_ms = now_ms;
    }
    owed->since_ms = left <= SMALL_BYTES ? now_ms : owed->since_ms;
    for (size_t i = 0; i < PIECES_GIVEN && i < owed->pieces; i++) {
        struct piece_given *piece = &owed->piece[i];
        piece->seen_ms = is_taken(owed, piece) ? piece->seen_ms : now_ms;
    }
}

bool endpoint_owed_has(const struct admitted *admitted, const struct fetched *fetch, int64_t now_ms)
{
    const struct owed *owed = &admitted->owed;
    for (size_t i = 0; i < PIECES_GIVEN && i < owed->pieces; i++) {
        const struct piece_given *piece = &owed->piece[i];
        const int64_t from_ms = piece->sent_ms > owed->moved_ms ? piece->sent_ms : owed->moved_ms;
        if (piece->offset <= fetch->offset &&
            fetch->offset + fetch->length <= piece->offset + piece->length &&
            now_ms - piece->seen_ms < CROSSED_MS && now_ms - from_ms < GIVEN_MS_MAX) {
            return digest_equal(&owed->of, &fetch->digest);
        }
    }
    return false;
}

static bool look_at_all(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    struct fetches *fetches = &side->fetches;
    if (now_ms - fetches->looked_ms < SAMPLE_MS) {
        return false;
    }
    fetches->passed = 0;
    for (size_t i = 0; i < side->admitted_count; i++) {
        struct admitted *admitted = &side->admitted[i];
        if (!admitted->connected) {
            set_owed(endpoint, admitted, 0, 0);
            admitted->owed.held_count = 0;
            endpoint_owed_hold_up(endpoint, admitted, false);
        } else if (endpoint_owed_by(admitted) > 0) {
            endpoint_owed_look_at(endpoint, admitted, now_ms);
        }
    }
    return true;
}

void endpoint_owed_look_at_all(struct endpoint *endpoint, int64_t now_ms)
{
    if (look_at_all(endpoint, now_ms)) {
        endpoint_takers_judge(endpoint, now_ms);
        endpoint->listening.fetches.looked_ms = now_ms;
    }
}

void endpoint_owed_look(struct endpoint *endpoint, int64_t now_ms)
{
    if (endpoint->listening.fetches.count > 0) {
        endpoint_owed_look_at_all(endpoint, now_ms);
    }
}

void endpoint_fetches(struct endpoint *endpoint, struct endpoint_fetches *out)
{
    const struct fetches *fetches = &endpoint->listening.fetches;
    const int64_t now_ms = clock_now_ms();
    if (fetches->count == 0 && now_ms - fetches->looked_ms >= TOLD_MS &&
        look_at_all(endpoint, now_ms)) { /* judges nobody: a request for figures cuts no agent */
        endpoint->listening.fetches.looked_ms = now_ms;
    }
    *out = (struct endpoint_fetches){.waiting_bytes = fetches->waiting_bytes,
                                     .agents_waiting = fetches->count,
                                     .held = fetches->held,
                                     .repeated = fetches->repeated,
                                     .not_taken = fetches->not_taken};
}
