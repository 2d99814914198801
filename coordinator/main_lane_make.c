/* How a lane's machine is made and unmade. What waits for a database runs on the lane's thread, the rest on the loop's. And the
 * guest that keeps beside each job of a queue who declines it. */

#include "coordinator/main_lane.h"

#include "database/journal_place.h"
#include "io/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

static void drop_cancel(struct lane *lane)
{
    free(lane->cancel);
    lane->cancel = NULL;
    lane->cancel_size = 0;
}

/* Opening a journal waits a moment where another process has it, for that may only look. A job that is put off is tried again
 * each second: the loop, and so all other jobs, would wait each time. So it looks first, which waits for nothing.
 * A new journal in the place of one that somebody took away meanwhile would begin the job again, and have it paid again. */
static enum status check_journal(const struct lane *lane, struct why *why)
{
    char place[QUEUE_PATH_BYTES];
    char by[QUEUE_BY_BYTES];
    const uint32_t number = lane->job->number;
    struct queue_kept kept;
    queue_of(lane->office)->held(by, lane->office, number);
    if (by[0] != '\0') {
        why_set(why, "the journal in %s is in use by %s; remedy: stop that process",
                lane->office->settings.state, by);
        return STATUS_BUSY;
    }
    const enum status status = queue_of(lane->office)->peek(&kept, lane->office, number, why);
    if (status != STATUS_OK || !kept.begun || kept.journal) {
        return status;
    }
    queue_of(lane->office)->describe(place, lane->office);
    why_set(why, "job %u has begun, and its journal is gone from %s", (unsigned)number, place);
    return STATUS_CORRUPT;
}

/* What must be durable before the job's machine starts: that the job has begun, so that a folder that lost a part never
 * begins again; and who has cancelled it, so that no round of it opens. */
static enum status begin_of_queue(struct lane *lane, struct why *why)
{
    if (collect_is_collector(lane->office)) {
        return STATUS_OK; /* the leader does both */
    }
    enum status status = queue_of(lane->office)->mark_begun(lane->office, lane->job->number, why);
    return status == STATUS_OK ? queue_of(lane->office)
                                     ->cancelled(&lane->cancel, &lane->cancel_size, lane->office,
                                                 lane->job->number, why)
                               : status;
}

/* A machine on its way, in steps: what waits for a database runs on the lane's thread, the rest on the loop's. */
struct making {
    struct lane *lane;
    struct machine *machine;
    struct journal *journal;
    struct job older;
    enum status status;
};

static void begin_to_collect(void *self)
{
    struct making *making = self;
    lane_collect(making->lane);
}

static void check_led(void *self)
{
    struct making *making = self;
    struct why why = {{0}};
    making->status = lane_check_led(making->lane, &why);
}

/* A collector has a job while somebody leads it. */
static enum status check_lane(struct making *making, struct why *why)
{
    struct lane *lane = making->lane;
    if (lane->job == NULL) {
        return STATUS_OK;
    }
    if (!worker_on_owner(begin_to_collect, making)) {
        return STATUS_BUSY;
    }
    if (!collect_is_collector(lane->office)) {
        return check_journal(lane, why);
    }
    if (!worker_on_owner(check_led, making)) {
        return STATUS_BUSY;
    }
    if (making->status != STATUS_OK) {
        why_set(why, "no coordinator leads job %u", (unsigned)lane->job->number);
    }
    return making->status;
}

/* All that may wait: the journal, and what stands in the queue before the machine starts. */
static enum status open_job(struct making *making, struct why *why)
{
    struct lane *lane = making->lane;
    struct journal *journal = making->journal;
    const struct office *office = lane->office;
    const struct journal_options options = {.place = office->settings.state,
                                            .kind = "coordinator",
                                            .part = lane->job != NULL
                                                        ? queue_of(office)->part(office)
                                                        : (struct journal_part){.job = 0}};
    enum status status = office_judge(office, why);

