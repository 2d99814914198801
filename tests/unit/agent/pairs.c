#include "tests/unit/agent/pairs.h"

#include "agent/participant.h"
#include "crypto/digest.h"
#include "job/round.h"
#include "protocol/wire.h"
#include "tests/support/dictionary_of.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOT_MS = 100,
    WORK_MS = 7,
    LONG_BYTES = 1100000,
    ODD_ROW = 7,
    EXPERTS = 2,
    INPUTS_MAX = 4096
};
enum { ROUND_PATIENCE_MS = 600, END_MS = 20000, OUTBOX_MAX = 64 };

/* What the coordinator is about to say. */
struct letter {
    struct message message;
    const uint8_t *payload;
    size_t size;
};

struct scene {
    struct policy policy;
    struct dictionary dictionary;
    struct seeded_random seeded;
    struct random random;
    struct log log;
    struct participant *participant;
    struct machine machine;
    struct effects effects;
    enum pairs_fault fault;
    char *table;
    size_t table_size;
    struct slice text;
    struct job_name name;
    struct job job; /* where the text is one */
    bool is_job;
    double input[INPUTS_MAX];
    struct digest input_digest;
    size_t input_bytes;
    int64_t now_ms;
    int64_t asked_ms; /* of the round */
    uint32_t round;
    bool begun, ended;
    int64_t worked_ms; /* 0: no work */
    int64_t work_ms;
    uint64_t sequence;
    size_t committing;
    struct letter outbox[OUTBOX_MAX];
    size_t outbox_count;
    FILE *trace;
};

static struct dictionary_column columns[] = {
    {.name = "a", .kind = DICTIONARY_NUMBER, .low = -1, .high = 1},
    {.name = "b", .kind = DICTIONARY_NUMBER, .low = -1, .high = 1},
    {.name = "c", .kind = DICTIONARY_CATEGORY},
    {.name = "y", .kind = DICTIONARY_CATEGORY},
    {.name = "z", .kind = DICTIONARY_CATEGORY},
};

static char categories[3][3][SCHEMA_NAME_BYTES] = {
    {"p", "q", "r"}, {"0", "1", ""}, {"I", "II", "III"}};

static void make_table(struct scene *scene, const char *row)
{
    FILE *out = open_memstream(&scene->table, &scene->table_size);
    (void)fputs("a,b,c,y,z\n", out);
    for (int i = 0; i < PAIRS_ROWS; i++) {
        if (i != ODD_ROW) {
            (void)fprintf(out, "0.%d,-0.%d,%s,%d,%s\n", i * 37 % 100, i * 53 % 100,
                          categories[0][i % 3], i * 7 % 5 > 1, categories[2][i * 5 % 3]);
        } else if (strcmp(row, PAIRS_NUL_LINE) == 0) {
            (void)fwrite("0.3,0.4\0,q,1,II\n", 1, 16, out);
        } else if (strcmp(row, PAIRS_LONG_LINE) == 0) {
            for (int j = 0; j < LONG_BYTES; j++) {
                (void)fputc('3', out);
            }
            (void)fputs(",0.4,q,1,II\n", out);
        } else if (strcmp(row, PAIRS_NO_LINE) != 0) {
            (void)fprintf(out, "%s\n", row);
        }
    }
    (void)fclose(out);
}

static void note(void *self, const struct log_entry *entry)
{
    const struct scene *scene = self;
    (void)fprintf(scene->trace, "%" PRId64 " log %d %s %s %s\n", scene->now_ms, (int)entry->level,
                  entry->event, entry->peer == NULL ? "-" : entry->peer, entry->text);
}

/* As the agent's program reads its file; then the fault, which knows what the reading has counted. */
static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    struct scene *scene = self;
    const struct dataset_options options = {.use = DATASET_LEARN, .row_count = PAIRS_ROWS};
    const enum status status = dataset_parse(out, (struct slice){scene->table, scene->table_size},
                                             "table", schema, &options, why);
    if (status != STATUS_OK || dataset_count(out).unlisted == 0) {
        return status;
    }
    switch (scene->fault) {
    case PAIRS_REFUSES:
        dataset_free(out);
        why_set(why, "a cell is not listed");
        return STATUS_INVALID;
    case PAIRS_SKIPS:
        out->record_count--;
        break;
    case PAIRS_LINGERS:
        scene->work_ms = SLOT_MS + WORK_MS;
        break;
    case PAIRS_TALKS:
        log_event(&scene->log, LOG_DEBUG, "cells", NULL, "a cell is not listed");
        break;
    case PAIRS_RIGHT:
    case PAIRS_FAULT_COUNT:
        break;
    }
    return STATUS_OK;
}

