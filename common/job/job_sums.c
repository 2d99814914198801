/* What could go wrong with numbers while the job runs, found before it starts. The noise of a fit
 * grows as its number of records falls: the least that an agent may hold is the worst case. */

#include "dp/encode.h"
#include "dp/mechanism.h"
#include "job/trust.h"
#include "task/task.h"

/* The largest size of one number of an agent's exact answer. */
static uint64_t most_of(const struct round_bounds *bounds)
{
    const int64_t most = -bounds->low > bounds->high ? -bounds->low : bounds->high;
    return (uint64_t)most;
}

/* The scale of the whole noise. If Gaussian noise is shared out, a share must exist too. */
static enum status scale_of(struct noise_scale *scale, const struct job *job,
                            const struct stage *stage, const struct round_bounds *bounds,
                            struct why *why)
{
    const uint64_t sigma_micro = stage->charge.sigma_micro;
    if (stage->charge.mechanism == MECHANISM_PURE) {
        return mechanism_scale(scale, bounds->sensitivity, stage->charge.epsilon_micro, why);
    }
    if (trust_of(job)->masked && mechanism_sigma_of_share(scale, bounds->sensitivity, sigma_micro,
                                                          job->honest, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    return mechanism_sigma(scale, bounds->sensitivity, sigma_micro, why);
}

/* Noise is largest for an agent with the fewest records, and a share of records for one with the most. Returns false where nothing
 * bounds an answer. */
static bool widest(uint64_t *most, struct noise_scale *scale, const struct job *job,
                   const struct stage *stage, uint32_t within, size_t expert_count)
{
    const bool judges = round_input(stage, within) == INPUT_EXPERTS;
    const struct stage largest = round_stage_at(stage, UINT64_MAX);
    struct round_bounds bounds;

    *scale = (struct noise_scale){0};
    if (round_bounds(&bounds, job, &largest, within, job_records_min(job),
                     judges ? expert_count : 0, NULL) != STATUS_OK) {
        return false;
    }
    *most = most_of(&bounds);
    return trust_of(job)->exact_answers || scale_of(scale, job, stage, &bounds, NULL) == STATUS_OK;
}

/* The least noise of any agent's: one of more records may add less. A zero scale: none is sure. */
static struct noise_scale least_scale(const struct job *job, const struct stage *stage,
                                      uint32_t within, size_t expert_count)
{
    const uint64_t records[] = {job_records_min(job), UINT64_MAX};
    struct noise_scale least = {UINT64_MAX, 1};
    for (size_t i = 0; i < 4; i++) {
        const struct stage of = round_stage_at(stage, records[i / 2]);
        struct round_bounds bounds;
        struct noise_scale scale;
        if (round_bounds(&bounds, job, &of, within, records[i % 2], expert_count, NULL) !=
                STATUS_OK ||
            scale_of(&scale, job, stage, &bounds, NULL) != STATUS_OK) {
            return (struct noise_scale){0};
        }
        const uint64_t floor = scale.numerator / scale.denominator;
        least.numerator = floor < least.numerator ? floor : least.numerator;
    }
    return least;
}

/* Where exact answers are summed their bounds alone count: the noise comes when the sum is wide. */
static uint64_t sum_reach(const struct job *job, uint64_t most, struct noise_scale scale,
                          uint64_t agents)
{
    if (!trust_of(job)->exact_answers) {
        return encode_sum_reach(agents, most, 1, scale);
    }
    return most > UINT64_MAX / agents ? UINT64_MAX : agents * most;
}

struct encode_form round_form(const struct job *job, const struct stage *stage, uint32_t within,
                              size_t expert_count, size_t agents)
{
    const size_t experts = round_input(stage, within) == INPUT_EXPERTS ? expert_count : 0;
    struct encode_form form = {.word_bytes = 8, .sum_bytes = 8};
    uint64_t most = 0;
    struct noise_scale scale;
    if (trust_of(job)->masked || !widest(&most, &scale, job, stage, within, expert_count)) {
        return form;
    }
    const uint64_t reach = encode_reach(most, scale);
    form.word_bytes = encode_word_bytes(reach);
    /* What agents share out tells counts without noise, which no step may swallow. */
    if (!trust_of(job)->exact_answers && round_groups(stage, within).count == 1 &&
        round_answer_count(job, stage, within, experts) > ROUND_LONG) {
        form.shift = encode_shift(reach, least_scale(job, stage, within, experts));
        form.word_bytes = form.shift > 0 ? 2 : form.word_bytes;
    }
    /* Each rounded answer may add half a step to what the sum of them had. */
    const uint64_t steps = sum_reach(job, most, scale, agents) >> form.shift;
    form.sum_bytes = form.word_bytes < 8 && steps <= INT32_MAX - agents ? 4 : 8;
    return form;
}

unsigned round_masked_bytes(const struct job *job, const struct stage *stage, uint32_t within,
                            size_t expert_count, size_t sites)
{
    uint64_t most = 0;
    struct noise_scale scale;
    return trust_of(job)->masked && widest(&most, &scale, job, stage, within, expert_count) &&
                   encode_sum_reach(sites, most, job->honest, scale) <= INT32_MAX
               ? 4
               : 8;
}

static enum status check_round(const struct job *job, const struct stage *stage, uint32_t within,
                               size_t expert_count, size_t agents, struct why *why)
{
    struct round_bounds bounds;
    struct noise_scale scale = {0};
    enum status status =
        round_bounds(&bounds, job, stage, within, job_records_min(job), expert_count, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (round_is_drawn(job,
                       stage)) { /* no noise; and a sum that wraps is worth nothing to a draw */
        if (bounds.high > INT64_MAX / (int64_t)agents) {
            return why_refuse(why, "the agents' sums overflow: lower batch, rounds or grid_bits");
        }
        return STATUS_OK;
    }
    status = scale_of(&scale, job, stage, &bounds, why);
    if (status == STATUS_OK) {
        status = encode_sum_fits(agents, most_of(&bounds), scale, why);
    }
    return status;
}

/* Rounds of one stage differ where the lambda does. */
static enum status check_stage(const struct job *job, const struct stage *stage,
                               size_t expert_count, size_t agents, struct why *why)
{
    const uint32_t distinct = round_distinct(stage);
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < distinct && status == STATUS_OK; within++) {
        status = check_round(job, stage, within, expert_count, agents, why);
    }
    return status;
}

/* How many every job must have room for. */
static size_t agents_sure(const struct job *job)
{
    return job->cohort_min > JOB_AGENTS_SURE ? job->cohort_min : JOB_AGENTS_SURE;
}

bool job_batch_fits(const struct job *job, const struct stage *stage, uint32_t batch, size_t agents)
{
    struct stage other = *stage;
    const size_t experts = job_experts_at(job, (size_t)(stage - job->stage), agents);
    other.batch = batch;
    return check_stage(job, &other, experts, agents, NULL) == STATUS_OK;
}

/* Whether that many agents' answers add up, each about as many records as an agent may speak for. */
static bool fits(const struct job *job, size_t agents)
{
    bool fits = true;
    for (size_t i = 0; i < job->stage_count && fits; i++) {
        const struct stage largest = round_stage_at(&job->stage[i], UINT64_MAX);
        fits =
            !largest.experts_own && !largest.by_site &&
            check_stage(job, &largest, job_experts_at(job, i, agents), agents, NULL) == STATUS_OK;
    }
    return fits;
}

size_t job_agents_most(const struct job *job)
{
    const size_t sure = agents_sure(job);
    size_t most = JOB_AGENTS_MAX;
    while (most > sure && !fits(job, most)) {
        most = most / 2 > sure ? most / 2 : sure;
    }
    return most;
}

enum status job_sums_check(const struct job *job, size_t *stage, struct why *why)
{
    const size_t agents = agents_sure(job);
    size_t expert_count = 0;
    for (*stage = 0; *stage < job->stage_count; ++*stage) {
        const struct stage *asked = &job->stage[*stage];
        enum status status =
            check_stage(job, asked, expert_count + job_experts_at_start(asked), agents, why);
        if (status == STATUS_INVALID && task_text(asked->task)->sums_remedy != NULL) {
            return why_refuse(why, "its sums or their noise may not fit into 64 bits: %s",
                              task_text(asked->task)->sums_remedy);
        }
        if (status != STATUS_OK) {
            return status;
        }
        expert_count += job_experts_of_stage(asked, agents);
        if (expert_count > JOB_EXPERTS_MAX) {
            return why_refuse(
                why,
                "makes up to %zu experts with %zu agents, and %d are the most: list fewer "
                "lambdas or shifts, or set experts.own to false",
                expert_count, agents, JOB_EXPERTS_MAX);
        }
    }
    return STATUS_OK;
}
