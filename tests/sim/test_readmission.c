/* An agent that is revoked and admitted again while its answer is on its way is in the sum once. The
 * simulator found this fault; here it is step by step. */

#include "crypto/digest.h"
#include "sim/world.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { AGENT = 1, DIMENSION = 3 };

static struct world world;

static void say(const struct message *message, struct slice payload)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.peer.name = "agent-1"};
    event.as.message.control =
        (struct slice){.data = control, .size = wire_encode(control, message)};
    event.as.message.payload = payload;
    node_step(&world, &world.node[COORDINATOR], &event);
}

/* Counts the frames of a kind that the coordinator has sent since the last call. */
static size_t count_sent(enum message_kind kind, struct message *last)
{
    size_t count = 0;
    while (world.frame_count > 0) {
        struct frame frame = network_next(&world);
        struct message message;
        if (wire_decode(&message, (struct slice){.data = frame.bytes, .size = frame.control_size},
                        (struct slice){0}) == STATUS_OK &&
            message.kind == kind && frame.to == AGENT) {
            *last = message;
            count++;
        }
        free(frame.bytes);
    }
    return count;
}

static void say_hello_of(const struct digest *job)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.version = PROTOCOL_VERSION;
    hello.as.hello.job = *job;
    hello.as.hello.ready = true;
    say(&hello, (struct slice){0});
}

static void offer(const struct message *invite, struct slice answer)
{
    uint8_t bytes[INVITATION_BYTES];
    struct slice invitation = {.data = bytes, .size = sizeof bytes};
    struct message message = {.kind = MESSAGE_OFFER};
    invitation_bytes(bytes, &invite->as.invite.job, invite->as.invite.round,
                     &invite->as.invite.input);
    message.as.offer.job = invite->as.invite.job;
    message.as.offer.round = invite->as.invite.round;
    digest_sha256(&message.as.offer.invitation, &invitation, 1);
    digest_sha256(&message.as.offer.answer, &answer, 1);
    message.as.offer.bytes = answer.size;
    say(&message, (struct slice){0});
}

static void admit(bool admitted)
{
    world.admitted[AGENT] = admitted;
    node_tell_roster(&world);
}

Test(readmission, an_answer_on_its_way_is_counted_once)
{
    struct node *coordinator = &world.node[COORDINATOR];
    struct plan plan;
    struct message invite;
    struct message pull;
    struct message chunk = {.kind = MESSAGE_CHUNK};
    uint8_t bytes[8 * DIMENSION];
    struct slice answer = {.data = bytes, .size = sizeof bytes};

    plan_calm(&plan, 1);
    plan.local = LOCAL_FITS;
    plan.cohort_min = 1;
    world_init(&world, &plan, false);
    world.formula_answers = true;
    for (size_t i = 0; i < DIMENSION; i++) {
        store_u64(bytes + 8 * i, (uint64_t)mallory_value(0, i));
    }
    node_start(&world, coordinator);
    world.now_ms += 100;
    node_act(&world, coordinator); /* the job's record is durable */
    say_hello_of(&world.checker.job.id);
    cr_assert_geq(count_sent(MESSAGE_INVITE, &invite), 1);
    offer(&invite, answer);
    cr_assert_eq(count_sent(MESSAGE_PULL, &pull), 1);

    admit(false);
    admit(true);
    say_hello_of(&world.checker.job.id);
    offer(&invite, answer);
    cr_assert_eq(count_sent(MESSAGE_PULL, &pull), 1, "it is asked for anew");
    chunk.as.chunk.job = pull.as.pull.job;
    chunk.as.chunk.round = pull.as.pull.round;
    say(&chunk, answer);
    say(&chunk, answer);

    world.now_ms += 1000 * (int64_t)plan.deadline_s;
    node_act(&world, coordinator);
    world.now_ms += (int64_t)plan.work_ms_max;
    node_act(&world, coordinator); /* the outcome is computed */
    cr_assert_str_eq(world.failure, "");
    cr_assert_eq(world.checker.round_count, 1, "the round is closed, with the sum of one answer");
    cr_assert_eq(world.checker.round[0].record.as.round.agent_count, 1);
    world_free(&world);
}
