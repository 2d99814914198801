#include "central.h"

#include "crypto/digest.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char CENTRAL_FIT[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: false, shifts: [0.25]}}\n";
const char CENTRAL_PLAYS[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 4, share: 0.2,"
    " grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 2, batch: 4, share: 0.2,"
    " grid_bits: 10}\n"
    "  - {task: losses, strategy: epochs, loss: zero_one, rounds: 4, batch: 3, share: 0.1,"
    " grid_bits: 10}\n";
const char CENTRAL_SEGMENTS[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.4, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: dartboard, horizon: doubling, loss: zero_one, rounds: 5, batch: 2,"
    " share: 0.3, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, horizon: doubling, loss: zero_one, rounds: 7, batch: 1,"
    " share: 0.3, grid_bits: 10}\n";
const char CENTRAL_UPDATE[] =
    "  - {task: update, loss: logistic, rounds: 4, batch: 12, clip: 1, rate: 1, noise: gaussian,"
    " grid_bits: 10}\n";
const char CENTRAL_ASK[] =
    "  - {task: query, queries: [\"count: a >= 0.5\", \"quantile: 0.5 of b\"], batch: 12,"
    " share: 0.6, grid_bits: 10}\n"
    "  - {task: select, candidates: {stumps: [a, b], thresholds: 4, predicates: [\"a >= 0.2\"]},"
    " batch: 12, share: 0.4}\n";

enum { TEXT_BYTES = 4096 };

static const char HEAD[] =
    "hedgerow: 1\n"
    "job: central\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 4, delta: %s}\n"
    "cohort: {minimum: 2, join_deadline_s: 10, deadline_s: 10, patience_s: 0, records: 12,"
    " records_most: 1000}\n"
    "stages:\n";

static struct peer peer_of(size_t agent)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "agent-%zu", agent);
    return peer;
}

static uint8_t *copy_of(struct slice from)
{
    uint8_t *copy = malloc(from.size + 1);
    cr_assert_not_null(copy);
    if (from.size > 0) {
        memcpy(copy, from.data, from.size);
    }
    return copy;
}

static void keep(struct central *bench, const struct effect *effect)
{
    cr_assert_lt(bench->kept_count, CENTRAL_RECORDS_MAX);
    bench->kept[bench->kept_count++] = (struct kept){.body = copy_of(effect->as.commit.body),
                                                     .body_size = effect->as.commit.body.size,
                                                     .blob = copy_of(effect->as.commit.blob),
                                                     .blob_size = effect->as.commit.blob.size};
}

static void hear(struct central *bench, const struct effect *effect)
{
    struct message message;
    if (wire_decode(&message, effect->as.send.control, effect->as.send.payload) != STATUS_OK) {
        return;
    }
    if (message.kind == MESSAGE_INVITE) {
        bench->invite = message;
        bench->invites++;
        bench->invited_bytes += effect->as.send.payload.size;
        bench->behind_release += bench->before == MESSAGE_RELEASE &&
                                 strcmp(bench->told.name, effect->as.send.peer.name) == 0;
    }
    bench->before = message.kind;
    bench->told = effect->as.send.peer;
    bench->release = message.kind == MESSAGE_RELEASE ? message : bench->release;
    bench->pulls += message.kind == MESSAGE_PULL;
    bench->shows += message.kind == MESSAGE_SHOW;
}

static enum status step(struct central *bench, struct event *event)
{
    size_t durable = 0;
    bool works = false;
    event->now_ms = bench->now_ms;
    effects_clear(&bench->effects);
    enum status status = bench->machine.step(bench->machine.self, event, &bench->effects);
    for (size_t i = 0; status == STATUS_OK && i < bench->effects.count; i++) {
        const struct effect *effect = &bench->effects.item[i];
        if (effect->kind == EFFECT_COMMIT) {
            keep(bench, effect);
            durable = bench->kept_count;
        } else if (effect->kind == EFFECT_WORK) {
            works = true;
        } else if (effect->kind == EFFECT_SEND) {
            hear(bench, effect);
        } else if (effect->kind == EFFECT_FORGET) {
            bench->kept[effect->as.forget.sequence - 1].forgotten = true;
        } else if (effect->kind == EFFECT_FINISH) {
            bench->finished = true;
            bench->exit_code = effect->as.finish.exit_code;
        }
    }
    if (status == STATUS_OK && works) {
        bench->machine.work(bench->machine.self);
        return step(bench, &(struct event){.kind = EVENT_WORKED});
    }
    if (durable > 0 && bench->is_slow) {
        return status;
    }
    if (status == STATUS_OK && durable > 0) {
        struct event committed = {.kind = EVENT_COMMITTED, .as.committed.sequence = durable};
        return step(bench, &committed); /* which never commits again at once */
    }
    return status;
}

