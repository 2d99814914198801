/* What becomes of a job that has run: it is published and filed, or set aside. For a queue in a database all of it runs beside the
 * loop, on a thread of the job's lane (io/driver.h): what others see of the jobs that run is changed on the loop's thread. */

#include "coordinator/main_stay_private.h"

#include "io/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void tell_filed(const struct stay *stay, const struct queue_job *job)
{
    const struct log_field field[] = {{.name = "job", .number = job->number}};
    log_event_fields(stay->log, LOG_INFO, "job-filed", field, 1,
                     "job %" PRIu32 " \"%s\", submitted by %s: %s%s%s", job->number, job->name,
                     job->submitted, queue_state_name(job->state),
                     job->because[0] != '\0' ? ", " : "", job->because);
}

enum status stay_file_job(const struct stay *stay, const struct office *office,
                          const struct queue_job *job, struct why *why)
{
    const enum status status = queue_file(office, job, why);
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

static void give_up(void *self)
{
    struct stay_job *job = self;
    if (job->number == 0) {
        return;
    }
    forget_results(job);
    queue_of(&job->office)->part_beside(&job->office);
    office_free(&job->office);
    job->number = 0;
    job->unfiled = false;
    job->cancel.path[0] = '\0';
}

/* Where the driver stops the job keeps its place, as any other. */
void stay_give_up(struct stay_job *job)
{
    (void)!worker_on_owner(give_up, job);
}

/* Whether somebody has taken a job away. Where that cannot be told it is there. */
static bool is_removed(const struct stay_job *job)
{
    struct queue_kept kept;
    struct why ignored = {{0}};
    return queue_of(&job->office)->peek(&kept, &job->office, job->number, &ignored) ==
           STATUS_NOT_FOUND;
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
    if (status == STATUS_IO && queue_of(&job->office)->shared) {
        return STATUS_AGAIN; /* the database is away; nothing is wrong with the job */
    }
    if (status == STATUS_OK) {
        queue_of(&job->office)->results(place, &job->office, job->number);
        const struct log_field field[] = {{.name = "job", .number = job->number}};
        log_event_fields(stay->log, LOG_INFO, "result-written", field, 1,
                         "result.json, report.html and the model, if there is one, of job %" PRIu32
                         " are in %s",
                         job->number, place[0] != '\0' ? place : "the database");
        observe(stay);
        queue_tell(&told, &job->office, job->number, &end);
        status = stay_file_job(stay, &job->office, &told, why);
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

enum status stay_file_behind(struct stay *stay, struct stay_job *job, struct why *why)
{
    struct queue_job told;
    struct why ignored = {{0}};
    if (job->number == 0 || queue_look(&told, &job->office, job->number, &ignored) != STATUS_OK ||
        !told.filed) {
        return stay_file(stay, job, why);
    }
    tell_filed(stay, &told);
    stay_give_up(job);
    return STATUS_OK;
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
    const enum status status = stay_file_job(stay, stay->office, &told, why);
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

/* What has happened, and what to do: of the job in a sentence. */
static void tell_because(char because[static QUEUE_ASIDE_BYTES], const struct stay_job *job,
                         enum status status, const struct why *why)
{
    const char *words = why->text[0] != '\0' ? why->text : status_text(status);
    if (stay_is_damage(status)) {
        char place[QUEUE_PATH_BYTES];
        queue_of(&job->office)->describe(place, &job->office);
        (void)snprintf(
            because, QUEUE_ASIDE_BYTES,
            "it cannot go on, its journal is damaged or gone (%s), and its agents are free for "
            "other jobs; remedy: bring back the latest whole copy of %.*s, and start again",
            status_text(status), QUEUE_ASIDE_BYTES / 2,
            queue_of(&job->office)->shared ? place : job->office.settings.state);
    } else if (status == STATUS_IO && queue_of(&job->office)->shared) {
        (void)snprintf(because, QUEUE_ASIDE_BYTES,
                       "it cannot go on, the database refuses what it writes or reads: %.*s; "
                       "remedy: mend that and start again: its journal is whole",
                       QUEUE_ASIDE_BYTES / 2,
                       why->text[0] != '\0' ? words : "the log has its words");
    } else {
        (void)snprintf(because, QUEUE_ASIDE_BYTES,
                       "it is over, and its results cannot be written: %.*s; remedy: mend that "
                       "and start again: its journal has them",
                       QUEUE_ASIDE_BYTES / 2, words);
    }
}

/* For all jobs that are set aside, on the thread that runs machines. */
struct noting {
    struct stay *stay;
    struct stay_aside aside;
    bool found;
};

static struct stay_aside *find_aside(struct stay *stay, uint32_t number)
{
    size_t i = 0;
    while (i < stay->aside_count && stay->aside[i].number != number) {
        i++;
    }
    return i < stay->aside_count ? &stay->aside[i] : NULL;
}

static struct stay_aside *add_aside(struct stay *stay, uint32_t number)
{
    struct stay_aside *aside = find_aside(stay, number);
    if (aside != NULL) {
        return aside;
    }
    struct stay_aside *grown = realloc(stay->aside, (stay->aside_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    stay->aside = grown;
    aside = &grown[stay->aside_count++];
    *aside = (struct stay_aside){.number = number};
    return aside;
}

static void note_aside(void *self)
{
    struct noting *noting = self;
    struct stay_aside *aside = add_aside(noting->stay, noting->aside.number);
    noting->found = aside != NULL;
    if (aside != NULL) {
        *aside = noting->aside;
    }
}

enum status stay_note_aside(struct stay *stay, const struct stay_aside *aside)
{
    struct noting noting = {.stay = stay, .aside = *aside};
    if (!worker_on_owner(note_aside, &noting)) {
        return STATUS_BUSY;
    }
    return noting.found ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Where it cannot be kept, on a full disk, the log alone tells why until it can. */
static void keep_because(const struct office *office, struct stay_aside *aside)
{
    struct why ignored = {{0}};
    const enum status status = queue_put_aside(office, aside->number, aside->because, &ignored);
    aside->untold = status != STATUS_OK && status != STATUS_NOT_FOUND;
}

static void find_untold(void *self)
{
    struct noting *noting = self;
    noting->found = false;
    for (size_t i = 0; i < noting->stay->aside_count && !noting->found; i++) {
        noting->found = noting->stay->aside[i].untold;
        noting->aside = noting->stay->aside[i];
    }
}

void stay_tell_aside(struct stay *stay)
{
    struct noting noting = {.stay = stay};
    bool goes_on = worker_on_owner(find_untold, &noting) && noting.found;
    while (goes_on) {
        keep_because(stay->office, &noting.aside);
        goes_on = !noting.aside.untold && stay_note_aside(stay, &noting.aside) == STATUS_OK &&
                  worker_on_owner(find_untold, &noting) && noting.found;
    }
}

enum status stay_set_aside(struct stay *stay, struct stay_job *job, enum status status,
                           struct why *why)
{
    const struct log_field field[] = {{.name = "job", .number = job->number}};
    struct stay_aside aside = {.number = job->number};
    tell_because(aside.because, job, status, why);
    log_event_fields(stay->log, LOG_ERROR, "job-set-aside", field, 1, "job %" PRIu32 ": %s",
                     job->number, aside.because);
    keep_because(&job->office, &aside);
    const enum status noted = stay_note_aside(stay, &aside);
    if (noted == STATUS_OK) {
        stay_give_up(job);
    }
    return noted;
}
