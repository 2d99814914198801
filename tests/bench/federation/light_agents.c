#include "tests/bench/federation/light_agents.h"

#include "crypto/digest.h"
#include "dp/encode.h"
#include "io/clock.h"
#include "io/endpoint_private.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS_MAX = 65535, DELAY_MS_MIN = 250, DELAY_MS_MAX = 5000, WAIT_MS = 100 };

struct light_agent {
    void *socket; /* NULL: to be built at build_ms */
    int64_t build_ms;
    unsigned attempts;
    int64_t hello_ms;
    unsigned unheard; /* greetings since it heard something */
    int64_t heard_ms;
    struct job_name job;
    uint32_t rounds_closed;
    uint8_t *answer;
    struct message invite; /* the latest, */
    struct digest input;   /* and the latest input that has come */
};

struct running {
    const struct light_agents *agents;
    void *context;
    struct light_agent *agent; /* (count) */
    size_t answer_bytes;
};

long long light_agents_value(size_t agent, size_t place)
{
    return (long long)(place * 7 + agent * 3) - 1000000;
}

static void give_up(const char *what)
{
    (void)fprintf(stderr, "light agents: %s: %s\n", what, zmq_strerror(zmq_errno()));
    _exit(1);
}

/* With the options of an agent's endpoint. */
static void build(struct running *run, size_t index)
{
    const struct light_agents *agents = run->agents;
    struct light_agent *agent = &run->agent[index];
    struct endpoint like = {.key = agents->key[index], .payload_bytes_max = CHUNK_BYTES_MAX};
    struct why why = {""};
    (void)snprintf(like.address, sizeof like.address, "%s", agents->address);
    agent->socket = zmq_socket(run->context, ZMQ_DEALER);
    if (agent->socket == NULL || endpoint_set_common(&like, agent->socket, &why) != STATUS_OK ||
        endpoint_set_bytes(agent->socket, ZMQ_CURVE_SERVERKEY, agents->public_key.byte, KEY_BYTES,
                           "CURVE_SERVERKEY", &why) != STATUS_OK ||
        endpoint_set(agent->socket, ZMQ_RECONNECT_IVL, DELAY_MS_MIN, "", &why) != STATUS_OK ||
        endpoint_set(agent->socket, ZMQ_RECONNECT_IVL_MAX, DELAY_MS_MAX, "", &why) != STATUS_OK ||
        zmq_connect(agent->socket, agents->address) != 0) {
        give_up(why.text);
    }
    agent->heard_ms = clock_now_ms();
    agent->unheard = 0;
}

static void say(const struct light_agent *agent, const struct message *message,
                struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    const size_t size = wire_encode(control, message);
    const int more = payload.size > 0 ? ZMQ_SNDMORE : 0;
    if (zmq_send(agent->socket, control, size, ZMQ_DONTWAIT | more) >= 0 && more != 0) {
        (void)zmq_send(agent->socket, payload.data, payload.size, ZMQ_DONTWAIT);
    }
}

static void hello(struct light_agent *agent, int64_t now_ms)
{
    struct message message = {.kind = MESSAGE_HELLO};
    message.as.hello.version = PROTOCOL_VERSION;
    message.as.hello.job = agent->job.id;
    message.as.hello.rounds_closed = agent->rounds_closed;
    message.as.hello.ready = !digest_is_none(&agent->job.id);
    agent->hello_ms = now_ms + LIGHT_HELLO_MS;
    if (agent->unheard++ >= WAITING_MAX) {
        return; /* as an endpoint that is not admitted */
    }
    say(agent, &message, (struct slice){0});
}

