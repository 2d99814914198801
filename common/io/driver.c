#include "io/driver_private.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "io/clock.h"
#include "io/enrolment.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    CONTROL_ROOM = 256 * 1024,
    ROSTER_LOOK_MS = 200,
    MESSAGES_PER_TURN = 64,
    FAREWELL_TURNS = 10, /* of 20 ms each, for the last messages to leave */
    FILES_LOOK_MS = 200,
    SETTLE_MS = 1000,
    RATE_PERIOD_MS = 10000
};

/* Looks at the allow-list; a broken one leaves the present one in force. */
static enum status look_at_roster(struct driver *driver, bool *changed)
{
    struct why why = {""};

    driver->roster_due_ms = clock_now_ms() + ROSTER_LOOK_MS;
    enum status status = roster_watch_look(&driver->watch, &driver->roster, changed, &why);
    if (status != STATUS_OK) {
        why_set(&driver->why, "%s", why.text);
        log_event(driver->options->log, LOG_ERROR, "list-unreadable", NULL, "%s; %s", why.text,
                  driver->roster.count == 0 ? "nobody is admitted yet; remedy: `agents add`"
                                            : "the agents admitted so far stay admitted");
    } else if (*changed) {
        if (!endpoint_admit(driver->options->endpoint, &driver->roster)) {
            roster_watch_again(&driver->watch);
            return status;
        }
        log_event(driver->options->log, LOG_INFO, "list-read", NULL, "the allow-list has %zu key%s",
                  driver->roster.count, text_plural_s(driver->roster.count));
    }
    return status;
}

/* What fails is one lane's machine: it is thrown away at the end of the turn. */
static void give(struct driver *driver, struct lane *lane, struct event event)
{
    if (driver_runs(driver, lane)) {
        lane->status = driver_give(driver, lane, event);
    }
}

static void follow_roster(struct driver *driver)
{
    bool changed = false;
    if (driver->options->roster_path == NULL || clock_now_ms() < driver->roster_due_ms) {
        return;
    }
    (void)!look_at_roster(driver, &changed);
    for (size_t i = 0; i < driver->lane_count && changed; i++) {
        if (driver_runs(driver, &driver->lane[i])) {
            driver->lane[i].status = driver_give_roster(driver, &driver->lane[i]);
        }
    }
}

static void follow_files(struct driver *driver)
{
    if (driver->options->file_count == 0 || clock_now_ms() < driver->files_due_ms) {
        return;
    }
    for (size_t i = 0; i < driver->lane_count; i++) {
        if (driver_runs(driver, &driver->lane[i])) {
            driver->lane[i].status = driver_follow_files(driver, &driver->lane[i], false);
        }
    }
    driver->files_due_ms = clock_now_ms() + FILES_LOOK_MS;
}

/* Under a one-time token only ENROL is heard, and by the driver alone: the machine never learns of
 * it. */
static void enrol(struct driver *driver, const struct endpoint_message *from)
{
    const struct enrolment_list list = {driver->options->roster_path,
                                        driver->options->operators_path};
    if (enrolment_take(driver->options->endpoint, &driver->rate, driver->options->log, &list,
                       from)) {
        driver->roster_due_ms = 0; /* the new key is admitted in this very turn */
        follow_roster(driver);
    }
}

static struct lane *lane_of(struct driver *driver, const struct peer *peer)
{
    const struct driver_factory *factory = driver->factory;
    const size_t index = factory->lane_of == NULL ? 0 : factory->lane_of(factory->self, peer);
    CHECK(index < driver->lane_count);
    return &driver->lane[index];
}

/* What comes for a lane without a machine is dropped: every message is repeatable. */
static void take_messages(struct driver *driver)
{
    struct endpoint_message message;

    for (int i = 0; i < MESSAGES_PER_TURN && !driver->stopped; i++) {
        if (endpoint_receive(driver->options->endpoint, &message) != STATUS_OK) {
            break;
        }
        if (message.token) {
            enrol(driver, &message);
            continue;
        }
        if (driver->options->counts != NULL) {
            driver->options->counts->messages_in++;
            driver->options->counts->heard_ms = clock_now_ms();
            driver->options->counts->bytes_in += message.control.size + message.payload.size;
        }
        give(driver, lane_of(driver, &message.peer),
             (struct event){.kind = EVENT_MESSAGE,
                            .as.message = {.peer = message.peer,
                                           .control = message.control,
                                           .payload = message.payload}});
    }
}

