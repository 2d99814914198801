/* What a queue in a database adds to the contract of test_queue_place.c: several coordinators share it, and one leads. */

#include "coordinator/main_queue_store.h"
#include "queue_bench.h"
#include "tests/support/journal_seen.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_BYTES = 2048 };

/* The old leader is as if it had been stopped: it never hears that another one leads. */
static struct office take_over(void)
{
    struct office second = {.settings = office.settings};
    bench_psql("UPDATE hedgerow_lease SET until = '-infinity'");
    cr_assert_eq(queue_open(&second, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_lead(&second, &why), STATUS_OK, "%s", why.text);
    return second;
}

Test(queue_shared, one_leads_and_the_others_are_told_who, .init = bench_begin_shared,
     .fini = bench_end)
{
    char holder[32];
    struct office second = {.settings = office.settings};
    snprintf(holder, sizeof holder, "process %ld", (long)getpid());
    cr_assert_eq(queue_open(&second, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_lead(&second, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, holder), "%s", why.text);
    cr_expect(queue_is_lost(&second), "one that does not lead");
    cr_expect_not(queue_is_lost(&office));
    uint32_t number = 0;
    cr_assert_eq(queue_add(&number, &second, &account,
                           (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why),
                 STATUS_OK, "who does not lead may submit");
    cr_expect_eq(bench_seen(1).state, QUEUE_WAITING);
    cr_assert_eq(queue_cancel(&second, 1, &account, &why), STATUS_OK, "and cancel");
    cr_expect_eq(queue_mark_begun(&second, 1, &why), STATUS_BUSY, "and begins nothing");
    queue_close(&office);
    cr_expect_eq(queue_lead(&second, &why), STATUS_OK, "closing gives the lead back: %s", why.text);
    queue_close(&second);
}

/* Which jobs are led, as a collector finds them in a list, and then in what it follows. */
static void expect_led(const struct office *collector, const char *expected)
{
    struct queue_list list;
    cr_assert_eq(queue_list(&list, collector, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(list.names, expected);
    queue_list_free(&list);
}

/* A collector has the jobs that the leader of this term runs, and no others. */
Test(queue_shared, a_collector_follows_what_is_led, .init = bench_begin_shared, .fini = bench_end)
{
    enum { TRIES = 200 };
    struct office collector = {.settings = office.settings};
    struct queue_followed followed;
    char *text = NULL;
    size_t size = 0;
    bench_psql("ALTER TABLE hedgerow_job DROP COLUMN led"); /* the queue of an earlier hedgerow */
    cr_assert_eq(queue_open(&collector, &why), STATUS_OK, "%s", why.text);
    queue_collect(&collector);
    for (uint32_t number = 1; number <= 3; number++) {
        cr_assert_eq(bench_add(), number);
    }
    expect_led(&collector, "led\n");
    cr_assert_eq(queue_set_led(&office, 1, true, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_set_led(&office, 3, true, &why), STATUS_OK, "%s", why.text);
    expect_led(&collector, "led 1 3\n");
    cr_expect(queue_is_led(&collector, 1) && queue_is_led(&collector, 3));
    cr_expect_not(queue_is_led(&collector, 2));
    cr_assert_eq(queue_set_led(&office, 1, false, &why), STATUS_OK, "%s", why.text);
    queue_follow(&followed, &collector, 0);
    for (int i = 0; i < TRIES && (text == NULL || strcmp(text, "led 3\n") != 0); i++) {
        free(text);
        (void)poll(NULL, 0, 50);
        cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
    }
    cr_expect_str_eq(text, "led 3\n", "the driver is told what a list then says");
    free(text);
    cr_expect_not(queue_is_led(&collector, 1));
    expect_led(&collector, "led 3\n");

    struct office second = take_over();
    expect_led(&collector, "led\n");
    cr_expect_eq(queue_set_led(&office, 2, true, &why), STATUS_BUSY, "it leads no more");
    cr_assert_eq(queue_set_led(&second, 2, true, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_set_led(&second, 9, true, &why), STATUS_NOT_FOUND);
    expect_led(&collector, "led 2\n");
    struct queue_job job = bench_seen(2);
    job.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&second, &job, &why), STATUS_OK, "%s", why.text);
    expect_led(&collector, "led\n");
    queue_close(&collector);
    queue_close(&second);
}

Test(queue_shared, a_leader_of_an_earlier_term_changes_nothing, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    int64_t size = 0;
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    struct office second = take_over();
    struct queue_job job = bench_seen(1);
    job.state = QUEUE_DONE;
    cr_expect_eq(queue_mark_begun(&office, 1, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "another coordinator leads"), "%s", why.text);
    cr_expect_eq(queue_file(&office, &job, &why), STATUS_BUSY);
    cr_expect_eq(
        queue_in_database.put_result(&office, 1, "result.json", (struct slice){"{}", 2}, &why),
        STATUS_BUSY);
    cr_expect_eq(
        journal.append(journal.self, &sequence, (struct slice){"late", 4}, (struct slice){NULL, 0}),
        STATUS_IO, "and it is certain that nothing was");
    cr_expect(queue_is_lost(&office), "a commit told it");
    struct queue_kept kept;
    cr_assert_eq(queue_peek(&kept, &second, 1, &why), STATUS_OK);
    cr_expect(!kept.begun && !kept.over);
    cr_assert_eq(queue_result_size(&size, &second, 1, "result.json", &why), STATUS_OK);
    cr_expect_eq(size, -1);
    cr_expect_eq(queue_mark_begun(&second, 1, &why), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    office_free(&own);
    queue_close(&second);
}

/* Planted: without its term the old leader's statements would be performed, and the contract above would be broken. */
Test(queue_shared, the_term_is_what_keeps_an_old_leader_out, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    struct office second = take_over();
    bench_psql("UPDATE hedgerow_lease SET term = term - 1, guard = term - 1");
    cr_expect_eq(queue_mark_begun(&office, 1, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(
        journal.append(journal.self, &sequence, (struct slice){"late", 4}, (struct slice){NULL, 0}),
        STATUS_OK);
    journal_close(&journal);
    office_free(&own);
    queue_close(&second);
}

/* Each job's records are its own, under one lease. */
Test(queue_shared, journals_lie_side_by_side, .init = bench_begin_shared, .fini = bench_end)
{
    struct office own[2];
    struct journal journal[2];
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(bench_add(), i + 1);
        cr_assert_eq(bench_open_journal(&journal[i], &own[i], i + 1), STATUS_OK, "%s", why.text);
    }
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(journal[0].append(journal[0].self, &sequence, (struct slice){"a", 1},
                                       (struct slice){"x", 1}),
                     STATUS_OK);
    }
    cr_assert_eq(journal[1].append(journal[1].self, &sequence, (struct slice){"b", 1},
                                   (struct slice){NULL, 0}),
                 STATUS_OK);
    cr_expect_eq(sequence, 1);
    cr_expect_str_eq(read_seen(&journal[0], STATUS_OK, &why).text, "1:a:1 2:a:1 3:a:1 ");
    cr_expect_str_eq(read_seen(&journal[1], STATUS_OK, &why).text, "1:b:0 ");
    cr_expect_not(queue_is_lost(&office));
    for (size_t i = 0; i < 2; i++) {
        journal_close(&journal[i]);
        office_free(&own[i]);
    }
    struct office second = {.settings = office.settings};
    cr_assert_eq(queue_open(&second, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_lead(&second, &why), STATUS_BUSY,
                 "the lease is the queue's, not the journals'");
    queue_close(&second);
    cr_expect_eq(queue_mark_begun(&office, 1, &why), STATUS_OK, "its term holds: %s", why.text);
    cr_expect_not(queue_is_lost(&office));
}

/* Opening a job's journal does not raise the term. So whoever does not know what has become of a commit gives the lead up. */
Test(queue_shared, a_commit_whose_outcome_is_unknown_costs_the_lead, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    char line[COMMAND_BYTES];
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    snprintf(line, sizeof line,
             "psql -q -d '%s' -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
             " WHERE application_name = 'hedgerow-coordinator'\" >/dev/null 2>&1",
             office.settings.jobs);
    cr_assert_eq(system(line), 0, "%s", line);
    cr_expect_eq(
        journal.append(journal.self, &sequence, (struct slice){"one", 3}, (struct slice){NULL, 0}),
        STATUS_UNKNOWN_OUTCOME);
    cr_expect(queue_is_lost(&office));
    journal_close(&journal);
    office_free(&own);
    enum status status = STATUS_AGAIN;
    for (int i = 0; i < 200 && status != STATUS_OK; i++) { /* its own lease may have to run out */
        const struct timespec pause = {.tv_nsec = 100000000};
        nanosleep(&pause, NULL);
        status = queue_lead(&office, &why);
    }
    cr_assert_eq(status, STATUS_OK, "%s", why.text);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    cr_expect_eq(
        journal.append(journal.self, &sequence, (struct slice){"two", 3}, (struct slice){NULL, 0}),
        STATUS_OK);
    journal_close(&journal);
    office_free(&own);
}

/* What is over cannot be cancelled any more, whoever was first. */
Test(queue_shared, an_end_comes_before_a_late_cancellation, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct queue_job job = bench_seen(bench_add());
    job.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_cancel(&office, 1, &account, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "is over"), "%s", why.text);
    cr_expect_str_eq(bench_seen(1).cancel, "");
}

Test(queue_shared, has_a_last_number_too, .init = bench_begin_shared, .fini = bench_end)
{
    uint32_t number = 0;
    bench_psql("UPDATE hedgerow_queue SET last = 999999999");
    cr_expect_eq(queue_add(&number, &office, &account,
                           (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why),
                 STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "no number is free"), "%s", why.text);
}

/* A number is not given again: a journal of it might still be there. */
Test(queue_shared, a_removed_jobs_number_is_not_given_again, .init = bench_begin_shared,
     .fini = bench_end)
{
    cr_assert_eq(bench_add(), 1);
    bench_remove(1);
    cr_expect_eq(bench_add(), 2);
}

static enum status open_anew(void)
{
    queue_close(&office);
    why.text[0] = '\0';
    return queue_open(&office, &why);
}

Test(queue_shared, refuses_what_cannot_be_a_queue, .init = bench_begin_shared, .fini = bench_end)
{
    bench_psql("UPDATE hedgerow_lease SET kind = 'coordinator'");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "a database of its own"), "%s", why.text);
    bench_psql("UPDATE hedgerow_lease SET kind = 'queue', version = 9");
    cr_expect_eq(open_anew(), STATUS_UNSUPPORTED);
    cr_expect_not_null(strstr(why.text, "version 9"), "%s", why.text);
    bench_psql("UPDATE hedgerow_lease SET version = 6");
    cr_expect_eq(open_anew(), STATUS_OK, "%s", why.text);
    char *path = strstr(office.settings.jobs, "&options");
    strcpy(path, "&options=-csearch_path%3Dno_such_schema");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "search_path"), "%s", why.text);
    const char long_name[] = "a23456789_a23456789_a23456789_a23456789_a";
    snprintf(path, 256, "&options=-csearch_path%%3D%s", long_name);
    char command[256];
    snprintf(command, sizeof command, "CREATE SCHEMA IF NOT EXISTS %s", long_name);
    bench_psql(command);
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "more than 40 bytes"), "%s", why.text);
}

