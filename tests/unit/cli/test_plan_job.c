/* Advice is right: what it calls enough is enough, and the least of its kind is not far below.
 * Planted: a drowned job for each task. A job that is not drowned gets no advice. */

#include "cli/plan_job.h"
#include "report/result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(trust_, epsilon_)                                                                     \
    "hedgerow: 1\njob: toy\ndata:\n"                                                               \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features:\n    - {column: u, centre: 50, half_width: 10}\n"                                 \
    "privacy: {unit: record, neighbours: replace_one, trust: " trust_ ", epsilon: " epsilon_       \
    ", delta: 0}\n"                                                                                \
    "cohort: {minimum: 3, records: 1000, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
#define FIT                                                                                        \
    "  - {task: fit, loss: logistic, lambdas: [0.01], share: 0.5, experts: {own: true, "           \
    "own_weight: 0.5, shifts: [0.25, 0.5]}, tolerance: 0.000001, grid_bits: 20}\n"
#define LOSSES                                                                                     \
    "  - {task: losses, loss: zero_one, rounds: 5, batch: 100, share: 0.5, grid_bits: 16}\n"
#define QUERY "  - {task: query, queries: [\"count: u >= 60\"], batch: 500, share: 1}\n"
#define SELECT                                                                                     \
    "  - {task: select, candidates: {stumps: [u], thresholds: 9}, batch: 500, share: 1}\n"

static struct job_plan *plan_of(struct job_source *source, const char *text)
{
    struct job_plan *plan = malloc(sizeof *plan);
    struct why why = {""};
    *source = (struct job_source){.text = {text, strlen(text)}, .name = "toy"};
    cr_assert(plan != NULL && job_plan_make(plan, source, NULL, &why) == STATUS_OK, "%s", why.text);
    return plan;
}

static void give_back(struct job_plan *plan)
{
    job_plan_free(plan);
    free(plan);
}

Test(plan_job, leaves_a_job_alone_whose_noise_is_small)
{
    struct job_source source;
    struct job_plan *plan = plan_of(&source, HEAD("local", "8") FIT LOSSES);
    cr_assert(job_plan_noise_to_signal(plan) < 1);
    cr_assert(plan->admitted);
    cr_assert_eq(plan->price.epsilon_micro, 8000000);
    cr_assert_eq(plan->size.agents, 3);
    cr_assert_eq(plan->size.records, 1000);
    give_back(plan);
}

/* A stage that plans by the fewest records of an agent plans alike under both trusts, however many there are. */
Test(plan_job, compares_trusts_of_a_learn_stage_by_one_number_of_records)
{
    struct job_source source;
    struct job_plan *plan = plan_of(&source, HEAD("local", "1") "  - {task: learn}\n");
    struct job_plan *other = malloc(sizeof *other);
    struct why why = {""};
    cr_assert_not_null(other);
    give_back(plan);
    plan = malloc(sizeof *plan);
    source.size.records = 50000;
    cr_assert(plan != NULL && job_plan_make(plan, &source, NULL, &why) == STATUS_OK, "%s",
              why.text);
    cr_assert_eq(job_plan_under(other, &source, plan, TRUST_CENTRAL, &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_eq(plan->job.records_least, 1000);
    cr_expect_eq(other->job.records_least, 1000);
    cr_expect_eq(other->size.records, 50000);
    give_back(plan);
    give_back(other);
}

/* Finds the advice whose change begins so. */
static const struct job_advice *find(const struct job_advice *advice, size_t count,
                                     const char *beginning)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(advice[i].change, beginning, strlen(beginning)) == 0) {
            return &advice[i];
        }
    }
    return NULL;
}

static bool has_unit(const struct job_advice *advice, size_t count, const char *beginning,
                     const char *unit)
{
    const struct job_advice *found = find(advice, count, beginning);
    return found != NULL && strstr(found->figure, unit) != NULL;
}

/* The stage's noise-to-signal ratio with these changes; INFINITY where there is no such job. */
static double noise_to_signal_of(const struct job_source *source, size_t stage,
                                 const struct job_changes *changes)
{
    struct job_plan *plan = malloc(sizeof *plan);
    struct why why = {""};
    cr_assert_not_null(plan);
    if (job_plan_make(plan, source, changes, &why) != STATUS_OK) {
        free(plan);
        return INFINITY;
    }
    const double noise_to_signal = job_plan_worst(plan, stage)->noise_to_signal;
    give_back(plan);
    return noise_to_signal;
}

