/* The history: experts, weights, price and regret after each round. Records that cannot follow are
 * refused. */

#include "coordinator/cohort.h"
#include "task/close.h"

#include "task/losses/stage.h"
#include "tests/support/seeded_random.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] = HISTORY_LOCAL
    "  - {task: fit, loss: logistic, lambdas: [0.1, 0.2], share: 0.6,\n"
    "     experts: {own: true, shifts: [0.5]}, tolerance: 0.000001, grid_bits: 16}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 2, batch: 10, share: 0.4,\n"
    "     grid_bits: 4}\n";

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
}

static enum status add_fit(uint32_t round, double base)
{
    double rows[4 * 2];
    struct record record = history_round(round, agents, 2);
    for (size_t i = 0; i < 8; i++) {
        rows[i] = base + (double)i;
    }
    record.as.round.chosen = round * 4;
    return outcome_add(&outcome, &job, &record, (struct slice){rows, sizeof rows});
}

static enum status add_losses(uint32_t round, uint32_t chosen, int64_t step)
{
    int64_t sum[8];
    struct record record = history_round(round, agents, 2);
    for (int64_t i = 0; i < 8; i++) {
        sum[i] = i * step;
    }
    record.as.round.sum = sum;
    record.as.round.sum_count = 8;
    record.as.round.chosen = chosen;
    return outcome_add(&outcome, &job, &record, (struct slice){0});
}

TestSuite(outcome, .init = setup, .fini = teardown);
TestSuite(strategy, .init = setup, .fini = teardown);

Test(outcome, a_whole_job_adds_up)
{
    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 100), STATUS_OK);
    cr_assert_eq(outcome.expert_count, 8);
    cr_assert_str_eq(outcome.expert[0].name, "average, lambda 0.1");
    cr_assert_str_eq(outcome.expert[1].name, "average, lambda 0.1, threshold +0.5");
    cr_assert_str_eq(outcome.expert[7].name, "b, lambda 0.2");
    cr_assert_eq(outcome.weights[8], 100.0);
    cr_assert(isnan(outcome_regret_average(&outcome)));
    cr_assert_eq(add_losses(2, 3, 16), STATUS_OK);
    cr_assert_eq(add_losses(3, 0, 16), STATUS_OK);
    cr_assert(outcome.finished && !outcome.failed && outcome.chosen == 0);
    /* 16 steps of 2^-4 over 2 agents of 10 records: loss i/20 for expert i */
    cr_assert_float_eq(outcome.round[2].loss[3], 3.0 / 20, 1e-15);
    cr_assert_eq(rwm_leader(&outcome.rwm), 0);
    cr_assert_float_eq(outcome.round[3].weight[0] / outcome.round[3].weight[1],
                       exp(outcome.rwm.eta * 2.0 / 20), 1e-12);
    cr_assert_gt(outcome_regret_bound(&outcome).tight, outcome_regret_average(&outcome));
}

Test(outcome, the_price_is_one_charge_per_lambda_and_one_for_the_pass)
{
    cr_assert_eq(outcome_epsilon_micro(&job, 0), 0);
    cr_assert_eq(outcome_epsilon_micro(&job, 1), 300000);
    cr_assert_eq(outcome_epsilon_micro(&job, 2), 600000);
    cr_assert_eq(outcome_epsilon_micro(&job, 3), 1000000);
    cr_assert_eq(outcome_epsilon_micro(&job, 4), 1000000);
    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 0), STATUS_OK);
    cr_assert_eq(add_losses(2, 0, 1), STATUS_OK);
    cr_assert_eq(add_losses(3, 0, 1), STATUS_OK);
    cr_assert_eq(outcome.agent_count, 2);
    cr_assert_eq(round_epsilon_micro(&job, &outcome.agent[1].spent), 1000000);
    cr_assert_eq(outcome.agent[1].answers, 4);
}

