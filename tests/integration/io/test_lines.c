/* Lines beside CURVE connections: who gets one, for how long, and that messages come through without one. */

#include "federation.h"

#include "io/endpoint_lines.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct federation federation;
static const struct peer coordinator = {"coordinator"};

static void start_two(void)
{
    federation_start(&federation, 2, NULL);
}

static void start_three(void)
{
    federation_start(&federation, 3, NULL);
}

static void start_narrow(void)
{
    const struct endpoint_limits limits = {.messages_burst = 50, .messages_per_s = 1};
    federation_start(&federation, 2, &limits);
}

static void teardown(void)
{
    federation_stop(&federation);
}

static struct endpoint *dial_with_lines(int agent)
{
    struct endpoint *endpoint = NULL;
    struct why why = {""};
    const struct endpoint_options options = {.address = federation.address,
                                             .lines = "",
                                             .key = &federation.agent[agent],
                                             .payload_bytes_max = PAYLOAD_MAX,
                                             .coordinator_key = federation.coordinator.public_key};
    cr_assert_eq(endpoint_dial(&endpoint, &options, &why), STATUS_OK, "%s", why.text);
    return endpoint;
}

static void until_line(struct endpoint *endpoint, enum line_state state)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (endpoint->lines->own.state != state && clock_now_ms() < until_ms) {
        cr_assert_geq(federation_round_trip(endpoint, PATIENCE_MS), 0);
    }
    cr_assert_eq(endpoint->lines->own.state, state);
}

static uint64_t came_by_curve(const struct endpoint *endpoint)
{
    uint64_t bytes = 0;
    cr_assert(tcp_bytes_received(&bytes, endpoint->dialing.descriptor));
    return bytes;
}

/* Sends a large piece until it comes back, whole and right. */
static void large_round_trip(struct endpoint *endpoint)
{
    static uint8_t payload[PAYLOAD_MAX];
    static uint32_t number;
    uint8_t control[CONTROL_BYTES_MAX];
    struct message chunk = {.kind = MESSAGE_CHUNK, .as.chunk.job = {{1}}};
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    int64_t sent_ms = 0;
    bool back = false;

    store_u32(chunk.as.chunk.job.byte, ++number);
    const size_t size = wire_encode(control, &chunk);
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 11 + number);
    }
    while (!back && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        if (clock_now_ms() - sent_ms >= 500) {
            sent_ms = clock_now_ms();
            (void)!endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                                 (struct slice){payload, sizeof payload});
        }
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            if (message.control.size == size && memcmp(message.control.data, control, size) == 0) {
                cr_assert_eq(message.payload.size, sizeof payload);
                cr_assert_eq(memcmp(message.payload.data, payload, sizeof payload), 0);
                back = true;
            }
        }
    }
    cr_assert(back);
}

/* A line of an agent whose end of it the test has in its hands. */
struct bare {
    struct endpoint *endpoint; /* without lines of its own */
    struct message given;
    int descriptor;
    struct line *line; /* owns the descriptor */
};

