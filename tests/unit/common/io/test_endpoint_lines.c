/* One line is ended while its message is still looked at, and another one goes on: a flood by one agent beside another's
 * messages once ended the coordinator, as the wrong line's memory was given back. */

#include "io/endpoint_lines.h"
#include "owed_rig.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FLOODS, GOES_ON, LINES, MESSAGES = 4 };

static struct rig rig;
static struct line *far_end[LINES];

static void open_line(size_t i)
{
    const struct line_keys keys = {.in = {{1, (uint8_t)i}}, .out = {{2, (uint8_t)i}}};
    const struct line_keys back = {.in = keys.out, .out = keys.in};
    struct held *held = &rig.endpoint.lines->held[i];
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    far_end[i] = line_new(ends[0], &back, CHUNK_BYTES_MAX);
    *held = (struct held){.used = true,
                          .key = rig.admitted[i].entry.key,
                          .route = rig.admitted[i].route,
                          .line = line_new(ends[1], &keys, CHUNK_BYTES_MAX)};
    cr_assert(far_end[i] != NULL && held->line != NULL);
    cr_assert(endpoint_lines_watch(rig.endpoint.lines, ends[1], WATCH_LINE, i, EPOLLIN));
}

static void init(void)
{
    rig_init(&rig, 1 << 30, 30000);
    rig.endpoint.limits.messages_burst = MESSAGES;
    rig.endpoint.limits.messages_per_s = 1; /* so that it is full at first */
    rig.endpoint.limits.bytes_burst = rig.endpoint.limits.bytes_per_s = 1 << 20;
    rig.endpoint.payload_bytes_max = CHUNK_BYTES_MAX;
    struct lines *lines = calloc(1, sizeof *lines);
    cr_assert_not_null(lines);
    rig.endpoint.lines = lines;
    lines->listener = -1;
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        lines->caller[i].descriptor = -1;
    }
    lines->epoll = epoll_create1(EPOLL_CLOEXEC);
    cr_assert_geq(lines->epoll, 0);
    for (size_t i = 0; i < LINES; i++) {
        open_line(i);
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

static void say(size_t i)
{
    const struct message hello = {.kind = MESSAGE_HELLO, .as.hello.version = PROTOCOL_VERSION};
    uint8_t control[CONTROL_BYTES_MAX];
    cr_assert_eq(line_send(far_end[i], (struct slice){control, wire_encode(control, &hello)},
                           (struct slice){NULL, 0}),
                 STATUS_OK);
}

/* As endpoint_receive: what it gave before is given back first. Then lines are heard until a message comes out. */
static void begin_turn(void)
{
    endpoint_lines_done(&rig.endpoint);
}

/* Returns whether a message comes out. */
static bool hear(size_t i)
{
    struct endpoint_message from = {.token = false};
    if (endpoint_lines_hear_held(&rig.endpoint, i, &from) != STATUS_OK) {
        cr_expect_eq(from.control.size, 0, "nothing of it is looked at");
        return false;
    }
    cr_expect_eq(from.control.size > 0 && wire_is(from.control, MESSAGE_HELLO), true);
    cr_expect_eq(from.peer.name[1] - '0', (int)i);
    return true;
}

Test(endpoint_lines, of_two_the_one_that_floods_ends_and_the_other_goes_on)
{
    init();
    for (int i = 0; i <= MESSAGES; i++) {
        say(FLOODS);
    }
    for (int i = 0; i < MESSAGES; i++) {
        say(GOES_ON);
        begin_turn();
        cr_assert(hear(FLOODS), "message %d is within its limits", i);
    }
    begin_turn();
    cr_expect_not(hear(FLOODS), "one too many");
    cr_expect_null(rig.endpoint.lines->held[FLOODS].line);
    cr_expect(hear(GOES_ON), "in the same turn of the loop");
    for (int i = 1; i < MESSAGES; i++) {
        begin_turn();
        cr_assert_not_null(rig.endpoint.lines->held[GOES_ON].line);
        cr_expect(hear(GOES_ON), "message %d", i);
    }
    begin_turn();
    end();
}

/* Both are ended in one turn. */
Test(endpoint_lines, of_two_that_flood_both_end_once)
{
    init();
    for (int i = 0; i <= MESSAGES; i++) {
        say(FLOODS);
        say(GOES_ON);
    }
    for (int i = 0; i < MESSAGES; i++) {
        begin_turn();
        cr_assert(hear(FLOODS));
        begin_turn();
        cr_assert(hear(GOES_ON));
    }
    begin_turn();
    cr_expect_not(hear(FLOODS) || hear(GOES_ON));
    begin_turn();
    cr_expect(rig.endpoint.lines->held[FLOODS].line == NULL &&
              rig.endpoint.lines->held[GOES_ON].line == NULL);
    end();
}
