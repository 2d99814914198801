/* The bytes that wait at a coordinator for agents that fetch are bounded, for one agent and for all together, whatever they
 * ask for and leave unread. Agents that have to wait are served in their turn, and no piece is lost. */

#include "federation.h"

#include "protocol/transfer.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zmq.h>

enum {
    AGENTS = FEDERATION_AGENTS,
    FETCHED_MS = 120 * 1000,
    PIECE_BYTES = 64 * 1024,
    RETRY_MS = 500,
    MODEL_BYTES = 1 << 20,
    SLACK = KIB_PER_MIB / 1024
};

static struct federation federation;
static struct endpoint_fetches *counted; /* by the coordinator; shared with it */
static unsigned lost_one_in; /* pieces are lost at the coordinator; 0: none. Set before it starts */
static const struct digest model = {{1}};
static const struct peer to_coordinator = {"coordinator"};

static size_t count_logged(const char *wanted)
{
    char line[2000];
    size_t found = 0;
    FILE *file = fopen(federation.log_path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        found += strncmp(line, wanted, strlen(wanted)) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* A piece for each FETCH, as the machine makes it; and a WELCOME for everything else. */
static void answer(struct endpoint *endpoint, const struct endpoint_message *from)
{
    static const uint8_t zeros[CHUNK_BYTES_MAX];
    uint8_t control[CONTROL_BYTES_MAX];
    struct message message;
    struct message piece = {.kind = MESSAGE_PIECE};
    static unsigned pieces;
    if (wire_decode(&message, from->control, from->payload) != STATUS_OK) {
        return;
    }
    if (message.kind == MESSAGE_FETCH && lost_one_in > 0 && ++pieces % lost_one_in == 0) {
        return;
    }
    if (message.kind == MESSAGE_FETCH) {
        piece.as.piece.digest = message.as.fetch.digest;
        piece.as.piece.offset = message.as.fetch.offset;
        const struct slice bytes = {zeros, message.as.fetch.length};
        (void)!endpoint_send(endpoint, &from->peer,
                             (struct slice){control, wire_encode(control, &piece)}, bytes);
    } else {
        (void)!endpoint_send(endpoint, &from->peer, from->control, (struct slice){NULL, 0});
    }
}

static void count_fetches(struct endpoint *endpoint)
{
    endpoint_fetches(endpoint, counted);
}

static void start(uint64_t waiting_bytes_max, uint32_t take_ms)
{
    const struct federation_ways ways = {
        .limits = {.waiting_bytes_max = waiting_bytes_max, .take_ms = take_ms},
        .payload_bytes_max = CHUNK_BYTES_MAX,
        .answer = answer,
        .look = count_fetches};
    counted =
        mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(counted, MAP_FAILED);
    federation_start_as(&federation, AGENTS, &ways);
}

static void stop(void)
{
    federation_stop(&federation);
    (void)munmap(counted, sizeof *counted);
}

static long peak_kib(void)
{
    return federation_memory_kib(&federation, true);
}

/* KiB that the kernel holds of what the coordinator has sent by CURVE to those who are connected. A connection that was cut keeps what it
 * holds until libzmq closes it, and that is its own thread's time. */
static long kernel_kib(void)
{
    const unsigned port = (unsigned)strtoul(strrchr(federation.address, ':') + 1, NULL, 10);
    char line[512];
    unsigned long sum = 0;
    FILE *file = fopen("/proc/net/tcp", "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned local = 0;
        unsigned state = 0;
        unsigned long queued = 0;
        if (sscanf(line, "%*d: %*x:%x %*x:%*x %x %lx:", &local, &state, &queued) == 3 &&
            local == port && state == TCP_ESTABLISHED) {
            sum += queued;
        }
    }
    (void)fclose(file);
    return (long)(sum / 1024);
}

static size_t pack_fetch(uint8_t control[static CONTROL_BYTES_MAX], uint64_t offset,
                         uint32_t length)
{
    struct message message = {.kind = MESSAGE_FETCH};
    message.as.fetch.digest = model;
    message.as.fetch.offset = offset;
    message.as.fetch.length = length;
    return wire_encode(control, &message);
}

/* An agent that reads the answer to its greeting, and nothing more. */
static void *greedy(void *context, size_t number)
{
    static const int small = 4096;
    static const int few = 1;
    static const int zero = 0;
    static const int patience = FETCHED_MS;
    uint8_t control[CONTROL_BYTES_MAX];
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello.version = PROTOCOL_VERSION};
    void *socket = zmq_socket(context, ZMQ_DEALER);
    (void)zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof zero);
    (void)zmq_setsockopt(socket, ZMQ_RCVBUF, &small, sizeof small);
    (void)zmq_setsockopt(socket, ZMQ_RCVHWM, &few, sizeof few);
    (void)zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, federation.coordinator.public_key.byte,
                         KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, federation.agent[number].public_key.byte,
                         KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, federation.agent[number].secret_key.byte,
                         KEY_BYTES);
    cr_assert_eq(zmq_connect(socket, federation.address), 0);
    const size_t size = wire_encode(control, &hello);
    cr_assert_eq(zmq_send(socket, control, size, 0), (int)size);
    cr_assert_gt(zmq_recv(socket, control, sizeof control, 0), 0);
    return socket;
}

