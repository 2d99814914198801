/* The contract of a journal, whatever keeps it: a folder, or, where DATABASE_URL names one (tests/support/postgres), a
 * database; with JOURNAL_OF_JOB=1 as the journal of a queue's job there. What a database adds - a lease with a term - is tested
 * below, and skipped over a folder and of a job, whose lease is the queue's (test_queue_shared.c). */

#include "database/journal_place.h"

#include "database/database.h"
#include "database/jobs.h"
#include "scratch.h"
#include "tests/support/journal_seen.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { URL_BYTES = 512, PIECE = 64 * 1024 };

static struct scratch scratch;
static char place[URL_BYTES];
static bool shared;
static struct why why;
static struct journal journal;
static struct jobs *jobs; /* the queue, where the journal is of a job of it */

static void psql(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1",
             place, command);
    cr_assert_eq(system(line), 0, "%s", line);
}

/* Each test has a schema of its own in the one database. */
static void find_place(void)
{
    const char *url = getenv("DATABASE_URL");
    shared = url != NULL;
    scratch_make(&scratch);
    if (shared) {
        const char *name = strrchr(scratch.folder, '-') + 1;
        snprintf(place, sizeof place, "%s&options=-csearch_path%%3D%%22%s%%22", url, name);
        char command[128];
        snprintf(command, sizeof command, "CREATE SCHEMA \\\"%s\\\"", name);
        psql(command);
    } else {
        snprintf(place, sizeof place, "%s", scratch.folder);
    }
    if (shared && getenv("JOURNAL_OF_JOB") != NULL) {
        cr_assert_eq(jobs_new(&jobs, place, &why), STATUS_OK);
        cr_assert_eq(jobs_lead(jobs, &why), STATUS_OK, "%s", why.text);
    }
}

static enum status open_kind(struct journal *out, const char *kind, bool read_only)
{
    const struct journal_options options = {.place = place,
                                            .kind = kind,
                                            .read_only = read_only,
                                            .part = jobs != NULL ? jobs_part(jobs, 7)
                                                                 : (struct journal_part){.job = 0}};
    why.text[0] = '\0';
    return journal_open(out, &options, &why);
}

static enum status reopen(void)
{
    journal_close(&journal);
    return open_kind(&journal, "coordinator", false);
}

static void setup(void)
{
    find_place();
    cr_assert_eq(open_kind(&journal, "coordinator", false), STATUS_OK, "%s", why.text);
}

/* With a lease of its own. */
static void setup_shared(void)
{
    if (getenv("DATABASE_URL") == NULL || getenv("JOURNAL_OF_JOB") != NULL) {
        cr_skip("a folder has no lease, and a job the queue's");
    }
    setup();
}

/* Whose kind, and whose holder, are its own. */
static void setup_alone(void)
{
    if (getenv("JOURNAL_OF_JOB") != NULL) {
        cr_skip("they are the queue's");
    }
    setup();
}

static void teardown(void)
{
    journal_close(&journal);
    jobs_free(jobs);
    jobs = NULL;
    scratch_remove(&scratch);
}

static enum status put(struct journal *to, const char *body, const void *blob, size_t blob_size)
{
    uint64_t sequence = 0;
    return to->append(to->self, &sequence, (struct slice){body, strlen(body)},
                      (struct slice){blob, blob_size});
}

static struct seen read_all(struct journal *from, enum status expected)
{
    return read_seen(from, expected, &why);
}

Test(journal_place, what_was_appended_comes_back_in_order, .init = setup, .fini = teardown)
{
    static uint8_t blob[3 * PIECE + 5];
    for (size_t i = 0; i < sizeof blob; i++) {
        blob[i] = (uint8_t)(i * 7 + i / 251);
    }
    cr_assert_eq(put(&journal, "one", NULL, 0), STATUS_OK);
    cr_assert_eq(put(&journal, "two", blob, sizeof blob), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        struct seen seen = {.text = "", .blob = blob};
        cr_expect_eq(journal.each(journal.self, look, &seen, &why), STATUS_OK, "%s", why.text);
        cr_expect_str_eq(seen.text, "1:one:0 2:two:196613 ");
        cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    }
    cr_assert_eq(put(&journal, "three", NULL, 0), STATUS_OK);
    cr_expect_str_eq(read_all(&journal, STATUS_OK).text, "1:one:0 2:two:196613 3:three:0 ");
}

