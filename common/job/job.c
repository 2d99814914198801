#include "job/job.h"

#include "base/check.h"
#include "base/text.h"
#include "task/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
        return why_refuse(why, "the job needs %" PRIu64 " records, and there are %" PRIu64, needed,
                          records);
    }
    job_take_shares(job, records);
    return job_sums_check(job, &stage, why);
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
