/* A line that opens in the middle of a transfer. The agent's CURVE connection goes through a relay that can hold either
 * direction up, as a busy machine does; the line goes past it. What was sent first has to come first all the same: a
 * transfer takes nothing but its next piece, and whatever overtakes another is lost for seconds. */

#include "federation.h"

#include "io/endpoint_lines.h"
#include "masks/legs.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { UP, DOWN, DIRECTIONS };         /* to the coordinator, to the agent */
enum { PIECES = 4, PIECE_BYTES = 64 }; /* half of them before the line opens, half after */
enum {
    OVERTAKES_MS = 300
}; /* a line is far faster; a slow machine may miss a fault, and invents none */

static struct federation federation;
static const struct peer coordinator = {"coordinator"};

struct relay {
    int listener;
    int end[DIRECTIONS]; /* [UP]: the agent's, [DOWN]: the coordinator's; -1 before it connects */
    bool held[DIRECTIONS];
    char address[ADDRESS_BYTES];
};

static struct relay relay;
static struct endpoint *agent;

static void start_relay(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    relay = (struct relay){.end = {-1, -1}};
    relay.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    cr_assert_eq(bind(relay.listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(relay.listener, 1), 0);
    cr_assert_eq(getsockname(relay.listener, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(relay.address, sizeof relay.address, "tcp://127.0.0.1:%u", ntohs(at.sin_port));
}

static void start(void)
{
    struct why why = {""};
    federation_start(&federation, 1, NULL);
    start_relay();
    const struct endpoint_options options = {.address = relay.address,
                                             .lines = "",
                                             .key = &federation.agent[0],
                                             .payload_bytes_max = PAYLOAD_MAX,
                                             .coordinator_key = federation.coordinator.public_key};
    cr_assert_eq(endpoint_dial(&agent, &options, &why), STATUS_OK, "%s", why.text);
    agent->lines->own.want_ms = INT64_MAX; /* it asks for a line when the test wants it to */
}

static void teardown(void)
{
    endpoint_free(agent);
    (void)close(relay.listener);
    for (int i = 0; i < DIRECTIONS; i++) {
        if (relay.end[i] >= 0) {
            (void)close(relay.end[i]);
        }
    }
    federation_stop(&federation);
}

/* What the tests send at a time fits into the kernel's buffers: a write does not wait. */
static void move(int from, int to)
{
    uint8_t byte[4096];
    ssize_t came = 0;
    while ((came = recv(from, byte, sizeof byte, MSG_DONTWAIT)) > 0) {
        cr_assert_eq(send(to, byte, (size_t)came, MSG_NOSIGNAL), came);
    }
}

static void run_relay(void)
{
    if (relay.end[UP] < 0) {
        relay.end[UP] = accept(relay.listener, NULL, NULL);
        if (relay.end[UP] < 0) {
            return;
        }
        relay.end[DOWN] = federation_connect(&federation);
        cr_assert_geq(relay.end[DOWN], 0);
    }
    for (int i = 0; i < DIRECTIONS; i++) {
        if (!relay.held[i]) {
            move(relay.end[i], relay.end[1 - i]);
        }
    }
}

static size_t held_bytes(int direction)
{
    int bytes = 0;
    cr_assert_eq(ioctl(relay.end[direction], FIONREAD, &bytes), 0);
    return (size_t)bytes;
}

/* Where a piece begins, or what asks for one; 0 of others. */
static uint64_t offset_of(const struct endpoint_message *came, enum message_kind kind)
{
    struct message message;
    if (!wire_is(came->control, kind) ||
        wire_decode(&message, came->control, came->payload) != STATUS_OK) {
        return UINT64_MAX;
    }
    return kind == MESSAGE_CHUNK  ? message.as.chunk.offset
           : kind == MESSAGE_PULL ? message.as.pull.offset
                                  : 0;
}

static void send_message(const struct message *message, size_t payload_bytes)
{
    static uint8_t payload[PAYLOAD_MAX];
    uint8_t control[CONTROL_BYTES_MAX];
    const size_t size = wire_encode(control, message);
    cr_assert_eq(endpoint_send(agent, &coordinator, (struct slice){control, size},
                               (struct slice){payload, payload_bytes}),
                 STATUS_OK);
}

static void send_one(enum message_kind kind, uint64_t offset)
{
    struct message message = {.kind = kind};
    if (kind == MESSAGE_CHUNK) {
        message.as.chunk.job.byte[0] = 1;
        message.as.chunk.offset = offset;
    } else {
        message.as.pull.job.byte[0] = 1;
        message.as.pull.offset = offset;
        message.as.pull.length = PIECE_BYTES;
    }
    send_message(&message, kind == MESSAGE_CHUNK ? PIECE_BYTES : 0);
}

/* One turn of the agent and of the relay: one look, and at most one message. */
static bool turn(struct endpoint_message *came)
{
    run_relay();
    cr_assert_eq(endpoint_poll(agent, NULL, 0, 5), STATUS_OK);
    run_relay();
    return endpoint_receive(agent, came) == STATUS_OK;
}

/* Waits until something of this kind comes back; returns its offset, UINT64_MAX when nothing came. */
static uint64_t hear_one(enum message_kind kind, int within_ms)
{
    const int64_t until_ms = clock_now_ms() + within_ms;
    struct endpoint_message came;
    while (clock_now_ms() < until_ms) {
        if (turn(&came) && offset_of(&came, kind) != UINT64_MAX) {
            return offset_of(&came, kind);
        }
    }
    return UINT64_MAX;
}

static void until(enum line_state state)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    struct endpoint_message came;
    while (agent->lines->own.state != state && clock_now_ms() < until_ms) {
        (void)turn(&came);
    }
    cr_assert_eq(agent->lines->own.state, state);
}

static void until_held(int direction, size_t bytes)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    struct endpoint_message came;
    while (held_bytes(direction) < bytes && clock_now_ms() < until_ms) {
        (void)turn(&came);
    }
    cr_assert_geq(held_bytes(direction), bytes);
}

/* The agent is let in, has heard an answer, and has asked for a line; the answer to that waits in the relay. */
static void ask_for_line(enum message_kind kind)
{
    send_one(kind, 0);
    cr_assert_eq(hear_one(kind, PATIENCE_MS), 0);
    relay.held[DOWN] = true;
    agent->lines->own.want_ms = 0;
    until_held(DOWN, 1);
}

static void expect_in_order(enum message_kind kind)
{
    const uint64_t early = hear_one(kind, OVERTAKES_MS);
    cr_expect_eq(early, UINT64_MAX, "%d: it overtook what is held up", (int)early);
    relay.held[UP] = relay.held[DOWN] = false;
    for (uint64_t i = 0; i < PIECES; i++) {
        cr_expect_eq(hear_one(kind, PATIENCE_MS), i * PIECE_BYTES, "%d", (int)i);
    }
}

/* The agent's messages wait on their way to the coordinator when the line opens. */
static void overtake_up(enum message_kind kind)
{
    ask_for_line(kind);
    relay.held[UP] = true;
    send_one(kind, 0);
    send_one(kind, PIECE_BYTES);
    until_held(UP, 2 * PIECE_BYTES);
    relay.held[DOWN] = false;
    until(LINE_OPEN);
    send_one(kind, 2 * (uint64_t)PIECE_BYTES);
    send_one(kind, 3 * (uint64_t)PIECE_BYTES);
    expect_in_order(kind);
}

/* The coordinator's wait on their way back, sent before it had the line. */
static void overtake_down(enum message_kind kind)
{
    ask_for_line(kind);
    relay.held[DOWN] = false;
    until(LINE_DIALS);
    relay.held[DOWN] = true;
    run_relay();
    send_one(kind, 0);
    send_one(kind, PIECE_BYTES);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (held_bytes(DOWN) < 2 * PIECE_BYTES && clock_now_ms() < until_ms) {
        run_relay(); /* the agent does nothing: it would go on to open the line */
        (void)poll(NULL, 0, 1);
    }
    until(LINE_OPEN);
    send_one(kind, 2 * (uint64_t)PIECE_BYTES);
    send_one(kind, 3 * (uint64_t)PIECE_BYTES);
    expect_in_order(kind);
}

Test(lines_order, an_agents_pieces_do_not_overtake_each_other, .init = start, .fini = teardown)
{
    overtake_up(MESSAGE_CHUNK);
}

Test(lines_order, what_an_agent_asks_for_does_not, .init = start, .fini = teardown)
{
    overtake_up(MESSAGE_PULL);
}

Test(lines_order, a_coordinators_pieces_do_not, .init = start, .fini = teardown)
{
    overtake_down(MESSAGE_CHUNK);
}

Test(lines_order, what_a_coordinator_asks_for_does_not, .init = start, .fini = teardown)
{
    overtake_down(MESSAGE_PULL);
}

/* A transfer that begins takes the line, and so does what is asked for again: the other connection may have lost it. */
Test(lines_order, what_begins_or_is_repeated_takes_the_line, .init = start, .fini = teardown)
{
    ask_for_line(MESSAGE_PULL);
    relay.held[UP] = true;
    send_one(MESSAGE_PULL, 0);
    send_one(MESSAGE_PULL, PIECE_BYTES);
    until_held(UP, 2 * PIECE_BYTES);
    relay.held[DOWN] = false;
    until(LINE_OPEN);
    send_one(MESSAGE_PULL, PIECE_BYTES);
    send_one(MESSAGE_PULL, 2 * (uint64_t)PIECE_BYTES);
    cr_expect_eq(hear_one(MESSAGE_PULL, PATIENCE_MS), PIECE_BYTES);
    cr_expect_eq(hear_one(MESSAGE_PULL, PATIENCE_MS), 2 * (uint64_t)PIECE_BYTES);
    send_one(MESSAGE_PULL, 0);
    cr_expect_eq(hear_one(MESSAGE_PULL, PATIENCE_MS), 0);
}

/* The largest roster of a masked round. A site that has it before the invitation drops it, and waits for a heartbeat. */
Test(lines_order, a_large_roster_does_not_overtake_the_invitation, .init = start, .fini = teardown)
{
    const struct message invitation = {.kind = MESSAGE_INVITE,
                                       .as.invite = {.job = {{1}}, .deadline_ms = 1000}};
    const struct message roster = {.kind = MESSAGE_ROSTER, .as.leg = {.job = {{1}}, .width = 32}};
    ask_for_line(MESSAGE_PULL);
    relay.held[DOWN] = false;
    until(LINE_OPEN);
    relay.held[DOWN] = true;
    send_message(&invitation, 0);
    until_held(DOWN, PIECE_BYTES);
    send_message(&roster, MASKS_ROSTER_BYTES_MAX);
    cr_expect_eq(hear_one(MESSAGE_ROSTER, OVERTAKES_MS), UINT64_MAX, "it overtook");
    relay.held[DOWN] = false;
    cr_expect_eq(hear_one(MESSAGE_INVITE, PATIENCE_MS), 0);
    cr_expect_eq(hear_one(MESSAGE_ROSTER, PATIENCE_MS), 0);
}
