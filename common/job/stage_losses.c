/* `losses`: the experts judged on fresh records, round by round. Under local trust the noisy sums feed
 * the RWM; under central trust the coordinator plays on exact ones, and the draws are what is paid
 * for: one charge for all of them, on whatever rows. */

#include "dp/encode.h"
#include "job/kind.h"
#include "learn/sensitivity.h"

#include <math.h>

enum { SEARCH_STEPS = 12 };

static enum hedge_strategy hedge_of(enum strategy strategy)
{
    return strategy == STRATEGY_THEOREM     ? HEDGE_THEOREM
           : strategy == STRATEGY_DARTBOARD ? HEDGE_DARTBOARD
           : strategy == STRATEGY_EPOCHS    ? HEDGE_EPOCHS
                                            : HEDGE_RWM;
}

/* A draw and a coin are two events, and an answer has one charge: the sum of their epsilons where the
 * stage's own can pay for it, else that of the Gaussian which costs at least as much at every Renyi
 * order (rho = sum of range^2/8; Cesar and Rogers 2021). */
static struct charge joined(const struct charge *charge, size_t count, const struct filter *filter,
                            uint64_t epsilon_micro)
{
    struct charge whole = {.mechanism = MECHANISM_PURE};
    struct cost parts = {0};
    double rho = 0;

    if (count == 1) {
        return charge[0];
    }
    for (size_t i = 0; i < count; i++) {
        struct charge one = charge[i];
        double range = (double)one.epsilon_micro * 1e-6;
        one.pass = (struct digest){{1}};
        one.row_count = 1;
        parts = cost_add(parts, filter_cost(filter, &one));
        rho += (double)charge_count(&one) * range * range / 8;
        whole.epsilon_micro += charge_count(&one) * one.epsilon_micro;
    }
    if (filter->order == 0 || whole.epsilon_micro <= epsilon_micro) {
        return whole;
    }
    whole = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                            .sigma_micro = (uint64_t)(1e6 * (1 - 1e-9) / sqrt(2 * rho)),
                            .pass = {{1}},
                            .row_count = 1};
    while (whole.sigma_micro > 1 && filter_cost(filter, &whole).renyi_nano < parts.renyi_nano) {
        whole.sigma_micro -= 1 + whole.sigma_micro / 1000000;
    }
    whole.row_count = 0;
    whole.pass = (struct digest){0};
    return whole;
}

/* Plans the stage's play for this epsilon and delta. */
static enum status plan_draws(struct job *job, size_t index, uint64_t epsilon_micro,
                              uint64_t delta_atto, struct why *why)
{
    struct stage *stage = &job->stage[index];
    /* Of units above the record the mean loss of an agent's round is one record's. */
    const uint64_t records =
        job->unit == UNIT_RECORD ? (uint64_t)job->cohort_min * stage->batch : job->cohort_min;
    const enum hedge_strategy strategy = hedge_of(stage->strategy);
    const struct hedge_problem problem = {
        .experts = job_experts_at(job, index, 1),
        .rounds = (uint64_t)stage->rounds + 1,
        .epsilon = (double)epsilon_micro * 1e-6,
        .delta = strategy == HEDGE_EPOCHS ? 0 : (double)delta_atto * 1e-18,
        .records = (double)records,
        .participations = job->unit == UNIT_AGENT ? stage->rounds : 1};
    struct charge charge[2];
    enum status status = hedge_plan(&stage->plan, strategy, &problem, why);
    if (status == STATUS_OK) {
        status = hedge_game_init(&stage->game, &stage->plan, strategy, &problem,
                                 (struct hedge_grid){records, stage->grid_bits}, why);
    }
    if (status == STATUS_OK) {
        size_t count = hedge_charges(charge, &stage->game);
        stage->charge = joined(charge, count, &job->filter, epsilon_micro);
    }
    return status;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct job *job = drafting->job;
    struct stage *stage = &job->stage[index];
    struct why why = {{0}};

    if (job_experts_at(job, index, 1) == 0) {
        return stage_refuse(drafting, index, "task",
                            "has no experts to judge: put a fit stage before this one, or write "
                            "forecasters into it");
    }
    if (job->trust == TRUST_LOCAL && stage->strategy != STRATEGY_RWM) {
        return stage_refuse(drafting, index, "strategy",
                            "draws from exact losses, which needs trust central: write rwm, whose "
                            "eta is free on noisy ones");
    }
    if (job->trust == TRUST_CENTRAL && schema_is_series(&job->schema)) {
        return stage_refuse(drafting, index, "task",
                            "of a series needs trust local: one day is in several records, and the "
                            "coins of a play are priced for one");
    }
    stage->rounds = draft->rounds;
    stage->first = draft->first;
    stage->batch = draft->batch;
    stage->batches = draft->rounds; /* every round looks at other records: one pass, paid once */
    stage->charge.epsilon_micro = stage->epsilon_micro / round_passes(stage, stage->rounds);
    stage->doubling = draft->horizon != 0;
    if (job->trust == TRUST_LOCAL) {
        return STATUS_OK;
    }
    if (stage->doubling) {
        return stage_refuse(drafting, index, "horizon",
                            "is known under trust central, where eta is paid for by the number of "
                            "rounds: remove it");
    }
    if (job_experts_at(job, index, 1) < 2) {
        return stage_refuse(drafting, index, "task",
                            "has one expert, and nothing to choose: add lambdas or shifts");
    }
    enum status status = plan_draws(job, index, stage->epsilon_micro, job->delta_atto, &why);
    return status == STATUS_INVALID ? stage_refuse(drafting, index, "strategy", why.text) : status;
}

