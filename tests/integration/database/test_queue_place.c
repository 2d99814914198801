/* The contract of a queue, whatever keeps it: a folder, or, where DATABASE_URL names one (tests/support/postgres), a database.
 * What a database adds is tested in test_queue_shared.c. */

#include "base/file.h"
#include "config/config.h"
#include "coordinator/main_queue_store.h"
#include "coordinator/main_stay.h"
#include "database/jobs.h"
#include "io/clock.h"
#include "queue_bench.h"
#include "tests/support/quiet_fork.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char said[1 << 14];

static void listen(UNUSED void *self, const struct log_entry *entry)
{
    const size_t used = strlen(said);
    (void)snprintf(said + used, sizeof said - used, "%s %s\n", entry->event, entry->text);
}

static const struct log heard = {.write = listen, .level = LOG_INFO};

static void make_journal(uint32_t number)
{
    struct office own;
    struct journal journal;
    cr_assert_eq(bench_open_journal(&journal, &own, number), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    office_free(&own);
}

Test(queue_place, numbers_jobs_and_keeps_their_bytes, .init = bench_begin, .fini = bench_end)
{
    cr_expect_eq(bench_add(), 1);
    cr_expect_eq(bench_add(), 2);
    cr_assert_eq(queue_take(&office, 2, &why), STATUS_OK, "%s", why.text);
    cr_expect(office.text_size == strlen(WAITING_JOB) &&
              memcmp(office.text, WAITING_JOB, strlen(WAITING_JOB)) == 0);
    const struct queue_job job = bench_seen(1);
    cr_expect_eq(job.state, QUEUE_WAITING);
    cr_expect_str_eq(job.name, "waiting");
    cr_expect_eq(job.planned, 2);
    cr_expect_eq(job.price.epsilon_micro, 1000000);
    cr_expect_not_null(strstr(job.submitted, " at 20"));
    cr_expect_eq(queue_take(&office, 3, &why), STATUS_NOT_FOUND);
    cr_expect_null(office.text, "the job before is gone");
}

/* Two operators at a time: no number is given twice, and no job is lost. */
Test(queue_place, gives_each_number_once, .init = bench_begin, .fini = bench_end)
{
    enum { OPERATORS = 4, EACH = 8 };
    struct queue_list list;
    for (int i = 0; i < OPERATORS; i++) {
        const pid_t child = quiet_fork();
        cr_assert_geq(child, 0);
        for (int j = 0; child == 0 && j <= EACH; j++) {
            uint32_t number;
            office.jobs = j == 0 ? NULL : office.jobs; /* the connection is the parent's */
            if (j == EACH) {
                _exit(0);
            }
            if ((j == 0 && queue_open(&office, &why) != STATUS_OK) ||
                queue_add(&number, &office, &account,
                          (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why) != STATUS_OK) {
                _exit(1);
            }
        }
    }
    for (int i = 0; i < OPERATORS; i++) {
        int result = 0;
        cr_assert_gt(wait(&result), 0);
        cr_assert(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK);
    cr_assert_eq(list.count, OPERATORS * EACH);
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_eq(list.entry[i].number, i + 1);
        cr_expect_eq(bench_seen(list.entry[i].number).state, QUEUE_WAITING);
    }
    queue_list_free(&list);
}

Test(queue_place, cancels_before_the_beginning, .init = bench_begin, .fini = bench_end)
{
    const uint32_t number = bench_add();
    cr_assert_eq(queue_cancel(&office, number, &account, &why), STATUS_OK);
    const struct queue_job job = bench_seen(number);
    cr_expect_eq(job.state, QUEUE_CANCELLED);
    cr_expect_not_null(strstr(job.because, "before it began"), "%s", job.because);
    cr_expect_not(job.filed);
}

Test(queue_place, files_an_end_that_comes_back, .init = bench_begin, .fini = bench_end)
{
    struct queue_job job = bench_seen(bench_add());
    job.state = QUEUE_FAILED;
    job.rounds = 1;
    job.spent = (struct price){1500000, 7};
    (void)snprintf(job.because, sizeof job.because, "a \"word\", a \\ and: # a colon");
    cr_expect_not(bench_is_over(1));
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect(bench_is_over(1));
    const struct queue_job again = bench_seen(1);
    cr_expect(again.filed && again.state == QUEUE_FAILED && again.rounds == 1 &&
              again.planned == 2);
    cr_expect(again.spent.epsilon_micro == 1500000 && again.spent.delta_atto == 7);
    cr_expect_eq(again.price.epsilon_micro, 1000000);
    cr_expect_str_eq(again.because, job.because);
    cr_expect_not_null(strstr(again.ended, "20"));
    memset(job.because, 'x', sizeof job.because - 1); /* the longest cause that a record has */
    job.because[sizeof job.because - 1] = '\0';
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(bench_seen(1).because, job.because);
}

/* Adds a job that asks these agents; "": all. */
static uint32_t add_asking(const char *agents)
{
    char text[1024];
    uint32_t number = 0;
    const char *at = strstr(WAITING_JOB, "minimum: 2,");
    (void)snprintf(text, sizeof text, "%.*sminimum: 1, agents: [%s],%s", (int)(at - WAITING_JOB),
                   WAITING_JOB, agents, at + strlen("minimum: 2,"));
    number = bench_add_text(text);
    return number;
}

/* The numbers of the jobs that run, sorted, as digits. */
static const char *running(const struct stay *stay)
{
    static char digits[STAY_JOBS_MAX + 1];
    size_t count = 0;
    for (uint32_t number = 1; number <= 9; number++) {
        for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
            if (stay->job[i].number == number) {
                digits[count++] = (char)('0' + number);
            }
        }
    }
    digits[count] = '\0';
    return digits;
}

static void choose(struct stay *stay, const char *expected)
{
    cr_assert_eq(stay_choose(stay, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(running(stay), expected);
}

static void end_job(struct stay *stay, uint32_t number)
{
    struct queue_job over = bench_seen(number);
    over.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &over, &why), STATUS_OK);
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        if (stay->job[i].number == number) {
            queue_of(&stay->job[i].office)->part_beside(&stay->job[i].office);
            office_free(&stay->job[i].office);
            stay->job[i].number = 0;
        }
    }
}

