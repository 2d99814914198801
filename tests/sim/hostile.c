/* Peers that break the protocol: a coordinator that lies to the agents (its forged frames come
 * beside the honest one's), a hostile peer with an admitted key, a stranger, and random bytes.
 */

#include "crypto/digest.h"
#include "sim/world.h"
#include "support/any_message.h"

#include <string.h>

enum { DIMENSION = 3 };

static size_t some_agent(struct world *world)
{
    return 1 + dice_below(&world->dice, SIM_AGENTS);
}

void liar_init(struct world *world)
{
    struct liar *liar = &world->liar;
    struct dice dice = {.state = world->plan.seed ^ 0x11a};
    for (size_t i = 0; i < sizeof liar->artifact / 8; i++) {
        double weight = (double)dice_below(&dice, 2000) / 1000 - 1;
        memcpy(liar->artifact + 8 * i, &weight, 8);
    }
    liar->bytes = (struct slice){
        .data = liar->artifact,
        .size = 8 * DIMENSION * (1 + dice_below(&dice, sizeof liar->artifact / 8 / DIMENSION))};
    digest_sha256(&liar->digest, &liar->bytes, 1);
    digest_sha256(&liar->text_digest, &world->fixture.text, 1);
    liar->job = (struct job_name){.nonce = any_digest(&dice),
                                  .text_digest = liar->text_digest,
                                  .text_bytes = (uint32_t)world->fixture.text.size};
    struct slice parts[] = {{.data = "hedgerow job 1", .size = 14},
                            {.data = liar->job.nonce.byte, .size = DIGEST_BYTES},
                            world->fixture.text};
    digest_sha256(&liar->job.id, parts, 3);
}

/* The honest job, or the liar's own: the same text under another name. */
static struct digest some_job(struct world *world)
{
    const struct checker *checker = &world->checker;
    return checker->job_known && !dice_one_in(&world->dice, 4) ? checker->job.id
                                                               : world->liar.job.id;
}

static uint32_t some_round(struct world *world)
{
    uint64_t now = world->checker.round_count;
    uint64_t round = now + dice_below(&world->dice, 5);
    return (uint32_t)(round >= 2 ? round - 2 : 0);
}

static struct artifact some_artifact(struct world *world)
{
    struct dice *dice = &world->dice;
    size_t rounds = world->checker.round_count;
    struct artifact forged = {.digest = world->liar.digest, .bytes = world->liar.bytes.size};
    switch (dice_below(dice, 5)) {
    case 0:
        return (struct artifact){0};
    case 1:
        return any_artifact(dice);
    case 2:
        forged.bytes += 8;
        return forged;
    case 3:
        return rounds > 0 ? world->checker.round[dice_below(dice, rounds)].experts : forged;
    default:
        return forged;
    }
}

/* It sometimes comes along, and does not always match its digest. */
static struct slice liar_input(struct world *world, const struct message *invite)
{
    const struct slice bytes = world->liar.bytes;
    return world->plan.whole_bytes_max > 0 && bytes.size == message_whole_bytes(invite) &&
                   dice_one_in(&world->dice, 2)
               ? bytes
               : (struct slice){0};
}

void liar_act(struct world *world)
{
    static const enum message_kind lie[] = {MESSAGE_INVITE,  MESSAGE_INVITE, MESSAGE_INVITE,
                                            MESSAGE_WELCOME, MESSAGE_PULL,   MESSAGE_RELEASE,
                                            MESSAGE_PIECE};
    struct message message;
    size_t size = 0;
    struct dice *dice = &world->dice;
    struct slice payload = {0};
    any_message(dice, lie[dice_below(dice, sizeof lie / sizeof lie[0])], &message, &size);
    if (message.kind == MESSAGE_INVITE) {
        message.as.invite.job = some_job(world);
        message.as.invite.round = some_round(world);
        message.as.invite.input = some_artifact(world);
        payload = liar_input(world, &message);
    } else if (message.kind == MESSAGE_WELCOME) {
        if (!dice_one_in(dice, 4)) {
            message.as.welcome.job = world->liar.job;
        }
    } else if (message.kind == MESSAGE_PULL) {
        message.as.pull.job = some_job(world);
        message.as.pull.round = some_round(world);
        message.as.pull.offset = 8 * dice_below(dice, 4);
        message.as.pull.length = (uint32_t)(1 + dice_below(dice, 64));
    } else if (message.kind == MESSAGE_RELEASE) {
        message.as.release.job = some_job(world);
        message.as.release.round = some_round(world);
        message.as.release.experts = some_artifact(world);
        message.as.release.last = dice_one_in(dice, 8);
        message.as.release.failed = dice_one_in(dice, 8);
    } else {
        message.as.piece.digest = world->liar.text_digest;
        message.as.piece.offset = 0;
        payload = world->liar.bytes;
    }
    world->tally.lies++;
    network_inject_message(world, COORDINATOR, some_agent(world), &message, payload);
}

