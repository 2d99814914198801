/* The lazy play on a toy domain: 3 experts, 4 rounds, losses 0 or 1, all 512 histories and every
 * outcome - who plays in each round, which coins refreshed - with its probability from the
 * decisions of the running code. One replaced round must not change any of them by more than
 * e^epsilon, the epsilons of the charges added up.
 *
 * Probabilities: hedge_play is run on chosen random words. A coin and a draw are monotone in the
 * word that decides them, so a bisection finds the number of words for each result, up to a few of
 * 2^62; SLACK is far above that. The flow - what is due, who plays, when it ends - is the running
 * code's own, on every path. Planted faults must break the bound: a cap that is not kept, a coin
 * that keeps with exp(-2 eta l), no coin of p. */

#include "experts/hedge_terms.h"
#include "tests/exhaustive/hedge_table.h"

#include <math.h>

enum { T = 4, LOOKED = T - 1, CUBE = 8, HISTORIES = CUBE * CUBE * CUBE, PATHS_MAX = 256 };

#define SLACK (1 + 1e-12)

/* Writes the probabilities of all outcomes of one history; returns how many there are. */
static size_t outcomes(double *probability, struct table *table, int history)
{
    struct every_choice every = {.depth = 0};
    size_t count = 0;
    do {
        struct hedge_state state = {0};
        int64_t cumulative[K] = {0};
        int64_t latest[K] = {0};
        double product = 1;
        int rest = history;
        for (int round = 0; round < T; round++, rest /= CUBE) {
            const struct hedge_losses losses = {.cumulative = cumulative, .latest = latest};
            while (hedge_due(&state, &table->game) != HEDGE_DUE_NOTHING) {
                /* Without p, and with a loss of 0, there is no refresh to walk into. */
                if (table->game.refresh == 0 && hedge_due(&state, &table->game) == HEDGE_DUE_COIN &&
                    latest[state.expert] == 0) {
                    product *= every_choice_of(&every, 2) == 0 ? 1 : 0;
                    hedge_note_coin(&state, every.taken[every.depth - 1] == 1);
                    continue;
                }
                product *= choose(table, &state, &every, &losses);
            }
            for (int i = 0; i < K; i++) {
                latest[i] = rest >> i & 1;
                cumulative[i] += latest[i];
            }
            hedge_next(&state, &table->game);
        }
        cr_assert(count < PATHS_MAX);
        probability[count++] = product;
    } while (every_choice_next(&every));
    return count;
}

/* How many rounds differ. */
static int distance(int a, int b)
{
    int different = 0;
    for (int round = 0; round < LOOKED; round++) {
        different += a % CUBE != b % CUBE;
        a /= CUBE;
        b /= CUBE;
    }
    return different;
}

/* Returns the largest ln P(o|x)/P(o|x') over outcomes and neighbours. */
static double worst_loss(struct hedge_run game, int rounds_apart)
{
    static double probability[HISTORIES][PATHS_MAX];
    struct table *table = table_new(game);
    double worst = 1;
    size_t count = 0;
    for (int history = 0; history < HISTORIES; history++) {
        double sum = 0;
        count = outcomes(probability[history], table, history);
        for (size_t o = 0; o < count; o++) {
            sum += probability[history][o];
        }
        cr_assert(fabs(sum - 1) < 1e-12);
    }
    for (int a = 0; a < HISTORIES; a++) {
        for (int b = 0; b < HISTORIES; b++) {
            if (a == b || distance(a, b) > rounds_apart) {
                continue;
            }
            for (size_t o = 0; o < count; o++) {
                if (probability[a][o] > 0) {
                    worst = fmax(worst, probability[a][o] / probability[b][o]);
                }
            }
        }
    }
    table_free(table);
    return log(worst);
}

/* A game that was not planned: its draws have range 1 and probability p, and their number has a
 * limit. One unit moves `moves` rounds. */
static struct hedge_run game_of(double p, uint64_t draws_max, uint64_t moves)
{
    struct hedge_run game = {.strategy = HEDGE_DARTBOARD,
                             .experts = K,
                             .rounds = T,
                             .one = 1,
                             .sensitivity = moves,
                             .draw_micro = EPSILON_MICRO_ONE,
                             .draws_max = draws_max,
                             .coins = moves,
                             .refresh = (uint64_t)ldexp(p, 53)};
    cr_assert(noise_exponential_init(&game.decay, 1, 2 * moves) == STATUS_OK);
    game.coin_micro = (uint64_t)ceil(1e6 * hedge_coin_range(0.5 / (double)moves, p > 0 ? p : 0.5));
    return game;
}