/* Jobs that ask different agents run at the same time. No job overtakes one that waits for one of its
 * agents. */
Test(queue_place, lets_jobs_run_beside_each_other, .init = bench_begin, .fini = bench_end)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    (void)add_asking("north, south"); /* 1 */
    (void)add_asking("south, west");  /* 2 waits for 1 */
    (void)add_asking("west, east");   /* 3 has free agents, and waits for 2 to begin first */
    (void)add_asking("far");          /* 4 */
    (void)bench_add();                /* 5 asks everybody */
    (void)add_asking("away");         /* 6 waits for 5 to begin first */
    static const struct {
        uint32_t ended;
        const char *expected;
    } each[] = {{0, "14"}, {0, "14"}, {4, "1"}, {1, "2"}, {2, "3"}, {3, "5"}, {5, "6"}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        if (each[i].ended > 0) {
            end_job(&stay, each[i].ended);
        }
        choose(&stay, each[i].expected);
    }
    stay_free(&stay);
}

/* Those that have begun come first after a start, whatever their numbers; and never more than the settings say. */
Test(queue_place, resumes_what_has_begun_first, .init = bench_begin, .fini = bench_end)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    static const char *const agents[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) {
        (void)add_asking(agents[i]);
    }
    choose(&stay, "123");
    stay_free(&stay);
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(queue_of(&office)->mark_begun(&office, 5, &why), STATUS_OK);
    cr_assert_eq(queue_cancel(&office, 5, &account, &why), STATUS_OK);
    make_journal(4); /* it has begun, and so has its journal, which holds nothing yet */
    cr_assert_eq(queue_of(&office)->mark_begun(&office, 4, &why), STATUS_OK);
    choose(&stay, "124");
    cr_expect(bench_is_over(5), "it can go nowhere, and is cancelled");
    cr_expect(bench_seen(5).begun && !bench_seen(3).begun);
    stay_free(&stay);
}

/* A removal that was cut short, a journal that is gone, a number that is free again: no job begins, and is paid for,
 * twice. */
Test(queue_place, never_begins_a_job_again, .init = bench_begin, .fini = bench_end)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(bench_add(), 1);
    cr_expect_eq(bench_seen(1).state, QUEUE_WAITING);
    cr_assert_eq(queue_of(&office)->mark_begun(&office, 1, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_of(&office)->mark_begun(&office, 1, &why), STATUS_OK,
                 "it is marked already");
    struct queue_job job = bench_seen(1);
    cr_expect(job.stuck && job.begun && job.unknown && job.state == QUEUE_ASIDE);
    cr_expect_not_null(strstr(job.because, "its journal is gone"), "%s", job.because);
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay_count(&stay), 0);
    cr_expect_not_null(strstr(said, "job 1 is passed over"), "%s", said);
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    job = bench_seen(1);
    cr_expect(!job.filed && job.state == QUEUE_CANCELLED, "it is decided before it is filed");
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    job = bench_seen(1);
    cr_expect(job.filed && job.begun && job.state == QUEUE_CANCELLED && job.unknown);
    cr_expect_not_null(strstr(job.because, "; it has begun"), "%s", job.because);
    bench_remove(1);
    cr_expect_eq(bench_add(), 2, "a number that had a job that began");
    stay_free(&stay);
}

