/* Exact sums that a draw looks at must not wrap, whichever sites answer, because draws have no noise
 * that hides it. And the price of draws whose number is not known beforehand. */

#include "account/renyi.h"
#include "job/round.h"
#include "task/losses/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: drawn\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10, records: 100}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 1000, batch: %u, share: 0.5,"
    " grid_bits: 40}\n";

static enum status parse(unsigned batch, struct why *why)
{
    char text[2048];
    struct job job;
    int size = snprintf(text, sizeof text, TEXT, batch);
    *why = (struct why){{0}};
    enum status status = job_parse(&job, (struct slice){text, (size_t)size}, "job", why);
    job_free(&job);
    return status;
}

/* 256 agents; 1000 rounds of 31 or 60 records are 2^15 or so, of 2^40 steps each. */
Test(job_draws, sums_over_all_agents_fit)
{
    struct why why;
    cr_assert_eq(parse(31, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse(60, &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "overflow") != NULL, "%s", why.text);
}

static const char SEGMENTS[] =
    "hedgerow: 1\n"
    "job: segments\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: %s, neighbours: replace_one, trust: central, epsilon: %s, delta: %s}\n"
    "cohort: {minimum: 2, join_deadline_s: 10, deadline_s: 10, records: 100}\n"
    "stages:\n"
    "  - {task: update, loss: hinge, rounds: 1, batch: 1, clip: 1, rate: 1, share: %s}\n"
    "  - {task: losses, strategy: %s, horizon: doubling, loss: zero_one, rounds: %u, batch: 1,"
    " share: 0.2, grid_bits: 10, forecasters: [{name: one, features: [a], weights: [1]}]}\n";

struct trial {
    const char *unit;
    const char *epsilon;
    const char *delta;
    const char *before; /* share of the stage before */
    const char *strategy;
    unsigned rounds;
};

static enum status parse_segments(struct job *job, const struct trial *trial, struct why *why)
{
    char text[2048];
    int size = snprintf(text, sizeof text, SEGMENTS, trial->unit, trial->epsilon, trial->delta,
                        trial->before, trial->strategy, trial->rounds);
    *why = (struct why){{0}};
    return job_parse(job, (struct slice){text, (size_t)size}, "job", why);
}

static struct cost cost_of(const struct filter *filter, struct charge charge)
{
    charge.pass = (struct digest){{1}};
    charge.row_count = 1;
    return filter_cost(filter, &charge);
}

static struct cost game_cost(const struct filter *filter, const struct hedge_run *game)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    struct cost sums = {0};
    const size_t count = hedge_charges(charge, game);
    for (size_t i = 0; i < count; i++) {
        sums = cost_add(sums, cost_of(filter, charge[i]));
    }
    return sums;
}

static bool covers(struct cost whole, struct cost part)
{
    return part.epsilon_micro <= whole.epsilon_micro && part.renyi_nano <= whole.renyi_nano;
}

/* Round 2^s - 1 begins game s; the last one has the last pick as well. */
static void check_layout(const struct stage *stage)
{
    uint64_t plays = 0;
    for (size_t s = 0; s < losses_stage(stage)->plays.game_count; s++) {
        const struct hedge_run *game = &losses_stage(stage)->plays.game[s];
        cr_expect_eq(game->first, plays);
        cr_expect(s + 1 == losses_stage(stage)->plays.game_count || game->rounds == UINT64_C(1)
                                                                                        << s);
        cr_expect(game->draws_max <= UINT64_C(1) << s, "as many as it has rounds");
        for (uint64_t play = game->first; play < game->first + game->rounds; play++) {
            cr_expect(round_game(stage, play) == game);
        }
        plays += game->rounds;
    }
    cr_expect_eq(plays, stage->rounds + 1);
}

/* At every Renyi order: rho at least any game's, sum of range^2/8; and no more than the share is worth. The
 * rows are the round's, and not yet known. */
