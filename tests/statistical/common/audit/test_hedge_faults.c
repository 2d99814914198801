/* Faults that the private experts could have, each planted, each caught by an audit: audited >
 * claimed. Beside every fault stands the right variant, by the same code, which passes.
 *
 *   fault                                          claim
 *   losses in [-1,1], not mapped to [0,1]          2 eta of one draw
 *   the cap on refreshes ignored                   pure sum of the stage's charges
 *   epochs that look at older epochs again         epsilon of the stage
 *   a coin that keeps with exp(-2 eta l)           range of one coin
 *
 * Every right variant is audited above its claim with probability 1e-6 at a fresh seed; there are
 * 4, and the seeds are fixed. */

#include "dp/select_private.h"
#include "experts/hedge_play.h"
#include "experts/hedge_terms.h"
#include "lab/audit/audit.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { SAMPLES = 60000, FIELD = 32, FEW = 4, ROUNDS = 16, BITS = 10, ONE = 1 << BITS };

struct variant {
    struct hedge_run game;
    struct noise_laplace noise;
    bool wrong;
};

typedef int64_t (*one_run)(const struct variant *, const struct random *, unsigned side);

struct audited {
    const struct variant *variant;
    one_run run;
};

static enum status draw_all(void *self, const struct random *random, unsigned side, int64_t *score,
                            size_t count)
{
    const struct audited *audited = self;
    for (size_t i = 0; i < count; i++) {
        score[i] = audited->run(audited->variant, random, side);
    }
    return STATUS_OK;
}

static double audit(one_run run, const struct variant *variant)
{
    struct seeded_random seeded;
    struct audit_result result;
    struct audited audited = {variant, run};
    const struct audit_source source = {.draw = draw_all, .self = &audited};
    const struct audit_options options = {.samples = SAMPLES, .miss = AUDIT_MISS};
    seeded_random_init(&seeded, 11);
    const struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(audit_run(&result, &source, &random, &options), STATUS_OK);
    return result.epsilon;
}

static void judge(one_run run, struct variant *variant, double claim)
{
    variant->wrong = false;
    const double right = audit(run, variant);
    variant->wrong = true;
    const double wrong = audit(run, variant);
    cr_log_info("claimed %.3f: right %.3f, wrong %.3f", claim, right, wrong);
    cr_assert_leq(right, claim, "the right one: %g", right);
    cr_assert_gt(wrong, claim, "the planted fault: %g", wrong);
}

static size_t draw(const struct variant *variant, const struct random *random,
                   const int64_t *scores, size_t count)
{
    size_t chosen = 0;
    cr_assert_eq(select_draw_exponential(&variant->game.decay, random, &chosen, scores, count),
                 STATUS_OK);
    return chosen;
}

/* One sample and its negative; coordinate 0 is rare or not. */
static int64_t linear(const struct variant *variant, const struct random *random, unsigned side)
{
    double x[FIELD];
    int64_t loss[FIELD];
    for (size_t i = 0; i < FIELD; i++) {
        x[i] = (i == 0) == (side == 0) ? 1 : -1;
    }
    hedge_linear_losses(loss, x, FIELD, BITS);
    for (size_t i = 0; i < FIELD && variant->wrong; i++) {
        loss[i] = (int64_t)(ONE * x[i]);
    }
    return (int64_t)draw(variant, random, loss, FIELD);
}

Test(hedge_faults, losses_that_are_not_mapped)
{
    struct variant variant = {.wrong = false};
    cr_assert_eq(noise_exponential_init(&variant.game.decay, 1, 2 * ONE), STATUS_OK);
    judge(linear, &variant, 1);
}

/* eta 1/2 and p; coins and draws at most as said. */
static struct variant lazy(double p, uint64_t draws_max)
{
    struct variant variant = {.game = {.strategy = HEDGE_DARTBOARD,
                                       .experts = 2,
                                       .rounds = ROUNDS,
                                       .one = ONE,
                                       .sensitivity = ONE,
                                       .draw_micro = EPSILON_MICRO_ONE,
                                       .draws_max = draws_max,
                                       .coins = 1,
                                       .refresh = (uint64_t)ldexp(p, 53)}};
    variant.game.coin_micro = (uint64_t)ceil(1e6 * hedge_coin_range(0.5, p));
    cr_assert_eq(noise_exponential_init(&variant.game.decay, 1, 2 * ONE), STATUS_OK);
    return variant;
}

