/* The commands over a port that the test plays: wrong answers, wrong results, lists that never end. */

#include "crypto/digest.h"
#include "desk/desk.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char out[96];
static struct why why;

static void begin(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/hedgerow-desk-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(out, sizeof out, "%s/out", folder);
    cr_redirect_stdout();
}

static void end(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(desk, .init = begin, .fini = end);

/* What the port says to each question. */
struct play {
    const char *json;  /* to all but READ */
    const char *whole; /* to WATCH, unless it asks for the end alone; NULL: json */
    const char *file;  /* what READ reads from */
    size_t piece;      /* bytes at once */
    unsigned questions;
    unsigned away_from; /* this many questions are answered, */
    unsigned away;      /* and this many after them are not; */
    const char *then;   /* the answer after those; NULL: the same */
    bool refused;       /* the port is away because it refused the key */
    struct digest id;   /* of the last SUBMIT */
    unsigned remembered;
};

static bool was_refused(void *self)
{
    const struct play *play = self;
    return play->refused;
}

static enum exit_code answer(void *self, const struct ask *ask, UNUSED struct slice text,
                             struct desk_answer *got, struct why *because)
{
    struct play *play = self;
    const char *said = play->json;
    size_t size = strlen(said);
    play->questions++;
    play->id = ask->verb == ASK_SUBMIT ? ask->id : play->id;
    if (ask->verb == ASK_WATCH && ask->from != ASK_FROM_MAX && play->whole != NULL) {
        said = play->whole;
        size = strlen(said);
    }
    cr_assert_lt(play->questions, 1000, "a command asks without end");
    if (play->questions > play->away_from && play->questions <= play->away_from + play->away) {
        why_set(because, "the database starts");
        return EXIT_CODE_UNREACHABLE;
    }
    if (play->then != NULL && play->questions > play->away_from) {
        said = play->then;
        size = strlen(said);
    }
    if (ask->verb == ASK_READ) {
        const size_t whole = strlen(play->file);
        const size_t from = ask->from < whole ? (size_t)ask->from : whole;
        said = play->file + from;
        size = whole - from < play->piece ? whole - from : play->piece;
    }
    got->data = malloc(size + 1);
    cr_assert_not_null(got->data);
    memcpy(got->data, said, size);
    got->size = size;
    return EXIT_CODE_OK;
}

static struct desk_port port_of(struct play *play)
{
    return (struct desk_port){.self = play, .program = "test", .look_ms = 1, .ask = answer};
}

static bool is_there(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s%s", out, name[0] != '\0' ? "/" : "", name);
    return access(path, F_OK) == 0;
}

static enum exit_code fetch(const char *files, const char *file, size_t piece)
{
    char json[1024];
    struct play play = {.json = json, .file = file, .piece = piece};
    const struct desk_port port = port_of(&play);
    const struct desk_request request = {.job = "1", .out = out};
    (void)snprintf(json, sizeof json, "{\"job\": {\"number\": 1}, \"files\": [%s]}", files);
    why.text[0] = '\0';
    return desk_result(&port, &request, &why);
}

static const char *entry(char text[static 256], int number, const char *file, long bytes)
{
    char hex[2 * DIGEST_BYTES + 1];
    struct digest digest;
    digest_sha256(&digest, &(struct slice){file, strlen(file)}, 1);
    hex_encode(hex, digest.byte, DIGEST_BYTES);
    (void)snprintf(text, 256, "{\"file\": %d, \"bytes\": %ld, \"sha256\": \"%s\"}", number, bytes,
                   hex);
    return text;
}

Test(desk, a_result_comes_in_pieces_of_any_size)
{
    char text[256];
    static const char file[] = "{\"a\": 1, \"b\": 22}";
    for (size_t piece = 1; piece <= sizeof file; piece++) {
        cr_assert_eq(fetch(entry(text, 0, file, (long)strlen(file)), file, piece), EXIT_CODE_OK,
                     "%s", why.text);
        char path[256];
        char read[64] = "";
        (void)snprintf(path, sizeof path, "%s/result.json", out);
        FILE *opened = fopen(path, "r");
        cr_assert_not_null(opened);
        cr_expect_eq(fread(read, 1, sizeof read - 1, opened), strlen(file));
        fclose(opened);
        cr_expect_str_eq(read, file);
        cr_assert(remove(path) == 0 && !is_there("model.json") && rmdir(out) == 0);
    }
}

/* Whatever is wrong with the result, no file is written. */
Test(desk, a_result_that_is_not_whole_is_not_written)
{
    static const char file[] = "{\"a\": 1}";
    const long size = (long)strlen(file);
    char text[2][256];
    char both[600];
    const struct {
        const char *files; /* NULL: an entry with the next two */
        int number;
        long bytes;
        const char *file;
        size_t piece;
    } lie[] = {
        {"", 0, 0, file, 99},
        {"7", 0, 0, file, 99},
        {"{\"file\": 0, \"bytes\": 8, \"sha256\": \"../../x\"}", 0, 0, file, 99},
        {NULL, 1, size, file, 99}, /* a model without a result */
        {NULL, 2, size, file, 99},
        {NULL, -1, size, file, 99},
        {NULL, 0, size + 1, file, 99}, /* it ends before */
        {NULL, 0, size - 1, file, 99}, /* it goes on after that */
        {NULL, 0, 0, file, 99},
        {NULL, 0, -5, file, 99},
        {NULL, 0, 1L << 40, file, 99},
        {NULL, 0, size, "{\"a\": 2}", 99}, /* other bytes */
        {NULL, 0, size, file, 0},          /* empty pieces */
    };
    for (size_t i = 0; i < sizeof lie / sizeof lie[0]; i++) {
        const char *files =
            lie[i].files != NULL ? lie[i].files : entry(text[0], lie[i].number, file, lie[i].bytes);
        cr_expect_neq(fetch(files, lie[i].file, lie[i].piece), EXIT_CODE_OK, "%zu", i);
        cr_expect(why.text[0] != '\0', "%zu has no reason", i);
        cr_expect_not(is_there(""), "%zu left a folder", i);
    }
    (void)snprintf(both, sizeof both, "%s, %s", entry(text[0], 0, file, size),
                   entry(text[1], 0, file, size));
    cr_expect_neq(fetch(both, file, 99), EXIT_CODE_OK, "one file twice");
    cr_expect_not(is_there(""));
}

Test(desk, a_folder_that_holds_something_is_left_alone)
{
    static const char file[] = "{\"a\": 1}";
    char text[256];
    char path[256];
    cr_assert_eq(mkdir(out, 0700), 0);
    cr_assert_eq(fetch(entry(text, 0, file, (long)strlen(file)), file, 3), EXIT_CODE_OK,
                 "an empty one: %s", why.text);
    cr_assert(is_there("result.json"));
    cr_expect_eq(fetch(entry(text, 0, file, (long)strlen(file)), file, 3), EXIT_CODE_BUSY);
    (void)snprintf(path, sizeof path, "%s/result.json", out);
    cr_assert(remove(path) == 0 && rmdir(out) == 0);
    FILE *made = fopen(out, "w");
    cr_assert(made != NULL && fclose(made) == 0);
    cr_expect_eq(fetch(entry(text, 0, file, (long)strlen(file)), file, 3), EXIT_CODE_BUSY,
                 "a file in the way");
}

Test(desk, an_answer_that_is_no_object_ends_the_command)
{
    static const char *const json[] = {"", "[]", "7", "{\"job\": 1, \"job\": 2}", "{", "{}x"};
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        struct play play = {.json = json[i]};
        const struct desk_port port = port_of(&play);
        const struct desk_request request = {.job = "1"};
        why.text[0] = '\0';
        cr_expect_eq(desk_status(&port, &request, &why), EXIT_CODE_INTERNAL, "%zu", i);
        cr_expect_eq(desk_jobs(&port, &request, &why), EXIT_CODE_INTERNAL, "%zu", i);
        cr_expect(why.text[0] != '\0');
    }
}

