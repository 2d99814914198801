/* Lines beside CURVE connections: which messages take them, in which order, for whom these are sealed, and when an agent
 * asks for a line again. */

#include "lines_bench.h"

#include <sys/socket.h>

static void start_three(void)
{
    federation_start(&federation, 3, NULL);
}

static uint64_t came_by_curve(const struct endpoint *endpoint)
{
    uint64_t bytes = 0;
    cr_assert(tcp_bytes_received(&bytes, endpoint->dialing.descriptor));
    return bytes;
}

Test(lines, pieces_take_it_and_other_messages_do_not, .init = start_two, .fini = teardown)
{
    struct endpoint *endpoint = dial_with_lines(0);
    large_round_trip(endpoint);
    until_line(endpoint, LINE_OPEN);
    large_round_trip(endpoint); /* one that went by CURVE may still be on its way before this */
    const uint64_t before = came_by_curve(endpoint);
    for (int i = 0; i < 20; i++) {
        large_round_trip(endpoint);
    }
    cr_expect_lt(came_by_curve(endpoint) - before, (uint64_t)PAYLOAD_MAX);
    cr_expect(federation_logged(&federation, "line-open", "a0", 0));
    endpoint_free(endpoint);
}

/* Sends a piece; what it holds is its size. */
static void send_piece(struct endpoint *endpoint, size_t bytes)
{
    static uint8_t payload[PAYLOAD_MAX];
    uint8_t control[CONTROL_BYTES_MAX];
    const struct message chunk = {.kind = MESSAGE_CHUNK};
    const size_t size = wire_encode(control, &chunk);
    cr_assert_eq(endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                               (struct slice){payload, bytes}),
                 STATUS_OK);
}

/* Sends a piece of a release, and waits until it has come back whole and right. */
static void release_round_trip(struct endpoint *endpoint, uint32_t number, size_t bytes)
{
    static uint8_t payload[PAYLOAD_MAX];
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.offset = 1};
    uint8_t control[CONTROL_BYTES_MAX];
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    bool back = false;

    store_u32(piece.as.piece.digest.byte, number + 1);
    const size_t size = wire_encode(control, &piece);
    for (size_t i = 0; i < bytes; i++) {
        payload[i] = (uint8_t)(i * 11 + number);
    }
    cr_assert_eq(endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                               (struct slice){payload, bytes}),
                 STATUS_OK);
    while (!back && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            if (message.control.size == size && memcmp(message.control.data, control, size) == 0) {
                cr_assert_eq(message.payload.size, bytes);
                cr_assert_eq(memcmp(message.payload.data, payload, bytes), 0);
                back = true;
            }
        }
    }
    cr_assert(back);
}

/* Three agents have lines; one of them wants its pieces for itself. All take the same pieces. */
Test(lines, a_release_reaches_all_agents_whichever_it_is_sealed_for, .init = start_three,
     .fini = teardown)
{
    static const size_t bytes[] = {PAYLOAD_MAX, 1, SHARED_BYTES_LEAST, SHARED_BYTES_LEAST - 1};
    struct endpoint *endpoint[3];
    for (int i = 0; i < 3; i++) {
        endpoint[i] = dial_with_lines(i);
        endpoint[i]->lines->own.alone = i == 2;
    }
    for (int i = 0; i < 3; i++) {
        until_line(endpoint[i], LINE_OPEN);
        large_round_trip(endpoint[i]);
    }
    for (uint32_t number = 0; number < 40; number++) {
        for (int i = 0; i < 3; i++) {
            release_round_trip(endpoint[i], number, bytes[number % 4]);
        }
    }
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(endpoint[i]->lines->own.state, LINE_OPEN);
        endpoint_free(endpoint[i]);
    }
}

/* What came did not match its digest: the line ends, the next one is for this agent alone, and the others go on as they were. */
Test(lines, an_agent_that_doubts_has_a_line_of_its_own_alone_soon, .init = start_three,
     .fini = teardown)
{
    struct endpoint *endpoint[3];
    for (int i = 0; i < 3; i++) {
        endpoint[i] = dial_with_lines(i);
        until_line(endpoint[i], LINE_OPEN);
        release_round_trip(endpoint[i], 5, PAYLOAD_MAX);
    }
    endpoint_doubt(endpoint[0]);
    cr_expect_eq(endpoint[0]->lines->own.state, LINE_NONE);
    for (int i = 0; i < 3; i++) {
        until_line(endpoint[i], LINE_OPEN);
        release_round_trip(endpoint[i], 6, PAYLOAD_MAX);
        endpoint_doubt(endpoint[0]); /* a second one costs nothing */
        cr_expect_eq(endpoint[i]->lines->own.state, LINE_OPEN);
        cr_expect_eq(endpoint[i]->lines->own.alone, i == 0);
    }
    for (int i = 0; i < 3; i++) {
        endpoint_free(endpoint[i]);
    }
}

