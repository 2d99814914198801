/* Where else a machine's events come from: those who serve the same job, each lane's own (struct driver_source). */

#include "io/driver_private.h"

#include "io/clock.h"

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
