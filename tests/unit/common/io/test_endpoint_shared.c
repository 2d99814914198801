/* Both ends of lines with pieces that are sealed once: which agents get them, how often a piece is sealed, and what an agent
 * does with one that does not match its digest. */

#include "io/endpoint_lines.h"
#include "owed_rig.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINES = 4, PIECE_BYTES = 64 * 1024, PIECES = 5 };

static struct rig rig;
static struct line *far_end[LINES];
static uint8_t content[PIECES * PIECE_BYTES];
static const struct digest named = {{7}};

static void lines_begin(struct endpoint *endpoint)
{
    struct lines *lines = calloc(1, sizeof *lines);
    cr_assert_not_null(lines);
    endpoint->lines = lines;
    endpoint->payload_bytes_max = CHUNK_BYTES_MAX;
    lines->listener = -1;
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        lines->caller[i].descriptor = -1;
    }
    lines->epoll = epoll_create1(EPOLL_CLOEXEC);
    cr_assert_geq(lines->epoll, 0);
}

static struct line *pair(struct line **other, size_t i)
{
    const struct line_keys keys = {.in = {{1, (uint8_t)i}}, .out = {{2, (uint8_t)i}}};
    const struct line_keys back = {.in = keys.out, .out = keys.in};
    const int room = 1 << 20;
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    cr_assert_eq(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    *other = line_new(ends[0], &back, CHUNK_BYTES_MAX);
    struct line *line = line_new(ends[1], &keys, CHUNK_BYTES_MAX);
    cr_assert(*other != NULL && line != NULL);
    return line;
}

/* The last one has not asked for pieces that are sealed for others, too. */
static void init(void)
{
    rig_init(&rig, 1 << 30, 30000);
    lines_begin(&rig.endpoint);
    struct lines *lines = rig.endpoint.lines;
    lines->random = random_source_new();
    cr_assert_not_null(lines->random);
    for (size_t i = 0; i < LINES; i++) {
        struct held *held = &lines->held[i];
        *held = (struct held){.used = true,
                              .key = rig.admitted[i].entry.key,
                              .route = rig.admitted[i].route,
                              .shares = i + 1 < LINES};
        held->line = pair(&far_end[i], i);
        if (held->shares) {
            line_take_shared(far_end[i]);
        }
        cr_assert(endpoint_lines_watch(lines, line_descriptor(held->line), WATCH_LINE, i, EPOLLIN));
    }
    for (size_t i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i * 13 + i / 1000);
    }
}

static void end(void)
{
    endpoint_lines_free(&rig.endpoint);
    for (size_t i = 0; i < LINES; i++) {
        line_free(far_end[i]);
    }
    rig_free(&rig);
}

static enum status give(size_t agent, const struct digest *of, size_t number, size_t bytes)
{
    struct message piece = {.kind = MESSAGE_PIECE};
    struct peer peer = {0};
    uint8_t control[CONTROL_BYTES_MAX];
    piece.as.piece.digest = *of;
    piece.as.piece.offset = number * PIECE_BYTES;
    memcpy(peer.name, rig.admitted[agent].name, sizeof peer.name);
    return endpoint_lines_send(&rig.endpoint, &peer,
                               (struct slice){control, wire_encode(control, &piece)},
                               (struct slice){content + number * PIECE_BYTES, bytes});
}

/* The agent takes what it was given; returns whether that was sealed for others, too. */
static bool take(size_t agent, size_t number, size_t bytes)
{
    struct slice control;
    struct slice payload;
    struct message message;
    bool shared = false;
    cr_assert_eq(line_receive(far_end[agent], &control, &payload, &shared), STATUS_OK);
    cr_assert_eq(wire_decode(&message, control, payload), STATUS_OK);
    cr_assert(message.kind == MESSAGE_PIECE && message.as.piece.offset == number * PIECE_BYTES);
    cr_assert_eq(payload.size, bytes);
    cr_assert_eq(memcmp(payload.data, content + number * PIECE_BYTES, bytes), 0);
    line_done(far_end[agent]);
    return shared;
}

TestSuite(endpoint_shared, .init = init, .fini = end);

Test(endpoint_shared, a_release_is_sealed_once_for_all_who_ask_for_it_so)
{
    const struct shared *shared = &rig.endpoint.lines->shared;
    for (size_t number = 0; number < PIECES; number++) {
        for (size_t i = 0; i < LINES; i++) {
            cr_assert_eq(give(i, &named, number, PIECE_BYTES), STATUS_OK);
            cr_expect_eq(take(i, number, PIECE_BYTES), i + 1 < LINES, "agent %zu", i);
        }
    }
    cr_expect_eq(shared->sealed, PIECES);
    cr_expect_eq(shared->bytes, 0, "all have it: nothing is kept");
}

/* One that asks a second time, for another length there, or for a small piece. */
Test(endpoint_shared, what_is_asked_for_again_or_otherwise_comes_right)
{
    const struct shared *shared = &rig.endpoint.lines->shared;
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(give(0, &named, 1, PIECE_BYTES), STATUS_OK);
        cr_expect(take(0, 1, PIECE_BYTES));
    }
    cr_expect_eq(shared->sealed, 1);
    cr_assert_eq(give(1, &named, 1, PIECE_BYTES - 1), STATUS_OK);
    cr_expect(take(1, 1, PIECE_BYTES - 1));
    cr_expect_eq(shared->sealed, 2);
    cr_assert_eq(give(1, &named, 1, SHARED_BYTES_LEAST - 1), STATUS_OK);
    cr_expect_not(take(1, 1, SHARED_BYTES_LEAST - 1));
    cr_expect_eq(shared->sealed, 2);
}

