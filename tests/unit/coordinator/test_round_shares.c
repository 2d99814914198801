/* Batches that are shares: agents of different size answer about different numbers of records. The round is
 * the mean over all these records, an answer about too few or too many is refused, and an exact answer is
 * held to its own agent's bounds. */

#include "central.h"
#include "task/close.h"
#include "tests/unit/coordinator/history.h"

#include <stdio.h>
#include <stdlib.h>

static struct central bench;

static const char ASK[] =
    "  - {task: query, queries: [\"count: a >= 0.5\"], batch: 50 %, share: 1, grid_bits: 10}\n";
static const char PLAYS[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, tolerance: 0.01, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 2, batch: 50 %, share: 0.5,"
    " grid_bits: 10}\n";

static int64_t two(size_t agent, size_t place)
{
    return (int64_t)(agent + place) % 2 + 1;
}

static void begin(const char *stages, uint32_t first, uint32_t second)
{
    central_init(&bench, "0", stages);
    bench.records[0] = first;
    bench.records[1] = second;
    central_greet(&bench);
}

Test(round_shares, a_round_is_about_the_records_of_all_its_answers)
{
    begin(ASK, 6, 500);
    central_answer(&bench, two);
    struct record record = central_last(&bench);
    cr_expect_eq(record.as.round.agent_count, 2);
    cr_expect_eq(record.as.round.records, 506);
    cr_expect_eq(bench.coordinator->outcome.queries.record_count, 506);
    record_free(&record);
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    cr_expect_eq(bench.coordinator->outcome.queries.record_count, 506, "from the journal too");
    central_free(&bench);
}

/* The job asks for 12 records of every agent, and lets one speak for 1000: 50 % is 6 to 500. A liar that
 * says more would be the result. */
Test(round_shares, an_answer_about_too_few_or_too_many_records_is_refused)
{
    static const uint32_t wrong[] = {0, 5, 501, 1000, OFFER_RECORDS_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(ASK, wrong[i], 6);
        central_answer(&bench, two);
        cr_expect_eq(cohort_count(&bench.coordinator->cohort, STANDING_REFUSED), 1, "%u records",
                     (unsigned)wrong[i]);
        cr_expect(bench.coordinator->outcome.failed, "one answer is too few");
        central_free(&bench);
    }
    begin("  - {task: query, queries: [\"count: a >= 0.5\"], batch: 6, share: 1, grid_bits: 10}\n",
          6, 0);
    central_answer(&bench, two);
    cr_expect_eq(cohort_count(&bench.coordinator->cohort, STANDING_REFUSED), 1,
                 "where the job says a number, nobody else does");
    central_free(&bench);
}

Test(round_shares, an_exact_answer_is_held_to_its_own_agents_bounds)
{
    int64_t most[] = {6 << 10, 500 << 10};
    int64_t beyond = (6 << 10) + 1;
    begin(ASK, 6, 500);
    central_offer(&bench, 0, &beyond, 1);
    central_send(&bench, 0, &beyond, 1);
    cr_expect_eq(cohort_count(&bench.coordinator->cohort, STANDING_REFUSED), 1);
    central_free(&bench);
    begin(ASK, 6, 500);
    for (size_t i = 0; i < 2; i++) {
        central_offer(&bench, i, &most[i], 1);
        central_send(&bench, i, &most[i], 1);
    }
    cr_expect(bench.coordinator->outcome.finished && !bench.coordinator->outcome.failed);
    central_free(&bench);
}

/* A play is planned for two agents of 6 records: sums of more are scaled down to these. */
Test(round_shares, a_play_is_scaled_to_the_fewest_records)
{
    begin(PLAYS, 6, 500);
    bench.records[0] = 0;
    bench.records[1] = 0;
    while (bench.coordinator->outcome.rounds_closed < 2) {
        central_answer(&bench, two);
    }
    bench.records[0] = 6;
    bench.records[1] = 500;
    while (!bench.coordinator->outcome.finished) {
        central_answer(&bench, two);
    }
    cr_expect_not(bench.coordinator->outcome.failed);
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    cr_expect(bench.coordinator->outcome.finished);
    central_free(&bench);
}

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: toy\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 2, records: 10, records_most: 100, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {%s, batch: %s, share: 1}\n";

/* The result of a stage's first round, from the same sums over the same number of records. */
struct closed {
    struct job job;
    struct outcome outcome;
    struct closing closing;
    struct record record;
};

static void close_round(struct closed *c, const char *stage, const char *batch, uint64_t records)
{
    static struct peer agents[2] = {{"a"}, {"b"}};
    char text[1024];
    memset(c, 0, sizeof *c);
    (void)snprintf(text, sizeof text, TEXT, stage, batch);
    history_begin(&c->job, &c->outcome, text);
    c->record = history_round(0, agents, 2);
    c->record.as.round.records = records;
    const size_t count = round_answer_count(&c->job, c->job.stage, 0, c->outcome.expert_count);
    c->closing = (struct closing){.job = &c->job,
                                  .stage = c->job.stage,
                                  .outcome = &c->outcome,
                                  .sum = calloc(count, sizeof(int64_t)),
                                  .count = count,
                                  .record = &c->record};
    cr_assert_not_null(c->closing.sum);
    for (size_t i = 0; i < count; i++) {
        c->closing.sum[i] = (int64_t)(100 - 30 * i);
    }
    const struct task_close *kind = task_close(&c->job, c->job.stage);
    cr_assert_eq(kind->close(&c->closing), STATUS_OK);
    c->record.as.round.blob_bytes = c->closing.row_count * c->closing.row_width * sizeof(double);
    cr_assert_eq(outcome_add(&c->outcome, &c->job, &c->record,
                             (struct slice){c->closing.rows, c->record.as.round.blob_bytes}),
                 STATUS_OK);
}

static void closed_free(struct closed *c)
{
    free(c->record.as.round.sum);
    closing_free(&c->closing);
    outcome_free(&c->outcome);
    job_free(&c->job);
}

/* Whether a share, answered by agents of different sizes, gives the same result as a number. */
static bool same(const char *stage, uint64_t records)
{
    struct closed number;
    struct closed share;
    close_round(&number, stage, "40", 0);
    close_round(&share, stage, "50 %", records);
    bool equal = number.outcome.expert_count == share.outcome.expert_count &&
                 number.outcome.variance_sum == share.outcome.variance_sum &&
                 number.record.as.round.sum_count == share.record.as.round.sum_count;
    const size_t words = number.outcome.expert_count * number.outcome.width;
    equal = equal && (words == 0 || memcmp(number.outcome.weights, share.outcome.weights,
                                           words * sizeof(double)) == 0);
    for (size_t i = 0; equal && i < number.outcome.rwm.count; i++) {
        equal = number.outcome.rwm.loss[i] == share.outcome.rwm.loss[i];
    }
    equal = equal && (number.record.as.round.sum == NULL ||
                      number.record.as.round.sum[0] == share.record.as.round.sum[0]);
    closed_free(&number);
    closed_free(&share);
    return equal;
}

Test(round_shares, every_task_averages_over_the_records_that_there_are)
{
    static const char *const stage[] = {
        "task: update, loss: logistic, rounds: 1, clip: 1, rate: 4, grid_bits: 10",
        "task: statistics, lambdas: [0.1], grid_bits: 10",
        ("task: losses, loss: linear, rounds: 1, grid_bits: 4, forecasters: "
         "[{name: up, features: [a]}, {name: down, features: [a], weights: [-1]}]"),
    };
    for (size_t i = 0; i < sizeof stage / sizeof stage[0]; i++) {
        cr_expect(same(stage[i], 80), "%s", stage[i]);
        cr_expect_not(same(stage[i], 60), "%s: the records are not looked at", stage[i]);
    }
}

Test(round_shares, a_journal_with_another_number_of_records_is_refused)
{
    static const char STAGE[] = "task: query, queries: [\"count: a > 0\"], grid_bits: 4";
    static struct peer agents[2] = {{"a"}, {"b"}};
    static const struct {
        const char *batch;
        uint64_t records;
        enum status status;
    } trial[] = {{"50 %", 10, STATUS_OK},     {"50 %", 9, STATUS_CORRUPT},
                 {"50 %", 100, STATUS_OK},    {"50 %", 101, STATUS_CORRUPT},
                 {"50 %", 0, STATUS_CORRUPT}, {"5", 0, STATUS_OK},
                 {"5", 10, STATUS_CORRUPT}};
    for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++) {
        struct job job;
        struct outcome outcome;
        int64_t sum = 5;
        char text[1024];
        (void)snprintf(text, sizeof text, TEXT, STAGE, trial[i].batch);
        history_begin(&job, &outcome, text);
        struct record record = history_round(0, agents, 2);
        record.as.round.records = trial[i].records;
        record.as.round.sum = &sum;
        record.as.round.sum_count = 1;
        cr_expect_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), trial[i].status);
        outcome_free(&outcome);
        job_free(&job);
    }
}

