/* `query`: the released sums are the answers, whatever journal they are read back from; a conjunction
 * keeps the features that hardly ever fail. */

#include "tests/unit/coordinator/history.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] = HISTORY_JOB(
    "unit: %s, neighbours: replace_one, trust: local, epsilon: 1, delta: 0",
    "minimum: 1") "  - {task: query, queries: [\"count: u > 0\"], batch: 100, share: 1, grid_bits: 4,\n"
                  "     conjunction: {positive: \"y == 1\", features: [\"u > 0.5\", \"u < 0.9\"], tolerance: 0.1}}\n";

static struct peer agents[2] = {{"a"}, {"b"}};

/* Counts of 80, then of `first` and `second` failures among 200 records. */
static void answer(struct outcome *outcome, struct job *job, const char *unit, int64_t first,
                   int64_t second)
{
    char text[2048];
    int64_t sum[3] = {80 << 4, first << 4, second << 4};
    struct record record = history_round(0, agents, 2);
    (void)snprintf(text, sizeof text, TEXT, unit);
    history_begin(job, outcome, text);
    record.as.round.sum = sum;
    record.as.round.sum_count = 3;
    cr_assert_eq(outcome_add(outcome, job, &record, (struct slice){0}), STATUS_OK);
    cr_assert(outcome->finished);
}

Test(close_query, tells_answers_and_the_conjunction_that_was_learned)
{
    struct job job;
    struct outcome outcome;
    answer(&outcome, &job, "record", 15, 30);
    cr_assert_eq(outcome.round[0].answer_count, 3);
    cr_assert_float_eq(outcome.round[0].answer[0].value, 80, 1e-9);
    cr_assert_str_eq(outcome.round[0].note, "(u > 0.5)", "0.075 is within 0.1, 0.15 is not");
    outcome_free(&outcome);
    job_free(&job);
    answer(&outcome, &job, "record", 60, 60);
    cr_assert_str_eq(outcome.round[0].note, "none of the features: any record may be positive");
    outcome_free(&outcome);
    job_free(&job);
}

/* A rule without its last features would be another rule. */
Test(close_query, a_long_conjunction_is_told_to_its_end)
{
    enum { FEATURES = 40 };
    char text[8192];
    char expected[8192] = "";
    int64_t sum[FEATURES] = {0};
    struct job job;
    struct outcome outcome;
    struct record record = history_round(0, agents, 2);

    (void)snprintf(text, sizeof text, TEXT, "record");
    size_t used = (size_t)(strstr(text, "queries:") - text);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "batch: 100, share: 1, grid_bits: 4, conjunction: {positive: \"y == "
                             "1\", features: [");
    for (int i = 0; i < FEATURES; i++) {
        char feature[64];
        (void)snprintf(feature, sizeof feature, "u > 0.%02d or u < 0.%02d and y == 1", i, i + 1);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\"", i > 0 ? ", " : "",
                                 feature);
        (void)snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s(%s)",
                       i > 0 ? " and " : "", feature);
    }
    (void)snprintf(text + used, sizeof text - used, "]}}\n");
    history_begin(&job, &outcome, text);
    record.as.round.sum = sum;
    record.as.round.sum_count = FEATURES;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), STATUS_OK);
    cr_assert_str_eq(outcome.round[0].note, expected);
    outcome_free(&outcome);
    job_free(&job);
}

Test(close_query, bars_follow_the_noise_of_the_unit)
{
    struct job record;
    struct job all;
    struct outcome of_record;
    struct outcome of_all;
    answer(&of_record, &record, "record", 0, 0);
    answer(&of_all, &all, "round", 0, 0);
    double ratio = of_all.round[0].answer[0].error / of_record.round[0].answer[0].error;
    cr_assert_float_eq(ratio, 100, 1e-6, "a whole batch replaced: %g", ratio);
    outcome_free(&of_record);
    outcome_free(&of_all);
    job_free(&record);
    job_free(&all);
}

static const char BY_SITE[] = HISTORY_LOCAL
    "  - {task: query, queries: [\"count: u > 0\"], by_site: true, batch: 100, share: 1, "
    "grid_bits: 4}\n";

static struct peer four[4] = {{"a"}, {"b"}, {"c"}, {"d"}};

/* Each site's records and its count. */
static enum status add_sites(struct outcome *outcome, struct job *job, const int64_t *rows,
                             size_t bytes)
{
    int64_t sum = (30 + 40 + 50 + 60) << 4;
    struct record record = history_round(0, four, 4);
    history_begin(job, outcome, BY_SITE);
    record.as.round.sum = &sum;
    record.as.round.sum_count = 1;
    record.as.round.blob_bytes = bytes;
    return outcome_add(outcome, job, &record, (struct slice){rows, bytes});
}

Test(close_query, tells_each_site_by_its_name_and_joins_them)
{
    const int64_t rows[8] = {100, 30 << 4, 100, 40 << 4, 100, 50 << 4, 100, 60 << 4};
    struct job job;
    struct outcome outcome;
    cr_assert_eq(add_sites(&outcome, &job, rows, sizeof rows), STATUS_OK);
    const struct outcome_round *round = &outcome.round[0];
    cr_assert(round->effect_count == 1 && round->site_count == 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(round->site_of[i].peer.name, four[i].name);
        cr_expect_eq(round->site_of[i].records, 100);
        cr_expect_float_eq(round->site[i].value, 0.3 + 0.1 * (double)i, 1e-12);
        /* one site's noise: epsilon 1, a sensitivity of one record */
        cr_expect_float_eq(round->site[i].noise, sqrt(2) / 100, 1e-4);
    }
    cr_expect_float_eq(round->effect[0].all.value, 0.45, 1e-9);
    cr_expect_eq(round->effect[0].all.sites, 4);
    outcome_free(&outcome);
    job_free(&job);
}

/* Faulty journals: rows that are missing, that sum to something else, or are of other records. */
Test(close_query, rows_of_sites_that_are_not_the_sums_are_refused)
{
    static const int64_t bent[][8] = {
        {100, 31 << 4, 100, 40 << 4, 100, 50 << 4, 100, 60 << 4},
        {200, 30 << 4, 100, 40 << 4, 100, 50 << 4, 100, 60 << 4},
        {0, 30 << 4, 200, 40 << 4, 100, 50 << 4, 100, 60 << 4},
        {-100, 30 << 4, 300, 40 << 4, 100, 50 << 4, 100, 60 << 4},
    };
    struct job job;
    struct outcome outcome;
    for (size_t i = 0; i < sizeof bent / sizeof bent[0]; i++) {
        cr_expect_eq(add_sites(&outcome, &job, bent[i], sizeof bent[i]), STATUS_CORRUPT, "%zu", i);
        outcome_free(&outcome);
        job_free(&job);
    }
    cr_expect_eq(add_sites(&outcome, &job, bent[0], sizeof bent[0] - 8), STATUS_CORRUPT);
    outcome_free(&outcome);
    job_free(&job);
    cr_expect_eq(add_sites(&outcome, &job, NULL, 0), STATUS_CORRUPT);
    outcome_free(&outcome);
    job_free(&job);
}
