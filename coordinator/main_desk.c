/* `hedgerow-coordinator desk`: answers operators' questions from the queue, one after another. */

#include "coordinator/main_desk.h"

#include "base/exit_code.h"
#include "base/text.h"
#include "coordinator/main_acts.h"
#include "io/allowance.h"
#include "io/clock.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/enrolment.h"
#include "io/log_sink.h"
#include "io/roster.h"
#include "io/variant.h"
#include "protocol/ask.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    LIST_LOOK_MS = 200,
    QUESTIONS_PER_TURN = 16, /* then the lists have their turn: a flood delays no revocation */
    RATE_PERIOD_MS = 10000,
    LOOKS_PERIOD_MS = 600000, /* one line in this time for looks that repeat themselves */
    NICE = 10,                /* rounds come first */
    FAREWELL_TURNS = 5,
    FAREWELL_STEP_MS = 20,
    SUBMIT_COST = 10, /* at 1 a second: a job in ten seconds, */
    SUBMIT_BURST = SUBMIT_COST * ACTS_OPEN_MAX
};

struct desk {
    struct office office;
    struct daemon daemon;
    struct endpoint *endpoint;
    struct log_rate rate;
    struct log_rate looks;
    struct roster_watch watch;
    struct roster_watch other_watch;
    struct roster operators;
    struct roster agents;
    struct roster admitted; /* operators without the keys that are agents' too */
    int64_t look_ms;
    struct acts_memory memory;
    int signals;
    struct allowance submissions;
    unsigned asked; /* how often each step was reached, for an observer */
    unsigned acted;
    unsigned told;
};

static void observe(const char *step, unsigned *count)
{
    if (program_variant.observe != NULL) {
        program_variant.observe(NULL, step, ++*count);
    }
}

/* A key on both lists has no right here, because it was probably not meant as an operator's. */
static void admit(struct desk *desk)
{
    struct roster *admitted = &desk->admitted;
    admitted->count = 0;
    for (size_t i = 0; i < desk->operators.count; i++) {
        const struct roster_entry *entry = &desk->operators.entry[i];
        if (roster_find(&desk->agents, &entry->key) == NULL) {
            admitted->entry[admitted->count++] = *entry;
        } else {
            log_event(&desk->daemon.log, LOG_ERROR, "key-on-both-lists", entry->name,
                      "its key is an agent's too: it is not admitted; remedy: another key");
        }
    }
    if (!endpoint_admit(desk->endpoint, admitted)) {
        roster_watch_again(&desk->watch);
        return;
    }
    log_event(&desk->daemon.log, LOG_INFO, "operators-read", NULL,
              "the operators' list has %zu key%s", admitted->count, text_plural_s(admitted->count));
}

/* Returns whether it has changed. One that is not there yet is empty; a broken one leaves the present one in force. */
static bool look_at(struct desk *desk, struct roster_watch *watch, struct roster *roster)
{
    struct why why = {{0}};
    bool changed = false;
    const enum status status = roster_watch_look(watch, roster, &changed, &why);
    if (status != STATUS_OK && (status != STATUS_NOT_FOUND || roster->count > 0)) {
        log_event(&desk->daemon.log, LOG_ERROR, "list-unreadable", NULL,
                  "%s; the list of before holds", why.text);
    }
    return changed;
}

static void look_at_lists(struct desk *desk)
{
    const bool operators = look_at(desk, &desk->watch, &desk->operators);
    const bool agents = look_at(desk, &desk->other_watch, &desk->agents);
    desk->look_ms = clock_now_ms() + LIST_LOOK_MS;
    log_rate_flush(&desk->rate, clock_now_ms());
    log_rate_flush(&desk->looks, clock_now_ms());
    if (operators || agents) {
        admit(desk);
    }
}

static void tell(struct desk *desk, const struct peer *operator_peer, uint64_t number,
                 enum exit_code code, struct slice payload)
{
    uint8_t control[ASK_FRAME_BYTES_MAX];
    const struct told told = {.number = number, .code = (uint32_t)code};
    const size_t size = told_encode(control, &told);
    (void)!endpoint_send(desk->endpoint, operator_peer, (struct slice){control, size}, payload);
}

/* With a one-time token of this list only an operator's ENROL is accepted. It is not a message of an agent, and no agent's
 * message is one. */
