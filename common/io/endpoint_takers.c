/* Peers that do not take what they have asked for, while another waits for its turn because of others. Time is cut into spans. An agent for which
 * something waited in a whole span is to take 64 KiB in it. It is cut where it takes less, and it is itself the cause:
 *
 * - its machine has closed its window, so that nothing can be sent to it;
 * - or it took less than a quarter of what half of those took that had something waiting as long, in two spans in a row: on a
 *   crowded link one may get nothing for a while;
 * - or it took less than 64 KiB in eight spans in a row, whatever the cause.
 *
 * Where the coordinator's own link is what is narrow, the windows are open, and all take little alike: nobody is cut. */

#include "io/endpoint_owed.h"

enum {
    TAKEN_BYTES = 64 * 1024, /* this much in a span is enough, whatever others take */
    PART = 4,
    BEHIND_MAX = 2,
    MISSED_MAX = 8,
    RESTED_MS = 1000, /* if nobody has waited for this time, everything begins anew */
    SIZES = 65        /* numbers of bits that a number of bytes may have */
};

static uint64_t taken_in_span(const struct owed *owed)
{
    return owed->taken > owed->taken_before ? owed->taken - owed->taken_before : 0;
}

static bool waited(const struct endpoint *endpoint, const struct admitted *admitted)
{
    return admitted->connected && endpoint_owed_by(admitted) > SMALL_BYTES &&
           admitted->owed.since_ms <= endpoint->listening.fetches.judged_ms;
}

static void begin_span(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    side->fetches.judged_ms = now_ms;
    for (size_t i = 0; i < side->admitted_count; i++) {
        side->admitted[i].owed.taken_before = side->admitted[i].owed.taken;
    }
}

/* What was so before a rest says nothing. */
static void begin_anew(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    for (size_t i = 0; i < side->admitted_count; i++) {
        side->admitted[i].owed.missed = side->admitted[i].owed.behind = 0;
    }
    begin_span(endpoint, now_ms);
}

static unsigned bits_of(uint64_t number)
{
    unsigned bits = 0;
    for (; number > 0; number >>= 1) {
        bits++;
    }
    return bits;
}

/* Returns what half of those who waited have taken at least, rounded down to a power of 2. */
static uint64_t taken_by_half(const struct endpoint *endpoint)
{
    const struct listening_side *side = &endpoint->listening;
    size_t of_bits[SIZES] = {0};
    size_t count = 0;
    for (size_t i = 0; i < side->admitted_count; i++) {
        if (waited(endpoint, &side->admitted[i])) {
            of_bits[bits_of(taken_in_span(&side->admitted[i].owed))]++;
            count++;
        }
    }
    unsigned bits = SIZES;
    for (size_t more = 0; bits > 0 && 2 * more < count;) {
        more += of_bits[--bits];
    }
    return bits == 0 || bits == SIZES ? 0 : UINT64_C(1) << (bits - 1);
}

static void cut(struct endpoint *endpoint, const struct admitted *admitted, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    const int descriptor = admitted->descriptor;
    if (descriptor < 0 || (size_t)descriptor >= side->connection_room) {
        return;
    }
    const struct connection *connection = &side->connection[descriptor];
    if (!connection->live || connection->cut || !connection->identified ||
        connection->route != admitted->route) {
        return; /* it is another one's by now */
    }
    side->fetches.not_taken++;
    log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "pieces-not-taken", admitted->name,
                   "it asked for pieces and did not take them, while somebody waits for its "
                   "turn: its connection was cut");
    tcp_give_up(descriptor, &connection->peer);
    endpoint_guard_cut(endpoint, descriptor);
}

static void judge_one(struct endpoint *endpoint, struct admitted *admitted, uint64_t by_half,
                      int64_t now_ms)
{
    struct owed *owed = &admitted->owed;
    const uint64_t taken = taken_in_span(owed);
    if (!waited(endpoint, admitted) || taken >= TAKEN_BYTES) {
        owed->missed = owed->behind = 0;
        return;
    }
    if (owed->missed == 0 || owed->taken - owed->missed_before >= TAKEN_BYTES) {
        owed->missed = 0;
        owed->missed_before = owed->taken - taken;
    }
    owed->missed++;
    owed->behind = taken < by_half / PART ? owed->behind + 1 : 0;
    if (owed->behind >= BEHIND_MAX || owed->missed >= MISSED_MAX ||
        tcp_window_is_closed(endpoint_owed_descriptor(endpoint, admitted))) {
        owed->missed = owed->behind = 0;
        cut(endpoint, admitted, now_ms);
    }
}

void endpoint_takers_judge(struct endpoint *endpoint, int64_t now_ms)
{
    struct listening_side *side = &endpoint->listening;
    struct fetches *fetches = &side->fetches;
    if (fetches->held_up == 0) {
        return;
    }
    if (now_ms - fetches->waited_ms > RESTED_MS) {
        begin_anew(endpoint, now_ms);
    }
    fetches->waited_ms = now_ms;
    if (now_ms - fetches->judged_ms <= (int64_t)endpoint->limits.take_ms) {
        return;
    }
    const uint64_t by_half = taken_by_half(endpoint);
    for (size_t i = 0; i < side->admitted_count; i++) {
        judge_one(endpoint, &side->admitted[i], by_half, now_ms);
    }
    begin_span(endpoint, now_ms);
}