static double noise_to_signal_with(const struct job_source *source, size_t stage, const char *set,
                                   struct terms_size size)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    cr_assert_not_null(changes);
    changes->count = set != NULL;
    changes->size = size;
    if (set != NULL) {
        (void)snprintf(changes->set[0], PLAN_SET_BYTES, "%s", set);
    }
    const double noise_to_signal = noise_to_signal_of(source, stage, changes);
    free(changes);
    cr_assert(isfinite(noise_to_signal), "%s", set);
    return noise_to_signal;
}

static const char *const drowned[] = {
    HEAD("local", "0.01") FIT,      HEAD("local", "0.01") FIT LOSSES,
    HEAD("local", "0.01") QUERY,    HEAD("local", "0.01") SELECT,
    HEAD("central", "0.002") QUERY, HEAD("central", "0.001") SELECT};
enum { DROWNED = sizeof drowned / sizeof *drowned };

Test(plan_job, says_which_epsilon_is_enough_and_little_less_is_not)
{
    for (size_t i = 0; i < DROWNED; i++) {
        struct job_source source;
        struct job_advice advice[PLAN_ADVICE_MAX];
        struct job_plan *plan = plan_of(&source, drowned[i]);
        const size_t stage = plan->job.stage_count - 1;
        cr_assert(job_plan_worst(plan, stage)->noise_to_signal > 1, "job %zu is not drowned", i);
        const size_t count = job_advise(advice, &source, plan, stage);
        const struct job_advice *epsilon = find(advice, count, "privacy.epsilon: ");
        cr_assert(epsilon != NULL && epsilon->noise_to_signal <= 1, "job %zu", i);
        const double value = strtod(epsilon->change + strlen("privacy.epsilon: "), NULL);
        char set[64];
        (void)snprintf(set, sizeof set, "privacy.epsilon=%.6g", value);
        const double noise_to_signal =
            noise_to_signal_with(&source, stage, set, (struct terms_size){0, 0});
        cr_assert_float_eq(noise_to_signal, epsilon->noise_to_signal, 1e-9,
                           "job %zu: what was said is kept", i);
        (void)snprintf(set, sizeof set, "privacy.epsilon=%.6g", 0.8 * value);
        cr_assert(noise_to_signal_with(&source, stage, set, (struct terms_size){0, 0}) > 1,
                  "job %zu: less would do", i);
        give_back(plan);
    }
}

Test(plan_job, tells_no_advice_that_makes_it_worse)
{
    for (size_t i = 0; i < DROWNED; i++) {
        struct job_source source;
        struct job_advice advice[PLAN_ADVICE_MAX];
        struct job_plan *plan = plan_of(&source, drowned[i]);
        const size_t stage = plan->job.stage_count - 1;
        const size_t count = job_advise(advice, &source, plan, stage);
        cr_assert(count >= 3 && count <= PLAN_ADVICE_MAX, "job %zu", i);
        for (size_t j = 0; j < count; j++) {
            cr_assert(advice[j].noise_to_signal < job_plan_worst(plan, stage)->noise_to_signal,
                      "%s", advice[j].change);
            cr_assert(advice[j].figure[0] != '\0' && advice[j].change[0] != '\0');
        }
        give_back(plan);
    }
}

#define COLUMNS_OF(trust_, epsilon_, records_)                                                     \
    "hedgerow: 1\njob: slip\ndata:\n"                                                              \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features: [{column: u, centre: 50, half_width: 10}, {column: v, centre: 0, half_width: "    \
    "1}]\nprivacy: {unit: record, neighbours: replace_one, trust: " trust_ ", epsilon: " epsilon_  \
    ", delta: 0.000001}\ncohort: {minimum: 5, records: " records_ ", deadline_s: 1}\nstages:\n"
#define MAPPED                                                                                     \
    "hedgerow: 1\njob: slip\ndata:\n"                                                              \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features: [{column: u, centre: 50, half_width: 10}]\n"                                      \
    "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 400, seed: 1}\n"                 \
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"                 \
    "cohort: {minimum: 5, records: 1000, deadline_s: 1}\nstages:\n"
#define TEN  "0.01, 0.011, 0.012, 0.013, 0.014, 0.015, 0.016, 0.017, 0.018, 0.019"
#define MANY TEN ", 0.02, 0.021, 0.022, 0.023, 0.024, 0.025, 0.026, 0.027, 0.028, 0.029"

