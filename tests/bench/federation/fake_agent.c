#include "tests/bench/federation/fake_agent.h"

#include "crypto/digest.h"
#include "io/clock.h"
#include "io/endpoint.h"
#include "protocol/transfer.h"
#include "protocol/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELLO_MS = 500, RETRY_MS = 2000 };

struct acting {
    const struct fake_agent *agent;
    struct endpoint *endpoint;
    uint8_t *answer; /* (d words) owned */
    struct digest answer_digest;
    struct job_name job;
    uint32_t rounds_closed;
    bool invited;
    struct message release;
    struct transfer fetch;
    bool judged;
};

static int64_t value_of(size_t agent, size_t coordinate)
{
    return (int64_t)(coordinate * 7 + agent * 3) - 1000000;
}

static void send_message(const struct acting *acting, const struct message *message,
                         struct slice payload)
{
    static const struct peer coordinator = {"coordinator"};
    uint8_t control[CONTROL_BYTES_MAX];
    size_t size = wire_encode(control, message);
    enum status status =
        endpoint_send(acting->endpoint, &coordinator, (struct slice){control, size}, payload);
    if (status != STATUS_OK && getenv("BENCH_VERBOSE") != NULL) {
        (void)fprintf(stderr, "agent %zu: a %s was not sent: %s\n", acting->agent->number,
                      message_kind_name(message->kind), status_text(status));
    }
}

static void hello(const struct acting *acting)
{
    struct message message = {.kind = MESSAGE_HELLO};
    message.as.hello.version = PROTOCOL_VERSION;
    message.as.hello.job = acting->job.id;
    message.as.hello.rounds_closed = acting->rounds_closed;
    message.as.hello.ready = !digest_is_none(&acting->job.id);
    send_message(acting, &message, (struct slice){0});
}

