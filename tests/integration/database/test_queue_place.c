/* The contract of a queue, whatever keeps it: a folder, or, where DATABASE_URL names one (tests/support/postgres), a database.
 * What a database adds - several coordinators, of which one leads - is tested below, and skipped over a folder. */

#include "base/file.h"
#include "config/config.h"
#include "coordinator/main_queue_store.h"
#include "coordinator/main_stay.h"
#include "crypto/digest.h"
#include "database/jobs.h"
#include "scratch.h"
#include "tests/support/journal_seen.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: waiting\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 2, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.1, 0.2], share: 0.6,"
    " tolerance: 0.01, grid_bits: 10}\n";

enum { COMMAND_BYTES = 2048 };

static struct scratch scratch;
static struct office office;
static const struct queue_actor account;
static struct why why;
static bool shared;
static char schema[64];
static char said[1 << 14];

static void listen(UNUSED void *self, const struct log_entry *entry)
{
    const size_t used = strlen(said);
    (void)snprintf(said + used, sizeof said - used, "%s %s\n", entry->event, entry->text);
}

static const struct log heard = {.write = listen, .level = LOG_INFO};

static void psql(const char *command)
{
    char line[COMMAND_BYTES];
    snprintf(line, sizeof line, "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1",
             office.settings.jobs, command);
    cr_assert_eq(system(line), 0, "%s", line);
}

static void shell(const char *command)
{
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Each test has a schema of its own in the one database. */
static void find_place(void)
{
    char command[128];
    const char *url = getenv("DATABASE_URL");
    shared = url != NULL;
    scratch_make(&scratch);
    snprintf(schema, sizeof schema, "%s", strrchr(scratch.folder, '-') + 1);
    if (shared) {
        snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "%s&options=-csearch_path%%3D%%22%s%%22",
                 url, schema);
        snprintf(command, sizeof command, "CREATE SCHEMA \\\"%s\\\"", schema);
        psql(command);
    } else {
        snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "%s/jobs", scratch.folder);
    }
    office.settings.message_bytes_max = 64000000;
    office.settings.jobs_at_once = 3;
}

static void setup(void)
{
    find_place();
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_lead(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_is_shared(&office), shared);
}

static void setup_shared(void)
{
    if (getenv("DATABASE_URL") == NULL) {
        cr_skip("a folder is one coordinator's");
    }
    setup();
}

static void teardown(void)
{
    queue_close(&office);
    office_free(&office);
    scratch_remove(&scratch);
}

static uint32_t add_text(const char *text)
{
    uint32_t number = 0;
    cr_assert_eq(queue_add(&number, &office, &account, (struct slice){text, strlen(text)}, &why),
                 STATUS_OK, "%s", why.text);
    return number;
}

static uint32_t add(void)
{
    return add_text(TEXT);
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
    cr_assert_eq(queue_peek(&kept, &office, number, &why), STATUS_OK, "%s", why.text);
    return kept.over;
}

/* What a person, or a fault, does to a job in its store. */

static void spoil_text(uint32_t number)
{
    char command[COMMAND_BYTES];
    if (shared) {
        snprintf(command, sizeof command,
                 "UPDATE hedgerow_job SET text = 'hedgerow: 1' WHERE number = %u", number);
        psql(command);
    } else {
        snprintf(command, sizeof command, "cd %s/%u && chmod 600 job.yml && echo 'hedgerow: 1' >job.yml",
                 office.settings.jobs, number);
        shell(command);
    }
}

static void remove_job(uint32_t number)
{
    char command[COMMAND_BYTES];
    if (shared) {
        snprintf(command, sizeof command,
                 "DROP SCHEMA IF EXISTS \\\"%s_job_%u\\\" CASCADE;"
                 " DELETE FROM hedgerow_job WHERE number = %u",
                 schema, number, number);
        psql(command);
    } else {
        snprintf(command, sizeof command, "rm -r %s/%u", office.settings.jobs, number);
        shell(command);
    }
}

