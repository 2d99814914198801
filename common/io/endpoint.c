/* What both ends have in common: how they begin and end, and the one place that waits. */

#include "io/endpoint_private.h"

#include "base/check.h"
#include "io/clock.h"
#include "protocol/transfer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_PERIOD_MS = 10000, POLL_MS_MAX = 1000 };

enum status endpoint_check_address(const char *address, struct why *why)
{
    static const char scheme[] = "tcp://";
    size_t size = strlen(address);
    const char *host = address + sizeof scheme - 1;
    const char *colon = strrchr(address, ':');

    bool good = size < ADDRESS_BYTES && strncmp(address, scheme, sizeof scheme - 1) == 0 &&
                colon != NULL && colon > host;
    if (good) {
        size_t digits = strlen(colon + 1);
        good = digits >= 1 && digits <= 5 && strspn(colon + 1, "0123456789") == digits &&
               strtol(colon + 1, NULL, 10) <= 65535;
        size_t host_size = (size_t)(colon - host);
        bool bracketed = host[0] == '[' && host[host_size - 1] == ']' && host_size > 2;
        static const char letters[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*";
        static const char numbers[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.%-_";
        good = good && (bracketed ? 1 + strspn(host + 1, numbers) == host_size - 1
                                  : strspn(host, letters) == host_size);
    }
    if (!good) {
        return why_refuse(why,
                          "the address must look like tcp://host:7310, tcp://192.0.2.1:7310 or "
                          "tcp://[2001:db8::1]:7310");
    }
    return STATUS_OK;
}

void endpoint_close_socket(struct endpoint *endpoint)
{
    endpoint_monitor_close(endpoint);
    if (endpoint->socket != NULL) {
        (void)zmq_close(endpoint->socket);
        endpoint->socket = NULL;
    }
}

void endpoint_free(struct endpoint *endpoint)
{
    if (endpoint == NULL) {
        return;
    }
    endpoint_lines_free(endpoint);
    endpoint_close_socket(endpoint);
    if (endpoint->zap != NULL) {
        (void)zmq_close(endpoint->zap);
    }
    (void)zmq_msg_close(&endpoint->route);
    (void)zmq_msg_close(&endpoint->control);
    (void)zmq_msg_close(&endpoint->payload);
    if (endpoint->context != NULL) {
        while (zmq_ctx_term(endpoint->context) != 0 && zmq_errno() == EINTR) {
        }
    }
    free(endpoint->listening.admitted);
    free(endpoint->listening.connection);
    free(endpoint->listening.by_name);
    free(endpoint->listening.stranger);
    free(endpoint->listening.unknown);
    free(endpoint->listening.fetches.key);
    bytes_free(endpoint, sizeof *endpoint);
}

const char *endpoint_address(const struct endpoint *endpoint)
{
    return endpoint->address;
}

static void default_to(uint32_t *value, uint32_t normal)
{
    *value = *value == 0 ? normal : *value;
}

static void default_limits(struct endpoint_limits *limits)
{
    default_to(&limits->handshakes_burst, 8);
    default_to(&limits->handshakes_per_s, 1);
    default_to(&limits->messages_burst, 4000);
    default_to(&limits->messages_per_s, 1000);
    limits->bytes_burst = limits->bytes_burst == 0 ? UINT64_C(512) << 20 : limits->bytes_burst;
    limits->bytes_per_s = limits->bytes_per_s == 0 ? UINT64_C(64) << 20 : limits->bytes_per_s;
    default_to(&limits->strangers_max, 256);
    default_to(&limits->silence_ms, 10000);
    default_to(&limits->penalty_ms, 5000);
    default_to(&limits->take_ms, 30000);
    limits->waiting_bytes_max =
        limits->waiting_bytes_max == 0 ? TRANSFER_WAITING_BYTES : limits->waiting_bytes_max;
}

void endpoint_take_address(char out[static ADDRESS_BYTES], const char *list, size_t *at)
{
    const size_t size = strcspn(list + *at, " ");
    (void)snprintf(out, ADDRESS_BYTES, "%.*s", (int)size, list + *at);
    *at += size + strspn(list + *at + size, " ");
    *at = list[*at] == '\0' ? 0 : *at;
}

static enum status check_addresses(const char *list, struct why *why)
{
    char one[ADDRESS_BYTES];
    size_t at = 0;
    enum status status = strlen(list) < ADDRESS_BYTES
                             ? STATUS_OK
                             : why_refuse(why, "the addresses are too long together");
    while (status == STATUS_OK) {
        endpoint_take_address(one, list, &at);
        status = endpoint_check_address(one, why);
        if (at == 0) {
            break;
        }
    }
    return status;
}

/* Makes what both ends start with. */
static enum status start(struct endpoint **out, const struct endpoint_options *options,
                         struct why *why)
{
    *out = NULL;
    enum status status = check_addresses(options->address, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct endpoint *endpoint = calloc(1, sizeof *endpoint);
    if (endpoint == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the connection");
    }
    (void)snprintf(endpoint->dialing.addresses, ADDRESS_BYTES, "%s", options->address);
    endpoint_take_address(endpoint->address, options->address, &endpoint->dialing.next);
    endpoint->key = *options->key;
    endpoint->payload_bytes_max = options->payload_bytes_max;
    endpoint->log = options->log;
    endpoint->limits = options->limits;
    default_limits(&endpoint->limits);
    log_rate_init(&endpoint->rate, options->log, LOG_PERIOD_MS);
    (void)zmq_msg_init(&endpoint->route);
    (void)zmq_msg_init(&endpoint->control);
    (void)zmq_msg_init(&endpoint->payload);
    endpoint->dialing.descriptor = -1;
    endpoint->operators = options->operators;
    (void)snprintf(endpoint->dialing.written_in, sizeof endpoint->dialing.written_in, "%s",
                   options->written_in == NULL ? "the settings" : options->written_in);
    endpoint->context = zmq_ctx_new();
    if (endpoint->context == NULL || zmq_has("curve") != 1) {
        why_set(why, endpoint->context == NULL ? "libzmq cannot start: no memory or descriptors"
                                               : "this libzmq cannot encrypt; remedy: libzmq 4.3 "
                                                 "with CURVE");
        endpoint_free(endpoint);
        return STATUS_UNSUPPORTED;
    }
    *out = endpoint;
    return STATUS_OK;
}

/* libzmq's threads are made with its first socket. They must not take a signal that is meant for the
 * program, so they are born with all of them blocked. */
static void block_signals(sigset_t *before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
}

/* *out: of start; on failure it is freed and NULL */
static enum status open_socket(struct endpoint **out, const struct endpoint_options *options,
                               enum status (*open)(struct endpoint *, struct why *),
                               struct why *why)
{
    sigset_t before;
    block_signals(&before);
    enum status status = open(*out, why);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == STATUS_OK) {
        status = endpoint_lines_open(*out, options->lines, why);
    }
    if (status != STATUS_OK) {
        endpoint_free(*out);
        *out = NULL;
    }
    return status;
}

enum status endpoint_listen(struct endpoint **out, const struct endpoint_options *options,
                            struct why *why)
{
    const enum status status = start(out, options, why);
    if (status != STATUS_OK) {
        return status;
    }
    (*out)->listens = true;
    return open_socket(out, options, endpoint_guard_open, why);
}

enum status endpoint_dial(struct endpoint **out, const struct endpoint_options *options,
                          struct why *why)
{
    const enum status status = start(out, options, why);
    if (status != STATUS_OK) {
        return status;
    }
    (*out)->dialing.coordinator_key = options->coordinator_key;
    return open_socket(out, options, endpoint_dialing_build, why);
}

static long wait_ms(const struct endpoint *endpoint, int64_t now_ms, int timeout_ms)
{
    int64_t wait = timeout_ms < 0 || timeout_ms > POLL_MS_MAX ? POLL_MS_MAX : timeout_ms;
    bool sampling =
        endpoint->listens ? endpoint->listening.live > 0 : endpoint->dialing.descriptor >= 0;
    if (sampling && wait > SAMPLE_MS) {
        wait = SAMPLE_MS;
    }
    if (endpoint->listens && endpoint_turns_are_due(endpoint)) {
        wait = 0;
    }
    if (endpoint->socket == NULL && endpoint->dialing.build_at_ms - now_ms < wait) {
        wait = endpoint->dialing.build_at_ms - now_ms;
    }
    return wait < 0 ? 0 : (long)wait;
}

static void tend(struct endpoint *endpoint, int64_t now_ms)
{
    if (endpoint->listens) {
        if (!endpoint->zap_rests) {
            endpoint_zap_answer(endpoint, now_ms);
        }
        if (!endpoint->monitor_rests) {
            endpoint_guard_events(endpoint, now_ms);
        }
        endpoint_guard_sample(endpoint, now_ms);
        endpoint_rivals_look(endpoint, now_ms);
        endpoint_owed_look(endpoint, now_ms);
    } else {
        endpoint_dialing_tend(endpoint, now_ms);
    }
    endpoint_lines_tend(endpoint, now_ms);
    log_rate_flush(&endpoint->rate, now_ms);
}

/* One of libzmq's sockets, and where is noted that nothing waits to be read from it. */
struct own_socket {
    void *socket; /* NULL: there is none */
    bool *rests;
};

static int descriptor_of(void *socket)
{
    int descriptor = -1;
    size_t size = sizeof descriptor;
    return zmq_getsockopt(socket, ZMQ_FD, &descriptor, &size) == 0 ? descriptor : -1;
}

/* Asks a socket that has been used since it was last found at rest: its descriptor tells only of what comes later. */
static void look_at(const struct own_socket *own)
{
    int events = 0;
    size_t size = sizeof events;
    if (!*own->rests && zmq_getsockopt(own->socket, ZMQ_EVENTS, &events, &size) == 0) {
        *own->rests = (events & ZMQ_POLLIN) == 0;
    }
}

/* As zmq_poll, which asks each socket twice each time, by two system calls or more. */
enum status endpoint_poll(struct endpoint *endpoint, struct pollfd *other, size_t count,
                          int timeout_ms)
{
    const struct own_socket own[] = {{endpoint->socket, &endpoint->socket_rests},
                                     {endpoint->zap, &endpoint->zap_rests},
                                     {endpoint->monitor, &endpoint->monitor_rests}};
    enum { OWN = sizeof own / sizeof own[0] };
    struct pollfd item[OWN + 1 + ENDPOINT_OTHERS_MAX];
    int wait = (int)wait_ms(endpoint, clock_now_ms(), timeout_ms);

    CHECK(count <= ENDPOINT_OTHERS_MAX);
    for (size_t i = 0; i < OWN; i++) {
        item[i] = (struct pollfd){.fd = -1, .events = POLLIN}; /* which poll passes over */
        if (own[i].socket != NULL) {
            look_at(&own[i]);
            item[i].fd = descriptor_of(own[i].socket);
            wait = *own[i].rests ? wait : 0;
        }
    }
    item[OWN] = (struct pollfd){.fd = endpoint_lines_descriptor(endpoint), .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        other[i].revents = 0;
        item[OWN + 1 + i] = (struct pollfd){.fd = other[i].fd, .events = POLLIN};
    }
    const int ready = poll(item, OWN + 1 + count, wait);
    if (ready < 0 && errno != EINTR) {
        log_event(endpoint->log, LOG_ERROR, "poll-failed", NULL, "waiting for messages failed: %s",
                  strerror(errno));
        return STATUS_IO;
    }
    for (size_t i = 0; i < OWN; i++) { /* a look that failed says nothing */
        *own[i].rests = *own[i].rests && ready >= 0 && item[i].revents == 0;
    }
    endpoint->lines_rest = ready >= 0 && item[OWN].revents == 0;
    for (size_t i = 0; ready > 0 && i < count; i++) {
        other[i].revents = item[OWN + 1 + i].revents != 0 ? POLLIN : 0;
    }
    tend(endpoint, clock_now_ms());
    return STATUS_OK;
}

/* Asks the lines, unless the latest look found nothing there, or an attempt since. */
static enum status receive_by_lines(struct endpoint *endpoint, struct endpoint_message *out)
{
    if (endpoint->lines == NULL || endpoint->lines_rest) {
        return STATUS_AGAIN;
    }
    const enum status status = endpoint_lines_receive(endpoint, out);
    endpoint->lines_rest = status != STATUS_OK;
    return status;
}

enum status endpoint_receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    enum status status = STATUS_AGAIN;

    memset(out, 0, sizeof *out);
    endpoint_lines_done(endpoint);
    const bool first = endpoint_lines_first(endpoint);
    if (first) {
        status = receive_by_lines(endpoint, out);
    }
    if (status != STATUS_OK) {
        status = endpoint->listens ? endpoint_listening_receive(endpoint, out)
                                   : endpoint_dialing_receive(endpoint, out);
    }
    if (status != STATUS_OK && !first) {
        status = receive_by_lines(endpoint, out);
    }
    return status;
}

enum status endpoint_send(struct endpoint *endpoint, const struct peer *peer, struct slice control,
                          struct slice payload)
{
    const enum status status = endpoint_lines_send(endpoint, peer, control, payload);
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    if (endpoint->listens) {
        return endpoint_listening_send(endpoint, peer, control, payload);
    }
    struct dialing_side *side = &endpoint->dialing;
    if (endpoint->socket == NULL || (!side->is_up && side->waiting >= WAITING_MAX)) {
        return STATUS_NOT_FOUND;
    }
    side->waiting += !side->is_up;
    return endpoint_send_frames(endpoint, control, payload);
}
