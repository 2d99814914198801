/* desk_stranger.c - a hostile peer at a desk or at the agents' port, for test_desk.py. It asks without end, sends frames of
 * the other protocol and hostile bytes, and enrols with a token of the wrong kind.
 *
 *   desk_stranger ADDRESS COORDINATOR-KEY SECRET-KEY-FILE DEED COUNT [TOKEN-SECRET]
 *
 * Does the deed COUNT times, and prints "in" if the handshake was let in or an answer came, and how many answers. */

#include "base/file.h"
#include "crypto/key.h"
#include "io/clock.h"
#include "io/endpoint.h"
#include "protocol/ask.h"
#include "protocol/message.h"
#include "protocol/wire.h"
#include "support/dice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_MS = 1500, ANSWERS_MS = 20 };

struct stranger {
    struct endpoint *endpoint;
    struct key_pair own;
    struct dice dice;
    uint64_t sent;
    uint64_t heard;
};

static void send_frame(struct stranger *stranger, const uint8_t *frame, size_t size,
                       struct slice payload)
{
    static const struct peer coordinator = {"coordinator"};
    if (endpoint_send(stranger->endpoint, &coordinator, (struct slice){frame, size}, payload) ==
        STATUS_OK) {
        stranger->sent++;
    }
}

static void ask(struct stranger *stranger, enum ask_verb verb)
{
    uint8_t frame[ASK_FRAME_BYTES_MAX];
    struct ask question = {.verb = verb, .number = stranger->sent + 1};
    if (verb == ASK_ENROL) {
        question.id = stranger->own.public_key;
    }
    send_frame(stranger, frame, ask_encode(frame, &question), (struct slice){NULL, 0});
}

static void say(struct stranger *stranger, enum message_kind kind)
{
    uint8_t frame[CONTROL_BYTES_MAX];
    struct message message = {.kind = kind};
    if (kind == MESSAGE_HELLO) {
        message.as.hello.version = PROTOCOL_VERSION;
    } else {
        message.as.enrol.public_key = stranger->own.public_key;
    }
    send_frame(stranger, frame, wire_encode(frame, &message), (struct slice){NULL, 0});
}

/* A good question with some bytes changed, cut or added; or bytes alone. */
static void throw_bytes(struct stranger *stranger)
{
    uint8_t frame[2 * ASK_FRAME_BYTES_MAX];
    static uint8_t payload[ASK_PAYLOAD_BYTES_MAX];
    struct dice *dice = &stranger->dice;
    const struct ask question = {.verb = (enum ask_verb)(1 + dice_below(dice, ASK_VERB_END - 1)),
                                 .number = dice_word(dice) | 1,
                                 .job = (uint32_t)dice_below(dice, 4),
                                 .from = dice_word(dice) >> dice_below(dice, 64),
                                 .file = (uint32_t)dice_below(dice, 3),
                                 .id = {{(uint8_t)dice_below(dice, 2)}}};
    size_t size = dice_below(dice, 4) == 0 ? dice_below(dice, sizeof frame) : 0;
    dice_fill(dice, frame, sizeof frame);
    if (size == 0) {
        size = ask_encode(frame, &question);
        for (uint64_t i = dice_below(dice, 4); i > 0; i--) {
            frame[dice_below(dice, size)] ^= (uint8_t)(1 << dice_below(dice, 8));
        }
        size += dice_below(dice, 8) == 0 ? dice_below(dice, 8) : 0;
    }
    const size_t with = dice_below(dice, 3) == 0 ? dice_below(dice, 4096) : 0;
    dice_fill(dice, payload, with);
    send_frame(stranger, frame, size, (struct slice){payload, with});
}

static void act(struct stranger *stranger, const char *deed)
{
    if (strcmp(deed, "jobs") == 0) {
        ask(stranger, ASK_JOBS);
    } else if (strcmp(deed, "who") == 0) {
        ask(stranger, ASK_WHO);
    } else if (strcmp(deed, "enrol-operator") == 0) {
        ask(stranger, ASK_ENROL);
    } else if (strcmp(deed, "enrol-agent") == 0) {
        say(stranger, MESSAGE_ENROL);
    } else if (strcmp(deed, "hello") == 0) {
        say(stranger, MESSAGE_HELLO);
    } else {
        throw_bytes(stranger);
    }
}

static void hear(struct stranger *stranger, int wait_ms)
{
    struct endpoint_message from;
    (void)!endpoint_poll(stranger->endpoint, NULL, 0, wait_ms);
    while (endpoint_receive(stranger->endpoint, &from) == STATUS_OK) {
        stranger->heard++;
    }
}

static enum status read_keys(struct stranger *stranger, struct key_pair *line,
                             struct digest *coordinator, int count, char **argument,
                             struct why *why)
{
    struct digest secret;
    enum status status = key_public_parse(coordinator, argument[2], why);
    if (status == STATUS_OK) {
        status = key_secret_read(&stranger->own, argument[3], why);
    }
    *line = stranger->own;
    if (status == STATUS_OK && count > 6) { /* under a token */
        status = hex_decode(secret.byte, KEY_BYTES, argument[6]);
        status = status == STATUS_OK ? key_pair_from_secret(line, &secret) : status;
    }
    return status;
}

int main(int count, char **argument)
{
    struct stranger stranger = {.dice = {.state = 20261124}};
    struct key_pair line;
    struct endpoint_options options = {.payload_bytes_max = CHUNK_BYTES_MAX, .key = &line};
    struct why why = {""};
    if (count < 6 ||
        read_keys(&stranger, &line, &options.coordinator_key, count, argument, &why) != STATUS_OK) {
        (void)fprintf(stderr, "desk_stranger: %s\n", why.text);
        return 2;
    }
    options.address = argument[1];
    if (endpoint_dial(&stranger.endpoint, &options, &why) != STATUS_OK) {
        (void)fprintf(stderr, "desk_stranger: %s\n", why.text);
        return 2;
    }
    const uint64_t wanted = strtoull(argument[5], NULL, 10);
    int64_t until_ms = clock_now_ms() + LAST_MS;
    for (uint64_t before = 0; stranger.sent < wanted && clock_now_ms() < until_ms;) {
        act(&stranger, argument[4]);
        if (stranger.sent >
            before) { /* full, cut or not yet connected: it waits, and gives up in the end */
            before = stranger.sent;
            until_ms = clock_now_ms() + LAST_MS;
        }
        hear(&stranger, stranger.sent % 16 == 0 ? 1 : 0);
    }
    until_ms = clock_now_ms() + LAST_MS;
    while (clock_now_ms() < until_ms && stranger.heard < stranger.sent) {
        hear(&stranger, ANSWERS_MS);
    }
    (void)printf("sent %" PRIu64 " heard %" PRIu64 "\n", stranger.sent, stranger.heard);
    endpoint_free(stranger.endpoint);
    key_pair_wipe(&stranger.own);
    key_pair_wipe(&line);
    return 0;
}