/* A page that sends the command back to where it was, or nowhere. */
Test(desk, lists_end)
{
    static const char *const json[] = {
        "{\"jobs\": [{}], \"more\": 0}", "{\"jobs\": [{}], \"more\": 5}",
        "{\"jobs\": [{}], \"more\": -1}", "{\"jobs\": [{}], \"more\": 1e300}",
        "{\"jobs\": 7, \"more\": \"x\"}"};
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        struct play play = {.json = json[i]};
        const struct desk_port port = port_of(&play);
        const struct desk_request request = {.json = i % 2 == 0};
        cr_expect_eq(desk_jobs(&port, &request, &why), EXIT_CODE_OK, "%zu", i);
        cr_expect_leq(play.questions, 2, "%zu: %u", i, play.questions);
    }
}

Test(desk, how_a_job_ended_is_the_exit_code)
{
    static const struct {
        const char *json;
        enum exit_code code;
    } item[] = {
        {"{\"job\": {\"state\": \"done\", \"ended\": \"now\"}, \"rounds\": []}", EXIT_CODE_OK},
        {"{\"job\": {\"state\": \"failed\", \"ended\": \"now\"}, \"rounds\": []}",
         EXIT_CODE_JOB_FAILED},
        {"{\"job\": {\"state\": \"cancelled\", \"ended\": \"now\"}, \"rounds\": []}",
         EXIT_CODE_JOB_FAILED},
        {"{\"job\": {\"ended\": \"now\"}}", EXIT_CODE_JOB_FAILED},
        {"{\"job\": {\"state\": \"set aside\", \"begun\": true, \"stuck\": true}}",
         EXIT_CODE_INPUT},
        {"{\"job\": {\"state\": \"set aside\", \"begun\": true, \"stuck\": true}}",
         EXIT_CODE_INPUT},
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        struct play play = {.json = item[i].json};
        const struct desk_port port = port_of(&play);
        const struct desk_request request = {.job = "12", .json = i % 2 == 1};
        cr_expect_eq(desk_watch(&port, &request, &why), item[i].code, "%zu", i);
    }
}

