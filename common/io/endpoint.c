/* What both ends have in common: the context, options, frames, and the one place that waits. */

#include "io/endpoint_private.h"

#include "base/check.h"
#include "io/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_PERIOD_MS = 10000, POLL_MS_MAX = 1000 };

bool bucket_take(struct bucket *bucket, int64_t now_ms, uint64_t amount, uint64_t burst,
                 uint64_t per_s)
{
    int64_t full = (int64_t)burst * 1000;
    int64_t wanted = (int64_t)amount * 1000;

    if (bucket->at_ms == 0) {
        bucket->level_milli = full;
    } else {
        int64_t passed = now_ms - bucket->at_ms;
        int64_t room = full - bucket->level_milli;
        /* The bucket is full long before the product could overflow. */
        int64_t gained = passed > room / (int64_t)per_s ? room : passed * (int64_t)per_s;
        bucket->level_milli += gained;
    }
    bucket->at_ms = now_ms;
    if (bucket->level_milli < wanted) {
        return false;
    }
    bucket->level_milli -= wanted;
    return true;
}

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
        why_set(why, "the address must look like tcp://host:7310, tcp://192.0.2.1:7310 or "
                     "tcp://[2001:db8::1]:7310");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

enum status endpoint_set_bytes(void *socket, int option, const void *value, size_t size,
                               const char *name, struct why *why)
{
    if (zmq_setsockopt(socket, option, value, size) != 0) {
        why_set(why,
                "this libzmq does not accept the option %s (%s), without which it is not safe "
                "to run; remedy: libzmq 4.3 with CURVE",
                name, zmq_strerror(zmq_errno()));
        return STATUS_UNSUPPORTED;
    }
    return STATUS_OK;
}

enum status endpoint_set(void *socket, int option, int value, const char *name, struct why *why)
{
    return endpoint_set_bytes(socket, option, &value, sizeof value, name, why);
}

bool endpoint_is_named(const struct endpoint *endpoint)
{
    const char *host = endpoint->address + strlen("tcp://");
    return host[0] != '[' && host[0] != '*' && host[strspn(host, "0123456789.:")] != '\0';
}

/* libzmq tries one address of a name. A name is therefore dialled in both families by turns. */
static bool wants_ipv6(const struct endpoint *endpoint)
{
    const char *host = endpoint->address + strlen("tcp://");
    if (endpoint_is_named(endpoint)) {
        return endpoint->dialing.attempts % 2 == 1;
    }
    return host[0] == '[' || host[0] == '*';
}

enum status endpoint_set_common(struct endpoint *endpoint, void *socket, struct why *why)
{
    size_t frame = endpoint->payload_bytes_max > CONTROL_BYTES_MAX ? endpoint->payload_bytes_max
                                                                   : CONTROL_BYTES_MAX;
    int64_t largest = (int64_t)frame + CURVE_OVERHEAD;
    static const struct {
        int option;
        int value;
        const char *name;
    } wanted[] = {
        {ZMQ_RCVHWM, QUEUE_MESSAGES, "RCVHWM"},
        {ZMQ_SNDHWM, QUEUE_MESSAGES, "SNDHWM"},
        {ZMQ_RCVBUF, KERNEL_BUFFER, "RCVBUF"},
        {ZMQ_LINGER, 0, "LINGER"},
        {ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS, "HANDSHAKE_IVL"},
        {ZMQ_TCP_KEEPALIVE, 1, "TCP_KEEPALIVE"},
        {ZMQ_TCP_KEEPALIVE_IDLE, 60, "TCP_KEEPALIVE_IDLE"},
    };

