/* A coordinator that promises a line which nobody keeps. */

#include "federation.h"

#include "io/endpoint_lines.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const struct peer coordinator = {"coordinator"};

/* A coordinator that promises a line at a port where nobody answers, or a peer without the keys. Messages then
 * go by CURVE. */
static void promise(bool somebody)
{
    static uint8_t payload[PAYLOAD_MAX];
    uint8_t control[CONTROL_BYTES_MAX];
    struct scratch scratch;
    char path[160];
    struct key_pair key[2];
    struct endpoint *listening = NULL;
    struct endpoint *dialing = NULL;
    struct roster_watch watch = {.path = path};
    static struct roster roster;
    bool changed = false;
    bool wanted = false;
    bool came = false;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    const int port = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(port, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(getsockname(port, (struct sockaddr *)&at, &size), 0);
    cr_assert(!somebody || listen(port, 8) == 0);

    scratch_make(&scratch);
    (void)snprintf(path, sizeof path, "%s/agents", scratch.folder);
    cr_assert_eq(key_pair_generate(&key[0]), STATUS_OK);
    cr_assert_eq(key_pair_generate(&key[1]), STATUS_OK);
    cr_assert_eq(roster_add(path, "a0", &key[1].public_key, NULL), STATUS_OK);
    cr_assert_eq(roster_watch_look(&watch, &roster, &changed, NULL), STATUS_OK);
    struct endpoint_options options = {
        .address = "tcp://127.0.0.1:0", .key = &key[0], .payload_bytes_max = PAYLOAD_MAX};
    cr_assert_eq(endpoint_listen(&listening, &options, NULL), STATUS_OK);
    endpoint_admit(listening, &roster);
    options.address = endpoint_address(listening);
    options.key = &key[1];
    options.coordinator_key = key[0].public_key;
    options.lines = "";
    cr_assert_eq(endpoint_dial(&dialing, &options, NULL), STATUS_OK);

    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (!came && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        control[0] = 'x';
        (void)!endpoint_send(dialing, &coordinator, (struct slice){control, 1},
                             (struct slice){payload, wanted ? sizeof payload : 0});
        cr_assert_eq(endpoint_poll(dialing, NULL, 0, 10), STATUS_OK);
        while (endpoint_receive(dialing, &message) == STATUS_OK) {
        }
        cr_assert_eq(endpoint_poll(listening, NULL, 0, 10), STATUS_OK);
        while (endpoint_receive(listening, &message) == STATUS_OK) {
            const struct peer from = message.peer;
            came = came || message.payload.size == sizeof payload;
            if (!wire_is(message.control, MESSAGE_WANT)) { /* an answer, so that it asks */
                (void)!endpoint_send(listening, &from, (struct slice){control, 1},
                                     (struct slice){NULL, 0});
                continue;
            }
            struct message line = {.kind = MESSAGE_LINE, .as.line.port = ntohs(at.sin_port)};
            line.as.line.to_agent = key[0].public_key;
            line.as.line.to_coordinator = key[1].public_key;
            const size_t bytes = wire_encode(control, &line);
            (void)!endpoint_send(listening, &from, (struct slice){control, bytes},
                                 (struct slice){NULL, 0});
            wanted = true;
        }
    }
    cr_expect(wanted);
    cr_expect(came);
    cr_expect_neq(dialing->lines->own.state, LINE_OPEN);
    endpoint_free(dialing);
    endpoint_free(listening);
    (void)close(port);
    scratch_remove(&scratch);
}

Test(lines_promised, a_port_where_nobody_answers_costs_no_message)
{
    promise(false);
}

Test(lines_promised, a_port_where_somebody_else_answers_costs_no_message)
{
    promise(true);
}
