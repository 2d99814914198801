/* main_desk.h - the desk: a process of its own beside the coordinator's, which serves operators from other machines. Both meet
 * in the queue and in the lists alone: no message, flood or death of the desk reaches a round. */

#ifndef COORDINATOR_MAIN_DESK_H
#define COORDINATOR_MAIN_DESK_H

#include "coordinator/main.h"
#include "io/driver.h"

#include <sys/types.h>

/* The desk as the coordinator sees it. Starts zeroed. */
struct desk_child {
    const struct log *log;
    const char *config;
    struct driver_guest guest;
    pid_t pid; /* 0: it does not run */
    int64_t due_ms;
};

/** Starts the desk where the settings have one. config: kept; the settings' path. */
void desk_child_begin(struct desk_child *child, const struct office *office, const struct log *log,
                      const char *config);

/** Puts itself into the driver's options: a desk that has ended is started again. */
void desk_child_join(struct desk_child *child, struct driver_options *driver);

/** Does the same while no driver runs, where it is called again and again. */
void desk_child_look(struct desk_child *child);

void desk_child_end(struct desk_child *child);

#endif
