/* lock.h - a file that keeps a second program out: locked while its holder lives, with the holder's process id in it. */

#ifndef IO_LOCK_H
#define IO_LOCK_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>

/** What the message says where another process has the lock. */
struct lock_words {
    const char *what;   /* is in use by that process: "the journal in state" */
    const char *remedy; /* "stop that process" */
};

/** Takes the lock, makes its file where it is missing, and writes the own process id to it; *lock is held until it is closed,
 * or the process ends. *lock is -1 after a failure. Fails with STATUS_BUSY (why names the holder), as owned_open does, or
 * STATUS_IO. */
MUST_USE enum status lock_take(int *lock, const char *path, const struct lock_words *words,
                               struct why *why);

enum { LOCK_HOLDER_BYTES = 24 };

/** Returns whether a process has the lock, and writes its id to text: "unknown" where the file does not say it, "" where nobody
 * has it, or that cannot be told. Makes and changes nothing. */
bool lock_holder(char text[static LOCK_HOLDER_BYTES], const char *path);

#endif
