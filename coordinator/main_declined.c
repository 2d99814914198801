#include "coordinator/main_declined.h"

#include "coordinator/main_lane.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 1000 };

static void keep(struct declined *declined, size_t index, const char *text)
{
    struct why ignored = {{0}};
    (void)snprintf(declined->kept[index].text, QUEUE_BY_BYTES, "%s", text);
    (void)!queue_put_declined(&declined->run->office, declined->kept[index].number, text, &ignored);
}

/* It is written when it has changed, or when it may be one of an earlier life; it goes when the job does. A file that cannot be
 * written is not tried again before the next change: nothing depends on it. */
static void look_at_lane(struct declined *declined, size_t index)
{
    const struct lane *lane = &declined->run->lane[index];
    char text[QUEUE_BY_BYTES];
    const uint32_t number = lane->coordinator != NULL ? lane->job->number : 0;
    const bool is_new = number != declined->kept[index].number;
    if (is_new && declined->kept[index].text[0] != '\0') {
        keep(declined, index, "");
    }
    declined->kept[index].number = number;
    if (number != 0) {
        coordinator_look_refusing(lane->coordinator, text, sizeof text);
        if (is_new || strcmp(text, declined->kept[index].text) != 0) {
            keep(declined, index, text);
        }
    }
}

static void look(void *self, int64_t now_ms)
{
    struct declined *declined = self;
    if (now_ms < declined->due_ms) {
        return;
    }
    declined->due_ms = now_ms + LOOK_MS;
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        look_at_lane(declined, i);
    }
}

static int no_descriptor(UNUSED void *self, UNUSED int64_t now_ms)
{
    return -1;
}

static int64_t due(void *self, UNUSED int64_t now_ms)
{
    const struct declined *declined = self;
    return declined->due_ms;
}

void declined_join(struct declined *declined, struct run *run, struct driver_options *driver)
{
    *declined = (struct declined){.run = run};
    declined->guest = (struct driver_guest){
        .self = declined, .descriptor = no_descriptor, .due_ms = due, .run = look};
    if (run->stays) {
        driver->guest[2] = &declined->guest;
    }
}
