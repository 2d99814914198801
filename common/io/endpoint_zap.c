/* The handler of ZAP (ZeroMQ's RFC 27): libzmq asks it about every handshake's key. Nobody comes in
 * but keys of the allow-list. libzmq admits EVERYBODY when no handler is bound: so the handler is
 * bound before the port is, and the option that makes its absence a refusal is set. */

#include "io/endpoint_private.h"

#include "io/clock.h"

#include <stdio.h>
#include <string.h>

enum { REQUEST_FRAMES = 7, FRAME_BYTES_MAX = 255 };
enum {
    FRAME_VERSION,
    FRAME_ID,
    FRAME_DOMAIN,
    FRAME_ADDRESS,
    FRAME_ROUTE,
    FRAME_MECHANISM,
    FRAME_KEY
};

struct zap_request {
    struct {
        uint8_t byte[FRAME_BYTES_MAX + 1];
        size_t size;
    } frame[REQUEST_FRAMES];
    bool whole;
};

struct zap_answer {
    const char *code;
    const char *text;
    const struct admitted *admitted; /* with code 200 */
};

enum status endpoint_zap_open(struct endpoint *endpoint, struct why *why)
{
    endpoint->zap = zmq_socket(endpoint->context, ZMQ_REP);
    if (endpoint->zap == NULL || zmq_bind(endpoint->zap, "inproc://zeromq.zap.01") != 0) {
        return why_fail(why, STATUS_UNSUPPORTED,
                        "the handler that checks keys cannot be bound (%s): refusing to run, since "
                        "everybody would be admitted",
                        zmq_strerror(zmq_errno()));
    }
    return endpoint_set(endpoint->zap, ZMQ_LINGER, 0, "LINGER", why);
}

/* Takes one request; returns false when there is none. */
static bool take_request(struct endpoint *endpoint, struct zap_request *request)
{
    size_t count = 0;
    int more = 1;
    size_t more_size = sizeof more;

    memset(request, 0, sizeof *request);
    request->whole = true;
    while (more != 0) {
        uint8_t spare[FRAME_BYTES_MAX];
        uint8_t *to = count < REQUEST_FRAMES ? request->frame[count].byte : spare;
        int size = zmq_recv(endpoint->zap, to, FRAME_BYTES_MAX, ZMQ_DONTWAIT);
        if (size < 0) {
            return false;
        }
        if (size > FRAME_BYTES_MAX || count >= REQUEST_FRAMES) {
            request->whole = false;
        } else {
            request->frame[count].size = (size_t)size;
        }
        count++;
        if (zmq_getsockopt(endpoint->zap, ZMQ_RCVMORE, &more, &more_size) != 0) {
            more = 0;
        }
    }
    request->whole = request->whole && count == REQUEST_FRAMES;
    return true;
}

static bool frame_is(const struct zap_request *request, int which, const char *text)
{
    return request->frame[which].size == strlen(text) &&
           memcmp(request->frame[which].byte, text, strlen(text)) == 0;
}

static struct zap_answer refuse(struct endpoint *endpoint, int64_t now_ms, const char *code,
                                const char *event, const char *peer, const char *text)
{
    log_rate_event(&endpoint->rate, now_ms, LOG_WARN, event, peer, text);
    return (struct zap_answer){.code = code, .text = "refused"};
}

/* On a socket for both families an IPv4 peer looks like ::ffff:192.0.2.1. */
static const char *plain_address(const char *address)
{
    return strncmp(address, "::ffff:", 7) == 0 ? address + 7 : address;
}

