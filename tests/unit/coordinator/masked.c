#include "tests/unit/coordinator/masked.h"

#include "crypto/digest.h"
#include "crypto/key.h"
#include "dp/encode.h"
#include "job/round.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: masked\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: distributed, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 3, dishonest: 1, honest: 2, records: 30, join_deadline_s: 10, deadline_s: 10,"
    " patience_s: 20}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n";

static bool in(unsigned set, size_t i)
{
    return (set >> i & 1) == 1;
}

static struct peer peer_of(size_t i)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "site-%zu", i);
    return peer;
}

static void listen(void *self, const struct log_entry *entry)
{
    struct masked *rig = self;
    const size_t used = strlen(rig->said);
    (void)snprintf(rig->said + used, sizeof rig->said - used, "%s ", entry->event);
}

static void step(struct masked *rig, struct event *event);

static void keep(struct masked *rig, const struct effect *effect)
{
    struct slice blob = effect->as.commit.blob;
    const size_t at = rig->record_count++;
    cr_assert_lt(at, MASKED_RECORDS_MAX);
    cr_assert_eq(wire_decode_record(&rig->record[at], effect->as.commit.body), STATUS_OK);
    rig->blob[at] = malloc(blob.size + 1);
    cr_assert_not_null(rig->blob[at]);
    if (blob.size > 0) {
        memcpy(rig->blob[at], blob.data, blob.size);
    }
    rig->blob_size[at] = blob.size;
}

static void hear(struct masked *rig, const struct effect *effect)
{
    struct masked_sent *sent = &rig->sent[rig->sent_count++];
    cr_assert_leq(rig->sent_count, MASKED_SENT_MAX);
    cr_assert_leq(effect->as.send.payload.size, sizeof sent->payload);
    cr_assert_eq(wire_decode(&sent->message, effect->as.send.control, effect->as.send.payload),
                 STATUS_OK);
    sent->size = effect->as.send.payload.size;
    if (sent->size > 0) {
        memcpy(sent->payload, effect->as.send.payload.data, sent->size);
    }
    sent->site = MASKED_SITES;
    for (size_t i = 0; i < MASKED_SITES; i++) {
        const struct peer peer = peer_of(i);
        sent->site = strcmp(peer.name, effect->as.send.peer.name) == 0 ? i : sent->site;
    }
}

/* Effects are read when the step is over, as the driver reads them. */
static void perform(struct masked *rig)
{
    const size_t before = rig->record_count;
    bool works = false;
    for (size_t i = 0; i < rig->effects.count; i++) {
        const struct effect *effect = &rig->effects.item[i];
        works = works || effect->kind == EFFECT_WORK;
        if (effect->kind == EFFECT_SEND) {
            hear(rig, effect);
        } else if (effect->kind == EFFECT_COMMIT) {
            keep(rig, effect);
        }
    }
    if (rig->record_count > before) {
        struct event committed = {.kind = EVENT_COMMITTED};
        committed.as.committed.sequence = rig->record_count;
        step(rig, &committed);
    }
    if (works) {
        rig->machine.work(rig->machine.self);
        step(rig, &(struct event){.kind = EVENT_WORKED});
    }
}

static void step(struct masked *rig, struct event *event)
{
    event->now_ms = rig->now_ms;
    effects_clear(&rig->effects);
    cr_assert_eq(rig->machine.step(rig->machine.self, event, &rig->effects), STATUS_OK);
    perform(rig);
}

static void begin_step(struct masked *rig)
{
    rig->sent_count = 0;
}

static void say(struct masked *rig, size_t i, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = peer_of(i);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(rig, &event);
}

static struct message leg_of(const struct masked *rig, enum message_kind kind)
{
    return (struct message){.kind = kind, .as.leg = {.job = rig->job_id}};
}

void masked_admit(struct masked *rig, unsigned set)
{
    struct peer peer[MASKED_SITES];
    struct event event = {.kind = EVENT_ROSTER, .as.roster = {.peer = peer}};
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            peer[event.as.roster.count++] = peer_of(i);
        }
    }
    step(rig, &event);
}

