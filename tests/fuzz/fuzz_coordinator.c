/* Bytes -> events -> the coordinator's machine, among agents that answer properly or, where the
 * input says so, badly, and in frames of the input's own. */

#include "fuzz/fuzz_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t some_peer(struct harness *harness)
{
    return 1 + harness_byte(harness) % (PEERS - 1);
}

/* What the coordinator says is heard, and answered, by those whose bit is set. */
static void deliver(struct harness *harness, unsigned listening)
{
    struct world *world = &harness->world;
    for (int i = 0; i < HARNESS_BUSY_MAX && world->frame_count > 0; i++) {
        struct frame frame = network_next(world);
        struct slice control = {.data = frame.bytes, .size = frame.control_size};
        struct slice payload = {.data = frame.bytes + frame.control_size,
                                .size = frame.payload_size};
        if (frame.to == COORDINATOR) {
            harness_hand(harness, frame.from, control, payload);
        } else if ((listening >> frame.to & 1) != 0) {
            mallory_hear(world, frame.to, control);
        }
        free(frame.bytes);
    }
}

static void change_roster(struct harness *harness)
{
    size_t peer = 1 + harness_byte(harness) % MALLORY;
    harness->world.admitted[peer] = !harness->world.admitted[peer];
    node_tell_roster(&harness->world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct harness harness;
    harness_init(&harness, COORDINATOR, data, size);
    for (int step = 0; step < HARNESS_STEPS_MAX && harness.size > 0; step++) {
        uint8_t operation = harness_byte(&harness);
        harness.world.dice.state = (uint64_t)harness_byte(&harness) << 8 | harness_byte(&harness);
        switch (operation % 7) {
        case 0:
            speak_rubbish(&harness.world, some_peer(&harness), COORDINATOR);
            break;
        case 1:
            harness_wait(&harness, 1 + 20 * (int64_t)harness_byte(&harness));
            break;
        case 2:
            harness_raw(&harness, some_peer(&harness));
            break;
        case 3:
            harness_trouble(&harness);
            break;
        case 4:
            say_hello(&harness.world, some_peer(&harness));
            break;
        case 5:
            change_roster(&harness);
            break;
        default:
            network_replay(&harness.world);
            break;
        }
        deliver(&harness, operation < 128 ? ~0u : harness_byte(&harness));
        harness_wait(&harness, 1);
    }
    harness_end(&harness);
    return 0;
}
