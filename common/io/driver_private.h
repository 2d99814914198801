/* driver_private.h - what the driver's two files share: the loop, and the performing of effects. */

#ifndef IO_DRIVER_PRIVATE_H
#define IO_DRIVER_PRIVATE_H

#include "io/driver.h"
#include "io/log_sink.h"
#include "io/roster.h"
#include "io/worker.h"

enum { OBSERVED_STEPS = 16 };

struct followed_file {
    struct digest seen;
    bool given;
    bool unreadable;
};

struct driver {
    const struct driver_options *options;
    struct machine machine;
    struct journal journal;
    struct effects effects;
    struct worker *worker;
    struct log_rate rate;
    int signals; /* -1 without */
    /* Commits that the machine has not been told of yet, oldest first: a ring. */
    uint64_t owed[EFFECTS_MAX];
    size_t owed_first;
    size_t owed_count;
    bool finished; /* EFFECT_FINISH or a signal */
    bool stopped;  /* a signal */
    int exit_code;
    bool progressed; /* something was committed since the machine was made */
    struct roster roster;
    struct roster_watch watch;
    int64_t roster_due_ms;
    int64_t ticked_ms;
    struct followed_file followed[FOLLOWED_COUNT];
    int64_t files_due_ms;
    bool restarting; /* EFFECT_RESTART: the next machine takes the place of this one */
    struct why why;  /* of the failure that ends a run */
    struct {
        const char *step;
        unsigned count;
    } observed[OBSERVED_STEPS];
};

/** Gives the machine one event, performs its effects in order, then answers each commit. Fails with
 * what step or the journal returned: the machine must then be thrown away. */
MUST_USE enum status driver_give(struct driver *driver, struct event event);

/** Replays the journal into a fresh machine and starts it. Fails like driver_give. */
MUST_USE enum status driver_recover(struct driver *driver);

/** Tells the machine which agents the roster has now. */
MUST_USE enum status driver_give_roster(struct driver *driver);

/** Tells the machine of the followed files that have changed, or of all, to a machine that is new. Fails like
 * driver_give. */
MUST_USE enum status driver_follow_files(struct driver *driver, bool anew);

#endif
