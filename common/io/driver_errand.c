/* What waits for a server and is no write: a machine is made and reads its journal, what follows a machine is decided, and a
 * source is looked at. Each runs on its lane's second thread, on which the lane's writes are performed too, while the loop goes
 * on. So a lane does one of these at a time, and they may share its journal's connection. What touches the machine, or another
 * lane, is done on the loop's thread: the errand asks for it and waits (worker_on_owner). */

#include "io/driver_private.h"

#include "io/clock.h"

#include <poll.h>

enum { LOOK_MS = 1000 };

void *driver_self_of(const struct driver *driver, const struct lane *lane)
{
    const struct driver_factory *factory = driver->factory;
    return factory->lane == NULL ? factory->self : factory->lane[lane - driver->lane];
}

bool driver_waits(const struct lane *lane)
{
    return lane->writer != NULL && worker_is_busy(lane->writer);
}

static void send(struct driver *driver, struct lane *lane, void (*run)(void *self))
{
    lane->errand.run = run;
    lane->errand.driver = driver;
    lane->errand.lane = lane;
    lane->errand.begun = false;
}

static void make(void *self)
{
    struct errand *errand = self;
    struct lane *lane = errand->lane;
    const struct driver_factory *factory = errand->driver->factory;
    errand->status = factory->make(driver_self_of(errand->driver, lane), &lane->machine,
                                   &lane->journal, &errand->why);
    errand->recovered = errand->status == STATUS_OK;
    if (errand->recovered) {
        errand->status = driver_replay(errand->driver, lane, &errand->why);
    }
}

static void decide(void *self)
{
    struct errand *errand = self;
    errand->status = errand->driver->factory->next(driver_self_of(errand->driver, errand->lane),
                                                   errand->ended, &errand->more, &errand->why);
}

struct heard {
    const struct errand *errand;
    const struct event *event;
    enum status status;
};

/* A machine that fails is given nothing more, although its source may be looked at for long yet. */
static void give(void *self)
{
    struct heard *heard = self;
    struct driver *driver = heard->errand->driver;
    struct lane *lane = heard->errand->lane;
    heard->status = STATUS_OK;
    if (driver_runs(driver, lane)) {
        lane->status = heard->status = driver_give(driver, lane, *heard->event);
    }
}

static enum status hear(void *self, const struct event *event)
{
    struct heard heard = {.errand = self, .event = event};
    return worker_on_owner(give, &heard) ? heard.status : STATUS_BUSY;
}

static void look(void *self)
{
    struct errand *errand = self;
    const struct driver_source *source = errand->driver->options->source[errand->source];
    errand->status = source->look(source->self, hear, errand, &errand->why);
}

void driver_begin_make(struct driver *driver, struct lane *lane)
{
    lane->errand = (struct errand){.status = STATUS_OK};
    send(driver, lane, make);
    if (driver->factory->waits) {
        lane->state = LANE_OPENS;
    } else {
        make(&lane->errand);
        lane->errand.run = NULL;
    }
}

/* What why says of the machine that is gone is for the deciding code. */
void driver_begin_next(struct driver *driver, struct lane *lane, enum status ended)
{
    lane->errand = (struct errand){.ended = ended, .why = driver->why};
    send(driver, lane, decide);
    if (driver->factory->waits) {
        lane->state = LANE_GOES_ON;
    } else {
        decide(&lane->errand);
        lane->errand.run = NULL;
    }
}

void driver_begin_look(struct driver *driver, struct lane *lane, size_t index)
{
    lane->errand = (struct errand){.source = index, .began_ms = clock_now_ms()};
    send(driver, lane, look);
}

void driver_begin_errands(struct driver *driver)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        struct lane *lane = &driver->lane[i];
        if (lane->errand.run != NULL && !lane->errand.begun && !driver_waits(lane)) {
            lane->errand.begun =
                worker_start(lane->writer, lane->errand.run, &lane->errand) == STATUS_OK;
        }
    }
}