Test(journal_place, hundreds_of_records_come_back, .init = setup, .fini = teardown)
{
    char body[16];
    for (int i = 1; i <= 300; i++) {
        snprintf(body, sizeof body, "%d", i);
        cr_assert_eq(put(&journal, body, NULL, 0), STATUS_OK);
    }
    cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&journal, STATUS_OK).count, 300);
}

Test(journal_place, forgetting_drops_the_blob_alone, .init = setup, .fini = teardown)
{
    cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
    cr_assert_eq(put(&journal, "two", "defg", 4), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, 0), STATUS_OK);
    cr_assert_eq(journal.forget(journal.self, UINT64_MAX), STATUS_OK);
    cr_expect_str_eq(read_all(&journal, STATUS_OK).text, "1:one:0 2:two:4 ");
    cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(read_all(&journal, STATUS_OK).text, "1:one:0 2:two:4 ");
}

Test(journal_place, a_visit_can_end_the_reading, .init = setup, .fini = teardown)
{
    cr_assert_eq(put(&journal, "one", NULL, 0), STATUS_OK);
    cr_assert_eq(put(&journal, "two", NULL, 0), STATUS_OK);
    struct seen seen = {.text = "", .stop_at = 1};
    cr_expect_eq(journal.each(journal.self, look, &seen, &why), STATUS_REFUSED);
    cr_expect_eq(put(&journal, "three", NULL, 0), STATUS_OK);
}

Test(journal_place, a_second_holder_is_told_who_holds_it, .init = setup_alone, .fini = teardown)
{
    char holder[32];
    snprintf(holder, sizeof holder, "process %ld", (long)getpid());
    const pid_t child = quiet_fork();
    if (child == 0) {
        struct journal second;
        const enum status status = open_kind(&second, "coordinator", false);
        _exit(status == STATUS_BUSY && strstr(why.text, holder) != NULL ? 0 : 1);
    }
    int result = 1;
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_expect_eq(result, 0);
}

Test(journal_place, readers_see_it_while_it_is_written, .init = setup, .fini = teardown)
{
    struct journal reader;
    cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(open_kind(&reader, "coordinator", true), STATUS_OK, "%s", why.text);
        cr_assert_eq(put(&journal, "more", NULL, 0), STATUS_OK);
        cr_expect_eq(read_all(&reader, STATUS_OK).count, 2 + i);
        journal_close(&reader);
    }
    journal_close(&journal);
    cr_assert_eq(open_kind(&reader, "coordinator", true), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&reader, STATUS_OK).count, 4);
    journal_close(&reader);
}

Test(journal_place, a_reader_of_nothing_is_told_so, .init = find_place, .fini = teardown)
{
    struct journal reader;
    cr_expect_eq(open_kind(&reader, "coordinator", true), STATUS_NOT_FOUND, "%s", why.text);
}

Test(journal_place, another_kinds_journal_is_refused, .init = setup_alone, .fini = teardown)
{
    journal_close(&journal);
    cr_expect_eq(open_kind(&journal, "agent", false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "another program (coordinator)"), "%s", why.text);
    cr_expect_eq(open_kind(&journal, "coordinator", false), STATUS_OK, "%s", why.text);
}

/* From here on of a database alone. */

Test(journal_shared, every_changed_byte_is_noticed, .init = setup_shared, .fini = teardown)
{
    static const char *const change[] = {
        "UPDATE hedgerow_record SET body = '\\\\x6f6e66' WHERE sequence = 1",
        "UPDATE hedgerow_record SET blob_bytes = 2 WHERE sequence = 1",
        "UPDATE hedgerow_record SET blob_digest = decode(repeat('00', 32), 'hex') WHERE sequence = 1",
        "UPDATE hedgerow_record SET chain = decode(repeat('00', 32), 'hex') WHERE sequence = 1",
        "UPDATE hedgerow_record SET chain = '' WHERE sequence = 1",
        "UPDATE hedgerow_blob SET bytes = '\\\\x616264'",
        "UPDATE hedgerow_blob SET bytes = '\\\\x61626364'",
        "UPDATE hedgerow_record SET sequence = 9 WHERE sequence = 3",
        "DELETE FROM hedgerow_record WHERE sequence = 1",
    };
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char sql[512];
        cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
        cr_assert_eq(put(&journal, "two", NULL, 0), STATUS_OK);
        cr_assert_eq(put(&journal, "three", NULL, 0), STATUS_OK);
        journal_close(&journal);
        snprintf(
            sql, sizeof sql,
            "DROP TRIGGER stays ON hedgerow_record; DROP TRIGGER unchanged ON hedgerow_blob; %s",
            change[i]);
        psql(sql);
        cr_assert_eq(open_kind(&journal, "coordinator", false), STATUS_OK, "%s", why.text);
        (void)read_all(&journal, STATUS_CORRUPT);
        cr_expect_not_null(strstr(why.text, "does not match"), "%s: %s", change[i], why.text);
        teardown();
        setup();
    }
}

