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
        cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, 0), STATUS_OK);
        transfer_drop(&transfer);
    }
    cr_expect_eq(wiped, 0);
}

Test(transfer, what_has_come_is_wiped)
{
    static uint8_t piece[CHUNK_BYTES_MAX];
    struct transfer transfer = {0};
    uint64_t offset;
    uint32_t length;
    memset(piece, 7, sizeof piece);
    cr_assert_eq(transfer_begin(&transfer, ANSWER_BYTES, 0), STATUS_OK);
    for (uint64_t i = 0; i < 2; i++) {
        cr_assert(transfer_ask(&transfer, &offset, &length));
        cr_assert(transfer_accept(&transfer, offset, (struct slice){piece, length}, 0));
    }
    wiped = 0;
    transfer_drop(&transfer);
    cr_expect_eq(wiped, 2 * CHUNK_BYTES_MAX);
    cr_expect_not(transfer_is_active(&transfer));
}