/* What the job costs but for Gaussian noise, which comes last. */
static bool is_admitted(const struct job *job)
{
    struct cost sums = {0};
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        struct charge charge = stage->charge;
        if (stage->task != TASK_LOSSES && charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
            continue;
        }
        charge.pass = (struct digest){{1}};
        charge.row_count = 1;
        sums = cost_add(sums, cost_times(filter_cost(&job->filter, &charge),
                                         round_passes(stage, stage->rounds)));
    }
    return filter_admits(&job->filter, &sums);
}

/* The largest epsilon that fits beside the other stages; with nothing left of the delta's kind of
 * allowance, the stage's own share as pure epsilon, which always does. */
static enum status lower(struct job *job, size_t index, struct why *why)
{
    const uint64_t share = job->stage[index].epsilon_micro;
    uint64_t good = 0;
    uint64_t bad = share + 1;
    for (int step = 0; step < SEARCH_STEPS && bad - good > 1; step++) {
        uint64_t middle = good + (bad - good) / 2;
        bool fits =
            plan_draws(job, index, middle, job->delta_atto, why) == STATUS_OK && is_admitted(job);
        good = fits ? middle : good;
        bad = fits ? bad : middle;
    }
    return good > 0 ? plan_draws(job, index, good, job->delta_atto, why)
                    : plan_draws(job, index, share, 0, why);
}

enum status stage_set_draws(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    for (size_t i = 0; i < job->stage_count; i++) {
        struct why why = {{0}};
        if (job->stage[i].task != TASK_LOSSES || job->trust != TRUST_CENTRAL || is_admitted(job)) {
            continue;
        }
        if (lower(job, i, &why) != STATUS_OK || !is_admitted(job)) {
            return stage_refuse(drafting, i, "share",
                                "leaves the draws no eta beside the other stages: lower theirs, or "
                                "raise privacy.epsilon or delta");
        }
    }
    return STATUS_OK;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)within;
    return job->trust == TRUST_CENTRAL && stage->strategy == STRATEGY_DARTBOARD ? 2 * expert_count
                                                                                : expert_count;
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    const bool drawn = job->trust == TRUST_CENTRAL;
    const uint64_t records = (uint64_t)stage->batch * (drawn ? stage->rounds : 1);
    (void)within;
    (void)record_count;
    if (records > (uint64_t)ENCODE_MAX >> stage->grid_bits) {
        why_set(why, "a batch's losses overflow: lower batch or grid_bits");
        return STATUS_INVALID;
    }
    out->low = 0;
    out->high = (int64_t)(records << stage->grid_bits);
    return sensitivity_losses_l1(&out->sensitivity, drawn ? 1 : expert_count, stage->grid_bits,
                                 why);
}

const struct stage_kind stage_losses = {
    .task = TASK_LOSSES,
    .input = INPUT_EXPERTS,
    .is_drawn = true,
    .strategies = 1u << STRATEGY_RWM | 1u << STRATEGY_THEOREM | 1u << STRATEGY_DARTBOARD |
                  1u << STRATEGY_EPOCHS,
    .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .build = build,
    .answer_count = answer_count,
    .bounds = bounds};
