/* main_declined.h - keeps beside each job of a queue who declines it now: `status` and the desk read journals and
 * files, and a journal has nobody who is not in a round. */

#ifndef COORDINATOR_MAIN_DECLINED_H
#define COORDINATOR_MAIN_DECLINED_H

#include "coordinator/main_queue.h"
#include "io/driver.h"

struct run;

/* What was kept last, by lane. Starts zeroed. */
struct declined {
    struct run *run;
    struct driver_guest guest;
    int64_t due_ms;
    struct {
        uint32_t number; /* 0: of no job */
        char text[QUEUE_BY_BYTES];
    } kept[DRIVER_LANES_MAX];
};

/** Puts itself into the driver's options where there is a queue. run: kept. */
void declined_join(struct declined *declined, struct run *run, struct driver_options *driver);

#endif
