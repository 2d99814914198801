/* What draws under central trust cost, and what they get: one charge for all of them, on whatever
 * rows. Where the horizon is unknown that charge covers every segment's game: a record is in the
 * rounds of one. */

#include "base/check.h"
#include "job/reach.h"
#include "job/trust.h"
#include "task/losses/plays_price.h"
#include "task/losses/stage.h"
#include "task/task.h"

#include <math.h>

enum { SEARCH_STEPS = 12, SEGMENTS_MAX = 17 }; /* 100,000 rounds are the most */

/* Where sigma is looked for, and the least that remains of it when charges are made whole. */
#define SIGMA_MICRO_MAX (UINT64_C(1) << 52)
#define SIGMA_ROOM      1e-5

static enum hedge_strategy hedge_of(enum strategy strategy)
{
    return strategy == STRATEGY_THEOREM     ? HEDGE_THEOREM
           : strategy == STRATEGY_DARTBOARD ? HEDGE_DARTBOARD
           : strategy == STRATEGY_EPOCHS    ? HEDGE_EPOCHS
                                            : HEDGE_RWM;
}

static bool is_doubling(const struct stage *stage)
{
    return stage->task == TASK_LOSSES && losses_stage(stage)->doubling;
}

static struct round_plays *plays_of(const struct stage *stage)
{
    return &losses_stage(stage)->plays;
}

/* For units above the record the mean loss of an agent's round is one record's. */
static uint64_t records_of(const struct job *job, const struct stage *stage)
{
    return job->unit == UNIT_RECORD ? (uint64_t)job->cohort_min * stage->batch : job->cohort_min;
}

static struct hedge_problem problem_of(const struct job *job, size_t index, uint64_t epsilon_micro,
                                       uint64_t delta_atto)
{
    const struct stage *stage = &job->stage[index];
    return (struct hedge_problem){.experts = job_experts_at(job, index, 1),
                                  .rounds = stage->rounds,
                                  .epsilon = (double)epsilon_micro * 1e-6,
                                  .delta = (double)delta_atto * 1e-18,
                                  .records = (double)records_of(job, stage),
                                  .participations = (uint32_t)reach_of(job, stage).rounds};
}

/* Plans a stage of a known horizon. */
static enum status plan_draws(struct job *job, size_t index, const struct plays_spending *spending,
                              struct why *why)
{
    struct stage *stage = &job->stage[index];
    const enum hedge_strategy strategy = hedge_of(stage->strategy);
    const uint64_t delta_atto = strategy == HEDGE_EPOCHS ? 0 : spending->delta_atto;
    struct hedge_problem problem = problem_of(job, index, spending->epsilon_micro, delta_atto);
    problem.rounds++;
    enum status status = hedge_plan(&plays_of(stage)->plan, strategy, &problem, why);
    if (status == STATUS_OK) {
        status = hedge_run_init(plays_of(stage)->game, &plays_of(stage)->plan, strategy, &problem,
                                (struct hedge_grid){records_of(job, stage), stage->grid_bits}, why);
    }
    if (status == STATUS_OK) {
        plays_set_last(plays_of(stage)->game, &job->filter, spending,
                       plays_zcdp(problem.epsilon, delta_atto));
        stage->charge = plays_charge(stage, &job->filter,
                                     plays_spends_rho(spending) ? 0 : spending->epsilon_micro);
    }
    return status;
}

/* The same where the horizon is unknown, for every segment, each within rho_max as well. */
static enum status plan_segments(struct job *job, size_t index, uint64_t delta_atto, double rho_max,
                                 struct why *why)
{
    struct stage *stage = &job->stage[index];
    const enum hedge_strategy strategy = hedge_of(stage->strategy);
    struct hedge_problem problem = problem_of(job, index, stage->epsilon_micro, delta_atto);
    struct hedge_plan plan[SEGMENTS_MAX];
    CHECK(plays_of(stage)->game_count <= SEGMENTS_MAX);
    problem.rho_max = rho_max;
    enum status status = hedge_doubling(&plays_of(stage)->plan, plan, strategy, &problem, why);
    if (status == STATUS_OK) {
        status =
            hedge_runs_init(plays_of(stage)->game, plan, strategy, &problem,
                            (struct hedge_grid){records_of(job, stage), stage->grid_bits}, why);
    }
    return status;
}

/* What the job costs but for Gaussian noise, which comes last. */
static bool is_admitted(const struct job *job)
{
    struct cost sums = {0};
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        if (stage->task != TASK_LOSSES && stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
            continue;
        }
        sums = cost_add(sums, reach_cost(job, stage, &job->filter, stage->rounds));
    }
    return filter_admits(&job->filter, &sums);
}

