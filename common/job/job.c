#include "job/job.h"

#include "base/check.h"
#include "base/text.h"
#include "job/trust.h"
#include "masks/quorum.h"
#include "task/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The enums' names, each once; the index is checked, as it comes from loops and from other rooms.
 */
static const char *name_at(const char *const *name, size_t count, unsigned index)
{
    return index < count ? name[index] : NULL;
}

#define NAME_AT(table, value) name_at(table, sizeof(table) / sizeof((table)[0]), (unsigned)(value))

const char *task_name(unsigned task)
{
#define TASK_NAME(NAME, name) #name,
    static const char *const name[] = {TASK_LIST(TASK_NAME)};
#undef TASK_NAME
    return NAME_AT(name, task);
}

const char *strategy_name(unsigned strategy)
{
    static const char *const name[] = {[STRATEGY_AVERAGE] = "average",
                                       [STRATEGY_RWM] = "rwm",
                                       [STRATEGY_ANSWER] = "answer",
                                       [STRATEGY_NOISY_MIN] = "noisy_min",
                                       [STRATEGY_EXPONENTIAL] = "exponential",
                                       [STRATEGY_PERMUTE_AND_FLIP] = "permute_and_flip",
                                       [STRATEGY_MOMENTUM] = "momentum",
                                       [STRATEGY_ADAM] = "adam",
                                       [STRATEGY_THEOREM] = "theorem",
                                       [STRATEGY_DARTBOARD] = "dartboard",
                                       [STRATEGY_EPOCHS] = "epochs"};
    CHECK_TABLE(name, STRATEGY_COUNT);
    return NAME_AT(name, strategy);
}

const char *job_unit_name(unsigned unit)
{
    static const char *const name[] = {
        [UNIT_RECORD] = "record", [UNIT_ROUND] = "round", [UNIT_AGENT] = "agent"};
    CHECK_TABLE(name, UNIT_COUNT);
    return NAME_AT(name, unit);
}

const char *job_noise_name(unsigned noise)
{
    static const char *const name[] = {
        [JOB_NOISE_LAPLACE] = "laplace", [JOB_NOISE_GAUSSIAN] = "gaussian"};
    CHECK_TABLE(name, JOB_NOISE_COUNT);
    return NAME_AT(name, noise);
}

void job_free(struct job *job)
{
    if (job == NULL) {
        return;
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        free(job->stage[i].lambda);
        free(job->stage[i].shift);
        const struct task_text *text = task_text(job->stage[i].task);
        if (job->stage[i].own != NULL && text->free_stage != NULL) {
            text->free_stage(job->stage[i].own);
        }
        free(job->stage[i].own);
    }
    free(job->stage);
    free(job->agent);
    schema_free(&job->schema);
    *job = (struct job){0};
}

bool job_asks(const struct job *job, const char *name)
{
    char key[JOB_AGENT_BYTES];
    return job->agent_count == 0 ||
           ((size_t)snprintf(key, sizeof key, "%s", name) < sizeof key &&
            bsearch(key, job->agent, job->agent_count, sizeof *job->agent, text_order) != NULL);
}

bool job_shares_agents(const struct job *a, const struct job *b)
{
    bool shares = a->agent_count == 0 || b->agent_count == 0;
    for (size_t i = 0; i < a->agent_count && !shares; i++) {
        shares = job_asks(b, a->agent[i]);
    }
    return shares;
}

uint32_t job_round_count(const struct job *job)
{
    uint32_t count = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        count += job->stage[i].rounds;
    }
    return count;
}

const struct stage *job_stage_of(const struct job *job, uint32_t round, uint32_t *within)
{
    size_t i = 0;
    while (i < job->stage_count && round >= job->stage[i].rounds) {
        round -= job->stage[i].rounds;
        i++;
    }
    CHECK(i < job->stage_count);
    *within = round;
    return &job->stage[i];
}

bool job_makes_experts(const struct stage *stage)
{
    const struct task_bounds *task = task_bounds(stage->task);
    return task->experts != NULL || task->experts_at_end != NULL;
}

struct loss job_loss(const struct job *job)
{
    struct loss loss = {.kind =
                            job->schema.label.kind == LABEL_NUMBER ? LOSS_SQUARED : LOSS_LOGISTIC};
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job_makes_experts(&job->stage[i])) {
            loss = job->stage[i].loss;
        }
    }
    return loss;
}

size_t job_experts_at_start(const struct stage *stage)
{
    const struct task_bounds *task = task_bounds(stage->task);
    return task->experts_at_start == NULL ? 0 : task->experts_at_start(stage);
}

