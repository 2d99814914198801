/* What a coordinator releases under central trust. The exact answers are known as they left the agents,
 * and what it draws from a copy of its source: so every release is computed again. */

#include "dp/mechanism.h"
#include "dp/select.h"
#include "job/reach.h"
#include "job/round.h"
#include "sim/world.h"
#include "task/select/stage.h"
#include "task/update/stage.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 64, DIM = 3 };

/* The exact sum over the agents that a round lists; false when one of them never sent its answer. */
static bool exact_sum(struct world *world, const struct record *record, int64_t *sum, size_t count)
{
    memset(sum, 0, count * sizeof *sum);
    for (size_t i = 0; i < record->as.round.agent_count; i++) {
        const char *name = record->as.round.agent[i].name;
        const struct known_answer *answer = NULL;
        const bool formula = world->formula_answers || strcmp(name, peer_name(MALLORY)) == 0;
        for (size_t agent = 1; agent <= SIM_AGENTS && !formula; agent++) {
            if (strcmp(name, peer_name(agent)) == 0) {
                answer = checker_find(&world->checker, agent, &record->as.round.job,
                                      record->as.round.round);
            }
        }
        uint64_t word = 0;
        const struct slice bytes =
            answer == NULL ? (struct slice){0} : (struct slice){answer->exact, answer->exact_size};
        if (!formula && !checker_value(&word, bytes, count, 0)) {
            world_fail(world, "round %" PRIu32 " lists %s, who has not sent an answer to it",
                       record->as.round.round, name);
            return false;
        }
        for (size_t j = 0; j < count; j++) {
            if (formula) {
                word = (uint64_t)mallory_value(record->as.round.round, j);
            } else {
                (void)checker_value(&word, bytes, count, j);
            }
            sum[j] = (int64_t)((uint64_t)sum[j] + word);
        }
    }
    return true;
}

/* A grant for exactly this, from a budget that is never empty. */
static struct grant *grant_for(struct charge charge)
{
    struct ledger *budget =
        ledger_new((struct price){UINT64_C(1000000) * EPSILON_MICRO_ONE, DELTA_ATTO_ONE / 2});
    struct grant *grant = NULL;
    if (digest_is_none(&charge.pass)) {
        charge.pass.byte[0] = 1;
        charge.row_count = 1;
    }
    if (budget == NULL || ledger_spend(budget, &grant, &charge, NULL) != STATUS_OK) {
        abort();
    }
    ledger_free(budget);
    return grant;
}

void central_noise(const struct world *world, const struct node *node, uint32_t round,
                   int64_t *noise, size_t count)
{
    uint32_t within;
    const struct job *job = &world->fixture.job;
    const struct stage *stage = job_stage_of(job, round, &within);
    struct seeded_random copy = node->before_step;
    struct random random = seeded_random_interface(&copy);
    struct grant *grant = grant_for(stage->charge);
    struct round_bounds bounds;
    enum status status = round_bounds(&bounds, job, stage, within, SIM_RECORDS, 0, NULL);
    memset(noise, 0, count * sizeof *noise);
    if (status == STATUS_OK) {
        status = stage->charge.mechanism == MECHANISM_PURE
                     ? mechanism_laplace(&grant, &random, noise, count, bounds.sensitivity)
                     : mechanism_gaussian(&grant, &random, noise, count, bounds.sensitivity);
    }
    if (status != STATUS_OK) {
        abort();
    }
}

/* The exact sum and the noise, as integers. */
static bool released_sum(struct world *world, const struct node *node, const struct record *record,
                         int64_t *sum, size_t count)
{
    int64_t noise[VALUES_MAX];
    if (!exact_sum(world, record, sum, count)) {
        return false;
    }
    central_noise(world, node, record->as.round.round, noise, count);
    for (size_t i = 0; i < count; i++) {
        sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)noise[i]);
    }
    return true;
}