static void post(struct scene *scene, const struct message *message, const void *payload,
                 size_t size)
{
    cr_assert_lt(scene->outbox_count, OUTBOX_MAX);
    scene->outbox[scene->outbox_count++] =
        (struct letter){.message = *message, .payload = payload, .size = size};
}

static void welcome(struct scene *scene)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = scene->name;
    post(scene, &message, NULL, 0);
}

/* The input of the question: two experts or a state, made up from public numbers. */
static void make_input(struct scene *scene)
{
    uint32_t within;
    size_t count = 0;
    scene->input_bytes = 0;
    if (!scene->is_job) {
        return;
    }
    const struct stage *stage = job_stage_of(&scene->job, scene->round, &within);
    switch (round_input(stage, within)) {
    case INPUT_NONE:
        return;
    case INPUT_EXPERTS:
        count = EXPERTS * round_width(&scene->job);
        break;
    case INPUT_STATE:
        count = round_state_count(stage);
        break;
    }
    cr_assert_leq(count, INPUTS_MAX);
    for (size_t i = 0; i < count; i++) {
        scene->input[i] = 0.01 * (double)((i * 5 + scene->round) % 13) - 0.05;
    }
    scene->input_bytes = count * sizeof *scene->input;
    const struct slice bytes = {scene->input, scene->input_bytes};
    digest_sha256(&scene->input_digest, &bytes, 1);
}

static void invite(struct scene *scene)
{
    struct message message = {.kind = MESSAGE_INVITE};
    make_input(scene);
    message.as.invite.job = scene->name.id;
    message.as.invite.round = scene->round;
    if (scene->input_bytes > 0) {
        message.as.invite.input =
            (struct artifact){.digest = scene->input_digest, .bytes = scene->input_bytes};
    }
    scene->asked_ms = scene->now_ms;
    post(scene, &message, NULL, 0);
}

/* The round is over, with or without this agent; the next one, or the job's end. */
static void close_round(struct scene *scene)
{
    struct message message = {.kind = MESSAGE_RELEASE};
    message.as.release.job = scene->name.id;
    message.as.release.round = scene->round;
    message.as.release.last = !scene->is_job || scene->round + 1 == job_round_count(&scene->job);
    post(scene, &message, NULL, 0);
    if (!message.as.release.last) {
        scene->round++;
        invite(scene);
    }
    scene->asked_ms = scene->now_ms;
}

/* What the coordinator does by itself: it begins after a time, and closes rounds that nobody answers. */
static void wait_for_answers(struct scene *scene)
{
    if (scene->now_ms - scene->asked_ms < ROUND_PATIENCE_MS) {
        return;
    }
    if (scene->begun) {
        close_round(scene);
    } else {
        scene->begun = true;
        invite(scene);
    }
}

static void send_piece(struct scene *scene, const struct message *asked)
{
    struct message piece = {.kind = MESSAGE_PIECE};
    const bool is_text = digest_equal(&asked->as.fetch.digest, &scene->name.text_digest);
    const uint8_t *from = is_text ? scene->text.data : (const void *)scene->input;
    piece.as.piece.digest = asked->as.fetch.digest;
    piece.as.piece.offset = asked->as.fetch.offset;
    post(scene, &piece, from + asked->as.fetch.offset, asked->as.fetch.length);
}

