/* A lane's machine is made, unmade when it has ended, and made anew. */

#include "io/clock.h"
#include "io/driver_private.h"

#include <poll.h>
#include <unistd.h>

enum { STOP_GRACE_MS = 2000, RESTART_DELAY_MS = 100, PUT_OFF_MS = 1000 };

static bool is_whole(const struct lane *lane)
{
    return !lane->finished && !lane->restarting && lane->status == STATUS_OK;
}

bool driver_runs(const struct driver *driver, const struct lane *lane)
{
    return lane->state == LANE_RUNS && is_whole(lane) && !driver->stopped;
}

bool driver_works(const struct lane *lane)
{
    return lane->worker != NULL && worker_is_busy(lane->worker);
}

static bool has_turn(const struct driver *driver)
{
    size_t busy = 0;
    for (size_t i = 0; i < driver->lane_count; i++) {
        busy += driver_works(&driver->lane[i]) ? 1 : 0;
    }
    return driver->options->work_at_once == 0 || busy < driver->options->work_at_once;
}

static bool anyone_waits(const struct driver *driver)
{
    bool waits = false;
    for (size_t i = 0; i < driver->lane_count; i++) {
        waits = waits || driver->lane[i].waiting != NULL;
    }
    return waits;
}

enum status driver_begin_work(struct driver *driver, struct lane *lane, void (*work)(void *self),
                              void *self)
{
    if (has_turn(driver) && !anyone_waits(driver)) {
        return worker_start(lane->worker, work, self);
    }
    lane->waiting = work;
    lane->waiting_self = self;
    lane->waiting_since = driver->waits++;
    return STATUS_OK;
}

/* The lane that has waited longest is next. Where no thread is to be had it goes on waiting. */
static void begin_waiting(struct driver *driver)
{
    struct lane *next = NULL;
    do {
        next = NULL;
        for (size_t i = 0; i < driver->lane_count && has_turn(driver); i++) {
            struct lane *lane = &driver->lane[i];
            if (lane->waiting != NULL &&
                (next == NULL || lane->waiting_since < next->waiting_since)) {
                next = lane;
            }
        }
        if (next != NULL &&
            worker_start(next->worker, next->waiting, next->waiting_self) != STATUS_OK) {
            return;
        }
        if (next != NULL) {
            next->waiting = NULL;
        }
    } while (next != NULL);
}

static bool still_works(const struct lane *lane)
{
    return driver_works(lane) && !worker_collect(lane->worker);
}

static int64_t grace_ends_ms(const struct driver *driver)
{
    const uint32_t grace = driver->options->stop_grace_ms;
    return clock_now_ms() + (grace == 0 ? STOP_GRACE_MS : grace);
}

static void stop_short(const struct driver *driver, const char *because)
{
    log_event(driver->options->log, LOG_INFO, "stopped", NULL,
              "%sstopped in the middle of a computation; it will be done again", because);
    _exit(driver->exit_code);
}

/* The first signal stops the loop. A second one says that its sender does not want to wait. */
void driver_take_signal_while_waiting(struct driver *driver, int64_t *until_ms)
{
    const int64_t asked_ms = *until_ms - (grace_ends_ms(driver) - clock_now_ms());
    if (!driver->stopped) {
        driver_take_signal(driver);
        *until_ms = grace_ends_ms(driver);
    } else {
        driver_take_signal(driver);
        if (clock_now_ms() - asked_ms >= STOP_AGAIN_MS) {
            stop_short(driver, "asked again, and ");
        }
    }
}

/* Without a stop it waits for as long as the work takes; *until_ms is then INT64_MAX. Work that outlasts a stop's grace cannot
 * be taken back from its thread; a crash is the way out that every part of the program is made for. What winds up a machine
 * that has finished is waited for, until a second signal: it is the last that is to be done for it. */
static void wait_for_work(struct driver *driver, const struct lane *lane, int64_t *until_ms)
{
    enum { LOOK_MS = 1000 };
    const bool ends = lane->state == LANE_ENDS;
    while (still_works(lane)) {
        const int64_t left = ends ? LOOK_MS : *until_ms - clock_now_ms();
        if (left <= 0) {
            stop_short(driver, "");
        }
        struct pollfd wait[] = {{.fd = worker_descriptor(lane->worker), .events = POLLIN},
                                {.fd = driver->signals, .events = POLLIN}};
        (void)poll(wait, 2, (int)(left < LOOK_MS ? left : LOOK_MS));
        if (wait[1].revents != 0) {
            driver_take_signal_while_waiting(driver, until_ms);
        }
    }
}

