/* People at the port without an admitted key: whatever they do, an admitted agent is served. */

#include "federation.h"

#include "io/line.h"
#include "protocol/wire.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <zmq.h>

enum { ROUND_TRIPS = 40, ATTEMPTS = 4, WORST_MS = 1500, MEMORY_KIB = 64 * KIB_PER_MIB };

static struct federation federation;
static pid_t hostile;
static int64_t began_ms;

static void start(void)
{
    began_ms = clock_now_ms();
    federation_start(&federation, 2, NULL);
}

static void teardown(void)
{
    if (hostile > 0) {
        kill(hostile, SIGKILL);
        waitpid(hostile, NULL, 0);
    }
    federation_stop(&federation);
}

/* Runs an attack for ever beside the test. */
static void attack(void (*how)(void))
{
    hostile = quiet_fork();
    cr_assert_geq(hostile, 0);
    if (hostile == 0) {
        for (;;) {
            how();
        }
    }
}

/* The longest of some round trips by turns. */
static int longest_round_trip(struct endpoint *one, struct endpoint *other)
{
    int longest = 0;
    for (int i = 0; i < ROUND_TRIPS; i++) {
        int took = federation_round_trip(i % 2 == 0 ? one : other, PATIENCE_MS);
        cr_assert_geq(took, 0);
        longest = took > longest ? took : longest;
        usleep(20000);
    }
    return longest;
}

/* An agent that is connected already, and one that joins during the attack, are both served. A machine that
 * stands still makes a round trip long, too: beside an attack that goes on some are all short all the same. */
static void expect_honest_agents_served(void)
{
    struct endpoint *before = federation_dial(&federation, &federation.agent[0]);
    cr_assert_geq(federation_round_trip(before, PATIENCE_MS), 0);
    usleep(300000);
    struct endpoint *during = federation_dial(&federation, &federation.agent[1]);
    cr_expect_geq(federation_round_trip(during, PATIENCE_MS), 0);
    int longest_ms = WORST_MS;
    for (int i = 0; i < ATTEMPTS && longest_ms >= WORST_MS; i++) {
        longest_ms = longest_round_trip(before, during);
    }
    cr_expect_lt(longest_ms, WORST_MS);
    cr_expect_lt(federation_memory_kib(&federation, true), MEMORY_KIB);
    endpoint_free(before);
    endpoint_free(during);
}

static void say_and_leave(const void *text, size_t size)
{
    int file = federation_connect(&federation);
    if (file >= 0) {
        ssize_t put = send(file, text, size, MSG_NOSIGNAL);
        (void)put;
        usleep(2000);
        close(file);
    }
}

static void speak_http(void)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: coordinator\r\n\r\n";
    say_and_leave(request, sizeof request - 1);
}

Test(strangers, web_browsers, .init = start, .fini = teardown)
{
    attack(speak_http);
    expect_honest_agents_served();
    cr_expect(federation_logged(&federation, "stranger-left", "127.0.0.1", PATIENCE_MS));
}

static void speak_rubbish(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    uint8_t bytes[2048];
    for (size_t i = 0; i < sizeof bytes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes[i] = (uint8_t)state;
    }
    /* Every other time it begins like the real protocol. */
    static const uint8_t greeting[] = {0xff, 0, 0, 0,   0,   0,   0,   0,  1,
                                       0x7f, 3, 1, 'C', 'U', 'R', 'V', 'E'};
    if ((state & 1) != 0) {
        memcpy(bytes, greeting, sizeof greeting);
        memset(bytes + sizeof greeting, 0, 64 - sizeof greeting);
    }
    say_and_leave(bytes, sizeof bytes);
}

Test(strangers, random_bytes, .init = start, .fini = teardown)
{
    attack(speak_rubbish);
    expect_honest_agents_served();
}

static void sit_half_open(void)
{
    enum { SEATS = 400 };
    int file[SEATS];
    for (int i = 0; i < SEATS; i++) {
        file[i] = federation_connect(&federation);
        if (i % 2 == 0 && file[i] >= 0) {
            ssize_t put = send(file[i], "\xff\0\0\0\0", 5, MSG_NOSIGNAL);
            (void)put;
        }
    }
    usleep(1500000);
    for (int i = 0; i < SEATS; i++) {
        close(file[i]);
    }
}