/* Returns what ends the run. */
static enum status take(struct driver *driver, struct lane *lane)
{
    void (*run)(void *self) = lane->errand.run;
    lane->errand.run = NULL;
    if (run == look) {
        driver_looked(driver, lane);
        return STATUS_OK;
    }
    return run == make ? driver_made(driver, lane) : driver_went_on(driver, lane);
}

enum status driver_take_errands(struct driver *driver)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < driver->lane_count && status == STATUS_OK; i++) {
        struct lane *lane = &driver->lane[i];
        if (lane->errand.run != NULL && lane->errand.begun) {
            worker_serve(lane->writer);
            status = worker_collect(lane->writer) ? take(driver, lane) : STATUS_OK;
        }
    }
    return status;
}

/* The machine that an errand has made, if it made one, is unmade then. */
static void end_errand(struct lane *lane)
{
    if (lane->errand.run == make && lane->errand.begun) {
        lane->state = lane->errand.recovered ? LANE_RUNS : LANE_EMPTY;
    } else if (lane->errand.run == make || lane->errand.run == decide) {
        lane->state = LANE_EMPTY;
    }
    lane->errand.run = NULL;
}

void driver_refuse_threads(struct driver *driver)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        if (driver_waits(&driver->lane[i])) {
            worker_refuse(driver->lane[i].writer);
        }
    }
}

void driver_await_thread(struct driver *driver, struct lane *lane, int64_t *until_ms)
{
    while (driver_waits(lane) && !worker_collect(lane->writer)) {
        struct pollfd wait[] = {{.fd = worker_descriptor(lane->writer), .events = POLLIN},
                                {.fd = driver->signals, .events = POLLIN}};
        (void)poll(wait, 2, LOOK_MS);
        if (wait[1].revents != 0) {
            driver_take_signal_while_waiting(driver, until_ms);
        }
    }
    end_errand(lane);
    driver_drop_writes(lane);
}

/* Where else a machine's events come from: those who serve the same job, each lane's own (struct driver_source). */

/* Put off while the lane's second thread is busy: it is the one that looks. */
static bool is_asked(const struct driver *driver, size_t index)
{
    const struct lane *lane = &driver->lane[driver->options->source[index]->lane];
    return driver_runs(driver, lane) && lane->errand.run == NULL && !driver_waits(lane);
}

/* A server that is slow is asked less often. */
void driver_looked(struct driver *driver, struct lane *lane)
{
    const struct errand *errand = &lane->errand;
    const int64_t every_ms = driver->options->source[errand->source]->every_ms;
    const int64_t now_ms = clock_now_ms();
    const int64_t took_ms = now_ms - errand->began_ms;
    driver->source_due_ms[errand->source] = now_ms + (took_ms > every_ms ? took_ms : every_ms);
    if (!driver_runs(driver, lane)) {
        return;
    }
    lane->status = errand->status;
    lane->progressed = lane->progressed || lane->status == STATUS_OK;
    if (lane->status != STATUS_OK && errand->why.text[0] != '\0') {
        why_set(&driver->why, "%s", errand->why.text);
        log_event(driver->options->log, LOG_WARN, "source-failed", NULL, "%s", errand->why.text);
    }
}

void driver_look_at_sources(struct driver *driver)
{
    for (size_t i = 0; i < driver->options->source_count; i++) {
        if (is_asked(driver, i) && clock_now_ms() >= driver->source_due_ms[i]) {
            driver_begin_look(driver, &driver->lane[driver->options->source[i]->lane], i);
        }
    }
}

int64_t driver_sources_due_ms(const struct driver *driver)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < driver->options->source_count; i++) {
        if (is_asked(driver, i) && driver->source_due_ms[i] < due_ms) {
            due_ms = driver->source_due_ms[i];
        }
    }
    return due_ms;
}
