#include "timed.h"

#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/dictionary_of.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: timing\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 2, batch: 2, share: 0.4,"
    " grid_bits: %u}\n";

static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    struct timed *bench = self;
    bench->loads++;
    bench->features = schema_feature_count(schema);
    if (bench->gone) {
        why_set(why, "the table is gone");
        return STATUS_IO;
    }
    return dataset_parse(out, (struct slice){bench->records, strlen(bench->records)}, "records",
                         schema, &(struct dataset_options){.use = DATASET_LEARN}, why);
}

static uint64_t longest_ms(void *self, UNUSED const struct schema *schema)
{
    const struct timed *bench = self;
    return bench->reading_ms;
}

static bool keep(void *self, UNUSED const struct job *job, const double *weights, size_t count,
                 bool final)
{
    struct timed *bench = self;
    cr_assert_eq(count, DIM);
    if (final && bench->full_of_models) {
        return false;
    }
    memcpy(bench->kept, weights, sizeof bench->kept);
    return true;
}

static bool keep_text(void *self, const struct digest *digest, struct slice text)
{
    struct timed *bench = self;
    cr_assert_eq(text.size, strlen(bench->text));
    if (bench->full > 0) {
        bench->full--;
        return false;
    }
    bench->waiting++;
    bench->waiting_text = *digest;
    return true;
}

static bool keep_look(void *self, const struct look *look)
{
    struct timed *bench = self;
    if (!bench->full_of_looks) {
        bench->look = *look;
    }
    return !bench->full_of_looks;
}

static bool keep_offer(void *self, const struct job_name *job)
{
    struct timed *bench = self;
    if (!bench->full_of_offers) {
        bench->offers++;
        bench->offered = job != NULL ? job->id : (struct digest){{0}};
    }
    return !bench->full_of_offers;
}

static void keep_refusal(void *self, const struct refusal *refusal)
{
    struct timed *bench = self;
    cr_assert(digest_equal(&refusal->text, &bench->job.text_digest));
    bench->refusals++;
    bench->refused = refusal->why != NULL;
    (void)snprintf(bench->refused_why, sizeof bench->refused_why, "%s: %s", refusal->name,
                   refusal->why != NULL ? refusal->why : "");
}

static void note(void *self, const struct log_entry *entry)
{
    struct timed *bench = self;
    const size_t used = strlen(bench->logged);
    (void)snprintf(bench->logged + used, sizeof bench->logged - used, "%s ", entry->event);
    (void)snprintf(bench->told, sizeof bench->told, "%s", entry->text);
    if (strcmp(entry->event, "slot-overrun") == 0 && bench->overrun_ms == NEVER) {
        bench->overrun_ms = bench->now_ms;
    }
}

static void step(struct timed *bench, struct event *event)
{
    event->now_ms = bench->now_ms;
    event->wall_ms = bench->wall_ms;
    effects_clear(&bench->effects);
    cr_assert_eq(bench->machine.step(bench->machine.self, event, &bench->effects), STATUS_OK);
    for (size_t i = 0; i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        if (effect->kind == EFFECT_SEND) {
            struct sent *sent = &bench->sent[bench->sent_count++];
            cr_assert_lt(bench->sent_count, SENT_MAX);
            sent->at_ms = bench->now_ms;
            if (effect->as.send.payload.size > 0) {
                bench->sent_payload = effect->as.send.payload;
            }
            sent->size = effect->as.send.control.size;
            memcpy(sent->control, effect->as.send.control.data, sent->size);
        } else if (effect->kind == EFFECT_RESTART) {
            bench->restarts++;
        } else if (effect->kind == EFFECT_WORK) {
            bench->works++;
            bench->worked_ms = bench->now_ms + bench->work_takes_ms;
        } else if (effect->kind == EFFECT_COMMIT) {
            struct slice body = effect->as.commit.body;
            memcpy(bench->body[bench->body_count], body.data, body.size);
            bench->body_size[bench->body_count++] = body.size;
            bench->sent[bench->sent_count++] = (struct sent){.at_ms = bench->now_ms};
            bench->committing++;
        }
    }
}

