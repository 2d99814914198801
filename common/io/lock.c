#include "io/lock.h"

#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOOKS = 3, LOOK_MS = 50 };

static void read_holder(int file, char text[static LOCK_HOLDER_BYTES])
{
    const ssize_t got = pread(file, text, 20, 0);
    text[got > 0 ? (size_t)got : 0] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    if (text[0] == '\0') {
        (void)snprintf(text, LOCK_HOLDER_BYTES, "unknown");
    }
}

/* mode: LOCK_EX to take it, LOCK_SH to look. The file is closed after a failure. */
static enum status attempt(int *file, const char *path, int mode, const struct lock_words *words,
                           struct why *why)
{
    char holder[LOCK_HOLDER_BYTES];
    const int flags = mode == LOCK_EX ? O_RDWR | O_CREAT : O_RDONLY;
    const enum status status = owned_open(file, path, flags, why);
    if (status != STATUS_OK || flock(*file, mode | LOCK_NB) == 0) {
        return status;
    }
    const bool held = errno == EWOULDBLOCK;
    if (held) {
        read_holder(*file, holder);
        why_set(why, "%s is in use by process %s; remedy: %s", words->what, holder, words->remedy);
    } else {
        why_set(why, "%s cannot be locked: %s", path, strerror(errno));
    }
    (void)close(*file);
    *file = -1;
    return held ? STATUS_BUSY : STATUS_IO;
}

enum status lock_take(int *lock, const char *path, const struct lock_words *words, struct why *why)
{
    char text[LOCK_HOLDER_BYTES];
    int file = -1;
    *lock = -1;
    enum status status = attempt(&file, path, LOCK_EX, words, why);
    for (int i = 0; i < LOOKS && status == STATUS_BUSY; i++) {
        (void)poll(NULL, 0, LOOK_MS); /* somebody may only look */
        status = attempt(&file, path, LOCK_EX, words, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)size, 0) != size) {
        why_file(why, path, "written", errno);
        (void)close(file);
        return STATUS_IO;
    }
    *lock = file;
    return STATUS_OK;
}

bool lock_holder(char text[static LOCK_HOLDER_BYTES], const char *path)
{
    struct why ignored = {{0}};
    int file = -1;
    text[0] = '\0';
    if (owned_open(&file, path, O_RDONLY, &ignored) != STATUS_OK) {
        return false;
    }
    const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (held) {
        read_holder(file, text);
    }
    (void)close(file);
    return held;
}
