/* What a transfer costs the receiver follows from the bytes that came, not from those that were announced. A
 * peer that keeps offering another answer makes the transfer begin anew each time. */

#include "protocol/message.h"
#include "protocol/transfer.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ANSWER_BYTES = 8 << 20, OFFERS = 1000 };

void __real_bytes_wipe(void *data, size_t size);
void __wrap_bytes_wipe(void *data, size_t size);

static uint64_t wiped;

void __wrap_bytes_wipe(void *data, size_t size)
{
    wiped += size;
    __real_bytes_wipe(data, size);
}

Test(transfer, one_that_begins_anew_all_the_time_costs_what_its_peer_sends)
{
    struct transfer transfer = {0};
    wiped = 0;
    for (int i = 0; i < OFFERS; i++) {
        cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
        transfer_drop(&transfer);
    }
    cr_expect_eq(wiped, 0);
}

/* Asks for all that it may, moves the next piece and returns its size: of two that there are, the one that is taken. */
static uint32_t move(struct transfer *transfer, int64_t now_ms)
{
    static const uint32_t size[] = {CHUNK_BYTES_SMALL, CHUNK_BYTES_MAX};
    static uint8_t piece[CHUNK_BYTES_MAX];
    uint64_t offset;
    uint32_t length;
    while (transfer_ask(transfer, &offset, &length)) {
    }
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        const struct slice slice = {piece, size[i]};
        if (transfer_accept(transfer, transfer->received, slice, now_ms)) {
            return size[i];
        }
    }
    return 0;
}

Test(transfer, pieces_grow_on_a_fast_link_and_no_further_than_they_may)
{
    struct transfer transfer = {0};
    uint32_t most = 0;
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(move(&transfer, i), CHUNK_BYTES_SMALL);
    }
    while (!transfer_is_whole(&transfer)) {
        const uint32_t size = move(&transfer, 100);
        cr_assert(size > 0 && transfer.asked - transfer.received <= 2 * CHUNK_BYTES_MAX);
        most = size > most ? size : most;
    }
    cr_expect_eq(most, CHUNK_BYTES_MAX);
    transfer_drop(&transfer);
}

Test(transfer, pieces_stay_small_on_a_slow_link)
{
    struct transfer transfer = {0};
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    for (int i = 1; !transfer_is_whole(&transfer); i++) {
        cr_assert_eq(move(&transfer, i * (TRANSFER_FAST_MS / 4 + 1)), CHUNK_BYTES_SMALL);
    }
    transfer_drop(&transfer);
}

/* A link that slows down: what was asked for is asked for again, in small pieces, and the rest too. */
Test(transfer, pieces_are_small_once_they_were_asked_for_again)
{
    struct transfer transfer = {0};
    uint64_t offset;
    uint32_t length;
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    while (move(&transfer, 1) != CHUNK_BYTES_MAX) {
    }
    const uint64_t received = transfer.received;
    transfer_retry(&transfer, 2000);
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_expect(offset == received && length == CHUNK_BYTES_SMALL);
    while (!transfer_is_whole(&transfer)) {
        cr_assert_eq(move(&transfer, 2001), CHUNK_BYTES_SMALL);
    }
    transfer_drop(&transfer);
}

/* What was asked for before may only have been late: then it counts, and is not sent once more. */
Test(transfer, a_large_piece_that_comes_late_counts)
{
    static uint8_t piece[CHUNK_BYTES_MAX];
    const struct slice large = {piece, CHUNK_BYTES_MAX};
    struct transfer transfer = {0};
    uint64_t offset;
    uint32_t length;
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    while (move(&transfer, 1) != CHUNK_BYTES_MAX) {
    }
    while (transfer_ask(&transfer, &offset, &length)) {
    }
    const uint64_t asked = transfer.asked;
    transfer_retry(&transfer, 2000);
    transfer_retry(&transfer, 6000);
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_expect_not(transfer_accept(&transfer, offset + length, large, 7000));
    while (transfer.received < asked) {
        cr_assert(transfer_accept(&transfer, transfer.received, large, 7000));
        cr_assert_leq(transfer.received, transfer.asked);
        (void)transfer_ask(&transfer, &offset, &length);
    }
    cr_expect_not(transfer_accept(&transfer, transfer.received, large, 7001),
                  "nobody has asked for this one");
    cr_expect_eq(move(&transfer, 7001), CHUNK_BYTES_SMALL);
    cr_expect_not(transfer_accept(&transfer, transfer.received, large, 7001));
    transfer_drop(&transfer);
}

Test(transfer, waits_get_longer_until_a_piece_comes)
{
    struct transfer transfer = {0};
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    cr_expect_eq(transfer_wait_ms(&transfer, 100), 100);
    for (int i = 1; i < 70; i++) {
        transfer_retry(&transfer, i);
        cr_expect_eq(transfer_wait_ms(&transfer, 100), i == 1 ? 200 : i == 2 ? 400 : 800);
    }
    cr_assert_gt(move(&transfer, 100), 0);
    cr_expect_eq(transfer_wait_ms(&transfer, 100), 100);
    transfer_drop(&transfer);
}