    /* Lanes of a queue come here on threads of their own; it has no such journal. */
    *journal = (struct journal){.self = NULL};
    if (!lane->run->stays) {
        *journal = lane->run->led;
        lane->run->led = (struct journal){.self = NULL};
    }
    if (status == STATUS_OK) {
        status = check_lane(making, why);
    }
    if (status == STATUS_OK && collect_is_collector(office)) {
        status = collect_open_journal(&lane->collect, journal, why);
    }
    if (status == STATUS_OK && journal->self == NULL) {
        status = journal_open(journal, &options, why);
    }
    if (status == STATUS_OK &&
        office->settings.out[0] != '\0') { /* it may be inside the journal's folder */
        status = office_make_out(office, why);
    }
    if (status == STATUS_OK && lane->job != NULL) {
        status = begin_of_queue(lane, why);
    }
    if (status == STATUS_OK) {
        status = office_read_older(&making->older, office, journal, why);
    }
    if (status == STATUS_OK) {
        status = collect_open(&lane->collect, journal, why);
    }
    if (status == STATUS_OK && lane->job != NULL && !collect_is_collector(office)) {
        status = lane_tell_led(lane, why);
    }
    return status;
}

/* On the loop's thread: the page sees the machine from here on. */
static void make_machine(void *self)
{
    struct making *making = self;
    struct lane *lane = making->lane;
    struct run *run = lane->run;
    const struct office *office = lane->office;
    struct coordinator_options options = {.job = &office->job,
                                          .text = {office->text, office->text_size},
                                          .random = &run->daemon.random,
                                          .log = &lane->log,
                                          .dictionaries = lane_dictionaries(run),
                                          .answer_bytes_max = office->settings.message_bytes_max,
                                          .whole_bytes_max = WHOLE_BYTES_MAX,
                                          .linger_ms = office->settings.linger_ms,
                                          .shows = office->settings.http.listen[0] != '\0',
                                          .settle_ms = SETTLE_MS};
    job_free(&lane->older); /* of the last machine: until now the page told of it */
    lane->older = making->older;
    making->older = (struct job){.stage_count = 0};
    options.job = lane->older.stage_count > 0 ? &lane->older : &office->job;
    options.cancelled = (struct slice){lane->cancel, lane->cancel_size};
    collect_tell_options(&lane->collect, &options);
    making->status = coordinator_new(&lane->coordinator, &options);
    if (making->status != STATUS_OK) {
        return;
    }
    collect_join(&lane->collect, lane->coordinator);
    if (!run->stays) {
        run->own = collect_is_collector(office) ? (struct journal){.self = NULL} : *making->journal;
    }
    *making->machine = coordinator_machine(lane->coordinator);
    face_begin(&run->face, (size_t)(lane - run->lane),
               lane->job != NULL ? &lane->job->number : NULL, options.job, office->settings.state,
               lane->coordinator, making->journal);
}

static enum status make_job(struct lane *lane, struct machine *machine, struct journal *journal,
                            struct why *why)
{
    struct making making = {.lane = lane, .machine = machine, .journal = journal};
    enum status status = open_job(&making, why);
    if (status == STATUS_OK) {
        status = worker_on_owner(make_machine, &making) ? making.status : STATUS_BUSY;
    }
    job_free(&making.older);
    if (status != STATUS_OK) {
        drop_cancel(lane);
        collect_leave(&lane->collect);
        journal_close(journal);
        *journal = (struct journal){.self = NULL};
    }
    return status;
}

_Static_assert(STAY_JOBS_MAX + 1 == DRIVER_LANES_MAX, "a lane for each job, and one for none");

/* Lane 0 of a queue has no job. */
static bool is_idle(const struct lane *lane)
{
    return lane->run->stays && lane->job == NULL;
}

static void make_idle(void *self)
{
    struct making *making = self;
    making->status = lane_make_idle(making->lane->run, making->machine, making->journal);
}