static void ask_for(void *socket, size_t pieces, uint32_t piece_bytes)
{
    uint8_t control[CONTROL_BYTES_MAX];
    for (size_t i = 0; i < pieces; i++) {
        const size_t size = pack_fetch(control, (uint64_t)i * piece_bytes, piece_bytes);
        (void)zmq_send(socket, control, size, 0);
    }
}

/* An agent that fetches as a real one does. */
struct honest {
    struct endpoint *endpoint;
    struct transfer transfer;
    int64_t hello_ms;
    bool heard;
    bool asks;
    bool retries;   /* it asks again for what does not come, */
    unsigned says;  /* how often it sends each FETCH */
    uint64_t asked; /* bytes that it asked for, each FETCH counted once however often it is said, */
    uint64_t fetches;  /* and FETCHes, counted likewise */
    uint64_t received; /* bytes of pieces, also of those that it cannot use */
};

static void honest_start(struct honest *honest, size_t number, bool lines)
{
    struct endpoint_options options = {.address = federation.address,
                                       .key = &federation.agent[number],
                                       .lines = lines ? "" : NULL,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = federation.coordinator.public_key};
    *honest = (struct honest){.says = 1};
    cr_assert_eq(endpoint_dial(&honest->endpoint, &options, NULL), STATUS_OK);
    cr_assert_eq(
        transfer_begin(&honest->transfer, MODEL_BYTES, TRANSFER_FETCH_BYTES, clock_now_ms()),
        STATUS_OK);
}

static void honest_ask(struct honest *honest)
{
    uint8_t control[CONTROL_BYTES_MAX];
    uint64_t offset = 0;
    uint32_t length = 0;
    while (transfer_ask(&honest->transfer, &offset, &length)) {
        const size_t size = pack_fetch(control, offset, length);
        honest->asked += length;
        honest->fetches++;
        for (unsigned i = 0; i < honest->says; i++) {
            (void)!endpoint_send(honest->endpoint, &to_coordinator, (struct slice){control, size},
                                 (struct slice){NULL, 0});
        }
    }
}

static void honest_ask_again(struct honest *honest)
{
    const int64_t now_ms = clock_now_ms();
    if (honest->retries && honest->asks && !transfer_is_whole(&honest->transfer) &&
        now_ms - honest->transfer.progress_ms >= transfer_wait_ms(&honest->transfer, RETRY_MS)) {
        transfer_retry(&honest->transfer, now_ms);
        honest_ask(honest);
    }
}

static void honest_take(struct honest *honest, const struct message *message, struct slice piece)
{
    honest->received += piece.size;
    const bool next =
        transfer_accept(&honest->transfer, message->as.piece.offset, piece, clock_now_ms());
    cr_assert(next || honest->retries, "a piece is not the next one");
}

/* Takes one message at most, so that it is slow. It greets until it is heard and does not ask for a piece again unless it
 * retries: one that is lost would be missing for ever. */
static void honest_turn(struct honest *honest)
{
    struct endpoint_message from;
    struct message message = {.kind = MESSAGE_HELLO, .as.hello.version = PROTOCOL_VERSION};
    uint8_t control[CONTROL_BYTES_MAX];
    cr_assert_eq(endpoint_poll(honest->endpoint, NULL, 0, 0), STATUS_OK);
    if (!honest->heard && clock_now_ms() - honest->hello_ms >= 1000) {
        honest->hello_ms = clock_now_ms();
        (void)!endpoint_send(honest->endpoint, &to_coordinator,
                             (struct slice){control, wire_encode(control, &message)},
                             (struct slice){NULL, 0});
    }
    if (endpoint_receive(honest->endpoint, &from) != STATUS_OK) {
        honest_ask_again(honest); /* whatever has come is looked at first */
        return;
    }
    if (wire_decode(&message, from.control, from.payload) != STATUS_OK) {
        return;
    }
    if (message.kind == MESSAGE_PIECE) {
        honest_take(honest, &message, from.payload);
    } else {
        honest->heard = true;
    }
    if (honest->asks && !transfer_is_whole(&honest->transfer)) {
        honest_ask(honest);
    }
}

