/* What operators' questions do to the queue's folder: a submission that comes again, limits, pages, and what is not told. */

#include "coordinator/main_acts.h"
#include "io/roster.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct office office;
static struct why why;
static char folder[64];
static char list[128];

static void begin(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/hedgerow-acts-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "%s/jobs", folder);
    (void)snprintf(list, sizeof list, "%s/agents", folder);
    office.settings.message_bytes_max = 64000000;
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
}

static void end(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(main_acts, .init = begin, .fini = end);

/* The answer as JSON, owned; NULL where the question was refused with that status. */
static json_t *ask_of(const char *name, struct ask ask, const char *text, enum status wanted)
{
    const struct acts acts = {.office = &office, .operator_name = name, .list = list};
    struct desk_answer answer;
    json_error_t error;
    ask.number = 1;
    why.text[0] = '\0';
    const enum status status = acts_answer(
        &acts, &ask, (struct slice){text, text != NULL ? strlen(text) : 0}, &answer, &why);
    cr_assert_eq(status, wanted, "%s: %s, %s", ask_verb_name(ask.verb), status_text(status),
                 why.text);
    cr_assert(status == STATUS_OK || (answer.data == NULL && why.text[0] != '\0'));
    cr_assert_leq(answer.size, ASK_PAYLOAD_BYTES_MAX);
    json_t *json = status == STATUS_OK ? json_loadb(answer.data, answer.size, 0, &error) : NULL;
    free(answer.data);
    return json;
}

static json_int_t submit(const char *name, uint8_t id, const char *text, bool again)
{
    struct ask ask = {.verb = ASK_SUBMIT};
    ask.id.byte[0] = id;
    ask.id.byte[31] = 1;
    json_t *json = ask_of(name, ask, text, STATUS_OK);
    const json_int_t number =
        json_integer_value(json_object_get(json_object_get(json, "job"), "number"));
    cr_expect_eq(json_is_true(json_object_get(json, "again")), again);
    json_decref(json);
    return number;
}

Test(main_acts, a_submission_that_comes_again_is_the_same_job)
{
    cr_expect_eq(submit("maria", 1, WAITING_JOB, false), 1);
    cr_expect_eq(submit("maria", 1, WAITING_JOB, true), 1);
    cr_expect_eq(submit("maria", 2, WAITING_JOB, false), 2, "another id is another job");
    cr_expect_eq(submit("jan", 1, WAITING_JOB, false), 3, "and so is another operator's");
    cr_expect_eq(submit("maria", 1, WAITING_JOB, true), 1);
    cr_expect_eq(submit("jan", 1, WAITING_JOB, true), 3);
    char other[sizeof WAITING_JOB + 16];
    (void)snprintf(other, sizeof other, "%s# more\n", WAITING_JOB);
    struct ask ask = {.verb = ASK_SUBMIT, .id = {{1}}};
    ask.id.byte[31] = 1;
    cr_expect_null(ask_of("maria", ask, other, STATUS_INVALID), "an id is of one text");
    cr_expect_not_null(strstr(why.text, "another text"), "%s", why.text);
}

/* At the coordinator an id is optional: without one each submission is a new job. */
Test(main_acts, an_account_may_name_its_submission)
{
    char other[sizeof WAITING_JOB + 16];
    struct ask ask = {.verb = ASK_SUBMIT};
    (void)snprintf(other, sizeof other, "%s# more\n", WAITING_JOB);
    json_decref(ask_of(NULL, ask, WAITING_JOB, STATUS_OK));
    json_decref(ask_of(NULL, ask, WAITING_JOB, STATUS_OK));
    cr_expect_eq(submit(NULL, 1, WAITING_JOB, false), 3);
    cr_expect_eq(submit(NULL, 1, WAITING_JOB, true), 3);
    cr_expect_eq(submit("maria", 1, WAITING_JOB, false), 4, "an operator's id is another");
    ask.id.byte[0] = 1;
    ask.id.byte[31] = 1;
    cr_expect_null(ask_of(NULL, ask, other, STATUS_INVALID));
    cr_expect_not_null(strstr(why.text, "job 3 was submitted with this id"), "%s", why.text);
    for (int i = 0; i < ACTS_OPEN_MAX; i++) { /* the limit is an operator's */
        ask.id.byte[0] = (uint8_t)(i + 2);
        json_decref(ask_of(NULL, ask, WAITING_JOB, STATUS_OK));
    }
}

/* A name that begins another's is another operator. */
Test(main_acts, names_are_whole)
{
    cr_expect_eq(submit("ann", 1, WAITING_JOB, false), 1);
    cr_expect_eq(submit("anna", 1, WAITING_JOB, false), 2);
    cr_expect_eq(submit("an", 1, WAITING_JOB, false), 3);
}

Test(main_acts, an_operator_has_a_limit_of_open_jobs)
{
    for (int i = 0; i < ACTS_OPEN_MAX; i++) {
        cr_assert_eq(submit("maria", (uint8_t)(i + 1), WAITING_JOB, false), i + 1);
    }
    struct ask ask = {.verb = ASK_SUBMIT, .id = {{200}}};
    cr_expect_null(ask_of("maria", ask, WAITING_JOB, STATUS_REFUSED));
    cr_expect_eq(submit("maria", 5, WAITING_JOB, true), 5, "what is there is told all the same");
    cr_expect_eq(submit("jan", 1, WAITING_JOB, false), ACTS_OPEN_MAX + 1,
                 "others are not kept out");
}

Test(main_acts, a_bad_job_leaves_nothing)
{
    struct ask ask = {.verb = ASK_SUBMIT, .id = {{1}}};
    cr_expect_null(ask_of("maria", ask, "hedgerow: 1\n", STATUS_INVALID));
    cr_expect_null(ask_of("maria", ask, "\x01\xff", STATUS_INVALID));
    json_t *json = ask_of("maria", (struct ask){.verb = ASK_JOBS}, NULL, STATUS_OK);
    cr_expect_eq(json_array_size(json_object_get(json, "jobs")), 0);
    json_decref(json);
}

Test(main_acts, who_did_it_is_signed_and_the_folder_is_not_told)
{
    cr_assert_eq(submit("maria", 1, WAITING_JOB, false), 1);
    for (int i = 0; i < 2; i++) { /* through the desk a cancellation may come twice */
        json_decref(ask_of("jan", (struct ask){.verb = ASK_CANCEL, .job = 1}, NULL, STATUS_OK));
    }
    json_t *json = ask_of("maria", (struct ask){.verb = ASK_STATUS, .job = 1}, NULL, STATUS_OK);
    const json_t *job = json_object_get(json, "job");
    const char *submitted = json_string_value(json_object_get(job, "submitted"));
    const char *cancel = json_string_value(json_object_get(job, "cancel"));
    cr_expect_eq(strncmp(submitted, "operator maria at ", 18), 0, "%s", submitted);
    cr_expect_eq(strncmp(cancel, "operator jan at ", 16), 0, "%s", cancel);
    cr_expect_str_eq(json_string_value(json_object_get(job, "state")), "cancelled");
    cr_expect(json_is_null(json_object_get(job, "results")));
    json_decref(json);
    json = ask_of(NULL, (struct ask){.verb = ASK_STATUS, .job = 1}, NULL, STATUS_OK);
    cr_expect(json_is_string(json_object_get(json_object_get(json, "job"), "results")));
    json_decref(json);
    cr_expect_null(ask_of(NULL, (struct ask){.verb = ASK_CANCEL, .job = 1}, NULL, STATUS_INVALID));
}

Test(main_acts, nothing_of_a_job_that_is_not_over_is_read)
{
    cr_assert_eq(submit("maria", 1, WAITING_JOB, false), 1);
    char path[SETTINGS_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/1/out", office.settings.jobs);
    cr_assert_eq(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/1/out/result.json", office.settings.jobs);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs("{}", file) >= 0 && fclose(file) == 0);
    cr_expect_null(
        ask_of("maria", (struct ask){.verb = ASK_RESULT, .job = 1}, NULL, STATUS_INVALID));
    cr_expect_null(ask_of("maria", (struct ask){.verb = ASK_READ, .job = 1}, NULL, STATUS_INVALID));
    cr_expect_null(
        ask_of("maria", (struct ask){.verb = ASK_STATUS, .job = 2}, NULL, STATUS_NOT_FOUND));
}

/* What is kept of a watched job is told again only while nothing has changed. */
Test(main_acts, a_watcher_hears_of_every_change)
{
    struct acts_memory memory = {.number = 0};
    const struct acts acts = {
        .office = &office, .operator_name = "maria", .list = list, .memory = &memory};
    const struct ask ask = {.verb = ASK_WATCH, .number = 1, .job = 1};
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct desk_answer answer;
    char path[SETTINGS_PATH_BYTES + 64];
    cr_assert_eq(submit("maria", 1, WAITING_JOB, false), 1);
    (void)snprintf(path, sizeof path, "%s/1", office.settings.jobs);
    cr_assert_eq(acts_answer(&acts, &ask, (struct slice){NULL, 0}, &answer, &why), STATUS_OK);
    free(answer.data);
    cr_expect_eq(memory.number, 0, "what has just changed is not kept");
    cr_assert_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(acts_answer(&acts, &ask, (struct slice){NULL, 0}, &answer, &why), STATUS_OK);
        cr_expect_not_null(strstr(answer.data, "\"state\":\"waiting\""), "%s", answer.data);
        free(answer.data);
        cr_expect_eq(memory.number, 1);
    }
    json_decref(ask_of("jan", (struct ask){.verb = ASK_CANCEL, .job = 1}, NULL, STATUS_OK));
    cr_assert_eq(acts_answer(&acts, &ask, (struct slice){NULL, 0}, &answer, &why), STATUS_OK);
    cr_expect_not_null(strstr(answer.data, "\"state\":\"cancelled\""), "%s", answer.data);
    free(answer.data);
}

/* Every job once, however many pages. */
Test(main_acts, lists_come_in_pages)
{
    const int jobs = 190;
    for (int i = 0; i < jobs; i++) { /* three operators, for each has a limit */
        char name[16];
        (void)snprintf(name, sizeof name, "maria-%d", i / ACTS_OPEN_MAX);
        cr_assert_eq(submit(name, (uint8_t)(i + 1), WAITING_JOB, false), i + 1);
    }
    uint64_t from = 0;
    int seen = 0;
    int pages = 0;
    do {
        json_t *json =
            ask_of("maria", (struct ask){.verb = ASK_JOBS, .from = from}, NULL, STATUS_OK);
        size_t i;
        json_t *job;
        json_array_foreach(json_object_get(json, "jobs"), i, job)
        {
            cr_assert_eq(json_integer_value(json_object_get(job, "number")), ++seen);
        }
        from = (uint64_t)json_integer_value(json_object_get(json, "more"));
        pages++;
        json_decref(json);
    } while (from > 0);
    cr_expect_eq(seen, jobs);
    cr_expect_gt(pages, 1);
}

Test(main_acts, agents_come_in_pages_too)
{
    const size_t agents = 200;
    size_t seen = 0;
    for (size_t i = 0; i < agents; i++) {
        char name[32];
        struct digest key = {{1}};
        key.byte[1] = (uint8_t)i;
        (void)snprintf(name, sizeof name, "site-%zu", i);
        cr_assert_eq(roster_add(list, name, &key, &why), STATUS_OK, "%s", why.text);
    }
    for (uint64_t from = 0, more = 1; more > 0; from = more) {
        json_t *json =
            ask_of("maria", (struct ask){.verb = ASK_AGENTS, .from = from}, NULL, STATUS_OK);
        seen += json_array_size(json_object_get(json, "agents"));
        more = (uint64_t)json_integer_value(json_object_get(json, "more"));
        json_decref(json);
    }
    cr_expect_eq(seen, agents);
}