static double claim(const struct hedge_run *game)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    const size_t count = hedge_charges(charge, game);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)(charge[i].epsilon_micro * charge[i].count) / 1e6;
    }
    cr_assert(count == (game->last_micro > 0 ? 3 : 2));
    return sum;
}

Test(hedge, every_outcome_is_within_its_charges)
{
    static const double p[] = {0.9, 0.5, 0.05};
    for (size_t i = 0; i < 3; i++) {
        const struct hedge_run game = game_of(p[i], i + 1, 1);
        const double worst = worst_loss(game, 1);
        cr_log_info("p %g, %zu draws: %.4f of %.4f", p[i], i + 1, worst, claim(&game));
        cr_expect(worst <= claim(&game) + log(SLACK));
        cr_expect(worst >= 0.7 * claim(&game));
    }
}

/* A record that takes part in two rounds, the only one there is. */
Test(hedge, a_record_of_two_rounds_is_within_its_charges)
{
    const struct hedge_run game = game_of(0.5, 2, 2);
    const double worst = worst_loss(game, 2);
    cr_log_info("two rounds: %.4f of %.4f", worst, claim(&game));
    cr_expect(worst <= claim(&game) + log(SLACK));
}

/* The last play is a choice of its own on all losses; after it nothing is drawn. */
Test(hedge, with_a_last_pick_every_outcome_is_within_its_charges)
{
    static const enum mechanism mechanism[] = {MECHANISM_PURE, MECHANISM_EXPONENTIAL};
    for (size_t i = 0; i < 2; i++) {
        struct hedge_run game = game_of(0.5, 1, 1);
        game.moved = 1;
        hedge_run_set_last(&game, mechanism[i], 2 * EPSILON_MICRO_ONE);
        const double worst = worst_loss(game, 1);
        const double claimed = claim(&game);
        cr_log_info("last pick %zu: %.4f of %.4f", i, worst, claimed);
        cr_expect(worst <= claimed + log(SLACK));
        cr_expect(worst >= 0.7 * claimed);
        game.last_micro *= 3; /* planted: more than is charged */
        cr_expect(worst_loss(game, 1) > claimed + 0.1);
    }
}

/* In place of the last play's draw and coin: there is none to be charged. */
Test(hedge, a_last_pick_comes_in_place_of_a_draw)
{
    struct hedge_run game = game_of(0.5, T, 1);
    game.moved = 1;
    hedge_run_set_last(&game, MECHANISM_PURE, EPSILON_MICRO_ONE);
    cr_expect_eq(game.draws_max, T - 2);
    game.experts = 1;
    game.last_micro = 0;
    hedge_run_set_last(&game, MECHANISM_PURE, EPSILON_MICRO_ONE);
    cr_expect_eq(game.last_micro, 0, "nothing to choose");
}

Test(hedge, a_cap_that_is_not_kept_is_caught)
{
    const struct hedge_run capped = game_of(0.9, 1, 1);
    cr_expect(worst_loss(game_of(0.9, LOOKED, 1), 1) > claim(&capped) + 0.1);
}

Test(hedge, a_coin_of_twice_the_loss_is_caught)
{
    struct hedge_run game = game_of(0.9, 1, 1);
    cr_assert(noise_exponential_init(&game.decay, 2, 2) == STATUS_OK);
    cr_expect(worst_loss(game, 1) > claim(&game) + 0.05);
}

Test(hedge, a_missing_coin_of_p_is_caught)
{
    const struct hedge_run game = game_of(0, 1, 1);
    cr_expect(isinf(worst_loss(game, 1)));
}

/* The measured probabilities are those of the formulas. */
Test(hedge, coins_and_draws_are_exact)
{
    struct table *table = table_new(game_of(0.25, 2, 1));
    for (int loss = 0; loss < 2; loss++) {
        cr_expect(fabs(table->refresh[loss] - (1 - 0.75 * exp(-0.5 * loss))) < 1e-15);
    }
    for (int v = 0; v < VECTORS; v++) {
        int64_t cumulative[K];
        double sum = 0;
        vector_of(v, cumulative);
        for (int i = 0; i < K; i++) {
            sum += exp(-0.5 * (double)cumulative[i]);
        }
        for (int i = 0; i < K; i++) {
            const double wanted = exp(-0.5 * (double)cumulative[i]) / sum;
            cr_expect(fabs(table->draw[v][i] - wanted) < 1e-15);
        }
    }
    table_free(table);
}
