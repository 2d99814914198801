/* asked.h - an agent with a job of two rounds, its journal, its log, and a coordinator that asks
 * it. */

#ifndef TESTS_UNIT_AGENT_ASKED_H
#define TESTS_UNIT_AGENT_ASKED_H

#include "agent/participant.h"
#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/dictionary_of.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_MS = 100, WIDTH = 2, RECORD_COUNT = 4, JOURNAL_MAX = 8, LOG_BYTES = 1 << 16 };
enum { BODY_BYTES_MAX = 4096, BLOB_BYTES_MAX = 2048 };

static const int64_t day_ms = 86400000;

/* One pass of two batches, one charge; a test may define other stages. */
#ifndef ASKED_STAGES
#define ASKED_STAGES                                                                               \
    "  - {task: update, loss: logistic, rounds: 2, batch: 2, batches: 2, clip: 1, rate: 1,\n"      \
    "     share: 1, grid_bits: 30}\n"
#endif
static const char TEXT[] =
    "hedgerow: 1\n"
    "job: asked\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n" ASKED_STAGES;

static const char RECORDS[] = "a,y\n0.1,1\n0.9,0\n0.2,1\n0.7,0\n";
static const char OTHERS[] = "a,y\n0.1,1\n0.9,0\n0.8,1\n0.7,0\n";

struct entry {
    uint8_t body[BODY_BYTES_MAX];
    size_t body_size;
    uint8_t blob[BLOB_BYTES_MAX];
    size_t blob_size;
};

struct bench {
    struct policy policy;
    struct dictionary
        dictionary; /* of the job's columns and `rows`, or as many as the records have */
    uint64_t rows;
    struct seeded_random seeded;
    struct random random;
    struct log log;
    char said[LOG_BYTES]; /* all lines of the log */
    size_t said_bytes;
    struct participant *participant;
    struct machine machine;
    struct effects effects;
    struct job_name job;
    const char *records;
    int64_t now_ms;
    int64_t wall_ms;
    int64_t work_takes_ms;
    size_t works;
    bool is_working;
    struct entry journal[JOURNAL_MAX];
    size_t journal_count;
    size_t committing;
    size_t offers;
    size_t declines;
    size_t fetches;
    size_t doubts;        /* of what came */
    size_t doubted_after; /* fetches before the latest of them */
    size_t chunks;
    size_t forgets;
    struct message offer;            /* the latest */
    uint8_t offered[BLOB_BYTES_MAX]; /* what came with it */
    size_t offered_bytes;
    uint64_t whole_bytes_max;
};

static struct bench bench;
static const double state[WIDTH] = {0.25, -0.5};

static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    const struct bench *from = self;
    return dataset_parse(out, (struct slice){from->records, strlen(from->records)}, "records",
                         schema, &(struct dataset_options){.use = DATASET_LEARN}, why);
}

static void note(void *self, const struct log_entry *entry)
{
    struct bench *to = self;
    to->said_bytes += (size_t)snprintf(to->said + to->said_bytes, LOG_BYTES - to->said_bytes,
                                       "%s: %s\n", entry->event, entry->text);
    cr_assert_lt(to->said_bytes, LOG_BYTES);
}

static void take(const struct effect *effect)
{
    struct message message;
    if (effect->kind == EFFECT_COMMIT) {
        struct entry *entry = &bench.journal[bench.journal_count++];
        cr_assert_lt(bench.journal_count, JOURNAL_MAX);
        entry->body_size = effect->as.commit.body.size;
        entry->blob_size = effect->as.commit.blob.size;
        cr_assert(entry->body_size <= BODY_BYTES_MAX && entry->blob_size <= BLOB_BYTES_MAX);
        memcpy(entry->body, effect->as.commit.body.data, entry->body_size);
        if (entry->blob_size > 0) {
            memcpy(entry->blob, effect->as.commit.blob.data, entry->blob_size);
        }
        bench.committing++;
    } else if (effect->kind == EFFECT_FORGET) {
        bench.forgets++;
    } else if (effect->kind == EFFECT_DOUBT) {
        bench.doubts++;
        bench.doubted_after = bench.fetches;
    } else if (effect->kind == EFFECT_WORK) {
        bench.works++;
        bench.is_working = true;
    } else if (effect->kind == EFFECT_SEND) {
        cr_assert_eq(wire_decode(&message, effect->as.send.control, effect->as.send.payload),
                     STATUS_OK);
        bench.offers += message.kind == MESSAGE_OFFER;
        bench.declines += message.kind == MESSAGE_DECLINE;
        bench.fetches += message.kind == MESSAGE_FETCH;
        bench.chunks += message.kind == MESSAGE_CHUNK;
        if (message.kind == MESSAGE_OFFER) {
            const struct slice with = effect->as.send.payload;
            bench.offer = message;
            bench.offered_bytes = with.size;
            cr_assert_leq(with.size, BLOB_BYTES_MAX);
            if (with.size > 0) {
                memcpy(bench.offered, with.data, with.size);
            }
        }
    }
}

static void step(struct event *event)
{
    event->now_ms = bench.now_ms;
    event->wall_ms = bench.wall_ms;
    effects_clear(&bench.effects);
    cr_assert_eq(bench.machine.step(bench.machine.self, event, &bench.effects), STATUS_OK);
    for (size_t i = 0; i < bench.effects.count; i++) {
        take(&bench.effects.item[i]);
    }
}

