#include "tests/unit/coordinator/waiting.h"

#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MS = 10, HELLO_EVERY_MS = 500, COLUMNS = 8192 };

static const char TEXT[] = WAITING_TEXT("%s", "0.1, 0.2, 0.3, 0.4, 0.5, 0.6");

static void listen(void *self, const struct log_entry *entry)
{
    struct waiting *rig = self;
    int size =
        snprintf(rig->said + rig->said_bytes, sizeof rig->said - rig->said_bytes, "%s %s: %s\n",
                 entry->event, entry->peer == NULL ? "" : entry->peer, entry->text);
    rig->said_bytes += (size_t)size;
    cr_assert_lt(rig->said_bytes, sizeof rig->said, "the log is full");
}

static struct peer peer_of(size_t agent)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "site-%02zu", agent);
    return peer;
}

static void hear(struct waiting *rig, const struct effect *effect)
{
    struct message message;
    for (size_t i = 0; i < rig->agent_count; i++) {
        struct waiting_agent *agent = &rig->agent[i];
        struct peer peer = peer_of(i);
        if (strcmp(effect->as.send.peer.name, peer.name) != 0 || !agent->present) {
            continue;
        }
        cr_assert_eq(wire_decode(&message, effect->as.send.control, effect->as.send.payload),
                     STATUS_OK);
        if (message.kind == MESSAGE_WELCOME) {
            agent->welcomed++;
            rig->job_id = message.as.welcome.job.id;
            rig->older = message.as.welcome.older;
        } else if (message.kind == MESSAGE_RELEASE) {
            agent->rounds_closed = message.as.release.round + 1;
            agent->pull_count = 0;
        } else if (message.kind == MESSAGE_INVITE) {
            agent->offered =
                agent->offered && agent->invite.as.invite.round == message.as.invite.round;
            agent->invited = true;
            agent->invite = message;
        } else if (message.kind == MESSAGE_PULL && agent->pull_count < WAITING_PULLS) {
            if (message.as.pull.offset == 0) {
                agent->pull_count = 0; /* it asks anew: what was asked before is of no use */
            }
            agent->pull[agent->pull_count++] = message;
        }
    }
}

static void step(struct waiting *rig, struct event *event);

static void perform(struct waiting *rig)
{
    bool durable = false;
    bool works = false;
    for (size_t i = 0; i < rig->effects.count; i++) {
        works = works || rig->effects.item[i].kind == EFFECT_WORK;
        const struct effect *effect = &rig->effects.item[i];
        struct record record;
        if (effect->kind == EFFECT_SEND) {
            hear(rig, effect);
        } else if (effect->kind == EFFECT_FINISH) {
            rig->finished = true;
            rig->exit_code = effect->as.finish.exit_code;
        } else if (effect->kind == EFFECT_COMMIT) {
            cr_assert_eq(wire_decode_record(&record, effect->as.commit.body), STATUS_OK);
            durable = true;
            rig->commits++;
            if (record.kind == RECORD_ROUND) {
                rig->closed_ms[rig->round_count] = rig->now_ms;
                rig->round[rig->round_count++] = record;
                rig->blob_bytes = effect->as.commit.blob.size <= sizeof rig->blob
                                      ? effect->as.commit.blob.size
                                      : 0;
                if (rig->blob_bytes > 0) {
                    memcpy(rig->blob, effect->as.commit.blob.data, rig->blob_bytes);
                }
            } else {
                rig->begun_wall_ms = record.wall_ms;
                record_free(&record);
            }
        }
    }
    if (durable) {
        struct event committed = {.kind = EVENT_COMMITTED};
        committed.as.committed.sequence = rig->commits;
        step(rig, &committed);
    }
    if (works) {
        rig->machine.work(rig->machine.self);
        step(rig, &(struct event){.kind = EVENT_WORKED});
    }
}

static void step(struct waiting *rig, struct event *event)
{
    event->now_ms = rig->now_ms;
    event->wall_ms = rig->wall_ms + rig->now_ms;
    effects_clear(&rig->effects);
    cr_assert_eq(rig->machine.step(rig->machine.self, event, &rig->effects), STATUS_OK);
    perform(rig);
}

static void say(struct waiting *rig, size_t agent, const struct message *message,
                struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.peer = peer_of(agent);
    event.as.message.payload = payload;
    event.as.message.control = (struct slice){control, wire_encode(control, message)};
    step(rig, &event);
}