static void check_charge(const struct job *job, const struct stage *stage)
{
    const struct charge *whole = &stage->charge;
    cr_expect(whole->row_count == 0 && whole->pass.byte[0] == 0);
    if (whole->mechanism != MECHANISM_DISCRETE_GAUSSIAN) {
        return;
    }
    const double sigma = (double)whole->sigma_micro * 1e-6;
    const double rho = 1 / (2 * sigma * sigma);
    for (size_t s = 0; s < losses_stage(stage)->plays.game_count; s++) {
        struct charge charge[HEDGE_CHARGES_MAX];
        double sum = 0;
        const size_t count = hedge_charges(charge, &losses_stage(stage)->plays.game[s]);
        for (size_t i = 0; i < count; i++) {
            const double range = (double)charge[i].epsilon_micro * 1e-6;
            sum += (double)charge_count(&charge[i]) * range * range / 8;
        }
        cr_expect_geq(rho, sum, "game %zu", s);
    }
    const double share = (double)stage->epsilon_micro * 1e-6;
    cr_expect_leq(rho, zcdp_from_epsilon(share, (double)job->delta_atto * 1e-18) * (1 + 1e-4));
}

/* Every agent pays one charge, whatever its ledger's own limit and order are: it costs at least what any
 * of the games does. The charge of the longest game alone would not, of some jobs. */
Test(job_draws, with_an_unknown_horizon_one_charge_covers_every_game)
{
    static const struct trial trials[] = {
        {"record", "1", "0.000001", "0.1", "rwm", 100},
        {"record", "1", "0.000001", "0.1", "dartboard", 100},
        {"round", "1", "0.000001", "0.1", "rwm", 1000},
        {"round", "1", "0.000001", "0.1", "dartboard", 31},
        {"round", "1", "0.000001", "0.1", "theorem", 100},
        {"round", "1", "0.000001", "0.8", "rwm", 100}, /* which leaves zCDP nothing */
        {"round", "1", "0.000001", "0.1", "rwm", 3},   /* where pure epsilon is better */
        {"round", "0.1", "0", "0.4", "dartboard", 63},
        {"record", "5", "0", "0.4", "rwm", 1},
        {"round", "20", "0.01", "0.1", "dartboard", 90},
    };
    static const struct price limits[] = {{1000000, 1000000000000}, {100000, 1000}, {20000000, 0}};
    unsigned dearer = 0;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse_segments(&job, &trials[i], &why), STATUS_OK, "%zu: %s", i, why.text);
        const struct stage *stage = &job.stage[1];
        const struct cost price = round_cost(&job, &job.filter, job_round_count(&job));
        cr_expect(filter_admits(&job.filter, &price));
        check_layout(stage);
        check_charge(&job, stage);
        for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++) {
            const struct filter filter = filter_new(limits[j]);
            const struct cost whole = cost_of(&filter, stage->charge);
            const struct cost last = game_cost(
                &filter,
                &losses_stage(stage)->plays.game[losses_stage(stage)->plays.game_count - 1]);
            for (size_t s = 0; s < losses_stage(stage)->plays.game_count; s++) {
                const struct cost part = game_cost(&filter, &losses_stage(stage)->plays.game[s]);
                cr_expect(covers(whole, part), "job %zu, limit %zu, game %zu", i, j, s);
                dearer += !covers(last, part);
            }
        }
        job_free(&job);
    }
    cr_expect_gt(dearer, 0);
}

/* The bound is the sum of the segments', and worse than that of a known horizon, which a stage without
 * the key has. */
