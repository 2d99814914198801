/* example_result.h - a result with everything in it, for tests. */

#ifndef TESTS_EXAMPLE_RESULT_H
#define TESTS_EXAMPLE_RESULT_H

#include "report/result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXAMPLE_ROUNDS = 3,
    EXAMPLE_EXPERTS = 2,
    EXAMPLE_AGENTS = 2,
    EXAMPLE_FEATURES = 3,
    EXAMPLE_ANSWERS = 2,
    EXAMPLE_RELEASES = 2,
    EXAMPLE_POINTS = 4,
    EXAMPLE_SITES = 3
};

static void example_reserve(struct result *result, const char *list, size_t count)
{
    cr_assert(result_reserve(result, list, count) == STATUS_OK);
}

/* An effect at three sites, one of which has too little data. */
static inline void example_sites(struct result *result)
{
    example_reserve(result, "effects", 1);
    example_reserve(result, "sites", EXAMPLE_SITES);
    (void)snprintf(result->effect[0].name, RESULT_TEXT_BYTES, "crosstab: a x b: odds ratio of b 1");
    (void)snprintf(result->effect[0].unit, RESULT_NAME_BYTES, "odds ratio");
    result->effect[0].round = 2;
    result->effect[0].sites = 2;
    result->effect[0].value = 1.5;
    result->effect[0].low = 1.25;
    result->effect[0].high = 1.8;
    result->effect[0].error = 0.0625;
    result->effect[0].spread = 0.125;
    result->effect[0].share = 0.25;
    result->effect[0].statistic = 4.5;
    result->effect[0].p = 0.34375;
    result->effect[0].next_low = 0.75;
    result->effect[0].next_high = 3;
    for (size_t i = 0; i < EXAMPLE_SITES; i++) {
        struct result_site *site = &result->site[i];
        (void)snprintf(site->effect, sizeof site->effect, "%s", result->effect[0].name);
        (void)snprintf(site->site, sizeof site->site, "<site %zu>", i + 1);
        site->round = 2;
        site->records = 1000;
        site->value = i == 2 ? NAN : 1.375 + 0.25 * (double)i;
        site->low = i == 2 ? NAN : 0.875;
        site->high = i == 0 ? 2.25 : NAN;
        site->noise = i == 2 ? NAN : 0.0625;
        site->sampling = i == 2 ? NAN : 0.125;
        site->weight = i == 2 ? NAN : 0.5;
    }
}

/* A question, what it released, and a selection. */
static inline void example_answers(struct result *result)
{
    example_reserve(result, "answers", EXAMPLE_ANSWERS);
    example_reserve(result, "releases", EXAMPLE_RELEASES);
    for (size_t i = 0; i < EXAMPLE_ANSWERS; i++) {
        struct result_answer *answer = &result->answer[i];
        (void)snprintf(answer->name, sizeof answer->name, "count: age >= %zu", 60 + i);
        (void)snprintf(answer->unit, sizeof answer->unit, "records");
        answer->round = 2;
        answer->value = 1000.5 - 100 * (double)i;
        answer->error = 12.5;
        answer->low = answer->value - 30;
        answer->high = answer->value + 30;
        answer->sampling = i == 0 ? 20.25 : NAN;
        answer->exact = i == 0 ? 987 : NAN;
        answer->total_low = i == 0 ? 950.25 : NAN;
        answer->total_high = i == 0 ? 1050.75 : NAN;
    }
    example_sites(result);
    example_reserve(result, "curves", EXAMPLE_POINTS);
    for (size_t i = 0; i < EXAMPLE_POINTS; i++) {
        struct result_point *point = &result->point[i];
        (void)snprintf(point->question, sizeof point->question, "survival: time t event d, to 4");
        (void)snprintf(point->group, sizeof point->group, i < 2 ? "F" : "M");
        point->round = 2;
        point->time = 2 + 2 * (double)(i % 2);
        point->value = i == 3 ? NAN : 0.75 - 0.125 * (double)i;
        point->low = point->value - 0.0625;
        point->high = point->value + 0.0625;
        point->band_low = point->value - 0.125;
        point->band_high = point->value + 0.125;
        point->noise_low = point->value - 0.03125;
        point->noise_high = point->value + 0.03125;
        point->at_risk = 100 - 10 * (double)i;
        point->exact = i == 0 ? 0.71875 : NAN;
    }
    for (size_t i = 0; i < EXAMPLE_RELEASES; i++) {
        struct result_release *release = &result->release[i];
        release->stage = (uint32_t)i;
        (void)snprintf(release->task, sizeof release->task, "query");
        (void)snprintf(release->strategy, sizeof release->strategy, "answer");
        (void)snprintf(release->what, sizeof release->what, "each cell");
        (void)snprintf(release->unit, sizeof release->unit, "records");
        (void)snprintf(release->mechanism, sizeof release->mechanism, "discrete Gaussian");
        release->noise = i == 0 ? 12.5 : NAN;
        release->bar = 30.5;
        release->sigma = 4.75;
        release->sampling = 0.5;
        release->passes = 3;
        release->epsilon = i == 0 ? 0.625 : 0.375;
        release->delta = 0.0009765625;
    }
    result->round[2].note = strdup("age >= 71.5");
    cr_assert(result->round[2].note != NULL);
}

