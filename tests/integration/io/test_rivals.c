/* Two connections under one key: an agent that answers keeps its place against any later one. */

#include "federation.h"

#include "io/challenge.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>

/* An agent's end. The test says which messages it answers. */
struct acting {
    struct endpoint *endpoint;
    bool dumb;              /* it does not answer challenges */
    int64_t answer_late_ms; /* nor before this time */
    int64_t challenged_ms;  /* 0: not yet */
    uint64_t number;        /* of the challenge to answer; 0: none */
    int64_t spoke_ms;
    size_t echoes; /* of its own messages */
    size_t told;   /* that the key is in use */
};

static struct federation federation;

static void start_two(void)
{
    federation_start(&federation, 2, NULL);
}

static void teardown(void)
{
    federation_stop(&federation);
}

static struct acting dial(void)
{
    return (struct acting){.endpoint = federation_dial(&federation, &federation.agent[0])};
}

static void say(struct acting *acting, const struct message *message)
{
    static const struct peer coordinator = {"coordinator"};
    uint8_t control[CONTROL_BYTES_MAX];
    size_t size = wire_encode(control, message);
    (void)!endpoint_send(acting->endpoint, &coordinator, (struct slice){control, size},
                         (struct slice){NULL, 0});
}

static void hear(struct acting *acting)
{
    struct endpoint_message from;
    struct message message;
    while (endpoint_receive(acting->endpoint, &from) == STATUS_OK) {
        if (wire_decode(&message, from.control, from.payload) != STATUS_OK) {
            continue;
        }
        acting->echoes += message.kind == MESSAGE_HELLO ? 1 : 0;
        acting->told += message.kind == MESSAGE_KEY_IN_USE ? 1 : 0;
        if (message.kind == MESSAGE_CHALLENGE && !acting->dumb) {
            acting->number = message.as.challenge.number;
            acting->challenged_ms =
                acting->challenged_ms == 0 ? clock_now_ms() : acting->challenged_ms;
        }
    }
}

/* Says HELLO at intervals, and listens. */
static void act(struct acting *acting, int64_t hello_ms)
{
    const struct message hello = {.kind = MESSAGE_HELLO, .as.hello.version = PROTOCOL_VERSION};
    int64_t now_ms = clock_now_ms();

    cr_assert_eq(endpoint_poll(acting->endpoint, NULL, 0, 10), STATUS_OK);
    hear(acting);
    if (now_ms - acting->spoke_ms >= hello_ms) {
        acting->spoke_ms = now_ms;
        say(acting, &hello);
    }
    if (acting->number != 0 && now_ms - acting->challenged_ms >= acting->answer_late_ms) {
        const struct message present = {.kind = MESSAGE_PRESENT,
                                        .as.present.number = acting->number};
        say(acting, &present);
        acting->number = 0;
    }
}

static void until_echo(struct acting *acting)
{
    size_t before = acting->echoes;
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (acting->echoes == before && clock_now_ms() < until_ms) {
        act(acting, 100);
    }
    cr_assert_gt(acting->echoes, before);
}

/* Both speak until the newer one is told or is served; returns how long that took. */
static int64_t meet(struct acting *older, struct acting *newer, int64_t older_hello_ms)
{
    int64_t began_ms = clock_now_ms();
    while (newer->told == 0 && newer->echoes == 0 && clock_now_ms() - began_ms < PATIENCE_MS) {
        act(older, older_hello_ms);
        act(newer, 100);
    }
    cr_assert(newer->told > 0 || newer->echoes > 0);
    return clock_now_ms() - began_ms;
}

Test(rivals, an_agent_that_answers_keeps_its_place, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    until_echo(&older);
    for (int i = 0; i < 3; i++) {
        struct acting newer = dial();
        (void)meet(&older, &newer, 100);
        cr_expect_eq(newer.told, 1);
        cr_expect_eq(newer.echoes, 0, "nothing of the newer one was heard");
        endpoint_free(newer.endpoint);
        until_echo(&older);
    }
    cr_expect_eq(older.told, 0);
    cr_expect(federation_logged(&federation, "key-in-use", "a0", 0));
    cr_expect(!federation_logged(&federation, "connection-replaced", "a0", 0));
    endpoint_free(older.endpoint);
}

/* The newer one keeps trying. The older one is not disturbed, and the newer one gets in once the place
 * is free. */
Test(rivals, one_that_insists_gets_in_when_the_place_is_free, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    struct acting newer = dial();
    until_echo(&older);
    int64_t until_ms = clock_now_ms() + 3000;
    while (clock_now_ms() < until_ms) {
        act(&older, 100);
        act(&newer, 100);
    }
    cr_expect_geq(newer.told, 1);
    cr_expect_eq(newer.echoes, 0);
    until_echo(&older);
    cr_expect_eq(older.told, 0);
    endpoint_free(older.endpoint);
    until_echo(&newer);
    cr_expect(!federation_logged(&federation, "connection-replaced", "a0", 0));
    endpoint_free(newer.endpoint);
}

