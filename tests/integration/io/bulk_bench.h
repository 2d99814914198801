/* bulk_bench.h - a journal with large blobs, each of whose calls that write can fail, or be the program's last. */

#ifndef TESTS_IO_BULK_BENCH_H
#define TESTS_IO_BULK_BENCH_H

#define _GNU_SOURCE /* O_DIRECT */

#include "blob_journal.h"
#include "tests/support/quiet_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

/* Three writes and what is left of a block. */
enum { LARGE = 2 * 1024 * 1024 + 300001, SMALL = 1000, LIVES_MAX = 64 };

static uint8_t large[LARGE];

/* What happens at one of the calls that write a file: numbered over all of them. */
enum fate { FATE_NONE, FATE_FAIL, FATE_SHORT, FATE_KILL_BEFORE, FATE_KILL_AFTER };
static struct {
    enum fate fate;
    int countdown;
    int calls;
    bool met;
    int odd_blocks; /* why the disk takes no writes past the cache, though it was asked; 0: it does */
    int odd_from;   /* and how many it takes before */
    int odd;        /* such writes */
    unsigned records; /* that a reader saw when the folder was synced; UINT_MAX - 1: to be asked */
} plan;

ssize_t __real_write(int file, const void *bytes, size_t size);
int __real_fdatasync(int file);
int __real_fsync(int file);
ssize_t __wrap_write(int file, const void *bytes, size_t size);
int __wrap_fdatasync(int file);
int __wrap_fsync(int file);

/* SQLite's steps that are left before one of them fails; 0: none does. */
static int steps_left;
int __real_sqlite3_step(void *statement);
int __wrap_sqlite3_step(void *statement);

/* The thread that makes a digest beside the writing is not to be had. */
static bool no_threads;
static int threads; /* that were asked for */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *self);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *self);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *self)
{
    threads++;
    return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, self);
}

int __wrap_sqlite3_step(void *statement)
{
    enum { NO_MEMORY = 7 };
    return steps_left > 0 && --steps_left == 0 ? NO_MEMORY : __real_sqlite3_step(statement);
}

static inline bool due(void)
{
    plan.calls++;
    if (plan.fate == FATE_NONE || plan.countdown-- != 0) {
        return false;
    }
    plan.met = true;
    if (plan.fate == FATE_KILL_BEFORE) {
        (void)raise(SIGKILL);
    }
    errno = ENOSPC;
    return true;
}

static inline void survive(bool struck)
{
    if (struck && plan.fate == FATE_KILL_AFTER) {
        (void)raise(SIGKILL);
    }
}

ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    struct stat about;
    if (file <= STDERR_FILENO || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return __real_write(file, bytes, size); /* Criterion's */
    }
    if (plan.odd_blocks != 0 && (fcntl(file, F_GETFL) & O_DIRECT) != 0 &&
        plan.odd++ >= plan.odd_from) {
        errno = plan.odd_blocks;
        return -1;
    }
    const bool struck = due();
    if (struck && plan.fate == FATE_FAIL) {
        return -1;
    }
    const ssize_t wrote =
        __real_write(file, bytes, struck && plan.fate == FATE_SHORT ? size / 3 : size);
    survive(struck);
    return wrote;
}

int __wrap_fdatasync(int file)
{
    const bool struck = due();
    const int result = struck && plan.fate == FATE_FAIL ? -1 : __real_fdatasync(file);
    survive(struck);
    return result;
}

static inline enum status count(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    (void)sequence;
    (void)body;
    cr_expect(blob.size == 0 || ((blob.size == LARGE || blob.size == SMALL) &&
                                 memcmp(blob.data, large, blob.size) == 0));
    ++*(unsigned *)self;
    return STATUS_OK;
}

int __wrap_fsync(int file)
{
    if (plan.records == UINT_MAX - 1) {
        plan.records = 0;
        cr_expect_eq(journal_sqlite_read(scratch.folder, "agent", count, &plan.records, NULL),
                     STATUS_OK);
    }
    const bool struck = due();
    const int result = struck && plan.fate == FATE_FAIL ? -1 : __real_fsync(file);
    survive(struck);
    return result;
}

static inline void setup(void)
{
    plan.records = UINT_MAX;
    scratch_make(&scratch);
    fill_bytes(large, sizeof large);
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
}

static inline enum status put(const char *body, size_t blob_bytes)
{
    uint64_t sequence = 0;
    return journal.append(journal.self, &sequence, (struct slice){body, strlen(body)},
                          (struct slice){large, blob_bytes});
}

static inline bool is_there(const char *name)
{
    return access(scratch_path(&scratch, name), F_OK) == 0;
}

static inline enum status read_all(unsigned *records)
{
    *records = 0;
    return journal.each(journal.self, count, records, &why);
}

#endif