/* Planted: such a coordinator took the lead, and set each job aside as it began. */
Test(queue_shared, who_may_make_no_schema_does_not_lead, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office poor = {.settings = office.settings};
    char role[64];
    char command[512];
    snprintf(role, sizeof role, "poor_%ld", (long)getpid());
    snprintf(command, sizeof command,
             "CREATE ROLE %s LOGIN; DO \\$\\$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %%I TO "
             "%s', current_schema()); EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %%I TO "
             "%s', current_schema()); END \\$\\$",
             role, role, role);
    bench_psql(command);
    char *at = strstr(poor.settings.jobs, "hedgerow@");
    cr_assert_not_null(at);
    memmove(at + strlen(role), at + strlen("hedgerow"), strlen(at + strlen("hedgerow")) + 1);
    memcpy(at, role, strlen(role));
    queue_close(&office);
    cr_assert_eq(queue_open(&poor, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_may_lead(&poor, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "GRANT CREATE ON DATABASE"), "%s", why.text);
    cr_expect_eq(queue_lead(&poor, &why), STATUS_INVALID);
    cr_expect(queue_is_lost(&poor));
    snprintf(command, sizeof command, "GRANT CREATE ON DATABASE hedgerow TO %s", role);
    bench_psql(command);
    cr_expect_eq(queue_may_lead(&poor, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_lead(&poor, &why), STATUS_OK, "%s", why.text);
    queue_close(&poor);
}

Test(queue_shared, a_server_that_waits_for_no_disk_is_refused, .init = bench_begin_shared,
     .fini = bench_end)
{
    const size_t used = strlen(office.settings.jobs);
    snprintf(office.settings.jobs + used, sizeof office.settings.jobs - used,
             "%%20-csynchronous_commit%%3Doff");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "synchronous_commit"), "%s", why.text);
}

