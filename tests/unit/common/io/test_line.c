/* One line between two ends, with somebody in the middle who owns the wire. Whatever he does, a message comes out whole, right and
 * in its turn, or the line ends. */

#include "io/line.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAYLOAD = 40000, RECORD = 4 + 2 + 8 + PAYLOAD + 16, MESSAGES = 4 };

/* The middle reads what one end sends, and writes what the other receives. */
struct wire {
    struct line *sender;
    struct line *receiver;
    int from_sender;
    int to_receiver;
    uint8_t *bytes; /* (MESSAGES records) as they were sent */
};

static const struct line_keys sender_keys = {.in = {{1}}, .out = {{2}}};
static const struct line_keys receiver_keys = {.in = {{2}}, .out = {{1}}};

static struct line *end(int *middle, const struct line_keys *keys)
{
    int ends[2];
    const int room = 1 << 20;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fcntl(ends[i], F_SETFL, O_NONBLOCK), 0);
        cr_assert_eq(setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    }
    *middle = ends[1];
    struct line *line = line_new(ends[0], keys, PAYLOAD);
    cr_assert_not_null(line);
    return line;
}

static void fill(uint8_t payload[PAYLOAD], unsigned number)
{
    for (size_t i = 0; i < PAYLOAD; i++) {
        payload[i] = (uint8_t)(i * 7 + number * 31);
    }
}

static enum status say(struct line *line, unsigned number)
{
    static uint8_t payload[PAYLOAD];
    uint8_t control[8] = {'m', (uint8_t)number};
    fill(payload, number);
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
    fill(wanted, (unsigned)number);
    cr_assert_eq(memcmp(payload.data, wanted, PAYLOAD), 0);
    line_done(line);
    return number;
}

static void read_all(int file, uint8_t *into, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t now = read(file, into + got, size - got);
        cr_assert_gt(now, 0);
        got += (size_t)now;
    }
}

static void start(struct wire *wire)
{
    wire->sender = end(&wire->from_sender, &sender_keys);
    wire->receiver = end(&wire->to_receiver, &receiver_keys);
    wire->bytes = malloc((size_t)MESSAGES * RECORD);
    cr_assert_not_null(wire->bytes);
    for (unsigned i = 0; i < MESSAGES; i++) {
        cr_assert_eq(say(wire->sender, i), STATUS_OK);
        cr_assert_not(line_waits(wire->sender));
        read_all(wire->from_sender, wire->bytes + (size_t)i * RECORD, RECORD);
    }
}

static void stop(struct wire *wire)
{
    line_free(wire->sender);
    line_free(wire->receiver);
    (void)close(wire->from_sender);
    (void)close(wire->to_receiver);
    free(wire->bytes);
}

static void pass_bytes(struct wire *wire, const uint8_t *from, size_t size)
{
    cr_assert_eq(write(wire->to_receiver, from, size), (ssize_t)size);
}

static void pass(struct wire *wire, unsigned number)
{
    pass_bytes(wire, wire->bytes + (size_t)number * RECORD, RECORD);
}

static void expect_end(struct wire *wire)
{
    cr_expect_eq(hear(wire->receiver), -2);
    for (unsigned i = 0; i < MESSAGES; i++) { /* and nothing comes out of it any more */
        pass(wire, i);
        cr_expect_eq(hear(wire->receiver), -2);
    }
}

Test(line, messages_come_whole_and_in_their_order)
{
    struct wire wire;
    start(&wire);
    for (int i = 0; i < MESSAGES; i++) {
        pass(&wire, (unsigned)i);
        cr_expect_eq(hear(wire.receiver), i);
        cr_expect_eq(hear(wire.receiver), -1);
    }
    stop(&wire);
}

Test(line, a_message_comes_out_with_its_last_byte_alone)
{
    struct wire wire;
    static const size_t cut[] = {1, 3, 4, 5, 1000, RECORD - 17, RECORD - 1};
    start(&wire);
    size_t gone = 0;
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        pass_bytes(&wire, wire.bytes + gone, cut[i] - gone);
        gone = cut[i];
        cr_expect_eq(hear(wire.receiver), -1, "after %zu bytes", gone);
    }
    pass_bytes(&wire, wire.bytes + gone, RECORD - gone);
    cr_expect_eq(hear(wire.receiver), 0);
    stop(&wire);
}

