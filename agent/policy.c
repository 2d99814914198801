#include "agent/policy.h"

#include "base/check.h"
#include "base/decimal.h"
#include "base/text.h"
#include "config/keys.h"
#include "dp/window.h"
#include "job/reach.h"
#include "job/round.h"
#include "job/trust.h"
#include "job/work.h"

#include <string.h>

enum { VALUE_BYTES = 8 /* of one number in an answer or artifact */ };

static const char *approval_choice(unsigned index)
{
    static const char *const name[] = {[APPROVAL_PERSON] = "person", [APPROVAL_POLICY] = "policy"};
    CHECK_TABLE(name, APPROVAL_COUNT);
    return index < APPROVAL_COUNT ? name[index] : NULL;
}

/* clang-format off */
#define KEY_OF struct policy
static const struct config_key policy_keys[] = {
    KEY_FIXED("epsilon", epsilon_micro, EPSILON_DECIMALS, 1, 1000000 * EPSILON_MICRO_ONE, REQUIRED("2"),
        DOC("The most these records may ever lose, over all jobs.")),
    KEY_FIXED("delta", delta_atto, DELTA_DECIMALS, 0, DELTA_ATTO_ONE / 10, REQUIRED("0"),
        DOC("The chance that this does not hold; far below one over the number of records. 0 without Gaussian noise.")),
    KEY_FIXED("job_epsilon", job_epsilon_micro, EPSILON_DECIMALS, 1, 1000000 * EPSILON_MICRO_ONE, OPTIONAL("2"),
        DOC("The most one job may cost; as the total without it.")),
    KEY_FIXED("job_delta", job_delta_atto, DELTA_DECIMALS, 0, DELTA_ATTO_ONE / 10, OPTIONAL("0"),
        DOC("Of job_epsilon; as delta without it.")),
    KEY_WHOLE("allowance_days", allowance_days, 1, WINDOW_DAYS_MAX, OPTIONAL("365"),
        DOC("With allowance_epsilon: the length of a window, in days.")),
    KEY_FIXED("allowance_epsilon", allowance_epsilon_micro, EPSILON_DECIMALS, 1, 1000000 * EPSILON_MICRO_ONE,
        OPTIONAL("3"),
        DOC("The most that any allowance_days days may cost.")),
    KEY_FIXED("allowance_delta", allowance_delta_atto, DELTA_DECIMALS, 0, DELTA_ATTO_ONE / 10, OPTIONAL("0"),
        DOC("Of allowance_epsilon; as delta without it.")),
    KEY_FIXED("least_epsilon", least_epsilon_micro, EPSILON_DECIMALS, 0, 1000000 * EPSILON_MICRO_ONE,
        DEFAULT("0.00001", "0.00001"),
        DOC("The least that each answer must use up of epsilon: its charge stays in the journal for ever. 0: any.")),
    KEY_WHOLE("cohort_minimum", cohort_min, 1, JOB_AGENTS_MAX, REQUIRED("3"),
        DOC("Join no job that would go on with fewer agents.")),
    KEY_SET("tasks", task_allowed, TASK_COUNT, task_name, REQUIRED("[fit, losses]"),
        DOC("What a job may do here.")),
    KEY_SET("trust", trust_allowed, TRUST_COUNT, job_trust_name, REQUIRED("[local]"),
        DOC("Who adds the noise: local, distributed (needs peers), or central: this site sends EXACT sums.")),
    KEY_TEXT("peers", peers, OPTIONAL("peers"),
        DOC("Trust distributed: the list of institutions that this site takes for independent ones (`peers add`).")),
    KEY_WHOLE("dishonest_minimum", dishonest_min, 1, 254, DEFAULT("1", "1"),
        DOC("Trust distributed: join no job that counts fewer sites as possibly dishonest (cohort.dishonest).")),
    KEY_CHOICE("approval", approval, approval_choice, DEFAULT("person", "person"),
        DOC("Who decides on each job: a person with `hedgerow-agent approve`, or this policy by itself.")),
    KEY_WHOLE("jobs_per_day", jobs_per_day, 1, 1000000, DEFAULT("20", "20"),
        DOC("New jobs that are looked at in a day (UTC).")),
    KEY_FLAG("share_dictionary", share_dictionary, DEFAULT("false", "true"),
        DOC("true shows the data dictionary's text to the coordinator, so that job writers see columns.")),
    KEY_EXACT("message_mb_max", message_bytes_max, 6, 1000, UINT64_C(4000000000), REQUIRED("64"),
        DOC("The largest answer or model in megabytes.")),
    KEY_WHOLE("answer_slot_ms", answer_slot_ms, 1, 604800000, REQUIRED("1000"),
        DOC("Answers of solvers leave at multiples of this: longer than a solver may take here (`check --job`).")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status refuse_above_total(const struct config *config, struct why *why, const char *key,
                                      const char *total)
{
    return config_refuse(config, why, key, "is more than %s, the total: lower it, or leave it out",
                         total);
}

/* What belongs together is there together, nothing exceeds the total, and a delta that is left out
 * is the total's. */
static enum status check_allowances(const struct config *config, struct policy *policy,
                                    struct why *why)
{
    static const char *const needs[][2] = {{"job_delta", "job_epsilon"},
                                           {"allowance_epsilon", "allowance_days"},
                                           {"allowance_delta", "allowance_days"},
                                           {"allowance_days", "allowance_epsilon"}};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (config_has(config, needs[i][0]) && !config_has(config, needs[i][1])) {
            return config_refuse(config, why, needs[i][0],
                                 "says nothing without %s: add it, or leave both out", needs[i][1]);
        }
    }
    if (policy->job_epsilon_micro > policy->epsilon_micro) {
        return refuse_above_total(config, why, "job_epsilon", "epsilon");
    }
    if (policy->job_delta_atto > policy->delta_atto) {
        return refuse_above_total(config, why, "job_delta", "delta");
    }
    if (policy->allowance_epsilon_micro > policy->epsilon_micro) {
        return refuse_above_total(config, why, "allowance_epsilon", "epsilon");
    }
    if (policy->allowance_delta_atto > policy->delta_atto) {
        return refuse_above_total(config, why, "allowance_delta", "delta");
    }
    if (policy_allows_masks(policy) && policy->peers[0] == '\0') {
        return config_refuse(config, why, "trust",
                             "allows distributed, which needs a list of institutions: add `peers: "
                             "peers`, and fill it with `hedgerow-agent peers add`");
    }
    if (!config_has(config, "job_delta")) {
        policy->job_delta_atto = policy->delta_atto;
    }
    if (!config_has(config, "allowance_delta")) {
        policy->allowance_delta_atto = policy->delta_atto;
    }
    return STATUS_OK;
}

enum status policy_parse(struct policy *policy, struct slice text, const char *name,
                         struct why *why)
{
    struct config *config = NULL;
    *policy = (struct policy){.epsilon_micro = 0};
    enum status status = config_open(&config, text, name, why);
    if (status == STATUS_OK) {
        status = config_read(config, policy, policy_keys, why);
    }
    if (status == STATUS_OK) {
        status = check_allowances(config, policy, why);
    }
    if (status != STATUS_OK) {
        *policy = (struct policy){.epsilon_micro = 0};
    }
    config_free(config);
    return status;
}

bool policy_allows_masks(const struct policy *policy)
{
    bool allows = false;
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        allows = allows || (policy->trust_allowed[i] && trust_at((enum job_trust)i)->masked);
    }
    return allows;
}

