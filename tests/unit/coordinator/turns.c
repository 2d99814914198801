#include "turns.h"

#include "crypto/digest.h"
#include "job/round.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 40, DEADLINE_MS = 10000 };

struct turns turns;

struct peer turns_peer(size_t site)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "site-%zu", site);
    return peer;
}

struct slice turns_copy(struct slice from)
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
        turns.site[site].slot[message.as.invite.round] = message.as.invite.slot;
    }
}

void turns_step(struct event event)
{
    size_t durable = 0;
    bool works = false;
    event.now_ms = turns.now_ms;
    effects_clear(&turns.effects);
    cr_assert_eq(turns.machine.step(turns.machine.self, &event, &turns.effects), STATUS_OK);
    for (size_t i = 0; i < turns.effects.count; i++) {
        const struct effect *effect = &turns.effects.item[i];
        if (effect->kind == EFFECT_COMMIT) {
            cr_assert_lt(turns.kept_count, TURNS_KEPT_MAX);
            turns.body[turns.kept_count] = turns_copy(effect->as.commit.body);
            turns.blob[turns.kept_count++] = turns_copy(effect->as.commit.blob);
            durable = turns.kept_count;
        } else if (effect->kind == EFFECT_SEND) {
            hear(effect);
        }
        works = works || effect->kind == EFFECT_WORK;
    }
    if (works) {
        turns.machine.work(turns.machine.self);
        turns_step((struct event){.kind = EVENT_WORKED});
    } else if (durable > 0) {
        turns_step((struct event){.kind = EVENT_COMMITTED, .as.committed.sequence = durable});
    }
}

static const struct peer far_away[] = {{"far"}};

static void start(void)
{
    struct peer roster[TURNS_LISTED];
    const struct coordinator_options options = {.job = &turns.job,
                                                .text = {turns.text, strlen(turns.text)},
                                                .random = &turns.random,
                                                .collectors = far_away,
                                                .collectors_count = turns.collectors,
                                                .answer_bytes_max = 1 << 20,
                                                .whole_bytes_max = WHOLE_BYTES_MAX,
                                                .linger_ms = 1000};
    cr_assert_eq(coordinator_new(&turns.coordinator, &options), STATUS_OK);
    turns.machine = coordinator_machine(turns.coordinator);
    for (size_t i = 0; i < turns.kept_count; i++) {
        turns_step((struct event){
            .kind = EVENT_RECORD,
            .as.record = {.sequence = i + 1, .body = turns.body[i], .blob = turns.blob[i]}});
    }
    turns_step((struct event){.kind = EVENT_START});
    for (size_t i = 0; i < TURNS_LISTED; i++) {
        roster[i] = turns_peer(i);
    }
    turns_step((struct event){.kind = EVENT_ROSTER, .as.roster = {roster, TURNS_LISTED}});
}

void turns_begin(size_t collectors)
{
    struct why why = {{0}};
    memset(&turns, 0, sizeof turns);
    turns.collectors = collectors;
    size_t used = (size_t)snprintf(
        turns.text, TURNS_TEXT_BYTES,
        "hedgerow: 1\njob: t\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n");
    for (int j = 0; j < COLUMNS; j++) {
        used += (size_t)snprintf(turns.text + used, TURNS_TEXT_BYTES - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(turns.text + used, TURNS_TEXT_BYTES - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                   "cohort: {minimum: 5, records: 90, join_deadline_s: 10, deadline_s: 10}\n"
                   "stages: [{task: learn}]\n");
    cr_assert_eq(job_parse(&turns.job, (struct slice){turns.text, strlen(turns.text)}, "t", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(turns.job.stage->turns, TURNS_LOOKS);
    seeded_random_init(&turns.seeded, 1);
    turns.random = seeded_random_interface(&turns.seeded);
    cr_assert_eq(effects_init(&turns.effects, 1 << 18), STATUS_OK);
    for (size_t i = 0; i < TURNS_LISTED; i++) {
        turns.site[i].slot[0] = turns.site[i].slot[1] = TURNS_NO_SLOT;
    }
    start();
}

void turns_restart(void)
{
    coordinator_free(turns.coordinator);
    start();
}

void turns_end(void)
{
    coordinator_free(turns.coordinator);
    effects_free(&turns.effects);
    for (size_t i = 0; i < turns.kept_count; i++) {
        free((void *)(uintptr_t)turns.body[i].data);
        free((void *)(uintptr_t)turns.blob[i].data);
    }
    job_free(&turns.job);
}

static void say(size_t site, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = turns_peer(site);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    turns_step(event);
}

void turns_greet(size_t site)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.job = turns.coordinator->outcome.job_name.id;
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.rounds_closed = turns.coordinator->outcome.rounds_closed;
    hello.as.hello.ready = true;
    say(site, &hello, (struct slice){0});
}

uint32_t turns_group(const struct turns_site *site, uint32_t round)
{
    return round_group(turns.job.stage, round, site->slot[round]);
}

/* How long the first round waits for absent sites. */
static void gather(void)
{
    turns.now_ms += GATHER_MS;
    turns_step((struct event){.kind = EVENT_TICK});
}

/* As an agent does: in the first round by its slot, in the second if it has not looked. The rest of an answer is zeros. */
void turns_answer(size_t at)
{
    struct coordinator *c = turns.coordinator;
    struct turns_site *site = &turns.site[at];
    const uint32_t round = c->outcome.rounds_closed;
    const struct round_groups groups = round_groups(turns.job.stage, round);
    const bool looks =
        round == 0 ? round_is_turn(turns.job.stage, 0, site->slot[0]) : !site->looked;
    const size_t size = c->aggregate.form.word_bytes;
    const size_t count = c->aggregate.count;
    uint8_t *words = calloc(count, size);
    cr_assert(words != NULL && site->slot[round] != TURNS_NO_SLOT);
    const size_t tally = groups.count * groups.own + 2 * turns_group(site, round);
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

struct record turns_last(void)
{
    struct record record;
    cr_assert_eq(wire_decode_record(&record, turns.body[turns.kept_count - 1]), STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ROUND);
    return record;
}

void turns_come(const size_t *who, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        turns_greet(who[i]);
    }
    gather();
}

/* The round waits for absent sites until its deadline. */
void turns_answer_all(const size_t *who, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        turns_answer(who[i]);
    }
    turns.now_ms += DEADLINE_MS;
    turns_step((struct event){.kind = EVENT_TICK});
}
