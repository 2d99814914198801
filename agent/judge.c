#include "agent/judge.h"

#include "job/work.h"
#include "task/answer.h"

enum status judge_data(const struct dictionary *dictionary, struct job *job, struct why *why)
{
    const uint64_t record_count = dictionary_records(dictionary, &job->schema);
    enum status status = dictionary_judge(dictionary, job, why);
    if (status == STATUS_OK) {
        status = job_settle(job, record_count, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < job->stage_count; i++) {
        status = task_check(job, &job->stage[i], (size_t)record_count, why);
    }
    return status == STATUS_INVALID ? STATUS_REFUSED : status;
}

enum status judge_job(const struct policy *policy, const struct dictionary *dictionary,
                      struct job *job, struct why *why)
{
    enum status status = policy_check_job(policy, job, why);
    return status == STATUS_OK ? judge_data(dictionary, job, why) : status;
}

static const double megabyte = 1e6;

enum status judge_memory(uint64_t memory_bytes, const struct job *job, uint64_t record_count,
                         struct why *why)
{
    const struct work_size size = {.records = record_count, .agents = job->cohort_min};
    double bytes = 0;
    size_t stage = 0;
    if (memory_bytes == 0 || record_count == 0) {
        return STATUS_OK;
    }
    const enum status status = work_memory(&bytes, &stage, job, size, why);
    if (status != STATUS_OK) { /* no solver takes it, so nobody can say what it needs */
        return status == STATUS_NO_MEMORY ? status : STATUS_REFUSED;
    }
    if (bytes <= (double)memory_bytes) {
        return STATUS_OK;
    }
    why_set(
        why,
        "its stage %zu, %s, needs %.0f MB of memory for %llu records of %zu features, and %.0f MB "
        "are left: raise memory_mb_max by %.0f if the machine has that much, or ask for fewer "
        "features or records",
        stage + 1, task_name(job->stage[stage].task), bytes / megabyte,
        (unsigned long long)record_count, schema_feature_count(&job->schema),
        (double)memory_bytes / megabyte, (bytes - (double)memory_bytes) / megabyte + 1);
    return STATUS_REFUSED;
}

enum status judge_slot(double speed, uint32_t slot_ms, const struct job *job, uint64_t record_count,
                       struct why *why)
{
    const struct work_size size = {.records = record_count, .agents = job->cohort_min};
    double flops = 0;
    size_t stage = 0;
    if (!(speed > 0) || record_count == 0) {
        return STATUS_OK;
    }
    const enum status status = work_to_hide(&flops, &stage, job, size, why);
    if (status != STATUS_OK) {
        return status == STATUS_NO_MEMORY ? status : STATUS_REFUSED;
    }
    const unsigned long long need_ms = work_slot_ms(flops, speed);
    if (flops == 0) {
        why_set(why, "no stage of the job needs an answer slot");
        return STATUS_OK;
    }
    if (need_ms <= slot_ms) {
        why_set(why, "the job needs a slot of %llu ms here, and answer_slot_ms is %lu", need_ms,
                (unsigned long)slot_ms);
        return STATUS_OK;
    }
    why_set(
        why,
        "its stage %zu, %s, takes up to %.2g operations a round, which need a slot of %llu ms at "
        "the %.2g operations a second measured here: set answer_slot_ms to %llu or more in the "
        "policy (it is %lu), or ask for fewer records, a larger lambda or a larger tolerance",
        stage + 1, task_name(job->stage[stage].task), flops, need_ms, speed, need_ms,
        (unsigned long)slot_ms);
    return STATUS_REFUSED;
}
