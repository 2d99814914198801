/* `update`: federated gradient rounds on clipped, noised sums. */

#include "config/keys.h"
#include "job/reach.h"
#include "task/task.h"
#include "task/update/stage.h"

#include <math.h>

struct draft_update {
    uint32_t batches;
    uint64_t sampling_nano;
    double clip;
    double clip_all;
    double rate;
    double decay;
    double momentum;
    double radius;
    unsigned iterates;
    uint32_t state_bits;
};

static const char *iterates_choice(unsigned index)
{
    static const char *const name[] = {[AVERAGE_NONE] = "last",
                                       [AVERAGE_TAIL] = "tail",
                                       [AVERAGE_POLYNOMIAL] = "polynomial",
                                       [AVERAGE_POLYNOMIAL + 1] = NULL};
    return name[index];
}

/* clang-format off */
#define KEY_OF struct draft_update
static const struct config_key keys[] = {
    KEY_NUMBER("clip", clip, 1e-9, 1e9, REQUIRED("1")),
    KEY_EXACT("sampling", sampling_nano, SAMPLING_DECIMALS, 1, SAMPLING_NANO_ONE, DEFAULT("1", "0.05")),
    KEY_NUMBER("clip_all", clip_all, 1e-9, 1e9, OPTIONAL("0.25")),
    KEY_WHOLE("batches", batches, 1, 100000, DEFAULT("1", "4")),
    KEY_NUMBER("rate", rate, 1e-9, 1e9, REQUIRED("16")),
    KEY_NUMBER("decay", decay, 0, 1, DEFAULT("0", "0.5")),
    KEY_NUMBER("momentum", momentum, 0, 0.9999, DEFAULT("0.9", "0.9")),
    KEY_NUMBER("radius", radius, 0, 1e9, DEFAULT("0", "30")),
    KEY_CHOICE("iterates", iterates, iterates_choice, DEFAULT("last", "tail")),
    KEY_WHOLE("state_bits", state_bits, 32, 64, DEFAULT("64", "32")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

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
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct draft_update *own = draft_own(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    const uint32_t passes = reach_passes(drafting->job, stage, stage->rounds);

    if (own->sampling_nano < SAMPLING_NANO_ONE) {
        if (own->batches > 1) {
            return stage_refuse(
                drafting, index, "sampling",
                "draws each round's records from all, and `batches` splits them: remove one of the "
                "two");
        }
        /* Chance keeps one record out of a round, and not an agent, nor a day that several have. */
        if (drafting->job->unit != UNIT_RECORD || schema_is_series(&drafting->job->schema)) {
            return stage_refuse(drafting, index, "sampling",
                                "draws single records, and what is protected is in several: remove "
                                "it");
        }
        stage->charge.sampling_nano = own->sampling_nano;
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
    for (uint64_t steps = gradient_sensitivity(&update_stage(stage)->gradient);
         steps < SAMPLED_STEPS_MIN; steps *= 2) {
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
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct draft_update *own = draft_own(drafting, index);
    if (drafting->job->stage[index].strategy == STRATEGY_AVERAGE &&
        stage_has(drafting, index, "momentum")) {
        return stage_refuse(drafting, index, "momentum",
                            "is not read by the strategy average: remove it, or write strategy: "
                            "momentum");
    }
    if (own->state_bits != 32 && own->state_bits != 64) {
        return stage_refuse(drafting, index, "state_bits",
                            "is the size of a number on its way to the agents: write 32 or 64");
    }
    if (own->batches > draft->rounds) {
        return stage_refuse(
            drafting, index, "batches",
            "makes parts that no round looks at: write as many as there are rounds, "
            "or fewer");
    }
    return STATUS_OK;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct draft_update *own = draft_own(drafting, index);
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
    stage->batches = own->batches;
    stage->state_is_short = own->state_bits == 32;
    status = stage_take_batch(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    update_stage(stage)->gradient =
        (struct gradient){.loss = stage->loss,
                          .output_count = schema_output_count(schema),
                          .feature_count = schema_feature_count(schema),
                          .grid_bits = stage->grid_bits,
                          .norm = draft->noise == JOB_NOISE_GAUSSIAN ? GRADIENT_L2 : GRADIENT_L1,
                          .clip = (int64_t)ldexp(own->clip, (int)stage->grid_bits)};
    if (gradient_check(&update_stage(stage)->gradient, stage->batch, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "clip", why.text);
    }
    if (stage_has(drafting, index, "clip_all")) {
        if (drafting->job->unit == UNIT_RECORD) {
            return stage_refuse(
                drafting, index, "clip_all",
                "clips an agent's whole vector, for unit round or agent: remove it");
        }
        update_stage(stage)->clip_sum =
            (int64_t)ldexp(own->clip_all * (double)stage->batch, (int)stage->grid_bits);
        if (own->clip_all > own->clip || update_stage(stage)->clip_sum < 1) {
            return stage_refuse(drafting, index, "clip_all",
                                "is the largest mean gradient of an agent: more than nothing, and "
                                "not above clip, the largest of a record");
        }
    }
    update_stage(stage)->optimiser =
        (struct optimiser){.kind = stage->strategy == STRATEGY_ADAM       ? OPTIMISER_ADAM
                                   : stage->strategy == STRATEGY_MOMENTUM ? OPTIMISER_MOMENTUM
                                                                          : OPTIMISER_PLAIN,
                           .average = (enum optimiser_average)own->iterates,
                           .width = round_stage_width(stage),
                           .rounds = stage->rounds,
                           .rate = own->rate,
                           .decay = own->decay,
                           .momentum = stage->strategy == STRATEGY_AVERAGE ? 0 : own->momentum,
                           .momentum2 = stage->strategy == STRATEGY_ADAM ? 0.999 : 0,
                           .radius = own->radius};
    if (optimiser_check(&update_stage(stage)->optimiser, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "rate", why.text);
    }
    status = stage_build_experts(drafting, index);
    if (status == STATUS_OK) {
        status = build_charge(drafting, index);
    }
    return status == STATUS_OK ? check_grid(drafting, index) : status;
}

const struct task_text task_text_update = {
    .strategies = 1u << STRATEGY_AVERAGE | 1u << STRATEGY_MOMENTUM | 1u << STRATEGY_ADAM,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .reads =
        SHARED_LOSS | SHARED_EXPERTS | SHARED_ROUNDS | SHARED_BATCH | SHARED_MAP | SHARED_NOISE,
    .needs = SHARED_LOSS | SHARED_ROUNDS | SHARED_BATCH,
    .own = keys,
    .own_bytes = sizeof(struct draft_update),
    .stage_bytes = sizeof(struct update_stage),
    .build = build};
