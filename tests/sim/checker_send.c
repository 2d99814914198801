/* What may leave a program. Only what the journal holds may leave: an agent sends nothing else that
 * depends on records, and the coordinator nothing that is not decided. */

#include "sim/world.h"

#include <inttypes.h>
#include <string.h>

static void check_offer(struct world *world, size_t agent, const struct message *message)
{
    struct known_answer *answer =
        checker_find(&world->checker, agent, &message->as.offer.job, message->as.offer.round);
    if (answer == NULL) {
        world_fail(world, "%s offers an answer to round %" PRIu32 " that is not durable",
                   peer_name(agent), message->as.offer.round);
        return;
    }
    const struct record *record = &answer->record;
    const bool central = plan_is_central(&world->plan);
    if (central) {
        central_on_offer(world, answer, message);
    }
    if ((!central && !digest_equal(&record->as.answer.answer, &message->as.offer.answer)) ||
        !digest_equal(&record->as.answer.invitation, &message->as.offer.invitation) ||
        record->as.answer.answer_bytes != message->as.offer.bytes) {
        world_fail(world, "%s offers another answer than the durable one", peer_name(agent));
    }
    world->tally.answers_sent_again += answer->offered;
    answer->offered = true;
}

static void check_chunk(struct world *world, size_t agent, const struct message *message,
                        struct slice payload)
{
    struct known_answer *answer =
        checker_find(&world->checker, agent, &message->as.chunk.job, message->as.chunk.round);
    uint64_t offset = message->as.chunk.offset;
    if (answer != NULL && plan_is_central(&world->plan)) {
        central_on_chunk(world, answer, message, payload);
        return;
    }
    /* The words of a masked answer are followed by what opens them. */
    const uint64_t size = answer == NULL ? 0 : answer->record.as.answer.answer_bytes;
    if (answer == NULL || offset > size || payload.size > size - offset ||
        memcmp((const uint8_t *)answer->bytes.data + offset, payload.data, payload.size) != 0) {
        world_fail(world, "%s sends bytes that are not in its journal", peer_name(agent));
    }
}

/* What comes with an offer is as a piece that was asked for. */
static void check_whole_answer(struct world *world, size_t agent, const struct message *message,
                               struct slice payload)
{
    struct message chunk = {.kind = MESSAGE_CHUNK};
    if (payload.size == 0) {
        return;
    }
    chunk.as.chunk.job = message->as.offer.job;
    chunk.as.chunk.round = message->as.offer.round;
    check_chunk(world, agent, &chunk, payload);
    world->tally.answers_whole++;
}

static void check_from_agent(struct world *world, size_t agent, const struct message *message,
                             struct slice payload)
{
    switch ((int)message->kind) {
    case MESSAGE_HELLO:
    case MESSAGE_FETCH:
        break;
    case MESSAGE_DECLINE:
        world->tally.declines++;
        break;
    case MESSAGE_OFFER:
        check_offer(world, agent, message);
        check_whole_answer(world, agent, message, payload);
        break;
    case MESSAGE_CHUNK:
        check_chunk(world, agent, message, payload);
        break;
    case MESSAGE_KEYS:
    case MESSAGE_SIGNED:
    case MESSAGE_REVEAL:
        masked_from_agent(world, agent, message, payload);
        break;
    default:
        world_fail(world, "%s sends a %s", peer_name(agent), message_kind_name(message->kind));
    }
}

static bool artifacts_equal(const struct artifact *a, const struct artifact *b)
{
    return a->bytes == b->bytes && digest_equal(&a->digest, &b->digest);
}

static void check_release(struct world *world, const struct message *message)
{
    struct checker *checker = &world->checker;
    uint32_t number = message->as.release.round;
    if (number >= checker->round_count) {
        world_fail(world, "the outcome of round %" PRIu32 " is told before it is durable", number);
        return;
    }
    struct known_round *round = &checker->round[number];
    const struct record *record = &round->record;
    bool last = record->as.round.failed || number + 1 == job_round_count(&world->fixture.job);
    if (!artifacts_equal(&message->as.release.experts, &round->experts) ||
        message->as.release.failed != record->as.round.failed || message->as.release.last != last ||
        (!record->as.round.failed && message->as.release.chosen != record->as.round.chosen)) {
        world_fail(world, "what is told of round %" PRIu32 " is not what was decided", number);
    }
    if (!round->released) {
        round->released = true;
        round->release = *message;
    } else if (message->as.release.chosen != round->release.as.release.chosen) {
        world_fail(world, "round %" PRIu32 " is told in two ways", number);
    }
}