    enum status status =
        endpoint_set_bytes(socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest, "MAXMSGSIZE", why);
    for (size_t i = 0; status == STATUS_OK && i < sizeof wanted / sizeof wanted[0]; i++) {
        status = endpoint_set(socket, wanted[i].option, wanted[i].value, wanted[i].name, why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZMQ_IPV6, wants_ipv6(endpoint) ? 1 : 0, "IPV6", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set_bytes(socket, ZMQ_CURVE_PUBLICKEY, endpoint->key.public_key.byte,
                                    KEY_BYTES, "CURVE_PUBLICKEY", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set_bytes(socket, ZMQ_CURVE_SECRETKEY, endpoint->key.secret_key.byte,
                                    KEY_BYTES, "CURVE_SECRETKEY", why);
    }
    return status;
}

enum status endpoint_monitor_open(struct endpoint *endpoint, int events, struct why *why)
{
    char name[48];

    (void)snprintf(name, sizeof name, "inproc://hedgerow.monitor.%u", ++endpoint->monitor_number);
    endpoint->monitor = zmq_socket(endpoint->context, ZMQ_PAIR);
    if (endpoint->monitor == NULL) {
        why_set(why, "the connections cannot be watched: %s", zmq_strerror(zmq_errno()));
        return STATUS_NO_MEMORY;
    }
    /* No limit: with one, libzmq's thread would stand still whenever this one is busy. */
    enum status status = endpoint_set(endpoint->monitor, ZMQ_RCVHWM, 0, "RCVHWM", why);
    if (status == STATUS_OK) {
        status = endpoint_set(endpoint->monitor, ZMQ_LINGER, 0, "LINGER", why);
    }
    if (status == STATUS_OK && (zmq_socket_monitor(endpoint->socket, name, events) != 0 ||
                                zmq_connect(endpoint->monitor, name) != 0)) {
        why_set(why, "the connections cannot be watched: %s", zmq_strerror(zmq_errno()));
        status = STATUS_UNSUPPORTED;
    }
    return status;
}

void endpoint_monitor_close(struct endpoint *endpoint)
{
    if (endpoint->monitor != NULL) {
        (void)zmq_socket_monitor(endpoint->socket, NULL, 0);
        (void)zmq_close(endpoint->monitor);
        endpoint->monitor = NULL;
    }
}

bool endpoint_monitor_next(struct endpoint *endpoint, int *event, int *value)
{
    uint8_t head[6] = {0};
    char address[ADDRESS_BYTES];
    uint16_t number = 0;
    uint32_t detail = 0;

    if (endpoint->monitor == NULL) {
        return false;
    }
    int size = zmq_recv(endpoint->monitor, head, sizeof head, ZMQ_DONTWAIT);
    if (size < 0) {
        return false;
    }
    (void)zmq_recv(endpoint->monitor, address, sizeof address, ZMQ_DONTWAIT);
    memcpy(&number, head, sizeof number); /* in the machine's own byte order */
    memcpy(&detail, head + sizeof number, sizeof detail);
    *event = number;
    *value = (int)detail;
    return true;
}

uint64_t endpoint_bytes_between(const struct endpoint *endpoint)
{
    uint64_t message = endpoint->payload_bytes_max + 2 * CONTROL_BYTES_MAX;
    return (QUEUE_MESSAGES + 2) * message + 2 * (uint64_t)KERNEL_BUFFER + 256 * 1024;
}

size_t endpoint_take_frames(struct endpoint *endpoint, uint64_t *bytes)
{
    zmq_msg_t rest;
    size_t count = 0;
    bool more = true;

    *bytes = 0;
    (void)zmq_msg_init(&rest);
    while (more) {
        zmq_msg_t *frame = count == 0   ? &endpoint->control
                           : count == 1 ? &endpoint->payload
                                        : &rest;
        if (zmq_msg_recv(frame, endpoint->socket, ZMQ_DONTWAIT) < 0) {
            break; /* cannot happen: libzmq shows whole messages only */
        }
        count++;
        *bytes += zmq_msg_size(frame);
        more = zmq_msg_more(frame) != 0;
    }
    (void)zmq_msg_close(&rest);
    if (count < 2) {
        (void)zmq_msg_close(&endpoint->payload);
        (void)zmq_msg_init(&endpoint->payload);
    }
    return count;
}

struct slice endpoint_frame(zmq_msg_t *frame)
{
    size_t size = zmq_msg_size(frame);
    return (struct slice){size == 0 ? NULL : zmq_msg_data(frame), size};
}

enum status endpoint_send_frames(struct endpoint *endpoint, struct slice control,
                                 struct slice payload)
{
    int more = payload.size > 0 ? ZMQ_SNDMORE : 0;
    if (zmq_send(endpoint->socket, control.data, control.size, ZMQ_DONTWAIT | more) < 0 ||
        (more != 0 && zmq_send(endpoint->socket, payload.data, payload.size, ZMQ_DONTWAIT) < 0)) {
        return STATUS_AGAIN;
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
    bytes_wipe(endpoint, sizeof *endpoint);
    free(endpoint);
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
}

/* Makes what both ends start with. */
static enum status start(struct endpoint **out, const struct endpoint_options *options,
                         struct why *why)
{
    *out = NULL;
    enum status status = endpoint_check_address(options->address, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct endpoint *endpoint = calloc(1, sizeof *endpoint);
    if (endpoint == NULL) {
        why_set(why, "no memory for the connection");
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(endpoint->address, sizeof endpoint->address, "%s", options->address);
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

enum status endpoint_listen(struct endpoint **out, const struct endpoint_options *options,
                            struct why *why)
{
    enum status status = start(out, options, why);
    if (status != STATUS_OK) {
        return status;
    }
    (*out)->listens = true;
    status = endpoint_guard_open(*out, why);
    if (status != STATUS_OK) {
        endpoint_free(*out);
        *out = NULL;
    }
    return status;
}

enum status endpoint_dial(struct endpoint **out, const struct endpoint_options *options,
                          struct why *why)
{
    enum status status = start(out, options, why);
    if (status != STATUS_OK) {
        return status;
    }
    (*out)->dialing.coordinator_key = options->coordinator_key;
    status = endpoint_dialing_build(*out, why);
    if (status != STATUS_OK) {
        endpoint_free(*out);
        *out = NULL;
    }
    return status;
}

static long wait_ms(const struct endpoint *endpoint, int64_t now_ms, int timeout_ms)
{
    int64_t wait = timeout_ms < 0 || timeout_ms > POLL_MS_MAX ? POLL_MS_MAX : timeout_ms;
    bool sampling =
        endpoint->listens ? endpoint->listening.live > 0 : endpoint->dialing.descriptor >= 0;
    if (sampling && wait > SAMPLE_MS) {
        wait = SAMPLE_MS;
    }
    if (endpoint->socket == NULL && endpoint->dialing.build_at_ms - now_ms < wait) {
        wait = endpoint->dialing.build_at_ms - now_ms;
    }
    return wait < 0 ? 0 : (long)wait;
}

static void tend(struct endpoint *endpoint, int64_t now_ms)
{
    if (endpoint->listens) {
        endpoint_zap_answer(endpoint, now_ms);
        endpoint_guard_events(endpoint, now_ms);
        endpoint_guard_sample(endpoint, now_ms);
    } else {
        endpoint_dialing_tend(endpoint, now_ms);
    }
    log_rate_flush(&endpoint->rate, now_ms);
}

enum status endpoint_poll(struct endpoint *endpoint, struct pollfd *other, size_t count,
                          int timeout_ms)
{
    zmq_pollitem_t item[3 + ENDPOINT_OTHERS_MAX] = {0};
    void *own[] = {endpoint->socket, endpoint->zap, endpoint->monitor};
    int used = 0;

    CHECK(count <= ENDPOINT_OTHERS_MAX);
    for (size_t i = 0; i < count; i++, used++) {
        other[i].revents = 0;
        item[used] = (zmq_pollitem_t){.fd = other[i].fd, .events = ZMQ_POLLIN};
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i] != NULL) {
            item[used++] = (zmq_pollitem_t){.socket = own[i], .events = ZMQ_POLLIN};
        }
    }
    int ready = zmq_poll(item, used, wait_ms(endpoint, clock_now_ms(), timeout_ms));
    if (ready < 0 && zmq_errno() != EINTR) {
        log_event(endpoint->log, LOG_ERROR, "poll-failed", NULL, "waiting for messages failed: %s",
                  zmq_strerror(zmq_errno()));
        return STATUS_IO;
    }
    for (size_t i = 0; ready > 0 && i < count; i++) {
        other[i].revents = (item[i].revents & ZMQ_POLLIN) != 0 ? POLLIN : 0;
    }
    tend(endpoint, clock_now_ms());
    return STATUS_OK;
}

enum status endpoint_receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    memset(out, 0, sizeof *out);
    return endpoint->listens ? endpoint_listening_receive(endpoint, out)
                             : endpoint_dialing_receive(endpoint, out);
}

enum status endpoint_send(struct endpoint *endpoint, const struct peer *peer, struct slice control,
                          struct slice payload)
{
    if (endpoint->listens) {
        return endpoint_listening_send(endpoint, peer, control, payload);
    }
    return endpoint->socket == NULL ? STATUS_NOT_FOUND
                                    : endpoint_send_frames(endpoint, control, payload);
}