static void greet(struct waiting *rig, size_t i)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.version = rig->agent[i].version > 0 ? rig->agent[i].version : PROTOCOL_VERSION;
    hello.as.hello.job = rig->job_id;
    hello.as.hello.rounds_closed = rig->agent[i].rounds_closed;
    hello.as.hello.ready =
        rig->agent[i].ready && !rig->agent[i].refuses && !digest_is_none(&rig->job_id);
    rig->agent[i].hello_ms = rig->now_ms + HELLO_EVERY_MS;
    say(rig, i, &hello, (struct slice){0});
    if (rig->agent[i].refuses && !digest_is_none(&rig->job_id)) {
        const struct message decline = {
            .kind = MESSAGE_DECLINE,
            .as.decline = {.job = rig->job_id, .round = rig->agent[i].rounds_closed}};
        say(rig, i, &decline, (struct slice){0});
    }
    if (rig->agent[i].is_late) {
        const struct message old = {.kind = MESSAGE_DECLINE,
                                    .as.decline = {.job = rig->job_id, .round = 0}};
        say(rig, i, &old, (struct slice){0});
    }
    if (rig->agent[i].nags && rig->round_count > 0) {
        struct message offer = {.kind = MESSAGE_OFFER};
        offer.as.offer.job = rig->job_id;
        offer.as.offer.invitation = rig->answer_digest; /* of whatever: the round is over */
        offer.as.offer.answer = rig->answer_digest;
        offer.as.offer.bytes = rig->answer_bytes;
        say(rig, i, &offer, (struct slice){0});
    }
}

static void answer_invitation(struct waiting *rig, size_t i)
{
    struct waiting_agent *agent = &rig->agent[i];
    const struct message *invite = &agent->invite;
    struct message message = {.kind = agent->declines ? MESSAGE_DECLINE : MESSAGE_OFFER};
    uint8_t bytes[INVITATION_BYTES];

    agent->offered = true;
    if (agent->declines) {
        message.as.decline.job = invite->as.invite.job;
        message.as.decline.round = invite->as.invite.round;
    } else {
        invitation_bytes(bytes, &invite->as.invite.job, invite->as.invite.round,
                         &invite->as.invite.input);
        digest_sha256(&message.as.offer.invitation, &(struct slice){bytes, sizeof bytes}, 1);
        message.as.offer.job = invite->as.invite.job;
        message.as.offer.round = invite->as.invite.round;
        message.as.offer.answer = rig->answer_digest;
        message.as.offer.bytes = rig->answer_bytes;
    }
    say(rig, i, &message, (struct slice){0});
}

static void send_pieces(struct waiting *rig, size_t i)
{
    struct waiting_agent *agent = &rig->agent[i];
    agent->credit += agent->bytes_per_s * STEP_MS / 1000;
    agent->credit = agent->pull_count == 0 && agent->credit > CHUNK_BYTES_SMALL ? CHUNK_BYTES_SMALL
                                                                                : agent->credit;
    while (agent->pull_count > 0 && agent->credit >= agent->pull[0].as.pull.length) {
        struct message pull = agent->pull[0];
        struct message chunk = {.kind = MESSAGE_CHUNK};
        agent->pull_count--;
        memmove(agent->pull, agent->pull + 1, agent->pull_count * sizeof agent->pull[0]);
        agent->credit -= pull.as.pull.length;
        chunk.as.chunk.job = pull.as.pull.job;
        chunk.as.chunk.round = pull.as.pull.round;
        chunk.as.chunk.offset = pull.as.pull.offset;
        say(rig, i, &chunk, (struct slice){rig->answer + pull.as.pull.offset, pull.as.pull.length});
    }
}

bool waiting_run(struct waiting *rig, size_t rounds, int64_t ms)
{
    const int64_t until_ms = rig->now_ms + ms;
    while (rig->round_count < rounds && !rig->finished && rig->now_ms < until_ms) {
        rig->now_ms += STEP_MS;
        for (size_t i = 0; i < rig->agent_count; i++) {
            struct waiting_agent *agent = &rig->agent[i];
            if (agent->present && rig->now_ms >= agent->hello_ms) {
                greet(rig, i);
            }
            if (agent->present && agent->invited && !agent->offered && !agent->mute &&
                rig->now_ms >= agent->offers_ms) {
                answer_invitation(rig, i);
            }
            if (agent->present) {
                send_pieces(rig, i);
            }
        }
        if (rig->machine.wake_ms(rig->machine.self) <= rig->now_ms) {
            step(rig, &(struct event){.kind = EVENT_TICK});
        }
    }
    return rig->round_count >= rounds;
}

void waiting_list(struct waiting *rig, size_t count)
{
    struct peer peer[WAITING_AGENTS_MAX];
    struct event roster = {.kind = EVENT_ROSTER, .as.roster = {.peer = peer, .count = count}};
    for (size_t i = 0; i < count; i++) {
        peer[i] = peer_of(i);
    }
    step(rig, &roster);
}

void waiting_cut(struct waiting *rig, size_t agent)
{
    struct event event = {.kind = EVENT_CUT};
    event.as.cut.peer = peer_of(agent);
    step(rig, &event);
}

void waiting_cancel(struct waiting *rig, const char *by)
{
    struct event event = {.kind = EVENT_FILE,
                          .as.file = {.which = FOLLOWED_CANCEL, .text = {by, strlen(by)}}};
    step(rig, &event);
}

static void enlarge(struct waiting *rig)
{
    rig->columns = calloc(COLUMNS, sizeof *rig->columns);
    cr_assert_not_null(rig->columns);
    for (size_t i = 0; i < COLUMNS; i++) {
        rig->columns[i].kind = COLUMN_CATEGORY;
        rig->columns[i].category_count = SCHEMA_CATEGORIES_MAX;
    }
    rig->job.schema.column = rig->columns;
    rig->job.schema.column_count = COLUMNS;
    rig->job.stage[0].schema = block_schema(&rig->job.schema, 0);
    rig->job.stage[0].block = block_at(&rig->job.schema, 0);
}

