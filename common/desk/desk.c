#include "desk/desk.h"

#include "base/wrap.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "desk/private.h"
#include "desk/view.h"
#include "job/job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* DONE is the one good end. */
static enum exit_code code_of(const json_t *job)
{
    char state[VIEW_TEXT_BYTES];
    return strcmp(view_text(state, job, "state"), "done") == 0 ? EXIT_CODE_OK
                                                               : EXIT_CODE_JOB_FAILED;
}

static bool is_filed(const json_t *job)
{
    return json_is_string(json_object_get(job, "ended"));
}

/* It has begun, and cannot go on unless a person mends it. */
static bool is_aside(const json_t *job)
{
    return json_is_true(json_object_get(job, "stuck")) &&
           json_is_true(json_object_get(job, "begun")) && !is_filed(job);
}

static enum exit_code tell_aside(const json_t *job, bool rounds, bool json)
{
    if (json) {
        const enum exit_code code = desk_print(job, rounds);
        return code == EXIT_CODE_OK ? EXIT_CODE_INPUT : code;
    }
    view_job(job);
    return EXIT_CODE_INPUT;
}

struct following {
    uint64_t seen; /* rounds */
    bool rounds;   /* they are shown */
    bool begun;    /* the head of their table was */
};

static enum exit_code show_rounds(struct following *following, const json_t *rounds, bool json)
{
    enum exit_code code = EXIT_CODE_OK;
    size_t i;
    json_t *round;
    json_array_foreach(rounds, i, round)
    {
        const double at = view_number(round, "round");
        following->seen = at > (double)following->seen && at < (double)ASK_FROM_MAX
                              ? (uint64_t)at
                              : following->seen + 1;
        if (!following->rounds) {
            continue;
        }
        if (json) {
            code = desk_print(round, true);
        } else {
            if (!following->begun) {
                view_rounds_head();
            }
            view_round(round);
        }
        following->begun = true;
    }
    (void)fflush(stdout);
    return code;
}

enum { WHOLE_LOOKS = 10 };

/* A database that starts again, or a coordinator that does: the next answer is waited for. Pauses grow, and differ between
 * those who wait. */
struct absence {
    uint64_t waited_ms; /* 0: the latest question was answered */
    unsigned count;
    bool answered; /* a question was, ever: a wrong number or address is told at once */
};

/* In looks at the job: with its 1 s as `hedgerow --at` has it, ten minutes. */
enum { AWAY_LOOKS = 600, AWAY_DOUBLINGS = 4 };

/* Returns whether to ask again: after a pause, told of once. */
static bool wait_out(struct absence *absence, const struct desk_port *port, const struct why *why)
{
    struct timespec now = {0};
    const bool refused = port->refused != NULL && port->refused(port->self);
    if (!absence->answered || refused ||
        absence->waited_ms >= (uint64_t)AWAY_LOOKS * port->look_ms) {
        return false;
    }
    if (absence->count == 0) {
        (void)fprintf(stderr, "%s: no answer for now (%s); it goes on by itself\n", port->program,
                      why->text);
    }
    const unsigned pause_ms =
        port->look_ms << (absence->count < AWAY_DOUBLINGS ? absence->count : AWAY_DOUBLINGS);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const unsigned jitter_ms = (unsigned)((now.tv_nsec / 1000) % (pause_ms / 2 + 1));
    absence->count++;
    absence->waited_ms += pause_ms + jitter_ms;
    (void)poll(NULL, 0, (int)(pause_ms + jitter_ms));
    return true;
}

static void tell_back(struct absence *absence, const struct desk_port *port)
{
    if (absence->count > 0) {
        (void)fprintf(stderr, "%s: answered again\n", port->program);
    }
    *absence = (struct absence){.answered = true};
}