static bool is_planned(const struct job *job, size_t index)
{
    return job->stage[index].task == TASK_LOSSES && !is_doubling(&job->stage[index]);
}

/* Plans every stage of a known horizon at part/whole of its share. */
static enum status plan_all(struct job *job, uint64_t part, uint64_t whole,
                            struct plays_spending spending, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        if (is_planned(job, i)) { /* shares are at most 10^9 */
            spending.epsilon_micro = job->stage[i].epsilon_micro * part / whole;
            status = plan_draws(job, i, &spending, why);
        }
    }
    return status;
}

/* The largest part of their shares that fits beside the other stages, the same for all; with nothing
 * left of the delta's kind of allowance, the shares as pure epsilon, which always do. */
static enum status lower(struct job *job, struct plays_spending spending, struct why *why)
{
    const struct plays_spending pure = {.by_rho = spending.by_rho};
    uint64_t whole = 1;
    for (size_t i = 0; i < job->stage_count; i++) {
        const uint64_t share = job->stage[i].epsilon_micro;
        whole = is_planned(job, i) && share > whole ? share : whole;
    }
    uint64_t good = 0;
    uint64_t bad = whole + 1;
    for (int step = 0; step < SEARCH_STEPS && bad - good > 1; step++) {
        uint64_t middle = good + (bad - good) / 2;
        bool fits = plan_all(job, middle, whole, spending, why) == STATUS_OK && is_admitted(job);
        good = fits ? middle : good;
        bad = fits ? bad : middle;
    }
    return good > 0 ? plan_all(job, good, whole, spending, why)
                    : plan_all(job, whole, whole, pure, why);
}

static struct charge gaussian_of(uint64_t sigma_micro)
{
    return (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN, .sigma_micro = sigma_micro};
}

static double rho_of_share(const struct job *job, size_t index)
{
    return plays_zcdp((double)job->stage[index].epsilon_micro * 1e-6, job->delta_atto);
}

/* Whether a draw of the longest segment may cost more by pure epsilon than by zCDP; theorem 11.2
 * has no pure form. */
static bool is_better_pure(const struct job *job, size_t index, double rho)
{
    const struct stage *stage = &job->stage[index];
    const double longest = ldexp(1, (int)plays_of(stage)->game_count - 1);
    const double epsilon = (double)stage->epsilon_micro * 1e-6;
    return rho <= 0 || (stage->strategy != STRATEGY_THEOREM &&
                        epsilon / longest >= 2 * sqrt(2 * rho / longest));
}

static bool suppose(struct job *job, bool pure)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage *stage = &job->stage[i];
        if (is_doubling(stage) && plays_of(stage)->game_count > 0) {
            stage->charge = pure
                                ? (struct charge){.mechanism = MECHANISM_PURE,
                                                  .epsilon_micro = stage->epsilon_micro}
                                : gaussian_of((uint64_t)ceil(1e6 / sqrt(2 * rho_of_share(job, i))));
        }
    }
    return is_admitted(job);
}

/* What segments are taken to cost until they are planned: their shares by zCDP, or by pure epsilon
 * where that is better for all of them or the job admits nothing else. */
static void suppose_segments(struct job *job)
{
    bool pure = true;
    for (size_t i = 0; i < job->stage_count; i++) {
        pure = pure && (!is_doubling(&job->stage[i]) || plays_of(&job->stage[i])->game_count == 0 ||
                        is_better_pure(job, i, rho_of_share(job, i)));
    }
    if (!(pure && suppose(job, true)) && !(job->delta_atto > 0 && suppose(job, false))) {
        (void)suppose(job, true); /* whatever else is too much is seen later */
    }
}

/* What the job's limit leaves the stage in zCDP, were it charged as Gaussian noise, but for what
 * makes a charge whole; 0 where there is no delta for it. */
static double rho_left(struct job *job, size_t index)
{
    struct charge *charge = &job->stage[index].charge;
    uint64_t bad = 0;
    uint64_t good = SIGMA_MICRO_MAX;
    *charge = gaussian_of(good);
    if (job->delta_atto == 0 || !is_admitted(job)) {
        return 0;
    }
    while (good - bad > 1 + bad / 1000000) {
        charge->sigma_micro = bad + (good - bad) / 2;
        *(is_admitted(job) ? &good : &bad) = charge->sigma_micro;
    }
    const double sigma = ((double)good * (1 + SIGMA_ROOM) + 2) * 1e-6;
    return 1 / (2 * sigma * sigma);
}

/* One charge covers the games of all segments: the longest one's eta is what the budget allows, by
 * pure epsilon or by zCDP, whichever is more; short ones, which could do with less care, are held
 * to the same. */
