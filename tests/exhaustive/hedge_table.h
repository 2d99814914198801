/* hedge_table.h - the probabilities of a play's coins and draws, by bisection of the random words
 * that decide them, and a walk through all that can happen on which the running code decides. */

#ifndef TESTS_EXHAUSTIVE_HEDGE_TABLE_H
#define TESTS_EXHAUSTIVE_HEDGE_TABLE_H

#include "dp/ledger.h"
#include "experts/hedge_play.h"
#include "experts/hedge_terms.h"
#include "tests/support/every_choice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 3, LEVELS = 5, VECTORS = LEVELS * LEVELS * LEVELS }; /* cumulative losses below LEVELS */

/* Hands out `word`, in order; what is asked for beyond is zero. */
struct script {
    uint64_t word[4];
    size_t next;
};

static inline enum status script_fill(void *self, void *out, size_t bytes)
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
    struct hedge_run game;
    struct ledger *ledger;
    uint64_t row;
    double refresh[2];       /* by the loss of the expert kept so far */
    double draw[VECTORS][K]; /* by the cumulative losses */
};

static inline void vector_of(int v, int64_t *cumulative)
{
    for (int i = 0; i < K; i++) {
        cumulative[i] = v % LEVELS;
        v /= LEVELS;
    }
}

static inline int number_of(const int64_t *cumulative)
{
    return (int)(cumulative[0] + LEVELS * (cumulative[1] + LEVELS * cumulative[2]));
}

/* Does what is due, paid, on these words. */
static inline void play(struct table *table, struct hedge_state *state, struct script script,
                        const struct hedge_losses *losses)
{
    const struct random random = {.fill = script_fill, .self = &script};
    struct grant *grant = NULL;
    if (hedge_due(state, &table->game) != HEDGE_DUE_START) {
        const struct digest stage = {{1}};
        struct charge charge = hedge_charge(state, &table->game, &stage);
        charge.pass = stage; /* one pass and a row each: the tables stay small for any number of
                              * draws */
        charge.row_first = table->row++;
        charge.row_count = 1;
        cr_assert(ledger_spend(table->ledger, &grant, &charge, NULL) == STATUS_OK);
    }
    cr_assert(hedge_play(state, &table->game, &grant, &random, losses) == STATUS_OK);
}

static inline bool refreshes(struct table *table, int64_t loss, uint64_t first, uint64_t second)
{
    const int64_t latest[K] = {loss, loss, loss};
    struct hedge_state state = {.round = table->game.first + 1};
    play(table, &state, (struct script){.word = {first, second}},
         &(struct hedge_losses){.latest = latest});
    cr_assert(state.tossed && state.draws == 0);
    return !state.drawn;
}

static inline size_t drawn(struct table *table, int v, uint64_t word)
{
    int64_t cumulative[K];
    struct hedge_state state = {.round = table->game.first + 1,
                                .tossed = table->game.strategy == HEDGE_DARTBOARD};
    vector_of(v, cumulative);
    play(table, &state, (struct script){.word = {0, 0, word}},
         &(struct hedge_losses){.cumulative = cumulative});
    cr_assert(state.drawn && state.draws == 1);
    return (size_t)state.expert;
}

static inline void measure_coin(struct table *table, int64_t loss)
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

static inline void measure_draw(struct table *table, int v)
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

static inline struct table *table_new(struct hedge_run game)
{
    struct table *table = calloc(1, sizeof *table);
    cr_assert_not_null(table);
    table->game = game;
    table->ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    cr_assert_not_null(table->ledger);
    for (int64_t loss = 0; loss < 2 && game.strategy == HEDGE_DARTBOARD; loss++) {
        measure_coin(table, loss);
    }
    for (int v = 0; v < VECTORS; v++) {
        measure_draw(table, v);
    }
    return table;
}

static inline void table_free(struct table *table)
{
    ledger_free(table->ledger);
    free(table);
}

/* Permute-and-flip over every order of K candidates; p: that one is taken when its turn comes. */
static inline double flipped(const double *p, size_t expert)
{
    static const int order[6][K] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        double reached = 1;
        for (int j = 0; j < K && (size_t)order[i][j] != expert; j++) {
            reached *= 1 - p[order[i][j]];
        }
        sum += reached * p[expert] / 6;
    }
    return sum;
}

/* The last pick's probability, by the formulas that exhaustive/test_select measures. */
static inline double last_of(const struct hedge_run *game, const int64_t *cumulative, size_t expert)
{
    const double eta = (double)game->last_micro / 2e6 / (double)game->moved;
    double p[K];
    double sum = 0;
    int64_t least = cumulative[0];
    for (int i = 1; i < K; i++) {
        least = cumulative[i] < least ? cumulative[i] : least;
    }
    for (int i = 0; i < K; i++) {
        p[i] = exp(-eta * (double)(cumulative[i] - least));
        sum += p[i];
    }
    return game->last_mechanism == MECHANISM_PURE ? flipped(p, expert) : p[expert] / sum;
}

/* One choice of the running play: does it, and returns its probability. */
static inline double choose(struct table *table, struct hedge_state *state,
                            struct every_choice *every, const struct hedge_losses *losses)
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
    if (due == HEDGE_DUE_LAST) {
        hedge_note_draw(state, expert);
        return last_of(&table->game, losses->cumulative, expert);
    }
    if (due == HEDGE_DUE_DRAW) { /* measured, paid, for these very sums */
        hedge_note_draw(state, expert);
        return table->draw[number_of(losses->cumulative)][expert];
    }
    script.word[0] = expert;
    play(table, state, script, losses);
    cr_assert(state->expert == expert);
    return 1 / (double)K;
}

#endif
