/* Large blobs have files of their own: durable before their record, sealed under a key that goes with the blob, whole or
 * refused. Each call that writes fails once, and the program is killed at each. */

#define _GNU_SOURCE /* O_DIRECT */

#include "crypto/digest.h"
#include "io/journal.h"

#include "scratch.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Three writes and what is left of a block. */
enum { LARGE = 2 * 1024 * 1024 + 300001, SMALL = 1000, LIVES_MAX = 64 };

static struct scratch scratch;
static struct why why;
static struct journal journal;
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

static bool due(void)
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

static void survive(bool struck)
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

static enum status count(void *self, uint64_t sequence, struct slice body, struct slice blob)
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

static enum status open_journal(void)
{
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    journal_close(&journal);
    return journal_sqlite_open(&journal, &options, &why);
}

static void setup(void)
{
    plan.records = UINT_MAX;
    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * 7 + i / 251);
    }
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
}

static void teardown(void)
{
    journal_close(&journal);
    scratch_remove(&scratch);
}

static enum status put(const char *body, size_t blob_bytes)
{
    uint64_t sequence = 0;
    return journal.append(journal.self, &sequence, (struct slice){body, strlen(body)},
                          (struct slice){large, blob_bytes});
}

static bool is_there(const char *name)
{
    return access(scratch_path(&scratch, name), F_OK) == 0;
}

