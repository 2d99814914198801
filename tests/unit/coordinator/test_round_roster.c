/* A roster that changes while a round is open: as many agents as the protocol knows have answered,
 * some are revoked, others admitted, and these answer as well. */

#include "coordinator/round.h"
#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 2, NEW_ONES = 3 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: roster\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n";

struct bench {
    struct job job;
    struct seeded_random seeded;
    struct random random;
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    int64_t now_ms;
    struct digest job_id;
    struct digest invitation;
    size_t commits;
    size_t released; /* messages that tell of a closed round, and the fullest step of them */
    size_t released_most;
    size_t released_before_end; /* when the program was told that it is over */
    bool ended;
    struct record committed; /* the last one */
};

static void count_releases(struct bench *bench)
{
    size_t count = 0;
    for (size_t i = 0; i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        struct message message;
        count +=
            effect->kind == EFFECT_SEND &&
            wire_decode(&message, effect->as.send.control, effect->as.send.payload) == STATUS_OK &&
            message.kind == MESSAGE_RELEASE;
    }
    bench->released += count;
    for (size_t i = 0; i < bench->effects.count && !bench->ended; i++) {
        bench->ended = bench->effects.item[i].kind == EFFECT_FINISH;
        bench->released_before_end = bench->released;
    }
    bench->released_most = count > bench->released_most ? count : bench->released_most;
}

static void step(struct bench *bench, struct event *event)
{
    bool durable = false;
    bool works = false;
    event->now_ms = bench->now_ms;
    effects_clear(&bench->effects);
    cr_assert_eq(bench->machine.step(bench->machine.self, event, &bench->effects), STATUS_OK);
    for (size_t i = 0; i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        if (effect->kind == EFFECT_COMMIT) {
            record_free(&bench->committed);
            cr_assert_eq(wire_decode_record(&bench->committed, effect->as.commit.body), STATUS_OK);
            bench->commits++;
            durable = true;
        }
        works = works || effect->kind == EFFECT_WORK;
    }
    if (works) {
        count_releases(bench);
        bench->machine.work(bench->machine.self);
        step(bench, &(struct event){.kind = EVENT_WORKED});
        return;
    }
    if (durable) {
        struct event committed = {.kind = EVENT_COMMITTED, .now_ms = bench->now_ms};
        committed.as.committed.sequence = bench->commits;
        effects_clear(&bench->effects);
        cr_assert_eq(bench->machine.step(bench->machine.self, &committed, &bench->effects),
                     STATUS_OK);
    }
    count_releases(bench);
}

static struct peer peer_of(size_t number)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "agent-%05zu", number);
    return peer;
}

static void admit(struct bench *bench, size_t first)
{
    struct peer peer[PEERS_MAX];
    struct event event = {.kind = EVENT_ROSTER, .as.roster = {.peer = peer, .count = PEERS_MAX}};
    for (size_t i = 0; i < PEERS_MAX; i++) {
        peer[i] = peer_of(first + i);
    }
    step(bench, &event);
}

static void say(struct bench *bench, size_t agent, const struct message *message,
                struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = peer_of(agent);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(bench, &event);
}

static void answer(struct bench *bench, size_t agent)
{
    const uint8_t bytes[8 * DIM] = {1};
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello.job = bench->job_id};
    struct message offer = {.kind = MESSAGE_OFFER, .as.offer.job = bench->job_id};
    struct message chunk = {.kind = MESSAGE_CHUNK, .as.chunk.job = bench->job_id};
    struct slice payload = {bytes, sizeof bytes};
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.ready = true;
    offer.as.offer.invitation = bench->invitation;
    offer.as.offer.bytes = sizeof bytes;
    digest_sha256(&offer.as.offer.answer, &payload, 1);
    say(bench, agent, &hello, (struct slice){0});
    say(bench, agent, &offer, (struct slice){0});
    say(bench, agent, &chunk, payload);
}

static void bench_init(struct bench *bench)
{
    struct why why = {{0}};
    struct slice text = {TEXT, sizeof TEXT - 1};
    struct artifact none = {0};
    uint8_t named[INVITATION_BYTES];
    memset(bench, 0, sizeof *bench);
    cr_assert_eq(job_parse(&bench->job, text, "job", &why), STATUS_OK, "%s", why.text);
    seeded_random_init(&bench->seeded, 1);
    bench->random = seeded_random_interface(&bench->seeded);
    struct coordinator_options options = {
        .job = &bench->job, .text = text, .random = &bench->random, .answer_bytes_max = 1 << 20};
    cr_assert_eq(coordinator_new(&bench->coordinator, &options), STATUS_OK);
    bench->machine = coordinator_machine(bench->coordinator);
    cr_assert_eq(effects_init(&bench->effects, 1 << 18), STATUS_OK);
    step(bench, &(struct event){.kind = EVENT_START});
    bench->job_id = bench->committed.as.job.job.id;
    invitation_bytes(named, &bench->job_id, 0, &none);
    digest_sha256(&bench->invitation, &(struct slice){named, sizeof named}, 1);
}

