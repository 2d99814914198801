/* The coordinator's lines: who may have one, and the port where they come in. A caller shows a name that only the agent knows
 * that was given it, and proves that it has the keys; until then it costs a descriptor for two seconds. A name
 * serves one connection. */

#include "io/endpoint_lines.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 256, ACCEPT_AGAIN_MS = 1000 };

static int listen_at(const struct addrinfo *at)
{
    const int on = 1;
    const int descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return -1;
    }
    endpoint_lines_prepare(descriptor);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(descriptor, at->ai_addr, at->ai_addrlen) != 0 || listen(descriptor, BACKLOG) != 0) {
        const int problem = errno;
        (void)close(descriptor);
        errno = problem;
        return -1;
    }
    return descriptor;
}

static uint32_t port_of(int descriptor)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    char port[8] = "0";
    if (getsockname(descriptor, (struct sockaddr *)&name, &size) == 0 &&
        getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof port, NI_NUMERICSERV) ==
            0) {
        return (uint32_t)strtoul(port, NULL, 10);
    }
    return 0;
}

enum status endpoint_lines_bind(struct endpoint *endpoint, const char *address, struct why *why)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct lines *lines = endpoint->lines;
    struct addrinfo *found = NULL;
    char host[ADDRESS_BYTES];

    if (endpoint_check_address(address, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    (void)snprintf(host, sizeof host, "%s", address + strlen("tcp://"));
    char *port = strrchr(host, ':');
    *port++ = '\0';
    char *name = host;
    if (host[0] == '[') {
        host[strlen(host) - 1] = '\0';
        name = host + 1;
    }
    const int error = getaddrinfo(strcmp(name, "*") == 0 ? NULL : name, port, &wanted, &found);
    if (error != 0) {
        return why_refuse(why, "cannot listen on %s for large messages: %s", address,
                          gai_strerror(error));
    }
    lines->listener = listen_at(found);
    freeaddrinfo(found);
    lines->port = lines->listener < 0 ? 0 : port_of(lines->listener);
    if (lines->port == 0 ||
        !endpoint_lines_watch(lines, lines->listener, WATCH_LISTENER, 0, EPOLLIN)) {
        const int problem = errno;
        why_set(why,
                "cannot listen on %s for large messages: %s; remedy: another port, or an "
                "address of this machine",
                address, strerror(problem));
        return problem == EADDRINUSE ? STATUS_BUSY : STATUS_IO;
    }
    return STATUS_OK;
}

void endpoint_lines_drop(struct lines *lines, struct held *held)
{
    if (held->line != NULL) {
        endpoint_lines_end(lines, held->line);
    }
    bytes_wipe(held, sizeof *held);
}

/* Returns the agent that a line is of, NULL when it is not, or no longer, connected by the connection that asked for it. */
static struct admitted *owner_of(struct endpoint *endpoint, const struct held *held)
{
    struct admitted *admitted = endpoint_guard_admitted(endpoint, &held->key);
    return admitted != NULL && admitted->connected && admitted->route == held->route &&
                   admitted->entry.token_until_s == 0
               ? admitted
               : NULL;
}

void endpoint_lines_judge(struct endpoint *endpoint)
{
    struct lines *lines = endpoint->lines;
    for (size_t i = 0; lines != NULL && i < LINES_MAX; i++) {
        if (lines->held[i].used && owner_of(endpoint, &lines->held[i]) == NULL) {
            endpoint_lines_drop(lines, &lines->held[i]);
        }
    }
}

static struct held *place_for(struct lines *lines, const struct digest *key)
{
    struct held *empty = NULL;
    for (size_t i = 0; i < LINES_MAX; i++) {
        struct held *held = &lines->held[i];
        if (held->used && digest_equal(&held->key, key)) {
            endpoint_lines_drop(lines, held);
        }
        empty = held->used || empty != NULL ? empty : held;
    }
    return empty;
}

void endpoint_lines_grant(struct endpoint *endpoint, const struct admitted *admitted,
                          struct slice control)
{
    struct lines *lines = endpoint->lines;
    const struct random random = random_source_interface(lines->random);
    struct message message = {.kind = MESSAGE_LINE, .as.line.port = lines->port};
    struct message want;
    uint8_t text[CONTROL_BYTES_MAX];

    if (wire_decode(&want, control, (struct slice){NULL, 0}) != STATUS_OK) {
        return;
    }
    struct held *held =
        admitted->entry.token_until_s == 0 ? place_for(lines, &admitted->entry.key) : NULL;
    if (held == NULL || random_fill(&random, held->id, sizeof held->id) != STATUS_OK ||
        random_fill(&random, held->keys.in.byte, DIGEST_BYTES) != STATUS_OK ||
        random_fill(&random, held->keys.out.byte, DIGEST_BYTES) != STATUS_OK) {
        return;
    }
    held->used = true;
    held->key = admitted->entry.key;
    held->route = admitted->route;
    held->shares = want.as.want.shared;
    held->given_ms = clock_now_ms();
    memcpy(message.as.line.id, held->id, sizeof message.as.line.id);
    message.as.line.to_coordinator = held->keys.in;
    message.as.line.to_agent = held->keys.out;
    const size_t size = wire_encode(text, &message);
    (void)!endpoint_listening_send_by(endpoint, admitted->route, (struct slice){text, size},
                                      (struct slice){NULL, 0});
    bytes_wipe(&message, sizeof message);
    bytes_wipe(text, sizeof text);
}

static void turn_away(struct lines *lines, struct caller *caller)
{
    endpoint_lines_unwatch(lines, caller->descriptor);
    (void)close(caller->descriptor);
    *caller = (struct caller){.descriptor = -1};
}

/* The connection that has waited longest makes room. */
static size_t place_for_caller(struct lines *lines)
{
    size_t oldest = 0;
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        if (lines->caller[i].descriptor < 0) {
            return i;
        }
        oldest = lines->caller[i].came_ms < lines->caller[oldest].came_ms ? i : oldest;
    }
    turn_away(lines, &lines->caller[oldest]);
    return oldest;
}

