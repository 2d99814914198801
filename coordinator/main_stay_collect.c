/* Which jobs a collector serves: those that the one that leads the queue runs (queue_set_led). It decides nothing else: the
 * leader has judged them, and files them. */

#include "coordinator/main_stay_private.h"

#include "io/worker.h"

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

/* What is decided about a job on the thread that runs machines. */
struct serving {
    struct stay *stay;
    const struct queue_list *list;
    uint32_t number;
    struct office *own;
    bool wanted;
    bool taken;
    enum status status;
    struct why why;
};

static void place(void *self)
{
    struct serving *serving = self;
    struct stay *stay = serving->stay;
    if (!stay_is_free(stay, &serving->own->job)) {
        return;
    }
    serving->status = stay_place(stay, serving->number, serving->own, &serving->why);
    serving->taken = serving->status == STATUS_OK;
    if (serving->taken) {
        const struct log_field field[] = {{.name = "job", .number = serving->number}};
        log_event_fields(stay->log, LOG_INFO, "job-taken", field, 1,
                         "job %" PRIu32 " \"%s\" is led: this collector serves it", serving->number,
                         serving->own->job.name);
    }
}

/* One whose agents another job here asks yet is taken once that one has ended. */
static enum status serve(struct stay *stay, uint32_t number, struct why *why)
{
    struct office own = office_like(stay->office);
    struct serving serving = {.stay = stay, .number = number, .own = &own};
    enum status status = queue_take(&own, number, why);
    if (status != STATUS_OK && status != STATUS_NO_MEMORY && status != STATUS_AGAIN) {
        stay_pass_over(stay, number, why->text);
        status = STATUS_OK;
    } else if (status == STATUS_OK) {
        status = worker_on_owner(place, &serving) ? serving.status : STATUS_BUSY;
        if (serving.taken) {
            return STATUS_OK;
        }
    }
    office_free(&own);
    return status;
}

static void look_around(void *self)
{
    struct serving *serving = self;
    const struct stay *stay = serving->stay;
    serving->wanted = stay_count(stay) < STAY_JOBS_MAX && !stay_runs(stay, serving->number) &&
                      !is_served(stay, serving->number) && !stay_is_aside(stay, serving->number);
}

static void forget_served(void *self)
{
    const struct serving *serving = self;
    struct stay *stay = serving->stay;
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        stay->served[i] = lists(serving->list, stay->served[i]) ? stay->served[i] : 0;
    }
}

enum status stay_collect(struct stay *stay, struct why *why)
{
    struct queue_list list = {.count = 0};
    struct serving serving = {.stay = stay, .list = &list};
    enum status status = queue_list(&list, stay->office, why);
    if (status == STATUS_OK && !worker_on_owner(forget_served, &serving)) {
        status = STATUS_BUSY;
    }
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++) {
        serving.number = list.entry[i].number;
        if (!worker_on_owner(look_around, &serving)) {
            status = STATUS_BUSY;
        } else if (serving.wanted) {
            status = serve(stay, serving.number, why);
        }
    }
    const enum status kept = stay_keep_list(stay, &list);
    return status == STATUS_OK ? kept : status;
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