void timed_settle(struct timed *bench)
{
    while (bench->worked_ms <= bench->now_ms || bench->committing > 0) {
        struct event event = {.kind = EVENT_COMMITTED};
        if (bench->committing > 0) {
            event.as.committed.sequence = bench->body_count - --bench->committing;
        } else {
            bench->machine.work(bench->machine.self);
            bench->worked_ms = NEVER;
            if (bench->tells_overrun) {
                log_event(&bench->log, LOG_WARN, "slot-overrun", NULL, "planted");
            }
            event.kind = EVENT_WORKED;
        }
        step(bench, &event);
    }
}

void timed_give(struct timed *bench, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.payload = payload};
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(bench, &event);
}

void timed_tick(struct timed *bench)
{
    if (bench->machine.wake_ms(bench->machine.self) <= bench->now_ms) {
        step(bench, &(struct event){.kind = EVENT_TICK});
    }
}

void timed_name_job(struct job_name *job, struct slice text, uint8_t nonce)
{
    static const char label[] = "hedgerow job 1";
    memset(job, 0, sizeof *job);
    job->nonce.byte[0] = nonce;
    struct slice parts[] = {{label, sizeof label - 1}, {job->nonce.byte, DIGEST_BYTES}, text};
    digest_sha256(&job->id, parts, 3);
    digest_sha256(&job->text_digest, &text, 1);
    job->text_bytes = (uint32_t)text.size;
}

void timed_start(struct timed *bench)
{
    struct participant_options options = {
        .policy = &bench->policy,
        .dictionary = &bench->dictionary,
        .dictionary_text = bench->dictionary_text,
        .source = {.load = load, .longest_ms = longest_ms, .self = bench},
        .random = &bench->random,
        .masks = bench->masks,
        .model = {keep, bench},
        .memory_bytes = bench->memory_bytes,
        .speed = bench->speed,
        .waiting = {keep_text, bench},
        .looked = bench->forgets ? (struct look){0} : bench->look,
        .looks = {keep_look, bench},
        .offers = {keep_offer, bench},
        .refusals = {keep_refusal, bench},
        .approvals_followed = bench->approvals_followed,
        .log = &bench->log,
        .heartbeat_ms = 70,
        .silence_ms = 100000};
    bench->dictionary.record_count = rows_of(bench->records);
    cr_assert_eq(participant_new(&bench->participant, &options), STATUS_OK);
    bench->machine = participant_machine(bench->participant);
    for (size_t i = 0; i < bench->body_count; i++) {
        struct event record = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        record.as.record.body = (struct slice){bench->body[i], bench->body_size[i]};
        step(bench, &record);
    }
    step(bench, &(struct event){.kind = EVENT_START});
}

void timed_init(struct timed *bench, unsigned grid_bits)
{
    memset(bench, 0, sizeof *bench);
    bench->sent = calloc(SENT_MAX, sizeof *bench->sent);
    bench->policy = (struct policy){.epsilon_micro = 5000000,
                                    .cohort_min = 1,
                                    .dishonest_min = 1,
                                    .task_allowed = {[TASK_FIT] = true, [TASK_LOSSES] = true},
                                    .trust_allowed = {true},
                                    .message_bytes_max = 1 << 20,
                                    .approval = APPROVAL_POLICY,
                                    .jobs_per_day = 1000,
                                    .answer_slot_ms = SLOT_MS};
    seeded_random_init(&bench->seeded, 1);
    bench->random = seeded_random_interface(&bench->seeded);
    bench->records = "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,1\n";
    bench->worked_ms = NEVER;
    bench->overrun_ms = NEVER;
    bench->log = (struct log){.write = note, .self = bench, .level = LOG_INFO};
    (void)snprintf(bench->text, sizeof bench->text, TEXT, grid_bits);
    bench->dictionary = dictionary_of_text((struct slice){bench->text, strlen(bench->text)}, 2);
    timed_name_job(&bench->job, (struct slice){bench->text, strlen(bench->text)}, 1);
    cr_assert_eq(effects_init(&bench->effects, 1 << 16), STATUS_OK);
    timed_start(bench);
}