/* Records from number `from` on, of its own journal or the one that it follows. */
static enum status replay(struct central *bench, size_t from)
{
    const struct central *of = bench->leads != NULL ? bench->leads : bench;
    enum status status = STATUS_OK;
    for (size_t i = from; status == STATUS_OK && i < of->kept_count; i++) {
        const struct kept *kept = &of->kept[i];
        struct event event = {.kind = EVENT_RECORD, .as.record.sequence = i + 1};
        event.as.record.body = (struct slice){kept->body, kept->body_size};
        event.as.record.blob = (struct slice){kept->blob, kept->forgotten ? 0 : kept->blob_size};
        status = step(bench, &event);
        bench->followed = i + 1;
    }
    return status;
}

static enum status begin(struct central *bench)
{
    struct peer roster[CENTRAL_AGENTS];
    struct coordinator_options options = {.job = &bench->job,
                                          .text = bench->text,
                                          .random = &bench->random,
                                          .dictionaries = bench->dictionaries,
                                          .collector = bench->collector,
                                          .collectors = bench->collectors,
                                          .collectors_count = bench->collectors_count,
                                          .answer_bytes_max = 1 << 20,
                                          .whole_bytes_max = WHOLE_BYTES_MAX,
                                          .linger_ms = 1000};
    enum status status = coordinator_new(&bench->coordinator, &options);
    bench->machine = coordinator_machine(bench->coordinator);
    if (status == STATUS_OK) {
        status = replay(bench, 0);
    }
    if (status == STATUS_OK) {
        status = step(bench, &(struct event){.kind = EVENT_START});
    }
    for (size_t i = 0; i < CENTRAL_AGENTS; i++) {
        roster[i] = peer_of(bench->first + i);
    }
    return status == STATUS_OK ? step(bench, &(struct event){.kind = EVENT_ROSTER,
                                                             .as.roster = {roster, CENTRAL_AGENTS}})
                               : status;
}

static void fill(struct central *bench, const char *trust, const char *delta, const char *stages)
{
    char *text = malloc(TEXT_BYTES);
    struct why why = {{0}};
    cr_assert_not_null(text);
    int size = snprintf(text, TEXT_BYTES, HEAD, trust, delta);
    cr_assert(size > 0 && (size_t)size + strlen(stages) < TEXT_BYTES);
    size += snprintf(text + size, TEXT_BYTES - (size_t)size, "%s", stages);
    bench->text = (struct slice){text, (size_t)size};
    cr_assert_eq(job_parse(&bench->job, bench->text, "job", &why), STATUS_OK, "%s", why.text);
    seeded_random_init(&bench->seeded, 1);
    bench->random = seeded_random_interface(&bench->seeded);
    cr_assert_eq(effects_init(&bench->effects, 1 << 18), STATUS_OK);
    cr_assert_eq(begin(bench), STATUS_OK);
}

static void init(struct central *bench, const char *trust, const char *delta, const char *stages)
{
    memset(bench, 0, sizeof *bench);
    fill(bench, trust, delta, stages);
}

void central_init_shared(struct central *bench, const char *stages, size_t first,
                         const struct peer *collectors, size_t count, const char *collector,
                         const struct central *leads)
{
    memset(bench, 0, sizeof *bench);
    bench->first = first;
    bench->collectors = collectors;
    bench->collectors_count = count;
    bench->collector = collector;
    bench->leads = leads;
    fill(bench, "local", "0", stages);
}

void central_tell(struct central *bench, struct event event)
{
    cr_assert_eq(step(bench, &event), STATUS_OK);
}

void central_committed(struct central *bench)
{
    bench->is_slow = false;
    central_tell(
        bench, (struct event){.kind = EVENT_COMMITTED, .as.committed.sequence = bench->kept_count});
}

void central_follow(struct central *bench)
{
    if (bench->leads != NULL) {
        cr_assert_eq(replay(bench, bench->followed), STATUS_OK);
    }
}

void central_init(struct central *bench, const char *delta, const char *stages)
{
    init(bench, "central", delta, stages);
}

void central_init_local(struct central *bench, const char *stages)
{
    init(bench, "local", "0", stages);
}

enum status central_restart(struct central *bench)
{
    coordinator_free(bench->coordinator);
    bench->coordinator = NULL;
    bench->finished = false;
    return begin(bench);
}

void central_free(struct central *bench)
{
    coordinator_free(bench->coordinator);
    effects_free(&bench->effects);
    for (size_t i = 0; i < bench->kept_count; i++) {
        free(bench->kept[i].body);
        free(bench->kept[i].blob);
    }
    job_free(&bench->job);
    free((void *)(uintptr_t)bench->text.data);
}

