#include "io/enrolment.h"

#include "base/exit_code.h"
#include "io/clock.h"
#include "protocol/wire.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    LOOK_MS = 200,
    FAREWELL_MS_MAX = 3000, /* for the last site to see that it is let in under its own key */
    RATE_PERIOD_MS = 10000
};

static const char *name_under_token(const struct endpoint_message *from)
{
    return from->peer.name + strlen("token:");
}

bool enrolment_spend(struct log_rate *rate, const struct log *log,
                     const struct enrolment_list *list, const struct endpoint_message *from,
                     const struct digest *key, const struct digest *signing_key)
{
    struct why why = {""};
    enum status status = roster_refuse_other(list->other != NULL ? list->other : "", key, &why);
    if (status == STATUS_OK) {
        status =
            roster_enrol(list->path, &from->key, key, signing_key, clock_wall_ms() / 1000, &why);
    }
    if (status != STATUS_OK) {
        log_rate_event(rate, clock_now_ms(), LOG_WARN, "enrolment-refused", from->peer.name,
                       why.text);
        return false;
    }
    log_event(log, LOG_INFO, "enrolled", name_under_token(from),
              "its own key has taken the place of the one-time token");
    return true;
}

bool enrolment_take(struct endpoint *endpoint, struct log_rate *rate, const struct log *log,
                    const struct enrolment_list *list, const struct endpoint_message *from)
{
    struct message message;
    struct message answer = {.kind = MESSAGE_ENROLLED};
    uint8_t control[CONTROL_BYTES_MAX];
    const char *name = name_under_token(from);

    if (list->path == NULL || wire_decode(&message, from->control, from->payload) != STATUS_OK ||
        message.kind != MESSAGE_ENROL) {
        log_rate_event(rate, clock_now_ms(), LOG_WARN, "token-misused", from->peer.name,
                       "a one-time token admits an enrolment and nothing else: dropped");
        return false;
    }
    if (!enrolment_spend(rate, log, list, from, &message.as.enrol.public_key,
                         &message.as.enrol.signing_key)) {
        return false;
    }
    memcpy(answer.as.enrolled.name, name, strlen(name) + 1);
    size_t size = wire_encode(control, &answer);
    (void)!endpoint_send(endpoint, &from->peer, (struct slice){control, size},
                         (struct slice){NULL, 0});
    return true;
}

struct enrolling {
    const struct enrolment_options *options;
    struct log_rate rate;
    struct roster_watch watch;
    struct roster roster;
    struct enrolment_wait wait;
    int64_t look_ms;
    int signals;
};

/* Looks at the list; a look at one that is as it was costs no more than reading it. */
static enum status look(struct enrolling *run, struct why *why)
{
    bool changed = false;
    enum status status = roster_watch_look(&run->watch, &run->roster, &changed, why);
    run->look_ms = clock_now_ms() + LOOK_MS;
    if (status == STATUS_OK && changed && !endpoint_admit(run->options->endpoint, &run->roster)) {
        roster_watch_again(&run->watch);
    }
    const int64_t now_s = clock_wall_ms() / 1000;
    if (changed || enrolment_wait_is_due(&run->wait, now_s)) {
        enrolment_wait_account(&run->wait, &run->roster, now_s, run->options->notify,
                               run->options->self);
    }
    return status;
}

/* Returns the number of the signal that came, 0 for none. */
static uint32_t poll_once(struct enrolling *run, enum status *status)
{
    struct pollfd other = {.fd = run->signals, .events = POLLIN};
    struct signalfd_siginfo info;

    *status = endpoint_poll(run->options->endpoint, &other, 1, LOOK_MS);
    if (*status == STATUS_OK && other.revents != 0 &&
        read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        return info.ssi_signo;
    }
    return 0;
}

static void send_to(struct enrolling *run, const struct peer *site, const struct message *message)
{
    uint8_t control[CONTROL_BYTES_MAX];
    size_t size = wire_encode(control, message);
    (void)!endpoint_send(run->options->endpoint, site, (struct slice){control, size},
                         (struct slice){NULL, 0});
}

/* A site that has enrolled asks under its own key whether it is let in. There is no job to tell of. */
static void answer_site(struct enrolling *run, const struct endpoint_message *from)
{
    struct message message;
    struct message answer = {.kind = MESSAGE_ENROLLED};

    if (wire_decode(&message, from->control, from->payload) != STATUS_OK) {
        return;
    }
    if (message.kind == MESSAGE_HELLO) {
        memcpy(answer.as.enrolled.name, from->peer.name, sizeof answer.as.enrolled.name);
        send_to(run, &from->peer, &answer);
    }
    answer = (struct message){.kind = MESSAGE_SHOW};
    if (run->options->hear != NULL &&
        run->options->hear(run->options->self, &from->peer, &message, from->payload, &answer)) {
        send_to(run, &from->peer, &answer);
    }
}