static void enrol(struct desk *desk, const struct endpoint_message *from)
{
    static const struct digest no_signing_key;
    const struct enrolment_list list = {desk->office.settings.operators.list,
                                        desk->office.settings.agents};
    struct ask ask;
    if (ask_decode(&ask, from->control, from->payload) != STATUS_OK || ask.verb != ASK_ENROL) {
        log_rate_event(&desk->rate, clock_now_ms(), LOG_WARN, "token-misused", from->peer.name,
                       "a one-time token admits an operator's enrolment and nothing else: dropped");
        return;
    }
    if (enrolment_spend(&desk->rate, &desk->daemon.log, &list, from, &ask.id, &no_signing_key)) {
        tell(desk, &from->peer, ask.number, EXIT_CODE_OK, (struct slice){NULL, 0});
        look_at_lists(desk); /* the new key is admitted in this very turn */
    }
}

/* An operator who submits without end fills the disk, also with jobs that are cancelled at once. */
static bool may_submit(struct desk *desk, const struct peer *peer)
{
    const struct allowance_terms terms = {.burst = SUBMIT_BURST, .per_s = 1};
    return allowance_take(&desk->submissions, peer->name, clock_now_ms(), SUBMIT_COST, terms);
}

static const char *const event_of[ASK_VERB_END] = {[ASK_NONE] = "operator-asked",
#define EVENT_ROW(name_, text_, has_) [name_] = "operator-" text_,
                                                   ASK_VERBS(EVENT_ROW)
#undef EVENT_ROW
};

/* Which job a submission has become. */
static uint32_t job_of(const struct ask *ask, const struct desk_answer *answer)
{
    json_error_t error;
    if (ask->verb != ASK_SUBMIT || answer->data == NULL) {
        return ask->job;
    }
    json_t *json = json_loadb(answer->data, answer->size, 0, &error);
    const json_int_t number =
        json_integer_value(json_object_get(json_object_get(json, "job"), "number"));
    json_decref(json);
    return (uint32_t)number;
}

/* One line for each question, with the operator's name; of looks that repeat themselves one in ten minutes. */
static void note(struct desk *desk, const struct peer *peer, const struct ask *ask,
                 const struct desk_answer *answer, enum exit_code code, const struct why *why)
{
    const uint32_t job = job_of(ask, answer);
    const bool looks = ask->verb == ASK_WATCH || ask->verb == ASK_READ || ask->verb == ASK_WHO;
    char text[WHY_BYTES + 64];
    char which[32] = "";
    if (job > 0) {
        (void)snprintf(which, sizeof which, " job %" PRIu32, job);
    }
    (void)snprintf(text, sizeof text, "%s%s: %s", ask_verb_name(ask->verb), which,
                   code == EXIT_CODE_OK ? "done" : why->text);
    if (looks) {
        log_rate_event(&desk->looks, clock_now_ms(), LOG_INFO, event_of[ask->verb], peer->name,
                       text);
    } else {
        log_event(&desk->daemon.log, LOG_INFO, event_of[ask->verb], peer->name, "%s", text);
    }
}

static void answer(struct desk *desk, const struct endpoint_message *from)
{
    struct acts acts = {.office = &desk->office,
                        .operator_name = from->peer.name,
                        .list = desk->office.settings.agents,
                        .memory = &desk->memory};
    struct desk_answer said = {.data = NULL};
    struct why why = {{0}};
    struct ask ask;
    enum exit_code code = EXIT_CODE_REFUSED;
    const enum status status = ask_decode(&ask, from->control, from->payload);
    if (status != STATUS_OK) {
        log_rate_event(&desk->rate, clock_now_ms(), LOG_WARN, "frame-refused", from->peer.name,
                       status == STATUS_UNSUPPORTED ? "it speaks another version of the protocol"
                                                    : "a frame that is no question was dropped");
        return;
    }
    observe("desk-asked", &desk->asked);
    if (ask.verb == ASK_SUBMIT && !may_submit(desk, &from->peer)) {
        why_set(&why, "too many submissions; remedy: wait some seconds before the next one");
    } else {
        code = acts_ask(&acts, &ask, from->payload, &said, &why);
    }
    observe("desk-acted", &desk->acted);
    note(desk, &from->peer, &ask, &said, code, &why);
    tell(desk, &from->peer, ask.number, code,
         code == EXIT_CODE_OK ? (struct slice){said.data, said.size}
                              : (struct slice){why.text, strlen(why.text)});
    observe("desk-told", &desk->told);
    free(said.data);
}

