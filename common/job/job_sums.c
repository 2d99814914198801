/* What could go wrong with numbers while the job runs, found before it starts. The noise of a fit
 * grows as its number of records falls: the least that an agent may hold is the worst case. */

#include "dp/encode.h"
#include "dp/mechanism.h"
#include "job/draft.h"
#include "learn/erm.h"
#include "learn/sensitivity.h"

static enum status check_sum(const struct stage *stage, uint64_t sensitivity_l1, uint64_t bound,
                             struct why *why)
{
    struct noise_scale scale;
    enum status status =
        mechanism_scale(&scale, sensitivity_l1, job_round_epsilon_micro(stage), why);
    if (status == STATUS_OK) {
        status = encode_sum_fits(JOB_AGENTS_MAX, bound, scale, why);
    }
    return status;
}

static enum status check_fit(const struct job *job, const struct stage *stage, struct why *why)
{
    uint64_t records_min = job_records_min(job);
    for (uint32_t i = 0; i < stage->rounds; i++) {
        struct erm_problem problem = {.loss = stage->loss,
                                      .lambda = stage->lambda[i],
                                      .tolerance = stage->tolerance,
                                      .record_count = (size_t)records_min,
                                      .feature_count = schema_feature_count(&job->schema)};
        uint64_t sensitivity_l1 = 0;
        uint64_t bound = 0;
        enum status status = sensitivity_fit_l1(&sensitivity_l1, &problem, stage->grid_bits, why);
        if (status == STATUS_OK) {
            status = sensitivity_fit_range(&bound, &problem, stage->grid_bits, why);
        }
        if (status == STATUS_OK) {
            status = check_sum(stage, sensitivity_l1, bound, why);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status check_losses(const struct stage *stage, size_t expert_count, struct why *why)
{
    uint64_t sensitivity_l1 = 0;
    enum status status =
        sensitivity_losses_l1(&sensitivity_l1, expert_count, stage->grid_bits, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (stage->batch > ENCODE_MAX >> stage->grid_bits) {
        why_set(why, "a batch's losses overflow: lower batch or grid_bits");
        return STATUS_INVALID;
    }
    return check_sum(stage, sensitivity_l1, (uint64_t)stage->batch << stage->grid_bits, why);
}

enum status job_sums_check(const struct drafting *drafting)
{
    const struct job *job = drafting->job;
    size_t expert_count = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        char path[CONFIG_PATH_BYTES];
        struct why why = {{0}};
        enum status status = STATUS_OK;
        draft_path(path, "stages", i, "");
        if (stage->task == TASK_FIT) {
            expert_count += stage->rounds * job_experts_of_round(stage, JOB_AGENTS_MAX);
            if (expert_count > JOB_EXPERTS_MAX) {
                return config_refuse(drafting->config, drafting->why, path,
                                     "makes up to %zu experts with %d agents, and %d are the most: "
                                     "list fewer lambdas or shifts, or set experts.own to false",
                                     expert_count, JOB_AGENTS_MAX, JOB_EXPERTS_MAX);
            }
            status = check_fit(job, stage, &why);
        } else {
            status = check_losses(stage, expert_count, &why);
        }
        if (status != STATUS_OK) {
            (void)config_refuse(drafting->config, drafting->why, path, "%.300s", why.text);
            return status;
        }
    }
    return STATUS_OK;
}
