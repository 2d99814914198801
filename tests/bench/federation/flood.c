#include "tests/bench/federation/flood.h"

#include "io/clock.h"
#include "io/endpoint_private.h"
#include "protocol/wire.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { HELLO_MS = 2000, TURN_MS = 20, HELLOS_A_TURN = 19, BEYOND_A_TURN = 20000 };
/* 20 ms of 60 MiB a second */
enum { PIECES_A_TURN = 60 * 1024 / 256 * TURN_MS / 1000 };

const char *const flood_names[FLOOD_KINDS] = {"none", "hellos", "bytes", "beyond"};

struct flooding {
    const struct flood *flood;
    void *context;
    void *socket;
    struct digest job; /* once it is told */
    uint8_t piece[CHUNK_BYTES_MAX];
};

static void *open_socket(struct flooding *run)
{
    const struct flood *flood = run->flood;
    const int zero = 0;
    const int often_ms = 100;
    void *socket = zmq_socket(run->context, ZMQ_DEALER);
    (void)zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof zero);
    (void)zmq_setsockopt(socket, ZMQ_RECONNECT_IVL, &often_ms, sizeof often_ms);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, flood->public_key.byte, KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, flood->key.public_key.byte, KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, flood->key.secret_key.byte, KEY_BYTES);
    if (zmq_connect(socket, flood->address) != 0) {
        _exit(1);
    }
    return socket;
}

/* A HELLO of the job that knows no closed round. The coordinator answers with WELCOME and the
 * latest RELEASE. */
static void say_hello(const struct flooding *run)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct message message = {.kind = MESSAGE_HELLO};
    message.as.hello.version = PROTOCOL_VERSION;
    message.as.hello.job = run->job;
    const size_t size = wire_encode(control, &message);
    (void)zmq_send(run->socket, control, size, ZMQ_DONTWAIT);
}

/* A piece of a round that nobody asked the agent for. */
static void send_piece(const struct flooding *run)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct message message = {.kind = MESSAGE_CHUNK};
    message.as.chunk.job = run->job;
    const size_t size = wire_encode(control, &message);
    if (zmq_send(run->socket, control, size, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0) {
        (void)zmq_send(run->socket, run->piece, sizeof run->piece, ZMQ_DONTWAIT);
    }
}

static void read_all(struct flooding *run)
{
    uint8_t frame[CONTROL_BYTES_MAX];
    struct message message;
    int size = 0;
    while ((size = zmq_recv(run->socket, frame, sizeof frame, ZMQ_DONTWAIT)) >= 0) {
        const struct slice control = {frame, (size_t)size < sizeof frame ? (size_t)size : 0};
        if (wire_decode(&message, control, (struct slice){NULL, 0}) == STATUS_OK &&
            message.kind == MESSAGE_WELCOME) {
            run->job = message.as.welcome.job.id;
        }
    }
}

static void flood_a_turn(const struct flooding *run)
{
    static const int times[FLOOD_KINDS] = {[FLOOD_HELLOS] = HELLOS_A_TURN,
                                           [FLOOD_BYTES] = PIECES_A_TURN,
                                           [FLOOD_BEYOND] = BEYOND_A_TURN};
    for (int i = 0; i < times[run->flood->kind]; i++) {
        if (run->flood->kind == FLOOD_BYTES) {
            send_piece(run);
        } else {
            say_hello(run);
        }
    }
}

_Noreturn void flood_run(const struct flood *flood)
{
    struct flooding *run = calloc(1, sizeof *run);
    sigset_t wanted;
    int64_t hello_ms = 0;
    bool floods = false;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGUSR1);
    const int signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run == NULL || signals < 0) {
        _exit(1);
    }
    run->flood = flood;
    run->context = zmq_ctx_new();
    run->socket = open_socket(run);
    for (int64_t turn_ms = clock_now_ms();; turn_ms += TURN_MS) {
        struct signalfd_siginfo info;
        floods = floods || read(signals, &info, sizeof info) == (ssize_t)sizeof info;
        read_all(run);
        if (floods) {
            flood_a_turn(run);
        } else if (clock_now_ms() >= hello_ms) {
            hello_ms = clock_now_ms() + HELLO_MS;
            say_hello(run);
        }
        while (clock_now_ms() < turn_ms) {
            (void)usleep(1000);
        }
    }
}