/* Pieces that take another way than the ones before them may overtake these: all are connected first, also by their lines. */
static void honest_connect(struct honest *honest, size_t count, bool lines)
{
    const int64_t until_ms = clock_now_ms() + FETCHED_MS;
    size_t there = 0;
    while (there < count && clock_now_ms() < until_ms) {
        there = 0;
        for (size_t i = 0; i < count; i++) {
            honest_turn(&honest[i]);
            there += honest[i].heard;
        }
        there = lines && count_logged("line-open") < count ? 0 : there;
        (void)usleep(2000);
    }
    cr_assert_eq(there, count, "%zu of %zu are connected", there, count);
    for (size_t i = 0; i < count; i++) {
        honest[i].asks = true;
        honest_ask(&honest[i]);
    }
}

/* Lets them fetch until each has everything. Returns the most that the kernel held meanwhile, in
 * KiB. */
static long honest_fetch(struct honest *honest, size_t count)
{
    const int64_t until_ms = clock_now_ms() + FETCHED_MS;
    long held = 0;
    size_t whole = 0;
    while (whole < count && clock_now_ms() < until_ms) {
        whole = 0;
        for (size_t i = 0; i < count; i++) {
            honest_turn(&honest[i]);
            whole += transfer_is_whole(&honest[i].transfer);
        }
        const long now = kernel_kib();
        held = now > held ? now : held;
        (void)usleep(2000);
    }
    cr_expect_eq(whole, count, "%zu of %zu have all of it", whole, count);
    return held;
}

static void honest_end(struct honest *honest)
{
    transfer_drop(&honest->transfer);
    endpoint_free(honest->endpoint);
}

/* They ask for 48 MiB together and read none of it. */
Test(fetches, of_many_that_do_not_read_no_more_waits_than_may)
{
    enum { LIMIT_MIB = 2, PIECES = 16 };
    void *socket[AGENTS - 1];
    struct honest honest;
    start(LIMIT_MIB << 20, 1000);
    void *context = zmq_ctx_new();
    for (size_t i = 0; i < AGENTS - 1; i++) {
        socket[i] = greedy(context, i);
    }
    const long before = peak_kib();
    for (size_t i = 0; i < AGENTS - 1; i++) {
        ask_for(socket[i], PIECES, PIECE_BYTES);
    }
    /* It waits until all of them have been served. Agents that do not take what they asked for are
     * cut. */
    honest_start(&honest, AGENTS - 1, false);
    honest_connect(&honest, 1, false);
    const long kernel = honest_fetch(&honest, 1);
    const long grown = peak_kib() - before;
    cr_log_info("%ld KiB more at the peak, %ld KiB in the kernel", grown, kernel);
    cr_expect_lt(grown, 4 * LIMIT_MIB * KIB_PER_MIB, "%ld KiB", grown);
    cr_expect_lt(kernel, (LIMIT_MIB + 1) * 1024, "%ld KiB", kernel);
    cr_expect_gt(count_logged("pieces-not-taken a"), 0, "nobody was cut");
    honest_end(&honest);
    for (size_t i = 0; i < AGENTS - 1; i++) {
        (void)zmq_close(socket[i]);
    }
    (void)zmq_ctx_term(context);
    stop();
}

/* A piece may have 256 KiB, and a queue of libzmq 16 of them. */
Test(fetches, one_that_does_not_read_costs_its_share_and_nobody_waits_for_it)
{
    enum { HONEST = 4, SHARE_KIB = 512, TAKE_MS = 500 };
    struct honest honest[HONEST];
    start(0, TAKE_MS);
    void *context = zmq_ctx_new();
    void *socket = greedy(context, 0);
    const long before = peak_kib();
    ask_for(socket, 1000, CHUNK_BYTES_MAX);
    const int64_t asked_ms = clock_now_ms();
    for (size_t i = 0; i < HONEST; i++) {
        honest_start(&honest[i], 1 + i, false);
    }
    honest_connect(honest, HONEST, false);
    (void)honest_fetch(honest, HONEST);
    while (clock_now_ms() - asked_ms < 4 * TAKE_MS) {
        (void)usleep(2000); /* it might be cut meanwhile */
    }
    cr_expect_eq(counted->agents_waiting, 1, "it waits for itself");
    const long grown = peak_kib() - before;
    cr_log_info("%ld KiB more at the peak", grown);
    cr_expect_lt(grown, SLACK * (HONEST + 2) * SHARE_KIB, "%ld KiB", grown);
    cr_expect_eq(count_logged("pieces-not-taken"), 0, "nobody else had to wait for it");
    for (size_t i = 0; i < HONEST; i++) {
        honest_end(&honest[i]);
    }
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    stop();
}