static void take_messages(struct enrolling *run)
{
    struct endpoint_message message;
    while (endpoint_receive(run->options->endpoint, &message) == STATUS_OK) {
        if (!message.token) {
            answer_site(run, &message);
        } else if (enrolment_take(run->options->endpoint, &run->rate, run->options->log,
                                  &run->options->list, &message)) {
            run->look_ms = 0;
        }
    }
}

static enum status stay(struct enrolling *run, int *exit_code, struct why *why)
{
    enum status status = STATUS_OK;
    int64_t leave_ms = INT64_MAX;

    while (status == STATUS_OK && clock_now_ms() < leave_ms) {
        uint32_t signal = poll_once(run, &status);
        if (signal != 0) {
            *exit_code = signal == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK;
            return STATUS_OK;
        }
        if (status == STATUS_OK) {
            take_messages(run);
        }
        if (status == STATUS_OK && clock_now_ms() >= run->look_ms) {
            (void)!look(run, why); /* a broken list leaves the present one in force */
            leave_ms = run->wait.told.count > 0 ? INT64_MAX
                       : leave_ms == INT64_MAX  ? clock_now_ms() + FAREWELL_MS_MAX
                                                : leave_ms;
        }
    }
    return status;
}

enum status enrolment_run(const struct enrolment_options *options, int *exit_code, struct why *why)
{
    sigset_t wanted;
    sigset_t before;
    struct enrolling *run = calloc(1, sizeof *run);

    *exit_code = EXIT_CODE_OK;
    if (run == NULL) {
        return STATUS_NO_MEMORY;
    }
    run->options = options;
    run->watch.path = options->list.path;
    log_rate_init(&run->rate, options->log, RATE_PERIOD_MS);
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &wanted, &before);
    run->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    enum status status = run->signals < 0 ? STATUS_IO : look(run, why);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && run->wait.told.count == 0)) {
        status = why_fail(
            why, STATUS_NOT_FOUND,
            "no one-time token waits on %s; remedy: agents add NAME --token FILE, then this "
            "command",
            options->list.path);
    }
    if (status == STATUS_OK) {
        options->begin(options->self);
        status = stay(run, exit_code, why);
    }
    if (run->signals >= 0) {
        (void)close(run->signals);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    log_rate_flush(&run->rate, INT64_MAX);
    free(run);
    return status;
}

/* By name; of one name the own keys come before the tokens. */
static int by_name(const void *a, const void *b)
{
    const struct roster_entry *left = a;
    const struct roster_entry *right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->token_until_s != 0) - (right->token_until_s != 0);
}

static int by_name_then_key(const void *a, const void *b)
{
    const int order = by_name(a, b);
    return order != 0 ? order
                      : memcmp(((const struct roster_entry *)a)->key.byte,
                               ((const struct roster_entry *)b)->key.byte, KEY_BYTES);
}

static const struct roster_entry *find(const struct roster *roster, const struct roster_entry *what,
                                       int (*compare)(const void *, const void *))
{
    return bsearch(what, roster->entry, roster->count, sizeof *roster->entry, compare);
}

static bool waits(const struct roster_entry *entry, int64_t now_s)
{
    return entry != NULL && entry->token_until_s > now_s;
}

static bool has_own_key(const struct roster *roster, const struct roster_entry *token)
{
    struct roster_entry own = *token;
    own.token_until_s = 0;
    return find(roster, &own, by_name) != NULL;
}

bool enrolment_wait_is_due(const struct enrolment_wait *wait, int64_t now_s)
{
    return now_s >= wait->first_until_s;
}

void enrolment_wait_account(struct enrolment_wait *wait, struct roster *roster, int64_t now_s,
                            void (*notify)(void *self, const char *name, bool enrolled), void *self)
{
    qsort(roster->entry, roster->count, sizeof *roster->entry, by_name_then_key);
    for (size_t i = 0; i < wait->told.count; i++) {
        const struct roster_entry *token = &wait->told.entry[i];
        if (!waits(find(roster, token, by_name_then_key), now_s)) {
            notify(self, token->name, has_own_key(roster, token));
        }
    }
    wait->told.count = 0;
    wait->first_until_s = INT64_MAX;
    for (size_t i = 0; i < roster->count; i++) {
        const struct roster_entry *entry = &roster->entry[i];
        if (waits(entry, now_s)) {
            wait->told.entry[wait->told.count++] = *entry;
            wait->first_until_s = entry->token_until_s < wait->first_until_s ? entry->token_until_s
                                                                             : wait->first_until_s;
        }
    }
}
