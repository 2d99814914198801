/* Where sites look by turns and a collector gathers some of the answers: the round's record tells of all sites who has looked, of the
 * collector's too, and in the second look both give the slots of one list. */

#define _GNU_SOURCE /* memmem */

#include "coordinator/round_state.h"
#include "crypto/digest.h"
#include "job/round.h"
#include "protocol/wire.h"
#include "tests/support/seeded_random.h"
#include "turns.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 8, OWN = 4, COLUMNS = 40, KEPT_MAX = 8, TEXT_BYTES = 4096, LEFT_MS = 10000 };
enum { LEAD, EAST, SIDES };

static const struct peer names[] = {{"east"}};

/* Sites 0 to 3 speak to the one that leads, 4 to 7 to the collector. */
static struct side {
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    struct slice body[KEPT_MAX]; /* what it committed, owned */
    struct slice blob[KEPT_MAX];
    size_t kept_count;
} side[SIDES];

static struct job job;
static char text[TEXT_BYTES];
static struct seeded_random seeded;
static struct random source;
static bool looked[SITES];
static uint32_t slot[SITES]; /* as it was told last */

static void hear(const struct effect *effect)
{
    struct message message;
    cr_assert_eq(wire_decode(&message, effect->as.send.control, effect->as.send.payload),
                 STATUS_OK);
    if (message.kind == MESSAGE_INVITE) {
        slot[effect->as.send.peer.name[5] - '0'] = message.as.invite.slot;
    }
}

static void step(struct side *one, struct event event)
{
    size_t durable = 0;
    bool works = false;
    effects_clear(&one->effects);
    cr_assert_eq(one->machine.step(one->machine.self, &event, &one->effects), STATUS_OK);
    for (size_t i = 0; i < one->effects.count; i++) {
        const struct effect *effect = &one->effects.item[i];
        if (effect->kind == EFFECT_COMMIT) {
            cr_assert_lt(one->kept_count, KEPT_MAX);
            one->body[one->kept_count] = turns_copy(effect->as.commit.body);
            one->blob[one->kept_count++] = turns_copy(effect->as.commit.blob);
            durable = one->kept_count;
        } else if (effect->kind == EFFECT_SEND) {
            hear(effect);
        }
        works = works || effect->kind == EFFECT_WORK;
    }
    if (works) {
        one->machine.work(one->machine.self);
        step(one, (struct event){.kind = EVENT_WORKED});
    } else if (durable > 0) {
        step(one, (struct event){.kind = EVENT_COMMITTED, .as.committed.sequence = durable});
    }
}

/* The collector reads the journal of the one that leads. */
static void follow(size_t record)
{
    const struct side *lead = &side[LEAD];
    step(&side[EAST], (struct event){.kind = EVENT_RECORD,
                                     .as.record = {.sequence = record + 1,
                                                   .body = lead->body[record],
                                                   .blob = lead->blob[record]}});
}

static void tell_standing(size_t to, struct standing_of is)
{
    is.present = true;
    step(&side[to], (struct event){.kind = EVENT_STANDINGS, .as.standings = {&is, 1}});
}

static void start(size_t which)
{
    struct side *one = &side[which];
    struct peer roster[OWN];
    const struct coordinator_options options = {.job = &job,
                                                .text = {text, strlen(text)},
                                                .random = &source,
                                                .collector = which == EAST ? names[0].name : NULL,
                                                .collectors = which == LEAD ? names : NULL,
                                                .collectors_count = which == LEAD ? 1 : 0,
                                                .answer_bytes_max = 1 << 20,
                                                .whole_bytes_max = WHOLE_BYTES_MAX,
                                                .linger_ms = 1000};
    cr_assert_eq(effects_init(&one->effects, 1 << 18), STATUS_OK);
    cr_assert_eq(coordinator_new(&one->coordinator, &options), STATUS_OK);
    one->machine = coordinator_machine(one->coordinator);
    if (which == EAST) {
        follow(0);
    }
    step(one, (struct event){.kind = EVENT_START});
    for (size_t i = 0; i < OWN; i++) {
        roster[i] = turns_peer(OWN * which + i);
    }
    step(one, (struct event){.kind = EVENT_ROSTER, .as.roster = {roster, OWN}});
}

static void begin(void)
{
    struct why why = {{0}};
    size_t used = (size_t)snprintf(
        text, TEXT_BYTES,
        "hedgerow: 1\njob: t\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n");
    for (int j = 0; j < COLUMNS; j++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, TEXT_BYTES - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                   "cohort: {minimum: 8, records: 90, join_deadline_s: 10, deadline_s: 10}\n"
                   "stages: [{task: learn}]\n");
    cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "t", &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(job.stage->turns, 2);
    seeded_random_init(&seeded, 1);
    source = seeded_random_interface(&seeded);
    start(LEAD);
    start(EAST);
}

static void end(void)
{
    for (size_t s = 0; s < SIDES; s++) {
        coordinator_free(side[s].coordinator);
        effects_free(&side[s].effects);
        for (size_t i = 0; i < side[s].kept_count; i++) {
            free((void *)(uintptr_t)side[s].body[i].data);
            free((void *)(uintptr_t)side[s].blob[i].data);
        }
    }
    job_free(&job);
}

static void say(size_t site, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = turns_peer(site);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(&side[site / OWN], event);
}

