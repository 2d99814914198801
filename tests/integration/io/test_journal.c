/* The journal's contract, over SQLite. */

#include "tests/integration/io/journal_fixture.h"
#include "tests/support/quiet_fork.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

Test(journal, what_was_appended_comes_back_in_order, .init = setup, .fini = teardown)
{
    static uint8_t blob[3 * JOURNAL_PIECE_BYTES + 5];
    for (size_t i = 0; i < sizeof blob; i++) {
        blob[i] = (uint8_t)(i * 7 + i / 251);
    }
    uint64_t sequence = 0;
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    cr_assert_eq(put("two", blob, sizeof blob), STATUS_OK);
    cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){"three", 5},
                                (struct slice){blob, JOURNAL_PIECE_BYTES}),
                 STATUS_OK);
    cr_expect_eq(sequence, 3);
    for (int i = 0; i < 2; i++) {
        struct seen seen = {.text = "", .blob = blob};
        cr_expect_eq(journal.each(journal.self, look, &seen, &why), STATUS_OK, "%s", why.text);
        cr_expect_str_eq(seen.text, "1:one:0 2:two:196613 3:three:65536 ");
        cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    }
    cr_assert_eq(put("four", NULL, 0), STATUS_OK);
    struct seen seen = read_all(&journal, STATUS_OK);
    cr_expect_str_eq(seen.text, "1:one:0 2:two:196613 3:three:65536 4:four:0 ");
}

Test(journal, forgetting_drops_the_blob_alone, .init = setup, .fini = teardown)
{
    cr_assert_eq(put("one", "abc", 3), STATUS_OK);
    cr_assert_eq(put("two", "defg", 4), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 0), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, UINT64_MAX), STATUS_OK);
    struct seen seen = read_all(&journal, STATUS_OK);
    cr_expect_str_eq(seen.text, "1:one:0 2:two:4 ");
    cr_assert_eq(reopen(), STATUS_OK);
    seen = read_all(&journal, STATUS_OK);
    cr_expect_str_eq(seen.text, "1:one:0 2:two:4 ");
}

static const char secret[] = "\x01\xf3 secret \xe7\x02";

