/* What both ends' lines have in common: waiting, sending, taking. */

#include "io/endpoint_lines.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNHEARD_MS = 10000, IDLE_S = 20, PROBES_S = 5, PROBES = 3 };

enum status endpoint_lines_open(struct endpoint *endpoint, const char *address, struct why *why)
{
    if (address == NULL) {
        return STATUS_OK;
    }
    struct lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the lines of large messages");
    }
    endpoint->lines = lines;
    lines->listener = -1;
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        lines->caller[i].descriptor = -1;
    }
    lines->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (lines->epoll < 0) {
        return why_fail(why, STATUS_IO, "no descriptors for the lines of large messages");
    }
    if (!endpoint->listens) {
        return STATUS_OK;
    }
    lines->random = random_source_new();
    if (lines->random == NULL) {
        return why_fail(why, STATUS_NO_RANDOM,
                        "the operating system's random source cannot be opened");
    }
    return endpoint_lines_bind(endpoint, address, why);
}

void endpoint_lines_free(struct endpoint *endpoint)
{
    struct lines *lines = endpoint->lines;
    if (lines == NULL) {
        return;
    }
    endpoint_lines_done(endpoint);
    for (size_t i = 0; i < LINES_MAX; i++) {
        endpoint_lines_drop(lines, &lines->held[i]);
    }
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        if (lines->caller[i].descriptor >= 0) {
            (void)close(lines->caller[i].descriptor);
        }
    }
    line_free(lines->own.line);
    if (lines->listener >= 0) {
        (void)close(lines->listener);
    }
    if (lines->epoll >= 0) {
        (void)close(lines->epoll);
    }
    random_source_free(lines->random);
    shared_clear(&lines->shared);
    bytes_free(lines, sizeof *lines);
    endpoint->lines = NULL;
}

int endpoint_lines_descriptor(const struct endpoint *endpoint)
{
    return endpoint->lines == NULL ? -1 : endpoint->lines->epoll;
}