static enum status set_segments(struct job *job, size_t index, struct why *why)
{
    struct stage *stage = &job->stage[index];
    const struct charge whole = {.mechanism = MECHANISM_PURE,
                                 .epsilon_micro = stage->epsilon_micro};
    const double rho = fmin(rho_left(job, index), rho_of_share(job, index));
    if (rho <= 0 && job->delta_atto > 0 && stage->strategy == STRATEGY_THEOREM) {
        return STATUS_EXHAUSTED;
    }
    stage->charge = whole;
    const bool pure = rho <= 0 || (is_better_pure(job, index, rho) && is_admitted(job));
    enum status status = plan_segments(job, index, pure ? 0 : job->delta_atto, pure ? 0 : rho, why);
    if (status == STATUS_OK) {
        const struct plays_spending spending = {stage->epsilon_micro, job->delta_atto, !pure};
        plays_set_last(&plays_of(stage)->game[plays_of(stage)->game_count - 1], &job->filter,
                       &spending, rho);
        stage->charge = plays_charge(stage, &job->filter, stage->epsilon_micro);
        stage->charge = is_admitted(job) ? stage->charge : plays_charge(stage, &job->filter, 0);
    }
    return status;
}

static enum status refuse_draws(const struct drafting *drafting, size_t index)
{
    return stage_refuse(drafting, index, "share",
                        "leaves the draws no eta beside the other stages: lower theirs, or raise "
                        "privacy.epsilon or delta");
}

/* Whether the job has charges without a pure epsilon: Gaussian noise, draws that are more than their
 * share by pure epsilon, segments where there is a delta. */
static bool has_rho(const struct job *job)
{
    bool has = false;
    for (size_t i = 0; i < job->stage_count; i++) {
        has = has || job->stage[i].charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN ||
              (is_doubling(&job->stage[i]) && job->delta_atto > 0);
    }
    return has;
}

/* Plans each stage of a known horizon for its whole share. A unit that is in several segments would
 * pay in each. */
static enum status plan_each(const struct drafting *drafting, bool by_rho)
{
    struct job *job = drafting->job;
    struct why why = {{0}};
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        if (stage->task != TASK_LOSSES) {
            continue;
        }
        if (is_doubling(stage) && reach_of(job, stage).rounds > 1) {
            return stage_refuse(
                drafting, i, "horizon",
                job->unit == UNIT_AGENT
                    ? "is known under unit agent: every start spends the whole budget on the "
                      "rounds that follow it, and an agent takes part in all of them; remove it, or "
                      "write unit: record or unit: round"
                    : "is known where another stage shows in one round what this one shows in "
                      "several: every start spends the whole budget on the rounds that follow it; "
                      "remove it, or give both stages the same batch and first");
        }
        const struct plays_spending spending = {stage->epsilon_micro, job->delta_atto, by_rho};
        const enum status status =
            is_doubling(stage) ? STATUS_OK : plan_draws(job, i, &spending, &why);
        if (status != STATUS_OK) {
            return status == STATUS_INVALID ? stage_refuse(drafting, i, "strategy", why.text)
                                            : status;
        }
        if (stage->charge.mechanism == MECHANISM_PURE && stage->charge.epsilon_micro == 0) {
            return stage_refuse(drafting, i, "share", STAGE_SHARE_TOO_SMALL);
        }
    }
    return STATUS_OK;
}

/* Stages of a known horizon first, together, so that none is lowered for another's sake; then the
 * segments, within what their shares and the others leave. */
enum status stage_set_draws(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    struct why why = {{0}};
    if (!trust_of(job)->exact_answers) {
        return STATUS_OK;
    }
    struct plays_spending spending = {.delta_atto = job->delta_atto, .by_rho = has_rho(job)};
    enum status status = plan_each(drafting, spending.by_rho);
    if (status == STATUS_OK && !spending.by_rho && has_rho(job)) {
        spending.by_rho = true;
        status = plan_each(drafting, true);
    }
    if (status != STATUS_OK) {
        return status;
    }
    suppose_segments(job);
    for (size_t i = 0; i < job->stage_count; i++) {
        if (is_planned(job, i) && !is_admitted(job) &&
            (lower(job, spending, &why) != STATUS_OK || !is_admitted(job))) {
            return refuse_draws(drafting, i);
        }
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        if (!is_doubling(&job->stage[i])) {
            continue;
        }
        status = set_segments(job, i, &why);
        if (status == STATUS_INVALID) {
            return stage_refuse(drafting, i, "strategy", why.text);
        }
        if (status != STATUS_OK || !is_admitted(job)) {
            return refuse_draws(drafting, i);
        }
    }
    return STATUS_OK;
}
