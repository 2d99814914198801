/* The queue's folder: files that other programs or a death leave in it. What a queue does in a folder and in a database alike
 * is tested in tests/integration/database/test_queue_place.c. */

#include "base/file.h"
#include "coordinator/main_stay.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct office office;
static const struct queue_actor account;
static struct why why;
static char folder[64];
static char said[1 << 14];

static void listen(UNUSED void *self, const struct log_entry *entry)
{
    const size_t used = strlen(said);
    (void)snprintf(said + used, sizeof said - used, "%s %s\n", entry->event, entry->text);
}

static const struct log heard = {.write = listen, .level = LOG_INFO};

static void begin(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/hedgerow-queue-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "%s/jobs", folder);
    office.settings.message_bytes_max = 64000000;
    office.settings.jobs_at_once = 3;
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
}

static void end(void)
{
    char command[128];
    office_free(&office);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(main_queue, .init = begin, .fini = end);

static uint32_t add(void)
{
    uint32_t number = 0;
    cr_assert_eq(queue_add(&number, &office, &account,
                           (struct slice){WAITING_JOB, sizeof WAITING_JOB - 1}, &why),
                 STATUS_OK, "%s", why.text);
    return number;
}

static void make(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/jobs/%s", folder, name);
    cr_assert_eq(mkdir(path, 0700), 0);
}

static void put(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/jobs/%s", folder, name);
    (void)unlink(path);
    cr_assert_eq(file_write(path, (struct slice){text, strlen(text)}, 0600, &why), STATUS_OK);
}

static struct queue_job seen(uint32_t number)
{
    struct queue_job job;
    cr_assert_eq(queue_look(&job, &office, number, &why), STATUS_OK, "%s", why.text);
    return job;
}

static bool is_over(uint32_t number)
{
    struct queue_kept kept;
    cr_assert_eq(queue_of(&office)->peek(&kept, &office, number, &why), STATUS_OK, "%s", why.text);
    return kept.over;
}

/* Deaths of a submission leave a folder that begins with a dot; others leave what they like. */
Test(main_queue, passes_over_what_is_no_job)
{
    static const char *const name[] = {".new.abcdef", "0", "01", "1x", "-1", "1234567890", "notes"};
    struct queue_list list;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        make(name[i]);
    }
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK);
    cr_expect_eq(list.count, 0);
    cr_expect_null(strstr(list.names, "abcdef"), "half a submission is no change");
    queue_list_free(&list);
    cr_expect_eq(add(), 1);
}

Test(main_queue, has_a_last_number)
{
    uint32_t number = 0;
    make("999999999");
    cr_expect_eq(queue_add(&number, &office, &account,
                           (struct slice){WAITING_JOB, sizeof WAITING_JOB - 1}, &why),
                 STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "no number is free"));
}

Test(main_queue, keeps_others_out)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/jobs", folder);
    cr_assert_eq(chmod(path, 0770), 0);
    cr_expect_eq(queue_open(&office, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "chmod"), "%s", why.text);
    cr_assert_eq(chmod(path, 0700), 0);
    const uint32_t number = add();
    (void)snprintf(path, sizeof path, "%s/jobs/%u/job.yml", folder, (unsigned)number);
    cr_assert_eq(chmod(path, 0666), 0);
    cr_expect_eq(queue_take(&office, number, &why), STATUS_INVALID);
    office.settings.jobs[0] = '\0';
    cr_expect_eq(queue_open(&office, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "`jobs: jobs`"), "%s", why.text);
    memset(office.settings.jobs, 'j', SETTINGS_PATH_BYTES - 16);
    office.settings.jobs[SETTINGS_PATH_BYTES - 16] = '\0';
    cr_expect_eq(queue_open(&office, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "too long"));
}

