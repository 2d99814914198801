/* What a turn of the loop waits for, and how long; and the files that it looks at. */

#include "io/driver_private.h"

#include "base/file.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "io/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

static int idle_ms(const struct driver *driver)
{
    const int64_t now_ms = clock_now_ms();
    int64_t idle = 1000;

    for (size_t i = 0; i < driver->lane_count; i++) {
        idle = machine_earlier(idle, lane_idle_ms(driver, &driver->lane[i], now_ms));
    }
    if (driver->options->roster_path != NULL) {
        idle = machine_earlier(idle, driver->roster_due_ms - now_ms);
    }
    if (driver->options->file_count > 0) {
        idle = machine_earlier(idle, driver->files_due_ms - now_ms);
    }
    const int64_t source_ms = driver_sources_due_ms(driver);
    if (source_ms != INT64_MAX) {
        idle = machine_earlier(idle, source_ms - now_ms);
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

/* Files that people edit while the program runs: each is read again when its content has changed, and its text given to
 * the machine, which judges it. */

static bool is_absent(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* An optional file that is not there is an empty one. */
static enum status read_file(char **text, size_t *size, const struct driver_file *file,
                             struct why *why)
{
    *text = NULL;
    *size = 0;
    if (file->read != NULL) {
        return file->read(file->self, text, size, why);
    }
    if (file->optional && is_absent(file->path)) {
        return STATUS_OK;
    }
    return file->folder ? file_names(text, size, file->path, why)
                        : config_load_owned(text, size, file->path, why);
}

static enum status look_at_file(struct driver *driver, struct lane *lane, size_t index)
{
    const struct driver_file *file = &driver->options->file[index];
    struct followed_file *followed = &driver->followed[index];
    struct why why = {""};
    struct digest now;
    char *text = NULL;
    size_t size = 0;
    enum status status = STATUS_OK;

    if (file->path[0] == '\0') {
        return STATUS_OK;
    }
    status = read_file(&text, &size, file, &why);
    if (status != STATUS_OK) {
        if (!followed->unreadable) {
            log_event(driver->options->log, file->read == NULL ? LOG_ERROR : LOG_WARN,
                      file->read == NULL ? "file-unreadable" : "queue-unreadable", NULL,
                      "%s; what it said before stays in force", why.text);
        }
        followed->unreadable = true;
        return STATUS_OK;
    }
    followed->unreadable = false;
    digest_sha256(&now, &(struct slice){text, size}, 1);
    if (!followed->given || !digest_equal(&now, &followed->seen)) {
        followed->given = true;
        followed->seen = now;
        status =
            driver_give(driver, lane,
                        (struct event){.kind = EVENT_FILE,
                                       .as.file = {.which = file->which, .text = {text, size}}});
    }
    free(text);
    return status;
}

enum status driver_follow_files(struct driver *driver, struct lane *lane, bool anew)
{
    enum status status = STATUS_OK;
    for (size_t i = 0;
         i < driver->options->file_count && status == STATUS_OK && driver_runs(driver, lane); i++) {
        if (&driver->lane[driver->options->file[i].lane] == lane) {
            driver->followed[i] =
                anew ? (struct followed_file){.given = false} : driver->followed[i];
            status = look_at_file(driver, lane, i);
        }
    }
    return status;
}
