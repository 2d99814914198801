/* A job made from its text: what stages do not say, and what all of it has to keep to. */

#include "base/text.h"
#include "job/job.h"
#include "job/trust.h"
#include "masks/masks.h"
#include "task/task.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A share of the most records is what the share of any agent is held to. */
static enum status check_most(const struct drafting *drafting)
{
    const uint64_t needed = job_records_min(drafting->job);
    if (!job_has_shares(drafting->job) || drafting->job->records_most >= needed) {
        return STATUS_OK;
    }
    return config_refuse(drafting->config, drafting->why, "cohort.records_most",
                         "is below the %" PRIu64
                         " records that the job needs of every agent: write that many or more",
                         needed);
}

static enum status check_sums(const struct drafting *drafting)
{
    char path[CONFIG_PATH_BYTES];
    struct why why = {{0}};
    size_t stage = 0;
    enum status status = job_sums_check(drafting->job, &stage, &why);
    if (status != STATUS_OK) {
        (void)config_refuse(drafting->config, drafting->why, draft_path(path, "stages", stage, ""),
                            "%.300s", why.text);
    }
    return status;
}

static enum status refuse_cohort(const struct drafting *drafting, const char *key, const char *text)
{
    return config_refuse(drafting->config, drafting->why, key, "%s", text);
}

/* Whom masked sums count on: so that a sum of the smallest cohort can be opened, and stays open to nobody. */
static enum status check_masks(const struct drafting *drafting)
{
    static const char *const masked[] = {"cohort.dishonest", "cohort.honest"};
    const struct draft_cohort *cohort = &drafting->draft->cohort;
    const uint64_t said[] = {cohort->dishonest, cohort->honest}; /* 0: as if it were left out */
    struct job *job = drafting->job;
    struct masks_quorum quorum;
    struct why why = {""};
    if (!trust_of(job)->masked) {
        for (size_t i = 0; i < sizeof masked / sizeof masked[0]; i++) {
            if (said[i] > 0) {
                return refuse_cohort(drafting, masked[i],
                                     "is for trust distributed alone: remove it");
            }
        }
        return STATUS_OK;
    }
    if (cohort->dishonest == 0) {
        return refuse_cohort(drafting, "cohort.dishonest",
                             "is missing: say how many sites may help the coordinator, for "
                             "example `dishonest: 1`");
    }
    if (cohort->dishonest >= cohort->minimum) {
        return refuse_cohort(drafting, "cohort.dishonest",
                             "leaves no honest site of the smallest cohort (cohort.minimum): lower "
                             "it, or raise the minimum");
    }
    job->dishonest = cohort->dishonest;
    job->honest = cohort->honest > 0 ? cohort->honest : cohort->minimum - cohort->dishonest;
    if (masks_quorum_make(&quorum, cohort->minimum, job->dishonest, job->honest, &why) !=
        STATUS_OK) {
        return refuse_cohort(drafting, cohort->honest > 0 ? "cohort.honest" : "cohort.dishonest",
                             why.text);
    }
    return STATUS_OK;
}

/* Whom the job asks, where it says so: each once, and enough of them. */
static enum status take_agents(const struct drafting *drafting)
{
    const struct draft_cohort *cohort = &drafting->draft->cohort;
    struct job *job = drafting->job;
    if (cohort->agent_count == 0) {
        return STATUS_OK;
    }
    job->agent = calloc(cohort->agent_count, sizeof *job->agent);
    if (job->agent == NULL) {
        return STATUS_NO_MEMORY;
    }
    job->agent_count = cohort->agent_count;
    memcpy(job->agent, cohort->agent, cohort->agent_count * sizeof *job->agent);
    qsort(job->agent, job->agent_count, sizeof *job->agent, text_order);
    for (size_t i = 1; i < job->agent_count; i++) {
        if (strcmp(job->agent[i - 1], job->agent[i]) == 0) {
            return config_refuse(drafting->config, drafting->why, "cohort.agents",
                                 "names %s twice: write each agent once", job->agent[i]);
        }
    }
    return job->agent_count >= cohort->minimum
               ? STATUS_OK
               : config_refuse(drafting->config, drafting->why, "cohort.agents",
                               "names fewer agents than a round needs (cohort.minimum): name "
                               "more, or lower the minimum");
}

static enum status check_schema(const struct drafting *drafting)
{
    return schema_check(&drafting->job->schema, drafting->why);
}

static enum status build(const struct drafting *drafting)
{
    /* The schema's check comes again once it has the stages' maps. */
    static enum status (*const steps[])(const struct drafting *) = {
        take_agents,      check_masks,  job_schema_build, check_schema,
        job_stages_build, check_schema, check_most,       check_sums};
    const struct draft *draft = drafting->draft;
    struct job *job = drafting->job;
    enum status status = STATUS_OK;
    memcpy(job->name, draft->name, sizeof job->name);
    memcpy(job->data_set, draft->data.set, sizeof job->data_set);
    job->unit = (enum job_unit)draft->privacy.unit;
    job->trust = (enum job_trust)draft->privacy.trust;
    job->epsilon_micro = draft->privacy.epsilon_micro;
    job->delta_atto = draft->privacy.delta_atto;
    job->filter = filter_new((struct price){job->epsilon_micro, job->delta_atto});
    job->records_least = draft->cohort.records;
    job->records_most = draft->cohort.records_most;
    job->cohort_min = draft->cohort.minimum;
    job->deadline_ms = draft->cohort.deadline_ms;
    job->patience_ms = draft->cohort.patience_ms;
    job->join_deadline_ms = draft->cohort.join_deadline_ms;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == STATUS_OK; i++) {
        status = steps[i](drafting);
    }
    return status;
}

enum status job_parse(struct job *job, struct slice text, const char *name, struct why *why)
{
    return job_parse_older(job, text, JOB_OF_NOW, name, why);
}

enum status job_parse_older(struct job *job, struct slice text, enum job_age age, const char *name,
                            struct why *why)
{
    struct config *config = NULL;
    struct draft draft = {.stage_count = 0};
    struct draft_tables tables;
    draft_tables_init(&tables);
    *job = (struct job){.stage_count = 0};
    enum status status = config_open(&config, text, name, why);
    if (status == STATUS_OK) {
        status = config_read(config, &draft, tables.root, why);
    }
    if (status == STATUS_OK) {
        const struct drafting drafting = {config, &draft, &tables, job, why, age};
        status = build(&drafting);
    }
    if (status != STATUS_OK) {
        job_free(job);
    }
    config_free(config);
    return status;
}
