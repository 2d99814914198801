/* A play whose horizon is unknown, on a toy domain: 3 experts, 5 rounds in segments of 1, 2 and 4
 * (cut short), so that play 2 of the second segment and plays 4 and 5 of the third look at losses.
 * Each round's losses are one of three vectors. All 243 histories and every outcome are examined;
 * the probabilities come from the decisions of the running code (hedge_table.h). One replaced round
 * must not change any of them by more than e^epsilon, epsilon being what the largest of the games
 * can spend, or what was planned for each; with a delta, not by more than the delta that was
 * planned for. Planted: sums that do not restart, so that a round is paid for in two games, break
 * it. */

#include "experts/hedge_terms.h"
#include "tests/exhaustive/hedge_table.h"

#include <math.h>

enum { ROUNDS = 5, GAMES = 3, KINDS = 3, HISTORIES = KINDS * KINDS * KINDS * KINDS * KINDS };
enum { PATHS_MAX = 3 * 3 * 4 * 3 * 4 * 4 };

#define SLACK (1 + 1e-12)

/* A round's losses of the experts. */
static const int64_t losses_of[KINDS][K] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}};
static const int place_of[ROUNDS] = {1, 3, 9, 27, 81};

struct trial {
    struct table *table[GAMES];
    struct hedge_run game[GAMES];
    bool remembers; /* planted: sums include those of the segment before */
    double (*probability)[PATHS_MAX];
    size_t count;
};

static int kind_of(int history, uint64_t round)
{
    return history / place_of[round] % KINDS;
}

/* What play number state->round sees. */
static void look(int64_t *cumulative, int64_t *latest, const struct trial *trial, int history,
                 uint64_t play, uint64_t first)
{
    memset(cumulative, 0, K * sizeof *cumulative);
    memset(latest, 0, K * sizeof *latest);
    for (uint64_t round = trial->remembers ? first / 2 : first; round < play; round++) {
        memcpy(latest, losses_of[kind_of(history, round)], K * sizeof *latest);
        for (int i = 0; i < K; i++) {
            cumulative[i] += latest[i];
        }
    }
}

/* Writes the probabilities of all outcomes of one history; returns how many there are. */
static size_t outcomes(struct trial *trial, int history)
{
    struct every_choice every = {.depth = 0};
    size_t count = 0;
    double sum = 0;
    do {
        struct hedge_state state = {0};
        double product = 1;
        for (uint64_t play = 0; play <= ROUNDS; play++) {
            const struct hedge_run *game = hedge_run_at(trial->game, GAMES, play);
            struct table *table = trial->table[game - trial->game];
            int64_t cumulative[K];
            int64_t latest[K];
            const struct hedge_losses losses = {.cumulative = cumulative, .latest = latest};
            look(cumulative, latest, trial, history, play, game->first);
            while (hedge_due(&state, game) != HEDGE_DUE_NOTHING) {
                product *= choose(table, &state, &every, &losses);
            }
            cr_assert(hedge_state_is_valid(&state, game));
            hedge_next(&state, game);
        }
        cr_assert(count < PATHS_MAX);
        trial->probability[history][count++] = product;
        sum += product;
    } while (every_choice_next(&every));
    cr_assert(fabs(sum - 1) < 1e-12);
    return count;
}

struct loss {
    double worst; /* the largest ln P(o|x)/P(o|x'), while it is made its exponential */
    double delta; /* the largest sum of P(o|x) - e^epsilon P(o|x'), where that is positive */
};

static void compare(struct loss *loss, const struct trial *trial, int a, int b, double factor)
{
    double delta = 0;
    for (size_t o = 0; o < trial->count; o++) {
        const double p = trial->probability[a][o];
        const double q = trial->probability[b][o];
        loss->worst = p > loss->worst * q ? p / q : loss->worst;
        delta += p > factor * q ? p - factor * q : 0;
    }
    loss->delta = delta > loss->delta ? delta : loss->delta;
}

static struct loss loss_of(const struct hedge_run *game, double epsilon, bool remembers)
{
    struct trial trial = {.remembers = remembers};
    struct loss loss = {.worst = 1};
    memcpy(trial.game, game, sizeof trial.game);
    trial.probability = calloc(HISTORIES, sizeof *trial.probability);
    cr_assert_not_null(trial.probability);
    for (int s = 0; s < GAMES; s++) {
        trial.table[s] = table_new(game[s]);
    }
    for (int history = 0; history < HISTORIES; history++) {
        trial.count = outcomes(&trial, history);
    }
    for (int a = 0; a < HISTORIES; a++) {
        for (uint64_t round = 0; round < ROUNDS; round++) {
            for (int kind = 0; kind < KINDS; kind++) {
                const int b = a + (kind - kind_of(a, round)) * place_of[round];
                compare(&loss, &trial, a, b, exp(epsilon));
            }
        }
    }
    for (int s = 0; s < GAMES; s++) {
        table_free(trial.table[s]);
    }
    free(trial.probability);
    loss.worst = log(loss.worst);
    return loss;
}