Test(strangers, half_open_connections, .init = start, .fini = teardown)
{
    attack(sit_half_open);
    expect_honest_agents_served();
}

/* If descriptors run out, libzmq's thread spins, and no file can be opened. So strangers get a limited
 * part of the descriptors, and the list can still be read. */
Test(strangers, more_connections_than_descriptors)
{
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit few = {.rlim_cur = 256, .rlim_max = before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    start();
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    attack(sit_half_open);
    usleep(500000);
    federation_admit(&federation, 2);
    struct endpoint *late = federation_dial(&federation, &federation.agent[2]);
    cr_expect_geq(federation_round_trip(late, PATIENCE_MS), 0);
    endpoint_free(late);
    expect_honest_agents_served();
    cr_expect(federation_logged(&federation, "stranger-cut", "127.0.0.1", PATIENCE_MS));
    teardown();
}

/* Writes a new key's line into the list. */
static struct key_pair list_one(FILE *file, size_t name, const char *options)
{
    struct key_pair one;
    char hex[KEY_HEX_BYTES];
    cr_assert_eq(key_pair_generate(&one), STATUS_OK);
    hex_encode(hex, one.public_key.byte, KEY_BYTES);
    (void)fprintf(file, "m%zu %s%s\n", name, hex, options);
    return one;
}

static FILE *begin_list(void)
{
    federation_start(&federation, 0, NULL);
    FILE *file = fopen(federation.agents_path, "w");
    cr_assert_not_null(file);
    return file;
}

static void end_list(FILE *file)
{
    cr_assert_eq(fchmod(fileno(file), 0600), 0);
    cr_assert_eq(fclose(file), 0);
    for (int i = 0; i < 3; i++) {
        federation_admit(&federation, i);
    }
}

/* Starts with more agents on the list than a test plays, named m0, m1, ...; key: theirs, or NULL. */
static void start_with_many(size_t count, struct key_pair *key)
{
    FILE *file = begin_list();
    for (size_t i = 0; i < count; i++) {
        const struct key_pair one = list_one(file, i, "");
        if (key != NULL) {
            key[i] = one;
        }
    }
    end_list(file);
}

static bool were_too_many(void)
{
    char command[256];
    snprintf(command, sizeof command, "grep -q 'too many connections without' %s",
             federation.log_path);
    return system(command) == 0;
}

static void connect_strangers(int *seat, int count)
{
    for (int i = 0; i < count; i++) {
        seat[i] = federation_connect(&federation);
        cr_assert_geq(seat[i], 0);
    }
}

static void serve(int agent)
{
    struct endpoint *endpoint = federation_dial(&federation, &federation.agent[agent]);
    cr_expect_geq(federation_round_trip(endpoint, PATIENCE_MS), 0);
    endpoint_free(endpoint);
}

/* When a coordinator with many agents begins anew all of them are strangers for a while. No more other strangers than
 * these agents may be connected, also after earlier ones have come and gone. */
Test(strangers, as_many_as_agents_are_absent_and_no_more)
{
    enum { ABSENT = 600, GONE = 300, STAY = 500, TOO_MANY = 400 };
    static int seat[STAY + TOO_MANY];
    start_with_many(ABSENT, NULL);
    serve(0); /* the list is read, and holds */
    connect_strangers(seat, GONE);
    for (int i = 0; i < GONE; i++) {
        close(seat[i]);
    }
    cr_expect(federation_logged(&federation, "stranger-left", "127.0.0.1", PATIENCE_MS));
    connect_strangers(seat, STAY);
    serve(1); /* after them: so they are counted */
    cr_expect_not(were_too_many(), "500 strangers where 600 agents are absent");
    connect_strangers(seat + STAY, TOO_MANY);
    serve(2);
    cr_expect(were_too_many(), "900 strangers where 600 agents are absent");
    cr_expect_lt(federation_memory_kib(&federation, true), MEMORY_KIB);
    federation_stop(&federation);
}

/* An agent that changes its key has two for a while, and a list may have tokens that nobody spends: they are no agents that
 * could be on their way. */
Test(strangers, second_keys_and_tokens_give_no_places)
{
    enum { AGENTS = 150, TOKENS = 300, TOO_MANY = 450 };
    static int seat[TOO_MANY];
    FILE *file = begin_list();
    for (size_t i = 0; i < AGENTS; i++) {
        (void)list_one(file, i, "");
        (void)list_one(file, i, "");
    }
    for (size_t i = 0; i < TOKENS; i++) { /* half of them have expired */
        (void)list_one(file, AGENTS + i,
                       i % 2 == 0 ? " token-until=1000000000" : " token-until=9000000000");
    }
    end_list(file);
    serve(0); /* the list is read, and holds */
    connect_strangers(seat, TOO_MANY);
    serve(1); /* after them: so they are counted */
    cr_expect(were_too_many(), "450 strangers where 150 agents are absent");
    federation_stop(&federation);
}

static void say_ping(void **socket, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)!zmq_send(socket[i], "ping", 4, ZMQ_DONTWAIT);
    }
}