/* A job that cannot run is over once an operator cancels it. */
Test(queue_place, files_what_is_stuck_and_cancelled, .init = bench_begin, .fini = bench_end)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_add(), 2);
    make_journal(1);
    bench_spoil_text(1);
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay.job[0].number, 2);
    const struct queue_job job = bench_seen(1);
    cr_expect(job.filed && job.state == QUEUE_CANCELLED, "%s", queue_state_name(job.state));
    cr_expect_not_null(strstr(job.because, "cancelled by "), "%s", job.because);
    stay_free(&stay);
}

/* A database is read beside the loop: what is told changes a while later. */
static void expect_followed(uint32_t number, const char *expected)
{
    enum { TRIES = 600 };
    static struct queue_followed followed;
    const struct timespec a_while = {.tv_nsec = 50 * 1000000L};
    char *text = NULL;
    size_t size = 0;
    bool as_expected = false;
    queue_of(&office)->follow(&followed, &office, number);
    cr_expect_neq(followed.path[0], '\0');
    for (int i = 0; i < TRIES && !as_expected; i++) {
        free(text);
        nanosleep(&a_while, NULL);
        if (followed.read != NULL) {
            cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
        } else {
            cr_assert_eq(config_load_owned(&text, &size, followed.path, &why), STATUS_OK, "%s",
                         why.text);
        }
        cr_expect_eq(size, text == NULL ? 0 : strlen(text)); /* NULL: nothing is told yet */
        as_expected = text != NULL && strncmp(text, expected, strlen(expected)) == 0;
    }
    cr_expect(as_expected, "%u: %s", number, text == NULL ? "nothing" : text);
    free(text);
}

/* What the driver tells the machines: the list when it has changed, and who cancels. */
Test(queue_place, tells_what_the_driver_follows, .init = bench_begin, .fini = bench_end)
{
    struct queue_list list;
    struct queue_list later;
    const struct queue_actor maria = {"maria", NULL};
    const struct queue_actor jan = {"jan", NULL};
    char *text = NULL;
    size_t size = 0;
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_add(), 2);
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK);
    if (shared) {
        expect_followed(0, list.names);
    }
    cr_assert_eq(queue_of(&office)->cancelled(&text, &size, &office, 2, &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_eq(size, 0, "nobody has cancelled it");
    free(text);
    cr_assert_eq(queue_cancel(&office, 2, &maria, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_cancel(&office, 1, &jan, &why), STATUS_OK, "%s", why.text);
    expect_followed(2, "operator maria at 20");
    expect_followed(1, "operator jan at 20");
    cr_assert_eq(queue_of(&office)->cancelled(&text, &size, &office, 2, &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_eq(strncmp(text, "operator maria at 20", 20), 0, "%s", text);
    free(text);
    cr_assert_eq(bench_add(), 3);
    cr_assert_eq(queue_of(&office)->list(&later, &office, &why), STATUS_OK);
    cr_expect_str_neq(later.names, list.names);
    queue_list_free(&list);
    queue_list_free(&later);
}

static struct queue_stamp stamp_of(uint32_t number)
{
    struct queue_stamp stamp;
    memset(&stamp, 0, sizeof stamp);
    cr_assert_eq(queue_of(&office)->stamp(&stamp, &office, number, &why), STATUS_OK, "%s",
                 why.text);
    return stamp;
}

/* A folder's stamp is settled two ticks after the last change. A database's stamp is settled at once. */
static struct queue_stamp settled_stamp(void)
{
    struct queue_stamp stamp = stamp_of(1);
    cr_expect(!shared || stamp.settled, "a database has no clock with ticks");
    for (int i = 0; i < 6000 && !stamp.settled; i++) {
        const struct timespec pause = {.tv_nsec = 10000000};
        nanosleep(&pause, NULL);
        stamp = stamp_of(1);
    }
    cr_assert(stamp.settled, "nothing changes, and it does not settle");
    return stamp;
}

static void expect_change(struct queue_stamp *before, const char *what)
{
    const struct queue_stamp now = settled_stamp();
    cr_expect_neq(memcmp(now.of, before->of, sizeof now.of), 0, "%s", what);
    const struct queue_stamp again = settled_stamp();
    cr_expect_eq(memcmp(now.of, again.of, sizeof now.of), 0, "nothing has changed: %s", what);
    *before = now;
}

/* A command that watches a job reads it again only when its stamp has changed. The test changes only stamps that are
 * settled; nothing is promised about others. */
Test(queue_place, a_stamp_changes_with_the_job, .init = bench_begin, .fini = bench_end)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    const int64_t before_ms = clock_wall_ms();
    cr_assert_eq(bench_add(), 1);
    struct queue_stamp stamp = stamp_of(1);
    cr_expect(shared || !stamp.settled || clock_wall_ms() - before_ms > 900, "it came just now");
    stamp = settled_stamp();
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    expect_change(&stamp, "it was cancelled");
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    expect_change(&stamp, "it has a journal");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){"one", 3},
                                    (struct slice){NULL, 0}),
                     STATUS_OK);
        expect_change(&stamp, "it has a record more");
    }
    journal_close(&journal);
    office_free(&own);
}