/* Each round a part of them answers, and is named in another order. */
Test(outcome, agents_are_counted_by_name_whichever_answer_when)
{
    enum { MANY = 300, ROUNDS = 8 };
    static const char text[] =
        "hedgerow: 1\njob: toy\n"
        "data:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: u, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
        "cohort: {minimum: 1, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: fit, loss: logistic, lambdas: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], share: 1,\n"
        "     tolerance: 0.000001, grid_bits: 16}\n";
    static struct peer named[MANY];
    static uint32_t answers[MANY];
    struct seeded_random seeded;
    size_t known = 0;
    job_free(&job);
    outcome_free(&outcome);
    history_begin(&job, &outcome, text);
    seeded_random_init(&seeded, 10);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double row[2] = {0, 0};
        size_t count = 0;
        const size_t first = seeded_random_word(&seeded) % MANY;
        for (size_t i = 0; i < MANY; i++) {
            const size_t agent = (first + 7 * i) % MANY; /* 7 and 300 have no factor in common */
            if (seeded_random_word(&seeded) % 4 == 0) {
                (void)snprintf(named[count++].name, sizeof named->name, "a%zu", agent);
                known += answers[agent]++ == 0;
            }
        }
        const struct record record = history_round(round, named, count);
        cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){row, sizeof row}),
                     STATUS_OK);
    }
    cr_assert(known > MANY / 2 && known < MANY, "%zu", known);
    cr_assert_eq(outcome.agent_count, known);
    for (size_t i = 0; i < known; i++) {
        const struct outcome_agent *agent = &outcome.agent[i];
        cr_expect(i == 0 || strcmp(agent[-1].peer.name, agent->peer.name) < 0);
        cr_expect_eq(agent->answers, answers[strtoul(agent->peer.name + 1, NULL, 10)]);
        cr_expect_float_eq((double)round_epsilon_micro(&job, &agent->spent),
                           agent->answers * 1e6 / ROUNDS, 1);
    }
}

/* The same job of 5,000 rounds, once with all of its history and once as a page shows it. */
Test(outcome, that_is_shown_keeps_few_rounds_of_many_and_the_latest)
{
    enum { ROUNDS = 5000 };
    struct outcome shown;
    char text[1024];
    const char *at = strstr(TEXT, "rounds: 2");
    job_free(&job);
    outcome_free(&outcome);
    (void)snprintf(text, sizeof text, "%.*srounds: %d%s", (int)(at - TEXT), TEXT, ROUNDS,
                   at + strlen("rounds: 2"));
    history_begin(&job, &outcome, text);
    outcome_init(&shown, &job, OUTCOME_SHOWS);
    struct record begin = {.kind = RECORD_JOB};
    begin.as.job.job.id.byte[0] = 1;
    cr_assert_eq(outcome_add(&shown, &job, &begin, (struct slice){0}), STATUS_OK);
    for (uint32_t round = 0; round < ROUNDS + 2; round++) {
        double rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        int64_t sum[8];
        struct record record = history_round(round, agents, 2);
        struct slice blob = {rows, round < 2 ? sizeof rows : 0};
        for (int64_t i = 0; i < 8; i++) {
            sum[i] = i * (1 + round % 7);
        }
        record.as.round.sum = sum;
        record.as.round.sum_count = round < 2 ? 0 : 8;
        cr_assert_eq(outcome_add(&outcome, &job, &record, blob), STATUS_OK);
        cr_assert_eq(outcome_add(&shown, &job, &record, blob), STATUS_OK);
        cr_assert_leq(shown.round_count, OUTCOME_SHOWN_ROUNDS);
        cr_assert_eq(shown.round[shown.round_count - 1].round, round, "the latest is there");
    }
    cr_assert_geq(shown.round_count, OUTCOME_SHOWN_ROUNDS / 2 - 1);
    cr_assert_eq(shown.agent_count, 0);
    for (size_t i = 0; i < shown.round_count; i++) {
        const struct outcome_round *one = &shown.round[i];
        const struct outcome_round *same = &outcome.round[one->round];
        cr_assert(i + 1 == shown.round_count || one->round % shown.stride == 0);
        cr_assert_eq(one->loss == NULL, same->loss == NULL);
        cr_assert(one->loss == NULL || memcmp(one->loss, same->loss, 8 * sizeof *one->loss) == 0);
        cr_assert(one->loss == NULL ||
                  memcmp(one->weight, same->weight, 8 * sizeof *one->weight) == 0);
        cr_assert(one->loss == NULL || (one->regret_average == same->regret_average &&
                                        one->regret_bound == same->regret_bound));
        cr_assert_eq(one->chosen, same->chosen);
    }
    cr_assert_eq(outcome_regret_average(&shown), outcome_regret_average(&outcome));
    outcome_free(&shown);
}

