/* Average regret against the number of rounds: every strategy of central trust played on losses that
 * were fixed beforehand by the machine that the coordinator runs - exact draws, each paid for from a
 * ledger of (1, 2 10^-6), whose filter keeps half of delta for charges chosen as they go - and, for local trust, the majority that plays on noisy
 * losses. The best expert in hindsight is that of the true losses. */

#include "tests/study/study.h"

#include "base/check.h"
#include "dp/ledger.h"
#include "experts/hedge_play.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "noise/laplace.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXPERTS = 10, GRID_BITS = 10, KINDS = 3, LENGTHS = 4, GOOD = 3, TEXT = 32 };
enum { LENGTH_MEDIUM = 10000, ERRORS = 8, RUNS = 20, RUNS_MANY = 20 };
enum { LOCAL_AGENTS = 5, LOCAL_RECORDS = 100, LOCAL_ROUNDS_MAX = 10000 };

/* How a play goes wrong, for tests. */
enum fault { FAULT_NONE, FAULT_BLIND, FAULT_PEEKING };

/* The strategies of experts/hedge.h, then these two. */
enum { NOT_PRIVATE = HEDGE_STRATEGIES, LOCAL, WAYS };

static const char *const way_name[WAYS] = {"theorem", "rwm",         "dartboard",
                                           "epochs",  "not private", "local, rwm on noisy losses"};
static const char *const kind_name[KINDS] = {"stochastic", "switching", "adversarial"};

/* Plays of each setting: in units of `runs` up to LENGTH_MEDIUM rounds, and beyond. Lazy plays vary. */
static const uint64_t runs_of[WAYS][2] = {{1, 2}, {1, 2}, {5, 24}, {1, 4}, {1, 2}, {1, 2}};
static const uint64_t lengths[LENGTHS] = {100, 1000, LENGTH_MEDIUM, 100000};

/* Stochastic: fair coins, expert 3's better by a tenth. Switching: every tenth of the rounds another
 * expert is best, 3 in all. Adversarial: whoever leads loses next, and nobody is better in the end. */
static void fall(int64_t *loss, unsigned kind, uint64_t round, uint64_t rounds, int64_t one,
                 struct seeded_random *dice)
{
    const size_t best = (size_t)(10 * round / rounds) % EXPERTS;
    for (size_t i = 0; i < EXPERTS; i++) {
        if (kind == 0) {
            loss[i] = seeded_random_unit(dice) < (i == GOOD ? 0.4 : 0.5) ? one : 0;
        } else if (kind == 1) {
            loss[i] = one * (i == best ? 3 : i == GOOD ? 4 : 5) / 8;
        } else {
            loss[i] = (i == 0 ? round : round / 5 + i) % 2 == 0 ? one : 0;
        }
    }
}

/* Everything a play needs. */
struct play {
    unsigned way;
    unsigned kind;
    uint64_t rounds;
    enum fault fault;
    struct hedge_game game; /* of the private ways; the others use `one` alone */
    double eta;             /* not private, local */
    double sigma;           /* local: of the noise on a mean loss */
    struct noise_laplace noise;
};

/* Each due step paid for, as coordinator/strategy_hedge.c has it. */
static enum status choose(struct hedge_state *state, const struct play *play, struct ledger *ledger,
                          const struct random *random, const struct hedge_losses *seen,
                          struct why *why)
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
    int64_t cumulative[EXPERTS];
    int64_t latest[EXPERTS];
    int64_t segment[2][EXPERTS];
};

static enum status next_expert(size_t *expert, struct memory *memory, const struct play *play,
                               const struct random *random, struct why *why)
{
    const struct hedge_losses seen = {memory->cumulative, memory->latest, memory->segment[0]};
    if (play->fault == FAULT_BLIND) {
        *expert = 0;
        return STATUS_OK;
    }
    if (play->way >= NOT_PRIVATE) {
        return rwm_draw(&memory->rwm, random, expert);
    }
    const enum status status = choose(&memory->state, play, memory->ledger, random, &seen, why);
    *expert = (size_t)memory->state.expert;
    return status;
}