/* The answer's digest is made anew, as an agent does. */
static void answer(const struct running *run, const struct light_agent *agent)
{
    const struct message *invite = &agent->invite;
    struct message message = {.kind = MESSAGE_OFFER};
    const struct slice numbers = {agent->answer, run->answer_bytes};
    uint8_t bytes[INVITATION_BYTES];

    invitation_bytes(bytes, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    digest_sha256(&message.as.offer.invitation, &(struct slice){bytes, sizeof bytes}, 1);
    message.as.offer.job = agent->job.id;
    message.as.offer.round = invite->as.invite.round;
    digest_sha256(&message.as.offer.answer, &numbers, 1);
    message.as.offer.bytes = numbers.size;
    say(agent, &message, numbers);
}

/* The input is read, as far as its digest asks for it. */
static void take_input(const struct running *run, struct light_agent *agent, struct slice input)
{
    digest_sha256(&agent->input, &input, 1);
    if (!digest_equal(&agent->input, &agent->invite.as.invite.input.digest)) {
        give_up("an input came with other bytes");
    }
    answer(run, agent);
}

/* The input comes along, or came before, or is fetched: it is small. */
static void take_invite(const struct running *run, struct light_agent *agent,
                        const struct message *invite, struct slice payload)
{
    const struct artifact *input = &invite->as.invite.input;
    agent->invite = *invite;
    if (input->bytes == 0 || digest_equal(&agent->input, &input->digest)) {
        answer(run, agent);
    } else if (payload.size > 0) {
        take_input(run, agent, payload);
    } else {
        struct message fetch = {.kind = MESSAGE_FETCH};
        fetch.as.fetch.digest = input->digest;
        fetch.as.fetch.length = (uint32_t)input->bytes;
        say(agent, &fetch, (struct slice){0});
    }
}

static void take(const struct running *run, struct light_agent *agent, struct slice control,
                 struct slice payload, int64_t now_ms)
{
    struct message message;
    if (wire_decode(&message, control, payload) != STATUS_OK) {
        give_up("a frame that is not of this protocol");
    }
    agent->heard_ms = now_ms;
    agent->attempts = 0;
    agent->unheard = 0;
    if (message.kind == MESSAGE_WELCOME && digest_is_none(&agent->job.id)) {
        agent->job = message.as.welcome.job;
        hello(agent, now_ms);
    } else if (message.kind == MESSAGE_INVITE) {
        take_invite(run, agent, &message, payload);
    } else if (message.kind == MESSAGE_PIECE &&
               digest_equal(&message.as.piece.digest, &agent->invite.as.invite.input.digest)) {
        take_input(run, agent, payload);
    } else if (message.kind == MESSAGE_RELEASE) {
        agent->rounds_closed = message.as.release.round + 1;
    }
}

static void receive(const struct running *run, struct light_agent *agent)
{
    zmq_msg_t control;
    zmq_msg_t payload;
    (void)zmq_msg_init(&control);
    (void)zmq_msg_init(&payload);
    while (zmq_msg_recv(&control, agent->socket, ZMQ_DONTWAIT) >= 0) {
        const bool more = zmq_msg_more(&control) != 0;
        if (more && zmq_msg_recv(&payload, agent->socket, ZMQ_DONTWAIT) < 0) {
            break;
        }
        take(run, agent, endpoint_frame(&control),
             more ? endpoint_frame(&payload) : (struct slice){NULL, 0}, clock_now_ms());
    }
    (void)zmq_msg_close(&control);
    (void)zmq_msg_close(&payload);
}

/* Up to half as much again, as an agent's endpoint does. */
static void rebuild_later(struct light_agent *agent, size_t number, int64_t now_ms)
{
    int64_t delay_ms = DELAY_MS_MIN << (agent->attempts < 4 ? agent->attempts : 4);
    uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)now_ms;
    mixed ^= mixed >> 29;
    (void)zmq_close(agent->socket);
    agent->socket = NULL;
    agent->attempts++;
    agent->build_ms = now_ms + delay_ms + (int64_t)(mixed % (uint64_t)(delay_ms / 2));
}

static void tend(struct running *run, int64_t now_ms)
{
    for (size_t i = 0; i < run->agents->count; i++) {
        struct light_agent *agent = &run->agent[i];
        if (agent->socket == NULL) {
            if (now_ms >= agent->build_ms) {
                build(run, i);
                hello(agent, now_ms);
            }
        } else if (now_ms - agent->heard_ms > (int64_t)LIGHT_SILENCE_MS
                                                  << (agent->attempts > 0 ? 1 : 0)) {
            rebuild_later(agent, run->agents->first + i, now_ms);
        } else if (now_ms >= agent->hello_ms) {
            hello(agent, now_ms);
        }
    }
}

static bool prepare(struct running *run)
{
    const struct light_agents *agents = run->agents;
    (void)!nice(LIGHT_NICE);
    run->answer_bytes = agents->number_count * agents->word_bytes;
    run->agent = calloc(agents->count, sizeof *run->agent);
    for (size_t i = 0; run->agent != NULL && i < agents->count; i++) {
        struct light_agent *agent = &run->agent[i];
        agent->answer = malloc(run->answer_bytes);
        if (agent->answer == NULL) {
            return false;
        }
        for (size_t place = 0; place < agents->number_count; place++) {
            const int64_t value = light_agents_value(agents->first + i, place);
            encode_words(agent->answer + place * agents->word_bytes, &value, 1, agents->word_bytes);
        }
        agent->build_ms = clock_now_ms() + (int64_t)(agents->first + i) * 1000 / LIGHT_STARTS_PER_S;
    }
    return run->agent != NULL;
}

_Noreturn void light_agents_run(const struct light_agents *agents)
{
    struct running run = {.agents = agents, .context = zmq_ctx_new()};
    zmq_pollitem_t *item = calloc(agents->count, sizeof *item);
    int64_t tended_ms = 0;
    if (item == NULL || zmq_ctx_set(run.context, ZMQ_MAX_SOCKETS, SOCKETS_MAX) != 0 ||
        !prepare(&run)) {
        give_up("no memory");
    }
    for (;;) {
        int used = 0;
        for (size_t i = 0; i < agents->count; i++) {
            if (run.agent[i].socket != NULL) {
                item[used++] =
                    (zmq_pollitem_t){.socket = run.agent[i].socket, .events = ZMQ_POLLIN};
            }
        }
        const int ready = zmq_poll(item, used, WAIT_MS);
        for (size_t i = 0, at = 0; ready > 0 && i < agents->count; i++) {
            if (run.agent[i].socket != NULL && item[at++].revents != 0) {
                receive(&run, &run.agent[i]);
            }
        }
        if (clock_now_ms() - tended_ms >= WAIT_MS) {
            tended_ms = clock_now_ms();
            tend(&run, tended_ms);
        }
    }
}