/* Where the coordinator draws the noise, a database that is put back would have it drawn again. */
Test(queue_shared, trust_central_is_refused, .init = bench_begin_shared, .fini = bench_end)
{
    char text[1024];
    const char *at = strstr(WAITING_JOB, "trust: local");
    const char *minimum = strstr(WAITING_JOB, "minimum: 2");
    snprintf(text, sizeof text, "%.*strust: central%.*sminimum: 2, records: 10%s",
             (int)(at - WAITING_JOB), WAITING_JOB, (int)(minimum - at) - 12, at + 12, minimum + 10);
    const struct queue_job job =
        bench_seen(bench_add_text(text)); /* as by a program that did not judge it */
    cr_expect(job.stuck, "%s", queue_state_name(job.state));
    cr_expect_not_null(strstr(job.because, "a folder as `jobs`"), "%s", job.because);
}

Test(queue_away, a_server_that_is_away_is_told)
{
    struct office away = {.settings.jobs = "postgresql:///name?host=/nowhere"};
    uint32_t number = 0;
    struct queue_list list;
    cr_expect_eq(queue_open(&away, &why), STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "database name at /nowhere"), "%s", why.text);
    cr_expect_eq(queue_list(&list, &away, &why), STATUS_AGAIN);
    cr_expect_eq(
        queue_add(&number, &away, &account, (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why),
        STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "look with `jobs` before"), "%s", why.text);
    cr_expect_eq(queue_lead(&away, &why), STATUS_AGAIN);
    cr_expect(queue_is_lost(&away));
    queue_close(&away);
}

