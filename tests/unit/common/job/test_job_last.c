/* What is broadcast in the end: under central trust the last pick gets what is left of the stage's share,
 * so that all of it is spent, and the chance that a plan prints - of the best of several experts, 1/100
 * ahead of each other one - is how often a play, or noisy sums, take it. Fixed seeds: no false alarms;
 * with fresh ones a chance of 2000 trials would be 0.055 off once in a million. */

#include "account/renyi.h"
#include "experts/rwm.h"
#include "job/reach.h"
#include "job/terms.h"
#include "noise/laplace.h"
#include "task/losses/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 2000, AGENTS = 3, EXPERTS_MAX = 4 };

#define OFF 0.055

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: last\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 1, delta: %s}\n"
    "cohort: {minimum: 3, join_deadline_s: 10, deadline_s: 10, records: 100}\n"
    "stages:\n"
    "%s"
    "  - {task: losses, strategy: %s, loss: zero_one, rounds: 12, batch: %u, share: %s,%s"
    " grid_bits: 10, forecasters: [{name: one, features: [a], weights: [1]},\n"
    "     {name: two, features: [a], weights: [2]}, {name: three, features: [a], weights: [-1]}]}\n";

struct setting {
    const char *unit;
    const char *trust;
    const char *delta;
    const char *before;
    const char *strategy;
    unsigned batch;
    const char *share;
    const char *more;
};

static const struct stage *read_job(struct job *job, const struct setting *setting)
{
    char text[4096];
    struct why why = {{0}};
    const int size =
        snprintf(text, sizeof text, TEXT, setting->unit, setting->trust, setting->delta,
                 setting->before, setting->strategy, setting->batch, setting->share, setting->more);
    cr_assert_eq(job_parse(job, (struct slice){text, (size_t)size}, "job", &why), STATUS_OK,
                 "%s %s: %s", setting->strategy, setting->delta, why.text);
    return &job->stage[job->stage_count - 1];
}

static uint64_t epsilons(const struct hedge_run *game)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    const size_t count = hedge_charges(charge, game);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += charge_count(&charge[i]) * charge[i].epsilon_micro;
    }
    return sum;
}

static double best_chance(const struct job *job)
{
    struct terms terms;
    struct why why = {{0}};
    cr_assert_eq(terms_of_stage(&terms, job, job->stage_count - 1,
                                (struct terms_size){.agents = AGENTS, .records = 1}, &why),
                 STATUS_OK, "%s", why.text);
    const double chance = terms.best_chance;
    terms_free(&terms);
    return chance;
}

#define EVERY "record", "central", "0.000001", ""

/* Experts whose eta is free cost almost nothing: the rest is for the last pick. */
Test(job_last, the_last_pick_gets_what_is_left_of_the_share)
{
    static const struct setting settings[] = {{EVERY, "rwm", 4, "0.2", ""},
                                              {EVERY, "theorem", 4, "0.2", ""},
                                              {EVERY, "dartboard", 4, "0.2", ""},
                                              {EVERY, "rwm", 4, "0.2", " horizon: doubling,"},
                                              {"round", "central", "0", "", "rwm", 4, "0.2", ""},
                                              {"agent", "central", "0", "", "rwm", 4, "0.9", ""}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct job job;
        const struct stage *stage = read_job(&job, &settings[i]);
        const struct hedge_run *game =
            &losses_stage(stage)->plays.game[losses_stage(stage)->plays.game_count - 1];
        const struct cost whole = round_cost(&job, &job.filter, job_round_count(&job));
        cr_expect(filter_admits(&job.filter, &whole), "%zu", i);
        cr_expect_geq(game->last_micro, game->draw_micro, "%zu", i);
        if (stage->charge.mechanism == MECHANISM_PURE) {
            cr_expect_eq(stage->charge.epsilon_micro, stage->epsilon_micro, "%zu: all is spent", i);
            cr_expect_eq(epsilons(game), stage->epsilon_micro, "%zu: by events that there are", i);
        }
        job_free(&job);
    }
}

/* Beside Gaussian noise a pure epsilon costs more than a bounded range does: what is left is taken as zCDP,
 * within what the share is worth, and nearly all of it is used. */
Test(job_last, beside_gaussian_noise_what_is_left_is_a_bounded_range)
{
    static const struct setting setting = {
        "record",
        "central",
        "0.000001",
        "  - {task: update, loss: hinge, rounds: 4, batch: 8, clip: 1, rate: 1, noise: gaussian}\n",
        "rwm",
        50,
        "0.2",
        ""};
    struct job job;
    const struct stage *stage = read_job(&job, &setting);
    const double share = zcdp_from_epsilon(0.2, 1e-6);
    const double sigma = (double)stage->charge.sigma_micro * 1e-6;
    cr_expect_eq(losses_stage(stage)->plays.game->last_mechanism, MECHANISM_EXPONENTIAL);
    cr_expect_eq(stage->charge.mechanism, MECHANISM_DISCRETE_GAUSSIAN);
    const double rho = 1 / (2 * sigma * sigma);
    cr_expect(rho <= share * (1 + 1e-3) && rho >= share * 0.99, "%g of %g", rho, share);
    const struct cost whole = round_cost(&job, &job.filter, job_round_count(&job));
    cr_expect(filter_admits(&job.filter, &whole));
    job_free(&job);
}

