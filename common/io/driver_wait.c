/* What a turn of the loop waits for, and how long. */

#include "io/driver_private.h"

#include "io/clock.h"

/* How long nothing is due on a lane. A tick that leaves its own time in the past waits a millisecond. */
static int64_t lane_idle_ms(const struct driver *driver, const struct lane *lane, int64_t now_ms)
{
    if (lane->state == LANE_EMPTY) {
        return INT64_MAX;
    }
    if (lane->state == LANE_RESTS) {
        return lane->due_ms - now_ms;
    }
    if (!driver_runs(driver, lane)) {
        return driver_works(lane) || lane->waiting != NULL || driver_writes(lane) ||
                       driver_waits(lane)
                   ? INT64_MAX
                   : 0; /* its thread's end wakes the loop */
    }
    const int64_t wake_ms = lane->machine.wake_ms(lane->machine.self);
    if (wake_ms > now_ms) {
        return wake_ms - now_ms;
    }
    return wake_ms <= lane->ticked_ms && now_ms <= lane->ticked_ms ? 1 : 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int idle_ms(const struct driver *driver)
{
    const int64_t now_ms = clock_now_ms();
    int64_t idle = 1000;

    for (size_t i = 0; i < driver->lane_count; i++) {
        idle = earlier(idle, lane_idle_ms(driver, &driver->lane[i], now_ms));
    }
    if (driver->options->roster_path != NULL) {
        idle = earlier(idle, driver->roster_due_ms - now_ms);
    }
    if (driver->options->file_count > 0) {
        idle = earlier(idle, driver->files_due_ms - now_ms);
    }
    const int64_t source_ms = driver_sources_due_ms(driver);
    if (source_ms != INT64_MAX) {
        idle = earlier(idle, source_ms - now_ms);
    }
    return idle < 0 ? 0 : (int)idle;
}

/* Adds a guest's descriptor to those that are waited for; returns how long nothing is due, for the guest either. */
static int await_guest(const struct driver_guest *guest, struct pollfd *other, size_t *count,
                       int timeout_ms)
{
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

/* Adds the descriptors of threads that are busy; returns how many there are then. */
static size_t await_threads(const struct driver *driver, struct pollfd *other, size_t count)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        const struct lane *lane = &driver->lane[i];
        if (driver_works(lane)) {
            other[count++] =
                (struct pollfd){.fd = worker_descriptor(lane->worker), .events = POLLIN};
        }
        if (driver_waits(lane)) {
            other[count++] =
                (struct pollfd){.fd = worker_descriptor(lane->writer), .events = POLLIN};
        }
    }
    return count;
}

enum status driver_wait(struct driver *driver)
{
    const struct driver_guest *const *guest = driver->options->guest;
    struct pollfd other[1 + 2 * DRIVER_LANES_MAX + DRIVER_GUESTS_MAX] = {
        {.fd = driver->signals, .events = POLLIN}};
    const bool signals = driver->signals >= 0;
    size_t count = await_threads(driver, other, signals ? 1 : 0);
    int timeout_ms = idle_ms(driver);

    for (size_t i = 0; i < DRIVER_GUESTS_MAX; i++) {
        timeout_ms = await_guest(guest[i], other, &count, timeout_ms);
    }
    enum status status = endpoint_poll(driver->options->endpoint, other, count, timeout_ms);
    if (status == STATUS_OK && signals && other[0].revents != 0) {
        driver_take_signal(driver);
    }
    for (size_t i = 0; i < DRIVER_GUESTS_MAX; i++) {
        if (guest[i] != NULL) {
            guest[i]->run(guest[i]->self, clock_now_ms());
        }
    }
    return status;
}