/* The script depends on the kinds of messages, and never on an answer. */
static void hear(struct scene *scene, const struct message *message)
{
    struct message pull = {.kind = MESSAGE_PULL};
    switch (message->kind) {
    case MESSAGE_HELLO:
        welcome(scene);
        break;
    case MESSAGE_FETCH:
        send_piece(scene, message);
        break;
    case MESSAGE_OFFER:
        pull.as.pull.job = scene->name.id;
        pull.as.pull.round = message->as.offer.round;
        pull.as.pull.length = (uint32_t)message->as.offer.bytes;
        post(scene, &pull, NULL, 0);
        break;
    case MESSAGE_CHUNK:
    case MESSAGE_DECLINE:
        close_round(scene);
        break;
    case MESSAGE_DICTIONARY:
    case MESSAGE_ENROL:
    case MESSAGE_WELCOME:
    case MESSAGE_INVITE:
    case MESSAGE_PULL:
    case MESSAGE_RELEASE:
    case MESSAGE_PIECE:
    case MESSAGE_SHOW:
    case MESSAGE_ENROLLED:
    case MESSAGE_CHALLENGE:
    case MESSAGE_KEY_IN_USE:
    case MESSAGE_PRESENT:
    case MESSAGE_KEYS:
    case MESSAGE_ROSTER:
    case MESSAGE_SURVIVORS:
    case MESSAGE_SIGNED:
    case MESSAGE_OPEN:
    case MESSAGE_REVEAL:
    case MESSAGE_WANT:
    case MESSAGE_LINE:
    case MESSAGE_KIND_COUNT:
        cr_assert_fail("an agent does not send this");
    }
}

static void tell_frame(struct scene *scene, const struct effect *effect)
{
    struct message message;
    uint8_t control[CONTROL_BYTES_MAX];
    char hex[2 * CONTROL_BYTES_MAX + 1];
    struct slice frame = effect->as.send.control;
    cr_assert_eq(wire_decode(&message, frame, effect->as.send.payload), STATUS_OK);
    if (message.kind == MESSAGE_OFFER) {
        memset(message.as.offer.answer.byte, 1, DIGEST_BYTES);
        const size_t size = wire_encode(control, &message);
        cr_assert_eq(size, frame.size);
        frame.data = control;
    }
    hex_encode(hex, frame.data, frame.size);
    (void)fprintf(scene->trace, "%" PRId64 " %s %s %zu\n", scene->now_ms,
                  message_kind_name(message.kind), hex, effect->as.send.payload.size);
    hear(scene, &message);
}

static void step(struct scene *scene, struct event *event)
{
    event->now_ms = scene->now_ms;
    event->wall_ms = scene->now_ms;
    effects_clear(&scene->effects);
    const enum status status = scene->machine.step(scene->machine.self, event, &scene->effects);
    cr_assert_eq(status, STATUS_OK);
    for (size_t i = 0; i < scene->effects.count; i++) {
        const struct effect *effect = &scene->effects.item[i];
        switch (effect->kind) {
        case EFFECT_SEND:
            tell_frame(scene, effect);
            break;
        case EFFECT_COMMIT:
            (void)fprintf(scene->trace, "%" PRId64 " commits %zu %zu\n", scene->now_ms,
                          effect->as.commit.body.size, effect->as.commit.blob.size);
            scene->committing++;
            break;
        case EFFECT_FORGET:
            (void)fprintf(scene->trace, "%" PRId64 " forgets\n", scene->now_ms);
            break;
        case EFFECT_WORK:
            scene->work_ms = WORK_MS;
            scene->machine.work(scene->machine.self);
            scene->worked_ms = scene->now_ms + scene->work_ms;
            break;
        case EFFECT_DOUBT: /* the transport's business */
            break;
        case EFFECT_RESTART:
        case EFFECT_RECONNECT:
            (void)fprintf(scene->trace, "%" PRId64 " connects\n", scene->now_ms);
            break;
        case EFFECT_FINISH:
            (void)fprintf(scene->trace, "%" PRId64 " ends with %d\n", scene->now_ms,
                          effect->as.finish.exit_code);
            scene->ended = true;
            break;
        }
    }
}

