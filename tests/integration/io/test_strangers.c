/* People at the port without an admitted key: whatever they do, an admitted agent is served. */

#include "federation.h"

#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <sys/resource.h>
#include <sys/socket.h>

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

/* libzmq's thread spins when descriptors run out, and files could no longer be opened: the strangers' part
 * of them is limited, so that even the list is still read. */
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