/* A person reads the reason and what to do, and the next leader tries the job again. */
Test(main_queue, shows_what_is_set_aside_with_the_reason)
{
    struct queue_job job;
    const uint32_t number = add();
    cr_assert_eq(queue_put_aside(&office, number, "no room:\nremedy: \xc3\xa4", &why), STATUS_OK);
    cr_assert_eq(queue_show(&job, &office, number, &why), STATUS_OK);
    cr_expect(job.stuck);
    cr_expect_str_eq(job.because, "no room: remedy: ??");
    cr_expect_not(seen(number).stuck, "whoever runs jobs looks at the journal alone");
    cr_assert_eq(queue_of(&office)->lead(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_show(&job, &office, number, &why), STATUS_OK);
    cr_expect_not(job.stuck);
    cr_expect_eq(job.state, QUEUE_WAITING);
}

/* Planted: the program ended after 64 of them, at each start again, and served no other job. */
Test(main_queue, sets_any_number_of_jobs_aside)
{
    enum { JOBS = 200 };
    static struct stay stay;
    static struct stay_job job;
    stay = (struct stay){.office = &office, .log = &heard};
    for (uint32_t number = 1; number <= JOBS; number++) {
        job = (struct stay_job){.number = number, .office = office_like(&office)};
        cr_assert_eq(stay_set_aside(&stay, &job, STATUS_CORRUPT, &why), STATUS_OK, "%u", number);
        cr_assert_eq(job.number, 0, "its place is free for others");
        cr_assert_eq(stay.aside_count, number);
    }
    job = (struct stay_job){.number = 7, .office = office_like(&office)};
    cr_assert_eq(stay_set_aside(&stay, &job, STATUS_CORRUPT, &why), STATUS_OK);
    cr_expect_eq(stay.aside_count, JOBS, "each is there once");
    stay_free(&stay);
}

/* A file that a death has cut cannot be there, for each appears by a rename; a person's can. */
Test(main_queue, tells_of_texts_that_cannot_be_read)
{
    static const char *const text[] = {"",     "hedgerow: 1\n", "hedgerow: 2\n",
                                       "\x01", "job: [",        WAITING_JOB};
    char name[32];
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        (void)snprintf(name, sizeof name, "%zu", i + 1);
        make(name);
        (void)snprintf(name, sizeof name, "%zu/job.yml", i + 1);
        put(name, text[i]);
        const struct queue_job job = seen((uint32_t)i + 1);
        cr_expect_eq(job.state, QUEUE_WAITING);
        cr_expect_str_eq(job.submitted, "");
        cr_expect((job.because[0] == '\0') == (text[i] == WAITING_JOB), "text %zu: %s", i,
                  job.because);
    }
}

Test(main_queue, refuses_an_end_that_it_did_not_write)
{
    static const char *const text[] = {"", "hedgerow: 1\n", "hedgerow: 1\nstate: perhaps\n",
                                       "\x01"};
    struct queue_job job;
    (void)add();
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        put("1/end", text[i]);
        why.text[0] = '\0';
        cr_expect_eq(queue_look(&job, &office, 1, &why), STATUS_INVALID, "text %zu", i);
        cr_expect_not_null(strstr(why.text, "/1/end"), "text %zu: %s", i, why.text);
    }
}

/* The job that runs next, after a death at any time. */
Test(main_queue, chooses_the_first_that_is_not_over)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay_count(&stay), 0);
    for (int i = 0; i < 5; i++) {
        (void)add();
    }
    struct queue_job over = seen(1);
    over.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &over, &why), STATUS_OK);
    cr_assert_eq(queue_cancel(&office, 2, &account, &why), STATUS_OK);
    put("3/job.yml", "hedgerow: 1\n");
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay.job[0].number, 4);
    cr_expect_eq(stay_count(&stay), 1, "job 5 asks the same agents");
    cr_expect_not_null(strstr(stay.job[0].cancel.path, "/jobs/4/cancel"));
    cr_expect_not_null(strstr(stay.job[0].office.settings.state, "/jobs/4/state"));
    cr_expect(is_over(2), "what was cancelled before it began is over");
    cr_expect_not(is_over(3), "nobody has decided on it");
    cr_expect_not_null(strstr(said, "job-unreadable job 3 is passed over"), "%s", said);
    said[0] = '\0';
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_null(strstr(said, "job-unreadable"), "told once");
    cr_assert_eq(stay_file(&stay, &stay.job[0], &why), STATUS_NOT_FOUND, "it has no journal yet");
    cr_expect_eq(stay.job[0].number, 4, "its place is its own");
    stay.job[0].number = 77;
    said[0] = '\0';
    cr_assert_eq(stay_file(&stay, &stay.job[0], &why), STATUS_OK, "somebody has removed it");
    cr_expect_eq(stay_count(&stay), 0);
    cr_expect_not_null(strstr(said, "job-removed"), "%s", said);
    office.settings.message_bytes_max = 8; /* as after an edited settings file */
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay_count(&stay), 0);
    cr_expect_not_null(strstr(said, "message_mb_max"), "%s", said);
    stay_free(&stay);
}

/* A pipe has no end until somebody writes: the program would wait for ever. */
Test(main_queue, does_not_wait_for_a_pipe, .timeout = 60)
{
    char path[256];
    cr_assert_eq(add(), 1);
    (void)snprintf(path, sizeof path, "%s/jobs/1/job.yml", folder);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    const struct queue_job job = seen(1);
    cr_expect(job.stuck);
    cr_expect_not_null(strstr(job.because, "named pipe"), "%s", job.because);
    (void)snprintf(path, sizeof path, "%s/jobs/1/submitted", folder);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect_str_eq(seen(1).submitted, "");
}
