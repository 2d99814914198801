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

#include "dp/ledger.h"
#include "experts/hedge_play.h"
#include "experts/hedge_private.h"
#include "tests/support/every_choice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 3, T = 4, LOOKED = T - 1, CUBE = 8, HISTORIES = CUBE * CUBE * CUBE };
enum { LEVELS = T, VECTORS = LEVELS * LEVELS * LEVELS, PATHS_MAX = 256 };

#define SLACK (1 + 1e-12)

/* Hands out `word`, in order; what is asked for beyond is zero. */
struct script {
    uint64_t word[4];
    size_t next;
};

static enum status script_fill(void *self, void *out, size_t bytes)
{
    struct script *script = self;
    uint64_t word[4] = {0};
    const size_t count = bytes / sizeof *word;
    cr_assert(bytes % sizeof *word == 0 && count <= 4);
    for (size_t i = 0; i < count; i++) {
        word[i] = script->next < 4 ? script->word[script->next] : 0;
        script->next++;
    }
    memcpy(out, word, bytes);
    return STATUS_OK;
}

/* One table of probabilities, measured. */
struct table {
    struct hedge_game game;
    struct ledger *ledger;
    uint64_t row;
    double refresh[2];       /* by the loss of the expert kept so far */
    double draw[VECTORS][K]; /* by the cumulative losses */
};

static void vector_of(int v, int64_t *cumulative)
{
    for (int i = 0; i < K; i++) {
        cumulative[i] = v % LEVELS;
        v /= LEVELS;
    }
}

static int number_of(const int64_t *cumulative)
{
    return (int)(cumulative[0] + LEVELS * (cumulative[1] + LEVELS * cumulative[2]));
}

/* Does what is due, paid, on these words. */
static void play(struct table *table, struct hedge_state *state, struct script script,
                 const struct hedge_losses *losses)
{
    const struct random random = {.fill = script_fill, .self = &script};
    struct grant *grant = NULL;
    if (hedge_due(state, &table->game) != HEDGE_DUE_START) {
        const struct digest stage = {{1}};
        struct charge charge = hedge_charge(state, &table->game, &stage);
        charge.pass = stage; /* one pass and a row each: any number of them stays small */
        charge.row_first = table->row++;
        charge.row_count = 1;
        cr_assert(ledger_spend(table->ledger, &grant, &charge, NULL) == STATUS_OK);
    }
    cr_assert(hedge_play(state, &table->game, &grant, &random, losses) == STATUS_OK);
}

static bool refreshes(struct table *table, int64_t loss, uint64_t first, uint64_t second)
{
    const int64_t latest[K] = {loss, loss, loss};
    struct hedge_state state = {.round = 1};
    play(table, &state, (struct script){.word = {first, second}},
         &(struct hedge_losses){.latest = latest});
    cr_assert(state.tossed && state.draws == 0);
    return !state.drawn;
}

static size_t drawn(struct table *table, int v, uint64_t word)
{
    int64_t cumulative[K];
    struct hedge_state state = {.round = 1, .tossed = true};
    vector_of(v, cumulative);
    play(table, &state, (struct script){.word = {0, 0, word}},
         &(struct hedge_losses){.cumulative = cumulative});
    cr_assert(state.drawn && state.draws == 1);
    return (size_t)state.expert;
}

static void measure_coin(struct table *table, int64_t loss)
{
    uint64_t words = 0; /* first words that refresh whatever the second one is */
    uint64_t kept = 0;  /* second words that keep */
    for (uint64_t bit = UINT64_C(1) << 63; bit > 0; bit >>= 1) {
        words += refreshes(table, loss, words + bit - 1, 0) ? bit : 0;
        kept += refreshes(table, loss, UINT64_MAX, kept + bit - 1) ? 0 : bit;
    }
    const double p = (double)words * 0x1p-64;
    const double keep = kept == UINT64_MAX ? 1 : (double)kept * 0x1p-64;
    table->refresh[loss] = p + (1 - p) * (1 - keep);
}

static void measure_draw(struct table *table, int v)
{
    uint64_t before = 0;
    for (size_t i = 0; i < K; i++) {
        uint64_t words = 0; /* that draw one of the first i + 1 */
        for (uint64_t bit = UINT64_C(1) << 63; bit > 0; bit >>= 1) {
            words += i + 1 == K || drawn(table, v, words + bit - 1) <= i ? bit : 0;
        }
        table->draw[v][i] = (double)(words - before) * 0x1p-64;
        before = words;
    }
}