/* What the round's losses come to for the player: exact, or a noisy mean over the agents. */
static enum status learn(struct memory *memory, const struct play *play,
                         const struct random *random)
{
    double mean[EXPERTS];
    int64_t noise[EXPERTS] = {0};
    enum status status = STATUS_OK;
    const double one = (double)play->game.one;
    for (size_t i = 0; i < EXPERTS; i++) {
        memory->cumulative[i] += memory->latest[i];
        memory->segment[1][i] += memory->latest[i];
    }
    if (play->way < NOT_PRIVATE) {
        hedge_next(&memory->state, &play->game);
        return STATUS_OK;
    }
    for (unsigned agent = 0; agent < LOCAL_AGENTS && play->way == LOCAL; agent++) {
        const enum status drawn = noise_laplace_add(&play->noise, random, noise, EXPERTS);
        status = drawn == STATUS_OK ? status : drawn;
    }
    for (size_t i = 0; i < EXPERTS; i++) {
        mean[i] = (double)memory->latest[i] / one +
                  (double)noise[i] / ((double)LOCAL_AGENTS * LOCAL_RECORDS * one);
    }
    rwm_observe(&memory->rwm, mean);
    return status;
}

/* The mean loss of the round if the expert is drawn from exp(-eta L): what the play's is in the mean,
 * for all but epochs, as the losses were fixed beforehand. */
static double mean_loss(const struct memory *memory, const struct play *play)
{
    const double eta = (double)play->game.draw_micro / (2e6 * (double)play->game.sensitivity);
    double weight[EXPERTS];
    double sum = 0;
    double loss = 0;
    if (play->way >= NOT_PRIVATE) {
        rwm_probabilities(weight, &memory->rwm);
    }
    for (size_t i = 0; i < EXPERTS; i++) {
        if (play->way < NOT_PRIVATE) {
            weight[i] = exp(-eta * (double)(memory->cumulative[i] - memory->cumulative[0]));
        }
        sum += weight[i];
        loss += weight[i] * (double)memory->latest[i];
    }
    return loss / sum;
}

/* Of one play: regret per round, and what it is in the mean over the draws. */
struct outcome {
    double regret;
    double expected;
};

static enum status run_play(struct outcome *outcome, const struct play *play, uint64_t seed,
                            struct why *why)
{
    struct seeded_random dice;
    struct seeded_random chance;
    struct memory memory = {.ledger = NULL};
    int64_t suffered = 0;
    double expected = 0;
    enum status status = rwm_init(&memory.rwm, EXPERTS, play->eta);
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
        fall(memory.latest, play->kind, round, play->rounds, (int64_t)play->game.one, &dice);
        for (size_t i = 0; i < EXPERTS && play->fault == FAULT_PEEKING; i++) {
            memory.latest[i] = i == expert ? (int64_t)play->game.one : 0;
        }
        suffered += memory.latest[expert];
        expected += mean_loss(&memory, play);
        if (status == STATUS_OK) {
            status = play->fault == FAULT_BLIND && play->way < NOT_PRIVATE
                         ? STATUS_OK
                         : learn(&memory, play, &random);
        }
        for (size_t i = 0; i < EXPERTS && play->fault == FAULT_BLIND && play->way < NOT_PRIVATE;
             i++) {
            memory.cumulative[i] += memory.latest[i];
        }
    }
    int64_t best = memory.cumulative[0];
    for (size_t i = 1; i < EXPERTS; i++) {
        best = memory.cumulative[i] < best ? memory.cumulative[i] : best;
    }
    const double all = (double)play->game.one * (double)play->rounds;
    *outcome = (struct outcome){(double)(suffered - best) / all, (expected - (double)best) / all};
    ledger_free(memory.ledger);
    rwm_free(&memory.rwm);
    return status;
}