/* Mistakes of newcomers: each job, and what must be among the advice. */
static const struct {
    const char *text;
    const char *advice[3];
} slips[] = {
    {COLUMNS_OF("local", "0.01",
                "1000") "  - {task: fit, loss: logistic, lambdas: [0.05], share: 1}\n",
     {"privacy.epsilon: ", "lambdas: [", "trust: central"}},
    {COLUMNS_OF("local", "0.3", "1000") "  - {task: fit, loss: logistic, lambdas: [" TEN
                                        "], share: 1}\n",
     {"fewer releases: lambdas: [", "lambdas: [", NULL}},
    {COLUMNS_OF("local", "1", "12") "  - {task: fit, loss: logistic, lambdas: [0.05], share: 1}\n",
     {"privacy.epsilon: ", "lambdas: [", NULL}},
    {COLUMNS_OF("local", "1",
                "100") "  - {task: query, queries: [\"count: u >= 60\"], batch: 5, share: 1}\n",
     {"batch: ", "privacy.epsilon: ", NULL}},
    {COLUMNS_OF(
         "local", "1",
         "1000") "  - {task: query, queries: [\"quantile: 0.5 of u in 24 rounds\"], batch: 100, share: 1}\n",
     {"batch: ", "privacy.epsilon: ", NULL}},
    {COLUMNS_OF(
         "local", "1",
         "1000") "  - {task: statistics, lambdas: [" MANY
                 "], batch: 800, share: 0.5, experts: {shifts: [0.1, 0.2, 0.3, "
                 "0.4]}}\n  - {task: losses, loss: zero_one, rounds: 4, batch: 40, share: 0.5}\n",
     {"fewer experts: ", "rounds: ", "batch: "}},
    {COLUMNS_OF("local", "0.4",
                "1000") "  - {task: statistics, lambdas: [" MANY "], batch: 800, share: 0.5}\n"
                        "  - {task: select, loss: zero_one, batch: 40, share: 0.5}\n",
     {"fewer experts: ", "batch: ", "trust: central"}},
    {COLUMNS_OF(
         "local", "0.4",
         "1000") "  - {task: fit, loss: logistic, lambdas: [0.3], share: 0.5, experts: {shifts: [0.1]}}\n"
                 "  - {task: losses, loss: zero_one, rounds: 1000, batch: 1, share: 0.5}\n",
     {"rounds: ", "batch: ", NULL}},
    {COLUMNS_OF(
         "local", "1",
         "1000") "  - {task: update, loss: logistic, rounds: 1000, batch: 500, clip: 0.5, rate: 1, share: 1}\n",
     {"rounds: ", "batch: ", "privacy.epsilon: "}},
    {COLUMNS_OF(
         "central", "1",
         "1000") "  - {task: update, loss: logistic, rounds: 100000, batch: 500, clip: 0.5, rate: 1, noise: gaussian}\n",
     {"rounds: ", "batch: ", "privacy.epsilon: "}},
    {COLUMNS_OF("local", "0.2",
                "400") "  - {task: online, rounds: 2, t0: 20, share: 1, grid_bits: 30}\n",
     {"t0: ", "privacy.epsilon: ", NULL}},
    {COLUMNS_OF(
         "local", "0.2",
         "400") "  - {task: predict, loss: squared, lambdas: [0.05], kernel: {kind: gaussian, gamma: 1}, points: [[50, 0], "
                "[60, 0]], share: 1}\n",
     {"lambdas: [", "privacy.epsilon: ", NULL}},
    {COLUMNS_OF(
         "local", "1",
         "1000") "  - {task: select, candidates: {stumps: [u], thresholds: 1000}, batch: 60, share: 1}\n",
     {"trust: central", "batch: ", NULL}},
    {COLUMNS_OF(
         "central", "0.01",
         "1000") "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.5, experts: {shifts: [0.1]}}\n"
                 "  - {task: losses, loss: zero_one, rounds: 10, batch: 4, share: 0.5}\n",
     {"privacy.epsilon: ", "batch: ", NULL}},
    {MAPPED "  - {task: fit, loss: logistic, lambdas: [0.05], share: 1}\n",
     {"data.map.features: ", "lambdas: [", NULL}},
    {COLUMNS_OF(
         "local", "0.2",
         "400") "  - {task: statistics, lambdas: [0.1], batch: 400, share: 1, map: {kind: fourier,\n"
                "     kernel: gaussian, gamma: 1, features: 60, seed: 42}}\n",
     {"map.features: ", "privacy.epsilon: ", NULL}},
};

/* Returns whether the words have this in them; *number is what follows. */
static bool says(double *number, const char *words, const char *what)
{
    const char *at = strstr(words, what);
    *number = at != NULL ? strtod(at + strlen(what), NULL) : 0;
    return at != NULL;
}

/* "rounds: 3, batch: 40, of the same records": makes the changes that the words say, as a person would.
 * Returns false where they do not say them all. */