void timed_stop(struct timed *bench)
{
    participant_free(bench->participant);
    bench->participant = NULL;
    bench->committing = 0;
    bench->worked_ms = NEVER;
}

void timed_free(struct timed *bench)
{
    timed_stop(bench);
    effects_free(&bench->effects);
    free(bench->dictionary.column);
    free(bench->sent);
}

struct message timed_welcome(const struct job_name *job)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = *job;
    return message;
}

void timed_join(struct timed *bench)
{
    struct message welcome = timed_welcome(&bench->job);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = bench->job.text_digest};
    timed_give(bench, &welcome, (struct slice){0});
    timed_give(bench, &piece, (struct slice){bench->text, bench->job.text_bytes});
    timed_settle(bench);
}

void timed_file(struct timed *bench, enum followed which, const char *text)
{
    step(bench, &(struct event){.kind = EVENT_FILE,
                                .as.file = {.which = which, .text = {text, strlen(text)}}});
}

struct artifact timed_experts(const double *weights, size_t count)
{
    struct artifact artifact = {.bytes = count * DIM * 8};
    struct slice bytes = {weights, artifact.bytes};
    digest_sha256(&artifact.digest, &bytes, 1);
    return artifact;
}

struct message timed_invitation(const struct timed *bench, uint32_t round,
                                const struct artifact *input)
{
    struct message message = {.kind = MESSAGE_INVITE, .as.invite.job = bench->job.id};
    message.as.invite.round = round;
    if (input != NULL) {
        message.as.invite.input = *input;
    }
    return message;
}

size_t timed_count(const struct timed *bench, enum message_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < bench->sent_count; i++) {
        struct message message;
        struct slice control = {bench->sent[i].control, bench->sent[i].size};
        if (control.size == 0) {
            continue;
        }
        cr_assert_eq(wire_decode(&message, control, (struct slice){NULL, 1}) == STATUS_OK ||
                         wire_decode(&message, control, (struct slice){0}) == STATUS_OK,
                     true);
        count += message.kind == kind;
    }
    return count;
}

void timed_decide(struct timed *bench, unsigned runs)
{
    char hex[2 * DIGEST_BYTES + 1];
    char text[128];
    hex_encode(hex, bench->job.text_digest.byte, DIGEST_BYTES);
    (void)snprintf(text, sizeof text, "# decisions\n%s %u\n", hex, runs);
    timed_file(bench, FOLLOWED_APPROVALS, text);
    timed_settle(bench);
    bench->now_ms += SLOT_MS;
    timed_tick(bench);
}

bool timed_says(const struct timed *bench, const char *event)
{
    return strstr(bench->logged, event) != NULL;
}

void timed_init_asking(struct timed *bench)
{
    timed_init(bench, 10);
    bench->policy.approval = APPROVAL_PERSON;
}

void timed_ask_round(struct timed *bench, uint32_t round)
{
    const struct message invite = timed_invitation(bench, round, NULL);
    timed_give(bench, &invite, (struct slice){0});
    for (int i = 0; i < 3; i++) {
        timed_settle(bench);
        bench->now_ms += SLOT_MS;
        timed_tick(bench);
    }
}

void timed_offer(struct timed *bench, uint8_t nonce)
{
    timed_name_job(&bench->job, (struct slice){bench->text, strlen(bench->text)}, nonce);
    timed_join(bench);
    bench->now_ms += SLOT_MS;
    timed_tick(bench);
}