/* The last descriptors are the list's and the journal's: no line has one. */
void endpoint_lines_accept(struct endpoint *endpoint, int64_t now_ms)
{
    struct lines *lines = endpoint->lines;
    const int descriptor = accept(lines->listener, NULL, NULL);
    if (descriptor < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_rate_event(&endpoint->rate, now_ms, LOG_ERROR, "accept-failed", NULL,
                           "a line could not be accepted; remedy: a higher limit of open files");
            endpoint_lines_unwatch(lines, lines->listener);
            lines->accept_ms = now_ms + ACCEPT_AGAIN_MS;
        }
        return;
    }
    if ((size_t)descriptor >= endpoint->listening.connection_room) {
        log_rate_event(&endpoint->rate, now_ms, LOG_ERROR, "connections-full", NULL,
                       "there are as many connections as the limit of open files allows, and a "
                       "line was refused; remedy: a higher limit (ulimit -n, LimitNOFILE)");
        (void)close(descriptor);
        return;
    }
    (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    (void)fcntl(descriptor, F_SETFL, O_NONBLOCK);
    const size_t place = place_for_caller(lines);
    lines->caller[place] = (struct caller){.descriptor = descriptor, .came_ms = now_ms};
    endpoint_lines_prepare(descriptor);
    if (!endpoint_lines_watch(lines, descriptor, WATCH_CALLER, place, EPOLLIN)) {
        (void)close(descriptor);
        lines->caller[place].descriptor = -1;
    }
}

void endpoint_lines_shed(struct endpoint *endpoint, int64_t now_ms)
{
    struct lines *lines = endpoint->lines;
    for (size_t i = 0; i < CALLERS_MAX; i++) {
        struct caller *caller = &lines->caller[i];
        if (caller->descriptor >= 0 && now_ms - caller->came_ms > HANDSHAKE_MS) {
            turn_away(lines, caller);
        }
    }
    if (lines->accept_ms != 0 && now_ms >= lines->accept_ms) {
        lines->accept_ms = 0;
        (void)endpoint_lines_watch(lines, lines->listener, WATCH_LISTENER, 0, EPOLLIN);
    }
}

static struct held *named(struct lines *lines, const uint8_t id[static LINE_ID_BYTES])
{
    for (size_t i = 0; i < LINES_MAX; i++) {
        struct held *held = &lines->held[i];
        if (held->used && held->line == NULL && memcmp(held->id, id, LINE_ID_BYTES) == 0) {
            return held;
        }
    }
    return NULL;
}