/* As if a machine had lost its power: nothing comes any more, and the connection stays. */
Test(rivals, a_silent_connection_loses_its_place, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    struct acting newer = dial();
    until_echo(&older);
    older.dumb = true;
    int64_t took_ms = meet(&older, &newer, PATIENCE_MS);
    cr_expect_eq(newer.told, 0);
    cr_expect_geq(took_ms, CHALLENGE_SILENCE_MS - 100);
    cr_expect(federation_logged(&federation, "connection-replaced", "a0", 0));
    /* It wakes, and is the newer one now. */
    older.dumb = false;
    older.echoes = 0;
    (void)meet(&newer, &older, 100);
    cr_expect_eq(older.told, 1);
    until_echo(&newer);
    endpoint_free(older.endpoint);
    endpoint_free(newer.endpoint);
}

/* An agent that hears nothing connects again. This does not restart the older one's time. */
Test(rivals, a_newer_one_may_connect_anew_while_it_waits, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    struct acting newer = dial();
    until_echo(&older);
    older.dumb = true;
    int64_t began_ms = clock_now_ms();
    int64_t anew_ms = began_ms;
    while (newer.echoes == 0 && clock_now_ms() - began_ms < PATIENCE_MS) {
        act(&older, PATIENCE_MS);
        act(&newer, 50);
        if (clock_now_ms() - anew_ms >= 1000) {
            anew_ms = clock_now_ms();
            endpoint_free(newer.endpoint);
            newer = dial();
        }
    }
    cr_expect_gt(newer.echoes, 0);
    cr_expect_eq(newer.told, 0);
    endpoint_free(older.endpoint);
    endpoint_free(newer.endpoint);
}

/* The answer comes while the newer one is away: it is told as soon as it is back, though it leaves again before
 * another answer could come. */
Test(rivals, one_that_was_away_when_the_answer_came_is_told, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    until_echo(&older);
    older.answer_late_ms = 300;
    struct acting newer = dial();
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (older.challenged_ms == 0 && clock_now_ms() < until_ms) {
        act(&older, 100);
        act(&newer, 100);
    }
    cr_assert_gt(older.challenged_ms, 0);
    cr_expect_eq(newer.told, 0);
    endpoint_free(newer.endpoint);
    while (older.number != 0) {
        act(&older, 100);
    }
    until_echo(&older); /* its answer has come before */
    older.dumb = true;
    newer = dial();
    int64_t took_ms = meet(&older, &newer, 100);
    cr_expect_eq(newer.told, 1);
    cr_expect_eq(newer.echoes, 0);
    cr_expect_lt(took_ms, CHALLENGE_PATIENCE_MS / 3);
    endpoint_free(newer.endpoint);
    endpoint_free(older.endpoint);
}

Test(rivals, an_agent_that_was_restarted_does_not_wait, .init = start_two, .fini = teardown)
{
    int64_t least_ms = INT64_MAX;
    for (int i = 0; i < 4; i++) {
        struct acting one = dial();
        int64_t began_ms = clock_now_ms();
        until_echo(&one);
        least_ms = clock_now_ms() - began_ms < least_ms ? clock_now_ms() - began_ms : least_ms;
        cr_expect_eq(one.told, 0);
        endpoint_free(one.endpoint);
    }
    cr_expect_lt(least_ms, CHALLENGE_SILENCE_MS);
    cr_expect(!federation_logged(&federation, "connection-replaced", "a0", 0));
}

/* A link on which an answer takes four seconds, and a heartbeat comes every two. */
Test(rivals, a_slow_agent_keeps_its_place, .init = start_two, .fini = teardown)
{
    struct acting older = dial();
    struct acting newer = dial();
    until_echo(&older);
    older.answer_late_ms = 4000;
    int64_t took_ms = meet(&older, &newer, 2000);
    cr_expect_eq(newer.told, 1);
    cr_expect_geq(took_ms, 4000);
    cr_expect_eq(older.told, 0);
    endpoint_free(older.endpoint);
    endpoint_free(newer.endpoint);
}

/* One waits, the others are cut: a key has two connections at most, and others are served as before. */
Test(rivals, many_connections_under_one_key_harm_nobody_else, .init = start_two, .fini = teardown)
{
    enum { RIVALS = 6 };
    struct acting older = dial();
    struct acting rival[RIVALS];
    struct endpoint *other = federation_dial(&federation, &federation.agent[1]);
    until_echo(&older);
    older.dumb = true; /* so that the challenge lasts */
    for (int i = 0; i < RIVALS; i++) {
        rival[i] = dial();
    }
    size_t served = 0;
    int64_t until_ms = clock_now_ms() + 2000;
    while (clock_now_ms() < until_ms) {
        act(&older, 100);
        for (int i = 0; i < RIVALS; i++) {
            act(&rival[i], 100);
        }
        cr_expect_geq(federation_round_trip(other, PATIENCE_MS), 0);
    }
    for (int i = 0; i < RIVALS; i++) {
        served += rival[i].echoes;
        endpoint_free(rival[i].endpoint);
    }
    cr_expect_eq(served, 0);
    until_echo(&older);
    endpoint_free(older.endpoint);
    endpoint_free(other);
}
