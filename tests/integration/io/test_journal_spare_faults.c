/* Blobs of all sizes take each other's place, so that files are written over and forgettings wait: each call that writes a file
 * or steps SQLite fails once, and the program is killed before each. */

#include "blob_journal.h"
#include "tests/support/quiet_fork.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LARGE = 300001,
    LARGER = 1024 * 1024 + LARGE,
    MIDDLE = 4000,
    KEY = 300,
    CALLS_LEAST = 60,
    CALLS_MAX = 400
};

/* What replaces a blob comes before the forgetting: the fourth is written over the first one's file, which is shorter, and the
 * fifth over the second one's, which is longer. Then come blobs without a file. */
static const size_t sizes[] = {LARGE, LARGER, LARGE, LARGER, LARGE, MIDDLE, LARGE, KEY, 0};
enum { RECORDS = sizeof sizes / sizeof sizes[0] };

static uint8_t bytes[LARGER + RECORDS + 1];

enum fate { FATE_NONE, FATE_FAIL, FATE_KILL };
static struct {
    enum fate fate;
    int countdown;
    bool met;
} plan;

enum { NO_MEMORY = 7 }; /* SQLite's */

int __real_sqlite3_step(void *statement);
int __wrap_sqlite3_step(void *statement);
ssize_t __real_write(int file, const void *from, size_t size);
ssize_t __wrap_write(int file, const void *from, size_t size);
int __real_fdatasync(int file);
int __wrap_fdatasync(int file);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

/* Returns whether this call is to fail. */
static bool begin(void)
{
    if (plan.fate == FATE_NONE || plan.countdown-- != 0) {
        return false;
    }
    if (plan.fate == FATE_KILL) {
        (void)raise(SIGKILL);
    }
    plan.met = true;
    errno = ENOSPC;
    return true;
}

#define MEET(failed, call)                                                                         \
    if (begin()) {                                                                                 \
        return failed;                                                                             \
    }                                                                                              \
    return call

int __wrap_sqlite3_step(void *statement)
{
    MEET(NO_MEMORY, __real_sqlite3_step(statement));
}

ssize_t __wrap_write(int file, const void *from, size_t size)
{
    struct stat about;
    if (file <= STDERR_FILENO || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return __real_write(file, from, size); /* Criterion's */
    }
    MEET(-1, __real_write(file, from, size));
}

int __wrap_fdatasync(int file)
{
    MEET(-1, __real_fdatasync(file));
}

int __wrap_fsync(int file)
{
    MEET(-1, __real_fsync(file));
}

int __wrap_ftruncate(int file, off_t size)
{
    MEET(-1, __real_ftruncate(file, size));
}

int __wrap_rename(const char *from, const char *to)
{
    MEET(-1, __real_rename(from, to));
}

int __wrap_unlink(const char *path)
{
    MEET(-1, __real_unlink(path));
}

static void setup(void)
{
    plan.fate = FATE_NONE;
    scratch_make(&scratch);
    fill_bytes(bytes, sizeof bytes);
}

/* Each blob begins at another byte. */
static enum status put(uint64_t number, size_t size)
{
    uint64_t sequence = 0;
    const enum status status =
        journal.append(journal.self, &sequence, (struct slice){"body", 4},
                       (struct slice){size > 0 ? bytes + number : NULL, size});
    return status == STATUS_OK && sequence != number ? STATUS_CORRUPT : status;
}

/* A record, and the blob before it goes. Returns what came of the record. */
static enum status step(unsigned number)
{
    const enum status status = put(number, sizes[number - 1]);
    if (status == STATUS_OK && number > 1) {
        (void)!journal.forget(journal.self, number - 1);
    }
    return status;
}

struct seen {
    unsigned count;
    size_t size[RECORDS + 2];
};

static enum status see(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct seen *seen = self;
    cr_assert_leq(sequence, RECORDS + 1);
    cr_expect_eq(body.size, 4);
    cr_expect(blob.size == 0 || memcmp(blob.data, bytes + sequence, blob.size) == 0);
    seen->size[sequence] = blob.size;
    seen->count++;
    return STATUS_OK;
}

