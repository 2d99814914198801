/* line_wire.h - one line between two ends, and an attacker in the middle who controls the wire. For the tests of
 * lines. */

#ifndef TESTS_LINE_WIRE_H
#define TESTS_LINE_WIRE_H

#include "io/line.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAYLOAD = 40000, CONTROL = 8, MESSAGES = 4 };

/* The middle reads what one end sends, and writes what the other receives. */
struct wire {
    struct line *sender;
    struct line *receiver;
    int from_sender;
    int to_receiver;
    size_t record;  /* bytes of each */
    uint8_t *bytes; /* (MESSAGES, record) as they were sent */
};

static inline void wire_fill(uint8_t payload[PAYLOAD], unsigned number)
{
    for (size_t i = 0; i < PAYLOAD; i++) {
        payload[i] = (uint8_t)(i * 7 + number * 31);
    }
}

static inline struct line *wire_end(int *middle, uint8_t in, uint8_t out)
{
    const struct line_keys keys = {.in = {{in}}, .out = {{out}}};
    const int room = 1 << 20;
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fcntl(ends[i], F_SETFL, O_NONBLOCK), 0);
        cr_assert_eq(setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    }
    *middle = ends[1];
    struct line *line = line_new(ends[0], &keys, PAYLOAD);
    cr_assert_not_null(line);
    return line;
}

static inline void wire_read(int file, uint8_t *into, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t now = read(file, into + got, size - got);
        cr_assert_gt(now, 0);
        got += (size_t)now;
    }
}

/* Sends the messages up to the middle. say: sends one */
static inline void wire_start(struct wire *wire, size_t record,
                              enum status (*say)(struct line *line, unsigned number))
{
    wire->record = record;
    wire->sender = wire_end(&wire->from_sender, 1, 2);
    wire->receiver = wire_end(&wire->to_receiver, 2, 1);
    wire->bytes = malloc(MESSAGES * record);
    cr_assert_not_null(wire->bytes);
    for (unsigned i = 0; i < MESSAGES; i++) {
        cr_assert_eq(say(wire->sender, i), STATUS_OK);
        cr_assert_not(line_waits(wire->sender));
        wire_read(wire->from_sender, wire->bytes + i * record, record);
    }
}

static inline void wire_stop(struct wire *wire)
{
    line_free(wire->sender);
    line_free(wire->receiver);
    (void)close(wire->from_sender);
    (void)close(wire->to_receiver);
    free(wire->bytes);
}

static inline void wire_pass_bytes(struct wire *wire, const uint8_t *from, size_t size)
{
    cr_assert_eq(write(wire->to_receiver, from, size), (ssize_t)size);
}

static inline void wire_pass(struct wire *wire, unsigned number)
{
    wire_pass_bytes(wire, wire->bytes + number * wire->record, wire->record);
}

/* Passes the first message on in pieces that end after cut (count) bytes. It comes out with its last byte, and not before. */
static inline void wire_pass_in_pieces(struct wire *wire, const size_t *cut, size_t count,
                                       int (*hear)(struct line *line))
{
    size_t gone = 0;
    for (size_t i = 0; i < count; i++) {
        wire_pass_bytes(wire, wire->bytes + gone, cut[i] - gone);
        gone = cut[i];
        cr_expect_eq(hear(wire->receiver), -1, "after %zu bytes", gone);
    }
    wire_pass_bytes(wire, wire->bytes + gone, wire->record - gone);
    cr_expect_eq(hear(wire->receiver), 0);
}

/* The line has ended, and nothing comes out of it any more. hear: the message that came, -2: the line has ended */
static inline void wire_expect_end(struct wire *wire, int (*hear)(struct line *line))
{
    cr_expect_eq(hear(wire->receiver), -2);
    for (unsigned i = 0; i < MESSAGES; i++) {
        wire_pass(wire, i);
        cr_expect_eq(hear(wire->receiver), -2);
    }
}

#endif