Test(journal_shared, append_only_holds_in_the_database_itself, .init = setup_shared,
     .fini = teardown)
{
    static const char *const change[] = {
        "DELETE FROM hedgerow_record", "UPDATE hedgerow_record SET body = ''",
        "UPDATE hedgerow_blob SET bytes = ''", "TRUNCATE hedgerow_record"};
    cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char line[2048];
        snprintf(line, sizeof line, "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1",
                 place, change[i]);
        cr_expect_neq(system(line), 0, "%s", change[i]);
    }
    cr_expect_str_eq(read_all(&journal, STATUS_OK).text, "1:one:3 ");
}

/* The old leader is as if it had been stopped: it never hears that another one leads. */
static void take_over(struct journal *second)
{
    psql("UPDATE hedgerow_lease SET until = '-infinity'");
    cr_assert_eq(open_kind(second, "coordinator", false), STATUS_OK, "%s", why.text);
}

Test(journal_shared, a_leader_of_an_earlier_term_writes_nothing, .init = setup_shared,
     .fini = teardown)
{
    struct journal second;
    cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
    take_over(&second);
    cr_expect_eq(put(&journal, "late", "x", 1), STATUS_IO, "and it is certain that nothing was");
    cr_expect_not_null(strstr(journal.trouble(journal.self), "another coordinator leads"));
    cr_expect_eq(put(&journal, "late", NULL, 0), STATUS_UNKNOWN_OUTCOME, "the handle is dead");
    cr_expect_eq(put(&second, "two", NULL, 0), STATUS_OK);
    cr_expect_str_eq(read_all(&second, STATUS_OK).text, "1:one:3 2:two:0 ");
    journal_close(&second);
}

Test(journal_shared, a_leader_of_an_earlier_term_forgets_nothing, .init = setup_shared,
     .fini = teardown)
{
    struct journal second;
    cr_assert_eq(put(&journal, "one", "abc", 3), STATUS_OK);
    take_over(&second);
    cr_expect_eq(journal.forget(journal.self, 1), STATUS_IO);
    cr_expect_str_eq(read_all(&second, STATUS_OK).text, "1:one:3 ");
    journal_close(&second);
}

/* It opened the journal, and was stopped before it read it. */
Test(journal_shared, a_leader_that_reads_what_another_added_is_not_told_of_damage,
     .init = setup_shared, .fini = teardown)
{
    struct journal second;
    cr_assert_eq(put(&journal, "one", NULL, 0), STATUS_OK);
    take_over(&second);
    cr_assert_eq(put(&second, "two", NULL, 0), STATUS_OK);
    (void)read_all(&journal, STATUS_IO);
    cr_expect_not_null(strstr(why.text, "another coordinator leads"), "%s", why.text);
    cr_expect_str_eq(read_all(&second, STATUS_OK).text, "1:one:0 2:two:0 ");
    journal_close(&second);
}

/* Planted: without its term a statement of the old leader would be written, and the contract above would be broken. */
Test(journal_shared, the_term_is_what_keeps_an_old_leader_out, .init = setup_shared,
     .fini = teardown)
{
    struct journal second;
    take_over(&second);
    psql("UPDATE hedgerow_lease SET term = term - 1, guard = term - 1");
    cr_expect_eq(put(&journal, "late", NULL, 0), STATUS_OK);
    journal_close(&second);
}

/* A leader that commits nothing has to learn it too, or agents would stay with it. */
Test(journal_shared, a_leader_learns_that_another_one_leads, .init = setup_shared, .fini = teardown)
{
    struct journal second;
    cr_expect_not(journal_is_lost(&journal));
    take_over(&second);
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i < 300 && !journal_is_lost(&journal); i++) {
        nanosleep(&pause, NULL);
    }
    cr_expect(journal_is_lost(&journal));
    cr_expect_not(journal_is_lost(&second));
    journal_close(&second);
}

Test(journal_shared, a_lease_is_renewed_while_nothing_happens, .init = setup_shared,
     .fini = teardown)
{
    struct journal second;
    const struct timespec longer_than_the_lease = {.tv_sec = 8};
    nanosleep(&longer_than_the_lease, NULL);
    cr_expect_eq(open_kind(&second, "coordinator", false), STATUS_BUSY, "%s", why.text);
    cr_expect_eq(put(&journal, "one", NULL, 0), STATUS_OK);
}

