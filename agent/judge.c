#include "agent/judge.h"

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