static void tell_of_winding_up(const struct driver *driver)
{
    size_t count = 0;
    for (size_t i = 0; i < driver->lane_count; i++) {
        count += driver->lane[i].state == LANE_ENDS && still_works(&driver->lane[i]) ? 1 : 0;
    }
    if (count > 0 && driver->stopped) {
        log_event(
            driver->options->log, LOG_INFO, "winding-up", NULL,
            "what is left to do for %zu that %s finished is done first: ask again to stop at once",
            count, count == 1 ? "has" : "have");
    }
}

static void rest(struct lane *lane, int64_t due_ms)
{
    lane->state = LANE_RESTS;
    lane->due_ms = due_ms;
}

/* A machine is gone, and the factory has said what follows: the one that takes its place, and others that now have room. */
enum status driver_went_on(struct driver *driver, struct lane *lane)
{
    const struct driver_factory *factory = driver->factory;
    const enum status status = lane->errand.status;
    const bool more = lane->errand.more;
    lane->state = LANE_EMPTY;
    if (driver->stopped) {
        return STATUS_OK;
    }
    if (lane->errand.why.text[0] != '\0') {
        driver->why = lane->errand.why;
    }
    lane->put_off = lane->put_off && more;
    if (status == STATUS_OK && more) {
        rest(lane, lane->put_off ? clock_now_ms() + PUT_OFF_MS : 0);
    }
    for (size_t i = 1; i < driver->lane_count && status == STATUS_OK; i++) {
        if (driver->lane[i].state == LANE_EMPTY && factory->wants(factory->lane[i])) {
            rest(&driver->lane[i], 0);
        }
    }
    return status;
}

/* A machine is gone: it has finished (STATUS_OK), or cannot go on. */
static enum status follow_on(struct driver *driver, struct lane *lane, enum status ended)
{
    lane->state = LANE_EMPTY;
    lane->failures = 0;
    if (driver->factory->next == NULL) {
        return ended;
    }
    driver_begin_next(driver, lane, ended);
    return lane->state == LANE_GOES_ON ? STATUS_OK : driver_went_on(driver, lane);
}

/* Recovery is the only way on from whatever has failed, unless it does not help. */
static enum status recover_later(struct driver *driver, struct lane *lane)
{
    const enum status status = lane->status;
    if (status == STATUS_OK) {
        lane->failures = 0;
        log_event(driver->options->log, LOG_INFO, "restarting", NULL,
                  "starting again from the journal, as the program asked");
        rest(lane, 0);
        return STATUS_OK;
    }
    lane->failures = lane->progressed ? 1 : lane->failures + 1;
    if (status == STATUS_CORRUPT || status == STATUS_FOREIGN ||
        lane->failures > DRIVER_RESTARTS_MAX) {
        return status;
    }
    log_event(driver->options->log, LOG_WARN, "restarting", NULL,
              "starting again from the journal (%s)", status_text(status));
    rest(lane, clock_now_ms() + ((int64_t)RESTART_DELAY_MS << lane->failures));
    return STATUS_OK;
}

/* A machine that has finished is gone. What is left to do for it is done beside the loop. */
static enum status wind_up(struct driver *driver, struct lane *lane)
{
    const struct driver_factory *factory = driver->factory;
    if (factory->wind_up == NULL) {
        return follow_on(driver, lane, STATUS_OK);
    }
    const enum status status =
        driver_begin_work(driver, lane, factory->wind_up, driver_self_of(driver, lane));
    if (status == STATUS_OK) {
        lane->state = LANE_ENDS;
        return STATUS_OK;
    }
    factory->wind_up(driver_self_of(driver, lane)); /* no thread is to be had */
    return follow_on(driver, lane, STATUS_OK);
}

/* Unmakes a machine that has ended. One whose thread is still computing or writing is unmade once that has ended, for it uses
 * the machine's memory; other lanes go on meanwhile. Fails with what ends the run. */
static enum status settle(struct driver *driver, struct lane *lane)
{
    if (lane->state == LANE_ENDS && lane->waiting == NULL && !still_works(lane)) {
        return follow_on(driver, lane, STATUS_OK);
    }
    if (lane->state != LANE_RUNS || is_whole(lane)) {
        return STATUS_OK;
    }
    if (lane->status != STATUS_OK) {
        driver_drop_writes(lane); /* they go with the machine */
    }
    if (driver_writes(lane) || driver_waits(lane)) {
        return STATUS_OK; /* what has finished is written first, and the others go on */
    }
    const bool finished = lane->finished && lane->status == STATUS_OK;
    if (finished) {
        int64_t until_ms = grace_ends_ms(driver);
        wait_for_work(driver, lane, &until_ms);
    } else if (still_works(lane)) {
        return STATUS_OK;
    }
    lane->waiting = NULL;    /* it goes with the machine */
    lane->errand.run = NULL; /* and so does a look that has not begun */
    driver->factory->unmake(driver_self_of(driver, lane), &lane->machine, &lane->journal);
    lane->state = LANE_EMPTY;
    if (driver->stopped) {
        return STATUS_OK;
    }
    if (finished) {
        return wind_up(driver, lane);
    }
    const enum status status = recover_later(driver, lane);
    return status == STATUS_OK ? status : follow_on(driver, lane, status);
}

