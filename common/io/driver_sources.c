/* Where else a machine's events come from: those who serve the same job, each lane's own (struct driver_source). */

#include "io/driver_private.h"

#include "io/clock.h"

struct heard {
    struct driver *driver;
    struct lane *lane;
};

static enum status hear(void *self, const struct event *event)
{
    const struct heard *heard = self;
    return driver_runs(heard->driver, heard->lane) ? driver_give(heard->driver, heard->lane, *event)
                                                   : STATUS_OK;
}

/* Put off while the lane's journal is written, whose connection it may share; between two writes it has its turn. */
static bool is_asked(const struct driver *driver, size_t index)
{
    const struct lane *lane = &driver->lane[driver->options->source[index]->lane];
    return driver_runs(driver, lane) && !driver_is_writing(lane);
}

/* Whatever a database takes to answer, the loop is free for half of the time. */
static int64_t rest_of(const struct driver *driver, size_t index, int64_t took_ms)
{
    int64_t running = 0;
    for (size_t i = 0; i < driver->options->source_count; i++) {
        running += driver_runs(driver, &driver->lane[driver->options->source[i]->lane]) ? 1 : 0;
    }
    const int64_t every_ms = driver->options->source[index]->every_ms;
    return 2 * took_ms * running > every_ms ? 2 * took_ms * running : every_ms;
}

static void look_at(struct driver *driver, size_t index)
{
    const struct driver_source *source = driver->options->source[index];
    struct lane *lane = &driver->lane[source->lane];
    struct heard heard = {driver, lane};
    struct why why = {""};
    const int64_t began_ms = clock_now_ms();
    if (!is_asked(driver, index) || began_ms < driver->source_due_ms[index]) {
        return;
    }
    lane->status = source->look(source->self, hear, &heard, &why);
    lane->progressed = lane->progressed || lane->status == STATUS_OK;
    if (lane->status != STATUS_OK && why.text[0] != '\0') {
        why_set(&driver->why, "%s", why.text);
        log_event(driver->options->log, LOG_WARN, "source-failed", NULL, "%s", why.text);
    }
    const int64_t now_ms = clock_now_ms();
    driver->source_due_ms[index] = now_ms + rest_of(driver, index, now_ms - began_ms);
}

void driver_look_at_sources(struct driver *driver)
{
    for (size_t i = 0; i < driver->options->source_count; i++) {
        look_at(driver, i);
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
