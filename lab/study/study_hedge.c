/* The private ways are played by the machine that the coordinator runs - exact draws, each paid for -
 * and local trust by the majority that works on noisy losses. The best expert in hindsight is that of
 * the true losses. */

#include "lab/study/study_hedge.h"

#include "dp/ledger.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <string.h>

enum { GRID_BITS = 10, GOOD = 3, LOCAL_AGENTS = 5, SURE = 6 };

/* The step of a play, for a loss of 1. */
static double eta_of(const struct study_hedge *play)
{
    const struct hedge_run *game = &play->game;
    return play->way >= STUDY_NOT_PRIVATE
               ? play->eta
               : (double)game->draw_micro * (double)game->one / (2e6 * (double)game->sensitivity);
}

/* The adversary knows the strategy and its eta, and not its chances. While two halves take turns in
 * losing the play loses eta/8 a round; then, for so long that exp(-eta L) is sure of it, one expert
 * never loses and all others always do, which costs ln k/eta: the two terms of the bound. */
static bool adversary_parts(const struct study_hedge *play, uint64_t round)
{
    return (double)(play->rounds - round) <= SURE / eta_of(play);
}

static void fall(int64_t *loss, const struct study_hedge *play, uint64_t round,
                 struct seeded_random *dice)
{
    const int64_t one = (int64_t)play->game.one;
    const size_t best = (size_t)(10 * round / play->rounds) % STUDY_EXPERTS;
    const bool parts = adversary_parts(play, round);
    for (size_t i = 0; i < STUDY_EXPERTS; i++) {
        if (play->kind == 0) {
            loss[i] = seeded_random_unit(dice) < (i == GOOD ? 0.4 : 0.5) ? one : 0;
        } else if (play->kind == 1) {
            loss[i] = one * (i == best ? 3 : i == GOOD ? 4 : 5) / 8;
        } else {
            loss[i] = (parts ? i > 0 : (round + i) % 2 == 0) ? one : 0;
        }
    }
}

/* Each due step paid for, as common/task/losses/close_drawn.c has it. */
static enum status choose(struct hedge_state *state, const struct study_hedge *play,
                          struct ledger *ledger, const struct random *random,
                          const struct hedge_losses *seen, struct why *why)
{
    const struct digest stage = {{1}};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && hedge_due(state, &play->game) != HEDGE_DUE_NOTHING) {
        struct grant *grant = NULL;
        if (hedge_due(state, &play->game) != HEDGE_DUE_START) {
            const struct charge charge = hedge_charge(state, &play->game, &stage);
            status = ledger_spend(ledger, &grant, &charge, why);
        }
        if (status == STATUS_OK) {
            status = hedge_play(state, &play->game, &grant, random, seen);
        }
    }
    return status;
}

/* What the play knows and has suffered. */
struct memory {
    struct hedge_state state;
    struct ledger *ledger;
    struct rwm rwm;
    int64_t cumulative[STUDY_EXPERTS];
    int64_t latest[STUDY_EXPERTS];
    int64_t segment[2][STUDY_EXPERTS];
};

static enum status next_expert(size_t *expert, struct memory *memory,
                               const struct study_hedge *play, const struct random *random,
                               struct why *why)
{
    const struct hedge_losses seen = {memory->cumulative, memory->latest, memory->segment[0]};
    if (play->fault == STUDY_BLIND) {
        *expert = 0;
        return STATUS_OK;
    }
    if (play->way >= STUDY_NOT_PRIVATE) {
        return rwm_draw(&memory->rwm, random, expert);
    }
    const enum status status = choose(&memory->state, play, memory->ledger, random, &seen, why);
    *expert = (size_t)memory->state.expert;
    return status;
}

/* The round's losses as the player sees them: exact, or a noisy mean over the agents. */
static enum status learn(struct memory *memory, const struct study_hedge *play,
                         const struct random *random)
{
    double mean[STUDY_EXPERTS];
    int64_t noise[STUDY_EXPERTS] = {0};
    enum status status = STATUS_OK;
    const double one = (double)play->game.one;
    for (size_t i = 0; i < STUDY_EXPERTS; i++) {
        memory->cumulative[i] += memory->latest[i];
        memory->segment[1][i] += memory->latest[i];
    }
    if (play->way < STUDY_NOT_PRIVATE) {
        hedge_next(&memory->state, &play->game);
        return STATUS_OK;
    }
    for (unsigned agent = 0; agent < LOCAL_AGENTS && play->way == STUDY_LOCAL; agent++) {
        const enum status drawn = noise_laplace_add(&play->noise, random, noise, STUDY_EXPERTS);
        status = drawn == STATUS_OK ? status : drawn;
    }
    for (size_t i = 0; i < STUDY_EXPERTS; i++) {
        mean[i] = (double)memory->latest[i] / one +
                  (double)noise[i] / ((double)LOCAL_AGENTS * STUDY_AGENT_RECORDS * one);
    }
    rwm_observe(&memory->rwm, mean);
    return status;
}

/* The mean loss of the round if the expert is drawn from exp(-eta L): what the play's is in the mean,
 * for all but epochs, as the losses were fixed beforehand. */