static void ask_for_line(struct bare *bare)
{
    const struct message want = {.kind = MESSAGE_WANT};
    uint8_t control[CONTROL_BYTES_MAX];
    const size_t size = wire_encode(control, &want);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    int64_t sent_ms = 0;

    memset(&bare->given, 0, sizeof bare->given);
    while (bare->given.kind != MESSAGE_LINE && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        if (clock_now_ms() - sent_ms >= 5000) {
            sent_ms = clock_now_ms();
            (void)!endpoint_send(bare->endpoint, &coordinator, (struct slice){control, size},
                                 (struct slice){NULL, 0});
        }
        cr_assert_eq(endpoint_poll(bare->endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(bare->endpoint, &message) == STATUS_OK) {
            if (wire_is(message.control, MESSAGE_LINE)) {
                cr_assert_eq(wire_decode(&bare->given, message.control, message.payload),
                             STATUS_OK);
            }
        }
    }
    cr_assert_eq(bare->given.kind, MESSAGE_LINE);
}

static int call(uint32_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(file, 0);
    cr_assert_eq(connect(file, (struct sockaddr *)&to, sizeof to), 0);
    return file;
}

/* Returns whether the other end closes it; what else comes is read. */
static bool is_cut(int file, int within_ms)
{
    uint8_t byte[256];
    const int64_t until_ms = clock_now_ms() + within_ms;
    while (clock_now_ms() < until_ms) {
        struct pollfd one = {.fd = file, .events = POLLIN};
        if (poll(&one, 1, 20) > 0 && recv(file, byte, sizeof byte, MSG_DONTWAIT) <= 0) {
            return true;
        }
    }
    return false;
}

static void hail(struct bare *bare, uint8_t text[LINE_HAIL_BYTES])
{
    const struct line_keys keys = {.in = bare->given.as.line.to_agent,
                                   .out = bare->given.as.line.to_coordinator};
    bare->descriptor = call(bare->given.as.line.port);
    bare->line = line_new(bare->descriptor, &keys, PAYLOAD_MAX);
    cr_assert_not_null(bare->line);
    memcpy(text, bare->given.as.line.id, LINE_ID_BYTES);
    cr_assert_eq(line_prove(bare->line, text + LINE_ID_BYTES, bare->given.as.line.id), STATUS_OK);
}

static void open_line(struct bare *bare, int agent)
{
    uint8_t text[LINE_HAIL_BYTES];
    uint8_t proof[LINE_PROOF_BYTES];
    bare->endpoint = federation_dial(&federation, &federation.agent[agent]);
    ask_for_line(bare);
    hail(bare, text);
    cr_assert_eq(send(bare->descriptor, text, sizeof text, 0), (ssize_t)sizeof text);
    cr_assert_eq(recv(bare->descriptor, proof, sizeof proof, MSG_WAITALL), (ssize_t)sizeof proof);
    cr_assert_eq(line_check(bare->line, proof, bare->given.as.line.id), STATUS_OK);
}

static void close_bare(struct bare *bare)
{
    line_free(bare->line);
    endpoint_free(bare->endpoint);
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
Test(lines, a_release_comes_right_to_all_whoever_it_is_sealed_for, .init = start_three,
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

Test(lines, a_revoked_agent_loses_it_within_a_second, .init = start_two, .fini = teardown)
{
    struct bare bare;
    struct endpoint *other = dial_with_lines(1);
    until_line(other, LINE_OPEN);
    open_line(&bare, 0);
    cr_expect_not(is_cut(bare.descriptor, 300));
    const int64_t began_ms = clock_now_ms();
    federation_revoke(&federation, 0);
    cr_expect(is_cut(bare.descriptor, PATIENCE_MS));
    cr_expect_leq(clock_now_ms() - began_ms, 1000);
    large_round_trip(other);
    cr_expect_eq(other->lines->own.state, LINE_OPEN);
    close_bare(&bare);
    endpoint_free(other);
}

Test(lines, it_ends_with_the_connection_that_asked_for_it, .init = start_two, .fini = teardown)
{
    struct bare bare;
    open_line(&bare, 0);
    endpoint_free(bare.endpoint);
    bare.endpoint = NULL;
    cr_expect(is_cut(bare.descriptor, PATIENCE_MS));
    close_bare(&bare);
}

Test(lines, names_and_keys_are_new_each_time_and_the_older_line_ends, .init = start_two,
     .fini = teardown)
{
    struct bare bare;
    open_line(&bare, 0);
    const struct message first = bare.given;
    ask_for_line(&bare);
    cr_expect(is_cut(bare.descriptor, PATIENCE_MS));
    cr_expect_neq(memcmp(first.as.line.id, bare.given.as.line.id, LINE_ID_BYTES), 0);
    const struct digest *key[] = {&first.as.line.to_agent, &first.as.line.to_coordinator,
                                  &bare.given.as.line.to_agent, &bare.given.as.line.to_coordinator};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            cr_expect_not(digest_equal(key[i], key[j]));
        }
    }
    close_bare(&bare);
}

Test(lines, a_name_that_was_heard_on_the_wire_opens_nothing_again, .init = start_two,
     .fini = teardown)
{
    struct bare bare;
    uint8_t text[LINE_HAIL_BYTES];
    bare.endpoint = federation_dial(&federation, &federation.agent[0]);
    ask_for_line(&bare);
    hail(&bare, text);
    cr_assert_eq(send(bare.descriptor, text, sizeof text, 0), (ssize_t)sizeof text);
    cr_expect_not(is_cut(bare.descriptor, 300));
    const int again = call(bare.given.as.line.port);
    cr_assert_eq(send(again, text, sizeof text, 0), (ssize_t)sizeof text);
    cr_expect(is_cut(again, PATIENCE_MS));
    cr_expect(federation_logged(&federation, "line-refused", "-", PATIENCE_MS));
    cr_expect_not(is_cut(bare.descriptor, 300), "the first is not harmed");
    (void)close(again);
    close_bare(&bare);
}

Test(lines, whoever_lacks_the_keys_gets_none, .init = start_two, .fini = teardown)
{
    struct bare bare;
    uint8_t text[LINE_HAIL_BYTES];
    bare.endpoint = federation_dial(&federation, &federation.agent[0]);
    ask_for_line(&bare);
    hail(&bare, text);
    text[LINE_HAIL_BYTES - 1] ^= 1;
    cr_assert_eq(send(bare.descriptor, text, sizeof text, 0), (ssize_t)sizeof text);
    cr_expect(is_cut(bare.descriptor, PATIENCE_MS));
    cr_expect_not(federation_logged(&federation, "line-open", "a0", 0));
    close_bare(&bare);
}

/* Strangers at the port, more than there is room for: they are cut, and an agent comes in all the same. */
Test(lines, callers_who_say_nothing_keep_nobody_out, .init = start_two, .fini = teardown)
{
    enum { SILENT = CALLERS_MAX + 36 };
    int silent[SILENT];
    struct bare bare;
    bare.endpoint = federation_dial(&federation, &federation.agent[1]);
    ask_for_line(&bare);
    for (int i = 0; i < SILENT; i++) {
        silent[i] = call(bare.given.as.line.port);
    }
    struct endpoint *endpoint = dial_with_lines(0);
    until_line(endpoint, LINE_OPEN);
    large_round_trip(endpoint);
    for (int i = 0; i < SILENT; i++) {
        cr_expect(is_cut(silent[i], PATIENCE_MS), "caller %d", i);
        (void)close(silent[i]);
    }
    endpoint_free(endpoint);
    endpoint_free(bare.endpoint);
}

/* Rubbish over an open line ends the line, and costs the agent nothing else. */
Test(lines, rubbish_ends_the_line_alone, .init = start_two, .fini = teardown)
{
    static const uint8_t rubbish[1 << 12] = {0, 4};
    struct bare bare;
    open_line(&bare, 0);
    cr_assert_eq(send(bare.descriptor, rubbish, sizeof rubbish, MSG_NOSIGNAL),
                 (ssize_t)sizeof rubbish);
    cr_expect(is_cut(bare.descriptor, PATIENCE_MS));
    cr_expect(federation_logged(&federation, "line-forged", "a0", PATIENCE_MS));
    cr_expect_geq(federation_round_trip(bare.endpoint, PATIENCE_MS), 0);
    large_round_trip(bare.endpoint);
    close_bare(&bare);
}

/* The limits of a key count what comes over its line as well. */
Test(lines, a_flood_over_it_is_cut_and_told, .init = start_narrow, .fini = teardown)
{
    static uint8_t payload[PAYLOAD_MAX];
    uint8_t control[5] = "flood";
    struct bare bare;
    open_line(&bare, 0);
    struct endpoint *other = federation_dial(&federation, &federation.agent[1]);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    enum status status = STATUS_OK;
    while (status != STATUS_IO && clock_now_ms() < until_ms) { /* its echoes are not read */
        status = line_send(bare.line, (struct slice){control, sizeof control},
                           (struct slice){payload, 1000});
        if (status == STATUS_AGAIN) {
            (void)poll(NULL, 0, 5);
            (void)!line_flush(bare.line);
        }
    }
    cr_expect_eq(status, STATUS_IO);
    cr_expect(federation_logged(&federation, "flood", "a0", PATIENCE_MS));
    cr_expect(federation_logged(&federation, "told-of-cut", "a0", PATIENCE_MS));
    cr_expect_geq(federation_round_trip(other, PATIENCE_MS), 0);
    endpoint_free(other);
    close_bare(&bare);
}
