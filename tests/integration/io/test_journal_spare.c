/* What is forgotten goes with the next record, in one commit. The file of a large blob that another has replaced is written
 * over by the one after that, and by nothing else. */

#include "blob_journal.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LARGE = 1024 * 1024 + 5001, LARGER = LARGE + 700000, SMALL = 4000, BLOBS_MAX = 64 };

static uint8_t bytes[LARGER + BLOBS_MAX];
static bool strikes; /* the next read of a blob's file finds that it has been written over */
static bool copies;  /* somebody gives the next file that is renamed a second name just before */

ssize_t __real_read(int file, void *into, size_t size);
ssize_t __wrap_read(int file, void *into, size_t size);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static void setup(void)
{
    scratch_make(&scratch);
    fill_bytes(bytes, sizeof bytes);
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
}

/* Each blob begins at another byte, so that one is never taken for another. */
static void put(uint64_t number, size_t size)
{
    uint64_t sequence = 0;
    cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){"body", 4},
                                (struct slice){bytes + number, size}),
                 STATUS_OK, "%s", journal.trouble(journal.self));
    cr_assert_eq(sequence, number);
}

static void forget(uint64_t number)
{
    cr_assert_eq(journal.forget(journal.self, number), STATUS_OK);
}

ssize_t __wrap_read(int file, void *into, size_t size)
{
    struct stat about;
    if (strikes && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == LARGE) {
        strikes = false;
        forget(2);
        put(3, LARGE);
        put(4, LARGE);
    }
    return __real_read(file, into, size);
}

int __wrap_rename(const char *from, const char *to)
{
    if (copies) {
        copies = false;
        cr_assert_eq(link(from, scratch_path(&scratch, "backup")), 0);
    }
    return __real_rename(from, to);
}

struct seen {
    size_t count;
    size_t size[BLOBS_MAX]; /* of the blobs */
};

static enum status see(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct seen *seen = self;
    cr_assert_lt(seen->count, BLOBS_MAX);
    cr_expect_eq(body.size, 4);
    cr_expect(blob.size == 0 || memcmp(blob.data, bytes + sequence, blob.size) == 0);
    seen->size[seen->count++] = blob.size;
    return STATUS_OK;
}

static struct seen read_own(void)
{
    struct seen seen = {0};
    cr_assert_eq(journal.each(journal.self, see, &seen, &why), STATUS_OK, "%s", why.text);
    return seen;
}

static struct seen read_beside(void)
{
    struct seen seen = {0};
    cr_assert_eq(journal_sqlite_read(scratch.folder, "agent", see, &seen, &why), STATUS_OK, "%s",
                 why.text);
    return seen;
}

static struct stat look(const char *name)
{
    struct stat about = {0};
    (void)!stat(scratch_path(&scratch, name), &about);
    return about;
}

static bool is_there(const char *name)
{
    return look(name).st_ino != 0;
}

/* Where each has a commit of its own, SQLite's log has three pages a round, and more in a journal that is longer. */
Test(journal_spare, what_is_forgotten_and_what_comes_are_one_commit, .init = setup,
     .fini = teardown)
{
    enum { PAGE = 4096 + 24, ROUNDS = 20, PAGES_MOST = 2 };
    put(1, SMALL);
    const off_t before = look("journal.db-wal").st_size;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        forget(i);
        put(i + 1, SMALL);
    }
    cr_expect_leq(look("journal.db-wal").st_size - before, ROUNDS * PAGES_MOST * PAGE);
    const struct seen seen = read_beside();
    cr_expect_eq(seen.count, ROUNDS + 1);
    for (size_t i = 0; i < seen.count; i++) {
        cr_expect_eq(seen.size[i], i == ROUNDS ? SMALL : 0);
    }
}

Test(journal_spare, what_is_forgotten_is_not_shown, .init = setup, .fini = teardown)
{
    put(1, SMALL);
    forget(1);
    cr_expect_eq(read_own().size[0], 0);
    cr_expect_eq(read_beside().size[0], 0, "the reading forgot it for good");
}

Test(journal_spare, what_may_be_a_key_goes_at_once, .init = setup, .fini = teardown)
{
    enum { KEYS = 300 };
    put(1, KEYS);
    put(2, LARGE);
    put(3, SMALL);
    forget(1);
    cr_expect_eq(read_beside().size[0], 0);
    forget(2);
    cr_expect_eq(read_beside().size[1], 0, "the key of its file is gone");
    forget(3);
    cr_expect_eq(read_beside().size[2], SMALL);
}

Test(journal_spare, a_program_that_ends_forgets_first, .init = setup, .fini = teardown)
{
    put(1, SMALL);
    put(2, LARGE);
    forget(1);
    journal_close(&journal);
    const struct seen seen = read_beside();
    cr_expect(seen.size[0] == 0 && seen.size[1] == LARGE);
}

Test(journal_spare, any_number_may_be_forgotten_at_once, .init = setup, .fini = teardown)
{
    enum { MANY = 40 };
    for (uint64_t i = 1; i <= MANY; i++) {
        put(i, SMALL);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        forget(i);
        forget(i);
    }
    put(MANY + 1, SMALL);
    const struct seen seen = read_beside();
    for (size_t i = 0; i < MANY; i++) {
        cr_expect_eq(seen.size[i], 0);
    }
    cr_expect_eq(seen.size[MANY], SMALL);
}