static int64_t any(size_t agent, size_t place)
{
    return (int64_t)(agent + 1) * 1000 - (int64_t)place * 7;
}

static void expect_sites(const struct central *bench)
{
    const struct outcome *outcome = &bench->coordinator->outcome;
    cr_assert(outcome->site_count == 2 && outcome->by_site != NULL);
    for (size_t i = 0; i < 2; i++) {
        const int64_t *row = outcome->by_site + 3 * i;
        cr_expect(row[0] == (i == 0 ? 6 : 500) && row[1] == any(i, 0) && row[2] == any(i, 1));
    }
}

/* What is kept of a site is its answer as it left it, with its number of records: before and after a kill. */
Test(round_shares, answers_by_site_are_those_that_left_the_sites)
{
    central_init_local(&bench, "  - {task: query, queries: [\"count: a >= 0.5\", \"mean: b\"], "
                               "by_site: true, batch: 50 %, share: 1, grid_bits: 10}\n");
    bench.records[0] = 6;
    bench.records[1] = 500;
    central_greet(&bench);
    central_answer(&bench, any);
    expect_sites(&bench);
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    expect_sites(&bench);
    central_free(&bench);
}

/* A stage that does not say so keeps the sum alone. */
Test(round_shares, without_by_site_no_answer_of_a_site_is_kept)
{
    central_init_local(&bench, "  - {task: query, queries: [\"count: a >= 0.5\"], batch: 50 %, "
                               "share: 1, grid_bits: 10}\n");
    bench.records[0] = 6;
    bench.records[1] = 500;
    central_greet(&bench);
    central_answer(&bench, any);
    cr_assert_null(bench.coordinator->outcome.by_site);
    for (size_t i = 0; i < bench.kept_count; i++) {
        cr_expect_eq(bench.kept[i].blob_size, 0);
    }
    central_free(&bench);
}
