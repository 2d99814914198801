#include "tests/bench/federation/fake_agent.h"

#include "crypto/digest.h"
#include "dp/encode.h"
#include "io/driver.h"
#include "protocol/transfer.h"
#include "protocol/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELLO_MS = 500, RETRY_MS = 2000 };

/* What a journal's record of an answer is about as long as. */
static const uint8_t record_body[300];

struct acting {
    const struct fake_agent *agent;
    uint8_t *answer; /* (d words) owned */
    struct digest answer_digest;
    struct job_name job;
    uint32_t rounds_closed;
    int64_t hello_ms;
    bool invited;
    struct message invite; /* what it answers; the answer is committed once the input is there */
    bool committed;
    uint64_t sequence; /* of the answer in the journal; 0: none */
    bool released;     /* the job's last round */
    struct message release;
    struct digest fetching;
    struct transfer fetch;
    bool judged;
    int64_t stalled_ms; /* since when it does not answer; 0: it was not asked yet */
};

/* Whole steps of what answers are rounded to, so that the model is known exactly. The period is prime, so that a piece in
 * another's place shows. */
static int64_t value_of(const struct fake_agent *agent, size_t number, size_t coordinate)
{
    const int64_t steps = (int64_t)(coordinate % 4093 * 7 + number * 3) - 14000;
    return steps * (INT64_C(1) << agent->form.shift);
}

static struct slice answer_of(const struct acting *acting)
{
    return (struct slice){acting->answer,
                          acting->agent->feature_count * acting->agent->form.word_bytes};
}

static void send_message(const struct message *message, struct slice payload,
                         struct effects *effects)
{
    static const struct peer coordinator = {"coordinator"};
    (void)!wire_send(effects, &coordinator, message, payload);
}

static void hello(struct acting *acting, int64_t now_ms, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_HELLO};
    message.as.hello.version = PROTOCOL_VERSION;
    message.as.hello.job = acting->job.id;
    message.as.hello.rounds_closed = acting->rounds_closed;
    message.as.hello.ready = !digest_is_none(&acting->job.id);
    acting->hello_ms = now_ms + HELLO_MS;
    send_message(&message, (struct slice){0}, effects);
}

static void offer(const struct acting *acting, struct effects *effects)
{
    const struct message *invite = &acting->invite;
    struct message message = {.kind = MESSAGE_OFFER};
    uint8_t bytes[INVITATION_BYTES];
    struct slice slice = {bytes, sizeof bytes};

    invitation_bytes(bytes, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    digest_sha256(&message.as.offer.invitation, &slice, 1);
    message.as.offer.job = acting->job.id;
    message.as.offer.round = invite->as.invite.round;
    message.as.offer.answer = acting->answer_digest;
    message.as.offer.bytes = answer_of(acting).size;
    message.as.offer.shift = acting->agent->form.shift;
    send_message(&message,
                 message_whole_bytes(&message) > 0 ? answer_of(acting) : (struct slice){0},
                 effects);
}

static void serve(const struct acting *acting, const struct message *pull, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_CHUNK};
    message.as.chunk.job = acting->job.id;
    message.as.chunk.round = pull->as.pull.round;
    message.as.chunk.offset = pull->as.pull.offset;
    send_message(&message,
                 (struct slice){acting->answer + pull->as.pull.offset, pull->as.pull.length},
                 effects);
}

static void ask(struct acting *acting, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_FETCH};
    message.as.fetch.digest = acting->fetching;
    while (transfer_ask(&acting->fetch, &message.as.fetch.offset, &message.as.fetch.length)) {
        send_message(&message, (struct slice){0}, effects);
    }
}

static enum status begin_fetch(struct acting *acting, const struct artifact *artifact,
                               int64_t now_ms, struct effects *effects)
{
    transfer_drop(&acting->fetch);
    acting->fetching = artifact->digest;
    enum status status =
        transfer_begin(&acting->fetch, artifact->bytes, TRANSFER_FETCH_BYTES, now_ms);
    if (status == STATUS_OK) {
        ask(acting, effects);
    }
    return status;
}