void driver_take_signal(struct driver *driver)
{
    struct signalfd_siginfo info;
    if (read(driver->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        log_event(driver->options->log, LOG_INFO, "stopping", NULL, "asked to stop");
        driver->stopped = true;
        driver->exit_code = info.ssi_signo == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK;
    }
}

/* The machine hears which peers the transport has cut for an attack, and does not wait for them. */
static void take_cuts(struct driver *driver)
{
    struct event event = {.kind = EVENT_CUT};
    while (!driver->stopped &&
           endpoint_next_cut(driver->options->endpoint, &event.as.cut.peer) == STATUS_OK) {
        give(driver, lane_of(driver, &event.as.cut.peer), event);
    }
}

/* A large message on a slow link takes longer than silence is borne: its bytes are a sign of life. */
static void look_at_link(struct driver *driver)
{
    struct event event = {.kind = EVENT_LINK};
    if (!driver->stopped && endpoint_next_link(driver->options->endpoint, &event.as.link.anew)) {
        give(driver, &driver->lane[0], event);
    }
}

static void tick(struct driver *driver, struct lane *lane)
{
    const int64_t now_ms = clock_now_ms();
    if (driver_runs(driver, lane) && lane->ticked_ms != now_ms &&
        lane->machine.wake_ms(lane->machine.self) <= now_ms) {
        lane->ticked_ms = now_ms;
        give(driver, lane, (struct event){.kind = EVENT_TICK});
    }
}

/* What a round's end has dropped goes with the next record. Where none comes soon it goes without. */
static void settle_journal(struct driver *driver, struct lane *lane)
{
    const struct effect forgets = {.kind = EFFECT_FORGET};
    const int64_t now_ms = clock_now_ms();
    if (driver_runs(driver, lane) && !driver_works(lane) && lane->journal.settle != NULL &&
        now_ms >= lane->settle_ms) {
        lane->settle_ms = now_ms + SETTLE_MS;
        const enum status status = lane->journal.settle(lane->journal.self);
        lane->status =
            status == STATUS_OK ? STATUS_OK : driver_note_written(driver, lane, &forgets, status);
    }
}

/* No machine can go on. */
static void fail_all(struct driver *driver, enum status status)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        if (driver_runs(driver, &driver->lane[i])) {
            driver->lane[i].status = status;
        }
    }
}

/* settle hears of a lane whose machine takes no events any more. */
static void take_work(struct driver *driver)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        struct lane *lane = &driver->lane[i];
        if (driver_runs(driver, lane) && worker_collect(lane->worker)) {
            give(driver, lane, (struct event){.kind = EVENT_WORKED});
        }
    }
}

void driver_turn(struct driver *driver)
{
    driver_begin_writes(driver);
    enum status status = driver_wait(driver);
    if (status == STATUS_OK && driver->options->lost != NULL &&
        driver->options->lost(driver->options->lost_self)) {
        status = why_fail(&driver->why, STATUS_BUSY, "another program goes on with the journal");
    }
    if (status != STATUS_OK) {
        fail_all(driver, status);
        driver_take_writes(driver); /* machines are not unmade while a record is on its way */
        (void)poll(NULL, 0, 1);
        return;
    }
    take_work(driver);
    driver_take_writes(driver);
    look_at_link(driver); /* a new connection comes before what it carries */
    take_messages(driver);
    take_cuts(driver);
    follow_roster(driver);
    follow_files(driver);
    driver_look_at_sources(driver);
    for (size_t i = 0; i < driver->lane_count; i++) {
        tick(driver, &driver->lane[i]);
        settle_journal(driver, &driver->lane[i]);
    }
}

static enum status open_signals(struct driver *driver, sigset_t *before)
{
    sigset_t wanted;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, SIGINT);
    if (pthread_sigmask(SIG_BLOCK, &wanted, before) != 0) {
        return STATUS_IO;
    }
    driver->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (driver->signals < 0) {
        (void)pthread_sigmask(SIG_SETMASK, before, NULL);
        return STATUS_IO;
    }
    return STATUS_OK;
}

static enum status first_roster(struct driver *driver)
{
    bool changed = false;
    if (driver->options->roster_path == NULL) {
        return STATUS_OK;
    }
    driver->watch.path = driver->options->roster_path;
    enum status status = look_at_roster(driver, &changed);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* nobody is admitted yet */
}

static void let_last_messages_leave(struct driver *driver)
{
    for (int i = 0; i < FAREWELL_TURNS; i++) {
        if (endpoint_poll(driver->options->endpoint, NULL, 0, 0) != STATUS_OK) {
            return;
        }
        (void)poll(NULL, 0, 20);
    }
}

enum status driver_run(const struct driver_options *options, const struct driver_factory *factory,
                       int *exit_code, struct why *why)
{
    sigset_t before;

    *exit_code = 0;
    struct driver *driver = calloc(1, sizeof *driver);
    if (driver == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the driver");
    }
    driver->options = options;
    driver->factory = factory;
    driver->lane_count = factory->lane == NULL ? 1 : factory->lane_count;
    driver->signals = -1;
    log_rate_init(&driver->rate, options->log, RATE_PERIOD_MS);
    why_set(&driver->why, "no memory or descriptors for the driver");
    enum status status = options->no_signals ? STATUS_OK : open_signals(driver, &before);
    if (status == STATUS_OK) {
        status = effects_init(&driver->effects,
                              options->control_bytes == 0 ? CONTROL_ROOM : options->control_bytes);
    }
    if (status == STATUS_OK) {
        status = first_roster(driver);
    }
    if (status == STATUS_OK) {
        status = driver_run_lanes(driver);
    }
    if (status == STATUS_OK) {
        *exit_code = driver->exit_code;
        let_last_messages_leave(driver);
    } else {
        why_set(why, "%s", driver->why.text);
    }
    for (size_t i = 0; i < driver->lane_count; i++) {
        worker_free(driver->lane[i].worker);
        worker_free(driver->lane[i].writer);
    }
    effects_free(&driver->effects);
    if (driver->signals >= 0) {
        (void)close(driver->signals);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    free(driver);
    return status;
}