static bool follow(struct job_changes *changes, const char *words, const struct job_plan *plan,
                   size_t stage)
{
    static const char *const of_job[] = {"privacy.epsilon", "data.map.features"};
    static const char *const of_stage[] = {"batch", "rounds", "t0", "map.features"};
    const char *list = strstr(words, "lambdas: [");
    char what[64];
    double number;
    for (size_t i = 0; i < sizeof of_job / sizeof *of_job; i++) {
        (void)snprintf(what, sizeof what, "%s: ", of_job[i]);
        if (says(&number, words, what)) {
            (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "%s=%.9g", of_job[i],
                           number);
        }
    }
    for (size_t i = 0; i < sizeof of_stage / sizeof *of_stage; i++) {
        (void)snprintf(what, sizeof what, "%s: ", of_stage[i]);
        if (strncmp(words, "data.", 5) != 0 && says(&number, words, what)) {
            (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "stages[%zu].%s=%.9g",
                           stage, of_stage[i], number);
        }
    }
    if (list != NULL && strstr(list, " ..") == NULL) {
        list += strlen("lambdas: [");
        (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "stages[%zu].lambdas=[%.*s]",
                       stage, (int)strcspn(list, "]"), list);
    }
    if (strstr(words, " agents") != NULL && strncmp(words, "fewer", 5) != 0) {
        changes->size.agents = strtoul(words, NULL, 10);
        if (strstr(words, "minimum") != NULL) {
            (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "cohort.minimum=%zu",
                           changes->size.agents);
        }
    }
    const bool followed = changes->count > 0 || changes->size.agents > 0;
    const double records =
        says(&number, words, "which needs ") ? number : (double)plan->size.records;
    (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "cohort.records=%.0f", records);
    return followed;
}

Test(plan_job, warns_newcomers_and_what_it_says_helps_as_much_as_it_says)
{
    size_t followed = 0;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct job_source source;
        struct job_advice advice[PLAN_ADVICE_MAX];
        struct job_plan *plan = plan_of(&source, slips[i].text);
        const size_t stage = plan->job.stage_count - 1;
        const double noise_to_signal = job_plan_worst(plan, stage)->noise_to_signal;
        cr_expect(noise_to_signal > 1, "slip %zu: %g, no warning", i, noise_to_signal);
        const size_t count = job_advise(advice, &source, plan, stage);
        for (size_t j = 0; j < 3 && slips[i].advice[j] != NULL; j++) {
            cr_expect(find(advice, count, slips[i].advice[j]) != NULL, "slip %zu: no %s", i,
                      slips[i].advice[j]);
        }
        for (size_t j = 0; j < count; j++) {
            struct job_changes *changes = calloc(1, sizeof *changes);
            cr_assert_not_null(changes);
            cr_expect(advice[j].noise_to_signal < noise_to_signal, "slip %zu: %s", i,
                      advice[j].change);
            if (follow(changes, advice[j].change, plan, stage)) {
                const double then = noise_to_signal_of(&source, stage, changes);
                cr_expect_float_eq(then, advice[j].noise_to_signal, 1e-6 * then,
                                   "slip %zu: %s: %g, not %g", i, advice[j].change, then,
                                   advice[j].noise_to_signal);
                followed++;
            }
            free(changes);
        }
        give_back(plan);
    }
    cr_expect(followed >= 45, "%zu of the advice was followed", followed);
}

/* A list that is cut short is another job, whose lambdas share the budget among fewer. */
Test(plan_job, plans_all_of_a_long_list_of_lambdas_or_none)
{
    static char text[16384];
    struct job_source source;
    struct job_advice advice[PLAN_ADVICE_MAX];
    char *end = text + sprintf(text, "%s  - {task: fit, loss: logistic, share: 1, lambdas: [",
                               HEAD("local", "1"));
    for (int i = 0; i < 200; i++) {
        end += sprintf(end, "%s%.6f", i > 0 ? ", " : "", 0.01 + 0.000123 * i);
    }
    (void)sprintf(end, "]}\n");
    struct job_plan *plan = plan_of(&source, text);
    const size_t count = job_advise(advice, &source, plan, 0);
    const struct job_advice *lambdas = find(advice, count, "lambdas: [");
    cr_assert_not_null(lambdas);
    cr_assert_not_null(strstr(lambdas != NULL ? lambdas->change : "", " .."));
    const double noise_to_signal = job_plan_worst(plan, 0)->noise_to_signal;
    /* Each at most 100 times as large, beside a ball that shrinks by the root: a tenth is the best that
     * there can be, and a list of a tenth of them would promise more. */
    cr_assert(noise_to_signal > 1 && lambdas != NULL &&
                  lambdas->noise_to_signal > noise_to_signal / 11,
              "%g", noise_to_signal);
    give_back(plan);
}