Test(line, a_dropped_message_ends_it)
{
    struct wire wire;
    start(&wire);
    pass(&wire, 0);
    cr_expect_eq(hear(wire.receiver), 0);
    pass(&wire, 2);
    expect_end(&wire);
    stop(&wire);
}

Test(line, swapped_messages_end_it)
{
    struct wire wire;
    start(&wire);
    pass(&wire, 1);
    pass(&wire, 0);
    expect_end(&wire);
    stop(&wire);
}

Test(line, a_replayed_message_ends_it)
{
    struct wire wire;
    start(&wire);
    pass(&wire, 0);
    cr_expect_eq(hear(wire.receiver), 0);
    pass(&wire, 0);
    expect_end(&wire);
    stop(&wire);
}

Test(line, a_message_that_is_cut_short_never_comes_out)
{
    struct wire wire;
    start(&wire);
    pass_bytes(&wire, wire.bytes, RECORD - 1);
    cr_expect_eq(hear(wire.receiver), -1);
    pass(&wire, 1); /* its first byte is taken for the last of the one before */
    expect_end(&wire);
    stop(&wire);
    start(&wire);
    pass_bytes(&wire, wire.bytes, RECORD - 1);
    cr_assert_eq(shutdown(wire.to_receiver, SHUT_WR), 0);
    cr_expect_eq(hear(wire.receiver), -2);
    stop(&wire);
}

Test(line, a_flipped_bit_anywhere_ends_it)
{
    static const size_t place[] = {0,  1,  3,     4,           5,           6,
                                   13, 14, 20000, RECORD - 17, RECORD - 16, RECORD - 1};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        struct wire wire;
        start(&wire);
        wire.bytes[place[i]] ^= 0x01;
        pass(&wire, 0);
        if (hear(wire.receiver) ==
            -1) { /* a longer one is waited for; what follows is no end of it */
            pass(&wire, 1);
        }
        cr_expect_eq(hear(wire.receiver), -2, "byte %zu", place[i]);
        stop(&wire);
    }
}

Test(line, a_record_longer_than_a_message_may_be_is_not_waited_for)
{
    static const uint8_t head[][4] = {
        {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0x80}, {0, 0, 0, 0}, {18, 0, 0, 0}};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        struct wire wire;
        start(&wire);
        pass_bytes(&wire, head[i], 4);
        cr_expect_eq(hear(wire.receiver), -2, "head %zu", i);
        stop(&wire);
    }
}

/* What one end sent, sent back to it: the directions have keys of their own. */
Test(line, a_reflected_message_ends_it)
{
    struct wire wire;
    start(&wire);
    cr_assert_eq(write(wire.from_sender, wire.bytes, RECORD), RECORD);
    cr_expect_eq(hear(wire.sender), -2);
    stop(&wire);
}

Test(line, what_does_not_fit_is_lost_whole_and_the_line_goes_on)
{
    struct wire wire;
    uint8_t *record = malloc(RECORD);
    unsigned kept = 0;
    cr_assert_not_null(record);
    wire.sender = end(&wire.from_sender, &sender_keys);
    wire.receiver = end(&wire.to_receiver, &receiver_keys);
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
        pass_bytes(&wire, record, RECORD);
        cr_expect_eq(hear(wire.receiver), (int)i);
    }
    cr_expect_not(line_waits(wire.sender));
    cr_assert_eq(say(wire.sender, 77), STATUS_OK);
    read_all(wire.from_sender, record, RECORD);
    pass_bytes(&wire, record, RECORD);
    cr_expect_eq(hear(wire.receiver), 77);
    free(record);
    stop(&wire);
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
        struct line *sender = end(&from, &sender_keys);
        struct line *receiver = end(&to, i == 1 ? &sender_keys : &receiver_keys);
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