/* Opens a job's journal as the leader does; its office is the caller's to free. */
static enum status open_journal(struct journal *out, struct office *own, uint32_t number)
{
    *own = office_like(&office);
    cr_assert_eq(queue_take(own, number, &why), STATUS_OK, "%s", why.text);
    const struct journal_options options = {
        .place = own->settings.state, .kind = "coordinator", .part = queue_part(own)};
    return journal_open(out, &options, &why);
}

static void make_journal(uint32_t number)
{
    struct office own;
    struct journal journal;
    cr_assert_eq(open_journal(&journal, &own, number), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    office_free(&own);
}

Test(queue_place, numbers_jobs_and_keeps_their_bytes, .init = setup, .fini = teardown)
{
    cr_expect_eq(add(), 1);
    cr_expect_eq(add(), 2);
    cr_assert_eq(queue_take(&office, 2, &why), STATUS_OK, "%s", why.text);
    cr_expect(office.text_size == sizeof TEXT - 1 &&
              memcmp(office.text, TEXT, sizeof TEXT - 1) == 0);
    const struct queue_job job = seen(1);
    cr_expect_eq(job.state, QUEUE_WAITING);
    cr_expect_str_eq(job.name, "waiting");
    cr_expect_eq(job.planned, 2);
    cr_expect_eq(job.price.epsilon_micro, 1000000);
    cr_expect_not_null(strstr(job.submitted, " at 20"));
    cr_expect_eq(queue_take(&office, 3, &why), STATUS_NOT_FOUND);
    cr_expect_null(office.text, "the job before is gone");
}

/* Two operators at a time: no number is given twice, and no job is lost. */
Test(queue_place, gives_each_number_once, .init = setup, .fini = teardown)
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
                queue_add(&number, &office, &account, (struct slice){TEXT, sizeof TEXT - 1},
                          &why) != STATUS_OK) {
                _exit(1);
            }
        }
    }
    for (int i = 0; i < OPERATORS; i++) {
        int result = 0;
        cr_assert_gt(wait(&result), 0);
        cr_assert(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    cr_assert_eq(queue_list(&list, &office, &why), STATUS_OK);
    cr_assert_eq(list.count, OPERATORS * EACH);
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_eq(list.entry[i].number, i + 1);
        cr_expect_eq(seen(list.entry[i].number).state, QUEUE_WAITING);
    }
    queue_list_free(&list);
}

Test(queue_place, cancels_before_the_beginning, .init = setup, .fini = teardown)
{
    const uint32_t number = add();
    cr_assert_eq(queue_cancel(&office, number, &account, &why), STATUS_OK);
    const struct queue_job job = seen(number);
    cr_expect_eq(job.state, QUEUE_CANCELLED);
    cr_expect_not_null(strstr(job.because, "before it began"), "%s", job.because);
    cr_expect_not(job.filed);
}

Test(queue_place, files_an_end_that_comes_back, .init = setup, .fini = teardown)
{
    struct queue_job job = seen(add());
    job.state = QUEUE_FAILED;
    job.rounds = 1;
    job.spent = (struct price){1500000, 7};
    (void)snprintf(job.because, sizeof job.because, "a \"word\", a \\ and: # a colon");
    cr_expect_not(is_over(1));
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect(is_over(1));
    const struct queue_job again = seen(1);
    cr_expect(again.filed && again.state == QUEUE_FAILED && again.rounds == 1 &&
              again.planned == 2);
    cr_expect(again.spent.epsilon_micro == 1500000 && again.spent.delta_atto == 7);
    cr_expect_eq(again.price.epsilon_micro, 1000000);
    cr_expect_str_eq(again.because, job.because);
    cr_expect_not_null(strstr(again.ended, "20"));
    memset(job.because, 'x', sizeof job.because - 1); /* the longest cause that a record has */
    job.because[sizeof job.because - 1] = '\0';
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(seen(1).because, job.because);
}