/* Makes its answers a Table 1 of two groups: sizes, a mean and deviation of an age, a category with its share. */
static inline void example_table1(struct result *result)
{
    static const char *const figure[] = {"records", "mean", "standard deviation", "F", "F, share"};
    static const char *const unit[] = {"records", "age", "age", "records", "share"};
    const double value[] = {100, 61.25, 8.5, 40, 0.4};
    free(result->answer);
    result->answer = NULL;
    result->answer_count = 0;
    struct result_release *const release = result->release;
    result->release = NULL;
    example_reserve(result, "answers", 10);
    example_reserve(result, "releases", EXAMPLE_RELEASES);
    memcpy(result->release, release, EXAMPLE_RELEASES * sizeof *release);
    free(release);
    for (size_t i = 0; i < 10; i++) {
        const size_t at = i < 2 ? 0 : i < 6 ? 1 + i % 2 : 3 + i % 2;
        const size_t group = i < 2 ? i : i < 6 ? i / 4 : i / 8;
        struct result_answer *answer = &result->answer[i];
        (void)snprintf(answer->table, sizeof answer->table, "table1: [age, <sex>] by death");
        (void)snprintf(answer->variable, sizeof answer->variable, "%s",
                       at == 0  ? ""
                       : at < 3 ? "age"
                                : "<sex>");
        (void)snprintf(answer->figure, sizeof answer->figure, "%s", figure[at]);
        (void)snprintf(answer->group, sizeof answer->group, "%s", group == 0 ? "alive" : "dead");
        (void)snprintf(answer->name, sizeof answer->name, "table1: [age, <sex>] by death: %s, %s",
                       figure[at], group == 0 ? "alive" : "dead");
        (void)snprintf(answer->unit, sizeof answer->unit, "%s", unit[at]);
        answer->round = 1;
        answer->value = value[at] * (group == 0 ? 1 : 1.5);
        answer->low = answer->value - 0.25;
        answer->high = answer->value + 0.25;
        answer->total_low = answer->value * 0.75;
        answer->total_high = answer->value * 1.25;
    }
    result->answer[5].value = NAN; /* the deviation of the dead */
    result->answer[5].total_low = result->answer[5].total_high = NAN;
    (void)snprintf(result->answer[5].note, sizeof result->answer[5].note,
                   "not enough data for this question at this epsilon; 1.2 times would be enough");
}

static inline struct result example_result(void)
{
    static const char *const name[] = {"average, lambda 0.003", "hospital-1, lambda 0.003"};
    struct result result;
    result_init(&result);
    example_reserve(&result, "rounds", EXAMPLE_ROUNDS);
    example_reserve(&result, "experts", EXAMPLE_EXPERTS);
    example_reserve(&result, "per_agent", EXAMPLE_AGENTS);
    (void)snprintf(result.job, sizeof result.job, "hospitals");
    (void)snprintf(result.version, sizeof result.version, "0.1.0");
    (void)snprintf(result.privacy.trust, sizeof result.privacy.trust, "local");
    (void)snprintf(result.privacy.unit, sizeof result.privacy.unit, "record");
    result.private = true;
    result.simulated = true;
    result.finished = true;
    result.seconds = 1.25;
    result.feature_count = EXAMPLE_FEATURES;
    for (size_t i = 0; i < EXAMPLE_EXPERTS; i++) {
        struct result_expert *expert = &result.expert[i];
        (void)snprintf(expert->name, sizeof expert->name, "%s", name[i]);
        expert->lambda = 0.003;
        expert->accuracy = 0.79 - 0.01 * (double)i;
        expert->auc = 0.82;
        expert->model = result_numbers(EXAMPLE_FEATURES);
        for (size_t j = 0; j < EXAMPLE_FEATURES; j++) {
            expert->model[j] = 0.5 * (double)j - 1.0;
        }
    }
    for (size_t i = 0; i < EXAMPLE_ROUNDS; i++) {
        struct result_round *round = &result.round[i];
        (void)snprintf(round->stage, sizeof round->stage, "%s", i == 0 ? "fit" : "losses");
        round->round = (uint32_t)i;
        round->stage_number = i == 0 ? 1 : 2;
        round->agents = 2;
        round->chosen = i % 2;
        round->seconds = 0.25;
        round->epsilon = 0.5;
        if (i > 0) {
            round->loss = result_numbers(EXAMPLE_EXPERTS);
            round->weight = result_numbers(EXAMPLE_EXPERTS);
            for (size_t j = 0; j < EXAMPLE_EXPERTS; j++) {
                round->loss[j] = 0.25;
                round->weight[j] = 0.5;
            }
            round->regret_average = 0.125;
            round->regret_bound = 0.5;
        }
    }
    for (size_t i = 0; i < EXAMPLE_AGENTS; i++) {
        (void)snprintf(result.agent[i].name, RESULT_NAME_BYTES, "hospital-%zu", i + 1);
        result.agent[i].answers = 3;
        result.agent[i].epsilon_spent = 1.0;
        result.agent[i].epsilon_left = 0.5;
        result.agent[i].delta_spent = 0.25;
    }
    example_answers(&result);
    result.chosen = 0;
    result.accuracy = 0.79;
    result.auc = 0.82;
    result.baseline.majority = 0.725;
    result.baseline.pooled_accuracy = 0.816;
    result.baseline.pooled_auc = 0.839;
    result.baseline.pooled_lambda = 0.0003;
    result.baseline.records_learn = 6299;
    result.baseline.records_held = 1575;
    result.privacy.epsilon = 1.0;
    result.privacy.delta = 0.0;
    result.regret.average = 0.125;
    result.regret.bound = 0.5;
    result.regret.textbook = 1.5;
    result.regret.noise = 0.25;
    return result;
}

#endif
