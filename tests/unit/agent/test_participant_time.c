/* What a coordinator that lies can learn from the time: it asks the same things at the same times,
 * and only the moment differs at which a computation on the records ends. Everything the agent
 * sends and commits, and when, must be the same as long as that moment lies in the same public slot
 * (a commit takes time, and delays the heartbeat that is due meanwhile). */

#include "agent/participant.h"
#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_MS = 100, END_MS = 600, SENT_MAX = 4096, DIM = 3, NEVER = 1 << 30 };

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

/* A moment and what was sent then; nothing when it was the journal that kept the program busy. */
struct sent {
    int64_t at_ms;
    size_t size;
    uint8_t control[CONTROL_BYTES_MAX];
};

/* One agent, its driver, and the other side. */
struct bench {
    struct policy policy;
    struct seeded_random seeded;
    struct random random;
    struct participant *participant;
    struct machine machine;
    struct effects effects;
    struct job_name job;
    char text[2048];
    const char *records;
    int64_t now_ms;
    int64_t work_takes_ms; /* of the next computation; the others take none */
    int64_t worked_ms;     /* when it ends, or NEVER */
    size_t works;
    struct sent *sent; /* (sent_count) */
    size_t sent_count;
    uint8_t body[4][4096]; /* the journal */
    size_t body_size[4];
    size_t body_count;
    uint64_t committing;
    double kept[DIM]; /* the model that was published last */
};

static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    const struct bench *bench = self;
    return dataset_parse(out, (struct slice){bench->records, strlen(bench->records)}, "records",
                         schema, DATASET_LEARN, why);
}

static void keep(void *self, const struct job *job, const double *weights, size_t count, bool final)
{
    struct bench *bench = self;
    (void)job;
    (void) final;
    cr_assert_eq(count, DIM);
    memcpy(bench->kept, weights, sizeof bench->kept);
}

static void step(struct bench *bench, struct event *event)
{
    event->now_ms = bench->now_ms;
    effects_clear(&bench->effects);
    cr_assert_eq(bench->machine.step(bench->machine.self, event, &bench->effects), STATUS_OK);
    for (size_t i = 0; i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        if (effect->kind == EFFECT_SEND) {
            struct sent *sent = &bench->sent[bench->sent_count++];
            cr_assert_lt(bench->sent_count, SENT_MAX);
            sent->at_ms = bench->now_ms;
            sent->size = effect->as.send.control.size;
            memcpy(sent->control, effect->as.send.control.data, sent->size);
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

static void settle(struct bench *bench)
{
    while (bench->worked_ms <= bench->now_ms || bench->committing > 0) {
        struct event event = {.kind = EVENT_COMMITTED};
        if (bench->committing > 0) {
            event.as.committed.sequence = bench->body_count - --bench->committing;
        } else {
            bench->machine.work(bench->machine.self);
            bench->worked_ms = NEVER;
            event.kind = EVENT_WORKED;
        }
        step(bench, &event);
    }
}

static void give(struct bench *bench, const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.payload = payload};
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(bench, &event);
}

static void tick(struct bench *bench)
{
    if (bench->machine.wake_ms(bench->machine.self) <= bench->now_ms) {
        step(bench, &(struct event){.kind = EVENT_TICK});
    }
}

static void name_job(struct job_name *job, struct slice text, uint8_t nonce)
{
    static const char label[] = "hedgerow job 1";
    memset(job, 0, sizeof *job);
    job->nonce.byte[0] = nonce;
    struct slice parts[] = {{label, sizeof label - 1}, {job->nonce.byte, DIGEST_BYTES}, text};
    digest_sha256(&job->id, parts, 3);
    digest_sha256(&job->text_digest, &text, 1);
    job->text_bytes = (uint32_t)text.size;
}

static void start(struct bench *bench)
{
    struct participant_options options = {.policy = &bench->policy,
                                          .source = {load, bench},
                                          .random = &bench->random,
                                          .model = {keep, bench},
                                          .heartbeat_ms = 70,
                                          .silence_ms = 100000};
    cr_assert_eq(participant_new(&bench->participant, &options), STATUS_OK);
    bench->machine = participant_machine(bench->participant);
    for (size_t i = 0; i < bench->body_count; i++) {
        struct event record = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        record.as.record.body = (struct slice){bench->body[i], bench->body_size[i]};
        step(bench, &record);
    }
    step(bench, &(struct event){.kind = EVENT_START});
}

static void bench_init(struct bench *bench, unsigned grid_bits)
{
    memset(bench, 0, sizeof *bench);
    bench->sent = calloc(SENT_MAX, sizeof *bench->sent);
    bench->policy = (struct policy){.epsilon_micro = 5000000,
                                    .cohort_min = 1,
                                    .task_allowed = {true, true},
                                    .trust_allowed = {true},
                                    .message_bytes_max = 1 << 20,
                                    .answer_slot_ms = SLOT_MS};
    seeded_random_init(&bench->seeded, 1);
    bench->random = seeded_random_interface(&bench->seeded);
    bench->records = "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,1\n";
    bench->worked_ms = NEVER;
    (void)snprintf(bench->text, sizeof bench->text, TEXT, grid_bits);
    name_job(&bench->job, (struct slice){bench->text, strlen(bench->text)}, 1);
    cr_assert_eq(effects_init(&bench->effects, 1 << 16), STATUS_OK);
    start(bench);
}

static void stop(struct bench *bench)
{
    participant_free(bench->participant);
    bench->participant = NULL;
    bench->committing = 0;
    bench->worked_ms = NEVER;
}

static void bench_free(struct bench *bench)
{
    stop(bench);
    effects_free(&bench->effects);
    free(bench->sent);
}

static struct message welcome_to(const struct job_name *job)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = *job;
    return message;
}

static void join(struct bench *bench)
{
    struct message welcome = welcome_to(&bench->job);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = bench->job.text_digest};
    give(bench, &welcome, (struct slice){0});
    give(bench, &piece, (struct slice){bench->text, bench->job.text_bytes});
    settle(bench);
}

