/* An agent under central trust that begins anew: the same question on the same records is answered with
 * the same exact bytes, and on other records with nothing - also when what changed is a cell that only
 * questions look at. */

#include "agent/participant.h"
#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/seeded_random.h"

#include "tests/support/dictionary_of.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_MS = 100, KEPT_MAX = 8 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: central\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: query, queries: [\"count: a >= 0.5\"], batch: 4, share: 1, grid_bits: 10}\n";

static const char RECORDS[] = "a,y\n0.1,1\n0.9,0\n0.2,1\n0.7,0\n";
static const char OTHERS[] = "a,y\n0.1,1\n0.9,0\n0.8,1\n0.7,0\n";

struct bench {
    struct policy policy;
    struct dictionary dictionary;
    struct seeded_random seeded;
    struct random random;
    struct participant *participant;
    struct machine machine;
    struct effects effects;
    struct job_name job;
    const char *records;
    double raw_shift; /* planted: added to the first raw cell, and to no feature */
    int64_t now_ms;
    bool works;
    uint8_t *body[KEPT_MAX];
    size_t body_size[KEPT_MAX];
    size_t body_count;
    struct message offer;
    bool offered;
    bool declined;
    uint8_t answer[64];
    size_t answer_size;
};

static struct bench bench;

static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    const struct bench *from = self;
    enum status status =
        dataset_parse(out, (struct slice){from->records, strlen(from->records)}, "records", schema,
                      &(struct dataset_options){.use = DATASET_LEARN}, why);
    if (status == STATUS_OK && out->raw != NULL) {
        out->raw[0] += from->raw_shift;
    }
    return status;
}

static void step(struct event *event)
{
    size_t durable = 0;
    event->now_ms = bench.now_ms;
    effects_clear(&bench.effects);
    cr_assert_eq(bench.machine.step(bench.machine.self, event, &bench.effects), STATUS_OK);
    for (size_t i = 0; i < bench.effects.count; i++) {
        const struct effect *effect = &bench.effects.item[i];
        struct message message;
        if (effect->kind == EFFECT_COMMIT) {
            cr_assert_lt(bench.body_count, KEPT_MAX);
            struct slice body = effect->as.commit.body;
            struct record record;
            cr_assert_eq(wire_decode_record(&record, body), STATUS_OK);
            struct slice blob = effect->as.commit.blob;
            bool text = record.kind == RECORD_JOB && blob.size == sizeof TEXT - 1 &&
                        memcmp(blob.data, TEXT, blob.size) == 0;
            cr_assert(text || blob.size == 0, "nothing exact is written down");
            record_free(&record);
            bench.body[bench.body_count] = malloc(body.size);
            memcpy(bench.body[bench.body_count], body.data, body.size);
            bench.body_size[bench.body_count++] = body.size;
            durable++;
        } else if (effect->kind == EFFECT_WORK) {
            bench.works = true;
        } else if (effect->kind == EFFECT_SEND &&
                   wire_decode(&message, effect->as.send.control, effect->as.send.payload) ==
                       STATUS_OK) {
            bench.offered = bench.offered || message.kind == MESSAGE_OFFER;
            bench.offer = message.kind == MESSAGE_OFFER ? message : bench.offer;
            bench.declined = bench.declined || message.kind == MESSAGE_DECLINE;
            if (message.kind == MESSAGE_CHUNK) {
                bench.answer_size = effect->as.send.payload.size;
                memcpy(bench.answer, effect->as.send.payload.data, bench.answer_size);
            }
        }
    }
    for (size_t i = 0; i < durable; i++) {
        struct event committed = {.kind = EVENT_COMMITTED, .now_ms = bench.now_ms};
        committed.as.committed.sequence = bench.body_count - durable + i + 1;
        effects_clear(&bench.effects);
        cr_assert_eq(bench.machine.step(bench.machine.self, &committed, &bench.effects), STATUS_OK);
        for (size_t j = 0; j < bench.effects.count; j++) {
            struct message message;
            const struct effect *effect = &bench.effects.item[j];
            if (effect->kind == EFFECT_SEND &&
                wire_decode(&message, effect->as.send.control, effect->as.send.payload) ==
                    STATUS_OK &&
                message.kind == MESSAGE_OFFER) {
                bench.offered = true;
                bench.offer = message;
            }
        }
    }
    if (bench.works) {
        struct event worked = {.kind = EVENT_WORKED};
        bench.works = false;
        bench.machine.work(bench.machine.self);
        step(&worked);
    }
}

static void say(const struct message *message)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.peer.name = "coordinator"};
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(&event);
}

