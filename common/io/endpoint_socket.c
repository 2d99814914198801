/* What the sockets of both ends need: options, the monitor, frames. */

#include "io/endpoint_private.h"

#include <stdio.h>
#include <string.h>

enum status endpoint_set_bytes(void *socket, int option, const void *value, size_t size,
                               const char *name, struct why *why)
{
    if (zmq_setsockopt(socket, option, value, size) != 0) {
        return why_fail(
            why, STATUS_UNSUPPORTED,
            "this libzmq does not accept the option %s (%s), without which it is not safe "
            "to run; remedy: libzmq 4.3 with CURVE",
            name, zmq_strerror(zmq_errno()));
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
    const bool has_others = !endpoint->listens && strchr(endpoint->dialing.addresses, ' ') != NULL;
    const struct {
        int option;
        int value;
        const char *name;
    } wanted[] = {
        {ZMQ_RCVHWM, QUEUE_MESSAGES, "RCVHWM"},
        {ZMQ_SNDHWM, SEND_MESSAGES, "SNDHWM"},
        {ZMQ_RCVBUF, KERNEL_BUFFER, "RCVBUF"},
        {ZMQ_LINGER, 0, "LINGER"},
        {ZMQ_HANDSHAKE_IVL, has_others ? HANDSHAKE_MS : HANDSHAKE_MS_MAX, "HANDSHAKE_IVL"},
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
        return why_fail(why, STATUS_NO_MEMORY, "the connections cannot be watched: %s",
                        zmq_strerror(zmq_errno()));
    }
    /* No limit: with one, libzmq's thread would stand still whenever this one is busy. */
    enum status status = endpoint_set(endpoint->monitor, ZMQ_RCVHWM, 0, "RCVHWM", why);
    if (status == STATUS_OK) {
        status = endpoint_set(endpoint->monitor, ZMQ_LINGER, 0, "LINGER", why);
    }
    if (status == STATUS_OK && (zmq_socket_monitor(endpoint->socket, name, events) != 0 ||
                                zmq_connect(endpoint->monitor, name) != 0)) {
        status = why_fail(why, STATUS_UNSUPPORTED, "the connections cannot be watched: %s",
                          zmq_strerror(zmq_errno()));
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

/* libzmq hears only now and then of what its I/O thread has sent meanwhile; asked for its events, it
 * looks. */
int endpoint_send_first(struct endpoint *endpoint, const void *data, size_t size, int more)
{
    int events = 0;
    size_t events_size = sizeof events;
    endpoint->socket_rests = false; /* libzmq may hear meanwhile of what has come */
    int sent = zmq_send(endpoint->socket, data, size, ZMQ_DONTWAIT | more);

    if (sent < 0 && zmq_errno() == EAGAIN &&
        zmq_getsockopt(endpoint->socket, ZMQ_EVENTS, &events, &events_size) == 0) {
        sent = zmq_send(endpoint->socket, data, size, ZMQ_DONTWAIT | more);
    }
    return sent;
}

enum status endpoint_send_frames(struct endpoint *endpoint, struct slice control,
                                 struct slice payload)
{
    int more = payload.size > 0 ? ZMQ_SNDMORE : 0;
    if (endpoint_send_first(endpoint, control.data, control.size, more) < 0 ||
        (more != 0 && zmq_send(endpoint->socket, payload.data, payload.size, ZMQ_DONTWAIT) < 0)) {
        return STATUS_AGAIN;
    }
    return STATUS_OK;
}