/* Less than one piece for each may wait. */
static void expect_served_in_turn(bool lines)
{
    enum { COUNT = 24 };
    static struct honest honest[COUNT];
    start(1 << 20, 60000);
    for (size_t i = 0; i < COUNT; i++) {
        honest_start(&honest[i], i, lines);
    }
    honest_connect(honest, COUNT, lines);
    const long before = peak_kib();
    const long kernel = honest_fetch(honest, COUNT);
    cr_log_info("%ld KiB more at the peak, %ld KiB in the kernel", peak_kib() - before, kernel);
    cr_expect_eq(count_logged("pieces-not-taken"), 0);
    for (size_t i = 0; i < COUNT; i++) {
        honest_end(&honest[i]);
    }
    stop();
}

Test(fetches, those_who_wait_are_served_in_their_turn_and_no_piece_is_lost)
{
    expect_served_in_turn(false);
}

Test(fetches, of_those_with_lines_no_piece_is_lost_either)
{
    expect_served_in_turn(true);
}

/* What agents asked for and were sent, and the FETCHes that the coordinator found to add nothing. */
struct spent {
    double times; /* as much as they asked for, a FETCH that is said twice counted once */
    uint64_t fetches;
    uint64_t repeated;
};

/* All ask twice for each piece, and again for what does not come soon: most of it waits for its turn. On a machine that is busy
 * an agent may ask again for what has come and was not looked at yet: so what they were sent is measured by what they asked for,
 * not by what they needed. That nothing is sent twice that waits is for unit/common/io/owed, which has a clock of its own. */
static struct spent fetch_impatiently(size_t count, uint64_t waiting_bytes_max, bool lines)
{
    static struct honest honest[AGENTS];
    struct spent spent = {0};
    uint64_t received = 0;
    uint64_t asked = 0;
    start(waiting_bytes_max, 60000);
    for (size_t i = 0; i < count; i++) {
        honest_start(&honest[i], i, lines);
        honest[i].retries = true;
        honest[i].says = 2;
    }
    honest_connect(honest, count, lines);
    (void)honest_fetch(honest, count);
    cr_expect_eq(count_logged("pieces-not-taken"), 0);
    spent.repeated = counted->repeated;
    for (size_t i = 0; i < count; i++) {
        received += honest[i].received;
        asked += honest[i].asked;
        spent.fetches += honest[i].fetches;
        honest_end(&honest[i]);
    }
    stop();
    spent.times = (double)received / (double)asked;
    cr_log_info("%.3f times as much as they asked for; %.3f times as much as they needed; of %zu "
                "FETCHes, each said twice, %zu added nothing",
                spent.times, (double)received / (double)(count * MODEL_BYTES),
                (size_t)spent.fetches, (size_t)spent.repeated);
    return spent;
}

/* A second saying may come so late on a busy machine that its piece had come and was given up: of ten FETCHes one may. */
static void expect_no_piece_twice(struct spent spent)
{
    cr_expect_leq(spent.times, 1.1, "%.3f", spent.times);
    cr_expect_geq(10 * spent.repeated, 9 * spent.fetches, "%zu of %zu", (size_t)spent.repeated,
                  (size_t)spent.fetches);
}

Test(fetches, that_are_doubled_and_repeated_while_they_wait_cost_no_piece_twice)
{
    expect_no_piece_twice(fetch_impatiently(AGENTS, 512 * 1024, false));
}

Test(fetches, of_those_with_lines_that_are_doubled_and_repeated_cost_no_piece_twice_either)
{
    expect_no_piece_twice(fetch_impatiently(24, 512 * 1024, true));
}

Test(fetches, of_pieces_that_are_lost_are_answered_when_they_are_repeated)
{
    lost_one_in = 11;
    (void)fetch_impatiently(8, 512 * 1024, false);
}

/* Returns whether a link is told of within a while, and as which. */
static bool hears_of_link(struct honest *honest, bool *anew)
{
    const int64_t until_ms = clock_now_ms() + FETCHED_MS;
    bool hears = false;
    while (!hears && clock_now_ms() < until_ms) {
        honest_turn(honest);
        hears = endpoint_next_link(honest->endpoint, anew);
        (void)usleep(2000);
    }
    return hears;
}

/* Otherwise an agent on a narrow link would take a slow piece for silence. */
Test(fetches, are_told_of_what_comes_and_of_a_connection_that_is_new)
{
    struct honest honest;
    bool anew = false;
    start(0, 60000);
    honest_start(&honest, 0, false);
    cr_expect(hears_of_link(&honest, &anew) && anew);
    honest_connect(&honest, 1, false);
    (void)honest_fetch(&honest, 1);
    cr_expect(hears_of_link(&honest, &anew) && !anew, "pieces came by the same one");
    for (int64_t from_ms = clock_now_ms(); clock_now_ms() - from_ms < 1200;) {
        honest_turn(&honest);
        (void)usleep(2000);
    }
    cr_expect_not(endpoint_next_link(honest.endpoint, &anew), "nothing came since");
    endpoint_rebuild(honest.endpoint);
    cr_expect(hears_of_link(&honest, &anew) && anew);
    honest_end(&honest);
    stop();
}
