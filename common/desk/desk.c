#include "desk/desk.h"

#include "base/text.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "desk/private.h"
#include "desk/view.h"
#include "job/job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCEL_LOOK_MS = 2000, NUMBER_TEXT_MAX = 999999999 };

enum status desk_number(uint32_t *number, const struct desk_port *port,
                        const struct desk_request *request, struct why *why)
{
    char *rest = NULL;
    const unsigned long value = strtoul(request->job, &rest, 10);
    if (request->job[0] < '1' || request->job[0] > '9' || *rest != '\0' ||
        value > NUMBER_TEXT_MAX) {
        return why_refuse(why, "\"%s\" is no job's number: `%s jobs` lists them", request->job,
                          port->program);
    }
    *number = (uint32_t)value;
    return STATUS_OK;
}

enum exit_code desk_ask(json_t **out, const struct desk_port *port, const struct ask *ask,
                        struct slice text, struct why *why)
{
    struct desk_answer answer = {.data = NULL};
    json_error_t error;
    *out = NULL;
    enum exit_code code = port->ask(port->self, ask, text, &answer, why);
    if (code == EXIT_CODE_OK) {
        *out = json_loadb(answer.data != NULL ? answer.data : "", answer.size,
                          JSON_REJECT_DUPLICATES, &error);
        if (!json_is_object(*out)) {
            json_decref(*out);
            *out = NULL;
            why_set(why, "the answer to `%s` is no JSON object; remedy: the same hedgerow at both",
                    ask_verb_name(ask->verb));
            code = EXIT_CODE_INTERNAL;
        }
    }
    free(answer.data);
    return code;
}

enum exit_code desk_ask_job(json_t **out, const struct desk_port *port, enum ask_verb verb,
                            const struct desk_request *request, struct why *why)
{
    struct ask ask = {.verb = verb};
    *out = NULL;
    const enum status status = desk_number(&ask.job, port, request, why);
    return status == STATUS_OK ? desk_ask(out, port, &ask, (struct slice){NULL, 0}, why)
                               : exit_code_of(status);
}

enum exit_code desk_print(const json_t *object, bool one_line)
{
    const size_t layout = one_line ? JSON_COMPACT : JSON_INDENT(2);
    const bool good =
        json_dumpf(object, stdout, layout | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII) == 0 &&
        putchar('\n') != EOF && fflush(stdout) == 0;
    return good ? EXIT_CODE_OK : EXIT_CODE_INTERNAL;
}

/* Read here first, so that what is wrong is told with the file's name and line. */
static enum status read_job(char **text, size_t *size, const char *path, struct why *why)
{
    struct job job = {0};
    enum status status = config_load_owned(text, size, path, why);
    if (status == STATUS_OK) {
        status = job_parse(&job, (struct slice){*text, *size}, path, why);
    }
    job_free(&job);
    return status;
}

/* The caller's name of a submission becomes an id that the queue keeps, in the place of one that is drawn. */
static enum status name_submission(struct digest *id, const struct desk_port *port,
                                   const char *name, struct why *why)
{
    static const char use[] = "hedgerow submit --id ";
    const struct slice part[] = {{use, sizeof use - 1}, {name, strlen(name)}};
    if (part[1].size == 0 || part[1].size > DESK_ID_BYTES_MAX) {
        return why_refuse(why, "`%s submit`: --id has 1 to %d bytes, not %zu", port->program,
                          (int)DESK_ID_BYTES_MAX, part[1].size);
    }
    digest_sha256(id, part, 2);
    return STATUS_OK;
}

static enum exit_code submit(json_t **job, const struct desk_port *port, const char *name,
                             struct slice text, struct why *why)
{
    struct ask ask = {.verb = ASK_SUBMIT};
    struct digest digest;
    enum status status = STATUS_OK;
    if (name != NULL) {
        status = name_submission(&ask.id, port, name, why);
    } else if (port->remember != NULL) {
        digest_sha256(&digest, &text, 1);
        status = port->remember(port->self, &digest, &ask.id, why);
    }
    const enum exit_code code =
        status == STATUS_OK ? desk_ask(job, port, &ask, text, why) : exit_code_of(status);
    if (code == EXIT_CODE_OK && json_is_true(json_object_get(*job, "again"))) {
        (void)fprintf(stderr, "%s: this submission was in the queue already; %s to run it anew\n",
                      port->program,
                      name != NULL ? "submit it with another --id" : "submit the file once more");
    }
    return code;
}

static void forget(const struct desk_port *port, const char *name, struct slice text)
{
    struct digest digest;
    if (fflush(stdout) == 0 && port->forget != NULL && name == NULL) {
        digest_sha256(&digest, &text, 1);
        port->forget(port->self, &digest);
    }
}