static void say_number(char text[DECIMAL_TEXT_BYTES], const struct config_key *key,
                       const struct policy *policy)
{
    const char *member = (const char *)policy + key->offset;
    uint64_t value = 0;
    uint32_t narrow = 0;
    if (key->size == sizeof narrow) {
        memcpy(&narrow, member, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, member, sizeof value);
    }
    decimal_format(text, DECIMAL_TEXT_BYTES, value, key->places);
}

bool policy_differs(const struct policy *before, const struct policy *after, char *text,
                    size_t size)
{
    text[0] = '\0';
    for (const struct config_key *key = policy_keys; key->name != NULL; key++) {
        const char *was = (const char *)before + key->offset;
        const char *is = (const char *)after + key->offset;
        char from[DECIMAL_TEXT_BYTES];
        char to[DECIMAL_TEXT_BYTES];
        if (memcmp(was, is, key->size) == 0) {
            continue;
        }
        text_add(text, size, "%s%s", text[0] != '\0' ? ", " : "", key->name);
        if (key->type == CONFIG_FIXED || key->type == CONFIG_INTEGER) {
            say_number(from, key, before);
            say_number(to, key, after);
            text_add(text, size, " %s -> %s", from, to);
        }
    }
    return text[0] != '\0';
}

char *policy_template(void)
{
    return config_template(
        policy_keys,
        "What this site allows, whatever a job asks for. It is never sent anywhere.\n"
        "Written by `hedgerow-agent init`: read each line, and change what does not fit.\n");
}

struct allowances policy_allowances(const struct policy *policy)
{
    return (struct allowances){
        .total = {policy->epsilon_micro, policy->delta_atto},
        .job = {policy->job_epsilon_micro, policy->job_delta_atto},
        .window = {policy->allowance_epsilon_micro, policy->allowance_delta_atto},
        .window_days = policy->allowance_days};
}

/* One allowance, while nothing is spent of it. whose: how the sentence goes on, up to the amount.
 * Pure jobs are asked for as a whole, whatever their parts round to. */
