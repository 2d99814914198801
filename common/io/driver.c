#include "io/driver_private.h"

#include "base/exit_code.h"
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
    STOP_GRACE_MS = 2000,
    ROSTER_LOOK_MS = 200,
    MESSAGES_PER_TURN = 64,
    RESTART_DELAY_MS = 100,
    FAREWELL_TURNS = 10, /* of 20 ms each, for the last messages to leave */
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
        endpoint_admit(driver->options->endpoint, &driver->roster);
        log_event(driver->options->log, LOG_INFO, "list-read", NULL, "the allow-list has %zu keys",
                  driver->roster.count);
    }
    return status;
}

static enum status follow_roster(struct driver *driver)
{
    bool changed = false;
    if (driver->options->roster_path == NULL || clock_now_ms() < driver->roster_due_ms) {
        return STATUS_OK;
    }
    (void)!look_at_roster(driver, &changed);
    return changed ? driver_give_roster(driver) : STATUS_OK;
}

/* Under a one-time token only ENROL is heard, and by the driver alone: the machine never learns of
 * it. */
static enum status enrol(struct driver *driver, const struct endpoint_message *from)
{
    if (!enrolment_take(driver->options->endpoint, &driver->rate, driver->options->log,
                        driver->options->roster_path, from)) {
        return STATUS_OK;
    }
    driver->roster_due_ms = 0; /* the new key is admitted in this very turn */
    return follow_roster(driver);
}

static enum status take_messages(struct driver *driver)
{
    struct endpoint_message message;
    enum status status = STATUS_OK;

    for (int i = 0; i < MESSAGES_PER_TURN && status == STATUS_OK && !driver->finished; i++) {
        if (endpoint_receive(driver->options->endpoint, &message) != STATUS_OK) {
            break;
        }
        if (message.token) {
            status = enrol(driver, &message);
            continue;
        }
        if (driver->options->counts != NULL) {
            driver->options->counts->messages_in++;
            driver->options->counts->heard_ms = clock_now_ms();
            driver->options->counts->bytes_in += message.control.size + message.payload.size;
        }
        status = driver_give(driver, (struct event){.kind = EVENT_MESSAGE,
                                                    .as.message = {.peer = message.peer,
                                                                   .control = message.control,
                                                                   .payload = message.payload}});
    }
    return status;
}

/* How long nothing is due. A tick that leaves its own time in the past waits a millisecond. */
static int idle_ms(const struct driver *driver)
{
    int64_t now_ms = clock_now_ms();
    int64_t wake_ms = driver->machine.wake_ms(driver->machine.self);
    int64_t idle = 1000;

    if (wake_ms <= now_ms) {
        idle = wake_ms <= driver->ticked_ms && now_ms <= driver->ticked_ms ? 1 : 0;
    } else if (wake_ms - now_ms < idle) {
        idle = wake_ms - now_ms;
    }
    if (driver->options->roster_path != NULL && driver->roster_due_ms - now_ms < idle) {
        idle = driver->roster_due_ms - now_ms;
    }
    if (driver->options->file_count > 0 && driver->files_due_ms - now_ms < idle) {
        idle = driver->files_due_ms - now_ms;
    }
    return idle < 0 ? 0 : (int)idle;
}