/* How many more draws took expert 1 than expert 0, and the first coin. */
static int64_t uncapped(const struct variant *variant, const struct random *random, unsigned side)
{
    static const int64_t level[2] = {0};
    const int64_t first[2] = {side == 0 ? ONE : 0, side == 0 ? 0 : ONE};
    struct hedge_run game = variant->game;
    struct hedge_state state = {0};
    struct grant *none = NULL;
    int64_t score = 0;
    game.draws_max = variant->wrong ? ROUNDS : game.draws_max;
    for (int round = 0; round < ROUNDS; round++) {
        if (round == 0) {
            cr_assert_eq(hedge_play(&state, &game, &none, random, NULL), STATUS_OK);
        }
        if (hedge_due(&state, &game) == HEDGE_DUE_COIN) {
            bool refresh = false;
            const int64_t *latest = round == 1 ? first : level;
            cr_assert_eq(hedge_toss(&game, random, latest[state.expert], &refresh), STATUS_OK);
            hedge_note_coin(&state, refresh);
        }
        if (hedge_due(&state, &game) == HEDGE_DUE_DRAW) {
            hedge_note_draw(&state, draw(variant, random, first, 2));
            score += state.expert == 1 ? 1 : -1;
        }
        hedge_next(&state, &game);
    }
    return score;
}

Test(hedge_faults, a_cap_that_is_ignored)
{
    struct variant variant = lazy(0.9, 1);
    struct charge charge[HEDGE_CHARGES_MAX];
    double claim = 0;
    const size_t count = hedge_charges(charge, &variant.game);
    for (size_t i = 0; i < count; i++) {
        claim += (double)(charge[i].epsilon_micro * charge[i].count) / 1e6;
    }
    judge(uncapped, &variant, claim);
}

/* Whether the coin refreshed, of an expert that lost or did not. */
static int64_t tossed(const struct variant *variant, const struct random *random, unsigned side)
{
    struct hedge_run game = variant->game;
    bool refresh = false;
    if (variant->wrong) {
        cr_assert_eq(noise_exponential_init(&game.decay, 2, 2 * ONE), STATUS_OK);
    }
    cr_assert_eq(hedge_toss(&game, random, side == 0 ? 0 : ONE, &refresh), STATUS_OK);
    return refresh;
}

Test(hedge_faults, a_coin_of_twice_eta)
{
    struct variant variant = lazy(0.9, 1);
    judge(tossed, &variant, (double)variant.game.coin_micro / 1e6);
}

/* Picks before rounds 3, 7 and 15 (from 0); the replaced round is 1. The right one shows its picks
 * only rounds of the segment before. */
static int64_t reusing(const struct variant *variant, const struct random *random, unsigned side)
{
    static const int64_t level[FEW] = {0};
    int64_t seen[FEW];
    int64_t score = 0;
    for (int i = 0; i < FEW; i++) {
        seen[i] = side == 0 ? ONE : i == 0 ? 0 : 2 * ONE;
    }
    for (int pick = 0; pick < 3; pick++) {
        size_t chosen = 0;
        const int64_t *losses = pick == 0 || variant->wrong ? seen : level;
        cr_assert_eq(select_draw_noisy(&variant->noise, random, &chosen, losses, FEW), STATUS_OK);
        score += chosen == 0;
    }
    return score;
}

Test(hedge_faults, epochs_that_look_at_older_epochs)
{
    static struct variant variant;
    const struct hedge_problem problem = {.experts = FEW, .rounds = ROUNDS, .epsilon = 1};
    struct hedge_plan plan;
    cr_assert_eq(hedge_plan(&plan, HEDGE_EPOCHS, &problem, NULL), STATUS_OK);
    cr_assert_eq(hedge_run_init(&variant.game, &plan, HEDGE_EPOCHS, &problem,
                                (struct hedge_grid){1, BITS}, NULL),
                 STATUS_OK);
    const struct noise_scale scale = {2 * variant.game.sensitivity * EPSILON_MICRO_ONE,
                                      variant.game.draw_micro};
    cr_assert_eq(noise_laplace_init(&variant.noise, scale), STATUS_OK);
    judge(reusing, &variant, 1);
}