/* Planted: `watch` ended when the database started again. */
Test(desk, who_watches_outlasts_a_restart_and_not_a_wrong_address)
{
    static const char runs[] = "{\"job\": {\"number\": 1, \"state\": \"running\"}, "
                               "\"rounds\": [{\"round\": 1}]}";
    const struct desk_request request = {.job = "1"};
    struct play play = {.json = runs, .away = 5};
    const struct desk_port port = port_of(&play);
    cr_redirect_stderr();
    why.text[0] = '\0';
    cr_expect_eq(desk_watch(&port, &request, &why), EXIT_CODE_UNREACHABLE, "nothing ever answered");
    cr_expect_eq(play.questions, 1);
    static const char *const state[] = {"done", "failed"};
    for (size_t i = 0; i < 2; i++) {
        char last[256];
        (void)snprintf(last, sizeof last,
                       "{\"job\": {\"number\": 1, \"state\": \"%s\", \"ended\": \"now\"}, "
                       "\"rounds\": []}",
                       state[i]);
        play = (struct play){.json = runs, .then = last, .away_from = 1, .away = 5};
        why.text[0] = '\0';
        cr_expect_eq(desk_watch(&port, &request, &why),
                     i == 0 ? EXIT_CODE_OK : EXIT_CODE_JOB_FAILED, "%s", why.text);
        cr_expect_eq(play.questions, 7);
        cr_expect_str_empty(why.text, "what has passed is no reason");
    }
    play = (struct play){.json = runs, .away_from = 1, .away = 10000};
    cr_expect_eq(desk_watch(&port, &request, &why), EXIT_CODE_UNREACHABLE, "not for ever");
    cr_expect_str_eq(why.text, "the database starts");
    struct desk_port refusing = port;
    refusing.refused = was_refused;
    play = (struct play){.json = runs, .away_from = 1, .away = 10000, .refused = true};
    cr_expect_eq(desk_watch(&refusing, &request, &why), EXIT_CODE_UNREACHABLE);
    cr_expect_eq(play.questions, 2, "a key that was revoked is told at once");
}

/* `watch 7 | head -3`. Planted: without a look at the pipe it went on asking until the next round,
 * perhaps for days. */
Test(desk, who_watches_ends_when_nobody_reads_what_it_shows)
{
    struct play play = {.json =
                            "{\"job\": {\"number\": 1, \"state\": \"running\"}, \"rounds\": []}"};
    const struct desk_port port = port_of(&play);
    const struct desk_request request = {.job = "1"};
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    (void)close(ends[0]);
    (void)close(ends[1]);
    why.text[0] = '\0';
    cr_expect_eq(desk_watch(&port, &request, &why), EXIT_CODE_INTERNAL);
    cr_expect_not_null(strstr(why.text, "nobody reads"), "%s", why.text);
    cr_expect_eq(play.questions, 1);
}

static const char job[] = "hedgerow: 1\n"
                          "job: toy\n"
                          "data:\n"
                          "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                          "  features:\n"
                          "    - {column: a, centre: 0, half_width: 1}\n"
                          "privacy: {unit: record, neighbours: replace_one, trust: local, "
                          "epsilon: 1}\n"
                          "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\n"
                          "stages:\n"
                          "  - {task: query, queries: [\"count: a >= 0\"], batch: 9, share: 1, "
                          "grid_bits: 10}\n";