static struct artifact experts_of(const double *weights, size_t count)
{
    struct artifact artifact = {.bytes = count * DIM * 8};
    struct slice bytes = {weights, artifact.bytes};
    digest_sha256(&artifact.digest, &bytes, 1);
    return artifact;
}

static struct message invitation_to(const struct bench *bench, uint32_t round,
                                    const struct artifact *input)
{
    struct message message = {.kind = MESSAGE_INVITE, .as.invite.job = bench->job.id};
    message.as.invite.round = round;
    if (input != NULL) {
        message.as.invite.input = *input;
    }
    return message;
}

static size_t count_of(const struct bench *bench, enum message_kind kind)
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

/* What the lying coordinator says, from one millisecond on, every millisecond. */
enum lie { LIE_OTHER_ROUND, LIE_SAME_AGAIN, LIE_LAST, LIE_FAILED, LIE_OTHER_JOB, LIE_COUNT };

static void tell_lie(struct bench *bench, enum lie lie)
{
    const double weights[DIM] = {1, 2, 3};
    struct artifact experts = experts_of(weights, 1);
    struct message message = {.kind = MESSAGE_RELEASE, .as.release.job = bench->job.id};
    struct job_name other;
    switch (lie) {
    case LIE_OTHER_ROUND:
        message = invitation_to(bench, 2, &experts);
        break;
    case LIE_SAME_AGAIN:
        message = invitation_to(bench, 0, NULL);
        break;
    case LIE_LAST:
        message.as.release.last = true;
        message.as.release.experts = experts;
        break;
    case LIE_FAILED:
        message.as.release.failed = true;
        break;
    case LIE_OTHER_JOB:
        name_job(&other, (struct slice){bench->text, strlen(bench->text)}, 2);
        message = welcome_to(&other);
        break;
    case LIE_COUNT:
        break;
    }
    give(bench, &message, (struct slice){0});
}

