/* Lines beside CURVE connections: which agents get one, what ends it, and that nothing else ends with it. The test plays an
 * agent's end. */

#include "lines_bench.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

static void start_narrow(void)
{
    const struct endpoint_limits limits = {.messages_burst = 50, .messages_per_s = 1};
    federation_start(&federation, 2, &limits);
}

/* A line of an agent. The test plays the agent's end. */
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

Test(lines, a_peer_without_the_keys_gets_none, .init = start_two, .fini = teardown)
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