Test(outcome, records_that_cannot_follow_are_refused)
{
    struct record record = history_round(0, agents, 2);
    struct record twice = {.kind = RECORD_JOB};
    double rows[8] = {0};

    cr_assert_eq(add_fit(1, 0), STATUS_CORRUPT, "round 0 is missing");
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){rows, 8}), STATUS_CORRUPT);
    cr_assert_eq(outcome_add(&outcome, &job, &twice, (struct slice){0}), STATUS_CORRUPT);
    record = history_round(0, agents, 2);
    record.as.round.job.byte[0] = 2;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){rows, sizeof rows}),
                 STATUS_CORRUPT, "another job's round");
    record = (struct record){.kind = RECORD_ANSWER};
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), STATUS_CORRUPT);
    record = history_round(0, agents, 2);
    record.as.round.chosen = 4; /* the fit makes experts 0 to 3 */
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){rows, sizeof rows}),
                 STATUS_CORRUPT);
}

Test(outcome, a_failed_round_ends_the_job)
{
    struct record record = history_round(0, agents, 2);
    record.as.round.failed = true;
    record.as.round.agent_count = 0;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), STATUS_OK);
    cr_assert(outcome.finished && outcome.failed);
    cr_assert_eq(add_fit(1, 0), STATUS_CORRUPT);
}

Test(strategy, a_fit_becomes_the_average_its_thresholds_and_the_agents_own)
{
    struct cohort cohort = {0};
    struct record record = history_round(0, agents, 2);
    struct closing closing = {.job = &job,
                              .stage = &job.stage[0],
                              .outcome = &outcome,
                              .sum = malloc(2 * sizeof(int64_t)),
                              .count = 2,
                              .record = &record};
    int64_t *sum = closing.sum;
    struct closing_own *own = NULL;

    cr_assert_eq(cohort_set_roster(&cohort, &(struct job){.agent_count = 0}, agents, 2), STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        cohort.member[i].standing = STANDING_ANSWERED;
        cohort.member[i].own = malloc(2 * sizeof(int64_t));
        cohort.member[i].own[0] = (int64_t)i << 16;
        cohort.member[i].own[1] = (int64_t)(10 + i) << 16;
    }
    cr_assert_eq(cohort_take_own_answers(&own, &closing.own_count, &cohort), STATUS_OK);
    closing.own = own;
    sum[0] = INT64_C(3) << 16;
    sum[1] = -(INT64_C(5) << 16);
    cr_assert_eq(task_close_fit.close(&closing), STATUS_OK);
    const double *rows = closing.rows;
    cr_assert_eq(closing.row_count, 4);
    cr_assert(rows[0] == 1.5 && rows[1] == -2.5);
    cr_assert(rows[2] == 1.5);
    cr_assert_float_eq(rows[3], -2.5 + 0.5 * sqrt(2), 1e-12);
    cr_assert(rows[4] == 0 && rows[5] == 10 && rows[6] == 1 && rows[7] == 11);
    closing_own_free(own, closing.own_count);
    closing_free(&closing);
    cohort_free(&cohort);
}

/* ln w enters once, before the first loss: with weight 2 for the averages an agent's own model
 * starts at half their probability, and the bound has the smallest share in it. */
Test(outcome, experts_begin_with_the_weights_the_job_gives_them)
{
    job.stage[0].own_weight = 0.5;
    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 100), STATUS_OK);
    cr_assert_eq(add_losses(2, 0, 0), STATUS_OK);
    cr_assert_float_eq(outcome.round[2].weight[2] / outcome.round[2].weight[0], 0.5, 1e-12);
    cr_assert_float_eq(outcome.round[2].weight[5] / outcome.round[2].weight[0], 1, 1e-12);
    struct regret_bound bound = outcome_regret_bound(&outcome);
    double eta = outcome.rwm.eta;
    cr_assert_float_eq(bound.tight - bound.noise, eta / 8 + log(6 / 0.5) / eta, 1e-9);
}

static uint32_t pick(const struct random *random, uint32_t within)
{
    static const int64_t sum[8] = {160, 0, 160, 160, 160, 160, 160, 160};
    struct record record = history_round(2 + within, agents, 2);
    struct closing closing = {.job = &job,
                              .stage = &job.stage[1],
                              .within = within,
                              .outcome = &outcome,
                              .random = random,
                              .sum = malloc(sizeof sum),
                              .count = 8,
                              .record = &record};
    memcpy(closing.sum, sum, sizeof sum);
    cr_assert_eq(task_close_losses.close(&closing), STATUS_OK);
    closing_free(&closing);
    free(record.as.round.sum);
    return record.as.round.chosen;
}