void masked_greet(struct masked *rig, unsigned set)
{
    const struct message hello = {
        .kind = MESSAGE_HELLO,
        .as.hello = {.version = PROTOCOL_VERSION, .job = rig->job_id, .ready = true}};
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            say(rig, i, &hello, (struct slice){0});
        }
    }
}

void masked_pass(struct masked *rig, int64_t ms)
{
    begin_step(rig);
    rig->now_ms += ms;
    if (rig->machine.wake_ms(rig->machine.self) <= rig->now_ms) {
        step(rig, &(struct event){.kind = EVENT_TICK});
    }
}

void masked_send_keys(struct masked *rig, unsigned set)
{
    const struct message message = leg_of(rig, MESSAGE_KEYS);
    uint8_t keys[MASKS_KEYS_BYTES];
    struct why why = {""};
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            cr_assert_eq(
                masks_site_new(&rig->site[i], &rig->self[i], &rig->terms, &rig->invitation, &why),
                STATUS_OK, "%s", why.text);
            masks_site_keys(rig->site[i], keys);
            say(rig, i, &message, (struct slice){keys, sizeof keys});
        }
    }
}

void masked_offer(struct masked *rig, unsigned set)
{
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        struct message offer = {.kind = MESSAGE_OFFER, .as.offer.job = rig->job_id};
        struct message chunk = {.kind = MESSAGE_CHUNK, .as.chunk.job = rig->job_id};
        uint8_t bytes[8 * MASKED_WORDS];
        const unsigned word_bytes = (unsigned)rig->terms.width / 8;
        encode_words(bytes, (const int64_t *)rig->words[i], MASKED_WORDS, word_bytes);
        const struct slice payload = {bytes, (size_t)word_bytes * MASKED_WORDS};
        offer.as.offer.invitation = rig->invitation;
        offer.as.offer.bytes = payload.size;
        digest_sha256(&offer.as.offer.answer, &payload, 1);
        if (in(set, i)) {
            say(rig, i, &offer, (struct slice){0});
            say(rig, i, &chunk, payload);
        }
    }
}

void masked_answer(struct masked *rig, unsigned set)
{
    struct why why = {""};
    const struct slice roster = {rig->coordinator->kept.roster, rig->coordinator->kept.size};
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            cr_assert_eq(masks_site_list(rig->site[i], roster, &why), STATUS_OK, "%s", why.text);
            memcpy(rig->words[i], rig->plain[i], sizeof rig->words[i]);
            cr_assert_eq(masks_site_mask(rig->site[i], rig->words[i], MASKED_WORDS), STATUS_OK);
        }
    }
    masked_offer(rig, set);
}

void masked_sign(struct masked *rig, unsigned set)
{
    const struct message message = leg_of(rig, MESSAGE_SIGNED);
    const struct masks_set survivors = *masks_host_survivors(rig->coordinator->masks);
    struct signature signature;
    struct why why = {""};
    bool again;
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            cr_assert_eq(masks_site_note(rig->site[i], &survivors, &again, &why), STATUS_OK, "%s",
                         why.text);
            cr_assert_eq(masks_site_sign(rig->site[i], &signature), STATUS_OK);
            say(rig, i, &message, (struct slice){signature.byte, SIGNATURE_BYTES});
        }
    }
}

void masked_reveal(struct masked *rig, unsigned set)
{
    const struct message message = leg_of(rig, MESSAGE_REVEAL);
    uint8_t open[MASKS_OPEN_BYTES_MAX];
    uint8_t reveal[MASKS_REVEAL_BYTES_MAX];
    struct why why = {""};
    size_t size = 0;
    begin_step(rig);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        if (in(set, i)) {
            const struct slice opened = {open, masks_host_open(rig->coordinator->masks, open)};
            cr_assert_eq(masks_site_reveal(rig->site[i], opened, reveal, &size, &why), STATUS_OK,
                         "%s", why.text);
            say(rig, i, &message, (struct slice){reveal, size});
        }
    }
}

const struct masked_sent *masked_find(const struct masked *rig, size_t site, enum message_kind kind)
{
    for (size_t i = 0; i < rig->sent_count; i++) {
        if (rig->sent[i].site == site && rig->sent[i].message.kind == kind) {
            return &rig->sent[i];
        }
    }
    return NULL;
}

