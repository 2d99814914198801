/* Where sites look by turns: three of five that are here look first, whoever else is on the list. The others keep their groups in the
 * second look, also where the coordinator begins anew before it or in it. The record tells who looked. */

#include "coordinator/round_state.h"
#include "crypto/digest.h"
#include "job/round.h"
#include "protocol/wire.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 10, COLUMNS = 40, KEPT_MAX = 8, TEXT_BYTES = 4096, LOOKS = 2, DEADLINE_MS = 10000 };
enum { NO_SLOT = 1000000 };

struct site {
    bool here;
    bool looked;
    uint32_t slot[LOOKS]; /* as it was told last in each round, or NO_SLOT */
    bool answered[LOOKS];
};

static struct {
    struct job job;
    char text[TEXT_BYTES];
    struct seeded_random seeded;
    struct random random;
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    struct site site[LISTED];
    struct slice body[KEPT_MAX]; /* the journal, owned */
    struct slice blob[KEPT_MAX];
    size_t kept_count;
    int64_t now_ms;
    size_t collectors;
} bench;

static struct peer peer_of(size_t site)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "site-%zu", site);
    return peer;
}

static struct slice copy_of(struct slice from)
{
    uint8_t *copy = malloc(from.size + 1);
    cr_assert_not_null(copy);
    if (from.size > 0) {
        memcpy(copy, from.data, from.size);
    }
    return (struct slice){copy, from.size};
}

static void hear(const struct effect *effect)
{
    struct message message;
    cr_assert_eq(wire_decode(&message, effect->as.send.control, effect->as.send.payload),
                 STATUS_OK);
    const size_t site = (size_t)(effect->as.send.peer.name[5] - '0');
    if (message.kind == MESSAGE_INVITE) {
        bench.site[site].slot[message.as.invite.round] = message.as.invite.slot;
    }
}

static void step(struct event event)
{
    size_t durable = 0;
    bool works = false;
    event.now_ms = bench.now_ms;
    effects_clear(&bench.effects);
    cr_assert_eq(bench.machine.step(bench.machine.self, &event, &bench.effects), STATUS_OK);
    for (size_t i = 0; i < bench.effects.count; i++) {
        const struct effect *effect = &bench.effects.item[i];
        if (effect->kind == EFFECT_COMMIT) {
            cr_assert_lt(bench.kept_count, KEPT_MAX);
            bench.body[bench.kept_count] = copy_of(effect->as.commit.body);
            bench.blob[bench.kept_count++] = copy_of(effect->as.commit.blob);
            durable = bench.kept_count;
        } else if (effect->kind == EFFECT_SEND) {
            hear(effect);
        }
        works = works || effect->kind == EFFECT_WORK;
    }
    if (works) {
        bench.machine.work(bench.machine.self);
        step((struct event){.kind = EVENT_WORKED});
    } else if (durable > 0) {
        step((struct event){.kind = EVENT_COMMITTED, .as.committed.sequence = durable});
    }
}

static const struct peer far_away[] = {{"far"}};

static void start(void)
{
    struct peer roster[LISTED];
    const struct coordinator_options options = {.job = &bench.job,
                                                .text = {bench.text, strlen(bench.text)},
                                                .random = &bench.random,
                                                .collectors = far_away,
                                                .collectors_count = bench.collectors,
                                                .answer_bytes_max = 1 << 20,
                                                .whole_bytes_max = WHOLE_BYTES_MAX,
                                                .linger_ms = 1000};
    cr_assert_eq(coordinator_new(&bench.coordinator, &options), STATUS_OK);
    bench.machine = coordinator_machine(bench.coordinator);
    for (size_t i = 0; i < bench.kept_count; i++) {
        step((struct event){
            .kind = EVENT_RECORD,
            .as.record = {.sequence = i + 1, .body = bench.body[i], .blob = bench.blob[i]}});
    }
    step((struct event){.kind = EVENT_START});
    for (size_t i = 0; i < LISTED; i++) {
        roster[i] = peer_of(i);
    }
    step((struct event){.kind = EVENT_ROSTER, .as.roster = {roster, LISTED}});
}

