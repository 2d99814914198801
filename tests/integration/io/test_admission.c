/* Who comes in: keys of the list, from the moment they are on it until the moment they are not. */

#include "federation.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <zmq.h>

static struct federation federation;

static void teardown(void)
{
    federation_stop(&federation);
}

static void start_two(void)
{
    federation_start(&federation, 2, NULL);
}

Test(admission, admitted_agents_are_served, .init = start_two, .fini = teardown)
{
    struct endpoint *one = federation_dial(&federation, &federation.agent[0]);
    struct endpoint *two = federation_dial(&federation, &federation.agent[1]);
    cr_expect_geq(federation_round_trip(one, PATIENCE_MS), 0);
    cr_expect_geq(federation_round_trip(two, PATIENCE_MS), 0);
    cr_expect_geq(federation_round_trip(one, PATIENCE_MS), 0);
    endpoint_free(one);
    endpoint_free(two);
}

Test(admission, an_unknown_key_gets_no_byte_into_the_protocol, .init = start_two, .fini = teardown)
{
    struct endpoint *stranger = federation_dial(&federation, &federation.agent[5]);
    cr_expect(federation_told(stranger, "agents add"), "%s", endpoint_trouble(stranger));
    cr_expect_eq(federation_round_trip(stranger, 1000), -1);
    cr_expect(federation_logged(&federation, "key-refused", "127.0.0.1", PATIENCE_MS));
    char command[512];
    (void)snprintf(command, sizeof command, "grep -q 'If a site told you this key' %s",
                   federation.log_path);
    cr_expect_eq(system(command), 0);
    endpoint_free(stranger);
    struct endpoint *honest = federation_dial(&federation, &federation.agent[0]);
    cr_expect_geq(federation_round_trip(honest, PATIENCE_MS), 0);
    endpoint_free(honest);
}

Test(admission, a_key_admitted_late_is_served_without_a_restart, .init = start_two,
     .fini = teardown)
{
    struct endpoint *late = federation_dial(&federation, &federation.agent[3]);
    cr_expect(federation_told(late, "agents add"), "%s", endpoint_trouble(late));
    federation_admit(&federation, 3);
    cr_expect_geq(federation_round_trip(late, PATIENCE_MS), 0);
    cr_expect_str_empty(endpoint_trouble(late));
    endpoint_free(late);
}