Test(transfer, what_has_come_is_wiped)
{
    static uint8_t piece[CHUNK_BYTES_SMALL];
    struct transfer transfer = {0};
    uint64_t offset;
    uint32_t length;
    memset(piece, 7, sizeof piece);
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, CHUNK_BYTES_MAX, 0), STATUS_OK);
    for (uint64_t i = 0; i < 2; i++) {
        cr_assert(transfer_ask(&transfer, &offset, &length));
        cr_assert(transfer_accept(&transfer, offset, (struct slice){piece, length}, 0));
    }
    wiped = 0;
    transfer_drop(&transfer);
    cr_expect_eq(wiped, 2 * CHUNK_BYTES_SMALL);
    cr_expect_not(transfer_is_active(&transfer));
}

/* A link of 10 Mbit/s and 200 ms from end to end and back: requests are small and only late, pieces also wait for each
 * other. It may die at intervals, with all that is under way. The receiver asks again two seconds after the last piece. */
enum { LINK_BYTES_MS = 1250, WAY_MS = 100, RETRY_MS = 2000, ASKED_MAX = 64 };

struct link {
    int64_t free_ms; /* when the sender's side has sent what it was asked for */
    int64_t dies_ms; /* the interval in ms; INT64_MAX */
    struct {
        uint64_t offset;
        uint32_t length;
        int64_t comes_ms;
    } asked[ASKED_MAX];
    size_t first;
    size_t count;
};

static void ask_over(struct link *link, struct transfer *transfer, int64_t now_ms)
{
    uint64_t offset;
    uint32_t length;
    while (link->count - link->first < ASKED_MAX && transfer_ask(transfer, &offset, &length)) {
        const int64_t sent = now_ms + WAY_MS > link->free_ms ? now_ms + WAY_MS : link->free_ms;
        link->free_ms = sent + length / LINK_BYTES_MS;
        link->asked[link->count % ASKED_MAX].offset = offset;
        link->asked[link->count % ASKED_MAX].length = length;
        link->asked[link->count++ % ASKED_MAX].comes_ms = link->free_ms + WAY_MS;
    }
}

/* Returns the milliseconds that a transfer takes over the link. */
static int64_t carry_over(struct link *link, uint64_t bytes, uint32_t piece_bytes)
{
    static uint8_t piece[CHUNK_BYTES_MAX];
    struct transfer transfer = {0};
    int64_t now_ms = 0;
    cr_assert_eq(transfer_begin(&transfer, bytes, piece_bytes, 0), STATUS_OK);
    for (ask_over(link, &transfer, 0); !transfer_is_whole(&transfer); now_ms++) {
        if (link->dies_ms != INT64_MAX && now_ms > 0 && now_ms % link->dies_ms == 0) {
            link->first = link->count;
            link->free_ms = now_ms;
        }
        while (link->first < link->count &&
               link->asked[link->first % ASKED_MAX].comes_ms <= now_ms) {
            const size_t next = link->first++ % ASKED_MAX;
            (void)transfer_accept(&transfer, link->asked[next].offset,
                                  (struct slice){piece, link->asked[next].length}, now_ms);
        }
        if (now_ms - transfer.progress_ms >= RETRY_MS) {
            transfer_retry(&transfer, now_ms);
        }
        ask_over(link, &transfer, now_ms);
        cr_assert_lt(now_ms, 1000000, "it does not end");
    }
    transfer_drop(&transfer);
    return now_ms;
}

Test(transfer, a_long_thin_link_is_used_to_four_fifths)
{
    static const uint32_t size[] = {CHUNK_BYTES_SMALL, TRANSFER_FETCH_BYTES, CHUNK_BYTES_MAX};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        struct link link = {.dies_ms = INT64_MAX};
        const double used =
            (double)ANSWER_BYTES / LINK_BYTES_MS / (double)carry_over(&link, ANSWER_BYTES, size[i]);
        cr_log_info("pieces of up to %u bytes: %.2f of the link", (unsigned)size[i], used);
        cr_expect_geq(used, 0.8, "pieces of up to %u bytes use %.2f", (unsigned)size[i], used);
    }
}

Test(transfer, one_that_loses_its_link_every_ten_seconds_finishes)
{
    struct link link = {.dies_ms = 10000};
    const double used = (double)(8 * ANSWER_BYTES) / LINK_BYTES_MS /
                        (double)carry_over(&link, 8 * ANSWER_BYTES, CHUNK_BYTES_MAX);
    cr_expect_geq(used, 0.6, "%.2f of the link", used);
}