Test(journal_spare, a_blob_is_written_over_the_file_of_what_was_replaced, .init = setup,
     .fini = teardown)
{
    const size_t size[] = {LARGE, LARGE, LARGE, LARGER, LARGE, LARGE, LARGE - 4096, LARGE};
    ino_t file[9] = {0};
    char name[16];
    for (uint64_t i = 1; i <= 8; i++) {
        forget(i - 1);
        put(i, size[i - 1]);
        (void)snprintf(name, sizeof name, "bulk-%u", (unsigned)i);
        file[i] = look(name).st_ino;
        cr_expect_eq((size_t)look(name).st_size, size[i - 1]);
        cr_expect_eq(look(name).st_mode & 0777, 0600);
        cr_expect(i < 3 || file[i] == file[i - 2], "%s is a new file", name);
        cr_expect_eq(read_own().size[i - 1], size[i - 1]);
    }
    cr_expect(is_there("bulk-7") && !is_there("bulk-6"));
    put(9, 0);
    cr_expect_not(is_there("bulk-7"), "nothing is kept where no large blob followed");
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_own().size[7], LARGE);
}

Test(journal_spare, what_a_death_left_is_not_written_over, .init = setup, .fini = teardown)
{
    put(1, LARGE);
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    scratch_write(scratch_path(&scratch, "bulk-9"), "a death left it");
    put(2, LARGE);
    cr_expect_not(is_there("bulk-9"));
    forget(1);
    put(3, LARGE);
    cr_expect(is_there("bulk-1"));
    journal_close(&journal);
    cr_expect_not(is_there("bulk-1"));
}

Test(journal_spare, a_copy_by_a_second_name_stays_as_it_is, .init = setup, .fini = teardown)
{
    char from[192];
    uint8_t before[64];
    uint8_t after[64];
    put(1, LARGE);
    forget(1);
    put(2, LARGE);
    (void)snprintf(from, sizeof from, "%s", scratch_path(&scratch, "bulk-1"));
    cr_assert_eq(link(from, scratch_path(&scratch, "backup")), 0);
    FILE *file = fopen(scratch_path(&scratch, "backup"), "rb");
    cr_assert_eq(fread(before, 1, sizeof before, file), sizeof before);
    forget(2);
    put(3, LARGE);
    rewind(file);
    cr_assert_eq(fread(after, 1, sizeof after, file), sizeof after);
    (void)fclose(file);
    cr_expect_arr_eq(before, after, sizeof before);
    cr_expect_not(is_there("bulk-1"));
    cr_expect_eq(read_own().size[2], LARGE);
}

/* The next record gets its file. If something else has the spare file's place, the spare file is given up. */
static void meddle(int how)
{
    char path[192];
    (void)snprintf(path, sizeof path, "%s", scratch_path(&scratch, "bulk-1"));
    switch (how) {
    case 0:
        copies = true;
        return;
    case 1:
        cr_assert_eq(chmod(path, 0666), 0);
        return;
    default:
        cr_assert_eq(unlink(path), 0);
    }
    switch (how) {
    case 2:
        return;
    case 3:
        cr_assert_eq(symlink(scratch_path(&scratch, "mark"), path), 0);
        return;
    case 4:
        cr_assert_eq(mkfifo(path, 0600), 0);
        return;
    default:
        cr_assert_eq(mkdir(path, 0700), 0);
    }
}

Test(journal_spare, what_happens_to_a_spare_file_stops_nothing)
{
    for (int how = 0; how < 6; how++) {
        setup();
        put(1, LARGE);
        forget(1);
        put(2, LARGE);
        meddle(how);
        forget(2);
        put(3, LARGE);
        cr_expect_not(copies);
        const struct stat about = look("bulk-3");
        cr_expect(S_ISREG(about.st_mode) && about.st_nlink == 1 && (about.st_mode & 0777) == 0600,
                  "%d", how);
        cr_assert_eq(open_journal(), STATUS_OK, "%d: %s", how, why.text);
        cr_expect_eq(read_own().size[2], LARGE, "%d", how);
        teardown();
    }
}

Test(journal_spare, a_reader_takes_what_was_written_over_as_forgotten, .init = setup,
     .fini = teardown)
{
    put(1, SMALL);
    put(2, LARGE);
    strikes = true;
    const struct seen seen = read_beside();
    cr_assert_not(strikes);
    cr_expect(seen.count == 2 && seen.size[0] == SMALL && seen.size[1] == 0);
    cr_expect_eq(look("bulk-4").st_size, LARGE);
    cr_expect_eq(read_own().size[3], LARGE);
}

/* The driver asks for it: after the last round of a job no record may follow for days. */
Test(journal_spare, what_is_forgotten_goes_without_a_record_when_asked, .init = setup,
     .fini = teardown)
{
    put(1, SMALL);
    put(2, LARGE);
    forget(1);
    cr_expect_eq(read_beside().size[0], SMALL);
    cr_expect_eq(journal.settle(journal.self), STATUS_OK);
    cr_expect_eq(read_beside().size[0], 0);
    const off_t before = look("journal.db-wal").st_size;
    cr_expect_eq(journal.settle(journal.self), STATUS_OK);
    cr_expect_eq(look("journal.db-wal").st_size, before, "nothing waits");
    cr_expect_eq(read_own().size[1], LARGE);
}