/* A machine was made and has its journal's records, or was not. */
enum status driver_made(struct driver *driver, struct lane *lane)
{
    const struct errand *errand = &lane->errand;
    if (errand->why.text[0] != '\0') {
        driver->why = errand->why;
    }
    if (!errand->recovered && !driver->stopped) {
        const bool led = errand->status == STATUS_BUSY || errand->status == STATUS_AGAIN;
        if (!led || !lane->put_off) {
            log_event(driver->options->log, led ? LOG_INFO : LOG_ERROR,
                      led ? "start-put-off" : "start-failed", NULL, "%s", driver->why.text);
        }
        lane->put_off = led;
        return follow_on(driver, lane, errand->status);
    }
    lane->put_off = false;
    lane->state = errand->recovered ? LANE_RUNS : LANE_EMPTY;
    lane->status = errand->status;
    if (driver->stopped) {
        return STATUS_OK;
    }
    if (lane->status != STATUS_OK) {
        log_event(driver->options->log, LOG_ERROR, "recovery-failed", NULL, "%s", driver->why.text);
        return STATUS_OK;
    }
    lane->status = driver_give(driver, lane, (struct event){.kind = EVENT_START});
    if (driver_runs(driver, lane) && driver->options->roster_path != NULL) {
        lane->status = driver_give_roster(driver, lane);
    }
    if (driver_runs(driver, lane)) {
        lane->status = driver_follow_files(driver, lane, true);
    }
    return STATUS_OK;
}

static enum status make(struct driver *driver, struct lane *lane)
{
    lane->owed_count = 0;
    lane->progressed = lane->finished = lane->restarting = false;
    lane->status = STATUS_OK;
    lane->ticked_ms = -1;
    enum status status = lane->worker == NULL ? worker_new(&lane->worker) : STATUS_OK;
    if (status == STATUS_OK && lane->writer == NULL) {
        status = worker_new(&lane->writer);
    }
    if (status != STATUS_OK) {
        why_set(&driver->why, "no memory or descriptors for a thread");
        return follow_on(driver, lane, status);
    }
    driver_begin_make(driver, lane);
    return lane->state == LANE_OPENS ? STATUS_OK : driver_made(driver, lane);
}

/* Returns whether a lane has or awaits a machine. *status: of what ends the run. */
static bool settle_and_make(struct driver *driver, enum status *status)
{
    bool any = false;
    for (size_t i = 0; i < driver->lane_count && *status == STATUS_OK; i++) {
        *status = settle(driver, &driver->lane[i]);
    }
    if (!driver->stopped) {
        begin_waiting(driver);
    }
    for (size_t i = 0; i < driver->lane_count && *status == STATUS_OK && !driver->stopped; i++) {
        struct lane *lane = &driver->lane[i];
        if (lane->state == LANE_RESTS && lane->due_ms <= clock_now_ms()) {
            *status = make(driver, lane);
        }
        any = any || lane->state != LANE_EMPTY;
    }
    return any;
}

enum status driver_run_lanes(struct driver *driver)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < driver->lane_count; i++) {
        if (i == 0 || driver->factory->wants(driver->factory->lane[i])) {
            rest(&driver->lane[i], 0);
        }
    }
    while (settle_and_make(driver, &status) && status == STATUS_OK && !driver->stopped) {
        driver_begin_errands(driver);
        driver_turn(driver);
        status = driver_take_errands(driver);
    }
    int64_t until_ms = driver->stopped ? grace_ends_ms(driver) : INT64_MAX;
    tell_of_winding_up(driver);
    driver_refuse_threads(driver);
    for (size_t i = 0; i < driver->lane_count; i++) {
        struct lane *lane = &driver->lane[i];
        wait_for_work(driver, lane, &until_ms);
        driver_await_thread(driver, lane, &until_ms);
        if (lane->state == LANE_RUNS) {
            driver->factory->unmake(driver_self_of(driver, lane), &lane->machine, &lane->journal);
        }
    }
    return status;
}