/* What a program of version 1 writes to take the lead, which does not look at the version again once it is connected. */
#define TAKE_AS_OLDER                                                                              \
    "UPDATE hedgerow_lease SET term = term + 1, holder = 'old', until = clock_timestamp()"         \
    " WHERE until < clock_timestamp()"

/* And one of version 2, which leads beside protocol 5. */
#define TAKE_AS_SECOND                                                                             \
    "UPDATE hedgerow_lease SET term = term + 1, guard = term + 1, version = 2, holder = 'old',"    \
    " until = clock_timestamp() WHERE until < clock_timestamp()"

/* Returns whether it has the lead by now. */
static bool takes(const char *statement, const char *refusal)
{
    char command[2048];
    snprintf(command, sizeof command,
             "psql -qAt -d '%s' -c \"UPDATE hedgerow_lease SET until = '-infinity'\" -c "
             "\"%s\" 2>&1 | grep -q '%s: update hedgerow'",
             office.settings.jobs, statement, refusal);
    return system(command) != 0;
}

static bool older_takes(void)
{
    return takes(TAKE_AS_OLDER, "is too old for this database");
}

static bool second_takes(void)
{
    return takes(TAKE_AS_SECOND, "is older than the one that led");
}

/* Planted: a coordinator of an earlier version took the lead of a queue whose journals it cannot read. */
Test(queue_shared, an_older_coordinator_leads_no_more_once_a_later_one_has,
     .init = bench_begin_shared, .fini = bench_end)
{
    struct office other = {.settings = office.settings};
    cr_expect_not(older_takes());
    cr_expect_not(second_takes());
    queue_close(&office);
    /* As an earlier version has made it, and leads it: a later one that reads changes nothing of that. */
    bench_psql("ALTER TABLE hedgerow_lease DROP least; UPDATE hedgerow_lease SET version = 2");
    cr_assert_eq(queue_open(&other, &why), STATUS_OK, "%s", why.text);
    cr_expect(second_takes());
    queue_close(&other);
    bench_psql("ALTER TABLE hedgerow_lease DROP guard; UPDATE hedgerow_lease SET version = 1");
    cr_assert_eq(queue_open(&other, &why), STATUS_OK, "%s", why.text);
    cr_expect(older_takes());
    bench_psql("UPDATE hedgerow_lease SET until = '-infinity'");
    cr_assert_eq(queue_lead(&other, &why), STATUS_OK, "%s", why.text);
    cr_expect_not(older_takes());
    cr_expect_not(second_takes());
    bench_psql("DO \\$\\$ BEGIN ASSERT (SELECT version FROM hedgerow_lease) = 6; END \\$\\$");
    queue_close(&other);
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
}
