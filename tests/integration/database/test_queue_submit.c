/* Submissions to a queue, in a folder or in a database: their operator, their id, several at once, and the limit
 * to their number. */

#include "coordinator/main_queue_store.h"
#include "queue_bench.h"
#include "tests/support/quiet_fork.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the next lookups of an account's name give in place of an answer; 0: they look it up. */
static int lookup_error = 0;

int __real_getpwuid_r(uid_t account, struct passwd *entry, char *room, size_t size,
                      struct passwd **found);
int __wrap_getpwuid_r(uid_t account, struct passwd *entry, char *room, size_t size,
                      struct passwd **found);

int __wrap_getpwuid_r(uid_t account, struct passwd *entry, char *room, size_t size,
                      struct passwd **found)
{
    if (lookup_error == 0) {
        return __real_getpwuid_r(account, entry, room, size, found);
    }
    *found = NULL;
    return lookup_error;
}

/* A submission that comes again is found by its operator and its id. */
Test(queue_submit, finds_an_operators_submission, .init = bench_begin, .fini = bench_end)
{
    const struct digest id[] = {{{1}}, {{2}}};
    const struct queue_actor maria = {"maria", &id[0]};
    const struct queue_actor again = {"maria", &id[1]};
    const struct queue_actor jan = {"jan", &id[0]};
    const struct queue_actor mar = {"mar", &id[0]};
    uint32_t number = 9;
    size_t open = 9;
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK, "%s", why.text);
    cr_expect(number == 0 && open == 0);
    cr_assert_eq(bench_add(), 1, "of an account");
    cr_assert_eq(
        queue_add(&number, &office, &maria, (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why),
        STATUS_OK, "%s", why.text);
    cr_assert_eq(
        queue_add(&number, &office, &jan, (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why),
        STATUS_OK, "%s", why.text);
    cr_expect_eq(number, 3, "the same id of another operator is another submission");
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK);
    cr_expect(number == 2 && open == 1);
    cr_assert_eq(queue_find(&number, &open, &office, &again, &why), STATUS_OK);
    cr_expect(number == 0 && open == 1);
    cr_assert_eq(queue_find(&number, &open, &office, &mar, &why), STATUS_OK);
    cr_expect(number == 0 && open == 0, "a name that begins another's");
    struct queue_job job = bench_seen(2);
    cr_expect_eq(strncmp(job.submitted, "operator maria at 20", 20), 0, "%s", job.submitted);
    job.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK);
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK);
    cr_expect(number == 2 && open == 0, "it is there, and over");
}

/* An account's command may name its submission too, and no operator has that id. */
Test(queue_submit, finds_an_accounts_submission, .init = bench_begin, .fini = bench_end)
{
    const struct digest id = {{3}};
    const struct queue_actor named = {.submission = &id};
    const struct queue_actor maria = {"maria", &id, 0};
    const struct slice text = {WAITING_JOB, strlen(WAITING_JOB)};
    uint32_t number = 9;
    size_t open = 9;
    cr_assert_eq(bench_add(), 1, "without an id");
    cr_assert_eq(queue_add(&number, &office, &named, text, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(number, 2);
    cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_EXISTS);
    cr_expect_eq(number, 2, "the first one's");
    cr_assert_eq(queue_find(&number, &open, &office, &named, &why), STATUS_OK, "%s", why.text);
    cr_expect(number == 2 && open == 2);
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK, "%s", why.text);
    cr_expect(number == 0 && open == 0);
    bench_remove(2);
    cr_assert_eq(queue_find(&number, &open, &office, &named, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(number, 0, "an id goes with its job");
}

/* A file that cannot be read, or another command that holds the ids, is no reason for a second job. */
Test(queue_submit, a_submission_is_not_added_where_the_first_cannot_be_seen, .init = bench_begin,
     .fini = bench_end)
{
    const struct digest id = {{4}};
    const struct queue_actor named = {.submission = &id};
    const struct slice text = {WAITING_JOB, strlen(WAITING_JOB)};
    struct queue_list list;
    char path[QUEUE_PATH_BYTES];
    uint32_t number = 9;
    cr_assert_eq(queue_add(&number, &office, &named, text, &why), STATUS_OK, "%s", why.text);
    (void)snprintf(path, sizeof path, "%s/%u/submitted", office.settings.jobs, (unsigned)number);
    if (access(path, F_OK) != 0) {
        cr_skip("a database has no such files");
    }
    cr_assert(truncate(path, 30) == 0);
    cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_CORRUPT);
    cr_expect_not_null(strstr(why.text, "is cut off"), "%s", why.text);
    (void)snprintf(path, sizeof path, "%s/.ids.lock", office.settings.jobs);
    const int lock = open(path, O_RDWR | O_CLOEXEC);
    cr_assert(lock >= 0 && flock(lock, LOCK_EX) == 0);
    cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "remedy: submit again"), "%s", why.text);
    (void)close(lock);
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK);
    cr_expect_eq(list.count, 1);
    queue_list_free(&list);
}

/* `submit --id` finds an earlier submission by the account's name. If the directory of accounts does not answer, the name is not
 * known, and the job would be added a second time under the account's number. Planted: without the refusal it was. */
