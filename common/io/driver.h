/* driver.h - performs machines' effects for real: messages through the endpoint, commits through the journal, work on a thread
 * of its lane, which also does the writes of a journal that waits for a server. Time and signals come in as events.
 *
 * Each machine has a lane. A lane has a journal of its own, and is thrown away and recovered alone. Lanes share the endpoint,
 * the allow-list and the loop: a turn hears 64 messages at most, of whichever peers have sent, and wakes every lane that is
 * due. An agent has one lane; a coordinator has one for each job that runs, and lane 0 for the agents that no job asks. */

#ifndef IO_DRIVER_H
#define IO_DRIVER_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"
#include "io/endpoint.h"
#include "io/journal.h"
#include "protocol/machine.h"

#include <stddef.h>

enum { DRIVER_LANES_MAX = 17, DRIVER_FILES_MAX = DRIVER_LANES_MAX + 1 };

/* Makes and unmakes a machine with the journal it recovers from. The driver does so again whenever
 * a commit's outcome is unknown or a step fails: recovery is the only way to go on. */
struct driver_factory {
    /* make and next wait for a server: each is called on a thread of its lane, while the loop and the other lanes go on. The
     * journal is read there too. What is not the lane's own they touch on the loop's thread (worker_on_owner). If that
     * refuses, because the driver stops, they fail with STATUS_BUSY. */
    bool waits;
    void *self; /* what lane_of gets; and the others, where lane is NULL */
    void *const *
        lane; /* (lane_count) kept; what the others get of each lane; NULL: there is lane 0 alone */
    size_t lane_count;

    /** Opens the journal and makes a fresh machine. next decides what follows from a failure. */
    enum status (*make)(void *self, struct machine *machine, struct journal *journal,
                        struct why *why);

    /** Frees what make made, the journal included. No work is running. */
    void (*unmake)(void *self, struct machine *machine, struct journal *journal);

    /** A machine has finished and was unmade: does what takes long before next is called, on a thread of its own, while the
     * other lanes go on. It touches only what is the lane's. A stop waits for it, once it has begun; but work of another lane
     * that outlasts the grace may end the program in the middle of it. May be NULL. */
    void (*wind_up)(void *self);

    /** A machine was unmade, or could not be made. ended: STATUS_OK, it has finished; else why it cannot go on, which why
     * tells. Writes whether make is to be called for its successor, with connections kept; else the lane is
     * empty. NULL: driver_run ends with ended. Not called after a signal. A failure ends driver_run with that status. */
    enum status (*next)(void *self, enum status ended, bool *more, struct why *why);

    /** Returns whether a lane that has no machine is to get one: asked at the start and after every next. Not asked of
     * lane 0, which has one from the start. */
    bool (*wants)(void *lane);

    /** Returns the lane that hears a peer; one without a machine hears nothing. NULL: lane 0. */
    size_t (*lane_of)(void *self, const struct peer *peer);
};

/* A file that is followed: its text goes to the machine as EVENT_FILE, at the start and after every change. What is at
 * path may change between two machines. */
struct driver_file {
    const char *path; /* kept; "": nothing is followed */
    /** Reads the text from elsewhere; path is then a name alone, and optional and folder say nothing. It must not block for
     * long. NULL: path is read. text: out, malloc'd. */
    enum status (*read)(void *self, char **text, size_t *size, struct why *why);
    void *self;
    enum followed which;
    bool optional; /* it need not be there: then its text is empty */
    bool folder;   /* its text is the names in it (base/file.h) */
    size_t lane;   /* whose machine is told */
};

/* Something else that the loop runs in between, on the same thread. It must not block. It sees the machine only through what
 * its owner shows it, and gives it no event. */
struct driver_guest {
    void *self;

    /** Returns the descriptor to wait for now, readable when there is something to do; -1: none. */
    int (*descriptor)(void *self, int64_t now_ms);
    /** Returns when run is due although the descriptor is quiet; INT64_MAX: never. */
    int64_t (*due_ms)(void *self, int64_t now_ms);
    void (*run)(void *self, int64_t now_ms);
};