/* Adds a job that asks these agents; "": all. */
static uint32_t add_asking(const char *agents)
{
    char text[sizeof TEXT + 128];
    uint32_t number = 0;
    const char *at = strstr(TEXT, "minimum: 2,");
    (void)snprintf(text, sizeof text, "%.*sminimum: 1, agents: [%s],%s", (int)(at - TEXT), TEXT,
                   agents, at + strlen("minimum: 2,"));
    number = add_text(text);
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
    struct queue_job over = seen(number);
    over.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &over, &why), STATUS_OK);
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        if (stay->job[i].number == number) {
            office_free(&stay->job[i].office);
            stay->job[i].number = 0;
        }
    }
}

/* At the same time run those that ask different agents. None overtakes one that waits for an agent of its. */
Test(queue_place, lets_jobs_run_beside_each_other, .init = setup, .fini = teardown)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    (void)add_asking("north, south"); /* 1 */
    (void)add_asking("south, west");  /* 2 waits for 1 */
    (void)add_asking("west, east");   /* 3 would be free, and waits behind 2 */
    (void)add_asking("far");          /* 4 */
    (void)add();                      /* 5 asks everybody */
    (void)add_asking("away");         /* 6 waits behind 5 */
    choose(&stay, "14");
    choose(&stay, "14");
    end_job(&stay, 4);
    choose(&stay, "1");
    end_job(&stay, 1);
    choose(&stay, "2");
    end_job(&stay, 2);
    choose(&stay, "3");
    end_job(&stay, 3);
    choose(&stay, "5");
    end_job(&stay, 5);
    choose(&stay, "6");
    stay_free(&stay);
}

/* Those that have begun come first after a start, whatever their numbers; and never more than the settings say. */
Test(queue_place, resumes_what_has_begun_first, .init = setup, .fini = teardown)
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
    cr_assert_eq(queue_mark_begun(&office, 5, &why), STATUS_OK);
    cr_assert_eq(queue_cancel(&office, 5, &account, &why), STATUS_OK);
    make_journal(4); /* it has begun, and so has its journal, which holds nothing yet */
    cr_assert_eq(queue_mark_begun(&office, 4, &why), STATUS_OK);
    choose(&stay, "124");
    cr_expect(is_over(5), "it can go nowhere, and is cancelled");
    stay_free(&stay);
}

/* A removal that was cut short, a journal that is gone, a number that is free again: nothing begins, and is paid, twice. */
Test(queue_place, never_begins_a_job_again, .init = setup, .fini = teardown)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(add(), 1);
    cr_expect_eq(seen(1).state, QUEUE_WAITING);
    cr_assert_eq(queue_mark_begun(&office, 1, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_mark_begun(&office, 1, &why), STATUS_OK, "it is marked already");
    struct queue_job job = seen(1);
    cr_expect(job.stuck && job.begun && job.state == QUEUE_RUNNING);
    cr_expect_not_null(strstr(job.because, "its journal is gone"), "%s", job.because);
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay_count(&stay), 0);
    cr_expect_not_null(strstr(said, "job 1 is passed over"), "%s", said);
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    job = seen(1);
    cr_expect(job.filed && job.state == QUEUE_CANCELLED);
    cr_expect_not_null(strstr(job.because, "; it has begun"), "%s", job.because);
    remove_job(1);
    cr_expect_eq(add(), 2, "a number that had a job that began");
    stay_free(&stay);
}

/* What an operator cancels although nothing can be done with it, is over. */
Test(queue_place, files_what_is_stuck_and_cancelled, .init = setup, .fini = teardown)
{
    static struct stay stay;
    stay = (struct stay){.office = &office, .log = &heard};
    cr_assert_eq(add(), 1);
    cr_assert_eq(add(), 2);
    make_journal(1);
    spoil_text(1);
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK);
    cr_expect_eq(stay.job[0].number, 2);
    const struct queue_job job = seen(1);
    cr_expect(job.filed && job.state == QUEUE_CANCELLED, "%s", queue_state_name(job.state));
    cr_expect_not_null(strstr(job.because, "cancelled by "), "%s", job.because);
    stay_free(&stay);
}

