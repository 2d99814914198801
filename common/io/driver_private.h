/* driver_private.h - what the driver's files share: driver.c (the loop), driver_wait.c (what it waits for, and the files that it
 * follows), driver_lanes.c (how machines come and go), driver_effects.c (the performing of effects), driver_write.c (what is
 * written beside the loop) and driver_errand.c (what else waits for a server, and what the other programs that serve the same
 * jobs say). */

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

enum lane_state {
    LANE_EMPTY,
    LANE_OPENS, /* its machine is made, and reads its journal, beside the loop */
    LANE_RUNS,
    LANE_GOES_ON, /* its machine is gone; what follows is decided beside the loop */
    LANE_ENDS,    /* its machine has finished and is unmade; its thread winds it up */
    LANE_RESTS    /* its machine is made when due_ms has come */
};

struct driver_write;

/* What waits for a server and is no write: on the lane's second thread, one at a time. */
struct errand {
    void (*run)(void *self); /* on that thread; NULL: there is none */
    bool begun;
    struct driver *driver;
    struct lane *lane;
    enum status ended;  /* of the machine that is gone */
    enum status status; /* what came of it */
    bool recovered;     /* the machine was made: status is of its journal's reading */
    bool more;
    size_t source;
    int64_t began_ms;
    struct why why;
};

struct lane {
    enum lane_state state;
    int64_t due_ms;
    struct machine machine;
    struct journal journal;
    struct worker *worker;       /* its thread: of the machine's work, and of the winding up */
    void (*waiting)(void *self); /* work that waits for its turn (work_at_once); NULL: none does */
    void *waiting_self;
    uint64_t waiting_since; /* a number that grows */
    struct worker *writer;  /* its thread for what waits for a server: it computes nothing */
    struct errand errand;
    struct driver_write *
        write; /* owned, oldest first; the first one may be on its way; NULL: nothing is to be written */
    /* Commits that the machine has not been told of yet, oldest first: a ring. */
    uint64_t owed[EFFECTS_MAX];
    size_t owed_first;
    size_t owed_count;
    int64_t ticked_ms;
    int64_t settle_ms;  /* when its journal is to drop what was forgotten, if no record follows */
    bool finished;      /* EFFECT_FINISH */
    bool restarting;    /* EFFECT_RESTART: the next machine takes the place of this one */
    bool progressed;    /* something was committed since the machine was made */
    enum status status; /* of the event that failed: the machine is thrown away */
    unsigned failures;
    bool put_off; /* it could not be made, as another process has what it needs; told once */
};

struct driver {
    const struct driver_options *options;
    const struct driver_factory *factory;
    struct lane lane[DRIVER_LANES_MAX];
    size_t lane_count;
    struct effects effects;
    struct log_rate rate;
    uint64_t waits; /* work that had to wait so far */
    int signals;    /* -1 without */
    bool stopped;   /* a signal */
    int exit_code;
    struct roster roster;
    struct roster_watch watch;
    int64_t roster_due_ms;
    struct followed_file followed[DRIVER_FILES_MAX];
    int64_t files_due_ms;
    int64_t source_due_ms[DRIVER_LANES_MAX];
    struct why why; /* of the failure that ends a run */
    struct {
        const char *step;
        unsigned count;
    } observed[OBSERVED_STEPS];
};

/** Returns what the factory's functions get of a lane. */
void *driver_self_of(const struct driver *driver, const struct lane *lane);

/** Returns whether a lane's machine takes events now. */
bool driver_runs(const struct driver *driver, const struct lane *lane);

/** Returns whether a lane's thread is still computing. */
bool driver_works(const struct lane *lane);

/** Starts work on a lane's thread, or lets it wait for its turn. Fails with STATUS_NO_MEMORY: no thread is to be had. */
MUST_USE enum status driver_begin_work(struct driver *driver, struct lane *lane,
                                       void (*work)(void *self), void *self);

/** Performs an EFFECT_COMMIT or EFFECT_FORGET. sequence: out, of a commit. Fails as the journal does. On any thread. */
MUST_USE enum status driver_write_now(const struct journal *journal, uint64_t *sequence,
                                      const struct effect *effect);