/* A whole conversation; the computation takes so long. */
static void converse(struct bench *bench, enum lie lie, int64_t lie_from_ms, int64_t lie_to_ms,
                     int64_t work_ms)
{
    struct message invite = {.kind = MESSAGE_INVITE};
    bench_init(bench, 10);
    join(bench);
    bench->now_ms = SLOT_MS; /* whatever the loading delayed is over */
    tick(bench);
    invite = invitation_to(bench, 0, NULL);
    bench->work_takes_ms = work_ms;
    give(bench, &invite, (struct slice){0});
    cr_assert_eq(bench->works, 2);
    bench->work_takes_ms = 0;
    for (int64_t ms = 1; ms < END_MS; ms++) {
        bench->now_ms++;
        settle(bench);
        if (ms >= lie_from_ms && ms < lie_to_ms) {
            tell_lie(bench, lie);
            settle(bench);
        }
        tick(bench);
        settle(bench);
    }
}

static void assert_same(const struct bench *a, const struct bench *b, enum lie lie)
{
    cr_assert_gt(a->sent_count, 3);
    for (size_t i = 0; i < a->sent_count && i < b->sent_count; i++) {
        cr_assert_eq(a->sent[i].at_ms, b->sent[i].at_ms,
                     "lie %d: frame %zu leaves at %lld ms or at %lld ms", (int)lie, i,
                     (long long)a->sent[i].at_ms, (long long)b->sent[i].at_ms);
        cr_assert(a->sent[i].size == b->sent[i].size &&
                      memcmp(a->sent[i].control, b->sent[i].control, a->sent[i].size) == 0,
                  "lie %d: frame %zu at %lld ms differs", (int)lie, i, (long long)a->sent[i].at_ms);
    }
    cr_assert_eq(a->sent_count, b->sent_count, "lie %d", (int)lie);
    cr_assert_eq(a->body_count, b->body_count, "lie %d: charged or not", (int)lie);
}

static void compare(int64_t lie_from_ms, int64_t lie_to_ms)
{
    for (enum lie lie = LIE_OTHER_ROUND; lie < LIE_COUNT; lie++) {
        struct bench early;
        struct bench late;
        converse(&early, lie, lie_from_ms, lie_to_ms, 120);
        converse(&late, lie, lie_from_ms, lie_to_ms, 170);
        assert_same(&early, &late, lie);
        bench_free(&early);
        bench_free(&late);
    }
}

Test(participant_time, who_asks_all_the_time_does_not_see_when_a_computation_ends)
{
    compare(1, END_MS);
}

Test(participant_time, a_single_message_does_not_probe_whether_a_computation_has_ended)
{
    for (int64_t at_ms = 100; at_ms < 220; at_ms += 10) {
        compare(at_ms, at_ms + 1);
    }
}

Test(participant_time, a_longer_computation_shows_as_a_whole_slot)
{
    struct bench shorter;
    struct bench longer;
    converse(&shorter, LIE_SAME_AGAIN, 1, 1, 70);
    converse(&longer, LIE_SAME_AGAIN, 1, 1, 120);
    cr_assert_eq(count_of(&shorter, MESSAGE_OFFER), 1);
    cr_assert_eq(count_of(&longer, MESSAGE_OFFER), 1);
    bench_free(&shorter);
    bench_free(&longer);
}

/* Reading the records takes as long as it takes; that, too, shows as whole slots only. */
static void read_records(struct bench *bench, int64_t work_ms)
{
    bench_init(bench, 10);
    bench->now_ms = 3;
    bench->work_takes_ms = work_ms;
    join(bench);
    bench->work_takes_ms = 0;
    for (int64_t ms = 1; ms < END_MS; ms++) {
        struct message invite = invitation_to(bench, 0, NULL);
        bench->now_ms++;
        settle(bench);
        give(bench, &invite, (struct slice){0});
        settle(bench);
        tick(bench);
    }
}

Test(participant_time, how_long_the_records_took_to_read_shows_as_whole_slots)
{
    struct bench early;
    struct bench late;
    read_records(&early, 110);
    read_records(&late, 190);
    cr_assert_eq(early.works, 2);
    assert_same(&early, &late, LIE_COUNT);
    bench_free(&early);
    bench_free(&late);
}