/* An agent that has joined the liar's own job is asked for everything. */
static void liar_invite(struct world *world, size_t to)
{
    struct message invite = {.kind = MESSAGE_INVITE};
    invite.as.invite.job = world->liar.job.id;
    invite.as.invite.round = (uint32_t)dice_below(&world->dice, 5);
    if (invite.as.invite.round >= 2) {
        invite.as.invite.input =
            (struct artifact){.digest = world->liar.digest, .bytes = world->liar.bytes.size};
    }
    network_inject_message(world, COORDINATOR, to, &invite, liar_input(world, &invite));
}

/* The liar answers what agents ask: it sends the text and its experts, and asks for their answers
 * on these. */
static void liar_serve(struct world *world, size_t to, const struct message *fetch,
                       struct slice source)
{
    struct message piece = {.kind = MESSAGE_PIECE};
    uint64_t offset = fetch->as.fetch.offset;
    if (offset >= source.size) {
        return;
    }
    uint64_t left = source.size - offset;
    uint64_t size = fetch->as.fetch.length < left ? fetch->as.fetch.length : left;
    piece.as.piece.digest = fetch->as.fetch.digest;
    piece.as.piece.offset = offset;
    network_inject_message(
        world, COORDINATOR, to, &piece,
        (struct slice){.data = (const uint8_t *)source.data + offset, .size = (size_t)size});
}

void liar_overhear(struct world *world, size_t from, struct slice control)
{
    struct message heard;
    if (world->plan.liar == 0 || !world_is_faulty(world) ||
        wire_decode(&heard, control, (struct slice){0}) != STATUS_OK) {
        return;
    }
    if (heard.kind == MESSAGE_FETCH && digest_equal(&heard.as.fetch.digest, &world->liar.digest)) {
        liar_serve(world, from, &heard, world->liar.bytes);
    } else if (heard.kind == MESSAGE_FETCH &&
               digest_equal(&heard.as.fetch.digest, &world->liar.text_digest)) {
        liar_serve(world, from, &heard, world->fixture.text);
    } else if (heard.kind == MESSAGE_HELLO && heard.as.hello.ready &&
               digest_equal(&heard.as.hello.job, &world->liar.job.id)) {
        liar_invite(world, from);
    } else if (heard.kind == MESSAGE_OFFER) {
        struct message pull = {.kind = MESSAGE_PULL};
        pull.as.pull.job = heard.as.offer.job;
        pull.as.pull.round = heard.as.offer.round;
        pull.as.pull.length = (uint32_t)heard.as.offer.bytes;
        network_inject_message(world, COORDINATOR, from, &pull, (struct slice){0});
    }
}

int64_t mallory_value(uint32_t round, size_t place)
{
    return (int64_t)(1000 * (uint64_t)round + place) * (place % 2 == 0 ? 1 : -1);
}

static struct slice mallory_answer(uint8_t *out, uint32_t round, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        store_u64(out + 8 * i, (uint64_t)mallory_value(round, i));
    }
    return (struct slice){.data = out, .size = 8 * count};
}

enum { MALLORY_VALUES_MAX = 64 };