static size_t count_heard(void **socket, size_t count, bool *heard)
{
    char answer[8];
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        while (zmq_recv(socket[i], answer, sizeof answer, ZMQ_DONTWAIT) >= 0) {
            heard[i] = true;
        }
        total += heard[i];
    }
    return total;
}

static void start_with_few_files(size_t agents, struct key_pair *key, rlim_t files)
{
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {.rlim_cur = files, .rlim_max = before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    start_with_many(agents, key);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    serve(0);
}

static void *dial_many(void **socket, const struct key_pair *key, size_t count)
{
    const int linger = 0;
    const int patience_ms = PATIENCE_MS;
    void *context = zmq_ctx_new();
    for (size_t i = 0; i < count; i++) {
        socket[i] = zmq_socket(context, ZMQ_DEALER);
        cr_assert_not_null(socket[i]);
        zmq_setsockopt(socket[i], ZMQ_LINGER, &linger, sizeof linger);
        zmq_setsockopt(socket[i], ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
        zmq_setsockopt(socket[i], ZMQ_CURVE_SERVERKEY, federation.coordinator.public_key.byte,
                       KEY_BYTES);
        zmq_setsockopt(socket[i], ZMQ_CURVE_PUBLICKEY, key[i].public_key.byte, KEY_BYTES);
        zmq_setsockopt(socket[i], ZMQ_CURVE_SECRETKEY, key[i].secret_key.byte, KEY_BYTES);
        cr_assert_eq(zmq_connect(socket[i], federation.address), 0);
    }
    return context;
}

static void hang_up(void *context, void **socket, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        zmq_close(socket[i]);
    }
    zmq_ctx_term(context);
}

static size_t until_heard(void **socket, size_t count, bool *heard, size_t wanted)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (count_heard(socket, count, heard) < wanted && clock_now_ms() < until_ms) {
        say_ping(socket, count);
        usleep(250000);
    }
    return count_heard(socket, count, heard);
}

/* Many agents alone could take every descriptor. Some are reserved for the list and the journal. */
Test(strangers, agents_do_not_take_the_last_descriptors)
{
    enum { AGENTS = 300, FILES = 256, SERVED = 150 };
    static struct key_pair key[AGENTS];
    static void *socket[AGENTS];
    static bool heard[AGENTS];
    start_with_few_files(AGENTS, key, FILES);
    void *context = dial_many(socket, key, AGENTS);
    cr_expect_geq(until_heard(socket, AGENTS, heard, SERVED), SERVED);
    cr_expect(federation_logged(&federation, "connections-full", "127.0.0.1", PATIENCE_MS));
    cr_expect(federation_logged(&federation, "too-few-files", "-", PATIENCE_MS));
    size_t present = 0;
    while (present + 1 < AGENTS && !heard[present]) {
        present++;
    }
    char name[16];
    snprintf(name, sizeof name, "m%zu", present);
    cr_assert_eq(roster_revoke(federation.agents_path, name, NULL, NULL), STATUS_OK);
    cr_expect(federation_logged(&federation, "key-revoked", name, PATIENCE_MS),
              "a descriptor is left for the list");
    federation_stop(&federation);
    hang_up(context, socket, AGENTS);
}

