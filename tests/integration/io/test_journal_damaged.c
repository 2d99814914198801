/* A journal that is another's, changed, old, cut or gone is refused, and left alone. */

#include "tests/integration/io/journal_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

Test(journal_damaged, another_kinds_or_programs_file_is_refused_and_left_alone, .init = setup,
     .fini = teardown)
{
    struct stat before;
    struct stat after;
    journal_close(&journal);
    cr_expect_eq(open_kind(&journal, "coordinator", false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "another program (agent)"), "%s", why.text);
    char command[512];
    scratch_path(&scratch, "journal.db");
    snprintf(command, sizeof command,
             "rm -f %s*; sqlite3 %s 'CREATE TABLE mine (x); INSERT INTO mine VALUES (1)'",
             scratch.path, scratch.path);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(stat(scratch.path, &before), 0);
    cr_expect_eq(open_kind(&journal, "agent", false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "not a hedgerow journal"), "%s", why.text);
    cr_assert_eq(stat(scratch.path, &after), 0);
    cr_expect(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_size == after.st_size);
}

static void tamper(const char *sql)
{
    char command[1024];
    journal_close(&journal);
    snprintf(command, sizeof command, "sqlite3 %s \"%s\"", scratch_path(&scratch, "journal.db"),
             sql);
    cr_assert_eq(system(command), 0, "%s", command);
}

Test(journal_damaged, a_later_version_is_refused, .init = setup, .fini = teardown)
{
    tamper("PRAGMA user_version=9");
    cr_expect_eq(open_kind(&journal, "agent", false), STATUS_UNSUPPORTED);
    cr_expect_not_null(strstr(why.text, "version 9"), "%s", why.text);
}

Test(journal_damaged, an_earlier_version_is_read_as_it_is_and_gone_on_with_as_this_one,
     .init = setup, .fini = teardown)
{
    struct journal reader;
    cr_assert_eq(put("one", "abc", 3), STATUS_OK);
    for (int version = 1; version <= 8; version++) { /* the last one is this program's */
        char command[256];
        snprintf(command, sizeof command, "PRAGMA user_version=%d", version);
        tamper(command);
        cr_assert_eq(open_kind(&reader, "agent", true), STATUS_OK, "%s", why.text);
        cr_expect_str_eq(read_all(&reader, STATUS_OK).text, "1:one:3 ");
        journal_close(&reader);
        snprintf(command, sizeof command, "test $(sqlite3 %s 'PRAGMA user_version') = %d",
                 scratch_path(&scratch, "journal.db"), version);
        cr_expect_eq(system(command), 0, "%s", command);
        cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
        snprintf(command, sizeof command, "test $(sqlite3 %s 'PRAGMA user_version') = 8",
                 scratch_path(&scratch, "journal.db"));
        cr_expect_eq(system(command), 0, "%s", command);
    }
}

Test(journal_damaged, append_only_holds_in_the_file_itself, .init = setup, .fini = teardown)
{
    char command[512];
    cr_assert_eq(put("one", "abc", 3), STATUS_OK);
    journal_close(&journal);
    static const char *const change[] = {"DELETE FROM record", "UPDATE record SET body = x'00'",
                                         "UPDATE piece SET bytes = x'00'"};
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        snprintf(command, sizeof command, "sqlite3 %s \"%s\" 2>/dev/null",
                 scratch_path(&scratch, "journal.db"), change[i]);
        cr_expect_neq(system(command), 0, "%s", change[i]);
    }
}

Test(journal_damaged, every_changed_byte_is_noticed)
{
    static const char *const change[] = {
        "UPDATE record SET body = x'6f6e66' WHERE sequence = 1",
        "UPDATE record SET blob_bytes = 2 WHERE sequence = 1",
        "UPDATE record SET blob_digest = zeroblob(32) WHERE sequence = 1",
        "UPDATE record SET chain = zeroblob(32) WHERE sequence = 1",
        "UPDATE record SET chain = x'' WHERE sequence = 1",
        "UPDATE piece SET bytes = x'616264'",
        "UPDATE piece SET bytes = x'61626364'",
        "UPDATE record SET sequence = 9 WHERE sequence = 3",
        "DELETE FROM record WHERE sequence = 1",
    };
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char sql[512];
        setup();
        cr_assert_eq(put("one", "abc", 3), STATUS_OK);
        cr_assert_eq(put("two", NULL, 0), STATUS_OK);
        cr_assert_eq(put("three", NULL, 0), STATUS_OK);
        snprintf(sql, sizeof sql,
                 "DROP TRIGGER record_stays; DROP TRIGGER record_unchanged;"
                 "DROP TRIGGER piece_unchanged; %s",
                 change[i]);
        tamper(sql);
        enum status status = open_kind(&journal, "agent", false);
        if (status == STATUS_OK) {
            struct seen seen = {.text = ""};
            status = journal.each(journal.self, look, &seen, &why);
        }
        cr_expect_eq(status, STATUS_CORRUPT, "%s", change[i]);
        cr_expect_not_null(strstr(why.text, "journal.db"), "%s", why.text);
        teardown();
    }
}