/* Plans a way of playing for the budget; *bound of its average regret. */
static enum status prepare(struct play *play, double *bound, struct why *why)
{
    const struct hedge_problem problem = {.experts = EXPERTS,
                                          .rounds = play->rounds,
                                          .epsilon = 1,
                                          .delta = play->way == HEDGE_EPOCHS ? 0 : 1e-6};
    struct hedge_plan plan;
    enum status status = STATUS_OK;
    play->game.one = UINT64_C(1) << GRID_BITS;
    if (play->way < NOT_PRIVATE) {
        const enum hedge_strategy strategy = (enum hedge_strategy)play->way;
        status = hedge_plan(&plan, strategy, &problem, why);
        *bound = plan.regret_bound + plan.cap_probability;
        return status != STATUS_OK ? status
                                   : hedge_game_init(&play->game, &plan, strategy, &problem,
                                                     (struct hedge_grid){1, GRID_BITS}, why);
    }
    if (play->way == LOCAL) {
        /* An agent's noise on its sum of losses, one pass over its records: scale k/g per epsilon. */
        const uint64_t scale = EXPERTS * play->game.one;
        status = noise_laplace_init(&play->noise, (struct noise_scale){scale, 1});
        play->sigma = sqrt(2.0 * LOCAL_AGENTS) * EXPERTS / (LOCAL_AGENTS * LOCAL_RECORDS);
    }
    play->eta = play->way == LOCAL ? rwm_eta_noisy(EXPERTS, play->rounds, play->sigma)
                                   : rwm_eta_free(EXPERTS, play->rounds);
    *bound = regret_bound(EXPERTS, 1.0 / EXPERTS, play->rounds, play->eta, play->sigma).tight;
    return status;
}

/* The mean over plays, and its standard error; what the mean should be; and of the two's distance. */
struct measured {
    double mean;
    double error;
    double expected; /* epochs: mean */
    double apart;    /* in standard errors; 0 where there are too few plays to tell */
};

struct figures {
    struct measured measured[WAYS][KINDS][LENGTHS];
    double bound[WAYS][LENGTHS];
    size_t lengths; /* that were played */
};

static enum status measure(struct measured *measured, const struct play *play,
                           const struct study_request *request, struct why *why)
{
    const bool is_long = play->rounds > LENGTH_MEDIUM;
    const uint64_t own = runs_of[play->way][is_long];
    const uint64_t runs = is_long ? own : own * (request->runs == 0 ? RUNS : request->runs);
    const double n = (double)runs;
    enum status status = STATUS_OK;
    double sum[2] = {0, 0};
    double squares[2] = {0, 0};
    for (uint64_t run = 0; run < runs && status == STATUS_OK; run++) {
        struct outcome outcome = {0, 0};
        status = run_play(&outcome, play, 1000000 * request->seed + run, why);
        const double value[2] = {outcome.regret, outcome.regret - outcome.expected};
        for (unsigned i = 0; i < 2; i++) {
            sum[i] += value[i];
            squares[i] += value[i] * value[i];
        }
    }
    measured->mean = sum[0] / n;
    measured->error = sqrt(fmax(squares[0] / n - pow(sum[0] / n, 2), 0) / (n - 1));
    measured->expected = play->way == HEDGE_EPOCHS ? measured->mean : (sum[0] - sum[1]) / n;
    const double error = sqrt(fmax(squares[1] / n - pow(sum[1] / n, 2), 0) / (n - 1));
    measured->apart =
        runs < RUNS_MANY || play->way == HEDGE_EPOCHS || error == 0 ? 0 : fabs(sum[1] / n) / error;
    return status;
}