Test(plan_job, advises_each_task_what_helps_it)
{
    struct job_source source;
    struct job_advice advice[PLAN_ADVICE_MAX];
    struct job_plan *plan = plan_of(&source, HEAD("local", "0.01") FIT LOSSES);
    size_t count = job_advise(advice, &source, plan, 0);
    cr_assert(find(advice, count, "lambdas: [") != NULL);
    cr_assert(find(advice, count, "trust: central") != NULL);
    cr_assert(has_unit(advice, count, "privacy.epsilon", "weight"));
    count = job_advise(advice, &source, plan, 1);
    cr_assert(find(advice, count, "lambdas: [") == NULL);
    cr_assert(find(advice, count, "fewer experts") != NULL);
    const struct job_advice *batch = find(advice, count, "batch: ");
    cr_assert(batch != NULL && strstr(batch->change, "records of each agent") != NULL);
    cr_assert(has_unit(advice, count, "privacy.epsilon", "loss"));
    give_back(plan);
    plan = plan_of(&source, HEAD("local", "0.5") QUERY);
    cr_assert(noise_to_signal_with(&source, 0, NULL, (struct terms_size){12, 0}) <
                  job_plan_worst(plan, 0)->noise_to_signal / 1.9,
              "four times the agents, half the noise beside the records");
    give_back(plan);
}

Test(plan_job, plans_the_other_trust_with_the_changes_it_needs)
{
    static const char *const jobs[] = {HEAD("local", "1") FIT LOSSES, HEAD("local", "1") SELECT,
                                       HEAD("local", "1") QUERY};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct job_source source;
        struct why why = {""};
        struct job_plan *other = malloc(sizeof *other);
        struct job_plan *plan = plan_of(&source, jobs[i]);
        cr_assert(other != NULL &&
                      job_plan_under(other, &source, plan, TRUST_CENTRAL, &why) == STATUS_OK,
                  "%s", why.text);
        cr_assert(other->job.trust == TRUST_CENTRAL && plan->job.trust == TRUST_LOCAL);
        cr_assert(job_plan_noise_to_signal(other) < job_plan_noise_to_signal(plan),
                  "one noise for all is less");
        give_back(other);
        give_back(plan);
    }
}

Test(plan_job, refuses_what_it_cannot_know)
{
    static const char text[] =
        "hedgerow: 1\njob: toy\ndata:\n"
        "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n    - {column: u, centre: 50, half_width: 10}\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
        "cohort: {minimum: 3, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: fit, loss: logistic, lambdas: [0.01], share: 1}\n";
    struct job_source source = {.text = {text, strlen(text)}, .name = "toy"};
    struct job_plan *plan = malloc(sizeof *plan);
    struct why why = {""};
    cr_assert(plan != NULL);
    cr_assert(job_plan_make(plan, &source, NULL, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "write cohort.records, or give --records N") != NULL, "%s",
              why.text);
    source.size.records = 500;
    cr_assert(job_plan_make(plan, &source, NULL, &why) == STATUS_OK);
    cr_assert_eq(plan->size.records, 500);
    job_plan_free(plan);
    source.text.size /= 2;
    cr_assert(job_plan_make(plan, &source, NULL, &why) == STATUS_INVALID);
    job_plan_free(plan);
    free(plan);
}

#define QUESTIONS                                                                                  \
    "  - {task: query, by_site: true, batch: 500, share: 1, queries: [\"count: u >= 60\", "        \
    "\"mean: u\", \"table1: [u] by y\", \"correlate: [u, y]\", "                                   \
    "\"regress: y ~ u\", \"evaluate: u for y\", \"survival: time u event y, to 60\"]}\n"

/* Pages know a width to expect by its words, plans by the line: both say the same of each. */
Test(plan_job, says_about_where_a_result_does)
{
    static const char *const texts[] = {HEAD("local", "8") FIT LOSSES,
                                        HEAD("local", "8") QUESTIONS};
    size_t expected = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct job_source source;
        struct job_plan *plan = plan_of(&source, texts[i]);
        for (size_t j = 0; j < plan->job.stage_count; j++) {
            const struct terms *terms = &plan->stage[j];
            for (size_t k = 0; k < terms->line_count; k++) {
                const struct terms_line *line = &terms->line[k];
                cr_expect(line->is_expected == result_what_is_expected(line->what), "%s",
                          line->what);
                expected += line->is_expected ? 1 : 0;
            }
        }
        give_back(plan);
    }
    cr_expect(expected > 40, "%zu", expected);
}