static void begin(struct waiting *rig)
{
    struct peer peer[WAITING_AGENTS_MAX];
    struct event roster = {.kind = EVENT_ROSTER,
                           .as.roster = {.peer = peer, .count = rig->agent_count}};
    struct coordinator_options options = {.job = &rig->job,
                                          .text = {TEXT, sizeof TEXT - 1},
                                          .random = &rig->random,
                                          .log = &rig->log,
                                          .cancelled = rig->cancelled,
                                          .answer_bytes_max = 1 << 26,
                                          .linger_ms = 60000,
                                          .settle_ms = 10000};

    cr_assert_eq(coordinator_new(&rig->coordinator, &options), STATUS_OK);
    rig->machine = coordinator_machine(rig->coordinator);
    for (size_t i = 0; i < rig->agent_count; i++) {
        peer[i] = peer_of(i);
    }
    if (rig->commits == 0) {
        step(rig, &(struct event){.kind = EVENT_START});
        step(rig, &roster);
    }
}

void waiting_init(struct waiting *rig, size_t agent_count, const char *cohort, bool large)
{
    char text[sizeof TEXT + 128];
    struct why why = {{0}};
    int size = snprintf(text, sizeof text, TEXT, cohort);

    memset(rig, 0, sizeof *rig);
    cr_assert_eq(job_parse(&rig->job, (struct slice){text, (size_t)size}, "job", &why), STATUS_OK,
                 "%s", why.text);
    if (large) {
        free(rig->job.schema.column);
        enlarge(rig);
    }
    rig->agent_count = agent_count;
    rig->log = (struct log){.write = listen, .self = rig, .level = LOG_INFO};
    seeded_random_init(&rig->seeded, 1);
    rig->random = seeded_random_interface(&rig->seeded);
    rig->answer_bytes = 8 * round_answer_count(&rig->job, &rig->job.stage[0], 0, 0);
    rig->answer = calloc(1, rig->answer_bytes);
    cr_assert_not_null(rig->answer);
    digest_sha256(&rig->answer_digest, &(struct slice){rig->answer, rig->answer_bytes}, 1);
    for (size_t i = 0; i < agent_count; i++) {
        rig->agent[i] = (struct waiting_agent){.present = true, .ready = true, .bytes_per_s = 4e6};
    }
    cr_assert_eq(effects_init(&rig->effects, 1 << 18), STATUS_OK);
    begin(rig);
}

void waiting_rerun(struct waiting *rig)
{
    uint8_t *body = NULL;
    size_t size = 0;
    struct record job = {.kind = RECORD_JOB, .wall_ms = rig->begun_wall_ms};
    struct event event = {.kind = EVENT_RECORD};

    job.as.job.trees = rig->trees;
    job.as.job.shares = rig->shares;
    job.as.job.protocol = rig->protocol;
    job.as.job.job = rig->coordinator->outcome.job_name;
    char text[sizeof TEXT];
    memcpy(text, TEXT, sizeof TEXT);
    job.as.job.text = text;
    coordinator_free(rig->coordinator);
    rig->finished = false;
    rig->said_bytes = 0;
    rig->said[0] = '\0';
    begin(rig);
    cr_assert_eq(wire_encode_record(&body, &size, &job), STATUS_OK);
    event.as.record.sequence = 1;
    event.as.record.body = (struct slice){body, size};
    step(rig, &event);
    free(body);
    if (rig->round_count > 0) {
        cr_assert_eq(wire_encode_record(&body, &size, &rig->round[rig->round_count - 1]),
                     STATUS_OK);
        event.as.record.sequence = 2;
        event.as.record.body = (struct slice){body, size};
        event.as.record.blob = (struct slice){rig->blob, rig->blob_bytes};
        step(rig, &event);
        free(body);
    }
    step(rig, &(struct event){.kind = EVENT_START});
}

bool waiting_counted(const struct waiting *rig, size_t round, size_t agent)
{
    struct peer peer = peer_of(agent);
    for (uint32_t i = 0; i < rig->round[round].as.round.agent_count; i++) {
        if (strcmp(rig->round[round].as.round.agent[i].name, peer.name) == 0) {
            return true;
        }
    }
    return false;
}

bool waiting_said(const struct waiting *rig, const char *event, const char *words)
{
    for (const char *line = rig->said; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, words);
        if (strncmp(line, event, strlen(event)) == 0 && found != NULL && found < end) {
            return true;
        }
    }
    return false;
}

void waiting_free(struct waiting *rig)
{
    for (size_t i = 0; i < rig->round_count; i++) {
        record_free(&rig->round[i]);
    }
    coordinator_free(rig->coordinator);
    effects_free(&rig->effects);
    free(rig->answer);
    job_free(&rig->job); /* and the columns of a large one */
}