/* As the gate does: the answer's digest is made anew each time, and answer and record are one commit. */
static void commit(struct acting *acting, struct effects *effects)
{
    struct slice answer = answer_of(acting);
    digest_tree(&acting->answer_digest, answer);
    struct effect *effect = effects_add(effects, EFFECT_COMMIT);
    if (effect != NULL) {
        effect->as.commit.body = (struct slice){record_body, sizeof record_body};
        effect->as.commit.blob = answer;
        effect->as.commit.digest = &acting->answer_digest;
    }
}

/* The model is the average of everybody's made-up vectors, scaled. */
static bool model_is_right(const struct acting *acting)
{
    const struct fake_agent *agent = acting->agent;
    if (acting->fetch.bytes != agent->feature_count * 8) {
        return false;
    }
    for (size_t i = 0; i < agent->feature_count; i++) {
        uint64_t word = load_u64(acting->fetch.data + 8 * i);
        double weight;
        memcpy(&weight, &word, sizeof weight);
        /* The vectors are linear in the agent's number, so the average is half of the first and the
         * last. */
        double average =
            0.5 * (double)(value_of(agent, 0, i) + value_of(agent, agent->agent_count - 1, i));
        if (fabs(weight - agent->scale * average) > 1e-9) {
            return false;
        }
    }
    return true;
}

static bool is_what_was_asked_for(const struct acting *acting)
{
    return digest_is_of(&acting->fetching,
                        (struct slice){acting->fetch.data, (size_t)acting->fetch.bytes});
}

static enum status arrived(struct acting *acting, int64_t now_ms, struct effects *effects)
{
    const bool whole = is_what_was_asked_for(acting);
    if (acting->released) {
        char verdict = whole && model_is_right(acting) ? 'y' : 'n';
        if (write(acting->agent->verdict_pipe[1], &verdict, 1) != 1) {
            return STATUS_NO_MEMORY;
        }
        acting->judged = true;
        acting->rounds_closed = acting->release.as.release.round + 1;
        hello(acting, now_ms, effects);
    } else if (whole) {
        commit(acting, effects);
    }
    free(transfer_take(&acting->fetch)); /* it is public: an agent wipes it no more than this */
    return STATUS_OK;
}

static enum status on_invite(struct acting *acting, const struct message *message,
                             const struct event *event, struct effects *effects)
{
    if (acting->invited && acting->invite.as.invite.round == message->as.invite.round) {
        if (acting->committed) {
            offer(acting, effects);
        }
        return STATUS_OK;
    }
    acting->invited = true;
    acting->committed = false;
    acting->invite = *message;
    if (message->as.invite.input.bytes > 0) {
        transfer_drop(&acting->fetch);
        acting->fetching = message->as.invite.input.digest;
        enum status status = transfer_begin(&acting->fetch, message->as.invite.input.bytes,
                                            TRANSFER_FETCH_BYTES, event->now_ms);
        if (status != STATUS_OK) {
            return status;
        }
        if (transfer_fill(&acting->fetch, event->as.message.payload)) {
            return arrived(acting, event->now_ms, effects);
        }
        ask(acting, effects);
        return STATUS_OK;
    }
    commit(acting, effects);
    return STATUS_OK;
}

static enum status on_release(struct acting *acting, const struct message *message, int64_t now_ms,
                              struct effects *effects)
{
    if (!message->as.release.last) {
        acting->rounds_closed = message->as.release.round + 1;
        return STATUS_OK;
    }
    if (acting->released) { /* told again: it is being fetched, and counts as known once it has
                           * arrived */
        return STATUS_OK;
    }
    if (message->as.release.failed) {
        return STATUS_NO_MEMORY;
    }
    acting->released = true;
    acting->release = *message;
    return begin_fetch(acting, &message->as.release.experts, now_ms, effects);
}

