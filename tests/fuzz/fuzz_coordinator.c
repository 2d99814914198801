/* Bytes -> events -> the coordinator's machine, among agents that answer like agents, except when
 * they do not, and in frames of the input's own. */

#include "fuzz/fuzz_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t some_peer(struct rig *rig)
{
    return 1 + rig_byte(rig) % (PEERS - 1);
}

/* What the coordinator says is heard, and answered, by those whose bit is set. */
static void deliver(struct rig *rig, unsigned listening)
{
    struct world *world = &rig->world;
    for (int i = 0; i < RIG_BUSY_MAX && world->frame_count > 0; i++) {
        struct frame frame = network_next(world);
        struct slice control = {.data = frame.bytes, .size = frame.control_size};
        struct slice payload = {.data = frame.bytes + frame.control_size,
                                .size = frame.payload_size};
        if (frame.to == COORDINATOR) {
            rig_hand(rig, frame.from, control, payload);
        } else if ((listening >> frame.to & 1) != 0) {
            mallory_hear(world, frame.to, control);
        }
        free(frame.bytes);
    }
}

static void change_roster(struct rig *rig)
{
    size_t peer = 1 + rig_byte(rig) % MALLORY;
    rig->world.admitted[peer] = !rig->world.admitted[peer];
    node_tell_roster(&rig->world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rig rig;
    rig_init(&rig, COORDINATOR, data, size);
    for (int step = 0; step < RIG_STEPS_MAX && rig.size > 0; step++) {
        uint8_t operation = rig_byte(&rig);
        rig.world.dice.state = (uint64_t)rig_byte(&rig) << 8 | rig_byte(&rig);
        switch (operation % 7) {
        case 0:
            speak_rubbish(&rig.world, some_peer(&rig), COORDINATOR);
            break;
        case 1:
            rig_wait(&rig, 1 + 20 * (int64_t)rig_byte(&rig));
            break;
        case 2:
            rig_raw(&rig, some_peer(&rig));
            break;
        case 3:
            rig_trouble(&rig);
            break;
        case 4:
            say_hello(&rig.world, some_peer(&rig));
            break;
        case 5:
            change_roster(&rig);
            break;
        default:
            network_replay(&rig.world);
            break;
        }
        deliver(&rig, operation < 128 ? ~0u : rig_byte(&rig));
        rig_wait(&rig, 1);
    }
    rig_end(&rig);
    return 0;
}
