/* One line between two ends, and an attacker in the middle who controls the wire. Whatever he does, a message comes out whole,
 * unchanged and in order, or the line ends. */

#include "line_wire.h"

#include <string.h>

enum { RECORD = 4 + 2 + CONTROL + PAYLOAD + 16 };

static enum status say(struct line *line, unsigned number)
{
    static uint8_t payload[PAYLOAD];
    uint8_t control[8] = {'m', (uint8_t)number};
    wire_fill(payload, number);
    return line_send(line, (struct slice){control, sizeof control},
                     (struct slice){payload, sizeof payload});
}

/* Returns the number of the message that came, -1 when there is none, -2 when the line has ended. */
static int hear(struct line *line)
{
    static uint8_t wanted[PAYLOAD];
    struct slice control;
    struct slice payload;
    const enum status status = line_receive(line, &control, &payload, NULL);
    if (status != STATUS_OK) {
        return status == STATUS_AGAIN ? -1 : -2;
    }
    cr_assert_eq(control.size, 8);
    cr_assert_eq(payload.size, PAYLOAD);
    const int number = ((const uint8_t *)control.data)[1];
    wire_fill(wanted, (unsigned)number);
    cr_assert_eq(memcmp(payload.data, wanted, PAYLOAD), 0);
    line_done(line);
    return number;
}

Test(line, messages_come_whole_and_in_their_order)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    for (int i = 0; i < MESSAGES; i++) {
        wire_pass(&wire, (unsigned)i);
        cr_expect_eq(hear(wire.receiver), i);
        cr_expect_eq(hear(wire.receiver), -1);
    }
    wire_stop(&wire);
}

Test(line, a_message_comes_out_with_its_last_byte_alone)
{
    struct wire wire;
    static const size_t cut[] = {1, 3, 4, 5, 1000, RECORD - 17, RECORD - 1};
    wire_start(&wire, RECORD, say);
    wire_pass_in_pieces(&wire, cut, sizeof cut / sizeof cut[0], hear);
    wire_stop(&wire);
}

Test(line, a_dropped_message_ends_it)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    wire_pass(&wire, 0);
    cr_expect_eq(hear(wire.receiver), 0);
    wire_pass(&wire, 2);
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
}

Test(line, swapped_messages_end_it)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    wire_pass(&wire, 1);
    wire_pass(&wire, 0);
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
}

Test(line, a_replayed_message_ends_it)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    wire_pass(&wire, 0);
    cr_expect_eq(hear(wire.receiver), 0);
    wire_pass(&wire, 0);
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
}

Test(line, a_message_that_is_cut_short_never_comes_out)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    wire_pass_bytes(&wire, wire.bytes, RECORD - 1);
    cr_expect_eq(hear(wire.receiver), -1);
    wire_pass(&wire, 1); /* its first byte is taken for the last of the one before */
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
    wire_start(&wire, RECORD, say);
    wire_pass_bytes(&wire, wire.bytes, RECORD - 1);
    cr_assert_eq(shutdown(wire.to_receiver, SHUT_WR), 0);
    cr_expect_eq(hear(wire.receiver), -2);
    wire_stop(&wire);
}

Test(line, a_flipped_bit_anywhere_ends_it)
{
    static const size_t place[] = {0,  1,  3,     4,           5,           6,
                                   13, 14, 20000, RECORD - 17, RECORD - 16, RECORD - 1};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        struct wire wire;
        wire_start(&wire, RECORD, say);
        wire.bytes[place[i]] ^= 0x01;
        wire_pass(&wire, 0);
        if (hear(wire.receiver) ==
            -1) { /* a longer one is waited for; what follows is no end of it */
            wire_pass(&wire, 1);
        }
        cr_expect_eq(hear(wire.receiver), -2, "byte %zu", place[i]);
        wire_stop(&wire);
    }
}

Test(line, a_record_longer_than_a_message_may_be_is_not_waited_for)
{
    static const uint8_t head[][4] = {
        {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0x80}, {0, 0, 0, 0}, {18, 0, 0, 0}};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        struct wire wire;
        wire_start(&wire, RECORD, say);
        wire_pass_bytes(&wire, head[i], 4);
        cr_expect_eq(hear(wire.receiver), -2, "head %zu", i);
        wire_stop(&wire);
    }
}

/* What one end sent, sent back to it: the directions have keys of their own. */
Test(line, a_reflected_message_ends_it)
{
    struct wire wire;
    wire_start(&wire, RECORD, say);
    cr_assert_eq(write(wire.from_sender, wire.bytes, RECORD), RECORD);
    cr_expect_eq(hear(wire.sender), -2);
    wire_stop(&wire);
}

Test(line, what_does_not_fit_is_lost_whole_and_the_line_goes_on)
{
    struct wire wire;
    uint8_t *record = malloc(RECORD);
    unsigned kept = 0;
    cr_assert_not_null(record);
    wire.sender = wire_end(&wire.from_sender, 1, 2);
    wire.receiver = wire_end(&wire.to_receiver, 2, 1);
    wire.bytes = NULL;
    enum status status;
    while ((status = say(wire.sender, kept)) == STATUS_OK) {
        kept++;
        cr_assert_lt(kept, 200);
    }
    cr_expect_eq(status, STATUS_AGAIN);
    cr_expect(line_waits(wire.sender));
    for (unsigned i = 0; i < kept; i++) {
        for (size_t got = 0; got < RECORD;) {
            cr_assert_eq(line_flush(wire.sender), STATUS_OK);
            const ssize_t now = read(wire.from_sender, record + got, RECORD - got);
            cr_assert_gt(now, 0);
            got += (size_t)now;
        }
        wire_pass_bytes(&wire, record, RECORD);
        cr_expect_eq(hear(wire.receiver), (int)i);
    }
    cr_expect_not(line_waits(wire.sender));
    cr_assert_eq(say(wire.sender, 77), STATUS_OK);
    wire_read(wire.from_sender, record, RECORD);
    wire_pass_bytes(&wire, record, RECORD);
    cr_expect_eq(hear(wire.receiver), 77);
    free(record);
    wire_stop(&wire);
}

/* Each end shows that it has the keys, about this name; a proof for one end is none for the other. */
Test(line, a_proof_is_of_the_keys_the_direction_and_the_name)
{
    const uint8_t id[LINE_ID_BYTES] = {5, 6, 7};
    const uint8_t other_id[LINE_ID_BYTES] = {5, 6, 8};
    for (int i = 0; i < 4; i++) {
        uint8_t proof[LINE_PROOF_BYTES];
        int from;
        int to;
        struct line *sender = wire_end(&from, 1, 2);
        struct line *receiver = wire_end(&to, i == 1 ? 1 : 2, i == 1 ? 2 : 1);
        cr_assert_eq(line_prove(sender, proof, id), STATUS_OK);
        proof[15] ^= i == 2 ? 0x80 : 0;
        cr_expect_eq(line_check(receiver, proof, i == 3 ? other_id : id),
                     i == 0 ? STATUS_OK : STATUS_INVALID, "case %d", i);
        line_free(sender);
        line_free(receiver);
        (void)close(from);
        (void)close(to);
    }
}