/* How often the last play takes the first expert, which leads by 1/100 in every round. */
static double played(const struct stage *stage, struct hedge_run game)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    const int64_t one = (int64_t)game.one;
    const int64_t rounds = (int64_t)(stage->rounds - game.first);
    int64_t cumulative[EXPERTS_MAX] = {0};
    int taken = 0;
    seeded_random_init(&seeded, 17);
    cr_assert_leq(game.experts, EXPERTS_MAX);
    for (size_t i = 0; i < game.experts; i++) {
        cumulative[i] = rounds * (one / 3 + (i > 0 ? one / 100 : 0));
    }
    for (int trial = 0; trial < TRIALS; trial++) {
        struct ledger *ledger = ledger_new((struct price){UINT64_C(1) << 40, 0});
        struct hedge_state state = {.round = stage->rounds, .tossed = true};
        struct grant *grant = NULL;
        const struct digest pass = {{1}};
        const struct charge charge = hedge_charge(&state, &game, &pass);
        const struct hedge_losses losses = {.cumulative = cumulative};
        cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
        cr_assert_eq(hedge_play(&state, &game, &grant, &random, &losses), STATUS_OK);
        taken += state.expert == 0 ? 1 : 0;
        ledger_free(ledger);
    }
    return (double)taken / TRIALS;
}

/* With what is left most plays take the best; with a draw like any other, planted, hardly more than one
 * in three does. */
Test(job_last, a_play_takes_the_best_as_often_as_its_plan_says)
{
    static const struct setting settings[] = {
        {EVERY, "rwm", 100, "0.2", ""},
        {EVERY, "rwm", 20, "0.2", ""},
        {EVERY, "theorem", 20, "0.2", ""},
        {EVERY, "dartboard", 20, "0.2", ""},
        {EVERY, "rwm", 100, "0.2", " horizon: doubling,"},
        {"round", "central", "0", "", "rwm", 4, "1", ""},
        {"record", "central", "0.000001",
         "  - {task: update, loss: hinge, rounds: 4, batch: 8, clip: 1, rate: 1,\n"
         "     noise: gaussian}\n",
         "rwm", 50, "0.2", ""}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct job job;
        const struct stage *stage = read_job(&job, &settings[i]);
        struct hedge_run game =
            losses_stage(stage)->plays.game[losses_stage(stage)->plays.game_count - 1];
        const double printed = best_chance(&job);
        cr_expect_float_eq(played(stage, game), printed, OFF, "%zu: %g printed", i, printed);
        if (i == 0) {
            cr_expect_gt(printed, 0.9, "%g", printed);
            game.last_micro = 0; /* planted */
            cr_expect_lt(played(stage, game), 0.45);
        }
        job_free(&job);
    }
}

/* Each agent's own noise on each round's sums; the leader is taken. */
static double led(const struct job *job, const struct stage *stage)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct round_bounds bounds;
    struct noise_laplace noise;
    int taken = 0;
    seeded_random_init(&seeded, 18);
    cr_assert_eq(round_bounds(&bounds, job, stage, 0, 1, 3, NULL), STATUS_OK);
    cr_assert_eq(
        noise_laplace_init(&noise, (struct noise_scale){bounds.sensitivity * EPSILON_MICRO_ONE,
                                                        stage->charge.epsilon_micro}),
        STATUS_OK);
    const double one = ldexp((double)stage->batch * AGENTS, (int)stage->grid_bits);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct rwm rwm;
        cr_assert_eq(rwm_init(&rwm, 3, rwm_eta_free(3, stage->rounds)), STATUS_OK);
        for (uint32_t round = 0; round < stage->rounds; round++) {
            int64_t sum[3] = {0};
            double loss[3];
            for (int agent = 0; agent < AGENTS; agent++) {
                cr_assert_eq(noise_laplace_add(&noise, &random, sum, 3), STATUS_OK);
            }
            for (int i = 0; i < 3; i++) {
                loss[i] = (double)sum[i] / one + (i > 0 ? 0.34 : 0.33);
            }
            rwm_observe(&rwm, loss);
        }
        taken += rwm_leader(&rwm) == 0 ? 1 : 0;
        rwm_free(&rwm);
    }
    return (double)taken / TRIALS;
}

Test(job_last, noisy_sums_take_the_best_as_often_as_their_plan_says)
{
    static const unsigned batch[] = {20, 400, 2000};
    double last = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct setting setting = {"record", "local", "0", "", "rwm", batch[i], "0.5", ""};
        struct job job;
        const struct stage *stage = read_job(&job, &setting);
        const double printed = best_chance(&job);
        cr_expect_float_eq(led(&job, stage), printed, OFF, "%u: %g printed", batch[i], printed);
        cr_expect_gt(printed, last, "more records, more of a chance");
        last = printed;
        job_free(&job);
    }
}