static void greet(size_t site)
{
    const struct coordinator *c = side[site / OWN].coordinator;
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.job = c->outcome.job_name.id;
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.rounds_closed = c->outcome.rounds_closed;
    hello.as.hello.ready = true;
    say(site, &hello, (struct slice){0});
}

/* As an agent does: in the first round by its slot, in the second if it has not looked. */
static void answer(size_t site)
{
    const struct coordinator *c = side[site / OWN].coordinator;
    const uint32_t round = c->outcome.rounds_closed;
    const struct round_groups groups = round_groups(job.stage, round);
    const bool looks = round == 0 ? round_is_turn(job.stage, 0, slot[site]) : !looked[site];
    const size_t size = c->aggregate.form.word_bytes;
    const size_t count = c->aggregate.count;
    uint8_t *words = calloc(count, size);
    cr_assert_not_null(words);
    const size_t tally =
        groups.count * groups.own + 2 * (size_t)round_group(job.stage, round, slot[site]);
    words[tally * size] = looks ? 90 : 0;
    words[(tally + 1) * size] = looks;
    looked[site] = looked[site] || looks;
    struct message offer = {.kind = MESSAGE_OFFER};
    const struct slice bytes = {words, count * size};
    offer.as.offer.job = c->outcome.job_name.id;
    offer.as.offer.round = round;
    offer.as.offer.invitation = c->invitation;
    offer.as.offer.bytes = bytes.size;
    offer.as.offer.records = 90;
    digest_tree(&offer.as.offer.answer, bytes);
    say(site, &offer, bytes);
    free(words);
}

/* A part that says of another's sites that they were away: of the one that leads, which has them in its own list, and of nobody's. */
static void give_forged(struct slice body, struct slice blob)
{
    static const char *const other[] = {"site-1", "nobody"};
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *at = memmem(body.data, body.size, "\x3a\x06site-", 7); /* away */
        cr_assert_not_null(at);
        const struct slice forged = turns_copy(body);
        memcpy((uint8_t *)(uintptr_t)forged.data + (at - (const uint8_t *)body.data) + 2, other[i],
               6);
        step(&side[LEAD],
             (struct event){.kind = EVENT_PARTIAL,
                            .as.partial = {.collector = names[0], .body = forged, .blob = blob}});
        free((void *)(uintptr_t)forged.data);
        cr_expect_eq(side[LEAD].coordinator->collecting.agent_count, 0, "forgery %zu counted", i);
    }
}

/* The one that leads opens the round, the collector hears of it, all answer, and what was collected is handed in. */
static void play_round(uint64_t open)
{
    tell_standing(LEAD, (struct standing_of){.peer = names[0], .ready = OWN});
    cr_assert_eq(coordinator_look(side[LEAD].coordinator).open, open);
    tell_standing(EAST, (struct standing_of){.open = open, .left_ms = LEFT_MS});
    cr_assert_eq(coordinator_look(side[EAST].coordinator).open, open);
    for (size_t i = SITES; i-- > 0;) {
        answer(i);
    }
    const struct side *east = &side[EAST];
    cr_assert_eq(east->kept_count, open, "a part for each round");
    give_forged(east->body[open - 1], east->blob[open - 1]);
    step(&side[LEAD], (struct event){.kind = EVENT_PARTIAL,
                                     .as.partial = {.collector = names[0],
                                                    .body = east->body[open - 1],
                                                    .blob = east->blob[open - 1]}});
    tell_standing(LEAD, (struct standing_of){.peer = names[0], .ready = OWN, .settled = open});
    cr_assert_eq(side[LEAD].coordinator->outcome.rounds_closed, open);
}

static struct record decoded(struct slice body)
{
    struct record record;
    cr_assert_eq(wire_decode_record(&record, body), STATUS_OK);
    return record;
}

static bool lists(const struct peer *list, size_t count, size_t site)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, turns_peer(site).name) == 0) {
            return true;
        }
    }
    return false;
}

Test(round_turns_collect, a_record_tells_of_a_collectors_sites_too)
{
    begin();
    for (size_t i = 0; i < SITES; i++) {
        greet(i);
    }
    play_round(1);
    struct record part = decoded(side[EAST].body[0]);
    struct record one = decoded(side[LEAD].body[1]);
    cr_assert_eq(one.as.round.agent_count, SITES);
    cr_expect(part.as.partial.away_count > 0 &&
              one.as.round.away_count > part.as.partial.away_count);
    uint32_t place = 0;
    uint32_t own[SITES];
    for (size_t i = 0; i < SITES; i++) {
        cr_expect_eq(lists(one.as.round.away, one.as.round.away_count, i), !looked[i], "site %zu",
                     i);
        cr_expect_eq(lists(part.as.partial.away, part.as.partial.away_count, i),
                     i >= OWN && !looked[i], "site %zu", i);
        own[i] = looked[i] ? 0 : round_turn_slot(1, place++);
    }
    follow(1);
    tell_standing(EAST, (struct standing_of){.open = 2, .left_ms = LEFT_MS});
    for (size_t i = 0; i < SITES; i++) {
        cr_expect_eq(slot[i], own[i], "site %zu has its place among all who were away", i);
    }
    play_round(2);
    struct record two = decoded(side[LEAD].body[2]);
    cr_expect_eq(two.as.round.away_count, SITES - one.as.round.away_count);
    record_free(&part);
    record_free(&one);
    record_free(&two);
    end();
}
