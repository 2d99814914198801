/* driver.h - performs a machine's effects for real: messages through the endpoint, commits through
 * the journal, work on a thread of its own; time and signals come in as events. */

#ifndef IO_DRIVER_H
#define IO_DRIVER_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"
#include "io/endpoint.h"
#include "io/journal.h"
#include "protocol/machine.h"

#include <stddef.h>

/* Makes and unmakes a machine with the journal it recovers from. The driver does so again whenever
 * a commit's outcome is unknown or a step fails: recovery is the only way on. */
struct driver_factory {
    void *self;

    /** Opens the journal and makes a fresh machine. Any failure ends driver_run with that status.
     */
    enum status (*make)(void *self, struct machine *machine, struct journal *journal,
                        struct why *why);

    /** Frees what make made, the journal included. No work is running. */
    void (*unmake)(void *self, struct machine *machine, struct journal *journal);

    /** A machine has finished with this exit code, and was unmade. Writes whether make is to be called for the one that
     * takes its place, with connections kept; else driver_run ends. NULL: it ends. Not called after a signal. A failure
     * ends driver_run with that status. */
    enum status (*next)(void *self, int exit_code, bool *more, struct why *why);
};

/* A file that is followed: its text goes to the machine as EVENT_FILE, at the start and after every change. What is at
 * path may change between two machines. */
struct driver_file {
    const char *path; /* kept; "": nothing is followed */
    enum followed which;
    bool optional; /* it need not be there: then its text is empty */
    bool folder;   /* its text is the names in it (base/folder.h) */
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

/* What went over the wire since the program's start, in whole messages, without encryption's own bytes. */
struct driver_counts {
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t messages_out;
    uint64_t bytes_out;
    int64_t heard_ms; /* when the latest message came in; 0: none has */
};

struct driver_options {
    struct endpoint *endpoint; /* kept; outlives restarts of the machine */
    const struct log *log;     /* kept; may be NULL */
    const char *roster_path;   /* kept; the coordinator's allow-list, followed; NULL at an agent */
    const struct driver_file *file; /* (file_count) kept; none two of one kind */
    size_t file_count;
    size_t control_bytes;             /* room for one step's packed control frames; 0: 256 KiB */
    uint32_t stop_grace_ms;           /* how long a stop waits for running work; 0: 2000 */
    bool no_signals;                  /* tests: SIGTERM and SIGINT are left alone */
    const struct driver_guest *guest; /* kept; may be NULL */
    struct driver_counts *counts;     /* kept and added to; may be NULL */

    /* Tests alone set it. Called before and after each event and effect, for example
     * "event-before", "commit-after", "send-before"; count tells how often that step has been
     * reached, from 1. */
    void (*observe)(void *self, const char *step, unsigned count);
    void *observe_self;
};

/**
 * Runs a machine until it finishes or SIGTERM or SIGINT comes.
 *
 * exit_code  out  what EFFECT_FINISH said; 0 after SIGTERM, as supervisors expect; 130 after SIGINT
 *
 * Fails with what the factory's make returned, STATUS_CORRUPT (the journal cannot be replayed),
 * STATUS_FOREIGN (it is another job's), or the cause when restarting did not help
 * DRIVER_RESTARTS_MAX times in a row. Logged; why repeats it. When a stop finds work that outlasts
 * the grace, the process ends there with that exit code: a program may stop at any moment anyway.
 */
MUST_USE enum status driver_run(const struct driver_options *options,
                                const struct driver_factory *factory, int *exit_code,
                                struct why *why);

enum { DRIVER_RESTARTS_MAX = 5 };

#endif