static void put_job(char path[static 128])
{
    (void)snprintf(path, 128, "%s/job.yml", folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert(fputs(job, file) >= 0 && fclose(file) == 0);
}

/* A command that waits asks only for the end, which never comes. The whole status says that the job
 * cannot go on. */
Test(desk, nobody_waits_for_a_job_that_is_set_aside)
{
    char path[128];
    struct play play = {.json = "{\"job\": {\"number\": 3, \"job\": \"toy\", \"ended\": null}}",
                        .whole =
                            "{\"job\": {\"number\": 3, \"state\": \"set aside\", \"begun\": true, "
                            "\"stuck\": true}}"};
    const struct desk_port port = port_of(&play);
    const struct desk_request request = {.path = path, .wait = true};
    put_job(path);
    cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_INPUT, "%s", why.text);
    cr_expect_lt(play.questions, 20);
}

static enum status remember(void *self, UNUSED const struct digest *text, struct digest *id,
                            UNUSED struct why *because)
{
    struct play *play = self;
    play->remembered++;
    id->byte[0] = 77;
    return STATUS_OK;
}

static void forget(void *self, UNUSED const struct digest *text)
{
    struct play *play = self;
    play->remembered += 100;
}

/* Two names are two ids, the same name is the same id, and then none is drawn. */
Test(desk, a_submission_that_is_named_has_the_id_of_its_name)
{
    char path[128];
    char name[DESK_ID_BYTES_MAX + 2] = "";
    struct digest id[3];
    static const char *const names[] = {"nightly-7", "nightly-8", "nightly-7"};
    struct play play = {.json = "{\"job\": {\"number\": 3, \"job\": \"toy\"}}"};
    struct desk_port port = port_of(&play);
    struct desk_request request = {.path = path, .json = true};
    port.remember = remember;
    port.forget = forget;
    put_job(path);
    for (size_t i = 0; i < 3; i++) {
        request.id = names[i];
        cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_OK, "%s", why.text);
        id[i] = play.id;
    }
    cr_expect(digest_equal(&id[0], &id[2]) && !digest_equal(&id[0], &id[1]));
    cr_expect_eq(play.remembered, 0);
    request.id = NULL;
    cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_OK, "%s", why.text);
    cr_expect(play.id.byte[0] == 77 && play.remembered == 101);
    play.questions = 0;
    request.id = ""; /* a script whose variable is empty */
    cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_INPUT);
    memset(name, 'x', sizeof name - 1);
    request.id = name;
    cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_INPUT);
    cr_expect_not_null(strstr(why.text, "1 to 200 bytes, not 201"), "%s", why.text);
    cr_expect_eq(play.questions, 0);
    name[DESK_ID_BYTES_MAX] = '\0';
    cr_expect_eq(desk_submit(&port, &request, &why), EXIT_CODE_OK, "%s", why.text);
}

Test(desk, a_cancellation_says_whether_the_job_had_begun)
{
    static const struct {
        const char *json;
        const char *words;
    } item[] = {
        {"{\"job\": {\"state\": \"cancelled\", \"ended\": \"now\"}}", "job 12: cancelled; what"},
        {"{\"job\": {\"state\": \"cancelled\", \"begun\": false}}", "it will not begin"},
        {"{\"job\": {\"state\": \"cancelled\", \"begun\": true}}", "it had begun, and has ended"},
        {"{\"job\": {\"state\": \"cancelled\", \"begun\": true, \"stuck\": true}}",
         "could not go on, and it never"},
        {"{\"job\": {\"state\": \"running\"}}",
         "before its next round"}, /* of an older coordinator */
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        struct play play = {.json = item[i].json};
        struct desk_port port = port_of(&play);
        port.look_ms = 1000; /* it looks for two seconds */
        const struct desk_request request = {.job = "12"};
        cr_assert_eq(desk_cancel(&port, &request, &why), EXIT_CODE_OK, "%zu", i);
    }
    static char said[2048];
    (void)fflush(stdout);
    const size_t used = fread(said, 1, sizeof said - 1, cr_get_redirected_stdout());
    for (size_t i = 0; i < used; i++) {
        said[i] = said[i] == '\n' ? ' ' : said[i]; /* lines are broken at 80 columns */
    }
    const char *at = said;
    for (size_t i = 0; i < sizeof item / sizeof item[0] && at != NULL; i++) {
        at = strstr(at, item[i].words);
        cr_assert_not_null(at, "%zu: %s", i, said);
        at++;
    }
}