bool endpoint_lines_watch(struct lines *lines, int descriptor, enum watched what, size_t index,
                          uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)what << 32 | index};
    return epoll_ctl(lines->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void endpoint_lines_rewatch(struct lines *lines, const struct line *line, size_t index)
{
    struct epoll_event event = {.events = EPOLLIN | (line_waits(line) ? EPOLLOUT : 0),
                                .data.u64 = (uint64_t)WATCH_LINE << 32 | index};
    (void)epoll_ctl(lines->epoll, EPOLL_CTL_MOD, line_descriptor(line), &event);
}

void endpoint_lines_unwatch(struct lines *lines, int descriptor)
{
    (void)epoll_ctl(lines->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

/* A line that something between the ends has forgotten must not swallow messages: it ends soon, and they go by CURVE. */
void endpoint_lines_prepare(int descriptor)
{
    static const struct {
        int level;
        int option;
        int value;
    } wanted[] = {
        {SOL_SOCKET, SO_RCVBUF, KERNEL_BUFFER},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, PROBES_S},
        {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNHEARD_MS},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        (void)setsockopt(descriptor, wanted[i].level, wanted[i].option, &wanted[i].value,
                         sizeof wanted[i].value);
    }
}

void endpoint_lines_end(struct lines *lines, struct line *line)
{
    endpoint_lines_unwatch(lines, line_descriptor(line));
    if (line == lines->taken) {
        lines->taken_is_over = true; /* its message is still looked at */
    } else {
        line_free(line);
    }
}

void endpoint_lines_done(struct endpoint *endpoint)
{
    struct lines *lines = endpoint->lines;
    if (lines == NULL || lines->taken == NULL) {
        return;
    }
    if (lines->taken_is_over) {
        line_free(lines->taken);
    } else {
        line_done(lines->taken);
    }
    lines->taken = NULL;
    lines->taken_is_over = false;
}

enum status endpoint_lines_take_one(struct endpoint *endpoint, struct line *line,
                                    struct endpoint_message *out, const char *peer)
{
    endpoint_lines_done(endpoint); /* of the line before, whose message nobody has heard */
    const enum status status = line_receive(line, &out->control, &out->payload, NULL);
    if (status == STATUS_OK) {
        endpoint->lines->taken = line;
        return STATUS_OK;
    }
    if (status == STATUS_INVALID) {
        log_rate_event(
            &endpoint->rate, clock_now_ms(), LOG_WARN, "line-forged", peer,
            "what came over its line was not the next thing that it sealed: the line was "
            "ended, and nothing of it was taken");
    }
    return status == STATUS_AGAIN ? STATUS_AGAIN : STATUS_NOT_FOUND;
}

bool endpoint_lines_first(struct endpoint *endpoint)
{
    struct lines *lines = endpoint->lines;
    if (lines == NULL) {
        return false;
    }
    lines->turn = !lines->turn;
    return lines->turn;
}

static enum status hear(struct endpoint *endpoint, const struct epoll_event *event,
                        struct endpoint_message *out, int64_t now_ms)
{
    const size_t index = (size_t)(event->data.u64 & UINT32_MAX);
    switch ((enum watched)(event->data.u64 >> 32)) {
    case WATCH_LISTENER:
        endpoint_lines_accept(endpoint, now_ms);
        return STATUS_AGAIN;
    case WATCH_CALLER:
        endpoint_lines_hear_caller(endpoint, index, now_ms);
        return STATUS_AGAIN;
    case WATCH_LINE:
        return endpoint->listens ? endpoint_lines_hear_held(endpoint, index, out)
                                 : endpoint_lines_hear_own(endpoint, out, now_ms);
    }
    return STATUS_AGAIN;
}

/* The kernel gives one event a time, of the connection that has waited longest: all have their turn. */
enum status endpoint_lines_receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    struct epoll_event event;
    for (int i = 0; i < TAKEN_PER_CALL; i++) {
        if (epoll_wait(endpoint->lines->epoll, &event, 1, 0) != 1) {
            return STATUS_AGAIN;
        }
        if (hear(endpoint, &event, out, clock_now_ms()) == STATUS_OK) {
            return STATUS_OK;
        }
    }
    return STATUS_AGAIN;
}

/* Pieces go by the line, also small ones: the last one of a transfer must not overtake the others. What asks for a piece
 * goes the same way: over CURVE it wakes one of libzmq's threads at each end, which costs more than the piece's cipher.
 * Nothing else does, however large: a roster that overtakes the invitation to its round is dropped.
 * Returns whether it is one of these; way: out, which of the two; offset: out, where the piece begins; message: out, it, or
 * nothing. */
static bool is_of_transfer(struct message *message, struct slice control, struct slice payload,
                           size_t *way, uint64_t *offset)
{
    const bool is_piece = wire_is(control, MESSAGE_CHUNK) || wire_is(control, MESSAGE_PIECE);
    if (!is_piece && !wire_is(control, MESSAGE_PULL) && !wire_is(control, MESSAGE_FETCH)) {
        return false;
    }
    *way = is_piece ? WAY_PIECES : WAY_ASKS;
    *offset = 0;
    if (wire_decode(message, control, payload) == STATUS_OK) {
        *offset = message->kind == MESSAGE_CHUNK   ? message->as.chunk.offset
                  : message->kind == MESSAGE_PIECE ? message->as.piece.offset
                  : message->kind == MESSAGE_PULL  ? message->as.pull.offset
                                                   : message->as.fetch.offset;
    } else {
        message->kind = MESSAGE_KIND_COUNT;
    }
    return true;
}

/* Returns the piece sealed for all who may take it; NULL: it is sealed for this line alone, as it is small, nobody else takes
 * it so, or something is missing. */
static struct shared_piece *share(struct lines *lines, const struct held *held,
                                  const struct message *message, struct slice payload)
{
    size_t takers = 0;
    if (held == NULL || !held->shares || message->kind != MESSAGE_PIECE ||
        payload.size < SHARED_BYTES_LEAST) {
        return NULL;
    }
    for (size_t i = 0; i < LINES_MAX; i++) {
        takers += lines->held[i].line != NULL && lines->held[i].shares;
    }
    const struct random random = random_source_interface(lines->random);
    return takers < 2 ? NULL
                      : shared_seal(&lines->shared, &random, &message->as.piece.digest,
                                    message->as.piece.offset, payload, takers, clock_now_ms());
}

static enum status send_by_line(struct endpoint *endpoint, const struct admitted *admitted,
                                const struct message *message, struct slice control,
                                struct slice payload)
{
    struct lines *lines = endpoint->lines;
    struct held *held = admitted != NULL ? endpoint_lines_of(endpoint, admitted) : NULL;
    struct line *line = held != NULL                                          ? held->line
                        : !endpoint->listens && lines->own.state == LINE_OPEN ? lines->own.line
                                                                              : NULL;
    if (line == NULL) {
        return STATUS_NOT_FOUND;
    }
    const bool waited = line_waits(line);
    struct shared_piece *piece = share(lines, held, message, payload);
    const enum status status = piece != NULL ? line_send_shared(line, control, &piece->sealed)
                                             : line_send(line, control, payload);
    if (piece != NULL && status == STATUS_OK) {
        shared_taken(&lines->shared, piece);
    }
    if (status == STATUS_IO && held != NULL) {
        endpoint_lines_drop(lines, held);
    } else if (status == STATUS_IO) {
        endpoint_lines_drop_own(endpoint, clock_now_ms(), "it has ended");
    } else if (waited != line_waits(line)) {
        endpoint_lines_rewatch(lines, line, held == NULL ? 0 : (size_t)(held - lines->held));
    }
    if (status == STATUS_OK && held != NULL) {
        endpoint_owed_sent_by_line(endpoint, &held->key, line, control, payload);
    }
    return status == STATUS_IO ? STATUS_NOT_FOUND : status;
}

/* A line that has just been opened is faster than what still waits on the other connection. A transfer takes its pieces in
 * order, so it ends on the way on which it began; what begins a transfer, or repeats something, is free to take the line. */
enum status endpoint_lines_send(struct endpoint *endpoint, const struct peer *peer,
                                struct slice control, struct slice payload)
{
    struct admitted *admitted = NULL;
    struct message message;
    size_t which = 0;
    uint64_t offset = 0;

    if (endpoint->lines == NULL || payload.size > endpoint->payload_bytes_max ||
        control.size > CONTROL_BYTES_MAX) {
        return STATUS_NOT_FOUND;
    }
    if (!is_of_transfer(&message, control, payload, &which, &offset)) {
        return STATUS_NOT_FOUND;
    }
    if (endpoint->listens) {
        admitted = endpoint_guard_connected(endpoint, peer->name);
        if (admitted == NULL) {
            return STATUS_NOT_FOUND;
        }
    }
    struct way *way = admitted != NULL ? &admitted->way[which] : &endpoint->dialing.way[which];
    const bool stays = way->by_curve && offset > way->offset;
    const enum status status =
        stays ? STATUS_NOT_FOUND : send_by_line(endpoint, admitted, &message, control, payload);
    *way = (struct way){.by_curve = status == STATUS_NOT_FOUND, .offset = offset};
    return status;
}

void endpoint_lines_tend(struct endpoint *endpoint, int64_t now_ms)
{
    struct lines *lines = endpoint->lines;
    if (lines == NULL || now_ms - lines->judged_ms < SAMPLE_MS) {
        return;
    }
    lines->judged_ms = now_ms;
    if (endpoint->listens) {
        endpoint_lines_judge(endpoint);
        endpoint_lines_shed(endpoint, now_ms);
        shared_tend(&endpoint->lines->shared, now_ms);
    } else {
        endpoint_lines_ask(endpoint, now_ms);
    }
}