static void begin_with(size_t collectors)
{
    struct why why = {{0}};
    memset(&bench, 0, sizeof bench);
    bench.collectors = collectors;
    size_t used = (size_t)snprintf(
        bench.text, TEXT_BYTES,
        "hedgerow: 1\njob: t\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n");
    for (int j = 0; j < COLUMNS; j++) {
        used += (size_t)snprintf(bench.text + used, TEXT_BYTES - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(bench.text + used, TEXT_BYTES - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                   "cohort: {minimum: 5, records: 90, join_deadline_s: 10, deadline_s: 10}\n"
                   "stages: [{task: learn}]\n");
    cr_assert_eq(job_parse(&bench.job, (struct slice){bench.text, strlen(bench.text)}, "t", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(bench.job.stage->turns, LOOKS);
    seeded_random_init(&bench.seeded, 1);
    bench.random = seeded_random_interface(&bench.seeded);
    cr_assert_eq(effects_init(&bench.effects, 1 << 18), STATUS_OK);
    for (size_t i = 0; i < LISTED; i++) {
        bench.site[i].slot[0] = bench.site[i].slot[1] = NO_SLOT;
    }
    start();
}

static void begin(void)
{
    begin_with(0);
}

static void restart(void)
{
    coordinator_free(bench.coordinator);
    start();
}

static void end(void)
{
    coordinator_free(bench.coordinator);
    effects_free(&bench.effects);
    for (size_t i = 0; i < bench.kept_count; i++) {
        free((void *)(uintptr_t)bench.body[i].data);
        free((void *)(uintptr_t)bench.blob[i].data);
    }
    job_free(&bench.job);
}

static void say(size_t site, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = peer_of(site);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(event);
}

static void greet(size_t site)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.job = bench.coordinator->outcome.job_name.id;
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.rounds_closed = bench.coordinator->outcome.rounds_closed;
    hello.as.hello.ready = true;
    bench.site[site].here = true;
    say(site, &hello, (struct slice){0});
}

static uint32_t group_of(const struct site *site, uint32_t round)
{
    return round_group(bench.job.stage, round, site->slot[round]);
}

/* So long the first round waits for those who are not here. */
static void gather(void)
{
    bench.now_ms += GATHER_MS;
    step((struct event){.kind = EVENT_TICK});
}

/* As an agent does: in the first round by its slot, in the second if it has not looked. The rest of an answer is zeros. */
static void answer(size_t at)
{
    struct coordinator *c = bench.coordinator;
    struct site *site = &bench.site[at];
    const uint32_t round = c->outcome.rounds_closed;
    const struct round_groups groups = round_groups(bench.job.stage, round);
    const bool looks =
        round == 0 ? round_is_turn(bench.job.stage, 0, site->slot[0]) : !site->looked;
    const size_t size = c->aggregate.form.word_bytes;
    const size_t count = c->aggregate.count;
    uint8_t *words = calloc(count, size);
    cr_assert(words != NULL && site->slot[round] != NO_SLOT);
    const size_t tally = groups.count * groups.own + 2 * group_of(site, round);
    if (looks) {
        words[tally * size] = 90;
        words[(tally + 1) * size] = 1;
    }
    site->looked = site->looked || looks;
    site->answered[round] = true;
    struct message offer = {.kind = MESSAGE_OFFER};
    const struct slice bytes = {words, count * size};
    offer.as.offer.job = c->outcome.job_name.id;
    offer.as.offer.round = round;
    offer.as.offer.invitation = c->invitation;
    offer.as.offer.bytes = bytes.size;
    offer.as.offer.records = 90;
    digest_tree(&offer.as.offer.answer, bytes);
    say(at, &offer, bytes);
    free(words);
}

static struct record last(void)
{
    struct record record;
    cr_assert_eq(wire_decode_record(&record, bench.body[bench.kept_count - 1]), STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ROUND);
    return record;
}

static void come(const size_t *who, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        greet(who[i]);
    }
    gather();
}

/* The round waits for those who are not here, until its deadline. */
static void answer_all(const size_t *who, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        answer(who[i]);
    }
    bench.now_ms += DEADLINE_MS;
    step((struct event){.kind = EVENT_TICK});
}

/* Half of those on the list are here, at places of which none or all would look first if places counted. */
Test(round_turns, three_of_five_that_are_here_look_first)
{
    static const size_t here[][5] = {{0, 2, 4, 5, 7}, {1, 3, 6, 8, 9}, {0, 1, 2, 3, 4}};
    for (size_t k = 0; k < 3; k++) {
        begin();
        come(here[k], 5);
        size_t first = 0;
        unsigned groups = 0;
        for (size_t i = 0; i < 5; i++) {
            const struct site *site = &bench.site[here[k][i]];
            if (round_is_turn(bench.job.stage, 0, site->slot[0])) {
                first++;
                groups |= 1U << group_of(site, 0);
            }
        }
        cr_expect(first == 3 && groups == 7, "%zu: %zu look first, groups %x", k, first, groups);
        answer_all(here[k], 5);
        const struct record one = last();
        cr_expect(one.as.round.agent_count == 5 && one.as.round.away_count == 2, "%u are away",
                  one.as.round.away_count);
        groups = 0;
        for (size_t i = 0; i < 5; i++) {
            const struct site *site = &bench.site[here[k][i]];
            groups |= site->looked ? 0 : 1U << group_of(site, 1);
        }
        cr_expect_eq(groups, 3, "%zu: each has a group of the second look", k);
        answer_all(here[k], 5);
        const struct record two = last();
        cr_expect(two.as.round.agent_count == 5 && two.as.round.away_count == 3);
        cr_expect_not(bench.coordinator->outcome.failed);
        struct record copies[] = {one, two};
        record_free(&copies[0]);
        record_free(&copies[1]);
        end();
    }
}

/* Before the second look or in the middle of it; the sites come back in another order, and one that was not there comes first. */
Test(round_turns, a_site_of_the_second_look_keeps_its_group_after_a_restart)
{
    static const size_t here[] = {1, 3, 4, 6, 7, 8, 9}; /* four look first, three are left */
    static const size_t back[] = {0, 9, 8, 7, 6, 4, 3, 1};
    for (int middle = 0; middle < 2; middle++) {
        uint32_t before[LISTED];
        begin();
        come(here, 7);
        answer_all(here, 7);
        for (size_t i = 0; i < LISTED; i++) {
            before[i] = bench.site[i].slot[1];
        }
        if (middle == 1) {
            answer(here[1]);
        }
        restart();
        come(back, 8);
        size_t left = 0;
        for (size_t i = 0; i < 7; i++) {
            const struct site *site = &bench.site[here[i]];
            if (!site->looked || site->answered[1]) {
                cr_expect_eq(site->slot[1], before[here[i]], "%d: site %zu", middle, here[i]);
            }
            left += !site->looked;
        }
        cr_expect_eq(left, middle == 1 && bench.site[here[1]].answered[1] ? 2 : 3);
        cr_expect(round_is_turn(bench.job.stage, 1, bench.site[0].slot[1]), "the new one looks");
        for (size_t i = 0; i < 7; i++) {
            cr_expect_neq(bench.site[0].slot[1], bench.site[here[i]].slot[1]);
        }
        end();
    }
}

/* A round opens when enough are ready. One that is shared out waits a moment longer for the others, so that slots do not depend on who was
 * first: before a restart and after it they are the same. */
Test(round_turns, sites_get_the_same_slots_in_any_order_of_coming)
{
    static const size_t orders[][7] = {
        {1, 2, 3, 4, 6, 8, 9}, {9, 8, 6, 4, 3, 2, 1}, {6, 1, 9, 3, 2, 8, 4}};
    uint32_t slots[LISTED];
    begin();
    for (size_t k = 0; k < 3; k++) {
        come(orders[k], 7);
        for (size_t i = 0; i < LISTED; i++) {
            cr_expect(k == 0 || bench.site[i].slot[0] == slots[i], "%zu, site %zu", k, i);
            slots[i] = bench.site[i].slot[0];
        }
        answer(orders[k][k]); /* the others have not, when the coordinator dies */
        restart();
    }
    end();
}

Test(round_turns, a_round_waits_no_longer_where_all_are_here)
{
    begin();
    for (size_t i = 0; i < LISTED; i++) {
        cr_expect_eq(bench.coordinator->phase, PHASE_JOINING, "%zu", i);
        cr_expect_gt(bench.machine.wake_ms(bench.machine.self), bench.now_ms);
        greet(i);
    }
    cr_expect_eq(bench.coordinator->phase, PHASE_OPEN);
    end();
}

/* What its answer says counts, and not the slot that it was given: after a restart in the first look that may be another one. */
Test(round_turns, who_has_looked_is_known_by_the_answers)
{
    static const size_t here[] = {0, 1, 2, 3, 4};
    static const size_t back[] = {1, 2, 3, 4, 5};
    begin();
    come(here, 5); /* 0, 2 and 4 are to look */
    answer(0);
    answer(1);
    restart();
    come(back, 5); /* 1, 3 and 5 now; 0 comes later */
    greet(0);
    bench.site[1].slot[0] = 1; /* it has been away, and sends the same again */
    bench.site[0].slot[0] = 0;
    answer_all((const size_t[]){0, 1, 2, 3, 4, 5}, 6);
    const struct record record = last();
    cr_assert_eq(record.as.round.agent_count, 6);
    for (size_t i = 0; i < 6; i++) {
        bool away = false;
        for (uint32_t k = 0; k < record.as.round.away_count; k++) {
            away = away || strcmp(record.as.round.away[k].name, peer_of(i).name) == 0;
        }
        cr_expect_eq(away, !bench.site[i].looked, "site %zu", i);
    }
    struct record copy = record;
    record_free(&copy);
    end();
}

/* A collector's answers are added up, and it says who of its sites did not look. */
static void bring(const char *looked, const char *away)
{
    const struct coordinator *c = bench.coordinator;
    const struct round_groups groups = round_groups(bench.job.stage, 0);
    const size_t count = c->aggregate.count;
    int64_t *sum = calloc(count, sizeof *sum);
    struct peer agent[2] = {{{0}}};
    struct record part = {.kind = RECORD_PARTIAL};
    uint8_t *body = NULL;
    size_t size = 0;
    cr_assert_not_null(sum);
    sum[groups.count * groups.own] = 90;
    sum[groups.count * groups.own + 1] = 1;
    (void)snprintf(agent[0].name, sizeof agent[0].name, "%s", looked);
    (void)snprintf(agent[1].name, sizeof agent[1].name, "%s", away);
    part.as.partial.job = c->outcome.job_name.id;
    (void)snprintf(part.as.partial.collector, sizeof part.as.partial.collector, "far");
    part.as.partial.agent = agent;
    part.as.partial.agent_count = 2;
    part.as.partial.away = agent + 1;
    part.as.partial.away_count = 1;
    part.as.partial.records = 180;
    part.as.partial.blob_bytes = count * sizeof *sum;
    cr_assert_eq(wire_encode_record(&body, &size, &part), STATUS_OK);
    step((struct event){.kind = EVENT_PARTIAL,
                        .as.partial = {.collector = far_away[0],
                                       .body = {body, size},
                                       .blob = {sum, count * sizeof *sum}}});
    free(body);
    free(sum);
}

Test(round_turns, what_a_collector_brings_says_who_looked)
{
    static const size_t here[] = {5, 6, 7, 8, 9};
    begin_with(1);
    come(here, 5); /* 5, 7 and 9 look */
    bring("far-1", "far-2");
    answer_all(here, 5);
    const struct record record = last();
    static const char *const away[] = {"far-2", "site-6", "site-8"};
    cr_assert(record.as.round.agent_count == 7 && record.as.round.away_count == 3, "%u of %u",
              record.as.round.away_count, record.as.round.agent_count);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_str_eq(record.as.round.away[i].name, away[i]);
    }
    cr_expect_eq(bench.site[6].slot[1], round_turn_slot(1, 1), "behind the collector's");
    cr_expect_eq(bench.site[8].slot[1], round_turn_slot(1, 2));
    struct record copy = record;
    record_free(&copy);
    end();
}