/* Another source of a machine's events: the other coordinators that serve the same job. Asked only while the lane's machine
 * runs, and its journal writes nothing. */
typedef enum status driver_hear(void *self, const struct event *event);

struct driver_source {
    void *self;

    /** Gives the machine what has come. Returns what hear returned if that failed. A failure means that the machine is to be
     * thrown away; why tells the cause. It may wait for a database: it is called on a thread of its lane, and the machine hears
     * on the loop's. It asks for everything else of the loop by worker_on_owner. */
    enum status (*look)(void *self, driver_hear *hear, void *hear_self, struct why *why);
    uint32_t every_ms; /* read after every look */
    size_t lane;       /* whose machine is told */
};

/* What went over the wire since the program's start, in whole messages, without encryption's own bytes. */
struct driver_counts {
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t messages_out;
    uint64_t bytes_out;
    int64_t heard_ms; /* when the latest message came in; 0: none has */
};

enum { DRIVER_GUESTS_MAX = 3 };

struct driver_options {
    struct endpoint *endpoint; /* kept; outlives restarts of the machine */
    const struct log *log;     /* kept; may be NULL */
    const char *roster_path;   /* kept; the coordinator's allow-list, followed; NULL at an agent */
    const char
        *operators_path; /* kept; the operators' list, whose keys enrol for no agent; NULL: none */
    const struct driver_file *file; /* (file_count) kept; on a lane none two of one kind */
    size_t file_count;
    size_t control_bytes; /* room for one step's packed control frames; 0: 256 KiB */
    size_t
        work_at_once; /* lanes whose threads compute at the same time: others wait for their turn; 0: all */
    uint32_t stop_grace_ms; /* how long a stop waits for a machine's work; 0: 2000 */
    bool no_signals;        /* tests: SIGTERM and SIGINT are left alone */
    const struct driver_guest *guest[DRIVER_GUESTS_MAX]; /* kept; each may be NULL */
    struct driver_counts *counts;                        /* kept and added to; may be NULL */
    const struct driver_source *const *source; /* (source_count) kept; each lane has one at most */
    size_t source_count;

    /* Asked in every turn, a second apart at most: whether the journal is another program's by now. The machine is then
     * unmade, and make is called. May be NULL. */
    bool (*lost)(void *self);
    void *lost_self;

    /* Tests alone set it. Called before and after each event and effect, for example
     * "event-before", "commit-after", "send-before"; count tells how often that step has been
     * reached, from 1. */
    void (*observe)(void *self, const char *step, unsigned count);
    void *observe_self;
};

/**
 * Runs machines until the last one finishes or SIGTERM or SIGINT comes. While one lane works (EFFECT_WORK) or writes (struct
 * journal, waits), its machine and all others take events. A stop waits for what is being written.
 *
 * exit_code  out  what the last EFFECT_FINISH said; 0 after SIGTERM, as supervisors expect; 130 after SIGINT
 *
 * Fails with what the factory's make returned, STATUS_CORRUPT (the journal cannot be replayed),
 * STATUS_FOREIGN (it is another job's), or the cause when restarting a lane did not help
 * DRIVER_RESTARTS_MAX times in a row. Logged; why repeats it. When a stop finds work that outlasts
 * the grace, the process ends there with that exit code: a program may stop at any moment anyway. The process also ends when a second signal comes while it waits, for work, for wind_up or for a write.
 */
MUST_USE enum status driver_run(const struct driver_options *options,
                                const struct driver_factory *factory, int *exit_code,
                                struct why *why);

enum { DRIVER_RESTARTS_MAX = 5 };

/* A second request to stop ends the program at once. Two signals closer than this count as one: a terminal and the program's
 * parent may both send it. */
enum { STOP_AGAIN_MS = 1000 };

#endif
