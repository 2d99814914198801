/* The agent's line: asked for over CURVE, dialled at the coordinator's host, and asked for again when it has ended. While there
 * is none, large messages go over CURVE like the others. */

#include "io/endpoint_lines.h"

#include "io/clock.h"
#include "protocol/transfer.h"
#include "protocol/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    WANT_MS_MIN = 1000,
    WANT_MS_MAX = 60000,
    STEADY_MS = 30000,
    BROUGHT =
        TRANSFER_WINDOW_SMALL + 1, /* more than is asked for at once: something went both ways */
    WANTS_VAIN = 4                 /* 16 s, and twice as long the next time */
};

static int64_t want_after_ms(const struct own_line *own)
{
    return own->wants < 6 ? (int64_t)WANT_MS_MIN << own->wants : WANT_MS_MAX;
}

/* A device on the way may let lines open, and end each one at its first large message. A message that is asked for again after
 * two seconds must not meet another such line, or no transfer would end. So meanwhile all messages go over CURVE. */
static void judge_ended(struct own_line *own, int64_t now_ms)
{
    if (own->state != LINE_OPEN) {
        return;
    }
    if (own->brought < BROUGHT) {
        own->wants = own->wants < WANTS_VAIN ? WANTS_VAIN : own->wants;
        own->want_ms = now_ms + want_after_ms(own);
    } else if (now_ms - own->since_ms > STEADY_MS) {
        own->wants = 0;
    }
}

void endpoint_lines_drop_own(struct endpoint *endpoint, int64_t now_ms, const char *text)
{
    struct own_line *own = &endpoint->lines->own;
    char whole[320];

    if (own->state == LINE_NONE) {
        return;
    }
    (void)snprintf(
        whole, sizeof whole,
        "the line for large messages, at the coordinator's port %u, is gone: %s; they go "
        "over the other connection, more slowly",
        (unsigned)own->port, text);
    log_rate_event(&endpoint->rate, now_ms, LOG_INFO, "line-ended", "coordinator", whole);
    judge_ended(own, now_ms);
    endpoint_lines_end(endpoint->lines, own->line);
    own->line = NULL;
    own->state = LINE_NONE;
    own->since_ms = now_ms;
}

/* Every agent of a round has the keys of shared pieces. One that also sits on this agent's wire can put another piece in the
 * place of one, which shows by the digest of the whole. It can do so once, also where it cuts this line or the other connection
 * before the whole is there: lines are this agent's alone from then on, also one that is just being opened. */
void endpoint_doubt(struct endpoint *endpoint)
{
    if (endpoint->lines == NULL || endpoint->listens || endpoint->lines->own.alone) {
        return;
    }
    endpoint->lines->own.alone = true;
    endpoint_lines_drop_own(endpoint, clock_now_ms(),
                            "something that came does not match its digest; the next line's "
                            "pieces are sealed for this agent alone");
    endpoint->lines->own.want_ms = 0;
}

void endpoint_lines_lost(struct endpoint *endpoint)
{
    if (endpoint->lines == NULL) {
        return;
    }
    endpoint_lines_drop_own(endpoint, clock_now_ms(), "the other connection has ended");
    endpoint->lines->own.heard = false;
    endpoint->lines->own.wants = 0;
    endpoint->lines->own.want_ms = 0;
}

void endpoint_lines_ask(struct endpoint *endpoint, int64_t now_ms)
{
    struct own_line *own = &endpoint->lines->own;
    struct message want = {.kind = MESSAGE_WANT};
    uint8_t control[CONTROL_BYTES_MAX];

    if ((own->state == LINE_DIALS || own->state == LINE_HAILS) &&
        now_ms - own->since_ms > LINE_HAIL_MS) {
        endpoint_lines_drop_own(endpoint, now_ms,
                                "nobody answers there; remedy: a firewall that lets it through");
    }
    if (own->state != LINE_NONE || !own->heard || endpoint->socket == NULL ||
        now_ms < own->want_ms) {
        return;
    }
    own->want_ms = now_ms + want_after_ms(own);
    want.as.want.shared = !own->alone;
    own->wants++;
    (void)!endpoint_send_frames(endpoint, (struct slice){control, wire_encode(control, &want)},
                                (struct slice){NULL, 0});
}

