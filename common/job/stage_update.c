/* `update`: federated gradient rounds on clipped, noised sums. */

#include "dp/schedule.h"
#include "job/kind.h"
#include "job/reach.h"

#include <math.h>

/* What one sampled pure round may be charged so that all of them stay within the stage's epsilon: the
 * price grows with the epsilon before sampling. */
static uint64_t epsilon_sampled(const struct job *job, const struct stage *stage, uint32_t passes)
{
    struct charge charge = stage->charge;
    uint64_t good = 0;
    uint64_t bad = 40 * EPSILON_MICRO_ONE;
    while (bad - good > 1) {
        charge.epsilon_micro = good + (bad - good) / 2;
        const struct cost cost = cost_times(reach_event_cost(&job->filter, charge), passes);
        if (cost.epsilon_micro <= stage->epsilon_micro) {
            good = charge.epsilon_micro;
        } else {
            bad = charge.epsilon_micro;
        }
    }
    return good;
}

static enum status build_charge(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const uint32_t passes = reach_passes(drafting->job, stage, stage->rounds);

    if (draft->sampling_nano < SAMPLING_NANO_ONE) {
        if (draft->batches > 1) {
            return stage_refuse(drafting, index, "sampling",
                                "draws each round's records from all, and `batches` parts them: "
                                "remove one of the two");
        }
        /* Chance keeps one record out of a round, and not an agent, nor a day that several have. */
        if (drafting->job->unit != UNIT_RECORD || schema_is_series(&drafting->job->schema)) {
            return stage_refuse(drafting, index, "sampling",
                                "draws single records, and what is protected is in several: remove "
                                "it");
        }
        stage->charge.sampling_nano = draft->sampling_nano;
    }
    if (draft->noise == JOB_NOISE_LAPLACE) {
        stage->charge.epsilon_micro = stage->charge.sampling_nano > 0
                                          ? epsilon_sampled(drafting->job, stage, passes)
                                          : stage->epsilon_micro / passes;
        return STATUS_OK;
    }
    return stage_take_gaussian(drafting, index);
}

/* Gaussian noise on a sample is priced for a grid that is fine beside the clip. */
static enum status check_grid(const struct drafting *drafting, size_t index)
{
    const struct stage *stage = &drafting->job->stage[index];
    unsigned bits = stage->grid_bits;
    for (uint64_t steps = gradient_sensitivity(&stage->gradient); steps < SAMPLED_STEPS_MIN;
         steps *= 2) {
        bits++;
    }
    if (bits == stage->grid_bits || stage->charge.sampling_nano == 0 ||
        stage->charge.mechanism != MECHANISM_DISCRETE_GAUSSIAN) {
        return STATUS_OK;
    }
    struct why why = {{0}};
    why_set(&why,
            "is too coarse for this clip, as sampled Gaussian rounds are priced for a "
            "sensitivity of 1024 steps or more: write %u",
            bits);
    return stage_refuse(drafting, index, "grid_bits", why.text);
}