/* A former leader that does not know it yet may still ask for a round that is decided. Its question is the same. */
static void check_invite(struct world *world, const struct node *node,
                         const struct message *message)
{
    struct checker *checker = &world->checker;
    uint32_t number = message->as.invite.round;
    if (number > checker->round_count ||
        (number < checker->round_count && server_is_led_by(world, node))) {
        world_fail(world, "invited to round %" PRIu32 " when %zu are decided", number,
                   checker->round_count);
        return;
    }
    struct known_round *round = &checker->round[number];
    if (round->invited && !artifacts_equal(&round->input, &message->as.invite.input)) {
        world_fail(world, "two questions under the number of round %" PRIu32, number);
    }
    round->invited = true;
    round->input = message->as.invite.input;
}

static void check_piece(struct world *world, const struct message *message, struct slice payload)
{
    const struct checker *checker = &world->checker;
    uint64_t offset = message->as.piece.offset;
    struct slice source = {.data = checker->experts, .size = checker->experts_bytes};
    if (digest_equal(&message->as.piece.digest, &world->liar.text_digest)) {
        source = world->fixture.text;
    } else if (plan_is_central(&world->plan)) {
        central_on_piece(world, message, payload);
        return;
    }
    if (offset > source.size || payload.size > source.size - offset ||
        memcmp((const uint8_t *)source.data + offset, payload.data, payload.size) != 0) {
        world_fail(world, "the coordinator sends bytes that nobody released");
    }
}

/* What comes with an invitation is as a piece that was asked for. */
static void check_whole_input(struct world *world, const struct message *message,
                              struct slice payload)
{
    struct message piece = {.kind = MESSAGE_PIECE};
    if (payload.size > 0) {
        piece.as.piece.digest = message->as.invite.input.digest;
        check_piece(world, &piece, payload);
        world->tally.inputs_whole++;
    }
}

static void check_job(struct world *world, const struct digest *job)
{
    if (!world->checker.job_known || !digest_equal(job, &world->checker.job.id)) {
        world_fail(world, "the coordinator names a job that is not durable");
    }
}

static void check_from_coordinator(struct world *world, const struct node *node,
                                   const struct message *message, struct slice payload)
{
    switch ((int)message->kind) {
    case MESSAGE_WELCOME:
        check_job(world, &message->as.welcome.job.id);
        if (message->as.welcome.rounds_closed > world->checker.round_count) {
            world_fail(world, "the coordinator counts rounds that are not durable");
        }
        break;
    case MESSAGE_INVITE:
        check_job(world, &message->as.invite.job);
        check_invite(world, node, message);
        check_whole_input(world, message, payload);
        break;
    case MESSAGE_PULL:
        check_job(world, &message->as.pull.job);
        break;
    case MESSAGE_RELEASE:
        check_job(world, &message->as.release.job);
        check_release(world, message);
        break;
    case MESSAGE_PIECE:
        check_piece(world, message, payload);
        break;
    case MESSAGE_ROSTER:
    case MESSAGE_SURVIVORS:
    case MESSAGE_OPEN:
        check_job(world, &message->as.leg.job);
        masked_from_coordinator(world, message, payload);
        break;
    default:
        world_fail(world, "the coordinator sends a %s", message_kind_name(message->kind));
    }
}

void checker_on_send(struct world *world, struct node *node, size_t to, struct slice control,
                     struct slice payload)
{
    struct message message;
    if (wire_decode(&message, control, payload) != STATUS_OK) {
        world_fail(world, "%s sends a frame that nobody would take", peer_name(node->number));
        return;
    }
    world_tell(world, "%s -> %s  %s", peer_name(node->number), peer_name(to),
               message_kind_name(message.kind));
    if (node->number == COORDINATOR) {
        if (!world_lists(world, node, to) && !node->roster_due) {
            world_fail(world, "the coordinator writes to %s, who is not admitted", peer_name(to));
        }
        check_from_coordinator(world, node, &message, payload);
    } else if (to != COORDINATOR) {
        world_fail(world, "%s writes to %s", peer_name(node->number), peer_name(to));
    } else {
        check_from_agent(world, node->number, &message, payload);
    }
}