static struct zap_answer decide(struct endpoint *endpoint, const struct zap_request *request,
                                int64_t now_ms)
{
    char text[512];
    char hex[KEY_HEX_BYTES];
    struct digest key;
    const char *address = plain_address((const char *)request->frame[FRAME_ADDRESS].byte);

    if (!request->whole || !frame_is(request, FRAME_VERSION, "1.0") ||
        !frame_is(request, FRAME_MECHANISM, "CURVE") ||
        request->frame[FRAME_KEY].size != KEY_BYTES) {
        return refuse(endpoint, now_ms, "500", "handshake-malformed", address,
                      "a handshake without a key was refused");
    }
    memcpy(key.byte, request->frame[FRAME_KEY].byte, KEY_BYTES);
    struct admitted *admitted = endpoint_guard_admitted(endpoint, &key);
    if (admitted == NULL) {
        hex_encode(hex, key.byte, KEY_BYTES);
        (void)snprintf(text, sizeof text,
                       "a key that is not on the list was refused: %s; anybody may try one. If %s "
                       "told you this key by another way, such as the telephone, admit it: "
                       "hedgerow-coordinator %s add NAME --key KEY",
                       hex, endpoint->operators ? "an operator" : "a site",
                       endpoint->operators ? "operators" : "agents");
        return refuse(endpoint, now_ms, "400", "key-refused", address, text);
    }
    if (admitted->entry.token_until_s != 0 &&
        admitted->entry.token_until_s <= clock_wall_ms() / 1000) {
        return refuse(endpoint, now_ms, "400", "token-expired", admitted->name,
                      "a token that has expired was refused; remedy: `add` makes a new one");
    }
    if (now_ms < admitted->penalty_until_ms) {
        return refuse(endpoint, now_ms, "300", "key-waits", admitted->name,
                      "its key broke a limit and has to wait");
    }
    if (!bucket_take(&admitted->handshakes, now_ms, 1, endpoint->limits.handshakes_burst,
                     endpoint->limits.handshakes_per_s)) {
        return refuse(endpoint, now_ms, "300", "handshakes-limited", admitted->name,
                      "it connects too often and has to wait");
    }
    return (struct zap_answer){.code = "200", .text = "OK", .admitted = admitted};
}

/* A property as the wire knows it: its name's length and name, its value's length and value. */
static size_t put_property(uint8_t *out, const char *name, const char *value)
{
    size_t name_size = strlen(name);
    size_t value_size = strlen(value);
    out[0] = (uint8_t)name_size;
    memcpy(out + 1, name, name_size);
    for (int i = 0; i < 4; i++) {
        out[1 + name_size + (size_t)i] = (uint8_t)(value_size >> (8 * (3 - i)));
    }
    memcpy(out + 5 + name_size, value, value_size);
    return 5 + name_size + value_size;
}

static void send_answer(struct endpoint *endpoint, const struct zap_request *request,
                        const struct zap_answer *answer)
{
    uint8_t metadata[128];
    size_t metadata_size = 0;
    char hex[KEY_HEX_BYTES];
    const char *user = "";

    if (answer->admitted != NULL) {
        /* The name alone would not do: a name may have two keys, and one of them may be revoked. */
        hex_encode(hex, answer->admitted->entry.key.byte, KEY_BYTES);
        metadata_size = put_property(metadata, "Key", hex);
        user = answer->admitted->name;
    }
    const struct slice frame[] = {
        {"1.0", 3},           {request->frame[FRAME_ID].byte, request->frame[FRAME_ID].size},
        {answer->code, 3},    {answer->text, strlen(answer->text)},
        {user, strlen(user)}, {metadata, metadata_size}};
    size_t count = sizeof frame / sizeof frame[0];
    for (size_t i = 0; i < count; i++) {
        int flags = ZMQ_DONTWAIT | (i + 1 < count ? ZMQ_SNDMORE : 0);
        if (zmq_send(endpoint->zap, frame[i].data, frame[i].size, flags) < 0) {
            return; /* the handshake then runs into its time limit: nobody is let in */
        }
    }
}

void endpoint_zap_answer(struct endpoint *endpoint, int64_t now_ms)
{
    struct zap_request request;
    for (int i = 0; i < TAKEN_PER_CALL && take_request(endpoint, &request); i++) {
        struct zap_answer answer = decide(endpoint, &request, now_ms);
        if (answer.admitted != NULL) {
            endpoint_strangers_passed(
                endpoint, plain_address((const char *)request.frame[FRAME_ADDRESS].byte), now_ms);
        }
        send_answer(endpoint, &request, &answer);
    }
}
