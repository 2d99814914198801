#include "agent/policy.h"

#include "base/decimal.h"
#include "config/config.h"
#include "dp/charge.h"

#include <string.h>

enum { VALUE_BYTES = 8 /* of one number in an answer or artifact */ };

static const char *task_choice(unsigned index)
{
    return task_name((enum task)index);
}

static const char *trust_choice(unsigned index)
{
    return job_trust_name((enum job_trust)index);
}

static const struct config_key policy_keys[] = {
    {.name = "epsilon",
     .type = CONFIG_FIXED,
     .places = EPSILON_DECIMALS,
     .required = true,
     CONFIG_IN(struct policy, epsilon_micro),
     .min = 1,
     .max = 1000000 * EPSILON_MICRO_ONE,
     .example = "10"},
    {.name = "delta",
     .type = CONFIG_FIXED,
     .places = DELTA_DECIMALS,
     .required = true,
     CONFIG_IN(struct policy, delta_atto),
     .max = DELTA_ATTO_ONE / 10,
     .example = "0"},
    {.name = "job_epsilon",
     .type = CONFIG_FIXED,
     .places = EPSILON_DECIMALS,
     CONFIG_IN(struct policy, job_epsilon_micro),
     .min = 1,
     .max = 1000000 * EPSILON_MICRO_ONE,
     .example = "2"},
    {.name = "cohort_minimum",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_IN(struct policy, cohort_min),
     .min = 1,
     .max = JOB_AGENTS_MAX,
     .example = "3"},
    {.name = "tasks",
     .type = CONFIG_SET,
     .required = true,
     .items_max = 8,
     CONFIG_IN(struct policy, task_allowed),
     .choice = task_choice,
     .example = "[fit, losses]"},
    {.name = "trust",
     .type = CONFIG_SET,
     .required = true,
     .items_max = 4,
     CONFIG_IN(struct policy, trust_allowed),
     .choice = trust_choice,
     .example = "[local]"},
    {.name = "message_mb_max",
     .type = CONFIG_FIXED,
     .places = 6,
     .exact = true,
     .required = true,
     CONFIG_IN(struct policy, message_bytes_max),
     .min = 1000,
     .max = UINT64_C(4000000000),
     .example = "64"},
    {.name = "answer_slot_ms",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_IN(struct policy, answer_slot_ms),
     .min = 1,
     .max = 604800000,
     .example = "1000"},
    {.name = NULL},
};

enum status policy_parse(struct policy *policy, struct slice text, const char *name,
                         struct why *why)
{
    struct config *config = NULL;
    *policy = (struct policy){.epsilon_micro = 0};
    enum status status = config_open(&config, text, name, why);
    if (status == STATUS_OK) {
        status = config_read(config, policy, policy_keys, why);
    }
    if (status == STATUS_OK && policy->job_epsilon_micro > policy->epsilon_micro) {
        status = config_refuse(config, why, "job_epsilon",
                               "is more than epsilon, the total: lower it, or leave it out");
    }
    if (status != STATUS_OK) {
        *policy = (struct policy){.epsilon_micro = 0};
    }
    config_free(config);
    return status;
}

static enum status check_price(const struct policy *policy, const struct job *job, struct why *why)
{
    char asked[DECIMAL_TEXT_BYTES];
    char allowed[DECIMAL_TEXT_BYTES];
    decimal_format(asked, sizeof asked, job->epsilon_micro, EPSILON_DECIMALS);
    if (job->epsilon_micro > policy->epsilon_micro) {
        decimal_format(allowed, sizeof allowed, policy->epsilon_micro, EPSILON_DECIMALS);
        why_set(why, "it may cost epsilon %s, and the policy's total (epsilon) is %s", asked,
                allowed);
        return STATUS_REFUSED;
    }
    if (policy->job_epsilon_micro != 0 && job->epsilon_micro > policy->job_epsilon_micro) {
        decimal_format(allowed, sizeof allowed, policy->job_epsilon_micro, EPSILON_DECIMALS);
        why_set(why, "it may cost epsilon %s, and the policy allows a job %s (job_epsilon)", asked,
                allowed);
        return STATUS_REFUSED;
    }
    if (job->delta_atto > policy->delta_atto) {
        decimal_format(asked, sizeof asked, job->delta_atto, DELTA_DECIMALS);
        decimal_format(allowed, sizeof allowed, policy->delta_atto, DELTA_DECIMALS);
        why_set(why, "it may cost delta %s, and the policy's total (delta) is %s", asked, allowed);
        return STATUS_REFUSED;
    }
    return STATUS_OK;
}

/* The experts with as few agents as the job can run with: later, with more of them, each artifact
 * is measured again as it arrives. */
static enum status check_sizes(const struct policy *policy, const struct job *job, struct why *why)
{
    uint64_t feature_count = schema_feature_count(&job->schema);
    uint64_t expert_count = 0;
    uint64_t bytes = feature_count * VALUE_BYTES;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        if (stage->task == TASK_FIT) {
            expert_count += stage->rounds * job_experts_of_round(stage, job->cohort_min);
        }
    }
    if (expert_count * feature_count * VALUE_BYTES > bytes) {
        bytes = expert_count * feature_count * VALUE_BYTES;
    }
    if (bytes > policy->message_bytes_max) {
        why_set(why,
                "its answers and models take %llu bytes or more, and the policy allows %llu "
                "(message_mb_max)",
                (unsigned long long)bytes, (unsigned long long)policy->message_bytes_max);
        return STATUS_REFUSED;
    }
    return STATUS_OK;
}

enum status policy_check_job(const struct policy *policy, const struct job *job, struct why *why)
{
    if (!policy->trust_allowed[job->trust]) {
        why_set(why, "its trust is %s, which the policy does not allow (trust)",
                job_trust_name(job->trust));
        return STATUS_REFUSED;
    }
    if (job->cohort_min < policy->cohort_min) {
        why_set(why,
                "its rounds count with %u agents, and the policy wants at least %u "
                "(cohort_minimum)",
                (unsigned)job->cohort_min, (unsigned)policy->cohort_min);
        return STATUS_REFUSED;
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        if (!policy->task_allowed[job->stage[i].task]) {
            why_set(why, "its stage %zu is the task %s, which the policy does not allow (tasks)",
                    i + 1, task_name(job->stage[i].task));
            return STATUS_REFUSED;
        }
    }
    if (policy->answer_slot_ms >= job->deadline_ms) {
        why_set(why,
                "its deadline of %u ms ends before the first answer slot of %u ms: every answer "
                "would be late (answer_slot_ms)",
                (unsigned)job->deadline_ms, (unsigned)policy->answer_slot_ms);
        return STATUS_REFUSED;
    }
    enum status status = check_price(policy, job, why);
    return status == STATUS_OK ? check_sizes(policy, job, why) : status;
}