/* Commits and computations end; both may bring others. */
static void settle(void)
{
    while (bench.committing > 0 || bench.is_working) {
        struct event event = {.kind = EVENT_COMMITTED};
        if (bench.committing > 0) {
            event.as.committed.sequence = bench.journal_count - --bench.committing;
        } else {
            bench.is_working = false;
            bench.machine.work(bench.machine.self);
            bench.now_ms += bench.work_takes_ms;
            event.kind = EVENT_WORKED;
        }
        step(&event);
    }
}

static void say(const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.payload = payload};
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(&event);
    settle();
}

static void wait_until(int64_t now_ms)
{
    bench.now_ms = now_ms;
    step(&(struct event){.kind = EVENT_TICK});
    settle();
}

static void name_job(uint8_t nonce)
{
    static const char label[] = "hedgerow job 1";
    const struct slice text = {TEXT, sizeof TEXT - 1};
    bench.job = (struct job_name){.text_bytes = (uint32_t)text.size};
    bench.job.nonce.byte[0] = nonce;
    struct slice parts[] = {{label, sizeof label - 1}, {bench.job.nonce.byte, DIGEST_BYTES}, text};
    digest_sha256(&bench.job.id, parts, 3);
    digest_sha256(&bench.job.text_digest, &text, 1);
}

static void join(void)
{
    struct message welcome = {.kind = MESSAGE_WELCOME, .as.welcome.version = PROTOCOL_VERSION};
    welcome.as.welcome.job = bench.job;
    say(&welcome, (struct slice){0});
    wait_until(bench.now_ms + SLOT_MS);
}

/* From the journal so far. */
static void begin(void)
{
    struct participant_options options = {.policy = &bench.policy,
                                          .dictionary = &bench.dictionary,
                                          .source = {.load = load, .self = &bench},
                                          .random = &bench.random,
                                          .log = &bench.log,
                                          .approved_text = {TEXT, sizeof TEXT - 1},
                                          .whole_bytes_max = bench.whole_bytes_max,
                                          .heartbeat_ms = 50000,
                                          .silence_ms = 1000000};
    free(bench.dictionary.column);
    bench.dictionary = dictionary_of_text((struct slice){TEXT, sizeof TEXT - 1},
                                          bench.rows > 0 ? bench.rows : rows_of(bench.records));
    bench.offers = bench.declines = bench.fetches = bench.chunks = bench.forgets = 0;
    bench.works = 0;
    cr_assert_eq(participant_new(&bench.participant, &options), STATUS_OK);
    bench.machine = participant_machine(bench.participant);
    for (size_t i = 0; i < bench.journal_count; i++) {
        const struct entry *entry = &bench.journal[i];
        struct event event = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        event.as.record.body = (struct slice){entry->body, entry->body_size};
        event.as.record.blob = (struct slice){entry->blob, entry->blob_size};
        step(&event);
    }
    step(&(struct event){.kind = EVENT_START});
    join();
}

static void init(void)
{
    memset(&bench, 0, sizeof bench);
    bench.policy = (struct policy){.epsilon_micro = 5000000,
                                   .cohort_min = 1,
                                   .message_bytes_max = 1 << 20,
                                   .approval = APPROVAL_POLICY,
                                   .jobs_per_day = 1000,
                                   .answer_slot_ms = SLOT_MS};
    bench.policy.task_allowed[TASK_UPDATE] = true;
    bench.policy.task_allowed[TASK_LOSSES] = true;
    bench.policy.trust_allowed[TRUST_LOCAL] = true;
    bench.records = RECORDS;
    bench.wall_ms = 100 * day_ms;
    bench.log = (struct log){.write = note, .self = &bench, .level = LOG_DEBUG};
    seeded_random_init(&bench.seeded, 3);
    bench.random = seeded_random_interface(&bench.seeded);
    cr_assert_eq(effects_init(&bench.effects, 1 << 16), STATUS_OK);
    name_job(1);
    begin();
}

static void restart(void)
{
    participant_free(bench.participant);
    begin();
}

static void end(void)
{
    participant_free(bench.participant);
    free(bench.dictionary.column);
    effects_free(&bench.effects);
}

static struct message invitation(uint32_t round)
{
    struct message invite = {.kind = MESSAGE_INVITE, .as.invite.job = bench.job.id};
    const struct slice bytes = {state, sizeof state};
    invite.as.invite.round = round;
    invite.as.invite.input.bytes = sizeof state;
    digest_sha256(&invite.as.invite.input.digest, &bytes, 1);
    return invite;
}

/* The invitation, and these bytes as its input. */
static void send_state(const struct message *invite, const double weights[WIDTH])
{
    struct message piece = {.kind = MESSAGE_PIECE};
    piece.as.piece.digest = invite->as.invite.input.digest;
    say(invite, (struct slice){0});
    say(&piece, (struct slice){weights, sizeof state});
}

static void ask(uint32_t round)
{
    const struct message invite = invitation(round);
    send_state(&invite, state);
}

static void ask_and_wait(uint32_t round)
{
    ask(round);
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
}

#endif
