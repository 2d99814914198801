#include "agent/capacity.h"

#include "job/work.h"

static const double megabyte = 1e6;

enum status capacity_check(uint64_t memory_bytes, const struct job *job, uint64_t record_count,
                           struct why *why)
{
    const struct work_size size = {.records = record_count, .agents = job->cohort_min};
    double bytes = 0;
    size_t stage = 0;
    if (memory_bytes == 0 || record_count == 0 ||
        work_memory(&bytes, &stage, job, size, NULL) != STATUS_OK) {
        return STATUS_OK; /* what no solver takes is refused for its own reason */
    }
    if (bytes <= (double)memory_bytes) {
        return STATUS_OK;
    }
    why_set(why,
            "its stage %zu, %s, needs %.0f MB of memory for %llu records of %zu features, and "
            "%.0f MB are left: raise memory_mb_max by %.0f where the machine has more, or ask for "
            "fewer features or records",
            stage + 1, task_name(job->stage[stage].task), bytes / megabyte,
            (unsigned long long)record_count, schema_feature_count(&job->schema),
            (double)memory_bytes / megabyte, (bytes - (double)memory_bytes) / megabyte + 1);
    return STATUS_REFUSED;
}
