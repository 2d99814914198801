/* What a transfer costs whoever receives it follows from what has come, not from what was announced: a peer that
 * offers another answer all the time makes it begin anew each time. */

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