/* Takes the line that the coordinator gives; NULL without one. *cut: the coordinator has closed it. */
static struct line *take_line(void *socket, bool *cut)
{
    const struct message want = {.kind = MESSAGE_WANT};
    const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    struct message given = {.kind = MESSAGE_WANT};
    uint8_t frame[CONTROL_BYTES_MAX];
    uint8_t hail[LINE_HAIL_BYTES];
    zmq_send(socket, frame, wire_encode(frame, &want), 0);
    while (given.kind != MESSAGE_LINE) { /* pings come back before it */
        const int size = zmq_recv(socket, frame, sizeof frame, 0);
        cr_assert_geq(size, 0);
        if (wire_decode(&given, (struct slice){frame, (size_t)size}, (struct slice){NULL, 0}) !=
            STATUS_OK) {
            given.kind = MESSAGE_WANT;
        }
    }
    const struct line_keys keys = {given.as.line.to_agent, given.as.line.to_coordinator};
    const int descriptor = federation_connect_at(given.as.line.port);
    cr_assert_geq(descriptor, 0);
    cr_assert_eq(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    struct line *line = line_new(descriptor, &keys, PAYLOAD_MAX);
    cr_assert_not_null(line);
    memcpy(hail, given.as.line.id, LINE_ID_BYTES);
    cr_assert_eq(line_prove(line, hail + LINE_ID_BYTES, given.as.line.id), STATUS_OK);
    (void)!send(descriptor, hail, sizeof hail, MSG_NOSIGNAL);
    const ssize_t came = recv(descriptor, hail, LINE_PROOF_BYTES, MSG_WAITALL);
    *cut = came == 0 || (came < 0 && errno == ECONNRESET);
    if (came != LINE_PROOF_BYTES) {
        line_free(line);
        return NULL;
    }
    return line;
}

/* The same with their lines, each of which takes another descriptor. */
Test(strangers, lines_do_not_take_the_last_descriptors)
{
    enum { AGENTS = 150, FILES = 256 };
    static struct key_pair key[AGENTS];
    static void *socket[AGENTS];
    static bool heard[AGENTS];
    static struct line *line[AGENTS];
    size_t open = 0;
    size_t cut_count = 0;
    bool answers = true;
    start_with_few_files(AGENTS, key, FILES);
    void *context = dial_many(socket, key, AGENTS);
    cr_assert_eq(until_heard(socket, AGENTS, heard, AGENTS), AGENTS);
    for (size_t i = 0; i < AGENTS && answers; i++) {
        bool cut = false;
        line[i] = take_line(socket[i], &cut);
        open += line[i] != NULL;
        cut_count += cut;
        answers = line[i] != NULL || cut;
    }
    cr_expect(answers, "every caller is answered or cut");
    cr_expect_gt(open, 0);
    cr_expect_gt(cut_count, 0);
    cr_assert_eq(roster_revoke(federation.agents_path, "m0", NULL, NULL), STATUS_OK);
    cr_expect(federation_logged(&federation, "key-revoked", "m0", PATIENCE_MS),
              "a descriptor is left for the list");
    federation_stop(&federation);
    for (size_t i = 0; i < AGENTS; i++) {
        line_free(line[i]);
    }
    hang_up(context, socket, AGENTS);
}

static void knock_with_unknown_keys(void)
{
    struct key_pair key;
    if (key_pair_generate(&key) != STATUS_OK) {
        _exit(1);
    }
    struct endpoint *endpoint = federation_dial(&federation, &key);
    for (int i = 0; i < 3; i++) {
        (void)!endpoint_poll(endpoint, NULL, 0, 5);
    }
    endpoint_free(endpoint);
}

Test(strangers, endless_handshakes_under_unknown_keys, .init = start, .fini = teardown)
{
    attack(knock_with_unknown_keys);
    expect_honest_agents_served();
    cr_expect(federation_logged(&federation, "key-refused", "127.0.0.1", PATIENCE_MS));
    /* A line per address and period of ten seconds, and one for how many more there were. */
    char command[256];
    snprintf(command, sizeof command,
             "test $(grep -c key-refused %s) -gt $((1 + 2 * (%lld / 10000)))", federation.log_path,
             (long long)(clock_now_ms() - began_ms) + 10000);
    cr_expect_neq(system(command), 0);
}