/* Of a submission that comes again: by whom, and with which id. */
Test(queue_place, finds_an_operators_submission, .init = setup, .fini = teardown)
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
    cr_assert_eq(add(), 1, "of an account");
    cr_assert_eq(queue_add(&number, &office, &maria, (struct slice){TEXT, sizeof TEXT - 1}, &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_add(&number, &office, &jan, (struct slice){TEXT, sizeof TEXT - 1}, &why),
                 STATUS_OK, "%s", why.text);
    cr_expect_eq(number, 3, "the same id of another operator is another submission");
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK);
    cr_expect(number == 2 && open == 1);
    cr_assert_eq(queue_find(&number, &open, &office, &again, &why), STATUS_OK);
    cr_expect(number == 0 && open == 1);
    cr_assert_eq(queue_find(&number, &open, &office, &mar, &why), STATUS_OK);
    cr_expect(number == 0 && open == 0, "a name that begins another's");
    struct queue_job job = seen(2);
    cr_expect_eq(strncmp(job.submitted, "operator maria at 20", 20), 0, "%s", job.submitted);
    job.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK);
    cr_assert_eq(queue_find(&number, &open, &office, &maria, &why), STATUS_OK);
    cr_expect(number == 2 && open == 0, "it is there, and over");
}

static void expect_followed(uint32_t number, const char *expected)
{
    static struct queue_followed followed;
    const struct timespec longer_than_it_is_kept = {.tv_nsec = (JOBS_FOLLOW_MS + 50) * 1000000L};
    char *text = NULL;
    size_t size = 0;
    queue_follow(&followed, &office, number);
    nanosleep(&longer_than_it_is_kept, NULL);
    cr_expect_neq(followed.path[0], '\0');
    if (followed.read != NULL) {
        cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
    } else {
        cr_assert_eq(config_load_owned(&text, &size, followed.path, &why), STATUS_OK, "%s", why.text);
    }
    cr_expect_eq(size, strlen(text));
    cr_expect_eq(strncmp(text, expected, strlen(expected)), 0, "%u: %s", number, text);
    free(text);
}

