/* children.h - the processes of a simulation: started, watched, stopped. None outlives its parent.
 */

#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILDREN_MAX = 128, CHILD_NAME_BYTES = 64 };

struct child {
    char name[CHILD_NAME_BYTES];
    pid_t pid;
    bool running;
    int code; /* how it ended: its exit code, or 128 + its signal */
};

struct children {
    struct child child[CHILDREN_MAX];
    size_t count;
};

/** Finds a program beside the one that runs. Fails with STATUS_NOT_FOUND. */
MUST_USE enum status children_program(char *path, size_t size, const char *name, struct why *why);

/**
 * Starts a process with no input, its output and errors appended to a file.
 *
 * argument  in  NULL-terminated; the first is the program's path
 *
 * Fails with STATUS_IO, STATUS_NO_MEMORY (too many). The kernel stops it if this process dies.
 */
MUST_USE enum status children_start(struct children *children, const char *name,
                                    const char *log_path, char *const *argument, struct why *why);

/** Starts a process and reads all it prints, at most size - 1 bytes; its errors go to this
 * process's. Fails with STATUS_IO, also when it ends with another code than 0. */
MUST_USE enum status children_output(char *text, size_t size, char *const *argument,
                                     struct why *why);

/** Blocks the signals that ask to stop and those that tell of a child, so that children_wait sees
 * them. */
void children_signals(void);

/** Waits until something happens or that many milliseconds have passed, and notes who has ended.
 * Returns true when this process was asked to stop. */
bool children_wait(struct children *children, int wait_ms);

/** Returns how many are still running. */
size_t children_running(const struct children *children);

/** Asks all to stop, waits, then ends them for good. None is running afterwards. */
void children_stop(struct children *children, int grace_ms);

#endif