Test(strategy, the_last_pick_is_the_leader_and_the_others_follow_the_weights)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    unsigned hits = 0;

    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 0), STATUS_OK);
    seeded_random_init(&seeded, 11);
    /* eta = sqrt(8 ln 8/2) = 2.884, losses 1/2 but for one 0: its weight is 0.3767. 20,000 draws:
     * a false alarm needs more than 6 standard deviations (0.0034): below 1e-8 */
    for (int i = 0; i < 20000; i++) {
        hits += pick(&random, 0) == 1;
    }
    double weight = 1 / (1 + 7 * exp(-sqrt(8 * log(8) / 2) / 2));
    cr_assert_float_eq(hits / 20000.0, weight, 0.0206);
    cr_assert_eq(add_losses(2, 0, 0), STATUS_OK);
    cr_assert_eq(pick(&random, 1), 1);
}

/* Rounds 0, 1-2, 3-6: round 1's and round 3's experts are drawn before anything of their segments is
 * seen, each of the 8 alike. 20,000 draws: 6 standard deviations are 0.014, a false alarm below 1e-8;
 * the older segment's weights have 0.7 and 0.3767. */
Test(strategy, an_unknown_horizon_draws_a_segments_first_expert_as_if_nothing_was_seen)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);

    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 0), STATUS_OK);
    losses_stage(&job.stage[1])->doubling = true;
    job.stage[1].rounds = 7;
    job.stage[1].batches = 7;
    seeded_random_init(&seeded, 12);
    for (uint32_t within = 0; within < 6; within++) {
        const bool fresh = within == 0 || within == 2;
        unsigned hits = 0;
        for (int i = 0; i < 20000; i++) {
            hits += pick(&random, within) == 1;
        }
        cr_assert_eq(fabs(hits / 20000.0 - 0.125) < 0.0141, fresh, "round %u: %u", within, hits);
        cr_assert_eq(add_losses(2 + within, 0, 0), STATUS_OK);
    }
    cr_assert_eq(pick(&random, 6), 1);
}

/* Rounds 0, 1-2, 3-6: each segment its own eta and its own losses; its bounds, weighted by rounds. */
Test(outcome, an_unknown_horizon_forgets_after_one_two_and_four_rounds)
{
    double bounds = 0;
    const uint64_t length[] = {1, 2, 4};
    uint32_t round = 2;

    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 0), STATUS_OK);
    losses_stage(&job.stage[1])->doubling = true;
    job.stage[1].rounds = 7;
    job.stage[1].batches = 7;
    for (size_t segment = 0; segment < 3; segment++) {
        struct regret_bound own = {0};
        for (uint64_t i = 0; i < length[segment]; i++, round++) {
            cr_assert_eq(add_losses(round, 0, 1), STATUS_OK);
            cr_assert_eq(outcome.rwm.rounds, i + 1, "losses of an older segment count");
            cr_assert_float_eq(outcome.rwm.eta, rwm_eta_free(8, length[segment]), 1e-12);
            double sigma = sqrt(outcome.variance_sum / (double)(i + 1));
            own = regret_bound(8, 1.0 / 8, i + 1, outcome.rwm.eta, sigma);
            double all = (bounds + (double)(i + 1) * own.tight) / (double)(round - 1);
            cr_assert_float_eq(outcome_regret_bound(&outcome).tight, all, 1e-12);
        }
        bounds += (double)length[segment] * own.tight;
    }
    cr_assert(outcome.finished);
    cr_assert_eq(outcome.regret.rounds, 7);
}

/* Picks 0, 3, 3, and 1 in the end: the mean of the vectors played. */
Test(outcome, a_stage_that_judges_directions_says_how_often_each_was_played)
{
    const uint32_t picks[] = {0, 3, 3, 1};
    cr_assert_eq(add_fit(0, 0), STATUS_OK);
    cr_assert_eq(add_fit(1, 0), STATUS_OK);
    job.stage[1].loss.kind = LOSS_LINEAR;
    job.stage[1].rounds = 4;
    job.stage[1].batches = 4;
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(add_losses(2 + i, picks[i], 1), STATUS_OK);
        cr_assert((outcome.round[2 + i].note != NULL) == (i == 3));
    }
    cr_assert_str_eq(outcome.round[5].note,
                     "0.25 average, lambda 0.1 + 0.25 average, lambda 0.1, threshold +0.5 + 0.5 "
                     "b, lambda 0.1");
}
