/* A coordinator that stays: jobs of the queue, at the same time where they ask different agents. Nothing is remembered of
 * what runs: whatever a death interrupts, the next look at the folder goes on with. */

#include "coordinator/main_stay_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WAITING_MAX = 64 }; /* that are looked at, at a time */

static void tell_filed(const struct stay *stay, const struct queue_job *job)
{
    log_event(stay->log, LOG_INFO, "job-filed", NULL,
              "job %" PRIu32 " \"%s\", submitted by %s: %s%s%s", job->number, job->name,
              job->submitted, queue_state_name(job->state), job->because[0] != '\0' ? ", " : "",
              job->because);
}

static enum status file_job(struct stay *stay, const struct queue_job *job, struct why *why)
{
    const enum status status = queue_file(stay->office, job, why);
    if (status == STATUS_OK) {
        tell_filed(stay, job);
    }
    return status;
}

static void observe(struct stay *stay)
{
    if (stay->observe != NULL) {
        stay->observe(NULL, "filing", ++stay->observed);
    }
}

static void forget_results(struct stay_job *job)
{
    queue_made_free(&job->results.made);
    job->results = (struct stay_results){.there = false};
}

void stay_give_up(struct stay_job *job)
{
    forget_results(job);
    office_free(&job->office);
    job->number = 0;
    job->unfiled = false;
    job->cancel.path[0] = '\0';
}

/* Whether somebody has taken a job away. Where that cannot be told it is there. */
static bool is_removed(const struct stay_job *job)
{
    struct queue_kept kept;
    struct why ignored = {{0}};
    return queue_peek(&kept, &job->office, job->number, &ignored) == STATUS_NOT_FOUND;
}

void stay_publish(const struct stay *stay, struct stay_job *job)
{
    struct stay_results *results = &job->results;
    forget_results(job);
    results->status = queue_publish(&job->office, &results->made, stay->seeded, stay->seed,
                                    &results->end, &results->why);
    results->there = true;
}

/* over: out, whether the job is. */
static enum status publish(struct stay *stay, struct stay_job *job, bool *over, struct why *why)
{
    char place[QUEUE_PATH_BYTES];
    struct queue_job told;
    if (!job->results.there) {
        stay_publish(stay, job);
    }
    const struct job_end end = job->results.end;
    enum status status = job->results.status;
    if (status == STATUS_OK) {
        status = queue_put(&job->office, job->number, &job->results.made, why);
    } else {
        *why = job->results.why;
    }
    forget_results(job);
    *over = status != STATUS_AGAIN;
    if (status == STATUS_AGAIN) {
        return STATUS_OK;
    }
    if (status == STATUS_IO && queue_is_shared(&job->office)) {
        return STATUS_AGAIN; /* the database is away; nothing is wrong with the job */
    }
    if (status == STATUS_OK) {
        queue_results(place, &job->office, job->number);
        log_event(stay->log, LOG_INFO, "result-written", NULL,
                  "result.json, report.html and the model, if there is one, are in %s",
                  place[0] != '\0' ? place : "the database");
        observe(stay);
        queue_tell(&told, &job->office, job->number, &end);
        status = file_job(stay, &told, why);
        observe(stay);
    }
    return status;
}

enum status stay_file(struct stay *stay, struct stay_job *job, struct why *why)
{
    if (job->number == 0) {
        return STATUS_OK;
    }
    bool over = true;
    observe(stay);
    enum status status = publish(stay, job, &over, why);
    if (status == STATUS_NOT_FOUND && is_removed(job)) {
        log_event(stay->log, LOG_ERROR, "job-removed", NULL,
                  "job %" PRIu32 " was removed while it ran; it has no result", job->number);
        status = STATUS_OK;
    }
    if (status == STATUS_OK && over) {
        stay_give_up(job);
    }
    return status;
}

/* What cannot be written, on a full disk, keeps this one job waiting: the next attempt to start it comes here again. */
static void tell_unfiled(const struct stay *stay, struct stay_job *job, const struct why *why)
{
    const struct log_field field[] = {{.name = "job", .number = job->number}};
    if (!job->unfiled) {
        log_event_fields(stay->log, LOG_ERROR, "job-unfiled", field, 1,
                         "job %" PRIu32 " was cancelled before it began, and its end cannot be "
                         "written: %s; remedy: mend that; it is tried again each second",
                         job->number, why->text);
    }
    job->unfiled = true;
}

/* Nothing of it is in the journal that another process has: its end needs no record there. */
enum status stay_end_put_off(struct stay *stay, struct stay_job *job, bool *over, struct why *why)
{
    struct queue_job told;
    struct why ignored = {{0}};
    *over = false;
    if (queue_look(&told, stay->office, job->number, &ignored) != STATUS_OK || told.begun ||
        told.state != QUEUE_CANCELLED) {
        return STATUS_OK;
    }
    const enum status status = file_job(stay, &told, why);
    *over = status == STATUS_OK;
    if (*over) {
        stay_give_up(job);
    } else if (status == STATUS_IO) {
        tell_unfiled(stay, job, why);
        return STATUS_OK;
    }
    return status;
}

bool stay_is_damage(enum status status)
{
    return status == STATUS_CORRUPT || status == STATUS_FOREIGN || status == STATUS_NOT_FOUND;
}

bool stay_is_aside(const struct stay *stay, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < stay->aside_count && !found; i++) {
        found = stay->aside[i].number == number;
    }
    return found;
}

