/* A job is followed to its end: rounds as they come, who declines it, and what it came to. */

#include "desk/private.h"
#include "desk/view.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* DONE is the one good end. */
static enum exit_code code_of(const json_t *job)
{
    char state[VIEW_TEXT_BYTES];
    return strcmp(view_text(state, job, "state"), "done") == 0 ? EXIT_CODE_OK
                                                               : EXIT_CODE_JOB_FAILED;
}

bool desk_is_filed(const json_t *job)
{
    return json_is_string(json_object_get(job, "ended"));
}

bool desk_is_aside(const json_t *job)
{
    return json_is_true(json_object_get(job, "stuck")) &&
           json_is_true(json_object_get(job, "begun")) && !desk_is_filed(job);
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
    uint64_t seen;                  /* rounds */
    bool rounds;                    /* they are shown */
    bool begun;                     /* the head of their table was */
    char declined[VIEW_TEXT_BYTES]; /* as it was told last */
};

/* Beside the table: standard output is for rounds. */
static void tell_declined(struct following *following, const struct desk_port *port,
                          const json_t *job)
{
    char now[VIEW_TEXT_BYTES];
    char state[VIEW_TEXT_BYTES];
    const bool runs = strcmp(view_text(state, job, "state"), "running") == 0;
    if (following->rounds && runs &&
        strcmp(view_text(now, job, "declined"), following->declined) != 0) {
        (void)fprintf(stderr, "%s: job %.0f: %s%s\n", port->program, view_number(job, "number"),
                      now[0] != '\0' ? "declined by " : "nobody declines it any more", now);
        memcpy(following->declined, now, sizeof now);
    }
}

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

/* Rests between two looks. Where rounds are shown it answers whether somebody reads standard output still: a pipe whose
 * reader has left says so now, and a line would say so only with the next round, perhaps in days. */
static bool rest(unsigned rest_ms, bool rounds)
{
    struct pollfd out = {.fd = rounds ? STDOUT_FILENO : -1};
    if (poll(&out, 1, (int)rest_ms) > 0 && (out.revents & POLLNVAL) != 0) {
        (void)poll(NULL, 0, (int)rest_ms); /* there was no standard output from the start */
    }
    return (out.revents & (POLLERR | POLLHUP)) == 0;
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

enum exit_code desk_follow(const struct desk_port *port, uint32_t number, bool answered,
                           bool rounds, bool json, struct why *why)
{
    struct absence absence = {.answered = answered};
    struct following following = {.rounds = rounds, .seen = rounds ? 0 : ASK_FROM_MAX};
    for (unsigned looks = 1;; looks++) {
        /* A command that shows no rounds asks for the end alone; now and then for the whole job, which tells that it cannot go
         * on. */
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
            tell_declined(&following, port, job);
            code = show_rounds(&following, news, json);
        }
        if (code == EXIT_CODE_OK && !more && desk_is_aside(job)) {
            code = tell_aside(job, rounds, json);
            json_decref(answer);
            return code;
        }
        if (code == EXIT_CODE_OK && desk_is_filed(job) && !more) {
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
        if (!more && !rest(port->look_ms, rounds)) {
            why_set(why, "nobody reads the rounds any more; the job goes on: see `status`");
            return EXIT_CODE_INTERNAL;
        }
    }
}