static void take_signal(struct driver *driver)
{
    struct signalfd_siginfo info;
    if (read(driver->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        log_event(driver->options->log, LOG_INFO, "stopping", NULL, "asked to stop");
        driver->finished = true;
        driver->stopped = true;
        driver->exit_code = info.ssi_signo == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK;
    }
}

/* Adds the guest's descriptor to those that are waited for; returns how long nothing is due, for the guest either. */
static int await_guest(const struct driver *driver, struct pollfd *other, size_t *count,
                       int timeout_ms)
{
    const struct driver_guest *guest = driver->options->guest;
    if (guest == NULL) {
        return timeout_ms;
    }
    const int64_t now_ms = clock_now_ms();
    const int descriptor = guest->descriptor(guest->self, now_ms);
    if (descriptor >= 0) {
        other[(*count)++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    }
    const int64_t due_ms = guest->due_ms(guest->self, now_ms);
    if (due_ms - now_ms >= timeout_ms) {
        return timeout_ms;
    }
    return due_ms <= now_ms ? 0 : (int)(due_ms - now_ms);
}

static enum status wait_turn(struct driver *driver, int timeout_ms)
{
    struct pollfd other[3] = {{.fd = worker_descriptor(driver->worker), .events = POLLIN},
                              {.fd = driver->signals, .events = POLLIN}};
    const bool signals = driver->signals >= 0;
    size_t count = signals ? 2 : 1;

    const int wait_ms = await_guest(driver, other, &count, timeout_ms);
    enum status status = endpoint_poll(driver->options->endpoint, other, count, wait_ms);
    if (status == STATUS_OK && signals && other[1].revents != 0) {
        take_signal(driver);
    }
    if (driver->options->guest != NULL) {
        driver->options->guest->run(driver->options->guest->self, clock_now_ms());
    }
    return status;
}

/* The machine hears whom the transport has cut for an attack: it does not wait for such. */
static enum status take_cuts(struct driver *driver)
{
    struct event event = {.kind = EVENT_CUT};
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !driver->finished &&
           endpoint_next_cut(driver->options->endpoint, &event.as.cut.peer) == STATUS_OK) {
        status = driver_give(driver, event);
    }
    return status;
}

static enum status turn(struct driver *driver)
{
    enum status status = wait_turn(driver, idle_ms(driver));
    if (status == STATUS_OK && !driver->finished && worker_collect(driver->worker)) {
        status = driver_give(driver, (struct event){.kind = EVENT_WORKED});
    }
    if (status == STATUS_OK && !driver->finished) {
        status = take_messages(driver);
    }
    if (status == STATUS_OK && !driver->finished) {
        status = take_cuts(driver);
    }
    if (status == STATUS_OK && !driver->finished) {
        status = follow_roster(driver);
    }
    if (status == STATUS_OK && !driver->finished) {
        status = driver_follow_files(driver, false);
    }
    int64_t now_ms = clock_now_ms();
    if (status == STATUS_OK && !driver->finished && driver->ticked_ms != now_ms &&
        driver->machine.wake_ms(driver->machine.self) <= now_ms) {
        driver->ticked_ms = now_ms;
        status = driver_give(driver, (struct event){.kind = EVENT_TICK});
    }
    return status;
}

static enum status run_machine(struct driver *driver)
{
    enum status status = driver_recover(driver);
    if (status == STATUS_OK && driver->options->roster_path != NULL) {
        status = driver_give_roster(driver);
    }
    if (status == STATUS_OK) {
        status = driver_follow_files(driver, true);
    }
    while (status == STATUS_OK && !driver->finished && !driver->restarting) {
        status = turn(driver);
    }
    return status;
}

/* Work that outlasts the grace cannot be taken back from its thread; a crash is the way out that
 * every part of the program is made for. */
static void wait_for_work(struct driver *driver)
{
    uint32_t grace = driver->options->stop_grace_ms;
    int64_t until_ms = clock_now_ms() + (grace == 0 ? STOP_GRACE_MS : grace);

    while (worker_is_busy(driver->worker) && !worker_collect(driver->worker)) {
        int64_t left = until_ms - clock_now_ms();
        if (left <= 0) {
            log_event(driver->options->log, LOG_INFO, "stopped", NULL,
                      "stopped in the middle of a computation; it will be done again");
            _exit(driver->exit_code);
        }
        struct pollfd done = {.fd = worker_descriptor(driver->worker), .events = POLLIN};
        (void)poll(&done, 1, (int)left);
    }
}

static void pause_before_restart(struct driver *driver, unsigned failures)
{
    int64_t until_ms = clock_now_ms() + ((int64_t)RESTART_DELAY_MS << failures);
    while (!driver->finished && clock_now_ms() < until_ms) {
        if (wait_turn(driver, (int)(until_ms - clock_now_ms())) != STATUS_OK) {
            return;
        }
        /* Messages that came meanwhile are dropped: there is nobody to read them. */
        struct endpoint_message dropped;
        while (endpoint_receive(driver->options->endpoint, &dropped) == STATUS_OK) {
        }
    }
}

/* Asks the factory for the machine that takes the place of one that has finished. */
static enum status follow_on(struct driver *driver, const struct driver_factory *factory)
{
    bool more = false;
    if (driver->stopped || factory->next == NULL) {
        return STATUS_OK;
    }
    enum status status = factory->next(factory->self, driver->exit_code, &more, &driver->why);
    driver->finished = status != STATUS_OK || !more;
    return status;
}

/* Makes machines until the last one finishes, or until making them anew does not help. */
static enum status run_and_restart(struct driver *driver, const struct driver_factory *factory)
{
    enum status status = STATUS_OK;
    unsigned failures = 0;

    while (!driver->finished) {
        driver->owed_count = 0;
        driver->progressed = false;
        driver->restarting = false;
        status = factory->make(factory->self, &driver->machine, &driver->journal, &driver->why);
        if (status != STATUS_OK) {
            log_event(driver->options->log, LOG_ERROR, "start-failed", NULL, "%s",
                      driver->why.text);
            return status;
        }
        status = run_machine(driver);
        if (driver->finished && status == STATUS_OK) {
            wait_for_work(driver);
        } else {
            /* A thread that is still computing would go on writing into freed memory. */
            worker_free(driver->worker);
            driver->worker = NULL;
        }
        factory->unmake(factory->self, &driver->machine, &driver->journal);
        if (driver->finished && status == STATUS_OK) {
            failures = 0;
            status = follow_on(driver, factory);
            if (status != STATUS_OK) {
                return status;
            }
            continue;
        }
        if (driver->restarting && status == STATUS_OK) {
            failures = 0;
            log_event(driver->options->log, LOG_INFO, "restarting", NULL,
                      "starting again from the journal, as the program asked");
            if (worker_new(&driver->worker) != STATUS_OK) {
                return STATUS_NO_MEMORY;
            }
            continue;
        }
        failures = driver->progressed ? 1 : failures + 1;
        if (status == STATUS_CORRUPT || status == STATUS_FOREIGN ||
            failures > DRIVER_RESTARTS_MAX || worker_new(&driver->worker) != STATUS_OK) {
            return status;
        }
        driver->finished = false;
        log_event(driver->options->log, LOG_WARN, "restarting", NULL,
                  "starting again from the journal (%s)", status_text(status));
        pause_before_restart(driver, failures);
    }
    return STATUS_OK;
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
    struct pollfd none = {.fd = worker_descriptor(driver->worker), .events = POLLIN};
    for (int i = 0; i < FAREWELL_TURNS; i++) {
        if (endpoint_poll(driver->options->endpoint, &none, 0, 0) != STATUS_OK) {
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
        why_set(why, "no memory for the driver");
        return STATUS_NO_MEMORY;
    }
    driver->options = options;
    driver->signals = -1;
    driver->ticked_ms = -1;
    log_rate_init(&driver->rate, options->log, RATE_PERIOD_MS);
    why_set(&driver->why, "no memory or descriptors for the driver");
    enum status status = options->no_signals ? STATUS_OK : open_signals(driver, &before);
    if (status == STATUS_OK) {
        status = worker_new(&driver->worker);
    }
    if (status == STATUS_OK) {
        status = effects_init(&driver->effects,
                              options->control_bytes == 0 ? CONTROL_ROOM : options->control_bytes);
    }
    if (status == STATUS_OK) {
        status = first_roster(driver);
    }
    if (status == STATUS_OK) {
        status = run_and_restart(driver, factory);
    }
    if (status == STATUS_OK) {
        *exit_code = driver->exit_code;
        let_last_messages_leave(driver);
    } else {
        why_set(why, "%s", driver->why.text);
    }
    worker_free(driver->worker);
    effects_free(&driver->effects);
    if (driver->signals >= 0) {
        (void)close(driver->signals);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    free(driver);
    return status;
}