static void put_result(uint32_t number, const char *name, const uint8_t *data, size_t size)
{
    const struct queue_store *store = queue_of(&office);
    char path[QUEUE_PATH_BYTES + 32];
    char folder[QUEUE_PATH_BYTES];
    if (store->put_result != NULL) {
        cr_assert_eq(store->put_result(&office, number, name, (struct slice){data, size}, &why),
                     STATUS_OK, "%s", why.text);
        return;
    }
    queue_of(&office)->results(folder, &office, number);
    (void)mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert_eq(file_write(path, (struct slice){data, size}, 0600, &why), STATUS_OK);
}

/* Reads a result whole, in pieces of an odd size. */
static size_t read_result(uint8_t *to, uint32_t number, const char *name)
{
    enum { ROOM = 65521 };
    size_t at = 0;
    size_t got = 1;
    while (got > 0) {
        cr_assert_eq(
            queue_of(&office)->result_read(to + at, &got, ROOM, &office, number, name, at, &why),
            STATUS_OK, "%s", why.text);
        at += got;
    }
    return at;
}

Test(queue_place, results_come_back_whole, .init = bench_begin, .fini = bench_end)
{
    enum { SIZE = 5 * (JOBS_PIECE_BYTES / 2) + 17 };
    static uint8_t data[SIZE];
    static uint8_t read_back[SIZE + (1 << 17)];
    int file = -1;
    int64_t size = 0;
    uint64_t file_size = 0;
    for (size_t i = 0; i < SIZE; i++) {
        data[i] = (uint8_t)(i * 7 + i / 251);
    }
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(queue_of(&office)->result_size(&size, &office, 1, "result.json", &why), STATUS_OK);
    cr_expect_eq(size, -1, "there is none");
    cr_expect_eq(queue_of(&office)->result_open(&file, &file_size, &office, 1, "result.json", &why),
                 STATUS_NOT_FOUND);
    const size_t sizes[] = {SIZE, JOBS_PIECE_BYTES, 1, 2 * JOBS_PIECE_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0];
         i++) { /* each in the place of the one before */
        put_result(1, "result.json", data, sizes[i]);
        put_result(1, "model.json", data + 1, 3);
        cr_assert_eq(queue_of(&office)->result_size(&size, &office, 1, "result.json", &why),
                     STATUS_OK);
        cr_expect_eq(size, (int64_t)sizes[i]);
        cr_expect_eq(read_result(read_back, 1, "result.json"), sizes[i]);
        cr_expect_eq(memcmp(read_back, data, sizes[i]), 0);
        cr_assert_eq(
            queue_of(&office)->result_open(&file, &file_size, &office, 1, "result.json", &why),
            STATUS_OK, "%s", why.text);
        cr_expect_eq(file_size, sizes[i]);
        cr_expect_eq(pread(file, read_back, sizeof read_back, 0), (ssize_t)sizes[i]);
        cr_expect_eq(memcmp(read_back, data, sizes[i]), 0);
        close(file);
    }
    cr_expect_eq(read_result(read_back, 1, "model.json"), 3);
}

/* A person reads the reason and what to do. The next leader tries the job again. */
Test(queue_place, tells_why_a_job_is_set_aside_until_one_leads_anew, .init = bench_begin,
     .fini = bench_end)
{
    struct queue_job job;
    const uint32_t number = bench_add();
    const uint32_t other = bench_add();
    cr_assert_eq(queue_put_aside(&office, number, "no room; remedy: make some", &why), STATUS_OK,
                 "%s", why.text);
    cr_assert_eq(queue_show(&job, &office, number, &why), STATUS_OK, "%s", why.text);
    cr_expect(job.stuck);
    cr_expect_str_eq(job.because, "no room; remedy: make some");
    cr_expect_not(bench_seen(number).stuck, "whoever runs jobs looks at the journal alone");
    cr_assert_eq(queue_show(&job, &office, other, &why), STATUS_OK, "%s", why.text);
    cr_expect_not(job.stuck);
    queue_of(&office)->close(&office);
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_of(&office)->lead(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_show(&job, &office, number, &why), STATUS_OK, "%s", why.text);
    cr_expect_not(job.stuck);
}