static enum status check_limit(struct price limit, const struct job *job, const char *epsilon_whose,
                               const char *delta_whose, struct why *why)
{
    struct filter filter = filter_new(limit);
    struct charge whole = {.epsilon_micro = job->epsilon_micro, .pass = {{1}}, .row_count = 1};
    struct cost cost = job->delta_atto > 0 ? round_cost(job, &filter, job_round_count(job))
                                           : filter_cost(&filter, &whole);
    char asked[DECIMAL_TEXT_BYTES];
    char allowed[DECIMAL_TEXT_BYTES];

    /* Delta first: without it no epsilon covers Gaussian noise, and the sentence would name the
     * wrong key. */
    if (job->delta_atto > limit.delta_atto) {
        decimal_format(asked, sizeof asked, job->delta_atto, DELTA_DECIMALS);
        decimal_format(allowed, sizeof allowed, limit.delta_atto, DELTA_DECIMALS);
        why_set(why, "it may cost delta %s, and %s %s", asked, delta_whose, allowed);
        return STATUS_REFUSED;
    }
    if (!filter_admits(&filter, &cost)) {
        decimal_format(asked, sizeof asked, job->epsilon_micro, EPSILON_DECIMALS);
        decimal_format(allowed, sizeof allowed, limit.epsilon_micro, EPSILON_DECIMALS);
        why_set(why, "it may cost epsilon %s, and %s %s", asked, epsilon_whose, allowed);
        return STATUS_REFUSED;
    }
    return STATUS_OK;
}

static enum status check_price(const struct policy *policy, const struct job *job, struct why *why)
{
    struct allowances allowances = policy_allowances(policy);
    enum status status = check_limit(allowances.total, job, "the policy's total (epsilon) is",
                                     "the policy's total (delta) is", why);
    if (status == STATUS_OK && allowances.job.epsilon_micro > 0) {
        status = check_limit(allowances.job, job, "the policy allows a job (job_epsilon)",
                             "the policy allows a job (job_delta)", why);
    }
    if (status == STATUS_OK && allowances.window_days > 0) {
        status = check_limit(allowances.window, job,
                             "the policy allows any allowance_days (allowance_epsilon)",
                             "the policy allows any allowance_days (allowance_delta)", why);
    }
    return status;
}

/* Every answer leaves a record in the journal for ever. As each uses up this much of the total, the journal is
 * bounded, whatever jobs a coordinator makes up and wherever it leaves off. The answers of a pass are paid with its
 * first one. */
static enum status check_least(const struct policy *policy, const struct job *job, struct why *why)
{
    const struct filter filter = filter_new(policy_allowances(policy).total);
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        const struct cost cost = reach_event_cost(&filter, stage->charge);
        const uint64_t used = filter_uses(&filter, &cost);
        const uint32_t pass = reach_pass_rounds(job, stage);
        const uint32_t answers = pass < stage->rounds ? pass : stage->rounds;
        if (used < answers * policy->least_epsilon_micro) {
            char uses[DECIMAL_TEXT_BYTES];
            char least[DECIMAL_TEXT_BYTES];
            decimal_format(uses, sizeof uses, used, EPSILON_DECIMALS);
            decimal_format(least, sizeof least, policy->least_epsilon_micro, EPSILON_DECIMALS);
            why_set(why,
                    "its stage %zu, %s, uses %s of the policy's epsilon for a pass of %u answers, "
                    "and the policy wants at least %s for each (least_epsilon): the journal keeps "
                    "every charge for ever",
                    i + 1, task_name(stage->task), uses, (unsigned)answers, least);
            return STATUS_REFUSED;
        }
    }
    return STATUS_OK;
}

/* The experts with as few agents as the job can run with: later, with more of them, each artifact
 * is measured again as it arrives. */
static enum status check_sizes(const struct policy *policy, const struct job *job, struct why *why)
{
    uint64_t feature_count = round_width(job);
    uint64_t expert_count = 0;
    uint64_t bytes = feature_count * VALUE_BYTES;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        expert_count += job_experts_of_stage(stage, job->cohort_min);
        uint64_t answer = round_answer_count(job, stage, 0, (size_t)expert_count) * VALUE_BYTES;
        bytes = answer > bytes ? answer : bytes;
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

static bool needs_slot(const struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        if (!work_time_is_public(&job->stage[i])) {
            return true;
        }
    }
    return false;
}

enum status policy_check_job(const struct policy *policy, const struct job *job, struct why *why)
{
    if (!policy->trust_allowed[job->trust]) {
        why_set(why, "its trust is %s, which the policy does not allow (trust)",
                job_trust_name(job->trust));
        return STATUS_REFUSED;
    }
    if (trust_of(job)->masked && policy->peers[0] == '\0') {
        why_set(why, "its answers are masked, and the policy names no list of institutions to mask "
                     "them with (peers)");
        return STATUS_REFUSED;
    }
    if (trust_of(job)->masked && job->dishonest < policy->dishonest_min) {
        why_set(why,
                "its masked sums count %u sites as possibly dishonest (cohort.dishonest), and the "
                "policy wants at least %u (dishonest_minimum)",
                (unsigned)job->dishonest, (unsigned)policy->dishonest_min);
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
    if (needs_slot(job) && policy->answer_slot_ms >= job->deadline_ms) {
        why_set(why,
                "its deadline of %u ms ends before the first answer slot of %u ms: every answer "
                "would be late (answer_slot_ms)",
                (unsigned)job->deadline_ms, (unsigned)policy->answer_slot_ms);
        return STATUS_REFUSED;
    }
    enum status status = check_price(policy, job, why);
    if (status == STATUS_OK) {
        status = check_least(policy, job, why);
    }
    return status == STATUS_OK ? check_sizes(policy, job, why) : status;
}