static enum status on_message(struct acting *acting, const struct event *event,
                              struct effects *effects)
{
    struct message message;
    if (wire_decode(&message, event->as.message.control, event->as.message.payload) != STATUS_OK) {
        return STATUS_OK;
    }
    switch ((int)message.kind) {
    case MESSAGE_WELCOME:
        if (digest_is_none(&acting->job.id)) {
            acting->job = message.as.welcome.job;
            hello(acting, event->now_ms, effects);
        }
        return STATUS_OK;
    case MESSAGE_INVITE:
        return on_invite(acting, &message, event, effects);
    case MESSAGE_PULL:
        acting->stalled_ms = acting->stalled_ms > 0 ? acting->stalled_ms : event->now_ms;
        if (event->now_ms - acting->stalled_ms >= acting->agent->stall_ms) {
            serve(acting, &message, effects);
        }
        return STATUS_OK;
    case MESSAGE_RELEASE:
        return on_release(acting, &message, event->now_ms, effects);
    case MESSAGE_PIECE:
        if (!transfer_accept(&acting->fetch, message.as.piece.offset, event->as.message.payload,
                             event->now_ms)) {
            return STATUS_OK;
        }
        if (transfer_is_whole(&acting->fetch)) {
            return arrived(acting, event->now_ms, effects);
        }
        ask(acting, effects);
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

static void on_tick(struct acting *acting, int64_t now_ms, struct effects *effects)
{
    if (now_ms >= acting->hello_ms) {
        hello(acting, now_ms, effects);
    }
    if (transfer_is_active(&acting->fetch) &&
        now_ms - acting->fetch.progress_ms >= transfer_wait_ms(&acting->fetch, RETRY_MS)) {
        transfer_retry(&acting->fetch, now_ms);
        ask(acting, effects);
    }
}

static void on_committed(struct acting *acting, uint64_t sequence, struct effects *effects)
{
    struct effect *effect = acting->sequence > 0 ? effects_add(effects, EFFECT_FORGET) : NULL;
    if (effect != NULL) {
        effect->as.forget.sequence = acting->sequence;
    }
    acting->sequence = sequence;
    acting->committed = true;
    offer(acting, effects);
}

static enum status step(void *self, const struct event *event, struct effects *effects)
{
    struct acting *acting = self;
    switch ((int)event->kind) {
    case EVENT_MESSAGE:
        return on_message(acting, event, effects);
    case EVENT_TICK:
    case EVENT_START:
        on_tick(acting, event->now_ms, effects);
        return STATUS_OK;
    case EVENT_COMMITTED:
        on_committed(acting, event->as.committed.sequence, effects);
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

static int64_t wake_ms(const void *self)
{
    return ((const struct acting *)self)->hello_ms;
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct acting *acting = self;
    struct journal_sqlite_options options = {.folder = acting->agent->folder, .kind = "agent"};
    *machine = (struct machine){.self = acting, .step = step, .wake_ms = wake_ms};
    return journal_sqlite_open(journal, &options, why);
}

static void unmake(UNUSED void *self, struct machine *machine, struct journal *journal)
{
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

_Noreturn void fake_agent_run(const struct fake_agent *agent)
{
    struct fake_agent_address told;
    struct acting acting = {.agent = agent};
    struct why why = {""};
    int exit_code = 0;

    acting.answer = malloc(answer_of(&acting).size);
    if (acting.answer == NULL ||
        read(agent->address_pipe[0], &told, sizeof told) != (ssize_t)sizeof told) {
        _exit(1);
    }
    for (size_t i = 0; i < agent->feature_count; i++) {
        int64_t value = value_of(agent, agent->number, i);
        encode_round(&value, 1, agent->form.shift);
        encode_words(acting.answer + agent->form.word_bytes * i, &value, 1, agent->form.word_bytes);
    }
    struct endpoint_options options = {.address = told.address,
                                       .key = &agent->key,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .lines = "",
                                       .coordinator_key = told.coordinator_key};
    struct driver_factory factory = {.self = &acting, .make = make, .unmake = unmake};
    struct driver_options driver = {0};
    if (endpoint_dial(&driver.endpoint, &options, &why) != STATUS_OK ||
        driver_run(&driver, &factory, &exit_code, &why) != STATUS_OK) {
        (void)fprintf(stderr, "agent %zu: %s\n", agent->number, why.text);
        _exit(1);
    }
    endpoint_free(driver.endpoint);
    _exit(0);
}