static enum status turn(struct desk *desk, uint32_t *signal)
{
    struct pollfd other = {.fd = desk->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    struct endpoint_message from;
    const enum status status = endpoint_poll(desk->endpoint, &other, 1, LIST_LOOK_MS);
    if (status == STATUS_OK && other.revents != 0 &&
        read(desk->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        *signal = info.ssi_signo;
        return STATUS_OK;
    }
    for (int i = 0; i < QUESTIONS_PER_TURN && status == STATUS_OK; i++) {
        if (clock_now_ms() >= desk->look_ms) {
            look_at_lists(desk);
        }
        if (endpoint_receive(desk->endpoint, &from) != STATUS_OK) {
            break;
        }
        if (from.token) {
            enrol(desk, &from);
        } else {
            answer(desk, &from);
        }
    }
    return status;
}

static enum status open_signals(struct desk *desk, struct why *why)
{
    sigset_t wanted;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, SIGINT);
    desk->signals =
        signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK); /* daemon_start blocks them */
    if (desk->signals < 0) {
        why_set(why, "signals cannot be waited for: %s", strerror(errno));
        return STATUS_IO;
    }
    return STATUS_OK;
}

static enum status stay(struct desk *desk, int *exit_code, struct why *why)
{
    uint32_t signal = 0;
    enum status status = STATUS_OK;
    log_event(&desk->daemon.log, LOG_INFO, "desk-started", NULL, "operators connect to %s",
              endpoint_address(desk->endpoint));
    look_at_lists(desk);
    while (status == STATUS_OK && signal == 0) {
        status = turn(desk, &signal);
    }
    if (status != STATUS_OK) {
        why_set(why, "the operators' connections cannot be waited for");
        return status;
    }
    for (int i = 0; i < FAREWELL_TURNS; i++) { /* for the last answers to leave */
        (void)!endpoint_poll(desk->endpoint, NULL, 0, FAREWELL_STEP_MS);
    }
    *exit_code = signal == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK;
    return STATUS_OK;
}

static enum status open_desk(struct desk *desk, struct why *why)
{
    const struct endpoint_options options = {
        .address = desk->office.settings.operators.listen,
        .key = &desk->office.key,
        .log = &desk->daemon.log,
        .payload_bytes_max = ASK_PAYLOAD_BYTES_MAX,
        .operators = true,
        .limits = {.handshakes_burst = 60, /* each command connects anew */
                   .handshakes_per_s = 5,
                   .messages_burst = 20000, /* a result of 1 GiB is asked for in 16,384 pieces */
                   .messages_per_s = 2000,
                   .bytes_burst = 8 << 20,
                   .bytes_per_s = 1 << 20}};
    enum status status = office_has_operators(&desk->office, why);
    if (status == STATUS_OK) {
        status = queue_open(&desk->office, why);
    }
    if (status == STATUS_AGAIN && queue_of(&desk->office)->shared) { /* each question tries again */
        log_event(&desk->daemon.log, LOG_WARN, "database-away", NULL, "%s; trying again",
                  why->text);
        status = STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = office_read_key(&desk->office, why);
    }
    if (status == STATUS_OK) {
        status = open_signals(desk, why);
    }
    if (status == STATUS_OK) {
        status = endpoint_listen(&desk->endpoint, &options, why);
    }
    log_rate_init(&desk->rate, &desk->daemon.log, RATE_PERIOD_MS);
    log_rate_init(&desk->looks, &desk->daemon.log, LOOKS_PERIOD_MS);
    desk->watch.path = desk->office.settings.operators.list;
    desk->other_watch.path = desk->office.settings.agents;
    return status;
}

int main_desk(const struct arguments *arguments)
{
    static struct desk only;
    struct desk *desk = &only;
    struct why why = {{0}};
    int exit_code = EXIT_CODE_INTERNAL;
    desk->signals = -1;
    enum status status = office_read_settings(&desk->office, arguments->config, &why);
    if (status == STATUS_OK) {
        status = daemon_start(&desk->daemon, &desk->office.settings.log,
                              desk->office.settings.memory_bytes_max, &why);
    }
    if (status == STATUS_OK) {
        (void)setpriority(PRIO_PROCESS, 0, NICE); /* a service's unit may forbid it */
        status = open_desk(desk, &why);
    }
    if (status == STATUS_OK) {
        status = stay(desk, &exit_code, &why);
        log_rate_flush(&desk->rate, INT64_MAX);
        log_rate_flush(&desk->looks, INT64_MAX);
    }
    endpoint_free(desk->endpoint);
    if (desk->signals >= 0) {
        (void)close(desk->signals);
    }
    exit_code = daemon_end(&desk->daemon, PROGRAM, exit_code, status, &why);
    queue_of(&desk->office)->close(&desk->office);
    office_free(&desk->office);
    return exit_code;
}
