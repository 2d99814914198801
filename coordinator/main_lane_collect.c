/* Jobs that several coordinators serve, on the lanes of each: the leader says which jobs it runs, and collectors have a machine
 * for each of these. */

#include "base/check.h"
#include "coordinator/main_lane.h"
#include "coordinator/main_queue_store.h"
#include "coordinator/main_stay_private.h"

#include <inttypes.h>

/* Whether the one that leads runs the lane's job, as far as is known. */
static bool is_led(void *self)
{
    const struct lane *lane = self;
    return queue_of(&lane->run->office)->is_led(&lane->run->office, lane->job->number);
}

void lane_collect(struct lane *lane)
{
    struct run *run = lane->run;
    const size_t index = (size_t)(lane - run->lane);
    collect_begin(&lane->collect, lane->office, &lane->log);
    lane->collect.heard = face_hear;
    lane->collect.heard_self = &run->face.run[index];
    lane->collect.source.lane = index;
    if (lane->job != NULL && collect_is_collector(&run->office)) {
        lane->collect.led = is_led;
        lane->collect.led_self = lane;
    }
}

void lane_follow_others(struct run *run, struct driver_options *driver)
{
    const size_t first = run->stays ? 1 : 0; /* lane 0 of a queue has no job */
    const size_t behind = run->stays ? DRIVER_LANES_MAX : 1;
    driver->source = run->source;
    driver->source_count = 0;
    for (size_t i = first; i < behind && collect_is_shared(&run->office); i++) {
        run->lane[i].collect.source.lane = i; /* its lane may have no job yet */
        run->source[driver->source_count++] = &run->lane[i].collect.source;
    }
}

static enum status tell(const struct lane *lane, bool led, struct why *why)
{
    const struct office *office = lane->office; /* what asks with it is the lane's thread */
    return collect_is_shared(office)
               ? queue_of(office)->set_led(office, lane->job->number, led, why)
               : STATUS_OK;
}

enum status lane_tell_led(const struct lane *lane, struct why *why)
{
    return tell(lane, true, why);
}

enum status lane_set_aside(const struct lane *lane, enum status status, struct why *why)
{
    struct why cause = {{0}};
    const enum status told = tell(lane, false, &cause);
    status = stay_set_aside(&lane->run->stay, lane->job, status, why);
    if (status == STATUS_OK && told != STATUS_OK && told != STATUS_NOT_FOUND) {
        *why = cause;
        return told;
    }
    return status; /* of a job that somebody has removed nobody need hear */
}

enum status lane_check_led(const struct lane *lane, struct why *why)
{
    if (queue_of(&lane->run->office)->is_led(&lane->run->office, lane->job->number)) {
        return STATUS_OK;
    }
    why_set(why, "no coordinator leads job %u", (unsigned)lane->job->number);
    return STATUS_BUSY;
}

static void tell_left(const struct lane *lane, enum status ended, const struct why *why)
{
    const struct log *log = &lane->run->daemon.log;
    const struct log_field field[] = {{.name = "job", .number = lane->job->number}};
    if (ended == STATUS_OK) {
        log_event_fields(log, LOG_INFO, "job-left", field, 1,
                         "job %" PRIu32 " is over here: its agents are free for others",
                         lane->job->number);
    } else if (ended == STATUS_BUSY) {
        log_event_fields(log, LOG_WARN, "job-left", field, 1,
                         "job %" PRIu32 " is led by nobody, and left until it is again",
                         lane->job->number);
    } else {
        log_event_fields(log, LOG_ERROR, "job-left", field, 1,
                         "job %" PRIu32 " cannot be served here (%s): %s; remedy: mend that and "
                         "start this collector again",
                         lane->job->number, status_text(ended), why->text);
    }
}

/* A database that is away, or that refuses for now, ends no job: it is tried again, and the lane keeps its place. */
enum status lane_leave(struct lane *lane, enum status ended, bool *more, struct why *why)
{
    struct stay *stay = &lane->run->stay;
    struct stay_job *job = lane->job;
    CHECK(job->number != 0);
    if (ended == STATUS_AGAIN || ended == STATUS_IO || ended == STATUS_UNKNOWN_OUTCOME) {
        *more = true;
        return STATUS_OK;
    }
    if (ended == STATUS_NO_MEMORY) {
        return ended;
    }
    tell_left(lane, ended, why);
    if (ended != STATUS_OK && ended != STATUS_BUSY) {
        const enum status noted =
            stay_note_aside(stay, &(struct stay_aside){.number = job->number});
        if (noted != STATUS_OK) {
            return noted;
        }
    }
    stay_leave(stay, job, ended == STATUS_OK);
    return STATUS_OK;
}