static struct table *table_new(struct hedge_game game)
{
    struct table *table = calloc(1, sizeof *table);
    cr_assert_not_null(table);
    table->game = game;
    table->ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    cr_assert_not_null(table->ledger);
    for (int64_t loss = 0; loss < 2; loss++) {
        measure_coin(table, loss);
    }
    for (int v = 0; v < VECTORS; v++) {
        measure_draw(table, v);
    }
    return table;
}

static void table_free(struct table *table)
{
    ledger_free(table->ledger);
    free(table);
}

/* One choice of the running play: does it, and returns its probability. */
static double choose(struct table *table, struct hedge_state *state, struct every_choice *every,
                     const struct hedge_losses *losses)
{
    const enum hedge_due due = hedge_due(state, &table->game);
    struct script script = {.word = {0}};
    if (due == HEDGE_DUE_COIN) {
        const bool keep = every_choice_of(every, 2) == 0;
        const double refresh = table->refresh[losses->latest[state->expert]];
        script.word[0] = UINT64_MAX; /* refreshes only by the second word, ... */
        script.word[1] = keep ? 0 : UINT64_MAX;
        if (!keep && losses->latest[state->expert] == 0) {
            script.word[0] = 0; /* ... which a loss of 0 never does */
        }
        play(table, state, script, losses);
        return keep ? 1 - refresh : refresh;
    }
    const uint32_t expert = every_choice_of(every, K);
    if (due == HEDGE_DUE_DRAW) { /* measured, paid, for these very sums */
        hedge_note_draw(state, expert);
        return table->draw[number_of(losses->cumulative)][expert];
    }
    script.word[0] = expert;
    play(table, state, script, losses);
    cr_assert(state->expert == expert);
    return 1 / (double)K;
}

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
static double worst_loss(struct hedge_game game, int rounds_apart)
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

/* A game that was not planned: draws of range 1, p, and at most so many draws; one unit moves
 * `moves` rounds. */
static struct hedge_game game_of(double p, uint64_t draws_max, uint64_t moves)
{
    struct hedge_game game = {.strategy = HEDGE_DARTBOARD,
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

static double claim(const struct hedge_game *game)
{
    struct charge charge[2];
    const size_t count = hedge_charges(charge, game);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)(charge[i].epsilon_micro * charge[i].count) / 1e6;
    }
    cr_assert(count == 2);
    return sum;
}

Test(hedge, every_outcome_is_within_its_charges, .timeout = 200)
{
    static const double p[] = {0.9, 0.5, 0.05};
    for (size_t i = 0; i < 3; i++) {
        const struct hedge_game game = game_of(p[i], i + 1, 1);
        const double worst = worst_loss(game, 1);
        cr_log_info("p %g, %zu draws: %.4f of %.4f", p[i], i + 1, worst, claim(&game));
        cr_expect(worst <= claim(&game) + log(SLACK));
        cr_expect(worst >= 0.7 * claim(&game));
    }
}

/* A record that takes part in two rounds, the only one there is. */
Test(hedge, a_record_of_two_rounds_is_within_its_charges, .timeout = 200)
{
    const struct hedge_game game = game_of(0.5, 2, 2);
    const double worst = worst_loss(game, 2);
    cr_log_info("two rounds: %.4f of %.4f", worst, claim(&game));
    cr_expect(worst <= claim(&game) + log(SLACK));
}

Test(hedge, a_cap_that_is_not_kept_is_caught, .timeout = 200)
{
    const struct hedge_game capped = game_of(0.9, 1, 1);
    cr_expect(worst_loss(game_of(0.9, LOOKED, 1), 1) > claim(&capped) + 0.1);
}

Test(hedge, a_coin_of_twice_the_loss_is_caught, .timeout = 200)
{
    struct hedge_game game = game_of(0.9, 1, 1);
    cr_assert(noise_exponential_init(&game.decay, 2, 2) == STATUS_OK);
    cr_expect(worst_loss(game, 1) > claim(&game) + 0.05);
}

Test(hedge, a_missing_coin_of_p_is_caught, .timeout = 200)
{
    const struct hedge_game game = game_of(0, 1, 1);
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