void lane_part(struct lane *lane)
{
    collect_part(&lane->collect);
    journal_close(&lane->left);
    lane->left = (struct journal){.self = NULL};
}

/* Its connection to the queue is needed seldom. */
static void let_go(const struct lane *lane)
{
    if (lane->job != NULL && lane->job->number != 0) {
        queue_of(lane->office)->rest(lane->office);
    }
}

enum status lane_make(void *self, struct machine *machine, struct journal *journal, struct why *why)
{
    struct lane *lane = self;
    const struct office *office = &lane->run->office;
    struct making idle = {.lane = lane, .machine = machine, .journal = journal};
    lane_part(lane);
    if (lane->run->stays && !collect_is_collector(office) && queue_of(office)->is_lost(office)) {
        why_set(why, "another coordinator leads the queue, or may");
        return STATUS_BUSY;
    }
    if (is_idle(lane)) {
        return worker_on_owner(make_idle, &idle) ? idle.status : STATUS_BUSY;
    }
    const enum status status = make_job(lane, machine, journal, why);
    let_go(lane);
    return status;
}

void lane_unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    face_pause(&run->face, (size_t)(lane - run->lane));
    collect_detach(&lane->collect);
    if (lane->coordinator != NULL) {
        coordinator_tell_unheard(lane->coordinator);
    }
    coordinator_free(lane->coordinator);
    lane->coordinator = NULL;
    drop_cancel(lane);
    if (is_idle(lane)) {
        face_set_idle(&run->face, false);
        idle_free(run->idle);
        run->idle = NULL;
    }
    run->own = (struct journal){.self = NULL};
    memset(machine, 0, sizeof *machine);
    lane->left = *journal;
    memset(journal, 0, sizeof *journal);
    if (!run->stays || !queue_of(&run->office)->shared) {
        lane_part(lane);
    }
}

enum { LOOK_MS = 1000 };

static void keep(struct declined *declined, size_t index, const char *text)
{
    struct why ignored = {{0}};
    (void)snprintf(declined->kept[index].text, QUEUE_BY_BYTES, "%s", text);
    (void)!queue_of(&declined->run->office)
        ->put_declined(&declined->run->office, declined->kept[index].number, text, &ignored);
}

/* It is written when it has changed, or when it may be one of an earlier life; it goes when the job does. A file that cannot be
 * written is not tried again before the next change: nothing depends on it. */
static void look_at_lane(struct declined *declined, size_t index)
{
    const struct lane *lane = &declined->run->lane[index];
    char text[QUEUE_BY_BYTES];
    const uint32_t number = lane->coordinator != NULL ? lane->job->number : 0;
    const bool is_new = number != declined->kept[index].number;
    if (is_new && declined->kept[index].text[0] != '\0') {
        keep(declined, index, "");
    }
    declined->kept[index].number = number;
    if (number != 0) {
        coordinator_look_refusing(lane->coordinator, text, sizeof text);
        if (is_new || strcmp(text, declined->kept[index].text) != 0) {
            keep(declined, index, text);
        }
    }
}

static void look(void *self, int64_t now_ms)
{
    struct declined *declined = self;
    if (now_ms < declined->due_ms) {
        return;
    }
    declined->due_ms = now_ms + LOOK_MS;
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        look_at_lane(declined, i);
    }
}

static int no_descriptor(UNUSED void *self, UNUSED int64_t now_ms)
{
    return -1;
}

static int64_t due(void *self, UNUSED int64_t now_ms)
{
    const struct declined *declined = self;
    return declined->due_ms;
}

void declined_join(struct declined *declined, struct run *run, struct driver_options *driver)
{
    *declined = (struct declined){.run = run};
    declined->guest = (struct driver_guest){
        .self = declined, .descriptor = no_descriptor, .due_ms = due, .run = look};
    if (run->stays) {
        driver->guest[2] = &declined->guest;
    }
}