Test(participant_time, what_no_noise_can_cover_is_declined_before_anything_is_computed)
{
    /* The job's one expert at 30 grid bits and epsilon 0.4 needs a scale of 2^31.3; a thousand of
     * them would need 2^41.3, more than there is. */
    static double weights[1000 * DIM];
    struct bench bench;
    bench_init(&bench, 30);
    join(&bench);
    bench.now_ms = SLOT_MS;
    tick(&bench);
    struct artifact experts = experts_of(weights, 1000);
    struct message invite = invitation_to(&bench, 1, &experts);
    size_t works = bench.works;
    give(&bench, &invite, (struct slice){0});
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    give(&bench, &piece, (struct slice){weights, sizeof weights});
    cr_assert_eq(bench.works, works, "nothing is computed on records without a price");
    cr_assert_eq(count_of(&bench, MESSAGE_DECLINE), 1);
    bench_free(&bench);
}

/* A product with a subnormal number takes many times as long as one with zero: with such experts
 * the time of a computation would count the records that have a zero. */
Test(participant_time, experts_are_freed_of_numbers_whose_arithmetic_takes_longer)
{
    const double weights[DIM] = {1e-310, 0.5, -1e-300};
    struct artifact experts = experts_of(weights, 1);
    struct bench bench;
    bench_init(&bench, 10);
    join(&bench);
    bench.now_ms = SLOT_MS;
    tick(&bench);
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    release.as.release.last = true;
    release.as.release.experts = experts;
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    give(&bench, &release, (struct slice){0});
    give(&bench, &piece, (struct slice){weights, sizeof weights});
    cr_assert(bench.kept[0] == 0 && bench.kept[1] == 0.5 && bench.kept[2] == 0);
    bench_free(&bench);
}

static struct charge charge_after(struct bench *bench, size_t at)
{
    struct record record;
    cr_assert_eq(wire_decode_record(&record, (struct slice){bench->body[at], bench->body_size[at]}),
                 STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ANSWER);
    return record.as.answer.charge;
}

static void answer(struct bench *bench, uint32_t round)
{
    const double weights[DIM] = {1, 2, 3};
    struct artifact experts = experts_of(weights, 1);
    struct message invite = invitation_to(bench, round, &experts);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    bench->now_ms += 2 * SLOT_MS;
    tick(bench);
    give(bench, &invite, (struct slice){0});
    give(bench, &piece, (struct slice){weights, sizeof weights});
    settle(bench);
    bench->now_ms += SLOT_MS;
    tick(bench);
    settle(bench);
}

/* A batch is a range of rows: that two batches are disjoint is true of one table only. */
static void answer_after_restart(struct bench *bench, const char *records)
{
    bench_init(bench, 10);
    join(bench);
    answer(bench, 1);
    cr_assert_eq(bench->body_count, 2, "the job and its first answer");
    stop(bench);
    if (records != NULL) {
        bench->records = records;
    }
    start(bench);
    join(bench);
    answer(bench, 2);
    cr_assert_eq(bench->body_count, 3);
}

Test(participant_time, the_rest_of_a_pass_over_the_same_records_is_free)
{
    struct bench bench;
    answer_after_restart(&bench, NULL);
    struct charge first = charge_after(&bench, 1);
    struct charge second = charge_after(&bench, 2);
    cr_assert(digest_equal(&first.pass, &second.pass));
    bench_free(&bench);
}

Test(participant_time, a_pass_over_other_records_is_paid_anew)
{
    static const char *const changed[] = {
        "a,b,y\n0.3,0.1,0\n0.1,0.2,1\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,1\n", /* another order */
        "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,0\n", /* one label */
        "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n",            /* one record fewer */
    };
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        struct bench bench;
        answer_after_restart(&bench, changed[i]);
        struct charge first = charge_after(&bench, 1);
        struct charge second = charge_after(&bench, 2);
        cr_assert_not(digest_equal(&first.pass, &second.pass), "change %zu", i);
        bench_free(&bench);
    }
}