/* What has happened, and what to do: of the job in a sentence. */
static void tell_because(char because[static QUEUE_ASIDE_BYTES], const struct stay_job *job,
                         enum status status, const struct why *why)
{
    const char *words = why->text[0] != '\0' ? why->text : status_text(status);
    if (stay_is_damage(status)) {
        char place[QUEUE_PATH_BYTES];
        queue_describe(place, &job->office);
        (void)snprintf(
            because, QUEUE_ASIDE_BYTES,
            "it cannot go on, its journal is damaged or gone (%s), and its agents are free for "
            "other jobs; remedy: bring back the latest whole copy of %.*s, and start again",
            status_text(status), QUEUE_ASIDE_BYTES / 2,
            queue_is_shared(&job->office) ? place : job->office.settings.state);
    } else if (status == STATUS_IO && queue_is_shared(&job->office)) {
        (void)snprintf(because, QUEUE_ASIDE_BYTES,
                       "it cannot go on, the database refuses what it writes or reads: %.*s; "
                       "remedy: mend that and start again: its journal is whole",
                       QUEUE_ASIDE_BYTES / 2, why->text[0] != '\0' ? words : "the log has its words");
    } else {
        (void)snprintf(because, QUEUE_ASIDE_BYTES,
                       "it is over, and its results cannot be written: %.*s; remedy: mend that "
                       "and start again: its journal has them",
                       QUEUE_ASIDE_BYTES / 2, words);
    }
}

/* Where it cannot be kept, on a full disk, the log alone tells why until it can. */
static void keep_because(const struct stay *stay, struct stay_aside *aside)
{
    struct why ignored = {{0}};
    const enum status status =
        queue_put_aside(stay->office, aside->number, aside->because, &ignored);
    aside->untold = status != STATUS_OK && status != STATUS_NOT_FOUND;
}

enum status stay_set_aside(struct stay *stay, struct stay_job *job, enum status status,
                           struct why *why)
{
    const struct log_field field[] = {{.name = "job", .number = job->number}};
    if (stay->aside_count == STAY_ASIDE_MAX) {
        why_set(why, "%d jobs are set aside: look at the disk", STAY_ASIDE_MAX);
        return status;
    }
    if (!stay_is_aside(stay, job->number)) {
        struct stay_aside *aside = &stay->aside[stay->aside_count++];
        *aside = (struct stay_aside){.number = job->number};
        tell_because(aside->because, job, status, why);
        log_event_fields(stay->log, LOG_ERROR, "job-set-aside", field, 1, "job %" PRIu32 ": %s",
                         job->number, aside->because);
        keep_because(stay, aside);
    }
    stay_give_up(job);
    return STATUS_OK;
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

/* Jobs that were looked at and have to wait: a later one does not overtake one that asks an agent of its. */
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

void stay_place(struct stay *stay, uint32_t number, const struct office *own)
{
    struct stay_job *place = stay->job;
    while (place->number != 0) {
        place++;
    }
    place->number = number;
    place->office = *own;
    queue_follow(&place->cancel, &place->office, number);
}

static void begin(struct stay *stay, const struct queue_job *job, const struct office *own)
{
    stay_place(stay, job->number, own);
    log_event(stay->log, LOG_INFO, "job-taken", NULL, "job %" PRIu32 " \"%s\", submitted by %s, %s",
              job->number, own->job.name, job->submitted, job->begun ? "goes on" : "begins");
}

static enum status take(struct stay *stay, struct waiting *waiting, const struct queue_job *job,
                        struct why *why)
{
    struct office own = office_like(stay->office);
    const enum status status = queue_take(&own, job->number, why);
    if (status == STATUS_OK && is_free(stay, waiting, &own.job)) {
        begin(stay, job, &own);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        waiting->job[waiting->count++] = own.job;
        own.job = (struct job){.stage_count = 0};
    } else if (status != STATUS_NO_MEMORY && status != STATUS_AGAIN) {
        stay_pass_over(stay, job->number, why->text);
    }
    office_free(&own);
    return status == STATUS_NO_MEMORY || status == STATUS_AGAIN ? status : STATUS_OK;
}

/* A job that can neither begin nor go on keeps nobody from the others. What cannot be looked at beside its journal is
 * recovered by its machine. */
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
    if (seen && job.stuck && !job.damaged && job.state == QUEUE_CANCELLED) {
        return file_job(stay, &job, why);
    }
    if (seen && job.stuck && !job.damaged) {
        stay_pass_over(stay, number, job.because);
        return STATUS_OK;
    }
    return seen && !job.begun && job.state == QUEUE_CANCELLED ? file_job(stay, &job, why)
                                                              : take(stay, waiting, &job, why);
}

/* Who cancels a job that is set aside has decided that it never goes on: it is filed, and not tried again. */
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
    return file_job(stay, &job, why);
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

enum status stay_choose(struct stay *stay, struct why *why)
{
    struct waiting waiting = {.count = 0};
    for (size_t i = 0; i < stay->aside_count; i++) {
        if (stay->aside[i].untold) {
            keep_because(stay, &stay->aside[i]);
        }
    }
    queue_list_free(&stay->list);
    enum status status = queue_list(&stay->list, stay->office, why);
    for (int begun = 1; begun >= 0; begun--) {
        for (size_t i = 0; i < stay->list.count && status == STATUS_OK && has_room(stay, &waiting);
             i++) {
            const struct queue_entry entry = stay->list.entry[i];
            if (entry.over || stay_runs(stay, entry.number) || entry.begun != (begun == 1)) {
                continue;
            }
            status = stay_is_aside(stay, entry.number)
                         ? consider_aside(stay, entry.number, why)
                         : consider(stay, &waiting, entry.number, why);
        }
    }
    for (size_t i = 0; i < waiting.count; i++) {
        job_free(&waiting.job[i]);
    }
    return status;
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
    queue_list_free(&stay->list);
}