static double mean_loss(const struct memory *memory, const struct study_hedge *play)
{
    const double eta = (double)play->game.draw_micro / (2e6 * (double)play->game.sensitivity);
    double weight[STUDY_EXPERTS];
    double sum = 0;
    double loss = 0;
    if (play->way >= STUDY_NOT_PRIVATE) {
        rwm_probabilities(weight, &memory->rwm);
    }
    for (size_t i = 0; i < STUDY_EXPERTS; i++) {
        if (play->way < STUDY_NOT_PRIVATE) {
            weight[i] = exp(-eta * (double)(memory->cumulative[i] - memory->cumulative[0]));
        }
        sum += weight[i];
        loss += weight[i] * (double)memory->latest[i];
    }
    return loss / sum;
}

enum status study_hedge_run(struct study_outcome *outcome, const struct study_hedge *play,
                            uint64_t seed, struct why *why)
{
    struct seeded_random dice;
    struct seeded_random chance;
    struct memory memory = {.ledger = NULL};
    int64_t suffered = 0;
    double expected = 0;
    enum status status = rwm_init(&memory.rwm, STUDY_EXPERTS, play->eta);
    seeded_random_init(&dice, 2 * seed);
    seeded_random_init(&chance, 2 * seed + 1);
    const struct random random = seeded_random_interface(&chance);
    memory.ledger = ledger_new((struct price){EPSILON_MICRO_ONE, 2 * DELTA_ATTO_ONE / 1000000});
    if (memory.ledger == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (uint64_t round = 0; round < play->rounds && status == STATUS_OK; round++) {
        size_t expert = 0;
        if (hedge_segment_begins(round)) {
            memcpy(memory.segment[0], memory.segment[1], sizeof memory.segment[0]);
            memset(memory.segment[1], 0, sizeof memory.segment[1]);
        }
        status = next_expert(&expert, &memory, play, &random, why);
        fall(memory.latest, play, round, &dice);
        for (size_t i = 0; i < STUDY_EXPERTS && play->fault == STUDY_PEEKING; i++) {
            memory.latest[i] = i == expert ? (int64_t)play->game.one : 0;
        }
        suffered += memory.latest[expert];
        expected += play->expects ? mean_loss(&memory, play) : 0;
        if (status == STATUS_OK) {
            status = play->fault == STUDY_BLIND && play->way < STUDY_NOT_PRIVATE
                         ? STATUS_OK
                         : learn(&memory, play, &random);
        }
        for (size_t i = 0;
             i < STUDY_EXPERTS && play->fault == STUDY_BLIND && play->way < STUDY_NOT_PRIVATE;
             i++) {
            memory.cumulative[i] += memory.latest[i];
        }
    }
    int64_t best = memory.cumulative[0];
    for (size_t i = 1; i < STUDY_EXPERTS; i++) {
        best = memory.cumulative[i] < best ? memory.cumulative[i] : best;
    }
    const double all = (double)play->game.one * (double)play->rounds;
    *outcome =
        (struct study_outcome){(double)(suffered - best) / all, (expected - (double)best) / all};
    ledger_free(memory.ledger);
    rwm_free(&memory.rwm);
    return status;
}

/* Plans a way of playing for the budget; *bound of its average regret. */
enum status study_hedge_prepare(struct study_hedge *play, double *bound, struct why *why)
{
    const struct hedge_problem problem = {.experts = STUDY_EXPERTS,
                                          .rounds = play->rounds,
                                          .epsilon = 1,
                                          .delta = play->way == HEDGE_EPOCHS ? 0 : 1e-6};
    struct hedge_plan plan;
    enum status status = STATUS_OK;
    play->game.one = UINT64_C(1) << GRID_BITS;
    if (play->way < STUDY_NOT_PRIVATE) {
        const enum hedge_strategy strategy = (enum hedge_strategy)play->way;
        status = hedge_plan(&plan, strategy, &problem, why);
        *bound = plan.regret_bound + plan.cap_probability;
        return status != STATUS_OK ? status
                                   : hedge_run_init(&play->game, &plan, strategy, &problem,
                                                    (struct hedge_grid){1, GRID_BITS}, why);
    }
    if (play->way == STUDY_LOCAL) {
        /* An agent's noise on its sum of losses, one pass over its records: scale k/g per epsilon. */
        const uint64_t scale = STUDY_EXPERTS * play->game.one;
        status = noise_laplace_init(&play->noise, (struct noise_scale){scale, 1});
        play->sigma =
            sqrt(2.0 * LOCAL_AGENTS) * STUDY_EXPERTS / (LOCAL_AGENTS * STUDY_AGENT_RECORDS);
    }
    play->eta = play->way == STUDY_LOCAL ? rwm_eta_noisy(STUDY_EXPERTS, play->rounds, play->sigma)
                                         : rwm_eta_free(STUDY_EXPERTS, play->rounds);
    *bound = regret_bound(STUDY_EXPERTS, 1.0 / STUDY_EXPERTS, play->rounds, play->eta, play->sigma)
                 .tight;
    play->eta *= play->fault == STUDY_HASTY ? 2 : 1;
    return status;
}