/* A coordinator that was killed and started again: nothing of its keys is left, and the same piece comes right. */
Test(lines, a_release_comes_right_from_a_coordinator_that_began_anew, .init = start_two,
     .fini = teardown)
{
    struct endpoint *endpoint[2] = {dial_with_lines(0), dial_with_lines(1)};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 2; i++) {
            until_line(endpoint[i], LINE_OPEN);
            large_round_trip(endpoint[i]);
        }
        for (int i = 0; i < 2; i++) {
            release_round_trip(endpoint[i], 5, PAYLOAD_MAX);
        }
        if (turn == 0) {
            federation_restart(&federation);
            for (int i = 0; i < 2; i++) {
                until_line(endpoint[i], LINE_NONE);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        endpoint_free(endpoint[i]);
    }
}

/* Waits for the next piece that comes back; returns its size. */
static size_t hear_piece(struct endpoint *endpoint)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (clock_now_ms() < until_ms) {
        struct endpoint_message message;
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            if (wire_is(message.control, MESSAGE_CHUNK)) {
                return message.payload.size;
            }
        }
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
    }
    return 0;
}

Test(lines, a_small_last_piece_does_not_overtake_large_ones, .init = start_two, .fini = teardown)
{
    struct endpoint *endpoint = dial_with_lines(0);
    until_line(endpoint, LINE_OPEN);
    large_round_trip(endpoint);
    for (int i = 0; i < 100; i++) {
        send_piece(endpoint, PAYLOAD_MAX);
        send_piece(endpoint, 1);
        cr_assert_eq(hear_piece(endpoint), PAYLOAD_MAX, "pair %d", i);
        cr_assert_eq(hear_piece(endpoint), 1, "pair %d", i);
    }
    endpoint_free(endpoint);
}

/* Sends what asks for a piece until it comes back. */
static void ask_round_trip(struct endpoint *endpoint, const struct message *asks)
{
    uint8_t control[CONTROL_BYTES_MAX];
    const size_t size = wire_encode(control, asks);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    bool back = false;
    cr_assert_eq(endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                               (struct slice){NULL, 0}),
                 STATUS_OK);
    while (!back && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            back = back || wire_is(message.control, asks->kind);
        }
    }
    cr_assert(back);
}

Test(lines, what_asks_for_pieces_takes_it, .init = start_two, .fini = teardown)
{
    enum { ASKS = 200, CURVE_BYTES_LEAST = 40 }; /* over CURVE one has more bytes than these */
    const struct message asks[] = {
        {.kind = MESSAGE_FETCH, .as.fetch = {.digest = {{1}}, .length = 1}},
        {.kind = MESSAGE_PULL, .as.pull = {.job = {{1}}, .length = 1}}};
    struct endpoint *endpoint = dial_with_lines(0);
    until_line(endpoint, LINE_OPEN);
    large_round_trip(endpoint);
    for (size_t kind = 0; kind < 2; kind++) {
        const uint64_t before = came_by_curve(endpoint);
        for (int i = 0; i < ASKS; i++) {
            ask_round_trip(endpoint, &asks[kind]);
        }
        cr_expect_lt(came_by_curve(endpoint) - before, (uint64_t)ASKS * CURVE_BYTES_LEAST,
                     "kind %zu", kind);
    }
    endpoint_free(endpoint);
}

static void cut_line(struct endpoint *endpoint)
{
    cr_assert_eq(shutdown(line_descriptor(endpoint->lines->own.line), SHUT_RDWR), 0);
    until_line(endpoint, LINE_NONE);
}

Test(lines, one_that_was_cut_is_asked_for_again, .init = start_two, .fini = teardown)
{
    struct endpoint *endpoint = dial_with_lines(0);
    until_line(endpoint, LINE_OPEN);
    for (int i = 0; i < 8; i++) {
        large_round_trip(endpoint);
    }
    cut_line(endpoint);
    large_round_trip(endpoint);
    until_line(endpoint, LINE_OPEN);
    large_round_trip(endpoint);
    endpoint_free(endpoint);
}

/* Something on the way ends each line with its first large message. What is asked for again, after two seconds and more, must
 * find none. */
Test(lines, one_that_brought_nothing_is_not_asked_for_soon, .init = start_two, .fini = teardown)
{
    enum { ASKED_AGAIN_MS = 3000 };
    struct endpoint *endpoint = dial_with_lines(0);
    const struct own_line *own = &endpoint->lines->own;
    until_line(endpoint, LINE_OPEN);
    cut_line(endpoint);
    cr_expect_gt(own->want_ms - clock_now_ms(), 4 * ASKED_AGAIN_MS);
    const int64_t until_ms = clock_now_ms() + ASKED_AGAIN_MS;
    while (clock_now_ms() < until_ms) {
        large_round_trip(endpoint);
        cr_assert_eq(own->state, LINE_NONE);
    }
    endpoint_free(endpoint);
}
