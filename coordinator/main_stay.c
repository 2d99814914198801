/* A coordinator that stays: one job of the queue after another. Nothing is remembered between two of them: whatever a death
 * interrupts, the next look at the folder goes on with. */

#include "coordinator/main_stay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

enum status stay_file(struct stay *stay, struct why *why)
{
    struct job_end end;
    struct queue_job job;
    if (stay->number == 0) {
        return STATUS_OK;
    }
    observe(stay);
    enum status status = office_publish(stay->office, stay->seeded, stay->seed, &end, why);
    if (status == STATUS_NOT_FOUND && !queue_holds(stay->office, stay->number, "")) {
        log_event(stay->log, LOG_ERROR, "job-removed", NULL,
                  "job %" PRIu32 ": its folder was removed while it ran; it has no result",
                  stay->number);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        log_event(stay->log, LOG_INFO, "result-written", NULL,
                  "result.json, and the model if there is one, are in %s",
                  stay->office->settings.out);
        observe(stay);
        queue_tell(&job, stay->office, stay->number, &end);
        status = file_job(stay, &job, why);
        observe(stay);
    }
    return status == STATUS_AGAIN ? STATUS_OK : status;
}

/* Once, however often it is looked at. */
static void pass_over(struct stay *stay, uint32_t number, const char *because)
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

static enum status take(struct stay *stay, const struct queue_job *job, bool *taken,
                        struct why *why)
{
    const enum status status = queue_take(stay->office, job->number, why);
    *taken = status == STATUS_OK;
    if (status == STATUS_OK) {
        stay->number = job->number;
        queue_path(stay->cancel, stay->office, job->number, "cancel");
        log_event(stay->log, LOG_INFO, "job-taken", NULL,
                  "job %" PRIu32 " \"%s\", submitted by %s, %s", job->number,
                  stay->office->job.name, job->submitted, job->begun ? "goes on" : "begins");
    } else if (status != STATUS_NO_MEMORY) {
        pass_over(stay, job->number, why->text);
    }
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

/* A job that can neither begin nor go on keeps nobody from the others. What cannot be looked at beside its journal is
 * recovered by its machine. */
static enum status consider(struct stay *stay, uint32_t number, bool *taken, struct why *why)
{
    struct queue_job job;
    struct why ignored = {{0}};
    const bool seen = queue_look(&job, stay->office, number, &ignored) == STATUS_OK;
    if (seen && job.stuck && job.cancel[0] != '\0') {
        char because[RECORD_CAUSE_BYTES];
        (void)snprintf(because, sizeof because, "cancelled by %s; %.*s", job.cancel,
                       (int)(sizeof because - sizeof job.cancel - 32), job.because);
        memcpy(job.because, because, sizeof because);
        job.state = QUEUE_CANCELLED;
        return file_job(stay, &job, why);
    }
    if (seen && job.stuck) {
        pass_over(stay, number, job.because);
        return STATUS_OK;
    }
    return seen && !job.begun && job.state == QUEUE_CANCELLED ? file_job(stay, &job, why)
                                                              : take(stay, &job, taken, why);
}

enum status stay_choose(struct stay *stay, struct why *why)
{
    bool taken = false;
    stay->number = 0;
    stay->cancel[0] = '\0';
    queue_list_free(&stay->list);
    enum status status = queue_list(&stay->list, stay->office, why);
    for (size_t i = 0; i < stay->list.count && status == STATUS_OK && !taken; i++) {
        if (!queue_holds(stay->office, stay->list.number[i], "end")) {
            status = consider(stay, stay->list.number[i], &taken, why);
        }
    }
    return status;
}

void stay_free(struct stay *stay)
{
    queue_list_free(&stay->list);
}