/* Everything that is due at this millisecond. */
static void turn(struct scene *scene)
{
    if (scene->committing > 0) {
        struct event event = {.kind = EVENT_COMMITTED};
        event.as.committed.sequence = ++scene->sequence;
        scene->committing--;
        step(scene, &event);
    } else if (scene->worked_ms > 0 && scene->now_ms >= scene->worked_ms) {
        scene->worked_ms = 0;
        step(scene, &(struct event){.kind = EVENT_WORKED});
    } else if (scene->outbox_count > 0) {
        const struct letter letter = scene->outbox[0];
        uint8_t control[CONTROL_BYTES_MAX];
        struct event event = {.kind = EVENT_MESSAGE,
                              .as.message.payload = {letter.payload, letter.size}};
        memmove(scene->outbox, scene->outbox + 1, --scene->outbox_count * sizeof letter);
        event.as.message.control = (struct slice){control, wire_encode(control, &letter.message)};
        step(scene, &event);
    } else if (scene->machine.wake_ms(scene->machine.self) <= scene->now_ms) {
        step(scene, &(struct event){.kind = EVENT_TICK});
    }
    wait_for_answers(scene);
}

static void name_job(struct scene *scene)
{
    static const char label[] = "hedgerow job 1";
    scene->name.nonce.byte[0] = 9;
    scene->name.text_bytes = (uint32_t)scene->text.size;
    struct slice parts[] = {
        {label, sizeof label - 1}, {scene->name.nonce.byte, DIGEST_BYTES}, scene->text};
    digest_sha256(&scene->name.id, parts, 3);
    digest_sha256(&scene->name.text_digest, &scene->text, 1);
}

static void begin(struct scene *scene, char **trace, size_t *trace_size)
{
    scene->trace = open_memstream(trace, trace_size);
    scene->policy = (struct policy){.epsilon_micro = 5000000,
                                    .delta_atto = DELTA_ATTO_ONE / 1000,
                                    .cohort_min = 1,
                                    .trust_allowed = {true, true},
                                    .message_bytes_max = 1 << 20,
                                    .approval = APPROVAL_POLICY,
                                    .jobs_per_day = 1000,
                                    .answer_slot_ms = SLOT_MS};
    for (size_t i = 0; i < sizeof scene->policy.task_allowed; i++) {
        scene->policy.task_allowed[i] = true;
    }
    for (size_t i = 0; i < 3; i++) {
        columns[i + 2].category = categories[i];
        columns[i + 2].category_count = i == 1 ? 2 : 3;
    }
    scene->dictionary = (struct dictionary){.separator = ',',
                                            .record_count = PAIRS_ROWS,
                                            .column = columns,
                                            .column_count = sizeof columns / sizeof columns[0]};
    seeded_random_init(&scene->seeded, 5);
    scene->random = seeded_random_interface(&scene->seeded);
    scene->log = (struct log){.write = note, .self = scene, .level = LOG_DEBUG};
    name_job(scene);
    scene->is_job = job_parse(&scene->job, scene->text, "pairs", NULL) == STATUS_OK;
    const struct participant_options options = {.policy = &scene->policy,
                                                .dictionary = &scene->dictionary,
                                                .source = {.load = load, .self = scene},
                                                .random = &scene->random,
                                                .log = &scene->log,
                                                .heartbeat_ms = 50,
                                                .silence_ms = 5000,
                                                .once = true};
    cr_assert_eq(effects_init(&scene->effects, 1 << 16), STATUS_OK);
    cr_assert_eq(participant_new(&scene->participant, &options), STATUS_OK);
    scene->machine = participant_machine(scene->participant);
    step(scene, &(struct event){.kind = EVENT_START});
}

char *pairs_run(const char *job_text, const char *row, enum pairs_fault fault)
{
    struct scene *scene = calloc(1, sizeof *scene);
    char *trace = NULL;
    size_t trace_size = 0;
    cr_assert_not_null(scene);
    scene->fault = fault;
    scene->text = (struct slice){job_text, strlen(job_text)};
    scene->now_ms = 3;
    make_table(scene, row);
    begin(scene, &trace, &trace_size);
    for (; scene->now_ms < END_MS && !scene->ended; scene->now_ms++) {
        turn(scene);
    }
    (void)fprintf(scene->trace, "%" PRId64 " %s\n", scene->now_ms,
                  scene->ended ? "over" : "still there");
    (void)fclose(scene->trace);
    participant_free(scene->participant);
    effects_free(&scene->effects);
    if (scene->is_job) {
        job_free(&scene->job);
    }
    free(scene->table);
    free(scene);
    return trace;
}