/* Looks at the job until it is filed, and prints what it came to. answered: a question was, before */
static enum exit_code follow(const struct desk_port *port, uint32_t number, bool answered,
                             bool rounds, bool json, struct why *why)
{
    struct absence absence = {.answered = answered};
    struct following following = {.rounds = rounds, .seen = rounds ? 0 : ASK_FROM_MAX};
    for (unsigned looks = 1;; looks++) {
        /* Who shows no rounds asks for the end alone; now and then for the whole job, which tells that it cannot go on. */
        const bool whole = !rounds && looks % WHOLE_LOOKS == 0;
        const struct ask ask = {
            .verb = ASK_WATCH, .job = number, .from = following.seen - (whole ? 1 : 0)};
        json_t *answer = NULL;
        enum exit_code code = desk_ask(&answer, port, &ask, (struct slice){NULL, 0}, why);
        if (code == EXIT_CODE_UNREACHABLE && wait_out(&absence, port, why)) {
            why->text[0] = '\0';
            continue;
        }
        if (code == EXIT_CODE_OK) {
            tell_back(&absence, port);
        }
        const json_t *job = json_object_get(answer, "job");
        const json_t *news = json_object_get(answer, "rounds");
        const bool more = json_array_size(news) > 0;
        if (code == EXIT_CODE_OK) {
            code = show_rounds(&following, news, json);
        }
        if (code == EXIT_CODE_OK && !more && is_aside(job)) {
            code = tell_aside(job, rounds, json);
            json_decref(answer);
            return code;
        }
        if (code == EXIT_CODE_OK && is_filed(job) && !more) {
            code = json ? desk_print(job, rounds) : EXIT_CODE_OK;
            if (!json) {
                view_job(job);
            }
            code = code == EXIT_CODE_OK ? code_of(job) : code;
            json_decref(answer);
            return code;
        }
        json_decref(answer);
        if (code != EXIT_CODE_OK) {
            return code;
        }
        if (!more) {
            (void)poll(NULL, 0, (int)port->look_ms);
        }
    }
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

static enum exit_code submit(json_t **job, const struct desk_port *port, struct slice text,
                             struct why *why)
{
    struct ask ask = {.verb = ASK_SUBMIT};
    struct digest digest;
    enum status status = STATUS_OK;
    digest_sha256(&digest, &text, 1);
    if (port->remember != NULL) {
        status = port->remember(port->self, &digest, &ask.id, why);
    }
    const enum exit_code code =
        status == STATUS_OK ? desk_ask(job, port, &ask, text, why) : exit_code_of(status);
    if (code == EXIT_CODE_OK && json_is_true(json_object_get(*job, "again"))) {
        (void)fprintf(stderr,
                      "%s: this submission was in the queue already; submit the file once more to "
                      "run it anew\n",
                      port->program);
    }
    return code;
}

static void forget(const struct desk_port *port, struct slice text)
{
    struct digest digest;
    if (fflush(stdout) == 0 && port->forget != NULL) {
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
                              ? submit(&answer, port, (struct slice){text, size}, why)
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
    /* Once the number is told, and not before: whoever dies earlier asks under the same id again. */
    const bool told_late = request->json && follows;
    if (code == EXIT_CODE_OK && !told_late) {
        forget(port, (struct slice){text, size});
    }
    if (code == EXIT_CODE_OK && follows) {
        code = follow(port, (uint32_t)number, true, request->stream, request->json, why);
    }
    if ((code == EXIT_CODE_OK || code == EXIT_CODE_JOB_FAILED) && told_late) {
        forget(port, (struct slice){text, size});
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
    return status == STATUS_OK ? follow(port, number, false, true, request->json, why)
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
    if (is_filed(job)) {
        return "cancelled; what sites have paid stays paid (`status` shows it)";
    }
    if (json_is_true(json_object_get(job, "begun")) &&
        json_is_string(json_object_get(job, "held"))) {
        return "it has begun, and another process has its journal open (`status` says which); a "
               "coordinator that runs ends the job once that process ends or closes it; what sites "
               "have paid stays paid";
    }
    if (is_aside(job)) {
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
    bool filed = is_filed(json_object_get(*answer, "job"));
    for (unsigned waited = 0; code == EXIT_CODE_OK && !filed && waited < CANCEL_LOOK_MS;
         waited += port->look_ms) {
        (void)poll(NULL, 0, (int)port->look_ms);
        code = look_again(answer, port, &over, why);
        filed = is_filed(json_object_get(*answer, "job"));
    }
    if (code == EXIT_CODE_OK && !filed) {
        code = look_again(answer, port, &status, why);
    }
    const json_t *job = json_object_get(*answer, "job");
    if (code != EXIT_CODE_OK) {
        return code;
    }
    (void)view_text(state, job, "state");
    if (is_filed(job) && strcmp(state, "cancelled") != 0) {
        why_set(why, "job %u was over before: %s", (unsigned)number, state);
        return EXIT_CODE_INPUT;
    }
    if (json) {
        return desk_print(job, false);
    }
    wrap_print(stdout, 0, 0, "job %u: %s", (unsigned)number, what_follows(job, state));
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