static void mallory_offer(struct world *world, size_t self, const struct message *invite,
                          size_t count)
{
    uint8_t bytes[8 * MALLORY_VALUES_MAX];
    uint8_t named[INVITATION_BYTES];
    struct slice invitation = {.data = named, .size = sizeof named};
    struct slice answer = mallory_answer(bytes, invite->as.invite.round, count);
    struct message offer = {.kind = MESSAGE_OFFER};
    invitation_bytes(named, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    offer.as.offer.job = invite->as.invite.job;
    offer.as.offer.round = invite->as.invite.round;
    digest_sha256(&offer.as.offer.invitation, &invitation, 1);
    digest_sha256(&offer.as.offer.answer, &answer, 1);
    offer.as.offer.bytes = answer.size;
    if (dice_one_in(&world->dice, 4)) {
        offer.as.offer.answer = any_digest(&world->dice);
    }
    if (dice_one_in(&world->dice, 8)) {
        offer.as.offer.invitation = any_digest(&world->dice);
    }
    if (dice_one_in(&world->dice, 8)) {
        offer.as.offer.bytes = any_number(&world->dice, 1, TRANSFER_BYTES_MAX);
    }
    const bool whole = world->plan.whole_bytes_max > 0 && dice_one_in(&world->dice, 2);
    if (whole && dice_one_in(&world->dice, 8)) {
        bytes[dice_below(&world->dice, answer.size)] ^= 1;
    }
    network_inject_message(world, self, COORDINATOR, &offer, whole ? answer : (struct slice){0});
}

static void mallory_chunk(struct world *world, size_t self, const struct message *pull)
{
    uint8_t bytes[8 * MALLORY_VALUES_MAX + 1] = {0};
    struct message chunk = {.kind = MESSAGE_CHUNK};
    struct slice payload = mallory_answer(bytes, pull->as.pull.round, MALLORY_VALUES_MAX);
    size_t offset = (size_t)(pull->as.pull.offset % sizeof bytes);
    payload.data = bytes + offset;
    payload.size = pull->as.pull.length;
    if (dice_one_in(&world->dice, 8)) {
        payload.size = 1 + dice_below(&world->dice, 64);
    }
    if (dice_one_in(&world->dice, 8)) {
        bytes[offset] ^= 1;
    }
    if (payload.size > sizeof bytes - offset) {
        payload.size = sizeof bytes - offset;
    }
    chunk.as.chunk.job = pull->as.pull.job;
    chunk.as.chunk.round = pull->as.pull.round;
    chunk.as.chunk.offset = pull->as.pull.offset;
    network_inject_message(world, self, COORDINATOR, &chunk, payload);
}

/* It answers like an agent, and sometimes wrongly. */
void mallory_hear(struct world *world, size_t self, struct slice control)
{
    struct message heard;
    if (wire_decode(&heard, control, (struct slice){0}) != STATUS_OK) {
        return;
    }
    if (heard.kind == MESSAGE_WELCOME) {
        struct message hello = {.kind = MESSAGE_HELLO};
        hello.as.hello.version = PROTOCOL_VERSION;
        hello.as.hello.job = heard.as.welcome.job.id;
        hello.as.hello.rounds_closed = (uint32_t)dice_below(&world->dice, 8);
        hello.as.hello.ready = true;
        if (dice_one_in(&world->dice, 2)) {
            network_inject_message(world, self, COORDINATOR, &hello, (struct slice){0});
        }
    } else if (heard.kind == MESSAGE_INVITE) {
        bool judges = heard.as.invite.input.bytes > 0;
        size_t count = judges ? (size_t)heard.as.invite.input.bytes / (8 * DIMENSION) : DIMENSION;
        mallory_offer(world, self, &heard, count < MALLORY_VALUES_MAX ? count : MALLORY_VALUES_MAX);
    } else if (heard.kind == MESSAGE_PULL) {
        mallory_chunk(world, self, &heard);
    }
}

void speak_rubbish(struct world *world, size_t from, size_t to)
{
    static const uint8_t zeroes[64];
    struct message message;
    size_t size = 0;
    any_message(&world->dice, (enum message_kind)dice_below(&world->dice, MESSAGE_KIND_COUNT),
                &message, &size);
    network_inject_message(world, from, to, &message,
                           (struct slice){.data = zeroes, .size = size % sizeof zeroes});
}

void say_hello(struct world *world, size_t from)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.job = some_job(world);
    hello.as.hello.ready = true;
    network_inject_message(world, from, COORDINATOR, &hello, (struct slice){0});
}

void mallory_act(struct world *world)
{
    if (dice_one_in(&world->dice, 2)) {
        say_hello(world, MALLORY);
    } else {
        speak_rubbish(world, MALLORY, COORDINATOR);
    }
}

void stranger_act(struct world *world)
{
    if (dice_one_in(&world->dice, 2)) {
        say_hello(world, STRANGER);
    } else {
        speak_rubbish(world, STRANGER, COORDINATOR);
    }
}

void junk_act(struct world *world)
{
    uint8_t bytes[100];
    bool to_agent = dice_one_in(&world->dice, 2);
    size_t agent = some_agent(world);
    size_t size = dice_below(&world->dice, sizeof bytes);
    dice_fill(&world->dice, bytes, sizeof bytes);
    network_inject(world, to_agent ? COORDINATOR : agent, to_agent ? agent : COORDINATOR,
                   (struct slice){.data = bytes, .size = size},
                   (struct slice){.data = bytes, .size = dice_one_in(&world->dice, 2) ? 0 : size});
}