void central_wait(struct central *bench, int64_t ms)
{
    bench->now_ms += ms;
    cr_assert_eq(step(bench, &(struct event){.kind = EVENT_TICK}), STATUS_OK);
}

static void say(struct central *bench, size_t agent, const struct message *message,
                struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = peer_of(bench->first + agent);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    cr_assert_eq(step(bench, &event), STATUS_OK);
}

static void greet(struct central *bench, bool ready)
{
    for (size_t agent = 0; agent < CENTRAL_AGENTS; agent++) {
        struct message hello = {.kind = MESSAGE_HELLO};
        hello.as.hello.job = bench->coordinator->outcome.job_name.id;
        hello.as.hello.version = PROTOCOL_VERSION;
        hello.as.hello.rounds_closed = bench->coordinator->outcome.rounds_closed;
        hello.as.hello.ready = ready;
        hello.as.hello.dictionary = bench->shown[agent];
        say(bench, agent, &hello, (struct slice){0});
    }
}

void central_greet(struct central *bench)
{
    greet(bench, true);
}

void central_greet_undecided(struct central *bench)
{
    greet(bench, false);
}

void central_show(struct central *bench, size_t agent, const struct digest *digest,
                  struct slice text)
{
    say(bench, agent, &(struct message){.kind = MESSAGE_DICTIONARY, .as.dictionary = {*digest}},
        text);
}

size_t central_count(const struct central *bench)
{
    return bench->coordinator->aggregate.count;
}

size_t central_reach_third(struct central *bench, int64_t (*value)(size_t agent, size_t place))
{
    central_init(bench, "0", CENTRAL_PLAYS);
    central_greet(bench);
    central_answer(bench, value);
    central_answer(bench, value);
    const size_t count = central_count(bench);
    cr_assert(count > 1 && count <= 16);
    return count;
}

/* Words cross the wire little-endian, as they lie in memory here. */
static struct slice bytes_of(const int64_t *value, size_t count)
{
    return (struct slice){value, count * 8};
}

static void offer_with(struct central *bench, size_t agent, struct slice bytes, unsigned shift,
                       struct slice payload)
{
    struct message offer = {.kind = MESSAGE_OFFER};
    const struct message *invite = &bench->invite;
    uint8_t named[INVITATION_BYTES];
    invitation_bytes(named, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    offer.as.offer.job = invite->as.invite.job;
    offer.as.offer.round = invite->as.invite.round;
    offer.as.offer.bytes = bytes.size;
    offer.as.offer.records = bench->records[agent];
    offer.as.offer.shift = shift;
    digest_sha256(&offer.as.offer.invitation, &(struct slice){named, sizeof named}, 1);
    digest_sha256(&offer.as.offer.answer, &bytes, 1);
    say(bench, agent, &offer, payload);
}

void central_offer(struct central *bench, size_t agent, const int64_t *value, size_t count)
{
    offer_with(bench, agent, bytes_of(value, count), 0, (struct slice){0});
}

void central_offer_short(struct central *bench, size_t agent, const int16_t *word, size_t count,
                         unsigned shift)
{
    const struct slice bytes = {word, count * sizeof *word};
    offer_with(bench, agent, bytes, shift, bytes);
}

void central_offer_whole(struct central *bench, size_t agent, const int64_t *value,
                         const int64_t *sent, size_t count)
{
    offer_with(bench, agent, bytes_of(value, count), 0, bytes_of(sent, count));
}

void central_send(struct central *bench, size_t agent, const int64_t *value, size_t count)
{
    struct message chunk = {.kind = MESSAGE_CHUNK};
    chunk.as.chunk.job = bench->invite.as.invite.job;
    chunk.as.chunk.round = bench->invite.as.invite.round;
    say(bench, agent, &chunk, bytes_of(value, count));
}

void central_answer(struct central *bench, int64_t (*value)(size_t agent, size_t place))
{
    const size_t count = central_count(bench);
    int64_t *words = calloc(count, sizeof *words);
    cr_assert_not_null(words);
    for (size_t agent = 0; agent < CENTRAL_AGENTS; agent++) {
        for (size_t i = 0; i < count; i++) {
            words[i] = value(agent, i);
        }
        central_offer(bench, agent, words, count);
        central_send(bench, agent, words, count);
    }
    bytes_wipe(words, count * sizeof *words);
    free(words);
}

struct record central_last(const struct central *bench)
{
    const struct kept *kept = &bench->kept[bench->kept_count - 1];
    struct record record;
    cr_assert_eq(wire_decode_record(&record, (struct slice){kept->body, kept->body_size}),
                 STATUS_OK);
    return record;
}
