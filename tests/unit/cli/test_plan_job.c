/* Advice is kept: what is said to be enough is, and the least of its kind is not far below. Drowned
 * jobs are planted, one for each task, and a job that is not is left alone. */

#include "cli/plan_job.h"

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
    cr_assert(job_plan_burden(plan) < 1);
    cr_assert(plan->admitted);
    cr_assert_eq(plan->price.epsilon_micro, 8000000);
    cr_assert_eq(plan->size.agents, 3);
    cr_assert_eq(plan->size.records, 1000);
    give_back(plan);
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

static double burden_with(const struct job_source *source, size_t stage, const char *set,
                          struct terms_size size)
{
    struct job_changes changes = {.count = set != NULL, .size = size};
    struct job_plan *plan = malloc(sizeof *plan);
    struct why why = {""};
    if (set != NULL) {
        (void)snprintf(changes.set[0], PLAN_ADVICE_BYTES, "%s", set);
    }
    cr_assert(plan != NULL && job_plan_make(plan, source, &changes, &why) == STATUS_OK, "%s",
              why.text);
    const double burden = job_plan_worst(plan, stage)->burden;
    give_back(plan);
    return burden;
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
        cr_assert(job_plan_worst(plan, stage)->burden > 1, "job %zu is not drowned", i);
        const size_t count = job_advise(advice, &source, plan, stage);
        const struct job_advice *epsilon = find(advice, count, "privacy.epsilon: ");
        cr_assert(epsilon != NULL && epsilon->burden <= 1, "job %zu", i);
        const double value = strtod(epsilon->change + strlen("privacy.epsilon: "), NULL);
        char set[64];
        (void)snprintf(set, sizeof set, "privacy.epsilon=%.6g", value);
        const double burden = burden_with(&source, stage, set, (struct terms_size){0, 0});
        cr_assert_float_eq(burden, epsilon->burden, 1e-9, "job %zu: what was said is kept", i);
        (void)snprintf(set, sizeof set, "privacy.epsilon=%.6g", 0.8 * value);
        cr_assert(burden_with(&source, stage, set, (struct terms_size){0, 0}) > 1,
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
            cr_assert(advice[j].burden < job_plan_worst(plan, stage)->burden, "%s",
                      advice[j].change);
            cr_assert(advice[j].figure[0] != '\0' && advice[j].change[0] != '\0');
        }
        give_back(plan);
    }
}

Test(plan_job, advises_each_task_what_helps_it)
{
    struct job_source source;
    struct job_advice advice[PLAN_ADVICE_MAX];
    struct job_plan *plan = plan_of(&source, HEAD("local", "0.01") FIT LOSSES);
    size_t count = job_advise(advice, &source, plan, 0);
    cr_assert(find(advice, count, "lambdas: [") != NULL);
    cr_assert(find(advice, count, "trust: central") != NULL);
    cr_assert(strstr(find(advice, count, "privacy.epsilon")->figure, "weight") != NULL);
    count = job_advise(advice, &source, plan, 1);
    cr_assert(find(advice, count, "lambdas: [") == NULL);
    cr_assert(find(advice, count, "fewer experts") != NULL);
    const struct job_advice *batch = find(advice, count, "batch: ");
    cr_assert(batch != NULL && strstr(batch->change, "records of each agent") != NULL);
    cr_assert(strstr(find(advice, count, "privacy.epsilon")->figure, "loss") != NULL);
    give_back(plan);
    plan = plan_of(&source, HEAD("local", "0.5") QUERY);
    cr_assert(burden_with(&source, 0, NULL, (struct terms_size){12, 0}) <
                  job_plan_worst(plan, 0)->burden / 1.9,
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
        cr_assert(other != NULL && job_plan_other_trust(other, &source, plan, &why) == STATUS_OK,
                  "%s", why.text);
        cr_assert(other->job.trust == TRUST_CENTRAL && plan->job.trust == TRUST_LOCAL);
        cr_assert(job_plan_burden(other) < job_plan_burden(plan), "one noise for all is less");
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
    cr_assert(strstr(why.text, "--records") != NULL, "%s", why.text);
    source.size.records = 500;
    cr_assert(job_plan_make(plan, &source, NULL, &why) == STATUS_OK);
    cr_assert_eq(plan->size.records, 500);
    job_plan_free(plan);
    source.text.size /= 2;
    cr_assert(job_plan_make(plan, &source, NULL, &why) == STATUS_INVALID);
    job_plan_free(plan);
    free(plan);
}