Test(job_draws, an_unknown_horizons_bound_is_the_sum_of_its_segments)
{
    const struct trial trial = {"record", "1", "0", "0.4", "rwm", 100};
    const struct hedge_problem problem = {
        .experts = 2, .rounds = 100, .epsilon = 0.2, .records = 2, .participations = 1};
    struct hedge_plan whole;
    struct job job;
    struct why why;
    cr_assert_eq(parse_segments(&job, &trial, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(hedge_doubling(&whole, NULL, HEDGE_RWM, &problem, NULL), STATUS_OK);
    cr_expect_eq(losses_stage(&job.stage[1])->plays.plan.regret_bound, whole.regret_bound);
    cr_expect_eq(losses_stage(&job.stage[1])->plays.plan.regret_bound_textbook,
                 whole.regret_bound_textbook);
    job_free(&job);
}

Test(job_draws, an_unknown_horizon_is_refused_where_it_means_nothing_or_is_paid_twice)
{
    static const struct {
        struct trial trial;
        const char *said;
    } refused[] = {
        {{"record", "1", "0", "0.4", "epochs", 10}, "picks anew when they have doubled"},
        {{"agent", "1", "0.000001", "0.1", "rwm", 10}, "an agent takes part in all of them"},
        {{"record", "1", "0", "0.1", "theorem", 10}, "needs a delta"},
        {{"record", "6", "0.00001", "0.1", "theorem", 10}, "holds for epsilon up to 1"},
        {{"record", "1", "0.000001", "0.8", "theorem", 10}, "leaves the draws no eta"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct job job;
        struct why why;
        cr_expect_eq(parse_segments(&job, &refused[i].trial, &why), STATUS_INVALID, "%zu", i);
        cr_expect(strstr(why.text, refused[i].said) != NULL, "%s", why.text);
        job_free(&job);
    }
}

static const char SEVERAL[] =
    "hedgerow: 1\n"
    "job: several\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 0.5,\n"
    "  delta: 0.000001}\n"
    "cohort: {minimum: 2, join_deadline_s: 10, deadline_s: 10, records: 100}\n"
    "stages:\n"
    "  - {task: update, loss: hinge, rounds: 1, batch: 1, clip: 1, rate: 1, share: %s,\n"
    "     experts: {shifts: [0.5]}}\n"
    "  - {task: losses, loss: zero_one, rounds: 50, batch: 1, grid_bits: 10, %s}\n"
    "  - {task: losses, loss: zero_one, rounds: 50, batch: 1, grid_bits: 10, %s}\n";

/* What each of two stages of draws is charged with, by its divergence. */
static void price_both(uint64_t price[2], const char *first, const char *second)
{
    char text[2048];
    struct job job;
    struct why why = {{0}};
    int size = snprintf(text, sizeof text, SEVERAL, "0.5", first, second);
    cr_assert_eq(job_parse(&job, (struct slice){text, (size_t)size}, "job", &why), STATUS_OK,
                 "%s, %s: %s", first, second, why.text);
    cr_expect_eq(job_experts_at(&job, 1, 1), 2, "the model, and with its threshold moved");
    const struct cost whole = round_cost(&job, &job.filter, job_round_count(&job));
    cr_expect(filter_admits(&job.filter, &whole));
    for (size_t i = 0; i < 2; i++) {
        price[i] = cost_of(&job.filter, job.stage[1 + i].charge).renyi_nano;
    }
    struct cost more = whole;
    more.renyi_nano += (price[0] + price[1]) / 8;
    const bool segments = strstr(text, "doubling") != NULL; /* which are held to their shares */
    cr_expect(segments || !filter_admits(&job.filter, &more), "%s, %s: room is left", first,
              second);
    job_free(&job);
}

/* Where stages of draws are more than the job admits together, those of a known horizon give way by the
 * same part of their shares, and the order is nothing to what any of them gets: were the first one
 * lowered alone, equal ones would get unequal prices and the third row would be refused. If there is
 * room, they keep their shares. */
Test(job_draws, several_stages_give_way_alike_in_any_order)
{
    static const char *const pair[][2] = {
        {"strategy: rwm, share: 0.25", "strategy: rwm, share: 0.25"},
        {"strategy: dartboard, share: 0.25", "strategy: epochs, share: 0.25"},
        {"strategy: rwm, share: 0.1", "strategy: dartboard, share: 0.4"},
        {"strategy: rwm, share: 0.25, horizon: doubling", "strategy: rwm, share: 0.25"},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        uint64_t there[2];
        uint64_t back[2];
        price_both(there, pair[i][0], pair[i][1]);
        price_both(back, pair[i][1], pair[i][0]);
        cr_expect(there[0] == back[1] && there[1] == back[0], "%s and %s", pair[i][0], pair[i][1]);
        cr_expect(i > 0 || there[0] == there[1], "equals");
    }
}

/* Beside a stage of pure epsilon that leaves delta nothing to do, the shares are pure epsilon too. */
Test(job_draws, where_delta_buys_nothing_the_shares_are_pure)
{
    static const char stage[] = "strategy: rwm, share: 0.02";
    char text[2048];
    struct job job;
    struct why why = {{0}};
    int size = snprintf(text, sizeof text, SEVERAL, "0.96", stage, stage);
    cr_assert_eq(job_parse(&job, (struct slice){text, (size_t)size}, "job", &why), STATUS_OK, "%s",
                 why.text);
    const struct cost whole = round_cost(&job, &job.filter, job_round_count(&job));
    cr_expect(filter_admits(&job.filter, &whole));
    for (size_t i = 1; i < 3; i++) {
        const struct charge *charge = &job.stage[i].charge;
        const uint64_t paid = charge_count(charge) * charge->epsilon_micro;
        cr_expect(9900 < paid && paid <= 10000, "%llu", (unsigned long long)paid);
    }
    job_free(&job);
}
