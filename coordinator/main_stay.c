/* A coordinator that stays: jobs of the queue, at the same time where they ask different agents. Nothing is remembered of
 * what runs: whatever a death interrupts, the next look at the folder goes on with. */

#include "coordinator/main_stay_private.h"

#include "io/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 64 }; /* that are looked at, at a time */

bool stay_is_aside(const struct stay *stay, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < stay->aside_count && !found; i++) {
        found = stay->aside[i].number == number;
    }
    return found;
}

void stay_pass_over(struct stay *stay, uint32_t number, const char *because)
{
    if (number > stay->refused) {
        stay->refused = number;
        const struct log_field field[] = {{.name = "job", .number = number}};
        log_event_fields(stay->log, LOG_ERROR, "job-unreadable", field, 1,
                         "job %" PRIu32
                         " is passed over: %s; remedy: mend that and start again, or cancel it",
                         number, because);
    }
}

/* Jobs that were looked at and have to wait: a later one does not overtake one that asks one of its
 * agents. */
struct waiting {
    struct job job[WAITING_MAX];
    size_t count;
};

static bool has_room(const struct stay *stay, const struct waiting *waiting)
{
    bool room =
        stay_count(stay) < stay->office->settings.jobs_at_once && waiting->count < WAITING_MAX;
    for (size_t i = 0; i < waiting->count && room; i++) {
        room = waiting->job[i].agent_count > 0;
    }
    for (size_t i = 0; i < STAY_JOBS_MAX && room; i++) {
        room = stay->job[i].number == 0 || stay->job[i].office.job.agent_count > 0;
    }
    return room;
}

bool stay_is_free(const struct stay *stay, const struct job *job)
{
    bool free = true;
    for (size_t i = 0; i < STAY_JOBS_MAX && free; i++) {
        free = stay->job[i].number == 0 || !job_shares_agents(&stay->job[i].office.job, job);
    }
    return free;
}

static bool is_free(const struct stay *stay, const struct waiting *waiting, const struct job *job)
{
    bool free = stay_is_free(stay, job);
    for (size_t i = 0; i < waiting->count && free; i++) {
        free = !job_shares_agents(&waiting->job[i], job);
    }
    return free;
}

enum status stay_place(struct stay *stay, uint32_t number, struct office *own, struct why *why)
{
    struct stay_job *place = stay->job;
    while (place->number != 0) {
        place++;
    }
    const enum status status = queue_of(own)->beside(own, why);
    if (status == STATUS_OK) {
        place->number = number;
        place->office = *own;
        queue_of(stay->office)->follow(&place->cancel, stay->office, number);
    }
    return status;
}

/* What is decided about one job between two questions to the store, on the thread that runs machines. */
struct choosing {
    struct stay *stay;
    const struct waiting *waiting;
    uint32_t number;
    const struct queue_job *job;
    struct office *own;
    bool room;
    bool runs;
    bool aside;
    bool begins;
    enum status status;
    struct why why;
};

static void look_around(void *self)
{
    struct choosing *choosing = self;
    choosing->room = has_room(choosing->stay, choosing->waiting);
    choosing->runs = stay_runs(choosing->stay, choosing->number);
    choosing->aside = stay_is_aside(choosing->stay, choosing->number);
}

/* Another job may have taken the last place meanwhile. */
static void begin(void *self)
{
    struct choosing *choosing = self;
    const struct queue_job *job = choosing->job;
    struct stay *stay = choosing->stay;
    if (!has_room(stay, choosing->waiting) ||
        !is_free(stay, choosing->waiting, &choosing->own->job)) {
        return;
    }
    choosing->status = stay_place(stay, job->number, choosing->own, &choosing->why);
    choosing->begins = choosing->status == STATUS_OK;
    if (choosing->begins) {
        const struct log_field field[] = {{.name = "job", .number = job->number}};
        log_event_fields(stay->log, LOG_INFO, "job-taken", field, 1,
                         "job %" PRIu32 " \"%s\", submitted by %s, %s", job->number,
                         choosing->own->job.name, job->submitted,
                         job->begun ? "goes on" : "begins");
    }
}

static enum status take(struct stay *stay, struct waiting *waiting, const struct queue_job *job,
                        struct why *why)
{
    struct office own = office_like(stay->office);
    struct choosing choosing = {.stay = stay, .waiting = waiting, .job = job, .own = &own};
    enum status status = queue_take(&own, job->number, why);
    if (status != STATUS_OK && status != STATUS_NO_MEMORY && status != STATUS_AGAIN) {
        stay_pass_over(stay, job->number, why->text);
        status = STATUS_OK;
    } else if (status == STATUS_OK) {
        status = worker_on_owner(begin, &choosing) ? choosing.status : STATUS_BUSY;
        if (status == STATUS_OK && choosing.begins) {
            return STATUS_OK;
        }
        if (status == STATUS_OK) {
            waiting->job[waiting->count++] = own.job;
            own.job = (struct job){.stage_count = 0};
        }
    }
    office_free(&own);
    return status;
}