/* Whether a file of the journal has it. */
static bool file_has(const char *name)
{
    FILE *file = fopen(scratch_path(&scratch, name), "rb");
    static uint8_t bytes[1 << 22];
    if (file == NULL) {
        return false;
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    cr_assert_lt(size, sizeof bytes);
    (void)fclose(file);
    bool found = false;
    for (size_t at = 0; at + sizeof secret <= size && !found; at++) {
        found = memcmp(bytes + at, secret, sizeof secret - 1) == 0;
    }
    return found;
}

static bool is_somewhere(void)
{
    return file_has("journal.db") || file_has("journal.db-wal");
}

/* A blob of several pieces, full of it. */
static void put_secret(const char *body)
{
    static uint8_t blob[3 * JOURNAL_PIECE_BYTES + 100];
    for (size_t at = 0; at + sizeof secret < sizeof blob; at += sizeof secret) {
        memcpy(blob + at, secret, sizeof secret);
    }
    cr_assert_eq(put(body, blob, sizeof blob), STATUS_OK);
}

/* Planted: forgetting alone leaves the bytes in the log or in free pages, and the test notices. */
Test(journal, what_is_wiped_is_in_no_file, .init = setup, .fini = teardown)
{
    for (int moved = 0; moved < 2; moved++) {
        cr_assert_eq(put("before", "abc", 3), STATUS_OK);
        put_secret("secret");
        cr_assert_eq(put("after", "defg", 4), STATUS_OK);
        if (moved == 1) {
            cr_assert_eq(reopen(), STATUS_OK); /* the log is in the database */
        }
        cr_assert(is_somewhere());
        const uint64_t sequence = moved == 0 ? 2 : 5;
        cr_assert_eq(journal.wipe(journal.self, sequence), STATUS_OK);
        cr_assert_not(is_somewhere(), "%d", moved);
        cr_assert_eq(journal.wipe(journal.self, sequence), STATUS_OK);
    }
    put_secret("forgotten");
    cr_assert_eq(journal.forget(journal.self, 7), STATUS_OK);
    cr_assert(is_somewhere());
    struct seen seen = read_all(&journal, STATUS_OK);
    cr_expect_str_eq(seen.text, "1:before:3 2:secret:0 3:after:4 4:before:3 5:secret:0 6:after:4 "
                                "7:forgotten:0 ");
}

/* When a record is forgotten, SQLite may merge pages. Copies of its neighbours must not stay in the freed ones. */
Test(journal, what_is_wiped_is_in_no_file_though_others_were_forgotten, .init = setup,
     .fini = teardown)
{
    static const size_t texts[] = {300, 600, 900};
    static const size_t answers[] = {500, 1000, 3300, 5500};
    char body[191] = {0};
    static uint8_t blob[8192];
    memset(body, 'b', sizeof body - 1);
    for (size_t i = 0; i < 12; i++) {
        const size_t text = texts[i % 3];
        const size_t answer = answers[i / 3];
        memset(blob, 'x', sizeof blob);
        teardown();
        setup();
        cr_assert_eq(put(body, blob, text), STATUS_OK);
        cr_assert_eq(put(body, blob, 288), STATUS_OK);
        cr_assert_eq(put(body, blob, text), STATUS_OK);
        memcpy(blob + answer / 2, secret, sizeof secret);
        cr_assert_eq(put(body, blob, answer), STATUS_OK);
        cr_assert_eq(journal.forget(journal.self, 2), STATUS_OK);
        cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
        cr_assert_eq(put(body, NULL, 0), STATUS_OK);
        cr_assert(is_somewhere());
        cr_assert_eq(journal.wipe(journal.self, 4), STATUS_OK);
        cr_expect_not(is_somewhere(), "a text of %zu bytes, an answer of %zu", text, answer);
    }
}

/* A reader holds what it reads. */
static enum status wipe_meanwhile(UNUSED void *self, uint64_t sequence, UNUSED struct slice body,
                                  UNUSED struct slice blob)
{
    if (sequence == 1) {
        cr_assert_eq(journal.wipe(journal.self, 2), STATUS_OK);
        cr_assert(is_somewhere());
    }
    return STATUS_OK;
}

Test(journal, what_is_wiped_beside_a_reader_goes_with_the_next_record, .init = setup,
     .fini = teardown)
{
    struct journal reader;
    cr_assert_eq(put("before", "abc", 3), STATUS_OK);
    put_secret("secret");
    cr_assert_eq(open_kind(&reader, "agent", true), STATUS_OK);
    cr_assert_eq(reader.each(reader.self, wipe_meanwhile, NULL, &why), STATUS_OK, "%s", why.text);
    journal_close(&reader);
    cr_assert(is_somewhere());
    cr_assert_eq(put("after", "defg", 4), STATUS_OK);
    cr_assert_not(is_somewhere());
}

static enum status wipe_and_die(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    cr_assert_eq(wipe_meanwhile(self, sequence, body, blob), STATUS_OK);
    (void)raise(SIGKILL);
    return STATUS_OK;
}

/* The program dies before the log is empty: the next one wipes what is gone. */
Test(journal, what_a_death_left_in_the_log_goes_when_it_is_wiped_again, .init = setup,
     .fini = teardown)
{
    int result = 0;
    journal_close(&journal);
    const pid_t child = quiet_fork();
    if (child == 0) {
        struct journal reader;
        cr_assert_eq(open_kind(&journal, "agent", false), STATUS_OK);
        cr_assert_eq(put("before", "abc", 3), STATUS_OK);
        put_secret("secret");
        cr_assert_eq(open_kind(&reader, "agent", true), STATUS_OK);
        (void)reader.each(reader.self, wipe_and_die, NULL, &why);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_assert(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
    cr_assert(is_somewhere());
    cr_assert_eq(open_kind(&journal, "agent", false), STATUS_OK, "%s", why.text);
    struct seen seen = read_all(&journal, STATUS_OK);
    cr_expect_str_eq(seen.text, "1:before:3 2:secret:0 ");
    cr_assert_eq(journal.wipe(journal.self, 2), STATUS_OK);
    cr_assert_not(is_somewhere());
}

Test(journal, a_visit_can_end_the_reading, .init = setup, .fini = teardown)
{
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    cr_assert_eq(put("two", NULL, 0), STATUS_OK);
    struct seen seen = {.text = "", .stop_at = 1};
    cr_expect_eq(journal.each(journal.self, look, &seen, &why), STATUS_REFUSED);
    cr_expect_eq(seen.count, 1);
    cr_expect_eq(put("three", NULL, 0), STATUS_OK);
}

Test(journal, a_second_process_is_told_who_holds_it, .init = setup, .fini = teardown)
{
    char holder[32];
    snprintf(holder, sizeof holder, "process %ld", (long)getpid());
    pid_t child = quiet_fork();
    if (child == 0) {
        struct journal second;
        enum status status = open_kind(&second, "agent", false);
        _exit(status == STATUS_BUSY && strstr(why.text, holder) != NULL ? 0 : 1);
    }
    int result = 1;
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_expect_eq(result, 0);
}

Test(journal, readers_see_it_while_it_is_written, .init = setup, .fini = teardown)
{
    cr_assert_eq(put("one", "abc", 3), STATUS_OK);
    for (unsigned i = 0; i < 3; i++) {
        struct journal reader;
        cr_assert_eq(open_kind(&reader, "agent", true), STATUS_OK, "%s", why.text);
        cr_assert_eq(put("more", NULL, 0), STATUS_OK);
        struct seen seen = read_all(&reader, STATUS_OK);
        cr_expect_eq(seen.count, 2 + i);
        journal_close(&reader);
    }
    journal_close(&journal);
    struct journal reader; /* and when nobody writes */
    cr_assert_eq(open_kind(&reader, "agent", true), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&reader, STATUS_OK).count, 4);
    journal_close(&reader);
}

Test(journal, a_reader_of_nothing_is_told_so_and_makes_nothing)
{
    struct journal reader;
    scratch_make(&scratch);
    cr_expect_eq(open_kind(&reader, "agent", true), STATUS_NOT_FOUND);
    cr_expect_neq(access(scratch_path(&scratch, "journal.db"), F_OK), 0);
    scratch_remove(&scratch);
}

Test(journal, files_are_the_owners_alone)
{
    static const char *const name[] = {"journal.db", "journal.db-wal", "journal.db-shm", "lock",
                                       "mark"};
    struct stat about;
    umask(0);
    setup();
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    cr_assert_eq(stat(scratch.folder, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0700);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        cr_assert_eq(stat(scratch_path(&scratch, name[i]), &about), 0, "%s", name[i]);
        cr_expect_eq(about.st_mode & 0777, 0600, "%s", name[i]);
    }
    teardown();
}

/* Blobs in the database, and blobs with a file of their own. */
Test(journal, a_full_disk_loses_nothing_and_ends_the_handle)
{
    static uint8_t blob[2 << 20];
    struct rlimit before;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (size_t size = 200000; size <= sizeof blob; size += sizeof blob - 200000) {
        setup();
        enum status status = STATUS_OK;
        unsigned acknowledged = 0;
        struct rlimit small = {.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        while (status == STATUS_OK && acknowledged < 10) {
            status = put("two", blob, size);
            acknowledged += status == STATUS_OK;
        }
        cr_expect(status == STATUS_IO || status == STATUS_UNKNOWN_OUTCOME);
        cr_expect_not_null(strstr(journal.trouble(journal.self), "cannot be"), "%s",
                           journal.trouble(journal.self));
        cr_expect_eq(put("three", NULL, 0), STATUS_UNKNOWN_OUTCOME);
        cr_expect_eq(journal.forget(journal.self, 1), STATUS_UNKNOWN_OUTCOME);
        struct seen seen = {.text = ""};
        cr_expect_eq(journal.each(journal.self, look, &seen, &why), STATUS_UNKNOWN_OUTCOME);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
        seen = read_all(&journal, STATUS_OK);
        cr_expect(seen.count == acknowledged ||
                  (status == STATUS_UNKNOWN_OUTCOME && seen.count == acknowledged + 1));
        cr_expect_eq(put("two", blob, size), STATUS_OK);
        teardown();
        if (size == sizeof blob) {
            break;
        }
    }
}

/* The peak of this process's resident memory, in KiB. */
static long peak_kib(void)
{
    struct rusage usage;
    cr_assert_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* An address sanitizer keeps freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__)
enum { ROOM_KIB = 1024 * 1024 };
#else
enum { ROOM_KIB = 8 * 1024 };
#endif

Test(journal, a_large_blob_costs_a_piece_of_memory, .init = setup, .fini = teardown)
{
    enum { BLOB_BYTES = 64 << 20 };
    uint8_t *blob = malloc(BLOB_BYTES);
    memset(blob, 7, BLOB_BYTES);
    cr_assert_eq(put("warm", blob, 1 << 20), STATUS_OK);
    long before = peak_kib();
    cr_assert_eq(put("big", blob, BLOB_BYTES), STATUS_OK);
    cr_expect_lt(peak_kib() - before, ROOM_KIB);
    free(blob);
}