/** Has one performed later, after those of its lane that are to be. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status driver_write_later(struct lane *lane, const struct effect *effect);

/** One was performed, status says how: tells the journal's watcher, and logs a failure. Returns status. */
MUST_USE enum status driver_note_written(struct driver *driver, struct lane *lane,
                                         const struct effect *effect, enum status status);

/** Returns whether a lane's journal has something to write. */
bool driver_writes(const struct lane *lane);

/** Returns whether a lane's second thread is at a write or an errand: its journal and its connections are that thread's. */
bool driver_waits(const struct lane *lane);

/** Has a lane's machine made, or what follows it decided: beside the loop where the factory waits, else at once. */
void driver_begin_make(struct driver *driver, struct lane *lane);
void driver_begin_next(struct driver *driver, struct lane *lane, enum status ended);
/** Looks at a lane's source, which is number index. */
void driver_begin_look(struct driver *driver, struct lane *lane, size_t index);

/** Begins errands that are to be. Where no thread is to be had they go on waiting. */
void driver_begin_errands(struct driver *driver);
/** Does what errands ask the loop for, and takes those that are done. Fails with what ends the run. */
MUST_USE enum status driver_take_errands(struct driver *driver);

/* The outcome of an errand, on the loop's thread. */
MUST_USE enum status driver_made(struct driver *driver, struct lane *lane);
MUST_USE enum status driver_went_on(struct driver *driver, struct lane *lane);
void driver_looked(struct driver *driver, struct lane *lane);

/** Begins what the lanes have to write, one write of each. Nothing else may use their journals until it is taken. */
void driver_begin_writes(struct driver *driver);

/** Takes what is written, and tells the machines of their commits. */
void driver_take_writes(struct driver *driver);

/** Forgets what a lane has to write and has not begun. */
void driver_drop_writes(struct lane *lane);

/** The loop does nothing any more that errands ask for. All lanes are told before any is waited for: the thread of one may have
 * a lock that the thread of another one waits for. */
void driver_refuse_threads(struct driver *driver);

/** Waits for a lane's second thread, also after a stop, so that the journal is given back in order. Its requests are
 * refused, and nobody is told its outcome. */
void driver_await_thread(struct driver *driver, struct lane *lane, int64_t *until_ms);

/** Takes a signal while something is waited for: a second one ends the process there. until_ms: when a stop's grace ends. */
void driver_take_signal_while_waiting(struct driver *driver, int64_t *until_ms);

/** Asks the sources that are due. */
void driver_look_at_sources(struct driver *driver);

/** Returns when the next source is due; INT64_MAX: none is. */
int64_t driver_sources_due_ms(const struct driver *driver);

/** Makes machines until the last one finishes, or until making one anew does not help. */
MUST_USE enum status driver_run_lanes(struct driver *driver);

/** Takes a signal that is there: the driver is to stop. */
void driver_take_signal(struct driver *driver);

/** Waits for messages, threads, a signal and guests, or until something is due; runs the guests. Fails as endpoint_poll. */
MUST_USE enum status driver_wait(struct driver *driver);

/** One turn of the loop: waits, and gives the machines what has come. */
void driver_turn(struct driver *driver);

/** Gives a lane's machine one event, performs its effects in order, then answers each commit. Fails with
 * what step or the journal returned: the machine must then be thrown away. */
MUST_USE enum status driver_give(struct driver *driver, struct lane *lane, struct event event);

/** Replays the journal into a fresh machine, which steps on the loop's thread. Fails as the journal does; why tells. */
MUST_USE enum status driver_replay(struct driver *driver, struct lane *lane, struct why *why);

/** Tells the machine which agents the roster has now. */
MUST_USE enum status driver_give_roster(struct driver *driver, struct lane *lane);

/** Tells a lane's machine of its followed files that have changed, or of all, to a machine that is new. Fails like
 * driver_give. */
MUST_USE enum status driver_follow_files(struct driver *driver, struct lane *lane, bool anew);

#endif
