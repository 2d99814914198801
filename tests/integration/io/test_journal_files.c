/* A journal's folder and files that somebody else has prepared: links, other owners, other modes. */

#include "io/journal.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

static struct scratch scratch;
static struct why why;
static struct journal journal;

static enum status open_journal(struct journal *out, bool read_only)
{
    struct journal_sqlite_options options = {
        .folder = scratch.folder, .kind = "agent", .read_only = read_only};
    why.text[0] = '\0';
    return journal_sqlite_open(out, &options, &why);
}

/* A folder that somebody prepared before the first start: what lies in it under our names is not touched. */
Test(journal_files, links_planted_under_its_names_are_refused_and_their_files_unharmed)
{
    static const char *const name[] = {"lock", "mark", "journal.db", "journal.db-wal",
                                       "journal.db-journal"};
    static const char precious[] = "what belongs to somebody else\n";
    struct scratch elsewhere;
    char victim[128];
    char seen[64];

    scratch_make(&elsewhere);
    snprintf(victim, sizeof victim, "%s/victim", elsewhere.folder);
    for (int hard = 0; hard < 2; hard++) {
        for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
            scratch_make(&scratch);
            scratch_write(victim, precious);
            if (strcmp(name[i], "mark") != 0) {
                scratch_write(scratch_path(&scratch, "mark"), "");
            }
            const char *planted = scratch_path(&scratch, name[i]);
            cr_assert_eq(hard ? link(victim, planted) : symlink(victim, planted), 0);
            cr_expect_eq(open_journal(&journal, false), STATUS_INVALID, "%s", name[i]);
            cr_expect_not_null(strstr(why.text, name[i]), "%s", why.text);
            cr_expect_not_null(strstr(why.text, hard ? "hard link" : "symbolic link"), "%s",
                               why.text);
            journal_close(&journal);
            FILE *file = fopen(victim, "r");
            cr_assert_not_null(file);
            cr_expect_not_null(fgets(seen, sizeof seen, file));
            cr_expect_str_eq(seen, precious, "%s", name[i]);
            fclose(file);
            scratch_remove(&scratch);
        }
    }
    scratch_remove(&elsewhere);
}

Test(journal_files, a_folder_that_others_may_write_is_refused_and_left_as_it_is)
{
    static const mode_t open_modes[] = {0777, 0770, 01777, 0702};
    struct journal reader;
    struct stat about;

    scratch_make(&scratch); /* a journal that was there before somebody opened its folder */
    cr_assert_eq(open_journal(&journal, false), STATUS_OK);
    journal_close(&journal);
    for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
        cr_assert_eq(chmod(scratch.folder, open_modes[i]), 0);
        cr_expect_eq(open_journal(&journal, false), STATUS_INVALID);
        cr_expect_not_null(strstr(why.text, "may be changed by others"), "%s", why.text);
        cr_expect_not_null(strstr(why.text, "chmod 700"), "%s", why.text);
        cr_expect_eq(open_journal(&reader, true), STATUS_INVALID);
        cr_assert_eq(stat(scratch.folder, &about), 0);
        cr_expect_eq(about.st_mode & 07777, open_modes[i]);
    }
    cr_assert_eq(chmod(scratch.folder, 0755), 0); /* others could read names: closed */
    cr_expect_eq(open_journal(&journal, false), STATUS_OK, "%s", why.text);
    cr_assert_eq(stat(scratch.folder, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0700);
    journal_close(&journal);
    cr_assert_eq(chmod(scratch_path(&scratch, "journal.db"), 0666), 0);
    cr_expect_eq(open_journal(&journal, false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "chmod go-w"), "%s", why.text);
    cr_expect_eq(open_journal(&reader, true), STATUS_INVALID);
    scratch_remove(&scratch);
}

/* If others can replace the folder, they could put an empty ledger in its place. */
Test(journal_files, a_folder_that_others_may_replace_is_refused_and_not_made)
{
    struct scratch place;
    scratch_make(&place);
    for (int there = 0; there < 2; there++) {
        snprintf(scratch.folder, sizeof scratch.folder, "%.50s/state", place.folder);
        cr_assert_eq(chmod(place.folder, 0777), 0);
        cr_expect_eq(open_journal(&journal, false), STATUS_INVALID, "%d", there);
        cr_expect_not_null(strstr(why.text, "chmod go-w"), "%s", why.text);
        cr_expect_eq(access(scratch.folder, F_OK) == 0, there == 1);
        cr_assert_eq(chmod(place.folder, 0700), 0);
        cr_expect_eq(open_journal(&journal, false), STATUS_OK, "%s", why.text);
        journal_close(&journal);
    }
    scratch_remove(&scratch);
    scratch_remove(&place);
}

/* Needs root, to give things away; in a process that then runs as somebody else. */
Test(journal_files, what_belongs_to_another_account_is_refused)
{
    enum { SOMEBODY = 12345, OTHER = 23456 };
    if (geteuid() != 0) {
        cr_skip_test("only root can give files away");
    }
    scratch_make(&scratch);
    cr_assert_eq(chown(scratch.folder, SOMEBODY, SOMEBODY), 0);
    cr_expect_eq(open_journal(&journal, false), STATUS_INVALID); /* not even root uses it */
    cr_expect_not_null(strstr(why.text, "belongs to the account 12345"), "%s", why.text);
    cr_expect_neq(access(scratch_path(&scratch, "lock"), F_OK), 0);
    scratch_write(scratch_path(&scratch, "lock"), "");
    cr_assert_eq(chown(scratch.path, OTHER, OTHER), 0);
    cr_assert_eq(chmod(scratch.path, 0606), 0);
    cr_assert_eq(seteuid(SOMEBODY), 0);
    cr_expect_eq(open_journal(&journal, false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "belongs to the account 23456"), "%s", why.text);
    cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(unlink(scratch_path(&scratch, "lock")), 0);
    cr_assert_eq(seteuid(SOMEBODY), 0);
    cr_expect_eq(open_journal(&journal, false), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    cr_assert_eq(seteuid(0), 0);
    struct journal reader; /* not even root uses it: a look would leave files of root's there */
    cr_expect_eq(open_journal(&reader, true), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "run it as that account, or chown 0"), "%s", why.text);
    journal_close(&reader);
    cr_assert_eq(chown(scratch.folder, 0, 0), 0); /* the folder is root's again, a file is not */
    cr_expect_eq(open_journal(&reader, true), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "chown 0"), "%s", why.text);
    journal_close(&reader);
    scratch_remove(&scratch);
}

Test(journal_files, a_state_folder_may_be_reached_through_a_link_to_it)
{
    char link_path[128];
    uint64_t sequence = 0;
    scratch_make(&scratch);
    snprintf(link_path, sizeof link_path, "%s.link", scratch.folder);
    cr_assert_eq(symlink(scratch.folder, link_path), 0);
    struct journal_sqlite_options options = {.folder = link_path, .kind = "agent"};
    cr_expect_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    struct slice body = {"one", 3};
    cr_expect_eq(journal.append(journal.self, &sequence, body, (struct slice){NULL, 0}), STATUS_OK);
    journal_close(&journal);
    unlink(link_path);
    scratch_remove(&scratch);
}