Test(endpoint_shared, nothing_is_shared_by_one)
{
    for (size_t i = 1; i < LINES; i++) {
        endpoint_lines_drop(rig.endpoint.lines, &rig.endpoint.lines->held[i]);
    }
    cr_assert_eq(give(0, &named, 0, PIECE_BYTES), STATUS_OK);
    cr_expect_not(take(0, 0, PIECE_BYTES));
    cr_expect_eq(rig.endpoint.lines->shared.sealed, 0);
}

/* An agent's end, whose coordinator is the test. */
struct agent {
    struct endpoint endpoint;
    struct line *coordinator;
};

static void agent_open(struct agent *agent)
{
    memset(agent, 0, sizeof *agent);
    lines_begin(&agent->endpoint);
    struct own_line *own = &agent->endpoint.lines->own;
    own->line = pair(&agent->coordinator, 77);
    own->state = LINE_OPEN;
    own->want_ms = 60000;
    line_take_shared(own->line);
    cr_assert(endpoint_lines_watch(agent->endpoint.lines, line_descriptor(own->line), WATCH_LINE, 0,
                                   EPOLLIN));
}

static void agent_free(struct agent *agent)
{
    endpoint_lines_free(&agent->endpoint);
    line_free(agent->coordinator);
}

static void agent_hears(struct agent *agent, const struct digest *of, uint64_t offset, bool shared)
{
    const struct slice payload = {content, PIECE_BYTES};
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece = {*of, offset}};
    struct endpoint_message out = {.token = false};
    uint8_t control[CONTROL_BYTES_MAX];
    const struct slice frame = {control, wire_encode(control, &piece)};
    const struct random random = random_source_interface(rig.endpoint.lines->random);
    const struct shared_piece *sealed =
        shared_seal(&rig.endpoint.lines->shared, &random, of, offset, payload, 2, 0);
    cr_assert_not_null(sealed);
    cr_assert_eq(shared ? line_send_shared(agent->coordinator, frame, &sealed->sealed)
                        : line_send(agent->coordinator, frame, payload),
                 STATUS_OK);
    cr_assert_eq(endpoint_lines_hear_own(&agent->endpoint, &out, 0), STATUS_OK);
    cr_assert_eq(out.payload.size, PIECE_BYTES);
    endpoint_lines_done(&agent->endpoint);
}

static enum status agent_fetches(struct agent *agent, const struct digest *of, uint64_t offset)
{
    const struct peer peer = {"coordinator"};
    struct message fetch = {.kind = MESSAGE_FETCH};
    uint8_t control[CONTROL_BYTES_MAX];
    fetch.as.fetch.digest = *of;
    fetch.as.fetch.offset = offset;
    fetch.as.fetch.length = PIECE_BYTES;
    return endpoint_lines_send(&agent->endpoint, &peer,
                               (struct slice){control, wire_encode(control, &fetch)},
                               (struct slice){NULL, 0});
}

static void expect_alone(struct agent *agent)
{
    const struct own_line *own = &agent->endpoint.lines->own;
    endpoint_doubt(&agent->endpoint);
    cr_expect_eq(agent_fetches(agent, &named, 0), STATUS_NOT_FOUND, "it goes over CURVE");
    cr_expect(own->state == LINE_NONE && own->alone && own->want_ms == 0);
}

Test(endpoint_shared, an_agent_that_doubts_what_came_is_alone_from_then_on)
{
    struct agent agent;
    agent_open(&agent);
    agent_hears(&agent, &named, 0, true);
    agent_hears(&agent, &named, PIECE_BYTES, true);
    expect_alone(&agent);
    agent_free(&agent);
}

/* By another connection, by an earlier line, or before there was another agent. */
Test(endpoint_shared, so_it_is_where_the_beginning_came_otherwise)
{
    struct agent agent;
    agent_open(&agent);
    agent_hears(&agent, &named, 0, false);
    agent_hears(&agent, &named, PIECE_BYTES, true);
    expect_alone(&agent);
    agent_free(&agent);
}

/* The fellow also cuts the line, or the other connection, before the whole is there. */
Test(endpoint_shared, and_where_the_line_has_ended_since)
{
    for (int i = 0; i < 2; i++) {
        struct agent agent;
        agent_open(&agent);
        agent_hears(&agent, &named, 0, true);
        if (i == 0) {
            endpoint_lines_drop_own(&agent.endpoint, 0, "it was cut");
        } else {
            endpoint_lines_lost(&agent.endpoint);
        }
        expect_alone(&agent);
        agent_free(&agent);
    }
}

Test(endpoint_shared, whatever_an_agent_asks_for_costs_it_nothing)
{
    const struct digest other = {{8}};
    struct agent agent;
    agent_open(&agent);
    const struct own_line *own = &agent.endpoint.lines->own;
    agent_hears(&agent, &named, 0, true);
    cr_expect_eq(agent_fetches(&agent, &named, PIECE_BYTES), STATUS_OK, "it goes on");
    cr_expect_eq(agent_fetches(&agent, &named, 0), STATUS_OK, "it repeats something");
    cr_expect_eq(agent_fetches(&agent, &other, 0), STATUS_OK, "another");
    cr_expect(own->state == LINE_OPEN && !own->alone);
    agent_free(&agent);
}