Test(journal_damaged, a_copied_older_file_is_refused, .init = setup, .fini = teardown)
{
    char command[512];
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    journal_close(&journal);
    snprintf(command, sizeof command, "cp %s/journal.db %s/old", scratch.folder, scratch.folder);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(reopen(), STATUS_OK);
    cr_assert_eq(put("two", NULL, 0), STATUS_OK);
    journal_close(&journal);
    snprintf(command, sizeof command, "cp %s/old %s/journal.db", scratch.folder, scratch.folder);
    cr_assert_eq(system(command), 0);
    cr_expect_eq(reopen(), STATUS_CORRUPT);
    cr_expect_not_null(strstr(why.text, "older copy"), "%s", why.text);
    cr_expect_eq(open_kind(&journal, "agent", true), STATUS_CORRUPT, "also to be looked at");
    cr_expect_not_null(strstr(why.text, "older copy"), "%s", why.text);
    /* The mark's removal does not help either; an emptied one is the operator's explicit word. */
    cr_assert_eq(unlink(scratch_path(&scratch, "mark")), 0);
    cr_expect_eq(reopen(), STATUS_CORRUPT);
    cr_expect_not_null(strstr(why.text, "touch"), "%s", why.text);
    scratch_write(scratch_path(&scratch, "mark"), "");
    cr_expect_eq(reopen(), STATUS_OK, "%s", why.text);
}

Test(journal_damaged, a_journal_that_is_gone_is_not_begun_anew, .init = setup, .fini = teardown)
{
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    journal_close(&journal);
    cr_assert_eq(unlink(scratch_path(&scratch, "journal.db")), 0);
    for (int read_only = 0; read_only < 2; read_only++) {
        cr_expect_eq(open_kind(&journal, "agent", read_only == 1), STATUS_CORRUPT);
        cr_expect_not_null(strstr(why.text, "has been at record 1"), "%s", why.text);
        cr_expect_neq(access(scratch_path(&scratch, "journal.db"), F_OK), 0, "nothing is made");
    }
}

/* A young journal's records are all in SQLite's log: journal.db has its first page alone. */
Test(journal_damaged, a_young_journal_without_its_log_is_not_begun_anew, .init = setup,
     .fini = teardown)
{
    char command[1024];
    struct stat before;
    struct stat after;
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    snprintf(command, sizeof command, "cd %s && cp journal.db alone && cp journal.db-wal log",
             scratch.folder);
    cr_assert_eq(system(command), 0);
    journal_close(&journal);
    snprintf(command, sizeof command, "cd %s && cp alone journal.db", scratch.folder);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(stat(scratch_path(&scratch, "journal.db"), &before), 0);
    cr_assert_gt(before.st_size, 0);
    for (int read_only = 0; read_only < 2; read_only++) {
        cr_expect_eq(open_kind(&journal, "agent", read_only == 1), STATUS_CORRUPT);
        cr_expect_not_null(strstr(why.text, "has been at record 1"), "%s", why.text);
    }
    cr_assert_eq(stat(scratch_path(&scratch, "journal.db"), &after), 0);
    cr_expect_eq(after.st_size, before.st_size, "nothing is made");
    /* With its log put back beside it, it is whole again. */
    snprintf(command, sizeof command, "cd %s && cp log journal.db-wal", scratch.folder);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&journal, STATUS_OK).count, 1);
}

Test(journal_damaged, an_empty_file_is_no_journal_yet, .init = setup, .fini = teardown)
{
    journal_close(&journal);
    cr_assert_eq(unlink(scratch_path(&scratch, "mark")), 0);
    scratch_write(scratch_path(&scratch, "journal.db"), "");
    cr_expect_eq(open_kind(&journal, "agent", true), STATUS_NOT_FOUND);
    cr_expect_not_null(strstr(why.text, "it is empty"), "%s", why.text);
    cr_expect_eq(reopen(), STATUS_OK, "%s", why.text);
}

Test(journal_damaged, half_a_mark_is_no_mark_but_the_other_half_serves, .init = setup,
     .fini = teardown)
{
    cr_assert_eq(put("one", NULL, 0), STATUS_OK);
    cr_assert_eq(put("two", NULL, 0), STATUS_OK);
    journal_close(&journal);
    int file = open(scratch_path(&scratch, "mark"), O_RDWR);
    cr_assert_eq(pwrite(file, "torn", 4, 0), 4); /* the copy of record two */
    cr_expect_eq(reopen(), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    cr_assert_eq(pwrite(file, "torn", 4, 512), 4);
    cr_expect_eq(reopen(), STATUS_CORRUPT);
    close(file);
}

Test(journal_damaged, rubbish_and_a_cut_file_are_refused, .init = setup, .fini = teardown)
{
    static uint8_t blob[200000];
    cr_assert_eq(put("one", blob, sizeof blob), STATUS_OK);
    cr_assert_eq(put("two", blob, sizeof blob), STATUS_OK);
    journal_close(&journal);
    const char *path = scratch_path(&scratch, "journal.db");
    cr_assert_eq(truncate(path, 100000), 0);
    enum status status = reopen();
    if (status == STATUS_OK) {
        struct seen seen = {.text = ""};
        status = journal.each(journal.self, look, &seen, &why);
    }
    cr_expect_eq(status, STATUS_CORRUPT, "%s", why.text);
    journal_close(&journal);
    scratch_write(scratch_path(&scratch, "journal.db"), "this is a text, and a long one at that, "
                                                        "with more than a hundred bytes in it, so "
                                                        "that it might be taken for a header");
    cr_expect_eq(reopen(), STATUS_CORRUPT);
    cr_expect_not_null(strstr(why.text, "damaged"), "%s", why.text);
}

Test(journal_damaged, a_folder_that_cannot_be_written_is_told, .init = setup, .fini = teardown)
{
    journal_close(&journal);
    struct journal_sqlite_options options = {.folder = "/proc/hedgerow", .kind = "agent"};
    cr_expect_eq(journal_sqlite_open(&journal, &options, &why), STATUS_IO);
    cr_expect_not_null(strstr(why.text, "/proc/hedgerow"), "%s", why.text);
    if (geteuid() != 0) { /* root may write anywhere */
        cr_assert_eq(chmod(scratch.folder, 0500), 0);
        cr_expect_eq(reopen(), STATUS_IO);
    }
}