static bool has_file(unsigned number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "bulk-%u", number);
    return access(scratch_path(&scratch, name), F_OK) == 0;
}

/* What was acknowledged is there, of the latest record the blob too; of what it replaced at most the one before. The next life
 * has the files that it needs, and no others. */
static void go_on(unsigned acknowledged, bool may_have_more, int position)
{
    struct seen seen = {0};
    struct seen beside = {0};
    plan.fate = FATE_NONE;
    cr_assert_eq(journal_sqlite_read(scratch.folder, "agent", see, &beside, &why),
                 acknowledged == 0 && beside.count == 0 && why.text[0] != '\0' ? STATUS_NOT_FOUND
                                                                               : STATUS_OK,
                 "at %d: %s", position, why.text);
    cr_assert_eq(open_journal(), STATUS_OK, "at %d: %s", position, why.text);
    cr_assert_eq(journal.each(journal.self, see, &seen, &why), STATUS_OK, "at %d: %s", position,
                 why.text);
    const unsigned last = seen.count;
    cr_expect(last == acknowledged || (may_have_more && last == acknowledged + 1), "at %d: %u",
              position, last);
    for (unsigned i = 1; i <= last; i++) {
        cr_expect(seen.size[i] == sizes[i - 1] || (i < last && seen.size[i] == 0), "%u at %d", i,
                  position);
        cr_expect(i + 1 >= last || seen.size[i] == 0, "%u is still there, at %d", i, position);
    }
    cr_assert_eq(put(last + 1, LARGE), STATUS_OK);
    for (unsigned i = 1; i <= last; i++) {
        cr_expect_eq(has_file(i), seen.size[i] >= LARGE, "bulk-%u at %d", i, position);
    }
    cr_expect_not(has_file(last + 2));
}

Test(journal_spare_faults, each_call_fails_once)
{
    int position = 0;
    do {
        unsigned acknowledged = 0;
        enum status status = STATUS_OK;
        setup();
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        plan.fate = FATE_FAIL;
        plan.countdown = position;
        plan.met = false;
        while (status == STATUS_OK && acknowledged < RECORDS) {
            status = step(acknowledged + 1);
            acknowledged += status == STATUS_OK;
        }
        plan.fate = FATE_NONE;
        if (status != STATUS_OK) {
            cr_expect_eq(put(acknowledged + 1, 0), STATUS_UNKNOWN_OUTCOME);
        }
        go_on(acknowledged, status == STATUS_UNKNOWN_OUTCOME, position);
        teardown();
    } while (plan.met && ++position < CALLS_MAX);
    cr_expect(position > CALLS_LEAST && position < CALLS_MAX, "%d calls", position);
}

static bool live_and_die(int position, unsigned *acknowledged)
{
    int ends[2];
    int result = 0;
    char done = 0;
    cr_assert_eq(pipe(ends), 0);
    const pid_t victim = quiet_fork();
    if (victim == 0) {
        if (open_journal() != STATUS_OK) {
            _exit(1);
        }
        plan.fate = FATE_KILL;
        plan.countdown = position;
        for (unsigned i = 1; i <= RECORDS; i++) {
            if (step(i) != STATUS_OK || __real_write(ends[1], "+", 1) != 1) {
                _exit(1);
            }
        }
        _exit(0);
    }
    (void)close(ends[1]);
    cr_assert_eq(waitpid(victim, &result, 0), victim);
    cr_assert(WIFSIGNALED(result) || WEXITSTATUS(result) == 0);
    *acknowledged = 0;
    while (read(ends[0], &done, 1) == 1) {
        ++*acknowledged;
    }
    (void)close(ends[0]);
    return WIFSIGNALED(result);
}

Test(journal_spare_faults, killed_before_each_call)
{
    bool killed = true;
    int position = 0;
    for (; killed && position < CALLS_MAX; position++) {
        unsigned acknowledged = 0;
        setup();
        killed = live_and_die(position, &acknowledged);
        go_on(acknowledged, true, position);
        teardown();
    }
    cr_expect(position > CALLS_LEAST && position < CALLS_MAX, "%d calls", position);
}