Test(round_roster, never_counts_more_answers_than_an_outcome_can_name)
{
    struct bench bench;
    bench_init(&bench);
    admit(&bench, 0);
    for (size_t agent = 0; agent + 1 < PEERS_MAX; agent++) {
        answer(&bench, agent); /* all but the last: the round stays open */
    }
    cr_assert_eq(bench.commits, 1);
    admit(&bench, NEW_ONES); /* the first are revoked, their answers count; as many are new */
    answer(&bench, PEERS_MAX - 1);
    cr_assert_eq(bench.commits, 2, "nobody else can count: the new ones pay nothing");
    cr_assert_eq(bench.committed.kind, RECORD_ROUND);
    cr_assert_not(bench.committed.as.round.failed);
    cr_assert_eq(bench.committed.as.round.agent_count, PEERS_MAX);
    /* A step has no room for all: the others are told in the next ones, each once. */
    cr_assert_lt(bench.released_most, EFFECTS_MAX);
    for (int i = 0; i < PEERS_MAX && bench.machine.wake_ms(bench.machine.self) <= bench.now_ms;
         i++) {
        step(&bench, &(struct event){.kind = EVENT_TICK});
    }
    cr_assert_eq(bench.released, PEERS_MAX - NEW_ONES, "%zu were told: the new ones have not come",
                 bench.released);
    record_free(&bench.committed);
    coordinator_free(bench.coordinator);
    effects_free(&bench.effects);
    job_free(&bench.job);
}

/* A site that is not told keeps an answer for a coordinator that is gone. linger_s may be 0, and one step has no room
 * for all messages. */
Test(round_roster, all_are_told_of_the_last_round_before_the_end_also_without_linger)
{
    struct bench bench;
    bench_init(&bench);
    admit(&bench, 0);
    for (size_t agent = 0; agent < PEERS_MAX; agent++) {
        answer(&bench, agent);
    }
    cr_assert_eq(bench.commits, 2, "the job's only round is closed");
    for (int i = 0; i < PEERS_MAX && !bench.ended; i++) {
        step(&bench, &(struct event){.kind = EVENT_TICK});
    }
    cr_assert(bench.ended);
    cr_assert_eq(bench.released_before_end, PEERS_MAX, "%zu were told", bench.released_before_end);
    record_free(&bench.committed);
    coordinator_free(bench.coordinator);
    effects_free(&bench.effects);
    job_free(&bench.job);
}

static void offer_only(struct bench *bench, size_t agent)
{
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello.job = bench->job_id};
    struct message offer = {.kind = MESSAGE_OFFER, .as.offer.job = bench->job_id};
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.ready = true;
    offer.as.offer.invitation = bench->invitation;
    offer.as.offer.answer.byte[0] = 1;
    offer.as.offer.bytes = 8 * DIM;
    say(bench, agent, &hello, (struct slice){0});
    say(bench, agent, &offer, (struct slice){0});
}

static bool is_sent(const struct bench *bench, size_t agent, enum message_kind kind)
{
    struct peer peer = peer_of(agent);
    for (size_t i = 0; i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        struct message message;
        if (effect->kind == EFFECT_SEND && strcmp(effect->as.send.peer.name, peer.name) == 0 &&
            wire_decode(&message, effect->as.send.control, (struct slice){0}) == STATUS_OK &&
            message.kind == kind) {
            return true;
        }
    }
    return false;
}

static void greet(struct bench *bench, size_t agent)
{
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello.job = bench->job_id};
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.ready = true;
    say(bench, agent, &hello, (struct slice){0});
}

/* A fair part of the deadline is 2 ms where 10,000 are ready: no answer comes so soon. */
Test(round_roster, where_thousands_are_ready_a_turn_is_half_a_second)
{
    enum { PLACES = 4, TURN_MS = 500 };
    struct bench bench;
    bench_init(&bench);
    admit(&bench, 0);
    for (size_t agent = 0; agent < PEERS_MAX; agent++) {
        greet(&bench, agent);
    }
    for (size_t agent = 0; agent <= PLACES; agent++) {
        offer_only(&bench, agent);
    }
    cr_assert_not(is_sent(&bench, PLACES, MESSAGE_PULL), "all places are taken");
    bench.now_ms += TURN_MS;
    step(&bench, &(struct event){.kind = EVENT_TICK});
    cr_assert_not(is_sent(&bench, PLACES, MESSAGE_PULL), "their turn is not over");
    bench.now_ms += 2;
    step(&bench, &(struct event){.kind = EVENT_TICK});
    cr_assert(is_sent(&bench, PLACES, MESSAGE_PULL));
    record_free(&bench.committed);
    coordinator_free(bench.coordinator);
    effects_free(&bench.effects);
    job_free(&bench.job);
}

/* A site that offers and never delivers holds a place, and others wait. The time that it may hold it
 * decides how many such sites can keep the honest ones out until the deadline. */
Test(round_roster, those_who_offer_and_never_deliver_make_others_wait_for_one_pause_only)
{
    enum { SILENT = 4, HONEST = SILENT, PAUSE_MS = 2000 };
    struct bench bench;
    bench_init(&bench);
    admit(&bench, 0);
    for (size_t agent = 0; agent <= HONEST; agent++) {
        offer_only(&bench, agent);
    }
    cr_assert_not(is_sent(&bench, HONEST, MESSAGE_PULL), "all places are taken");
    bench.now_ms += PAUSE_MS;
    step(&bench, &(struct event){.kind = EVENT_TICK});
    cr_assert(is_sent(&bench, HONEST, MESSAGE_PULL));
    for (size_t agent = 0; agent < SILENT; agent++) {
        cr_assert(is_sent(&bench, agent, MESSAGE_INVITE), "it may have begun anew: asked again");
    }
    record_free(&bench.committed);
    coordinator_free(bench.coordinator);
    effects_free(&bench.effects);
    job_free(&bench.job);
}
