/* Which jobs a collector serves: those that the one that leads the queue runs (queue_set_led). It decides nothing else: the
 * leader has judged them, and files them. */

#include "coordinator/main_stay_private.h"

#include <inttypes.h>

static bool lists(const struct queue_list *list, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < list->count && !found; i++) {
        found = list->entry[i].number == number;
    }
    return found;
}

static bool is_served(const struct stay *stay, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < STAY_JOBS_MAX && !found; i++) {
        found = stay->served[i] == number;
    }
    return found;
}

/* One whose agents another job here asks yet is taken once that one has ended. */
static enum status serve(struct stay *stay, uint32_t number, struct why *why)
{
    struct office own = office_like(stay->office);
    const enum status status = queue_take(&own, number, why);
    if (status == STATUS_OK && stay_is_free(stay, &own.job)) {
        stay_place(stay, number, &own);
        const struct log_field field[] = {{.name = "job", .number = number}};
        log_event_fields(stay->log, LOG_INFO, "job-taken", field, 1,
                         "job %" PRIu32 " \"%s\" is led: this collector serves it", number,
                         own.job.name);
        return STATUS_OK;
    }
    if (status != STATUS_OK && status != STATUS_NO_MEMORY && status != STATUS_AGAIN) {
        stay_pass_over(stay, number, why->text);
    }
    office_free(&own);
    return status == STATUS_NO_MEMORY || status == STATUS_AGAIN ? status : STATUS_OK;
}

enum status stay_collect(struct stay *stay, struct why *why)
{
    queue_list_free(&stay->list);
    enum status status = queue_list(&stay->list, stay->office, why);
    for (size_t i = 0; i < STAY_JOBS_MAX && status == STATUS_OK; i++) {
        stay->served[i] = lists(&stay->list, stay->served[i]) ? stay->served[i] : 0;
    }
    for (size_t i = 0; i < stay->list.count && status == STATUS_OK; i++) {
        const uint32_t number = stay->list.entry[i].number;
        if (stay_count(stay) < STAY_JOBS_MAX && !stay_runs(stay, number) &&
            !is_served(stay, number) && !stay_is_aside(stay, number)) {
            status = serve(stay, number, why);
        }
    }
    return status;
}

void stay_leave(struct stay *stay, struct stay_job *job, bool through)
{
    size_t i = 0;
    while (i < STAY_JOBS_MAX && stay->served[i] != 0) {
        i++;
    }
    if (through && i < STAY_JOBS_MAX) {
        stay->served[i] = job->number;
    }
    stay_give_up(job);
}