static enum status play_all(struct figures *figures, struct study *study,
                            const struct study_request *request, struct why *why)
{
    static const char *const columns[] = {"losses",         "rounds",   "strategy", "regret",
                                          "standard error", "expected", "bound"};
    enum status status = STATUS_OK;
    study_columns(study, sizeof columns / sizeof columns[0], columns);
    for (size_t at = 0; at < figures->lengths; at++) {
        for (unsigned way = 0; way < WAYS; way++) {
            for (unsigned kind = 0; kind < KINDS && status == STATUS_OK; kind++) {
                struct play play = {.way = way, .kind = kind, .rounds = lengths[at]};
                struct measured *measured = &figures->measured[way][kind][at];
                char text[5][TEXT];
                status = prepare(&play, &figures->bound[way][at], why);
                if (status == STATUS_OK) {
                    status = measure(measured, &play, request, why);
                }
                (void)snprintf(text[0], TEXT, "%llu", (unsigned long long)lengths[at]);
                (void)snprintf(text[1], TEXT, "%.5f", measured->mean);
                (void)snprintf(text[2], TEXT, "%.5f", measured->error);
                (void)snprintf(text[3], TEXT, way == HEDGE_EPOCHS ? "-" : "%.5f",
                               measured->expected);
                (void)snprintf(text[4], TEXT, way == HEDGE_EPOCHS && kind != 0 ? "none" : "%.5f",
                               figures->bound[way][at]);
                study_row(study, 7,
                          (const char *const[]){kind_name[kind], text[0], way_name[way], text[1],
                                                text[2], text[3], text[4]});
            }
        }
        study_progress(request, "regret: %llu rounds", (unsigned long long)lengths[at]);
    }
    return status;
}

static void draw(struct study *study, const struct figures *figures)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct study_chart words = {
            .x_title = "rounds", .y_title = "average regret", .x_log = true, .y_log = true};
        (void)snprintf(words.title, sizeof words.title, "Regret on %s losses", kind_name[kind]);
        (void)snprintf(words.text, sizeof words.text, "%s",
                       kind == 0   ? "Fair coins; one expert's is better by a tenth."
                       : kind == 1 ? "Every tenth of the rounds another expert is best."
                                   : "Whoever leads loses next. epochs promises nothing here.");
        struct study_chart *chart = study_chart(study, &words);
        for (unsigned way = 0; way < WAYS; way++) {
            char name[STUDY_NAME_BYTES];
            struct study_series *line = study_series(chart, STUDY_MEASURED, way, way_name[way]);
            for (size_t at = 0; at < figures->lengths; at++) {
                study_point(line, (double)lengths[at], figures->measured[way][kind][at].mean);
            }
            if (way == HEDGE_EPOCHS && kind != 0) {
                continue;
            }
            (void)snprintf(name, sizeof name, "%s: bound", way_name[way]);
            line = study_series(chart, STUDY_BOUND, way, name);
            for (size_t at = 0; at < figures->lengths; at++) {
                study_point(line, (double)lengths[at], figures->bound[way][at]);
            }
        }
    }
}

/* The largest regret over the losses, at one length; planted: of one faulty play. */
static enum status worst(struct outcome *outcome, const struct figures *figures, unsigned way,
                         size_t at, enum fault fault, struct why *why)
{
    struct play play = {.way = way, .rounds = lengths[at], .fault = fault};
    double ignored = 0;
    if (fault != FAULT_NONE) {
        const enum status status = prepare(&play, &ignored, why);
        return status != STATUS_OK ? status : run_play(outcome, &play, 1, why);
    }
    *outcome = (struct outcome){-1, -1};
    for (unsigned kind = 0; kind < KINDS && (way != HEDGE_EPOCHS || kind == 0); kind++) {
        outcome->regret = fmax(outcome->regret, figures->measured[way][kind][at].mean);
        outcome->expected = fmax(outcome->expected, figures->measured[way][kind][at].expected);
    }
    return STATUS_OK;
}

/* What each way must reach at a length; bound 0: the theorem's over 15. */
static const struct target {
    unsigned way;
    size_t at;
    double bound;
    const char *sentence;
} targets[] = {
    {HEDGE_DARTBOARD, 2, 0, "dartboard, T = 10,000, worst losses: a fifteenth of theorem's bound"},
    {HEDGE_DARTBOARD, 2, 0.029, "dartboard, T = 10,000, worst losses: within its own bound, 0.029"},
    {HEDGE_EPOCHS, 2, 0.015, "epochs, pure epsilon 1, stochastic losses, T = 10,000"},
    {HEDGE_DARTBOARD, 3, 0.0063, "dartboard, T = 100,000, worst losses"}};