/* Games that were not planned: exactly the draws that are played are paid for. */
static void games_of(struct hedge_run *game, enum hedge_strategy strategy)
{
    static const uint64_t first[GAMES] = {0, 1, 3};
    static const uint64_t rounds[GAMES] = {1, 2, 3};
    static const uint64_t draws[GAMES] = {1, 1, 2};
    for (int s = 0; s < GAMES; s++) {
        game[s] = (struct hedge_run){.strategy = strategy,
                                     .experts = K,
                                     .first = first[s],
                                     .rounds = rounds[s],
                                     .one = 1,
                                     .sensitivity = 1,
                                     .draw_micro = EPSILON_MICRO_ONE / draws[s],
                                     .draws_max = draws[s],
                                     .coins = strategy == HEDGE_DARTBOARD,
                                     .refresh = UINT64_C(1) << 52};
        cr_assert(noise_exponential_init(&game[s].decay, 1, 2 * draws[s]) == STATUS_OK);
        game[s].coin_micro = (uint64_t)ceil(1e6 * hedge_coin_range(0.5 / (double)draws[s], 0.5));
    }
}

/* The sum of the charges of the largest game. */
static double claim(const struct hedge_run *game)
{
    double most = 0;
    for (int s = 0; s < GAMES; s++) {
        struct charge charge[HEDGE_CHARGES_MAX];
        double sum = 0;
        const size_t count = hedge_charges(charge, &game[s]);
        for (size_t i = 0; i < count; i++) {
            sum += (double)(charge[i].epsilon_micro * charge[i].count) / 1e6;
        }
        most = fmax(most, sum);
    }
    return most;
}

Test(hedge_segments, every_outcome_is_within_the_largest_game)
{
    static const enum hedge_strategy strategies[] = {HEDGE_RWM, HEDGE_DARTBOARD};
    for (size_t i = 0; i < 2; i++) {
        struct hedge_run game[GAMES];
        games_of(game, strategies[i]);
        const struct loss loss = loss_of(game, claim(game), false);
        cr_log_info("%s: %.4f of %.4f", hedge_strategy_name(strategies[i]), loss.worst,
                    claim(game));
        cr_expect(loss.worst <= claim(game) + log(SLACK));
        cr_expect(loss.worst >= 0.5 * claim(game));
    }
}

Test(hedge_segments, sums_that_do_not_restart_are_caught)
{
    struct hedge_run game[GAMES];
    games_of(game, HEDGE_RWM);
    const struct loss loss = loss_of(game, claim(game), true);
    cr_expect(loss.worst > claim(game) + 0.2, "%.4f of %.4f", loss.worst, claim(game));
}

static void plan(struct hedge_run *game, enum hedge_strategy strategy, double epsilon, double delta)
{
    const struct hedge_problem problem = {
        .experts = K, .rounds = ROUNDS, .epsilon = epsilon, .delta = delta};
    struct hedge_plan whole;
    struct hedge_plan segment[GAMES];
    cr_assert_eq(hedge_segment_count(ROUNDS), GAMES);
    cr_assert_eq(hedge_doubling(&whole, segment, strategy, &problem, NULL), STATUS_OK);
    cr_assert_eq(
        hedge_runs_init(game, segment, strategy, &problem, (struct hedge_grid){1, 0}, NULL),
        STATUS_OK);
}

/* As planned: pure epsilon, and epsilon 0.2 at delta 0.1, where the draws cost more than pure
 * epsilon would allow. */
Test(hedge_segments, plans_keep_their_epsilon_and_delta)
{
    static const enum hedge_strategy strategies[] = {HEDGE_RWM, HEDGE_DARTBOARD};
    for (size_t i = 0; i < 2; i++) {
        struct hedge_run game[GAMES];
        plan(game, strategies[i], 1, 0);
        struct loss loss = loss_of(game, 1, false);
        cr_expect(loss.worst <= 1 + log(SLACK) && loss.worst > 0.3, "%.4f", loss.worst);
        plan(game, strategies[i], 0.2, 0.1);
        loss = loss_of(game, 0.2, false);
        cr_log_info("%s: delta %.4f of 0.1 at epsilon 0.2, worst %.4f of %.4f",
                    hedge_strategy_name(strategies[i]), loss.delta, loss.worst, claim(game));
        cr_expect(claim(game) > 0.2);
        cr_expect(loss.delta <= 0.1);
    }
}
