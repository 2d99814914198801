/* A job's plan, and the plan of the same job with changes: its text is changed as `--set` would change it,
 * and read again. */

#include "cli/plan_job.h"

#include "config/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void job_plan_free(struct job_plan *plan)
{
    for (size_t i = 0; i < JOB_STAGES_MAX; i++) {
        terms_free(&plan->stage[i]);
    }
    job_free(&plan->job);
    memset(plan, 0, sizeof *plan);
}

const struct terms_line *job_plan_worst(const struct job_plan *plan, size_t stage)
{
    const struct terms *terms = &plan->stage[stage];
    const struct terms_line *worst = NULL;
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (isfinite(line->burden) && (worst == NULL || line->burden > worst->burden)) {
            worst = line;
        }
    }
    return worst;
}

double job_plan_burden(const struct job_plan *plan)
{
    double burden = 0;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct terms_line *worst = job_plan_worst(plan, i);
        burden = worst != NULL ? fmax(burden, worst->burden) : burden;
    }
    return burden;
}

static enum status change_text(char **text, size_t *size, const struct job_source *source,
                               const struct job_changes *changes, struct why *why)
{
    enum status status = STATUS_OK;
    *size = source->text.size;
    *text = malloc(*size + 1);
    if (*text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(*text, source->text.data, *size);
    (*text)[*size] = '\0';
    for (size_t i = 0; changes != NULL && i < changes->count && status == STATUS_OK; i++) {
        char *changed = NULL;
        size_t changed_size = 0;
        status = config_override(&changed, &changed_size, (struct slice){*text, *size},
                                 source->name, changes->set[i], why);
        if (status == STATUS_OK) {
            free(*text);
            *text = changed;
            *size = changed_size;
        }
    }
    return status;
}

static enum status choose_size(struct job_plan *plan, const struct job_source *source,
                               const struct job_changes *changes, struct why *why)
{
    const uint64_t needed = job_records_min(&plan->job);
    plan->size = source->size;
    if (changes != NULL && changes->size.agents > 0) {
        plan->size.agents = changes->size.agents;
    }
    if (changes != NULL && changes->size.records > 0) {
        plan->size.records = changes->size.records;
    }
    if (plan->size.agents == 0) {
        plan->size.agents = plan->job.cohort_min;
    }
    const bool says_none =
        needed < 2 || (job_has_shares(&plan->job) && plan->job.records_least <= 1);
    if (plan->size.records == 0 && says_none) {
        why_set(why,
                "%s: nothing in the job says how many records an agent has: say so with "
                "--records N",
                source->name);
        return STATUS_INVALID;
    }
    plan->size.records = plan->size.records < needed ? needed : plan->size.records;
    return STATUS_OK;
}

enum status job_plan_make(struct job_plan *plan, const struct job_source *source,
                          const struct job_changes *changes, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    memset(plan, 0, sizeof *plan);
    if (changes != NULL && changes->cut) {
        why_set(why, "%s: the change is too long", source->name);
        return STATUS_INVALID;
    }
    enum status status = change_text(&text, &size, source, changes, why);
    if (status == STATUS_OK) {
        status = job_parse(&plan->job, (struct slice){text, size}, source->name, why);
    }
    free(text);
    if (status == STATUS_OK) {
        status = choose_size(plan, source, changes, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < plan->job.stage_count; i++) {
        status = terms_of_stage(&plan->stage[i], &plan->job, i, plan->size, why);
    }
    if (status != STATUS_OK) {
        job_plan_free(plan);
        return status;
    }
    const struct job *job = &plan->job;
    const struct cost sums = round_cost(job, &job->filter, job_round_count(job));
    plan->price = terms_price(&job->filter, &sums);
    plan->admitted = filter_admits(&job->filter, &sums);
    return STATUS_OK;
}