static void check_fit(struct world *world, const struct node *node, const struct record *record,
                      struct slice blob)
{
    int64_t sum[DIM];
    if (!released_sum(world, node, record, sum, DIM)) {
        return;
    }
    for (size_t i = 0; i < DIM && blob.size == (size_t)16 * DIM; i++) {
        double average;
        memcpy(&average, (const uint8_t *)blob.data + 8 * i, sizeof average);
        if (average != ldexp((double)sum[i], -10) / (double)record->as.round.agent_count) {
            world_fail(world, "round %" PRIu32 " releases another average than exact sum and noise",
                       record->as.round.round);
        }
    }
    if (blob.size != (size_t)16 * DIM || record->as.round.sum_count != 0) {
        world_fail(world, "a fit releases more than its average and one shift of it");
    }
    checker_add_experts(&world->checker, blob);
}

static void check_step(struct world *world, const struct node *node, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    struct checker *checker = &world->checker;
    const double records = (double)record->as.round.agent_count * SIM_RECORDS;
    int64_t sum[DIM];
    double mean[DIM];
    double model[DIM];
    if (checker->state == NULL) {
        checker->state =
            calloc(optimiser_state_count(&update_stage(stage)->optimiser), sizeof *checker->state);
        if (checker->state == NULL) {
            abort();
        }
        optimiser_init(checker->state, &update_stage(stage)->optimiser, NULL);
    }
    const size_t bytes =
        optimiser_state_count(&update_stage(stage)->optimiser) * sizeof *checker->state;
    if (!released_sum(world, node, record, sum, DIM)) {
        return;
    }
    for (size_t i = 0; i < DIM; i++) {
        mean[i] = ldexp((double)sum[i], -10) / records;
    }
    optimiser_step(checker->state, &update_stage(stage)->optimiser, mean, within);
    if (blob.size != bytes || record->as.round.sum_count != 0 ||
        memcmp(blob.data, checker->state, bytes) != 0) {
        world_fail(world, "round %" PRIu32 " steps along another gradient than exact sum and noise",
                   record->as.round.round);
    }
    if (within + 1 == stage->rounds) {
        optimiser_model(model, checker->state, &update_stage(stage)->optimiser);
        checker_add_experts(checker, (struct slice){.data = model, .size = sizeof model});
    }
}

static void check_answers(struct world *world, const struct node *node, const struct record *record,
                          size_t count)
{
    int64_t sum[VALUES_MAX];
    if (!released_sum(world, node, record, sum, count)) {
        return;
    }
    if (record->as.round.sum_count != count ||
        memcmp(record->as.round.sum, sum, count * sizeof *sum) != 0) {
        world_fail(world, "round %" PRIu32 " releases something else than exact sum and noise",
                   record->as.round.round);
    }
}

static void check_selection(struct world *world, const struct node *node, const struct stage *stage,
                            const struct record *record, size_t count)
{
    struct seeded_random copy = node->before_step;
    struct random random = seeded_random_interface(&copy);
    int64_t sum[VALUES_MAX];
    int64_t score[VALUES_MAX];
    size_t chosen = 0;
    if (!exact_sum(world, record, sum, count)) {
        return;
    }
    candidates_scores(score, &select_stage(stage)->candidates, sum,
                      (uint64_t)record->as.round.agent_count * stage->batch);
    struct grant *grant = grant_for(stage->charge);
    if (select_permute_and_flip(&grant, &random, &chosen, score,
                                candidates_count(&select_stage(stage)->candidates),
                                CANDIDATES_SCORE_SENSITIVITY) != STATUS_OK) {
        abort();
    }
    if (record->as.round.sum_count != 1 || (size_t)record->as.round.sum[0] != chosen) {
        world_fail(world, "round %" PRIu32 " selects another candidate than its draw",
                   record->as.round.round);
    }
}