/* The same with libzmq alone, to show that the rebuilding is what helps. */
Test(admission, a_plain_socket_never_comes_back_from_a_refusal, .init = start_two, .fini = teardown)
{
    void *context = zmq_ctx_new();
    void *plain = zmq_socket(context, ZMQ_DEALER);
    int zero = 0;
    zmq_setsockopt(plain, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(plain, ZMQ_CURVE_SERVERKEY, federation.coordinator.public_key.byte, 32);
    zmq_setsockopt(plain, ZMQ_CURVE_PUBLICKEY, federation.agent[3].public_key.byte, 32);
    zmq_setsockopt(plain, ZMQ_CURVE_SECRETKEY, federation.agent[3].secret_key.byte, 32);
    cr_assert_eq(zmq_connect(plain, federation.address), 0);
    cr_assert(federation_logged(&federation, "key-refused", "127.0.0.1", PATIENCE_MS));
    federation_admit(&federation, 3);
    zmq_send(plain, "ping", 4, ZMQ_DONTWAIT);
    zmq_pollitem_t item = {.socket = plain, .events = ZMQ_POLLIN};
    cr_expect_eq(zmq_poll(&item, 1, 3000), 0);
    zmq_close(plain);
    zmq_ctx_term(context);
}

/* Revokes one that is served; returns how long it was answered after that. */
static int64_t answered_after_revocation_ms(int agent)
{
    char name[16];
    struct endpoint *gone = federation_dial(&federation, &federation.agent[agent]);
    cr_assert_geq(federation_round_trip(gone, PATIENCE_MS), 0);
    int64_t revoked_ms = clock_now_ms();
    int64_t last_ms = revoked_ms;
    int64_t until_ms = revoked_ms + PATIENCE_MS;
    snprintf(name, sizeof name, "a%d", agent);
    federation_revoke(&federation, agent);
    while (!federation_logged(&federation, "key-revoked", name, 0) && clock_now_ms() < until_ms) {
        if (federation_round_trip(gone, 100) >= 0) {
            last_ms = clock_now_ms();
        }
        usleep(5000); /* or it would be taken for a flood */
    }
    cr_expect(federation_logged(&federation, "key-revoked", name, 0));
    cr_expect(federation_told(gone, "does not admit"), "%s", endpoint_trouble(gone));
    cr_expect_eq(federation_round_trip(gone, 500), -1, "what is asked from then on has no answer");
    endpoint_free(gone);
    return last_ms - revoked_ms;
}

static void start_four(void)
{
    federation_start(&federation, 4, NULL);
}

/* Three are revoked, one after the other: one of them within a second, so that a machine that stands still
 * is not taken for a coordinator that looks at its list too seldom. */
Test(admission, a_revocation_ends_a_live_connection_within_a_second, .init = start_four,
     .fini = teardown)
{
    struct endpoint *stays = federation_dial(&federation, &federation.agent[3]);
    cr_assert_geq(federation_round_trip(stays, PATIENCE_MS), 0);
    int64_t least_ms = INT64_MAX;
    for (int agent = 0; agent < 3; agent++) {
        int64_t answered_ms = answered_after_revocation_ms(agent);
        least_ms = answered_ms < least_ms ? answered_ms : least_ms;
        cr_expect_geq(federation_round_trip(stays, PATIENCE_MS), 0, "others' connections stay");
    }
    cr_expect_leq(least_ms, 1000);
    cr_expect(!federation_logged(&federation, "key-revoked", "a3", 0));
    endpoint_free(stays);
}

/* One that says nothing must not go on listening either. */
Test(admission, a_revocation_ends_a_silent_connection_too, .init = start_two, .fini = teardown)
{
    struct endpoint *silent = federation_dial(&federation, &federation.agent[0]);
    cr_assert_geq(federation_round_trip(silent, PATIENCE_MS), 0);
    federation_revoke(&federation, 0);
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (!endpoint_was_refused(silent) && clock_now_ms() < until_ms) {
        cr_assert_eq(endpoint_poll(silent, NULL, 0, 20), STATUS_OK);
    }
    cr_expect(endpoint_was_refused(silent));
    endpoint_free(silent);
}

/* Nobody answers for the older one here; test_rivals.c has those that do. */
Test(admission, a_newer_connection_takes_over_from_a_silent_one, .init = start_two,
     .fini = teardown)
{
    struct endpoint *old = federation_dial(&federation, &federation.agent[0]);
    cr_assert_geq(federation_round_trip(old, PATIENCE_MS), 0);
    struct endpoint *new = federation_dial(&federation, &federation.agent[0]);
    cr_expect_geq(federation_round_trip(new, PATIENCE_MS), 0);
    cr_expect_geq(federation_round_trip(new, PATIENCE_MS), 0);
    endpoint_free(old);
    cr_expect_geq(federation_round_trip(new, PATIENCE_MS), 0);
    endpoint_free(new);
}

Test(admission, keys_rotate_with_an_overlap, .init = start_two, .fini = teardown)
{
    cr_assert_eq(roster_add(federation.agents_path, "a0", &federation.agent[4].public_key, NULL),
                 STATUS_OK);
    struct endpoint *old = federation_dial(&federation, &federation.agent[0]);
    cr_assert_geq(federation_round_trip(old, PATIENCE_MS), 0);
    struct endpoint *new = federation_dial(&federation, &federation.agent[4]);
    cr_expect_geq(federation_round_trip(new, PATIENCE_MS), 0);
    endpoint_free(old);
    cr_assert_eq(roster_revoke(federation.agents_path, "a0", &federation.agent[0].public_key, NULL),
                 STATUS_OK);
    old = federation_dial(&federation, &federation.agent[0]);
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (!federation_told(old, "does not admit") && clock_now_ms() < until_ms) {
        usleep(50000); /* answered: the list has not been looked at yet */
    }
    cr_expect(endpoint_was_refused(old), "%s", endpoint_trouble(old));
    cr_expect_geq(federation_round_trip(new, PATIENCE_MS), 0, "the new key outlives the old one");
    endpoint_free(old);
    endpoint_free(new);
}

Test(admission, an_agent_with_the_wrong_coordinator_key_is_told_so, .init = start_two,
     .fini = teardown)
{
    struct endpoint *endpoint = NULL;
    struct endpoint_options options = {.address = federation.address,
                                       .key = &federation.agent[0],
                                       .payload_bytes_max = PAYLOAD_MAX,
                                       .coordinator_key = federation.agent[1].public_key};
    cr_assert_eq(endpoint_dial(&endpoint, &options, NULL), STATUS_OK);
    cr_expect(federation_told(endpoint, "coordinator.public_key"), "%s",
              endpoint_trouble(endpoint));
    endpoint_free(endpoint);
}

/* A web server where the coordinator should be, then the real one: libzmq alone would be lost. */
Test(admission, an_http_server_on_the_port_then_the_real_coordinator)
{
    /* An address of this process alone: nobody else can take the port between the two. */
    uint32_t loopback = INADDR_LOOPBACK + 1 + (uint32_t)getpid() % 0x7fffff * 2;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(loopback)};
    socklen_t size = sizeof here;
    struct key_pair coordinator;
    struct key_pair agent;
    struct endpoint *dialing = NULL;
    struct endpoint *listening = NULL;
    struct why why = {""};
    static struct roster roster;
    char address[64];
    int one = 1;

    cr_assert_eq(key_pair_generate(&coordinator), STATUS_OK);
    cr_assert_eq(key_pair_generate(&agent), STATUS_OK);
    int web = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(web, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    cr_assert_eq(bind(web, (struct sockaddr *)&here, sizeof here), 0);
    cr_assert_eq(listen(web, 10), 0);
    cr_assert_eq(getsockname(web, (struct sockaddr *)&here, &size), 0);
    snprintf(address, sizeof address, "tcp://%s:%u", inet_ntoa(here.sin_addr),
             ntohs(here.sin_port));
    struct endpoint_options options = {.address = address,
                                       .key = &agent,
                                       .payload_bytes_max = PAYLOAD_MAX,
                                       .coordinator_key = coordinator.public_key};
    cr_assert_eq(endpoint_dial(&dialing, &options, &why), STATUS_OK, "%s", why.text);
    static const char page[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    fcntl(web, F_SETFL, O_NONBLOCK);
    while (endpoint_trouble(dialing)[0] == '\0' && clock_now_ms() < until_ms) {
        int peer = accept(web, NULL, NULL);
        if (peer >= 0) {
            ssize_t put = write(peer, page, sizeof page - 1);
            (void)put;
            usleep(20000);
            close(peer);
        }
        cr_assert_eq(endpoint_poll(dialing, NULL, 0, 20), STATUS_OK);
    }
    cr_expect_not_null(strstr(endpoint_trouble(dialing), "coordinator.address"), "%s",
                       endpoint_trouble(dialing));
    close(web);
    options.key = &coordinator;
    cr_assert_eq(endpoint_listen(&listening, &options, &why), STATUS_OK, "%s", why.text);
    roster.count = 1;
    strcpy(roster.entry[0].name, "a");
    roster.entry[0].key = agent.public_key;
    endpoint_admit(listening, &roster);
    bool arrived = false;
    until_ms = clock_now_ms() + PATIENCE_MS;
    while (!arrived && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        (void)!endpoint_send(dialing, &(struct peer){"coordinator"}, (struct slice){"hi", 2},
                             (struct slice){NULL, 0});
        cr_assert_eq(endpoint_poll(dialing, NULL, 0, 20), STATUS_OK);
        cr_assert_eq(endpoint_poll(listening, NULL, 0, 20), STATUS_OK);
        arrived = endpoint_receive(listening, &message) == STATUS_OK;
    }
    cr_expect(arrived);
    endpoint_free(dialing);
    endpoint_free(listening);
}

Test(admission, addresses_are_judged_with_a_remedy)
{
    static const char *const wrong[] = {"",
                                        "host:7310",
                                        "tcp://",
                                        "tcp://host",
                                        "tcp://:7310",
                                        "tcp://host:",
                                        "tcp://host:99999",
                                        "tcp://host:7x",
                                        "tcp://2001:db8::1:7310",
                                        "tcp://[]:7310",
                                        "ipc:///tmp/x",
                                        "tcp://ho st:7310",
                                        "tcp://a@b:7310"};
    static const char *const right[] = {"tcp://host.example:7310", "tcp://127.0.0.1:0",
                                        "tcp://*:7310", "tcp://[2001:db8::1]:7310",
                                        "tcp://[fe80::1%eth0]:7310"};
    struct why why;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(endpoint_check_address(wrong[i], &why), STATUS_INVALID, "%s", wrong[i]);
        cr_expect_not_null(strstr(why.text, "tcp://host:7310"));
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        cr_expect_eq(endpoint_check_address(right[i], &why), STATUS_OK, "%s", right[i]);
    }
}

Test(admission, an_address_in_use_or_of_another_machine_is_told, .init = start_two,
     .fini = teardown)
{
    struct endpoint *endpoint = NULL;
    struct why why = {""};
    struct endpoint_options options = {.address = federation.address,
                                       .key = &federation.coordinator,
                                       .payload_bytes_max = PAYLOAD_MAX};
    cr_expect_eq(endpoint_listen(&endpoint, &options, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "another program listens"), "%s", why.text);
    cr_expect_null(endpoint);
    options.address = "tcp://192.0.2.1:7310";
    cr_expect_eq(endpoint_listen(&endpoint, &options, &why), STATUS_IO);
    cr_expect_not_null(strstr(why.text, "0.0.0.0"), "%s", why.text);
}

Test(admission, both_families_are_served)
{
    struct key_pair key;
    struct endpoint *listening = NULL;
    struct why why = {""};
    struct endpoint_options options = {
        .address = "tcp://[::1]:0", .key = &key, .payload_bytes_max = PAYLOAD_MAX};
    cr_assert_eq(key_pair_generate(&key), STATUS_OK);
    if (endpoint_listen(&listening, &options, &why) != STATUS_OK) {
        cr_skip_test("no IPv6 loopback here");
    }
    struct endpoint *dialing = NULL;
    options.address = endpoint_address(listening);
    options.coordinator_key = key.public_key;
    cr_assert_eq(endpoint_dial(&dialing, &options, &why), STATUS_OK, "%s", why.text);
    static struct roster roster = {.entry = {{.name = "self"}}, .count = 1};
    roster.entry[0].key = key.public_key;
    endpoint_admit(listening, &roster);
    bool arrived = false;
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (!arrived && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        (void)!endpoint_send(dialing, &(struct peer){"coordinator"}, (struct slice){"hi", 2},
                             (struct slice){NULL, 0});
        cr_assert_eq(endpoint_poll(dialing, NULL, 0, 10), STATUS_OK);
        cr_assert_eq(endpoint_poll(listening, NULL, 0, 10), STATUS_OK);
        arrived = endpoint_receive(listening, &message) == STATUS_OK;
    }
    cr_expect(arrived);
    endpoint_free(dialing);
    endpoint_free(listening);
}