/* Whether a file of the journal has these bytes. */
static bool file_has(const char *name, const uint8_t *bytes, size_t size)
{
    static uint8_t content[1 << 22];
    FILE *file = fopen(scratch_path(&scratch, name), "rb");
    if (file == NULL) {
        return false;
    }
    const size_t used = fread(content, 1, sizeof content, file);
    cr_assert_lt(used, sizeof content);
    (void)fclose(file);
    for (size_t at = 0; at + size <= used; at++) {
        if (memcmp(content + at, bytes, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The key of the first large blob, as SQLite has it. */
static void read_key(uint8_t key[32])
{
    char command[256];
    char hex[65] = "";
    (void)snprintf(command, sizeof command, "sqlite3 %s 'SELECT hex(bytes) FROM piece LIMIT 1'",
                   scratch_path(&scratch, "journal.db"));
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    cr_assert_eq(fread(hex, 1, 64, pipe), 64);
    (void)pclose(pipe);
    for (size_t i = 0; i < 32; i++) {
        unsigned byte = 0;
        cr_assert_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        key[i] = (uint8_t)byte;
    }
}

static enum status read_all(unsigned *records)
{
    *records = 0;
    return journal.each(journal.self, count, records, &why);
}

Test(journal_bulk, a_large_blob_has_a_file_that_is_sealed_and_durable_before_its_record,
     .init = setup, .fini = teardown)
{
    unsigned records = 0;
    struct stat about;
    cr_assert_eq(put("one", 0), STATUS_OK);
    plan.records = UINT_MAX - 1;
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_expect_eq(plan.records, 1, "the folder is synced, and the record is not there yet");
    cr_assert_eq(stat(scratch_path(&scratch, "bulk-2"), &about), 0);
    cr_expect_eq(about.st_size, LARGE);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_expect_gt(journal_size(scratch.folder), LARGE);
    for (size_t at = 0; at + 16 <= LARGE; at += 50000) {
        cr_expect_not(file_has("bulk-2", large + at, 16));
        cr_expect_not(file_has("journal.db", large + at, 16));
        cr_expect_not(file_has("journal.db-wal", large + at, 16));
    }
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_assert_eq(journal.append(journal.self, &(uint64_t){0}, (struct slice){"x", 1},
                                (struct slice){large, LARGE}),
                 STATUS_OK);
    journal_close(&journal);
    cr_assert_eq(truncate(scratch_path(&scratch, "bulk-2"), 64), 0);
    FILE *file = fopen(scratch_path(&scratch, "bulk-2"), "rb");
    uint8_t first[64];
    cr_assert_eq(fread(first, 1, sizeof first, file), sizeof first);
    (void)fclose(file);
    cr_expect_not(file_has("bulk-3", first, sizeof first), "the same blob under the same key");
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_expect_eq(read_all(&records), STATUS_CORRUPT);
}

/* The record takes it as it is: a wrong one makes it damaged. */
Test(journal_bulk, a_digest_that_the_caller_has_is_the_record_s)
{
    static const struct {
        size_t size;
        bool wrong;
    } cases[] = {{SMALL, false}, {LARGE, false}, {SMALL, true}, {LARGE, true}};
    for (size_t i = 0; i < 4; i++) {
        struct digest digest = {{1, 2, 3}};
        uint64_t sequence = 0;
        unsigned records = 0;
        setup();
        if (!cases[i].wrong) {
            digest_sha256(&digest, &(struct slice){large, cases[i].size}, 1);
        }
        cr_assert_eq(put("one", cases[i].size), STATUS_OK);
        cr_assert_eq(journal.append_known(journal.self, &sequence, (struct slice){"known", 5},
                                          (struct slice){large, cases[i].size}, &digest),
                     STATUS_OK);
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        cr_expect_eq(read_all(&records), cases[i].wrong ? STATUS_CORRUPT : STATUS_OK, "case %zu",
                     i);
        cr_expect_eq(records, cases[i].wrong ? 1 : 2, "case %zu", i);
        teardown();
    }
}

/* A reader computes the digest and the chain of digests anew. */
Test(journal_bulk, the_digest_is_right_with_a_thread_for_it_and_without, .init = setup,
     .fini = teardown)
{
    unsigned records = 0;
    for (int i = 0; i < 2; i++) {
        no_threads = i == 0;
        threads = 0;
        cr_expect_eq(put("state", LARGE), STATUS_OK, "%s", why.text);
        cr_expect_eq(threads, 1);
        journal_close(&journal);
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
        cr_expect_eq(records, (unsigned)i + 1);
    }
}

Test(journal_bulk, what_is_forgotten_goes_after_the_next_record, .init = setup, .fini = teardown)
{
    unsigned records = 0;
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_assert_eq(read_all(&records), STATUS_OK, "%s", why.text);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_expect(is_there("bulk-1"), "a power failure may bring its key back");
    cr_assert_eq(put("three", 0), STATUS_OK);
    cr_expect_not(is_there("bulk-1"));
    cr_expect(is_there("bulk-2"));
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_assert_eq(put("four", 0), STATUS_OK);
    cr_assert_eq(read_all(&records), STATUS_OK, "%s", why.text);
    cr_expect_eq(records, 4);
}

/* The planted fault: a forgotten key may still be in SQLite's log, which the same search finds. */
Test(journal_bulk, the_key_of_what_is_wiped_is_in_no_file, .init = setup, .fini = teardown)
{
    uint8_t key[32];
    for (int wiped = 0; wiped < 2; wiped++) {
        cr_assert_eq(put("secret", LARGE), STATUS_OK);
        read_key(key);
        cr_assert(file_has("journal.db", key, 32) || file_has("journal.db-wal", key, 32));
        cr_assert_eq((wiped ? journal.wipe : journal.forget)(journal.self, 1 + (uint64_t)wiped),
                     STATUS_OK);
        cr_expect_eq(file_has("journal.db", key, 32) || file_has("journal.db-wal", key, 32),
                     wiped == 0);
    }
}

Test(journal_bulk, what_nobody_knows_is_removed_and_nothing_else, .init = setup, .fini = teardown)
{
    char victim[96];
    (void)snprintf(victim, sizeof victim, "%s/precious", scratch.folder);
    scratch_write(victim, "what belongs to somebody else\n");
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    scratch_write(scratch_path(&scratch, "bulk-7"), "a death left it");
    scratch_write(scratch_path(&scratch, "bulk-x"), "not ours");
    scratch_write(scratch_path(&scratch, "bulk-"), "not ours");
    cr_assert_eq(symlink(victim, scratch_path(&scratch, "bulk-2")), 0);
    cr_assert_eq(link(victim, scratch_path(&scratch, "bulk-3")), 0);
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_expect(is_there("bulk-7"), "nothing is removed before something is durable");
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_expect(is_there("bulk-1") && is_there("bulk-2") && is_there("bulk-x") && is_there("bulk-"));
    cr_expect_not(is_there("bulk-7") || is_there("bulk-3"));
    cr_expect(is_there("precious") && file_has("precious", (const uint8_t *)"what belongs", 12));
    unsigned records = 0;
    cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
}

/* A statement that fails says nothing of whether a file is needed. */
Test(journal_bulk, nothing_is_removed_of_which_nothing_is_known, .init = setup, .fini = teardown)
{
    enum { STEPS_MAX = 12 };
    unsigned records = 0;
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    for (int step = 1; step < STEPS_MAX; step++) {
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        steps_left = step;
        (void)!put("next", 0);
        steps_left = 0;
        cr_assert(is_there("bulk-1"), "when step %d failed", step);
    }
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
}

static void spoil(int how)
{
    const char *path = scratch_path(&scratch, "bulk-2");
    char byte = 0;
    const int file = open(path, O_RDWR);
    cr_assert_geq(file, 0);
    switch (how) {
    case 0:
        cr_assert_eq(pread(file, &byte, 1, LARGE / 2), 1);
        byte ^= 1;
        cr_assert_eq(pwrite(file, &byte, 1, LARGE / 2), 1);
        break;
    case 1:
        cr_assert_eq(ftruncate(file, LARGE - 1), 0);
        break;
    case 2:
        cr_assert_eq(ftruncate(file, LARGE + 1), 0);
        break;
    case 3:
        cr_assert_eq(fchmod(file, 0666), 0);
        break;
    default:
        cr_assert_eq(unlink(path), 0);
    }
    close(file);
}

Test(journal_bulk, a_file_that_is_not_what_was_written_is_refused)
{
    for (int how = 0; how < 5; how++) {
        unsigned records = 0;
        setup();
        cr_assert_eq(put("one", 0), STATUS_OK);
        cr_assert_eq(put("two", LARGE), STATUS_OK);
        spoil(how);
        cr_assert_eq(open_journal(), STATUS_OK);
        cr_expect_eq(read_all(&records), STATUS_CORRUPT, "%d", how);
        cr_expect_not_null(strstr(why.text, how == 0 ? "record 2" : "bulk-2"), "%s", why.text);
        /* A reader has rows of a moment ago: a file that is gone since was forgotten. */
        records = 0;
        cr_expect_eq(journal_sqlite_read(scratch.folder, "agent", count, &records, &why),
                     how == 4 ? STATUS_OK : STATUS_CORRUPT, "%d: %s", how, why.text);
        teardown();
    }
}

/* After a fault the journal refuses everything; what it acknowledged is there, and its next life leaves no file behind. */
static void go_on(unsigned least, unsigned most, int position)
{
    unsigned records = 0;
    plan.fate = FATE_NONE;
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    cr_assert_eq(read_all(&records), STATUS_OK, "at %d: %s", position, why.text);
    cr_expect(records >= least && records <= most, "at %d: %u", position, records);
    cr_assert_eq(put("next", LARGE), STATUS_OK);
    unsigned files = 0;
    for (unsigned i = 1; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "bulk-%u", i);
        files += is_there(name);
    }
    cr_expect_eq(files, records + 1, "at %d", position);
    cr_assert_eq(read_all(&records), STATUS_OK, "at %d: %s", position, why.text);
}

static bool goes_past_the_cache(const char *folder)
{
    const int file = open(folder, O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
    if (file >= 0) {
        (void)close(file);
    }
    return file >= 0;
}

/* A file system that has O_DIRECT for larger blocks only, or says so and has it not: the blob is whole all the same. */
Test(journal_bulk, a_disk_that_takes_nothing_past_the_cache_gets_all_by_it, .init = setup,
     .fini = teardown)
{
    static const int why_not[] = {EINVAL, EOPNOTSUPP};
    const bool goes_past = goes_past_the_cache(scratch.folder);
    unsigned records = 0;
    for (size_t i = 0; i < sizeof why_not / sizeof why_not[0]; i++) {
        for (plan.odd_from = 0; plan.odd_from <= 2; plan.odd_from++) {
            plan.odd = 0;
            plan.odd_blocks = why_not[i];
            cr_expect_eq(put("one", LARGE), STATUS_OK);
            cr_expect_eq(plan.odd, goes_past ? plan.odd_from + 1 : 0);
            plan.odd_blocks = 0;
            records++;
        }
    }
    go_on(records, records, 0);
}

Test(journal_bulk, each_write_and_sync_fails_once)
{
    for (enum fate fate = FATE_FAIL; fate <= FATE_SHORT; fate++) {
        int position = 0;
        do {
            unsigned acknowledged = 0;
            enum status status = STATUS_OK;
            setup();
            plan.fate = fate;
            plan.countdown = position;
            plan.met = false;
            for (int i = 0; i < 2 && status == STATUS_OK; i++) {
                status = put("body", LARGE);
                acknowledged += status == STATUS_OK;
            }
            cr_expect_eq(status == STATUS_OK, fate == FATE_SHORT || !plan.met, "%d", position);
            if (status != STATUS_OK) {
                cr_expect_eq(status, STATUS_IO);
                cr_expect_not_null(strstr(journal.trouble(journal.self), "bulk-"));
                cr_expect_eq(put("more", 0), STATUS_UNKNOWN_OUTCOME);
            }
            go_on(acknowledged, acknowledged, position);
            teardown();
        } while (plan.met && ++position < LIVES_MAX);
        cr_expect_geq(position, 12, "two blobs are four writes and two syncs each");
    }
}

Test(journal_bulk, killed_at_each_write_and_sync)
{
    for (enum fate fate = FATE_KILL_BEFORE; fate <= FATE_KILL_AFTER; fate++) {
        bool killed = true;
        int position = 0;
        for (; killed && position < LIVES_MAX; position++) {
            int ends[2];
            int result = 0;
            char done = 0;
            unsigned acknowledged = 0;
            setup();
            journal_close(&journal);
            cr_assert_eq(pipe(ends), 0);
            const pid_t victim = quiet_fork();
            if (victim == 0) {
                plan.fate = fate;
                plan.countdown = position;
                for (int i = 0; i < 2; i++) {
                    if ((i == 0 && open_journal() != STATUS_OK) ||
                        put("body", LARGE) != STATUS_OK || __real_write(ends[1], "+", 1) != 1) {
                        _exit(1);
                    }
                }
                _exit(0);
            }
            close(ends[1]);
            cr_assert_eq(waitpid(victim, &result, 0), victim);
            cr_assert(WIFSIGNALED(result) || WEXITSTATUS(result) == 0);
            killed = WIFSIGNALED(result);
            while (read(ends[0], &done, 1) == 1) {
                acknowledged++;
            }
            close(ends[0]);
            go_on(acknowledged, acknowledged, position);
            teardown();
        }
        cr_expect_geq(position, 12);
    }
}
