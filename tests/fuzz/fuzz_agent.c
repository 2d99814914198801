/* Bytes -> events -> the agent's machine, with a coordinator that lies in every way the simulator's
 * liar knows, and in frames of the input's own. */

#include "fuzz/fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AGENT = 1 };

/* Whoever a frame is for, this agent gets it; what it says itself the liar has overheard. */
static void deliver(struct rig *rig, bool damaged)
{
    struct world *world = &rig->world;
    for (int i = 0; i < RIG_BUSY_MAX && world->frame_count > 0; i++) {
        struct frame frame = network_next(world);
        if (frame.to != COORDINATOR) {
            size_t bytes = frame.control_size + frame.payload_size;
            if (damaged && bytes > 0) {
                frame.bytes[dice_below(&world->dice, bytes)] ^=
                    (uint8_t)(1u << dice_below(&world->dice, 8));
            }
            rig_hand(rig, COORDINATOR,
                     (struct slice){.data = frame.bytes, .size = frame.control_size},
                     (struct slice){.data = frame.bytes + frame.control_size,
                                    .size = frame.payload_size});
        }
        free(frame.bytes);
    }
}

static void invite(struct rig *rig)
{
    struct message message = {.kind = MESSAGE_INVITE};
    struct liar *liar = &rig->world.liar;
    message.as.invite.job = liar->job.id;
    message.as.invite.round = rig_byte(rig) % 8;
    if (message.as.invite.round >= 2) {
        message.as.invite.input =
            (struct artifact){.digest = liar->digest, .bytes = liar->bytes.size};
    }
    network_inject_message(&rig->world, COORDINATOR, AGENT, &message, (struct slice){0});
}

static void welcome(struct rig *rig)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = rig->world.liar.job;
    network_inject_message(&rig->world, COORDINATOR, AGENT, &message, (struct slice){0});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rig rig;
    rig_init(&rig, AGENT, data, size);
    for (int step = 0; step < RIG_STEPS_MAX && rig.size > 0; step++) {
        uint8_t operation = rig_byte(&rig);
        rig.world.dice.state = (uint64_t)rig_byte(&rig) << 8 | rig_byte(&rig);
        switch (operation % 7) {
        case 0:
            liar_act(&rig.world);
            break;
        case 1:
            rig_wait(&rig, 1 + 20 * (int64_t)rig_byte(&rig));
            break;
        case 2:
            rig_raw(&rig, COORDINATOR);
            break;
        case 3:
            rig_trouble(&rig);
            break;
        case 4:
            invite(&rig);
            break;
        case 5:
            welcome(&rig);
            break;
        default:
            network_replay(&rig.world);
            break;
        }
        deliver(&rig, operation >= 128 && operation % 8 == 0);
        rig_wait(&rig, 1);
    }
    rig_end(&rig);
    return 0;
}