size_t job_experts_of_round(const struct stage *stage, size_t agent_count)
{
    const struct task_bounds *task = task_bounds(stage->task);
    return task->experts == NULL ? 0 : task->experts(stage, agent_count);
}

size_t job_experts_of_stage(const struct stage *stage, size_t agent_count)
{
    const size_t of_round = job_experts_of_round(stage, agent_count);
    const struct task_bounds *task = task_bounds(stage->task);
    const size_t at_end = task->experts_at_end == NULL ? 0 : task->experts_at_end(stage);
    return stage->rounds * of_round + at_end + job_experts_at_start(stage);
}

size_t job_experts_at(const struct job *job, size_t index, size_t agent_count)
{
    size_t count = job_experts_at_start(&job->stage[index]);
    for (size_t i = 0; i < index; i++) {
        count += job_experts_of_stage(&job->stage[i], agent_count);
    }
    return count;
}

uint64_t job_records_min(const struct job *job)
{
    uint64_t records_min = job->records_least > 1 ? job->records_least : 1;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        uint64_t records = round_records_least(stage);
        records_min = records > records_min ? records : records_min;
    }
    return records_min;
}

bool job_has_shares(const struct job *job)
{
    bool found = false;
    for (size_t i = 0; i < job->stage_count; i++) {
        found = found || job->stage[i].batch_nano > 0;
    }
    return found;
}

void job_take_shares(struct job *job, uint64_t records)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        job->stage[i].batch = round_batch(&job->stage[i], records);
    }
}

enum status job_settle(struct job *job, uint64_t records, struct why *why)
{
    const uint64_t needed = job_records_min(job);
    size_t stage = 0;
    if (!job_has_shares(job)) {
        return STATUS_OK;
    }
    if (records < needed) {
        why_set(why, "the job needs %" PRIu64 " records, and there are %" PRIu64, needed, records);
        return STATUS_INVALID;
    }
    job_take_shares(job, records);
    return job_sums_check(job, &stage, why);
}

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

static enum status build(const struct drafting *drafting)
{
    const struct draft *draft = drafting->draft;
    struct job *job = drafting->job;
    for (size_t i = 0; i < sizeof job->name; i++) {
        job->name[i] = draft->name[i];
    }
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
    enum status status = take_agents(drafting);
    if (status == STATUS_OK) {
        status = check_masks(drafting);
    }
    if (status == STATUS_OK) {
        status = job_schema_build(drafting);
    }
    if (status == STATUS_OK) {
        status = schema_check(&job->schema, drafting->why);
    }
    if (status == STATUS_OK) {
        status = job_stages_build(drafting);
    }
    if (status == STATUS_OK) {
        status = schema_check(&job->schema, drafting->why); /* with its maps now */
    }
    if (status == STATUS_OK) {
        status = check_most(drafting);
    }
    return status == STATUS_OK ? check_sums(drafting) : status;
}

static enum status parse(struct job *job, struct slice text, const char *name, enum job_age age,
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

enum status job_parse(struct job *job, struct slice text, const char *name, struct why *why)
{
    return parse(job, text, name, JOB_OF_NOW, why);
}

enum status job_parse_older(struct job *job, struct slice text, enum job_age age, const char *name,
                            struct why *why)
{
    return parse(job, text, name, age, why);
}

enum job_age job_age_of(bool trees, bool shares, uint32_t protocol)
{
    if (protocol > 0) {
        return protocol >= 9   ? JOB_OF_NOW
               : protocol == 8 ? JOB_OF_8
               : protocol == 7 ? JOB_OF_7
               : protocol == 6 ? JOB_OF_6
               : protocol == 5 ? JOB_OF_5
                               : JOB_UP_TO_4;
    }
    return !trees ? JOB_UP_TO_4 : shares ? JOB_OF_6 : JOB_OF_5;
}

uint32_t job_age_version(enum job_age age)
{
    switch (age) {
    case JOB_UP_TO_4:
        return 4;
    case JOB_OF_5:
        return 5;
    case JOB_OF_6:
        return 6;
    case JOB_OF_7:
        return 7;
    case JOB_OF_8:
        return 8;
    case JOB_OF_NOW:
        break;
    }
    return 9;
}

bool job_differs_older(const struct job *job)
{
    for (size_t i = 0; i < block_count(&job->schema); i++) {
        if (block_schema(&job->schema, i).map.kind == MAP_PRODUCTS) {
            return true;
        }
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job->stage[i].differs_older) {
            return true;
        }
    }
    return false;
}
