/* The agent's end. libzmq connects again by itself after a broken connection, but never after a
 * refused handshake or after rubbish on the port: so the socket is thrown away and made anew then,
 * and whenever the machine asks for it. */

#include "io/endpoint_lines.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { NAME_PERIOD_MS = 30000 };
enum { DELAY_MS_MIN = 250, DELAY_MS_MAX = 5000, RECONNECT_MS = 250, LINK_MS = 500 };

/* Fewer bytes of a piece are no sign of life: they may be a trickle of what has long been on its way. */
enum { LINK_BYTES_LEAST = 1024 };

static enum status connect_socket(struct endpoint *endpoint, struct why *why)
{
    int events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |
                 ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    void *socket = endpoint->socket;

    enum status status = endpoint_set_common(endpoint, socket, why);
    if (status == STATUS_OK) {
        status =
            endpoint_set_bytes(socket, ZMQ_CURVE_SERVERKEY, endpoint->dialing.coordinator_key.byte,
                               KEY_BYTES, "CURVE_SERVERKEY", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_set(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS, "RECONNECT_IVL", why);
    }
    if (status == STATUS_OK) {
        status =
            endpoint_set(socket, ZMQ_RECONNECT_IVL_MAX, DELAY_MS_MAX, "RECONNECT_IVL_MAX", why);
    }
    if (status == STATUS_OK) {
        status = endpoint_monitor_open(endpoint, events, why);
    }
    if (status == STATUS_OK && zmq_connect(socket, endpoint->address) != 0) {
        status =
            why_refuse(why, "cannot dial %s: %s", endpoint->address, zmq_strerror(zmq_errno()));
    }
    return status;
}

enum status endpoint_dialing_build(struct endpoint *endpoint, struct why *why)
{
    endpoint->dialing.descriptor = -1;
    endpoint->dialing.handshaking = false;
    endpoint->dialing.is_up = false;
    endpoint->dialing.waiting = 0;
    endpoint->socket_rests = endpoint->monitor_rests = false;
    endpoint_lines_lost(endpoint);
    endpoint->socket = zmq_socket(endpoint->context, ZMQ_DEALER);
    if (endpoint->socket == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    enum status status = connect_socket(endpoint, why);
    if (status != STATUS_OK) {
        endpoint_close_socket(endpoint);
    }
    return status;
}

/* Up to half as much again, so that many agents do not come back in step. It need not be secret. */
static int64_t with_jitter(const struct endpoint *endpoint, int64_t delay_ms)
{
    uint64_t mixed = load_u64(endpoint->key.public_key.byte) ^
                     ((uint64_t)clock_now_ms() * UINT64_C(0x9e3779b97f4a7c15));
    mixed ^= mixed >> 29;
    return delay_ms + (int64_t)(mixed % (uint64_t)(delay_ms / 2 + 1));
}

void endpoint_rebuild(struct endpoint *endpoint)
{
    struct dialing_side *side = &endpoint->dialing;
    if (endpoint->listens || endpoint->socket == NULL) {
        return;
    }
    int64_t delay_ms = DELAY_MS_MIN;
    for (unsigned i = 0; i < side->attempts && delay_ms < DELAY_MS_MAX; i++) {
        delay_ms *= 2;
    }
    delay_ms = with_jitter(endpoint, delay_ms < DELAY_MS_MAX ? delay_ms : DELAY_MS_MAX);
    endpoint_lines_lost(endpoint);
    endpoint_close_socket(endpoint);
    endpoint_take_address(endpoint->address, side->addresses, &side->next);
    side->descriptor = -1;
    side->attempts++;
    side->build_at_ms = clock_now_ms() + delay_ms;
}

static void set_trouble(struct endpoint *endpoint, int64_t now_ms, const char *event,
                        const char *text)
{
    (void)snprintf(endpoint->dialing.trouble.text, sizeof endpoint->dialing.trouble.text, "%s",
                   text);
    log_rate_event(&endpoint->rate, now_ms, LOG_WARN, event, "coordinator", text);
}

/* libzmq does not tell that it found no address for a name. So the name is looked for once more, where an attempt
 * has failed, and seldom: the name server may be slow. Returns the reason, or "" when the name is found. */
static const char *name_trouble(struct endpoint *endpoint, int64_t now_ms)
{
    struct dialing_side *side = &endpoint->dialing;
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[ADDRESS_BYTES];

    if (!endpoint_is_named(endpoint) ||
        (side->named_ms != 0 && now_ms - side->named_ms < NAME_PERIOD_MS)) {
        return side->name_trouble.text;
    }
    (void)snprintf(host, sizeof host, "%s", endpoint->address + strlen("tcp://"));
    char *colon = strrchr(host, ':');
    if (colon != NULL) {
        *colon = '\0';
    }
    int error = getaddrinfo(host, NULL, &wanted, &found);
    side->named_ms = now_ms;
    side->name_trouble.text[0] = '\0';
    if (error == 0) {
        freeaddrinfo(found);
    } else {
        why_set(&side->name_trouble,
                "the host name %s is not found (%s); remedy: check coordinator.address in %s, or "
                "this machine's name server",
                host, gai_strerror(error), side->written_in);
    }
    return side->name_trouble.text;
}

static void explain(struct endpoint *endpoint, int64_t now_ms, int event)
{
    char text[512];
    char hex[KEY_HEX_BYTES];

    switch (event) {
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        hex_encode(hex, endpoint->key.public_key.byte, KEY_BYTES);
        (void)snprintf(text, sizeof text,
                       "the coordinator does not admit this key; remedy, there: "
                       "hedgerow-coordinator %s add NAME --key %s",
                       endpoint->operators ? "operators" : "agents", hex);
        set_trouble(endpoint, now_ms, "key-refused", text);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        (void)snprintf(text, sizeof text,
                       "what answers at %s is not a hedgerow coordinator; remedy: check "
                       "coordinator.address",
                       endpoint->address);
        set_trouble(endpoint, now_ms, "not-a-coordinator", text);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        (void)snprintf(
            text, sizeof text,
            "%s ended the connection before it was encrypted; remedy: check "
            "coordinator.public_key, and coordinator.address; if they are right, this key "
            "connected too often: it may 8 times at once and then once a second, so "
            "wait 10 s",
            endpoint->address);
        set_trouble(endpoint, now_ms, "handshake-failed", text);
        break;
    default:
        if (name_trouble(endpoint, now_ms)[0] != '\0') {
            set_trouble(endpoint, now_ms, "name-not-found", endpoint->dialing.name_trouble.text);
            break;
        }
        (void)snprintf(
            text, sizeof text,
            "nothing answers at %s yet; remedy: check that the coordinator runs, that the address "
            "is right and that no firewall is in between",
            endpoint->address);
        set_trouble(endpoint, now_ms, "unreachable", text);
        break;
    }
}

/* Returns whether the socket has to be made anew. */
static bool take_event(struct endpoint *endpoint, int64_t now_ms, int event, int value)
{
    struct dialing_side *side = &endpoint->dialing;
    switch (event) {
    case ZMQ_EVENT_CONNECTED:
        side->descriptor = value;
        side->bytes_before = 0;
        side->handshaking = true;
        return false;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        side->handshaking = false;
        side->is_up = side->is_new = true;
        side->refused = false;
        side->attempts = 0;
        side->trouble.text[0] = '\0';
        log_event(endpoint->log, LOG_INFO, "connected", "coordinator", "connected to %s",
                  endpoint->address);
        return false;
    case ZMQ_EVENT_DISCONNECTED:
        side->is_up = false;
        side->waiting = 0;
        side->descriptor = -1;
        endpoint_lines_lost(endpoint);
        if (side->handshaking) {
            explain(endpoint, now_ms, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
            return true;
        }
        log_rate_event(&endpoint->rate, now_ms, LOG_INFO, "disconnected", "coordinator",
                       "the connection has ended; trying again");
        return false;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        side->refused = event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
        explain(endpoint, now_ms, event);
        return true;
    case ZMQ_EVENT_CONNECT_RETRIED:
        explain(endpoint, now_ms, event);
        /* Its other family may answer, or the next address. */
        return endpoint_is_named(endpoint) || strchr(side->addresses, ' ') != NULL;
    default:
        return false;
    }
}

/* A coordinator too may send parts without end. */
static bool is_endless(struct endpoint *endpoint)
{
    struct dialing_side *side = &endpoint->dialing;
    uint64_t bytes = 0;
    return side->descriptor >= 0 && tcp_bytes_received(&bytes, side->descriptor) &&
           bytes > side->bytes_before &&
           bytes - side->bytes_before > endpoint_bytes_between(endpoint);
}

void endpoint_dialing_tend(struct endpoint *endpoint, int64_t now_ms)
{
    struct dialing_side *side = &endpoint->dialing;
    struct why why = {""};
    int event = 0;
    int value = 0;
    bool anew = false;

    if (endpoint->socket == NULL) {
        if (now_ms < side->build_at_ms) {
            return;
        }
        if (endpoint_dialing_build(endpoint, &why) != STATUS_OK) {
            set_trouble(endpoint, now_ms, "connection-failed", why.text);
            side->build_at_ms = now_ms + DELAY_MS_MAX;
            return;
        }
    }
    while (!anew && !endpoint->monitor_rests && endpoint_monitor_next(endpoint, &event, &value)) {
        anew = take_event(endpoint, now_ms, event, value);
    }
    if (now_ms - endpoint->sampled_ms >= SAMPLE_MS) {
        endpoint->sampled_ms = now_ms;
        if (is_endless(endpoint)) {
            set_trouble(endpoint, now_ms, "message-endless",
                        "the coordinator sent more than a message may have without ending one");
            anew = true;
        }
    }
    if (anew) {
        endpoint_rebuild(endpoint);
    }
}

/* Returns whether the message that was taken is the lines' own. */
static bool is_of_lines(struct endpoint *endpoint)
{
    struct message message;
    if (!endpoint->lines->own.heard) {
        endpoint->lines->own.heard = true;
        endpoint->lines->judged_ms = 0; /* at once, so that the first model may come by the line */
    }
    if (!wire_is(endpoint_frame(&endpoint->control), MESSAGE_LINE)) {
        return false;
    }
    if (wire_decode(&message, endpoint_frame(&endpoint->control),
                    endpoint_frame(&endpoint->payload)) == STATUS_OK) {
        endpoint_lines_take(endpoint, &message);
    }
    bytes_wipe(&message, sizeof message);
    return true;
}

enum status endpoint_dialing_receive(struct endpoint *endpoint, struct endpoint_message *out)
{
    struct dialing_side *side = &endpoint->dialing;
    uint64_t bytes = 0;

    if (endpoint->socket == NULL) {
        return STATUS_AGAIN;
    }
    for (int i = 0; i < TAKEN_PER_CALL && !endpoint->socket_rests; i++) {
        size_t frames = endpoint_take_frames(endpoint, &bytes);
        if (frames == 0) {
            endpoint->socket_rests = true;
            return STATUS_AGAIN;
        }
        if (side->descriptor >= 0 && tcp_bytes_received(&bytes, side->descriptor)) {
            side->bytes_before = bytes;
        }
        if (frames > 2) {
            log_rate_event(&endpoint->rate, clock_now_ms(), LOG_WARN, "message-malformed",
                           "coordinator", "a message of more than two frames was dropped");
            continue;
        }
        if (endpoint->lines != NULL && is_of_lines(endpoint)) {
            continue;
        }
        (void)snprintf(out->peer.name, sizeof out->peer.name, "coordinator");
        out->key = side->coordinator_key;
        out->control = endpoint_frame(&endpoint->control);
        out->payload = endpoint_frame(&endpoint->payload);
        return STATUS_OK;
    }
    return STATUS_AGAIN;
}

static uint64_t link_bytes(const struct endpoint *endpoint)
{
    const struct dialing_side *side = &endpoint->dialing;
    const struct line *line = endpoint->lines != NULL ? endpoint->lines->own.line : NULL;
    uint64_t bytes = 0;
    uint64_t by_line = 0;
    if (!side->is_up || side->descriptor < 0 || !tcp_bytes_received(&bytes, side->descriptor)) {
        return 0;
    }
    return line != NULL && tcp_bytes_received(&by_line, line_descriptor(line)) ? bytes + by_line
                                                                               : bytes;
}

bool endpoint_next_link(struct endpoint *endpoint, bool *anew)
{
    struct dialing_side *side = &endpoint->dialing;
    const int64_t now_ms = clock_now_ms();
    *anew = !endpoint->listens && side->is_up && side->is_new;
    if (endpoint->listens || (!*anew && now_ms - side->linked_ms < LINK_MS)) {
        return false;
    }
    const uint64_t bytes = link_bytes(endpoint);
    const bool is_more = bytes >= side->link_bytes + LINK_BYTES_LEAST;
    side->link_bytes = *anew || is_more || bytes < side->link_bytes ? bytes : side->link_bytes;
    side->linked_ms = now_ms;
    side->is_new = false;
    return *anew || is_more;
}

const char *endpoint_trouble(const struct endpoint *endpoint)
{
    return endpoint->dialing.trouble.text;
}

bool endpoint_was_refused(const struct endpoint *endpoint)
{
    return endpoint->dialing.refused;
}
