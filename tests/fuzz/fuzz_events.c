/* Any bytes as a file of events: every event of an accepted list is valid, and what is refused is
 * refused with a sentence that can be shown on a terminal. */

#include "cli/plan_events.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan_events events;
    struct why why = {""};

    if (plan_events_parse(&events, (struct slice){data, size}, "fuzz", &why) != STATUS_OK) {
        demand(why.text[0] != '\0' && events.event == NULL && events.count == 0);
        for (const char *at = why.text; *at != '\0'; at++) {
            demand(isprint((unsigned char)*at));
        }
        return 0;
    }
    demand(events.count >= 1 && events.count <= PLAN_EVENTS_MAX);
    for (size_t i = 0; i < events.count; i++) {
        demand(privacy_event_check(&events.event[i], NULL) == STATUS_OK);
    }
    plan_events_free(&events);
    return 0;
}