static enum status claim_targets(struct study *study, const struct figures *figures,
                                 const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct target *target = &targets[i];
        struct outcome outcome = {0, 0};
        if (target->at >= figures->lengths || status != STATUS_OK) {
            continue;
        }
        status = worst(&outcome, figures, target->way, target->at,
                       request->planted ? FAULT_BLIND : FAULT_NONE, why);
        study_claim(study, STUDY_AT_MOST, outcome.regret,
                    target->bound > 0 ? target->bound
                                      : figures->bound[HEDGE_THEOREM][target->at] / 15,
                    "%s", target->sentence);
    }
    return status;
}

/* Every length's regret in the mean over its bound; planted: losses that look at the play first. */
static enum status claim_bounds(struct study *study, const struct figures *figures,
                                const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    for (unsigned way = 0; way < WAYS; way++) {
        const enum fault fault = request->planted ? FAULT_PEEKING : FAULT_NONE;
        double most = 0;
        for (size_t at = 0; at < figures->lengths && status == STATUS_OK; at++) {
            struct outcome outcome = {0, 0};
            status = worst(&outcome, figures, way, at, fault, why);
            const double regret = fault == FAULT_NONE ? outcome.expected : outcome.regret;
            most = fmax(most, regret / figures->bound[way][at]);
        }
        study_claim(
            study, STUDY_AT_MOST, most, 1,
            way == HEDGE_EPOCHS
                ? "%s: measured regret over its bound, the worst of all lengths, stochastic losses"
                : "%s: expected regret over its bound, the worst of all lengths and losses",
            way_name[way]);
    }
    return status;
}

/* Exact draws: the plays' means are those of exp(-eta L); planted: blind plays' are not. */
static enum status claim_draws(struct study *study, const struct figures *figures,
                               const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    double most = 0;
    for (unsigned way = 0; way < WAYS; way++) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (size_t at = 0; at < figures->lengths; at++) {
                most = fmax(most, figures->measured[way][kind][at].apart);
            }
        }
    }
    if (request->planted) {
        struct play play = {.way = HEDGE_DARTBOARD, .rounds = LENGTH_MEDIUM, .fault = FAULT_BLIND};
        const struct study_request many = {.seed = request->seed, .runs = RUNS_MANY / 5};
        struct measured blind = {0, 0, 0, 0};
        double ignored = 0;
        status = prepare(&play, &ignored, why);
        if (status == STATUS_OK) {
            status = measure(&blind, &play, &many, why);
        }
        most = blind.apart;
    }
    study_claim(
        study, STUDY_AT_MOST, most, ERRORS,
        "draws follow exp(-eta L): the largest distance of a measured mean from what it should be, "
        "in standard errors, where there are %d plays or more",
        RUNS_MANY);
    return status;
}

enum status study_regret(struct study *study, const struct study_request *request, struct why *why)
{
    struct figures figures = {.lengths = 0};
    (void)snprintf(study->title, sizeof study->title, "What privacy costs the experts");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Ten experts, (1, 10^-6) for a whole round's losses replaced, epochs pure epsilon 1: "
        "loss per round beyond the best expert in hindsight. Central trust: the coordinator's "
        "own machine, every draw exact and paid for. Local: five agents of %d records a round, "
        "epsilon 1 a record, noise on every loss.",
        LOCAL_RECORDS);
    while (figures.lengths < LENGTHS &&
           (request->rounds == 0 || lengths[figures.lengths] <= request->rounds)) {
        figures.lengths++;
    }
    enum status status = play_all(&figures, study, request, why);
    if (status == STATUS_OK) {
        draw(study, &figures);
        status = claim_targets(study, &figures, request, why);
    }
    if (status == STATUS_OK) {
        status = claim_bounds(study, &figures, request, why);
    }
    return status != STATUS_OK ? status : claim_draws(study, &figures, request, why);
}