Test(journal_shared, closing_gives_the_lease_back, .init = setup_shared, .fini = teardown)
{
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cr_assert_eq(reopen(), STATUS_OK, "%s", why.text);
    clock_gettime(CLOCK_MONOTONIC, &after);
    cr_expect_lt(after.tv_sec - before.tv_sec, 5, "without waiting for the lease's end");
}

/* A lock on the lease's row, as of one that takes the lead, holds a statement up, as a slow server would. The connection is cut meanwhile: the outcome is not
 * known. The server may still be at it, so opening again has to wait, and finds what has come of it. */
static void hold_row(const char *then)
{
    char path[128];
    char line[1024];
    snprintf(path, sizeof path, "%s/script", scratch.folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file,
            "BEGIN; SELECT FROM hedgerow_lease FOR UPDATE;\n\\! touch %s/held\n"
            "SELECT pg_sleep(1); %s COMMIT;\n",
            scratch.folder, then);
    fclose(file);
    snprintf(line, sizeof line,
             "psql -q -d '%s' -f %s >/dev/null 2>&1 & while ! [ -e %s/held ]; do sleep 0.02; done",
             place, path, scratch.folder);
    cr_assert_eq(system(line), 0);
}

Test(journal_shared, a_cut_connection_leaves_the_outcome_open, .init = setup_shared,
     .fini = teardown)
{
    cr_assert_eq(put(&journal, "one", NULL, 0), STATUS_OK);
    hold_row("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
             " WHERE application_name = 'hedgerow-coordinator';");
    cr_expect_eq(put(&journal, "two", NULL, 0), STATUS_UNKNOWN_OUTCOME);
    cr_expect_eq(put(&journal, "three", NULL, 0), STATUS_UNKNOWN_OUTCOME,
                 "until it is opened again");
    journal_close(&journal);
    enum status status = STATUS_BUSY;
    for (int i = 0; i < 200 && status != STATUS_OK; i++) { /* its own lease may have to run out */
        const struct timespec pause = {.tv_nsec = 100000000};
        nanosleep(&pause, NULL);
        status = open_kind(&journal, "coordinator", false);
    }
    cr_assert_eq(status, STATUS_OK, "%s", why.text);
    const struct seen seen = read_all(&journal, STATUS_OK);
    cr_expect(strcmp(seen.text, "1:one:0 ") == 0 || strcmp(seen.text, "1:one:0 2:two:0 ") == 0,
              "%s", seen.text);
    cr_expect_eq(put(&journal, "again", NULL, 0), STATUS_OK);
}

Test(journal_shared, a_slow_server_is_waited_for, .init = setup_shared, .fini = teardown)
{
    hold_row("");
    cr_expect_eq(put(&journal, "one", NULL, 0), STATUS_OK, "%s", journal.trouble(journal.self));
}

Test(journal_shared, a_server_that_waits_for_no_disk_is_refused, .init = setup_shared,
     .fini = teardown)
{
    journal_close(&journal);
    psql("ALTER ROLE hedgerow SET synchronous_commit = off");
    cr_expect_eq(open_kind(&journal, "coordinator", false), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "synchronous_commit"), "%s", why.text);
    psql("ALTER ROLE hedgerow RESET synchronous_commit");
    cr_expect_eq(open_kind(&journal, "coordinator", false), STATUS_OK, "%s", why.text);
}

Test(journal_shared, of_several_that_begin_at_once_one_leads, .init = setup_shared,
     .fini = teardown)
{
    enum { MANY = 6 };
    pid_t child[MANY];
    int leaders = 0;
    journal_close(&journal);
    psql("DROP TABLE hedgerow_lease, hedgerow_record, hedgerow_blob; DROP FUNCTION hedgerow_stays");
    for (int i = 0; i < MANY; i++) {
        child[i] = quiet_fork();
        if (child[i] == 0) {
            const enum status status = open_kind(&journal, "coordinator", false);
            const struct timespec pause = {.tv_sec = 3};
            nanosleep(&pause, NULL);
            _exit(status == STATUS_OK ? 1 : status == STATUS_BUSY ? 0 : 2);
        }
    }
    for (int i = 0; i < MANY; i++) {
        int result = 2;
        cr_assert_eq(waitpid(child[i], &result, 0), child[i]);
        cr_expect(WIFEXITED(result) && WEXITSTATUS(result) < 2);
        leaders += WEXITSTATUS(result) == 1 ? 1 : 0;
    }
    cr_expect_eq(leaders, 1);
}