/* The coordinator's host as the present connection has it, with another port. Returns a descriptor that connects, or -1. */
static int dial(const struct endpoint *endpoint, uint32_t port)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    const uint16_t number = htons((uint16_t)port);

    if (getpeername(endpoint->dialing.descriptor, (struct sockaddr *)&name, &size) != 0) {
        return -1;
    }
    if (name.ss_family == AF_INET6) {
        memcpy((uint8_t *)&name + offsetof(struct sockaddr_in6, sin6_port), &number, sizeof number);
    } else {
        memcpy((uint8_t *)&name + offsetof(struct sockaddr_in, sin_port), &number, sizeof number);
    }
    const int descriptor = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return -1;
    }
    endpoint_lines_prepare(descriptor);
    if (connect(descriptor, (struct sockaddr *)&name, size) != 0 && errno != EINPROGRESS) {
        (void)close(descriptor);
        return -1;
    }
    return descriptor;
}

void endpoint_lines_take(struct endpoint *endpoint, const struct message *given)
{
    struct own_line *own = &endpoint->lines->own;
    const struct line_keys keys = {.in = given->as.line.to_agent,
                                   .out = given->as.line.to_coordinator};
    const int64_t now_ms = clock_now_ms();

    endpoint_lines_drop_own(endpoint, now_ms, "the coordinator gave another");
    const int descriptor = dial(endpoint, given->as.line.port);
    if (descriptor < 0) {
        return;
    }
    own->line = line_new(descriptor, &keys, endpoint->payload_bytes_max);
    if (own->line == NULL ||
        !endpoint_lines_watch(endpoint->lines, descriptor, WATCH_LINE, 0, EPOLLIN | EPOLLOUT)) {
        line_free(own->line);
        own->line = NULL;
        return;
    }
    if (!own->alone) {
        line_take_shared(own->line);
    }
    memcpy(own->id, given->as.line.id, sizeof own->id);
    own->port = given->as.line.port;
    own->state = LINE_DIALS;
    own->since_ms = now_ms;
    own->came = 0;
    own->brought = 0;
}

/* Returns whether the connection stands and the name was shown. */
static bool hail(struct endpoint *endpoint)
{
    struct own_line *own = &endpoint->lines->own;
    uint8_t text[LINE_HAIL_BYTES];
    int problem = 0;
    socklen_t size = sizeof problem;
    const int descriptor = line_descriptor(own->line);

    memcpy(text, own->id, LINE_ID_BYTES);
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0 &&
           line_prove(own->line, text + LINE_ID_BYTES, own->id) == STATUS_OK &&
           send(descriptor, text, sizeof text, MSG_NOSIGNAL) == (ssize_t)sizeof text;
}

/* Returns whether the line may go on. */
static bool hear_proof(struct endpoint *endpoint, int64_t now_ms)
{
    struct own_line *own = &endpoint->lines->own;
    const ssize_t came =
        recv(line_descriptor(own->line), own->proof + own->came, sizeof own->proof - own->came, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    own->came += came > 0 ? (size_t)came : 0;
    if (came <= 0 || own->came < sizeof own->proof) {
        return came > 0;
    }
    if (line_check(own->line, own->proof, own->id) != STATUS_OK) {
        return false;
    }
    own->state = LINE_OPEN;
    own->since_ms = now_ms;
    log_event(endpoint->log, LOG_INFO, "line-open", "coordinator",
              "large messages have a connection of their own, to port %u", (unsigned)own->port);
    return true;
}

enum status endpoint_lines_hear_own(struct endpoint *endpoint, struct endpoint_message *out,
                                    int64_t now_ms)
{
    struct own_line *own = &endpoint->lines->own;
    enum status status = STATUS_AGAIN;
    bool good = own->line != NULL;
    bool waited = good && line_waits(own->line);

    if (own->state == LINE_DIALS) {
        good = hail(endpoint);
        waited = true; /* it was, for the connection */
        own->state = LINE_HAILS;
    } else if (own->state == LINE_HAILS) {
        good = hear_proof(endpoint, now_ms);
    } else if (own->state == LINE_OPEN) {
        good = line_flush(own->line) == STATUS_OK;
        status = good ? endpoint_lines_take_one(endpoint, own->line, out, "coordinator") : status;
        good = good && status != STATUS_NOT_FOUND;
        own->brought += status == STATUS_OK && own->brought < BROUGHT;
    }
    if (!good) {
        endpoint_lines_drop_own(endpoint, now_ms, "it could not be opened, or was ended");
        return STATUS_AGAIN;
    }
    if (waited != line_waits(own->line)) {
        endpoint_lines_rewatch(endpoint->lines, own->line, 0);
    }
    if (status == STATUS_OK) {
        (void)snprintf(out->peer.name, sizeof out->peer.name, "coordinator");
        out->key = endpoint->dialing.coordinator_key;
    }
    return status;
}