static void wait(void)
{
    bench.now_ms += SLOT_MS;
    step(&(struct event){.kind = EVENT_TICK});
}

/* From the journal so far. */
static void begin(void)
{
    const struct slice text = {TEXT, sizeof TEXT - 1};
    struct participant_options options = {.policy = &bench.policy,
                                          .dictionary = &bench.dictionary,
                                          .source = {.load = load, .self = &bench},
                                          .random = &bench.random,
                                          .approved_text = text,
                                          .heartbeat_ms = 500,
                                          .silence_ms = 100000};
    struct message welcome = {.kind = MESSAGE_WELCOME, .as.welcome.version = PROTOCOL_VERSION};
    free(bench.dictionary.column);
    bench.dictionary = dictionary_of_text(text, rows_of(bench.records));
    bench.offered = false;
    bench.declined = false;
    bench.answer_size = 0;
    cr_assert_eq(participant_new(&bench.participant, &options), STATUS_OK);
    bench.machine = participant_machine(bench.participant);
    for (size_t i = 0; i < bench.body_count; i++) {
        struct event event = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        event.as.record.body = (struct slice){bench.body[i], bench.body_size[i]};
        step(&event);
    }
    step(&(struct event){.kind = EVENT_START});
    welcome.as.welcome.job = bench.job;
    say(&welcome);
    wait();
}

static void init(void)
{
    static const char label[] = "hedgerow job 1";
    const struct slice text = {TEXT, sizeof TEXT - 1};
    memset(&bench, 0, sizeof bench);
    bench.policy = (struct policy){.epsilon_micro = 1000000,
                                   .job_epsilon_micro = 1000000,
                                   .cohort_min = 1,
                                   .message_bytes_max = 1 << 20,
                                   .approval = APPROVAL_POLICY,
                                   .jobs_per_day = 1000,
                                   .answer_slot_ms = SLOT_MS};
    bench.policy.task_allowed[TASK_QUERY] = true;
    bench.policy.trust_allowed[TRUST_CENTRAL] = true;
    bench.records = RECORDS;
    seeded_random_init(&bench.seeded, 3);
    bench.random = seeded_random_interface(&bench.seeded);
    cr_assert_eq(effects_init(&bench.effects, 1 << 16), STATUS_OK);
    bench.job.nonce.byte[0] = 1;
    bench.job.text_bytes = (uint32_t)text.size;
    digest_sha256(&bench.job.text_digest, &text, 1);
    struct slice parts[] = {{label, sizeof label - 1}, {bench.job.nonce.byte, DIGEST_BYTES}, text};
    digest_sha256(&bench.job.id, parts, 3);
    begin();
}

static void end(void)
{
    participant_free(bench.participant);
    free(bench.dictionary.column);
    for (size_t i = 0; i < bench.body_count; i++) {
        free(bench.body[i]);
    }
    effects_free(&bench.effects);
}

static void ask(void)
{
    struct message invite = {.kind = MESSAGE_INVITE};
    struct message pull = {.kind = MESSAGE_PULL};
    invite.as.invite.job = bench.job.id;
    invite.as.invite.deadline_ms = 10000;
    say(&invite);
    wait();
    wait();
    if (bench.offered) {
        pull.as.pull.job = bench.job.id;
        pull.as.pull.length = (uint32_t)bench.offer.as.offer.bytes;
        say(&pull);
    }
}

static void restart(void)
{
    participant_free(bench.participant);
    begin();
}

Test(participant_central, the_same_records_are_answered_again_and_paid_once)
{
    uint8_t first[64];
    init();
    ask();
    cr_assert(bench.offered && bench.answer_size == 2);
    cr_assert_eq(bench.answer[0] + 256 * bench.answer[1], 2 << 10, "two records, exactly");
    memcpy(first, bench.answer, sizeof first);
    const size_t kept = bench.body_count;
    restart();
    ask();
    cr_assert(bench.offered && bench.answer_size == 2);
    cr_assert_arr_eq(bench.answer, first, 2);
    cr_assert_eq(bench.body_count, kept, "no second charge");
    end();
}

Test(participant_central, other_records_are_not_answered_for_the_price_of_the_first)
{
    init();
    ask();
    bench.records = OTHERS;
    restart();
    ask();
    cr_assert(bench.declined && !bench.offered);
    end();
}

/* The digest that names a pass once left raw cells out. */
Test(participant_central, records_that_differ_in_a_raw_cell_alone_are_others)
{
    init();
    ask();
    bench.raw_shift = 0.75;
    restart();
    ask();
    cr_assert(bench.declined && !bench.offered);
    end();
}