const struct record *masked_round(const struct masked *rig)
{
    const struct record *last = &rig->record[rig->record_count - 1];
    return last->kind == RECORD_ROUND ? last : NULL;
}

uint64_t masked_sum(const struct masked *rig, unsigned set, size_t word)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < MASKED_SITES; i++) {
        sum += in(set, i) ? rig->plain[i][word] : 0;
    }
    return sum;
}

static void begin(struct masked *rig)
{
    const struct coordinator_options options = {.job = &rig->job,
                                                .text = {TEXT, sizeof TEXT - 1},
                                                .random = &rig->random,
                                                .log = &rig->log,
                                                .answer_bytes_max = 1 << 20,
                                                .linger_ms = 60000,
                                                .settle_ms = 10000};
    cr_assert_eq(coordinator_new(&rig->coordinator, &options), STATUS_OK);
    rig->machine = coordinator_machine(rig->coordinator);
}

void masked_rerun(struct masked *rig)
{
    coordinator_free(rig->coordinator);
    begin(rig);
    for (size_t i = 0; i < rig->record_count; i++) {
        struct event event = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        uint8_t *body = NULL;
        size_t size = 0;
        cr_assert_eq(wire_encode_record(&body, &size, &rig->record[i]), STATUS_OK);
        event.as.record.body = (struct slice){body, size};
        event.as.record.blob = (struct slice){rig->blob[i], rig->blob_size[i]};
        step(rig, &event);
        free(body);
    }
    step(rig, &(struct event){.kind = EVENT_START});
}

static void find_terms(struct masked *rig)
{
    const struct artifact none = {0};
    uint8_t named[INVITATION_BYTES];
    rig->job_id = rig->record[0].as.job.job.id;
    invitation_bytes(named, &rig->job_id, 0, &none);
    digest_sha256(&rig->invitation, &(struct slice){named, sizeof named}, 1);
    rig->terms = (struct masks_terms){
        .job = rig->job_id,
        .sites_least = rig->job.cohort_min,
        .dishonest = rig->job.dishonest,
        .honest = rig->job.honest,
        .width = (enum masks_width)(
            8 * round_masked_bytes(&rig->job, &rig->job.stage[0], 0, 0, MASKED_SITES))};
}

void masked_init(struct masked *rig)
{
    struct why why = {{0}};
    memset(rig, 0, sizeof *rig);
    rig->record = calloc(MASKED_RECORDS_MAX, sizeof *rig->record);
    cr_assert_not_null(rig->record);
    cr_assert_eq(job_parse(&rig->job, (struct slice){TEXT, sizeof TEXT - 1}, "job", &why),
                 STATUS_OK, "%s", why.text);
    rig->log = (struct log){.write = listen, .self = rig, .level = LOG_INFO};
    seeded_random_init(&rig->seeded, 1);
    rig->random = seeded_random_interface(&rig->seeded);
    for (size_t i = 0; i < MASKED_SITES; i++) {
        const struct peer peer = peer_of(i);
        cr_assert_eq(key_signing_generate(&rig->signing[i]), STATUS_OK);
        cr_assert_eq(masks_peers_add(&rig->peers, peer.name, &rig->signing[i].public_key, &why),
                     STATUS_OK, "%s", why.text);
        rig->self[i] = (struct masks_self){&rig->peers, &rig->signing[i], &rig->random};
        for (size_t w = 0; w < MASKED_WORDS; w++) {
            rig->plain[i][w] = 1000 * i + w;
        }
    }
    cr_assert_eq(effects_init(&rig->effects, 1 << 18), STATUS_OK);
    begin(rig);
    step(rig, &(struct event){.kind = EVENT_START});
    find_terms(rig);
    masked_admit(rig, (1u << MASKED_SITES) - 1);
    masked_greet(rig, (1u << MASKED_SITES) - 1);
}

void masked_free(struct masked *rig)
{
    for (size_t i = 0; i < MASKED_SITES; i++) {
        masks_site_free(rig->site[i]);
    }
    for (size_t i = 0; i < rig->record_count; i++) {
        record_free(&rig->record[i]);
        free(rig->blob[i]);
    }
    free(rig->record);
    coordinator_free(rig->coordinator);
    effects_free(&rig->effects);
    job_free(&rig->job);
}