/* The name was right: the descriptor is the line's from now on. */
static void open_line(struct endpoint *endpoint, struct held *held, struct caller *caller)
{
    struct lines *lines = endpoint->lines;
    uint8_t proof[LINE_PROOF_BYTES];
    const struct admitted *admitted = owner_of(endpoint, held);

    endpoint_lines_unwatch(lines, caller->descriptor);
    struct line *line = line_new(caller->descriptor, &held->keys, endpoint->payload_bytes_max);
    caller->descriptor = -1;
    bytes_wipe(&held->keys, sizeof held->keys);
    const bool good =
        line != NULL && admitted != NULL &&
        line_check(line, caller->hail + LINE_ID_BYTES, held->id) == STATUS_OK &&
        line_prove(line, proof, held->id) == STATUS_OK &&
        send(line_descriptor(line), proof, sizeof proof, MSG_NOSIGNAL) == (ssize_t)sizeof proof &&
        endpoint_lines_watch(lines, line_descriptor(line), WATCH_LINE, (size_t)(held - lines->held),
                             EPOLLIN);
    if (!good) { /* its keys are gone, and with them the name */
        line_free(line);
        bytes_wipe(held, sizeof *held);
        return;
    }
    held->line = line;
    log_event(endpoint->log, LOG_DEBUG, "line-open", admitted->name,
              "its large messages have a connection of their own");
}

void endpoint_lines_hear_caller(struct endpoint *endpoint, size_t index, int64_t now_ms)
{
    struct lines *lines = endpoint->lines;
    struct caller *caller = &lines->caller[index];
    const ssize_t came = recv(caller->descriptor, caller->hail + caller->came,
                              sizeof caller->hail - caller->came, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (came <= 0) {
        turn_away(lines, caller);
        return;
    }
    caller->came += (size_t)came;
    if (caller->came < sizeof caller->hail) {
        return;
    }
    struct held *held = named(lines, caller->hail);
    if (held == NULL) {
        log_rate_event(&endpoint->rate, now_ms, LOG_WARN, "line-refused", NULL,
                       "somebody asked for a line that no agent was given, and was cut");
        turn_away(lines, caller);
        return;
    }
    open_line(endpoint, held, caller);
}

struct held *endpoint_lines_of(struct endpoint *endpoint, const struct admitted *admitted)
{
    struct lines *lines = endpoint->lines;
    for (size_t i = 0; i < LINES_MAX; i++) {
        struct held *held = &lines->held[i];
        if (held->line != NULL && digest_equal(&held->key, &admitted->entry.key)) {
            return owner_of(endpoint, held) == admitted ? held : NULL;
        }
    }
    return NULL;
}

bool endpoint_lines_is_coming(const struct endpoint *endpoint, const struct admitted *admitted,
                              int64_t now_ms)
{
    for (size_t i = 0; endpoint->lines != NULL && i < LINES_MAX; i++) {
        const struct held *held = &endpoint->lines->held[i];
        if (held->used && digest_equal(&held->key, &admitted->entry.key)) {
            return held->line == NULL && now_ms - held->given_ms < LINE_COMES_MS;
        }
    }
    return false;
}

enum status endpoint_lines_hear_held(struct endpoint *endpoint, size_t index,
                                     struct endpoint_message *out)
{
    struct lines *lines = endpoint->lines;
    struct held *held = &lines->held[index];
    struct admitted *admitted = owner_of(endpoint, held);

    const bool waited = held->line != NULL && line_waits(held->line);
    if (admitted == NULL || held->line == NULL || line_flush(held->line) != STATUS_OK) {
        endpoint_lines_drop(lines, held);
        return STATUS_AGAIN;
    }
    if (waited != line_waits(held->line)) {
        endpoint_lines_rewatch(lines, held->line, index);
    }
    const enum status status = endpoint_lines_take_one(endpoint, held->line, out, admitted->name);
    if (status == STATUS_AGAIN) {
        return STATUS_AGAIN;
    }
    if (status != STATUS_OK || !endpoint_listening_allows(endpoint, admitted, admitted->descriptor,
                                                          out->control.size + out->payload.size)) {
        endpoint_lines_drop(lines, held);
        out->control = out->payload = (struct slice){NULL, 0};
        return STATUS_AGAIN;
    }
    if (endpoint_turns_hold(endpoint, admitted, out->control)) {
        endpoint_lines_done(endpoint);
        out->control = out->payload = (struct slice){NULL, 0};
        return STATUS_AGAIN;
    }
    endpoint_listening_name(out, admitted);
    return STATUS_OK;
}