Test(queue_submit, a_submission_is_not_added_twice_without_the_accounts_name, .init = bench_begin,
     .fini = bench_end)
{
    static const int errors[] = {EIO, EMFILE, ETIMEDOUT};
    const struct digest id = {{5}};
    const struct queue_actor named = {.submission = &id};
    const struct queue_actor unnamed = {0};
    const struct slice text = {WAITING_JOB, strlen(WAITING_JOB)};
    uint32_t number = 0;
    size_t open = 0;
    cr_assert_eq(queue_add(&number, &office, &named, text, &why), STATUS_OK, "%s", why.text);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        lookup_error = errors[i];
        cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_IO);
        cr_expect_not_null(strstr(why.text, "cannot be looked up"), "%s", why.text);
        cr_expect_not_null(strstr(why.text, "remedy: submit again"), "%s", why.text);
        cr_expect_eq(queue_find(&number, &open, &office, &named, &why), STATUS_IO);
    }
    lookup_error = 0;
    cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_EXISTS);
    cr_expect_eq(number, 1, "the remedy finds the first one");
    lookup_error = EIO;
    cr_expect_eq(queue_add(&number, &office, &unnamed, text, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(number, 2, "those that were refused have no number");
}

/* An account that the directory does not know is named by its number: it is the same one when it submits again. */
Test(queue_submit, an_account_without_a_name_finds_its_submission, .init = bench_begin,
     .fini = bench_end)
{
    static const int errors[] = {ENOENT, ESRCH};
    const struct digest id = {{6}};
    const struct queue_actor named = {.submission = &id};
    const struct slice text = {WAITING_JOB, strlen(WAITING_JOB)};
    uint32_t number = 0;
    lookup_error = errors[0];
    cr_assert_eq(queue_add(&number, &office, &named, text, &why), STATUS_OK, "%s", why.text);
    lookup_error = errors[1];
    cr_expect_eq(queue_add(&number, &office, &named, text, &why), STATUS_EXISTS, "%s", why.text);
    cr_expect_eq(number, 1);
    const struct queue_job job = bench_seen(1);
    cr_expect_eq(strncmp(job.submitted, "account ", 8), 0, "%s", job.submitted);
}

/* The same submission by several desks or commands at once is one job. Planted: without the lock of a folder there were
 * several. */
Test(queue_submit, a_submission_that_comes_twice_at_once_is_there_once, .init = bench_begin,
     .fini = bench_end)
{
    enum { DESKS = 6 };
    const struct digest id = {{7}};
    const struct queue_actor maria = {"maria", &id, 0};
    struct queue_list list;
    int added = 0;
    for (int i = 0; i < DESKS; i++) {
        const pid_t child = quiet_fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            uint32_t number = 0;
            office.jobs = NULL;
            enum status status = queue_open(&office, &why);
            if (status == STATUS_OK) {
                status = queue_add(&number, &office, &maria,
                                   (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &why);
            }
            _exit(number == 0 ? 2 : status == STATUS_OK ? 1 : status == STATUS_EXISTS ? 0 : 2);
        }
    }
    for (int i = 0; i < DESKS; i++) {
        int result = 2;
        cr_assert_gt(wait(&result), 0);
        cr_assert(WIFEXITED(result) && WEXITSTATUS(result) < 2);
        added += WEXITSTATUS(result);
    }
    cr_expect_eq(added, 1);
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK);
    cr_expect_eq(list.count, 1);
    queue_list_free(&list);
}

enum { DESKS = 4, EACH = 4, OPEN_MOST = 6 };

static void *submit_some(void *self)
{
    const size_t desk = *(const size_t *)self;
    struct office own = {.settings = office.settings};
    struct why because = {""};
    static size_t added[DESKS];
    added[desk] = 0;
    for (size_t i = 0; i < EACH && queue_open(&own, &because) == STATUS_OK; i++) {
        struct digest id = {{(uint8_t)(desk + 1), (uint8_t)(i + 1)}};
        const struct queue_actor actor = {"maria", &id, OPEN_MOST};
        uint32_t number = 0;
        const enum status status = queue_add(
            &number, &own, &actor, (struct slice){WAITING_JOB, strlen(WAITING_JOB)}, &because);
        added[desk] += status == STATUS_OK ? 1 : 0;
        if (status != STATUS_OK && status != STATUS_REFUSED) {
            added[desk] += 1000;
        }
    }
    queue_of(&own)->close(&own);
    return &added[desk];
}

/* Planted: each desk counted for itself before it added, and together they passed the limit. */
Test(queue_submit, several_desks_pass_no_limit_together, .init = bench_begin_shared,
     .fini = bench_end)
{
    pthread_t thread[DESKS];
    size_t desk[DESKS];
    size_t added = 0;
    for (size_t i = 0; i < DESKS; i++) {
        desk[i] = i;
        cr_assert_eq(pthread_create(&thread[i], NULL, submit_some, &desk[i]), 0);
    }
    for (size_t i = 0; i < DESKS; i++) {
        void *one = NULL;
        (void)pthread_join(thread[i], &one);
        added += *(const size_t *)one;
    }
    struct queue_list list;
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(list.count, OPEN_MOST, "%zu are open", list.count);
    cr_expect_eq(added, OPEN_MOST, "and whoever was refused was told: %zu", added);
    queue_list_free(&list);
}
