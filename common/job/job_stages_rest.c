/* What the stages leave each other: of epsilon a stage without a share, and Gaussian noise all that is left. */

#include "dp/filter.h"
#include "dp/mechanism.h"
#include "job/reach.h"
#include "job/trust.h"
#include "task/task.h"

/* The part of epsilon that the other stages leave. */
static bool takes_rest(const struct drafting *drafting, size_t index)
{
    const struct task_text *text = task_text((enum task)draft_stage(drafting, index)->task);
    return text->takes_rest && !stage_has(drafting, index, "share");
}

/* A stage without a share takes what the others leave: there is one such stage, and they leave something. */
enum status job_stages_check_rest(const struct drafting *drafting)
{
    bool found = false;
    for (size_t i = 0; i < drafting->draft->stage_count; i++) {
        if (!takes_rest(drafting, i)) {
            continue;
        }
        if (found) {
            return stage_refuse(
                drafting, i, "share",
                "is missing in two stages, and only one can get what is left: add it here or "
                "there, for example `share: 0.5`");
        }
        found = true;
        if (stage_share_nano(drafting, i) == 0) {
            return stage_refuse(drafting, i, "share",
                                "is missing, and the other stages' shares leave nothing of epsilon "
                                "to this one: lower them");
        }
    }
    return STATUS_OK;
}

/* Draws under central trust may be charged as a Gaussian, too, whose sigma stands. */
static bool waits_for_sigma(const struct stage *stage)
{
    return stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN && stage->charge.sigma_micro == 0;
}

/* What a sum of shares lacks of a discrete Gaussian, over all the numbers of a pass that a unit moves. */
static uint64_t shares_delta(const struct job *job, const struct stage *stage)
{
    size_t count = 0;
    if (!trust_of(job)->masked) {
        return 0;
    }
    for (uint32_t within = 0; within < stage->rounds; within++) {
        const size_t now = round_answer_count(job, stage, within, 0);
        count = now > count ? now : count;
    }
    return mechanism_sigma_delta(job->honest, count * reach_of(job, stage).rounds);
}

/* The sigma that this stage's limit leaves beside the charges of all others. */
static enum status stage_set_sigma(const struct drafting *drafting, struct stage *own)
{
    struct job *job = drafting->job;
    struct charge fixed[JOB_STAGES_MAX];
    struct filter_plan plan = {.limit = {job->epsilon_micro, job->delta_atto}, .fixed = fixed};
    struct why why = {{0}};

    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage *stage = &job->stage[i];
        if (stage != own) {
            struct charge *charge = &fixed[plan.fixed_count++];
            *charge = stage->charge;
            charge->count = charge_count(charge) * reach_passes(job, stage, stage->rounds);
            charge->pass = (struct digest){{1}};
            charge->row_count = 1;
        }
    }
    plan.count = reach_passes(job, own, own->rounds);
    plan.sampling_nano = charge_sampling_nano(&own->charge);
    plan.delta_atto = own->charge.delta_atto = shares_delta(job, own);
    if (filter_sigma(&own->charge.sigma_micro, &plan, &why) != STATUS_OK) {
        return stage_refuse(drafting, (size_t)(own - job->stage), "noise", why.text);
    }
    return STATUS_OK;
}

/* own: out, the one stage whose Gaussian noise takes what the others leave; NULL: there is none. */
static enum status find_gaussian(struct stage **own, const struct drafting *drafting)
{
    struct job *job = drafting->job;
    struct stage *found = NULL;

    for (size_t i = 0; i < job->stage_count; i++) {
        if (!waits_for_sigma(&job->stage[i])) {
            continue;
        }
        if (found != NULL) {
            const size_t first = (size_t)(found - job->stage);
            if (takes_rest(drafting, i) || takes_rest(drafting, first)) {
                return stage_refuse(drafting, takes_rest(drafting, i) ? i : first, "share",
                                    "is missing, and another stage's gaussian noise takes all that "
                                    "is left too: add a share, for example `share: 0.5`, or write "
                                    "noise: laplace there");
            }
            return stage_refuse(
                drafting, i, "noise",
                "is gaussian in two stages, and only one can get what is left: write laplace here "
                "or there");
        }
        found = &job->stage[i];
    }
    *own = found;
    return STATUS_OK;
}

/* Sigma, and then what is planned by it. A plan may make an answer longer: a longer sum of shares lacks more of Gaussian noise.
 * That is so little that the plan stays. */
enum status job_stages_plan(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    struct stage *own = NULL;
    enum status status = find_gaussian(&own, drafting);
    if (status == STATUS_OK && own != NULL) {
        status = stage_set_sigma(drafting, own);
    }
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        const struct task_text *text = task_text(job->stage[i].task);
        status = text->plan != NULL ? text->plan(drafting, i) : STATUS_OK;
    }
    return status == STATUS_OK && own != NULL && shares_delta(job, own) > own->charge.delta_atto
               ? stage_set_sigma(drafting, own)
               : status;
}