/* What a play costs its game; a unit is in one coin. */
static void pay(struct world *world, const struct hedge_run *game, const struct charge *charge,
                bool coin)
{
    struct checker *checker = &world->checker;
    if (checker->game != game) {
        checker->game = game;
        checker->budget = (struct cost){0};
        checker->coin_paid = false;
    }
    if (!coin || !checker->coin_paid) {
        checker->budget =
            cost_add(checker->budget, filter_cost(&world->fixture.job.filter, charge));
    }
    checker->coin_paid = checker->coin_paid || coin;
}

/* One play, which looks at no round of another segment. */
static void play(struct world *world, const struct stage *stage, const int64_t *sum, size_t experts,
                 size_t count, const struct random *random)
{
    struct checker *checker = &world->checker;
    const struct hedge_losses losses = {
        .cumulative = sum, .latest = sum + (count - experts), .segment = sum};
    const struct digest pass = {{1}};
    const struct hedge_run *game = round_game(stage, checker->play.round);
    enum hedge_due due;
    while ((due = hedge_due(&checker->play, game)) != HEDGE_DUE_NOTHING) {
        struct grant *grant = NULL;
        if (due != HEDGE_DUE_START) {
            const struct charge charge = hedge_charge(&checker->play, game, &pass);
            pay(world, game, &charge, due == HEDGE_DUE_COIN);
            grant = grant_for(charge);
        } else if (checker->play.round > 0) {
            world->tally.plays_anew++;
        }
        if (hedge_play(&checker->play, game, &grant, random, &losses) != STATUS_OK) {
            abort();
        }
    }
}

static void check_play(struct world *world, const struct node *node, const struct stage *stage,
                       uint32_t within, const struct record *record, size_t count)
{
    struct checker *checker = &world->checker;
    struct seeded_random copy = node->before_step;
    struct random random = seeded_random_interface(&copy);
    const size_t experts = checker->experts_bytes / (8 * DIM);
    int64_t sum[VALUES_MAX];
    if (!exact_sum(world, record, sum, count)) {
        return;
    }
    for (size_t i = 0; i < count; i++) { /* never above 2^53 here */
        sum[i] = sum[i] > 0 ? sum[i] * (int64_t)world->plan.cohort_min /
                                  (int64_t)record->as.round.agent_count
                            : 0;
    }
    if (within == 0) {
        checker->play = (struct hedge_state){0};
        play(world, stage, sum, experts, count, &random);
    }
    hedge_next(&checker->play, round_game(stage, checker->play.round));
    play(world, stage, sum, experts, count, &random);
    const int64_t kept[] = {(int64_t)checker->play.round, (int64_t)checker->play.expert,
                            (int64_t)checker->play.draws};
    if (record->as.round.sum_count != 3 || record->as.round.blob_bytes != 0 ||
        memcmp(record->as.round.sum, kept, sizeof kept) != 0 ||
        record->as.round.chosen != checker->play.expert) {
        world_fail(world, "round %" PRIu32 " plays another expert than its draws",
                   record->as.round.round);
    }
}

void central_on_round(struct world *world, const struct node *node, const struct record *record,
                      struct slice blob)
{
    struct checker *checker = &world->checker;
    uint32_t within;
    const struct job *job = &world->fixture.job;
    const struct stage *stage = job_stage_of(job, record->as.round.round, &within);
    const size_t experts = checker->experts_bytes / (8 * DIM);
    const size_t count = round_answer_count(job, stage, within, experts);
    if (count > VALUES_MAX) {
        abort();
    }
    world->tally.central_rounds++;
    if (within == reach_pass(job, stage, within)) { /* its other rounds are paid for */
        checker->curator =
            cost_add(checker->curator, reach_event_cost(&job->filter, stage->charge));
    }
    if (stage->task == TASK_LOSSES) {
        check_play(world, node, stage, within, record, count);
        return;
    }
    if (stage->task == TASK_FIT) {
        check_fit(world, node, record, blob);
    } else if (stage->task == TASK_UPDATE) {
        check_step(world, node, stage, within, record, blob);
    } else if (stage->task == TASK_SELECT) {
        check_selection(world, node, stage, record, count);
    } else {
        check_answers(world, node, record, count);
    }
}