/* A job that can neither begin nor go on does not stop the others. A journal that cannot be read here is recovered by
 * the job's machine. */
static enum status consider(struct stay *stay, struct waiting *waiting, uint32_t number,
                            struct why *why)
{
    struct queue_job job;
    struct why cause = {{0}};
    const enum status looked = queue_look(&job, stay->office, number, &cause);
    const bool seen = looked == STATUS_OK;
    if (looked == STATUS_AGAIN) { /* a database is away, and no fault of the job's */
        *why = cause;
        return looked;
    }
    if (seen && job.filed) { /* by its lane, since the list was read */
        return STATUS_OK;
    }
    if (seen && job.stuck && !job.damaged && job.state == QUEUE_CANCELLED) {
        return stay_file_job(stay, stay->office, &job, why);
    }
    if (seen && job.stuck && !job.damaged) {
        stay_pass_over(stay, number, job.because);
        return STATUS_OK;
    }
    return seen && !job.begun && job.state == QUEUE_CANCELLED
               ? stay_file_job(stay, stay->office, &job, why)
               : take(stay, waiting, &job, why);
}

/* To cancel a job that is set aside decides that it never goes on: it is filed, and not tried again. */
static enum status consider_aside(struct stay *stay, uint32_t number, struct why *why)
{
    struct queue_job job;
    struct why ignored = {{0}};
    const enum status looked = queue_look(&job, stay->office, number, &ignored);
    if (looked != STATUS_OK || job.cancel[0] == '\0' || (job.state > QUEUE_RUNNING && !job.stuck)) {
        return STATUS_OK;
    }
    if (!job.stuck) { /* its journal can be read, and is not the one that it had */
        job.state = QUEUE_CANCELLED;
        job.unknown = true;
        (void)snprintf(job.because, sizeof job.because,
                       "cancelled by %s; its journal was damaged or gone; what was paid cannot be "
                       "told here: the sites' ledgers have it",
                       job.cancel);
    }
    return stay_file_job(stay, stay->office, &job, why);
}

bool stay_runs(const struct stay *stay, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < STAY_JOBS_MAX && !found; i++) {
        found = stay->job[i].number == number;
    }
    return found;
}

size_t stay_count(const struct stay *stay)
{
    size_t count = 0;
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        count += stay->job[i].number != 0 ? 1 : 0;
    }
    return count;
}

static enum status choose_one(struct stay *stay, struct waiting *waiting,
                              const struct queue_entry *entry, bool *room, struct why *why)
{
    struct choosing choosing = {.stay = stay, .waiting = waiting, .number = entry->number};
    if (!worker_on_owner(look_around, &choosing)) {
        return STATUS_BUSY;
    }
    *room = choosing.room;
    if (!choosing.room || choosing.runs) {
        return STATUS_OK;
    }
    return choosing.aside ? consider_aside(stay, entry->number, why)
                          : consider(stay, waiting, entry->number, why);
}

struct listing {
    struct stay *stay;
    struct queue_list *list;
};

static void keep_list(void *self)
{
    const struct listing *listing = self;
    const struct queue_list before = listing->stay->list;
    listing->stay->list = *listing->list;
    *listing->list = before;
}

enum status stay_keep_list(struct stay *stay, struct queue_list *list)
{
    struct listing listing = {stay, list};
    const bool kept = worker_on_owner(keep_list, &listing);
    queue_list_free(list);
    return kept ? STATUS_OK : STATUS_BUSY;
}

enum status stay_choose(struct stay *stay, struct why *why)
{
    struct waiting waiting = {.count = 0};
    struct queue_list list = {.count = 0};
    bool room = true;
    stay_tell_aside(stay);
    enum status status = queue_of(stay->office)->list(&list, stay->office, why);
    for (int begun = 1; begun >= 0; begun--) {
        for (size_t i = 0; i < list.count && status == STATUS_OK && room; i++) {
            if (!list.entry[i].over && list.entry[i].begun == (begun == 1)) {
                status = choose_one(stay, &waiting, &list.entry[i], &room, why);
            }
        }
    }
    for (size_t i = 0; i < waiting.count; i++) {
        job_free(&waiting.job[i]);
    }
    const enum status kept = stay_keep_list(stay, &list);
    return status == STATUS_OK ? kept : status;
}

void stay_forget(struct stay *stay)
{
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        stay_give_up(&stay->job[i]);
    }
    stay->aside_count = 0;
    stay->refused = 0;
    memset(stay->served, 0, sizeof stay->served);
}

void stay_free(struct stay *stay)
{
    stay_forget(stay);
    free(stay->aside);
    stay->aside = NULL;
    queue_list_free(&stay->list);
}