/* What the driver tells the machines: the list when it has changed, and who cancels. */
Test(queue_place, tells_what_the_driver_follows, .init = setup, .fini = teardown)
{
    struct queue_list list;
    struct queue_list later;
    const struct queue_actor maria = {"maria", NULL};
    const struct queue_actor jan = {"jan", NULL};
    char *text = NULL;
    size_t size = 0;
    cr_assert_eq(add(), 1);
    cr_assert_eq(add(), 2);
    cr_assert_eq(queue_list(&list, &office, &why), STATUS_OK);
    if (shared) {
        expect_followed(0, list.names);
    }
    cr_assert_eq(queue_cancelled(&text, &size, &office, 2, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(size, 0, "nobody has cancelled it");
    free(text);
    cr_assert_eq(queue_cancel(&office, 2, &maria, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_cancel(&office, 1, &jan, &why), STATUS_OK, "%s", why.text);
    expect_followed(2, "operator maria at 20");
    expect_followed(1, "operator jan at 20");
    cr_assert_eq(queue_cancelled(&text, &size, &office, 2, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(strncmp(text, "operator maria at 20", 20), 0, "%s", text);
    free(text);
    cr_assert_eq(add(), 3);
    cr_assert_eq(queue_list(&later, &office, &why), STATUS_OK);
    cr_expect_str_neq(later.names, list.names);
    queue_list_free(&list);
    queue_list_free(&later);
}

static struct queue_stamp stamp_of(uint32_t number)
{
    struct queue_stamp stamp;
    memset(&stamp, 0, sizeof stamp);
    cr_assert_eq(queue_stamp(&stamp, &office, number, &why), STATUS_OK, "%s", why.text);
    return stamp;
}

static void expect_change(struct queue_stamp *before, const char *what)
{
    const struct queue_stamp now = stamp_of(1);
    cr_expect(!before->settled || memcmp(now.of, before->of, sizeof now.of) != 0, "%s", what);
    cr_expect(!shared || before->settled, "a database has no clock with ticks");
    const struct queue_stamp again = stamp_of(1);
    cr_expect_eq(memcmp(now.of, again.of, sizeof now.of), 0, "nothing has changed: %s", what);
    *before = now;
}

/* Whoever watches a job reads it again when its stamp has changed, and only then. */
Test(queue_place, a_stamp_changes_with_the_job, .init = setup, .fini = teardown)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    cr_assert_eq(add(), 1);
    struct queue_stamp stamp = stamp_of(1);
    cr_assert_eq(queue_cancel(&office, 1, &account, &why), STATUS_OK);
    expect_change(&stamp, "it was cancelled");
    cr_assert_eq(open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
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
    const struct queue_store *store = queue_store_of(&office);
    char path[QUEUE_PATH_BYTES + 32];
    char folder[QUEUE_PATH_BYTES];
    if (store->put_result != NULL) {
        cr_assert_eq(store->put_result(&office, number, name, (struct slice){data, size}, &why),
                     STATUS_OK, "%s", why.text);
        return;
    }
    queue_results(folder, &office, number);
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
        cr_assert_eq(queue_result_read(to + at, &got, ROOM, &office, number, name, at, &why),
                     STATUS_OK, "%s", why.text);
        at += got;
    }
    return at;
}

Test(queue_place, results_come_back_whole, .init = setup, .fini = teardown)
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
    cr_assert_eq(add(), 1);
    cr_assert_eq(queue_result_size(&size, &office, 1, "result.json", &why), STATUS_OK);
    cr_expect_eq(size, -1, "there is none");
    cr_expect_eq(queue_result_open(&file, &file_size, &office, 1, "result.json", &why),
                 STATUS_NOT_FOUND);
    const size_t sizes[] = {SIZE, JOBS_PIECE_BYTES, 1, 2 * JOBS_PIECE_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) { /* each in the place of the one before */
        put_result(1, "result.json", data, sizes[i]);
        put_result(1, "model.json", data + 1, 3);
        cr_assert_eq(queue_result_size(&size, &office, 1, "result.json", &why), STATUS_OK);
        cr_expect_eq(size, (int64_t)sizes[i]);
        cr_expect_eq(read_result(read_back, 1, "result.json"), sizes[i]);
        cr_expect_eq(memcmp(read_back, data, sizes[i]), 0);
        cr_assert_eq(queue_result_open(&file, &file_size, &office, 1, "result.json", &why),
                     STATUS_OK, "%s", why.text);
        cr_expect_eq(file_size, sizes[i]);
        cr_expect_eq(pread(file, read_back, sizeof read_back, 0), (ssize_t)sizes[i]);
        cr_expect_eq(memcmp(read_back, data, sizes[i]), 0);
        close(file);
    }
    cr_expect_eq(read_result(read_back, 1, "model.json"), 3);
}

/* From here on of a database alone. */

/* The old leader is as if it had been stopped: it never hears that another one leads. */
static struct office take_over(void)
{
    struct office second = {.settings = office.settings};
    psql("UPDATE hedgerow_lease SET until = '-infinity'");
    cr_assert_eq(queue_open(&second, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_lead(&second, &why), STATUS_OK, "%s", why.text);
    return second;
}

Test(queue_shared, one_leads_and_the_others_are_told_who, .init = setup_shared, .fini = teardown)
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
    cr_assert_eq(queue_add(&number, &second, &account, (struct slice){TEXT, sizeof TEXT - 1}, &why),
                 STATUS_OK, "who does not lead may submit");
    cr_expect_eq(seen(1).state, QUEUE_WAITING);
    cr_assert_eq(queue_cancel(&second, 1, &account, &why), STATUS_OK, "and cancel");
    cr_expect_eq(queue_mark_begun(&second, 1, &why), STATUS_BUSY, "and begins nothing");
    queue_unlead(&office);
    cr_expect_eq(queue_lead(&second, &why), STATUS_OK, "closing gives the lead back: %s", why.text);
    queue_close(&second);
}

Test(queue_shared, a_leader_of_an_earlier_term_changes_nothing, .init = setup_shared,
     .fini = teardown)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    int64_t size = 0;
    cr_assert_eq(add(), 1);
    cr_assert_eq(open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    struct office second = take_over();
    struct queue_job job = seen(1);
    job.state = QUEUE_DONE;
    cr_expect_eq(queue_mark_begun(&office, 1, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "another coordinator leads"), "%s", why.text);
    cr_expect_eq(queue_file(&office, &job, &why), STATUS_BUSY);
    cr_expect_eq(queue_in_database.put_result(&office, 1, "result.json", (struct slice){"{}", 2}, &why),
                 STATUS_BUSY);
    cr_expect_eq(journal.append(journal.self, &sequence, (struct slice){"late", 4},
                                (struct slice){NULL, 0}),
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
Test(queue_shared, the_term_is_what_keeps_an_old_leader_out, .init = setup_shared, .fini = teardown)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    cr_assert_eq(add(), 1);
    cr_assert_eq(open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    struct office second = take_over();
    psql("UPDATE hedgerow_lease SET term = term - 1");
    cr_expect_eq(queue_mark_begun(&office, 1, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(journal.append(journal.self, &sequence, (struct slice){"late", 4},
                                (struct slice){NULL, 0}),
                 STATUS_OK);
    journal_close(&journal);
    office_free(&own);
    queue_close(&second);
}

/* Each job's records are its own, under one lease. */
Test(queue_shared, journals_lie_side_by_side, .init = setup_shared, .fini = teardown)
{
    struct office own[2];
    struct journal journal[2];
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(add(), i + 1);
        cr_assert_eq(open_journal(&journal[i], &own[i], i + 1), STATUS_OK, "%s", why.text);
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
    cr_expect_not(queue_is_lost(&office), "the lease is the queue's, not the journals'");
}

/* Opening a job's journal does not raise the term. So whoever does not know what has become of a commit gives the lead up. */
Test(queue_shared, a_commit_whose_outcome_is_unknown_costs_the_lead, .init = setup_shared,
     .fini = teardown)
{
    struct office own;
    struct journal journal;
    uint64_t sequence = 0;
    char line[COMMAND_BYTES];
    cr_assert_eq(add(), 1);
    cr_assert_eq(open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    snprintf(line, sizeof line,
             "psql -q -d '%s' -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
             " WHERE application_name = 'hedgerow-coordinator'\" >/dev/null 2>&1",
             office.settings.jobs);
    shell(line);
    cr_expect_eq(journal.append(journal.self, &sequence, (struct slice){"one", 3},
                                (struct slice){NULL, 0}),
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
    cr_assert_eq(open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    cr_expect_eq(journal.append(journal.self, &sequence, (struct slice){"two", 3},
                                (struct slice){NULL, 0}),
                 STATUS_OK);
    journal_close(&journal);
    office_free(&own);
}

/* The same submission at several desks at once is one job. */
Test(queue_shared, a_submission_that_comes_twice_at_once_is_there_once, .init = setup_shared,
     .fini = teardown)
{
    enum { DESKS = 6 };
    const struct digest id = {{7}};
    const struct queue_actor maria = {"maria", &id};
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
                status = queue_add(&number, &office, &maria, (struct slice){TEXT, sizeof TEXT - 1},
                                   &why);
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
    cr_assert_eq(queue_list(&list, &office, &why), STATUS_OK);
    cr_expect_eq(list.count, 1);
    queue_list_free(&list);
}

/* What is over cannot be cancelled any more, whoever was first. */
Test(queue_shared, an_end_comes_before_a_late_cancellation, .init = setup_shared, .fini = teardown)
{
    struct queue_job job = seen(add());
    job.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&office, &job, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(queue_cancel(&office, 1, &account, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "is over"), "%s", why.text);
    cr_expect_str_eq(seen(1).cancel, "");
}

Test(queue_shared, has_a_last_number_too, .init = setup_shared, .fini = teardown)
{
    uint32_t number = 0;
    psql("UPDATE hedgerow_queue SET last = 999999999");
    cr_expect_eq(queue_add(&number, &office, &account, (struct slice){TEXT, sizeof TEXT - 1}, &why),
                 STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "no number is free"), "%s", why.text);
}

/* A number is not given again: a journal of it might still be there. */
Test(queue_shared, a_removed_jobs_number_is_not_given_again, .init = setup_shared, .fini = teardown)
{
    cr_assert_eq(add(), 1);
    remove_job(1);
    cr_expect_eq(add(), 2);
}

static enum status open_anew(void)
{
    queue_close(&office);
    why.text[0] = '\0';
    return queue_open(&office, &why);
}

Test(queue_shared, refuses_what_cannot_be_a_queue, .init = setup_shared, .fini = teardown)
{
    psql("UPDATE hedgerow_lease SET kind = 'coordinator'");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "a database of its own"), "%s", why.text);
    psql("UPDATE hedgerow_lease SET kind = 'queue', version = 9");
    cr_expect_eq(open_anew(), STATUS_UNSUPPORTED);
    cr_expect_not_null(strstr(why.text, "version 9"), "%s", why.text);
    psql("UPDATE hedgerow_lease SET version = 1");
    cr_expect_eq(open_anew(), STATUS_OK, "%s", why.text);
    char *path = strstr(office.settings.jobs, "&options");
    strcpy(path, "&options=-csearch_path%3Dno_such_schema");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "search_path"), "%s", why.text);
    const char long_name[] = "a23456789_a23456789_a23456789_a23456789_a";
    snprintf(path, 256, "&options=-csearch_path%%3D%s", long_name);
    char command[256];
    snprintf(command, sizeof command, "CREATE SCHEMA IF NOT EXISTS %s", long_name);
    psql(command);
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "more than 40 bytes"), "%s", why.text);
}

Test(queue_shared, a_server_that_waits_for_no_disk_is_refused, .init = setup_shared,
     .fini = teardown)
{
    const size_t used = strlen(office.settings.jobs);
    snprintf(office.settings.jobs + used, sizeof office.settings.jobs - used,
             "%%20-csynchronous_commit%%3Doff");
    cr_expect_eq(open_anew(), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "synchronous_commit"), "%s", why.text);
}

/* Where the coordinator draws the noise, a database that is put back would have it drawn again. */
Test(queue_shared, trust_central_is_refused, .init = setup_shared, .fini = teardown)
{
    char text[sizeof TEXT + 64];
    const char *at = strstr(TEXT, "trust: local");
    const char *minimum = strstr(TEXT, "minimum: 2");
    snprintf(text, sizeof text, "%.*strust: central%.*sminimum: 2, records: 10%s", (int)(at - TEXT),
             TEXT, (int)(minimum - at) - 12, at + 12, minimum + 10);
    const struct queue_job job = seen(add_text(text)); /* as by a program that did not judge it */
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
    cr_expect_eq(queue_add(&number, &away, &account, (struct slice){TEXT, sizeof TEXT - 1}, &why),
                 STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "look with `jobs` before"), "%s", why.text);
    cr_expect_eq(queue_lead(&away, &why), STATUS_AGAIN);
    cr_expect(queue_is_lost(&away));
    queue_close(&away);
}