enum exit_code desk_submit(const struct desk_port *port, const struct desk_request *request,
                           struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    json_t *answer = NULL;
    char name[VIEW_TEXT_BYTES];
    const bool follows = request->wait || request->stream;
    const enum status status = read_job(&text, &size, request->path, why);
    enum exit_code code = status == STATUS_OK
                              ? submit(&answer, port, request->id, (struct slice){text, size}, why)
                              : exit_code_of(status);
    const json_t *job = json_object_get(answer, "job");
    const double number = view_number(job, "number");
    if (code == EXIT_CODE_OK && (number < 1 || number > NUMBER_TEXT_MAX)) {
        why_set(why, "the answer to `submit` tells no job's number");
        code = EXIT_CODE_INTERNAL;
    }
    if (code == EXIT_CODE_OK && !request->json) {
        (void)printf("job %.0f \"%s\"\n", number, view_text(name, job, "job"));
    } else if (code == EXIT_CODE_OK && !follows) {
        code = desk_print(job, false);
    }
    /* Once the number is told, and not before: a command that dies earlier asks under the same id again. */
    const bool told_late = request->json && follows;
    if (code == EXIT_CODE_OK && !told_late) {
        forget(port, request->id, (struct slice){text, size});
    }
    if (code == EXIT_CODE_OK && follows) {
        code = desk_follow(port, (uint32_t)number, true, request->stream, request->json, why);
    }
    if ((code == EXIT_CODE_OK || code == EXIT_CODE_JOB_FAILED) && told_late) {
        forget(port, request->id, (struct slice){text, size});
    }
    json_decref(answer);
    free(text);
    return code;
}

enum exit_code desk_status(const struct desk_port *port, const struct desk_request *request,
                           struct why *why)
{
    json_t *answer = NULL;
    enum exit_code code = desk_ask_job(&answer, port, ASK_STATUS, request, why);
    const json_t *job = json_object_get(answer, "job");
    if (code == EXIT_CODE_OK && request->json) {
        code = desk_print(job, false);
    } else if (code == EXIT_CODE_OK) {
        view_job(job);
    }
    json_decref(answer);
    return code;
}

enum exit_code desk_watch(const struct desk_port *port, const struct desk_request *request,
                          struct why *why)
{
    uint32_t number = 0;
    const enum status status = desk_number(&number, port, request, why);
    return status == STATUS_OK ? desk_follow(port, number, false, true, request->json, why)
                               : exit_code_of(status);
}

/* Asks anew about a job, in the place of an answer. */
static enum exit_code look_again(json_t **answer, const struct desk_port *port,
                                 const struct ask *ask, struct why *why)
{
    json_decref(*answer);
    return desk_ask(answer, port, ask, (struct slice){NULL, 0}, why);
}

/* What becomes of a job that an operator has cancelled. */
static const char *what_follows(const json_t *job, const char *state)
{
    const bool running = strcmp(state, "running") == 0;
    if (desk_is_filed(job)) {
        return "cancelled; what sites have paid stays paid (`status` shows it)";
    }
    if (json_is_true(json_object_get(job, "begun")) &&
        json_is_string(json_object_get(job, "held"))) {
        return "it has begun, and another process has its journal open (`status` says which); a "
               "coordinator that runs ends the job once that process ends or closes it; what sites "
               "have paid stays paid";
    }
    if (desk_is_aside(job)) {
        return "it could not go on, and it never will; a coordinator that runs files it when it "
               "looks at the queue next; what sites have paid stays paid";
    }
    if (!running && !json_is_true(json_object_get(job, "begun"))) {
        return "it has not begun, and it will not begin";
    }
    return running ? "it has begun; a coordinator that runs ends it before its next round; what "
                     "sites have paid stays paid (`status` shows it)"
                   : "it had begun, and has ended: no round follows; its agents are being told; "
                     "what sites have paid stays paid (`status` shows it)";
}

/* A running coordinator files the job within a second or two; else it goes on waiting for one. */
static enum exit_code tell_cancelled(const struct desk_port *port, uint32_t number, bool json,
                                     json_t **answer, struct why *why)
{
    const struct ask over = {.verb = ASK_WATCH, .job = number, .from = ASK_FROM_MAX};
    const struct ask status = {.verb = ASK_STATUS, .job = number};
    enum exit_code code = EXIT_CODE_OK;
    char state[VIEW_TEXT_BYTES];
    bool filed = desk_is_filed(json_object_get(*answer, "job"));
    for (unsigned waited = 0; code == EXIT_CODE_OK && !filed && waited < CANCEL_LOOK_MS;
         waited += port->look_ms) {
        (void)poll(NULL, 0, (int)port->look_ms);
        code = look_again(answer, port, &over, why);
        filed = desk_is_filed(json_object_get(*answer, "job"));
    }
    if (code == EXIT_CODE_OK && !filed) {
        code = look_again(answer, port, &status, why);
    }
    const json_t *job = json_object_get(*answer, "job");
    if (code != EXIT_CODE_OK) {
        return code;
    }
    (void)view_text(state, job, "state");
    if (desk_is_filed(job) && strcmp(state, "cancelled") != 0) {
        why_set(why, "job %u was over before: %s", (unsigned)number, state);
        return EXIT_CODE_INPUT;
    }
    if (json) {
        return desk_print(job, false);
    }
    text_wrap(stdout, 0, 0, "job %u: %s", (unsigned)number, what_follows(job, state));
    return EXIT_CODE_OK;
}

enum exit_code desk_cancel(const struct desk_port *port, const struct desk_request *request,
                           struct why *why)
{
    json_t *answer = NULL;
    uint32_t number = 0;
    enum exit_code code = desk_ask_job(&answer, port, ASK_CANCEL, request, why);
    if (code == EXIT_CODE_OK && desk_number(&number, port, request, why) == STATUS_OK) {
        code = tell_cancelled(port, number, request->json, &answer, why);
    }
    json_decref(answer);
    return code;
}
