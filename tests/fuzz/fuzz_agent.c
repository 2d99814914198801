/* Bytes -> events -> the agent's machine, with a coordinator that lies in every way the simulator's
 * liar knows, and in frames of the input's own. */

#include "fuzz/fuzz_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AGENT = 1 };

/* This agent gets every frame, whoever it is for. The liar hears what the agent says. */
static void deliver(struct harness *harness, bool damaged)
{
    struct world *world = &harness->world;
    for (int i = 0; i < HARNESS_BUSY_MAX && world->frame_count > 0; i++) {
        struct frame frame = network_next(world);
        if (frame.to != COORDINATOR) {
            size_t bytes = frame.control_size + frame.payload_size;
            if (damaged && bytes > 0) {
                frame.bytes[dice_below(&world->dice, bytes)] ^=
                    (uint8_t)(1u << dice_below(&world->dice, 8));
            }
            harness_hand(harness, COORDINATOR,
                         (struct slice){.data = frame.bytes, .size = frame.control_size},
                         (struct slice){.data = frame.bytes + frame.control_size,
                                        .size = frame.payload_size});
        }
        free(frame.bytes);
    }
}

static void invite(struct harness *harness)
{
    struct message message = {.kind = MESSAGE_INVITE};
    struct liar *liar = &harness->world.liar;
    message.as.invite.job = liar->job.id;
    message.as.invite.round = harness_byte(harness) % 8;
    if (message.as.invite.round >= 2) {
        message.as.invite.input =
            (struct artifact){.digest = liar->digest, .bytes = liar->bytes.size};
    }
    network_inject_message(&harness->world, COORDINATOR, AGENT, &message, (struct slice){0});
}

static void welcome(struct harness *harness)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = harness->world.liar.job;
    network_inject_message(&harness->world, COORDINATOR, AGENT, &message, (struct slice){0});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct harness harness;
    harness_init(&harness, AGENT, data, size);
    for (int step = 0; step < HARNESS_STEPS_MAX && harness.size > 0; step++) {
        uint8_t operation = harness_byte(&harness);
        harness.world.dice.state = (uint64_t)harness_byte(&harness) << 8 | harness_byte(&harness);
        switch (operation % 7) {
        case 0:
            liar_act(&harness.world);
            break;
        case 1:
            harness_wait(&harness, 1 + 20 * (int64_t)harness_byte(&harness));
            break;
        case 2:
            harness_raw(&harness, COORDINATOR);
            break;
        case 3:
            harness_trouble(&harness);
            break;
        case 4:
            invite(&harness);
            break;
        case 5:
            welcome(&harness);
            break;
        default:
            network_replay(&harness.world);
            break;
        }
        deliver(&harness, operation >= 128 && operation % 8 == 0);
        harness_wait(&harness, 1);
    }
    harness_end(&harness);
    return 0;
}