/* Wishes that nobody would hear. */
static enum status check_idle(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    if (drafting->job->stage[index].strategy == STRATEGY_AVERAGE &&
        stage_has(drafting, index, "momentum")) {
        return stage_refuse(drafting, index, "momentum",
                            "is not read by the strategy average: remove it, or write strategy: "
                            "momentum");
    }
    if (draft->batches > draft->rounds) {
        return stage_refuse(
            drafting, index, "batches",
            "makes parts that no round looks at: write as many as there are rounds, "
            "or fewer");
    }
    return STATUS_OK;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const struct schema *schema = &stage->schema;
    struct why why = {{0}};
    enum status status = stage_check_learnable(drafting, index);

    if (status == STATUS_OK) {
        status = check_idle(drafting, index);
    }
    if (status != STATUS_OK) {
        return status;
    }
    stage->rounds = draft->rounds;
    stage->batches = draft->batches;
    status = stage_take_batch(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->gradient =
        (struct gradient){.loss = stage->loss,
                          .output_count = schema_output_count(schema),
                          .feature_count = schema_feature_count(schema),
                          .grid_bits = stage->grid_bits,
                          .norm = draft->noise == JOB_NOISE_GAUSSIAN ? GRADIENT_L2 : GRADIENT_L1,
                          .clip = (int64_t)ldexp(draft->clip, (int)stage->grid_bits)};
    if (gradient_check(&stage->gradient, stage->batch, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "clip", why.text);
    }
    if (stage_has(drafting, index, "clip_all")) {
        if (drafting->job->unit == UNIT_RECORD) {
            return stage_refuse(
                drafting, index, "clip_all",
                "clips an agent's whole vector, for unit round or agent: remove it");
        }
        stage->clip_sum =
            (int64_t)ldexp(draft->clip_all * (double)stage->batch, (int)stage->grid_bits);
        if (draft->clip_all > draft->clip || stage->clip_sum < 1) {
            return stage_refuse(drafting, index, "clip_all",
                                "is the largest mean gradient of an agent: more than nothing, and "
                                "not above clip, the largest of a record");
        }
    }
    stage->optimiser =
        (struct optimiser){.kind = stage->strategy == STRATEGY_ADAM       ? OPTIMISER_ADAM
                                   : stage->strategy == STRATEGY_MOMENTUM ? OPTIMISER_MOMENTUM
                                                                          : OPTIMISER_PLAIN,
                           .average = (enum optimiser_average)draft->iterates,
                           .width = round_stage_width(stage),
                           .rounds = stage->rounds,
                           .rate = draft->rate,
                           .decay = draft->decay,
                           .momentum = stage->strategy == STRATEGY_AVERAGE ? 0 : draft->momentum,
                           .momentum2 = stage->strategy == STRATEGY_ADAM ? 0.999 : 0,
                           .radius = draft->radius};
    if (optimiser_check(&stage->optimiser, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "rate", why.text);
    }
    status = stage_build_experts(drafting, index);
    if (status == STATUS_OK) {
        status = build_charge(drafting, index);
    }
    return status == STATUS_OK ? check_grid(drafting, index) : status;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)job;
    (void)within;
    (void)expert_count;
    return round_stage_width(stage);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    (void)job;
    (void)within;
    (void)record_count;
    (void)expert_count;
    if (gradient_check(&stage->gradient, stage->batch, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    out->sensitivity = gradient_sensitivity(&stage->gradient);
    out->high = (int64_t)gradient_range(&stage->gradient, stage->batch);
    out->low = -out->high;
    return STATUS_OK;
}

const struct stage_kind stage_update = {
    .task = TASK_UPDATE,
    .input = INPUT_STATE,
    .strategies = 1u << STRATEGY_AVERAGE | 1u << STRATEGY_MOMENTUM | 1u << STRATEGY_ADAM,
    .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .build = build,
    .answer_count = answer_count,
    .bounds = bounds};

enum status stage_take_gaussian(const struct drafting *drafting, size_t index)
{
    if (drafting->job->delta_atto == 0) {
        return stage_refuse(drafting, index, "noise",
                            "gaussian needs a privacy.delta above 0: add one, or write laplace");
    }
    drafting->job->stage[index].charge.mechanism = MECHANISM_DISCRETE_GAUSSIAN;
    return STATUS_OK;
}

/* Draws under central trust may be charged as a Gaussian, too, whose sigma stands. */
static bool waits_for_sigma(const struct stage *stage)
{
    return stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN && stage->charge.sigma_micro == 0;
}

enum status stage_set_sigma(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    struct charge fixed[JOB_STAGES_MAX];
    struct schedule schedule = {.limit = {job->epsilon_micro, job->delta_atto}, .fixed = fixed};
    struct stage *found = NULL;
    struct why why = {{0}};

    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage *stage = &job->stage[i];
        if (!waits_for_sigma(stage)) {
            struct charge *charge = &fixed[schedule.fixed_count++];
            *charge = stage->charge;
            charge->count = charge_count(charge) * reach_passes(job, stage, stage->rounds);
            charge->pass = (struct digest){{1}};
            charge->row_count = 1;
            continue;
        }
        if (found != NULL) {
            return stage_refuse(drafting, i, "noise",
                                "is gaussian in a second stage, and one takes all that is left: "
                                "write laplace here or there");
        }
        found = stage;
    }
    if (found == NULL) {
        return STATUS_OK;
    }
    schedule.count = reach_passes(job, found, found->rounds);
    schedule.sampling_nano = charge_sampling_nano(&found->charge);
    if (schedule_sigma(&found->charge.sigma_micro, &schedule, &why) != STATUS_OK) {
        return stage_refuse(drafting, (size_t)(found - job->stage), "noise", why.text);
    }
    return STATUS_OK;
}