static void offer(const struct acting *acting, const struct message *invite)
{
    struct message message = {.kind = MESSAGE_OFFER};
    uint8_t bytes[INVITATION_BYTES];
    struct slice slice = {bytes, sizeof bytes};

    invitation_bytes(bytes, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    digest_sha256(&message.as.offer.invitation, &slice, 1);
    message.as.offer.job = acting->job.id;
    message.as.offer.round = invite->as.invite.round;
    message.as.offer.answer = acting->answer_digest;
    message.as.offer.bytes = acting->agent->feature_count * 8;
    send_message(acting, &message, (struct slice){0});
}

static void serve(const struct acting *acting, const struct message *pull)
{
    struct message message = {.kind = MESSAGE_CHUNK};
    message.as.chunk.job = acting->job.id;
    message.as.chunk.round = pull->as.pull.round;
    message.as.chunk.offset = pull->as.pull.offset;
    send_message(acting, &message,
                 (struct slice){acting->answer + pull->as.pull.offset, pull->as.pull.length});
}

static void ask(struct acting *acting)
{
    struct message message = {.kind = MESSAGE_FETCH};
    message.as.fetch.digest = acting->release.as.release.experts.digest;
    while (transfer_ask(&acting->fetch, &message.as.fetch.offset, &message.as.fetch.length)) {
        send_message(acting, &message, (struct slice){0});
    }
}

/* The model is the average of everybody's made-up vectors. */
static bool model_is_right(const struct acting *acting)
{
    const struct fake_agent *agent = acting->agent;
    struct slice bytes = {acting->fetch.data, (size_t)acting->fetch.bytes};
    struct digest digest;

    digest_sha256(&digest, &bytes, 1);
    if (!digest_equal(&digest, &acting->release.as.release.experts.digest) ||
        acting->fetch.bytes != agent->feature_count * 8) {
        return false;
    }
    for (size_t i = 0; i < agent->feature_count; i++) {
        uint64_t word = load_u64(acting->fetch.data + 8 * i);
        double weight;
        memcpy(&weight, &word, sizeof weight);
        /* The vectors are linear in the agent's number: the average is half of the outer two. */
        double outer = (double)(value_of(0, i) + value_of(agent->agent_count - 1, i));
        if (fabs(weight - ldexp(outer, -1 - (int)agent->grid_bits)) > 1e-9) {
            return false;
        }
    }
    return true;
}

static void judge(struct acting *acting)
{
    char verdict = model_is_right(acting) ? 'y' : 'n';
    if (write(acting->agent->verdict_pipe[1], &verdict, 1) != 1) {
        _exit(1);
    }
    acting->judged = true;
    acting->rounds_closed = acting->release.as.release.round + 1;
    transfer_drop(&acting->fetch);
    hello(acting);
}

static void take(struct acting *acting, const struct message *message, struct slice payload)
{
    switch (message->kind) {
    case MESSAGE_WELCOME:
        if (digest_is_none(&acting->job.id)) {
            acting->job = message->as.welcome.job;
            hello(acting);
        }
        break;
    case MESSAGE_INVITE:
        offer(acting, message);
        break;
    case MESSAGE_PULL:
        serve(acting, message);
        break;
    case MESSAGE_RELEASE:
        if (!acting->judged && !transfer_is_active(&acting->fetch)) {
            acting->release = *message;
            if (message->as.release.failed ||
                transfer_begin(&acting->fetch, message->as.release.experts.bytes, clock_now_ms()) !=
                    STATUS_OK) {
                _exit(1);
            }
            ask(acting);
        }
        break;
    case MESSAGE_PIECE:
        if (transfer_accept(&acting->fetch, message->as.piece.offset, payload, clock_now_ms())) {
            if (transfer_is_whole(&acting->fetch)) {
                judge(acting);
            } else {
                ask(acting);
            }
        }
        break;
    case MESSAGE_HELLO:
    case MESSAGE_OFFER:
    case MESSAGE_CHUNK:
    case MESSAGE_DECLINE:
    case MESSAGE_FETCH:
    case MESSAGE_DICTIONARY:
    case MESSAGE_SHOW:
    case MESSAGE_ENROL:
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
    case MESSAGE_KIND_COUNT:
        break;
    }
}

static void act(struct acting *acting)
{
    struct endpoint_message from;
    struct message message;
    int64_t hello_ms = 0;

    for (;;) {
        if (clock_now_ms() >= hello_ms) {
            hello_ms = clock_now_ms() + HELLO_MS;
            hello(acting);
        }
        if (transfer_is_active(&acting->fetch) &&
            clock_now_ms() - acting->fetch.progress_ms >= RETRY_MS) {
            transfer_retry(&acting->fetch, clock_now_ms());
            ask(acting);
        }
        if (endpoint_poll(acting->endpoint, NULL, 0, 100) != STATUS_OK) {
            _exit(1);
        }
        while (endpoint_receive(acting->endpoint, &from) == STATUS_OK) {
            if (wire_decode(&message, from.control, from.payload) == STATUS_OK) {
                take(acting, &message, from.payload);
            }
        }
    }
}

_Noreturn void fake_agent_run(const struct fake_agent *agent)
{
    struct fake_agent_address told;
    struct acting acting = {.agent = agent};
    struct why why = {""};
    size_t bytes = agent->feature_count * 8;

    acting.answer = malloc(bytes);
    if (acting.answer == NULL ||
        read(agent->address_pipe[0], &told, sizeof told) != (ssize_t)sizeof told) {
        _exit(1);
    }
    for (size_t i = 0; i < agent->feature_count; i++) {
        store_u64(acting.answer + 8 * i, (uint64_t)value_of(agent->number, i));
    }
    struct slice slice = {acting.answer, bytes};
    digest_sha256(&acting.answer_digest, &slice, 1);
    struct endpoint_options options = {.address = told.address,
                                       .key = &agent->key,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = told.coordinator_key};
    if (endpoint_dial(&acting.endpoint, &options, &why) != STATUS_OK) {
        (void)fprintf(stderr, "agent %zu: %s\n", agent->number, why.text);
        _exit(1);
    }
    act(&acting);
    _exit(1);
}
