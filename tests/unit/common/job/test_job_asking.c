/* Invalid stages that ask, choose, descend or stream: contradictions, keys without effect, and
 * answers that would be charged twice. Each is refused with place, key and remedy before anything
 * is spent. */

#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const frame =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {%s}\n"
    "  features:\n"
    "    - {column: age, centre: 74, half_width: 24}\n"
    "    - {column: sex, categories: [F, M]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 1}\n"
    "cohort: {minimum: 3, records: 500, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - %s\n";
static const char *const classes = "column: y, positive: \"1\", negative: \"0\"";
static const char *const number = "column: y, centre: 0, half_width: 1";

static enum status parse(struct why *why, const char *label, const char *trust, const char *stage)
{
    struct job job;
    char text[8192];
    (void)snprintf(text, sizeof text, frame, label, trust, stage);
    const enum status status = job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", why);
    if (status != STATUS_OK) {
        cr_expect(job.stage == NULL && job.schema.column == NULL, "a refused job is zeroed");
    }
    job_free(&job);
    return status;
}

static void refused(const char *stage, const char *message)
{
    struct why why = {{0}};
    cr_expect_eq(parse(&why, classes, "local", stage), STATUS_INVALID, "%s", stage);
    cr_expect_str_eq(why.text, message, "%s gave: %s", stage, why.text);
}

static void refused_of_number(const char *stage, const char *message)
{
    struct why why = {{0}};
    cr_expect_eq(parse(&why, number, "local", stage), STATUS_INVALID, "%s", stage);
    cr_expect_str_eq(why.text, message, "%s gave: %s", stage, why.text);
}

static void taken(const char *trust, const char *stage)
{
    struct why why = {{0}};
    cr_expect_eq(parse(&why, classes, trust, stage), STATUS_OK, "%s gave: %s", stage, why.text);
}

#define QUERY  "{task: query, batch: 100, share: 1, grid_bits: 10, "
#define SELECT "{task: select, batch: 100, share: 1, "
#define UPDATE "{task: update, batch: 100, share: 1, loss: logistic, rounds: 4, clip: 1, rate: 1"
#define ONLINE "{task: online, rounds: 2, share: 1, grid_bits: 32, "

Test(job_asking, questions)
{
    taken("local", QUERY "queries: [\"count: age >= 65\", \"count: age >= 66\"]}");
    taken("central", QUERY "conjunction: {positive: \"y == 1\", features: [\"age >= 65\"]}}");
    refused(QUERY "queries: [\"count: age >= 65\", \"count: age >= 65\"]}",
            "job.yml:11:86: stages[0].queries[1]: is there twice, and would be paid twice: "
            "remove one");
    refused(QUERY "queries: [\"count: age => 65\"]}",
            "job.yml:11:65: stages[0].queries: question 1: character 12, \"=\": equality is "
            "written ==");
    refused(QUERY "queries: []}",
            "job.yml:11:65: stages[0].queries: is an empty list: write it like [\"count: age >= "
            "65\", \"mean: age\"]");
    refused(QUERY "queries: \"count: age >= 65\"}",
            "job.yml:11:65: stages[0].queries: is a single value, not a list: write it like "
            "[\"count: age >= 65\", \"mean: age\"]");
    refused("{task: query, batch: 100, share: 1, grid_bits: 10}",
            "job.yml:11:5: stages[0].queries: is missing: add it, for example `queries: [\"count: "
            "age >= 65\"]`");
    refused("{task: query, batch: 100, share: 1, grid_bits: 25, queries: [\"mean: age\"]}",
            "job.yml:11:52: stages[0].grid_bits: is out of a query's range: write a number from 1 "
            "to 24");
    refused(QUERY "rounds: 3, queries: [\"mean: age\"]}",
            "job.yml:11:64: stages[0].rounds: is for a losses, online or update stage (others have "
            "as many as they need): remove it");
    refused(QUERY "conjunction: {positive: \"y == 1\"}}",
            "job.yml:11:69: stages[0].conjunction: lacks positive or features: write `{positive: "
            "\"death == 1\", features: [\"age >= 65\"]}`");
    refused(QUERY "conjunction: {positive: \"y == 1\", features: []}}",
            "job.yml:11:100: stages[0].conjunction.features: is an empty list: write it like "
            "[\"age >= 65\", \"sex == M\"]");
    refused(QUERY "conjunction: {positive: \"y == 1\", features: [\"age > 1\", \"age > 1\"]}}",
            "job.yml:11:112: stages[0].conjunction.features[1]: is there twice, and would be paid "
            "twice: remove one");
    refused(
        QUERY "conjunction: {positive: \"y == 1\", features: [\"age > 1) or (age > 2\"]}}",
        "job.yml:11:101: stages[0].conjunction.features[0]: character 8, \")\": and, or, or the "
        "end is expected here");
    refused(QUERY "conjunction: {positive: \"y = 1\", features: [\"age > 1\"]}}",
            "job.yml:11:80: stages[0].conjunction.positive: character 3, \"=\": equality is "
            "written ==");
}

Test(job_asking, answers_by_site)
{
    taken("local", QUERY "by_site: true, queries: [\"count: age >= 65\", \"histogram: sex\"]}");
    taken("central", QUERY "by_site: false, queries: [\"count: age >= 65\"]}");
    refused(
        QUERY "by_site: true, queries: [\"quantile: 0.5 of age\", \"mean: age\"]}",
        "job.yml:11:65: stages[0].by_site: is not for quantiles, which ask in several rounds: move "
        "them to a stage of their own, or ask a table1, which gives medians by site");
    refused(QUERY "by_site: true, queries: [\"histogram: sex\", \"mean: age where sex == F\"]}",
            "job.yml:11:65: stages[0].by_site: needs a question that is answered by site: a count, "
            "a mean without where, a crosstab of two columns of two categories, a survival, a "
            "regress or a table1");
    refused(QUERY "by_site: true, conjunction: {positive: \"y == 1\", features: [\"age > 1\"]}}",
            "job.yml:11:65: stages[0].by_site: is not for a conjunction: move it to a stage of its "
            "own");
}

/* The coordinator keeps every cell of every site: as many as the job's reader lets through. */
Test(job_asking, answers_by_site_are_bounded)
{
    char many[1024];
    struct job job;
    struct why why = {{0}};
    for (int minimum = 256; minimum <= 257; minimum++) {
        char cohort[32];
        (void)snprintf(many, sizeof many, frame, classes, "local",
                       QUERY "by_site: true, queries: [\"mean: age\"]}");
        (void)snprintf(cohort, sizeof cohort, "minimum: %d", minimum);
        char *at = strstr(many, "minimum: 3");
        memmove(at + strlen(cohort), at + strlen("minimum: 3"),
                strlen(at + strlen("minimum: 3")) + 1);
        memcpy(at, cohort, strlen(cohort));
        const enum status status =
            job_parse(&job, (struct slice){many, strlen(many)}, "job.yml", &why);
        cr_expect_eq(status, minimum == 256 ? STATUS_OK : STATUS_INVALID, "%s", why.text);
        job_free(&job);
    }
    cr_expect_str_eq(why.text,
                     "job.yml:11:65: stages[0].by_site: compares 256 sites at most: lower "
                     "cohort.minimum, or leave it out");
    char stage[7000];
    int used = snprintf(stage, sizeof stage, QUERY "by_site: true, queries: [\"mean: age\"");
    for (int i = 0; i < 64; i++) {
        used += snprintf(stage + used, sizeof stage - (size_t)used, ", \"count: age >= %d\"", i);
    }
    (void)snprintf(stage + used, sizeof stage - (size_t)used, "]}");
    refused(stage,
            "job.yml:11:65: stages[0].by_site: has 64 effects at most: remove some questions or "
            "columns");
    used = snprintf(stage, sizeof stage, QUERY "by_site: true, queries: [\"mean: age\"");
    for (int i = 0; i < 43; i++) {
        used += snprintf(stage + used, sizeof stage - (size_t)used,
                         ", \"histogram: age by 0.5 where age > %d\"", i);
    }
    (void)snprintf(stage + used, sizeof stage - (size_t)used, "]}");
    refused(stage, "job.yml:11:65: stages[0].by_site: keeps every cell of every site, 4096 cells "
                   "at most: move the questions of many cells to a stage of their own");
}

Test(job_asking, choices)
{
    taken("local", SELECT "candidates: {stumps: [age, sex], thresholds: 20}}");
    taken("central", SELECT "candidates: {stumps: [sex], predicates: [\"age >= 60\"]}}");
    refused(SELECT "candidates: {stumps: [age]}, grid_bits: 16}",
            "job.yml:11:82: stages[0].grid_bits: is not read where candidates' errors are counted: "
            "remove it");
    refused(SELECT "candidates: {stumps: [sex], thresholds: 20}}",
            "job.yml:11:82: stages[0].candidates.thresholds: is for stumps of numbers, and there "
            "are none: remove it");
    refused(SELECT "candidates: {predicates: [\"age >= 60\"], thresholds: 20}}",
            "job.yml:11:94: stages[0].candidates.thresholds: is for stumps of numbers, and there "
            "are none: remove it");
    refused(SELECT "candidates: {predicates: [\"age >= 60\", \"age >= 60\"]}}",
            "job.yml:11:54: stages[0].candidates: age >= 60: it is there twice, and would be paid "
            "twice: remove one");
    refused(SELECT "candidates: {stumps: [age, age]}}",
            "job.yml:11:54: stages[0].candidates: age: the column is there twice: remove one");
    refused(SELECT "candidates: {stumps: [ages]}}",
            "job.yml:11:54: stages[0].candidates: ages: data.features has no such column; "
            "did you mean \"age\"?");
    refused(SELECT "candidates: {stumps: [height]}}",
            "job.yml:11:54: stages[0].candidates: height: data.features has no such column: "
            "write the name of one");
    refused(SELECT "candidates: {}}",
            "job.yml:11:54: stages[0].candidates: are none, or too many: write 1 to 256 stumps or "
            "predicates, and at most 1000 thresholds");
    refused(
        SELECT "candidates: {stumps: []}}",
        "job.yml:11:63: stages[0].candidates.stumps: is an empty list: write it like [age, kappa]");
    refused(SELECT "strategy: exponential, candidates: {stumps: [age]}}",
            "job.yml:11:52: stages[0].strategy: draws from exact scores, which needs trust "
            "central: write noisy_min");
    refused(SELECT "candidates: {stumps: [age]}, loss: zero_one}",
            "job.yml:11:54: stages[0].candidates: and loss exclude each other, and one must be "
            "there: write `candidates: {stumps: [age]}` to select among those, or `loss: zero_one` "
            "to select among the experts so far");
    refused("{task: select, batch: 100, share: 1}",
            "job.yml:11:5: stages[0].candidates: and loss exclude each other, and one must be "
            "there: write `candidates: {stumps: [age]}` to select among those, or `loss: zero_one` "
            "to select among the experts so far");
    refused(SELECT "loss: zero_one}",
            "job.yml:11:48: stages[0].loss: judges experts, and there are none: put a stage that "
            "makes some before this one");
    refused_of_number(
        SELECT "candidates: {stumps: [age]}}",
        "job.yml:11:54: stages[0].candidates: predict a label of two classes, and the label is "
        "another: write query or fit in place of select");
}

Test(job_asking, gradients)
{
    taken("local", UPDATE ", batches: 4}");
    taken("local", UPDATE ", strategy: momentum, momentum: 0.5}");
    refused(UPDATE ", momentum: 0.5}",
            "job.yml:11:97: stages[0].momentum: is not read by the strategy average: remove it, or "
            "write strategy: momentum");
    refused(UPDATE ", strategy: average, momentum: 0.5}",
            "job.yml:11:116: stages[0].momentum: is not read by the strategy average: remove it, "
            "or write strategy: momentum");
    refused(UPDATE ", batches: 5}",
            "job.yml:11:96: stages[0].batches: makes parts that no round looks at: write as many "
            "as there are rounds, or fewer");
    refused(
        UPDATE ", batches: 2, sampling: 0.5}",
        "job.yml:11:109: stages[0].sampling: draws each round's records from all, and `batches` "
        "splits them: remove one of the two");
    refused(UPDATE ", clip_all: 0.5}",
            "job.yml:11:97: stages[0].clip_all: clips an agent's whole vector, for unit round or "
            "agent: remove it");
    taken("local", UPDATE ", experts: {shifts: [-0.5, 0.25]}}");
    taken("central", UPDATE ", experts: {shifts: [0.5]}}");
    refused(UPDATE ", experts: {own: true}}",
            "job.yml:11:102: stages[0].experts.own: is for a fit or predict stage, whose agents "
            "learn alone: remove it");
    refused(UPDATE ", experts: {shifts: [0.5, 0.5]}}",
            "job.yml:11:105: stages[0].experts.shifts: holds one shift twice: remove it");
    refused(UPDATE ", noise: gaussian}",
            "job.yml:11:94: stages[0].noise: gaussian needs a privacy.delta above 0: add one, or "
            "write laplace");
    refused("{task: update, batch: 100, share: 1, loss: linear, rounds: 4, clip: 1, rate: 1}",
            "job.yml:11:48: stages[0].loss: judges experts, and none can be learned by it: write "
            "logistic or hinge");
    refused("{task: update, batch: 100, share: 1, loss: logistic, rounds: 4, clip: 1e-9, rate: 1}",
            "job.yml:11:75: stages[0].clip: a grid of 2^-20 and a clip of 0 steps: at most 52 "
            "bits, and a clip of at least one step");
    refused("{task: update, batch: {of: 100}, share: 1, loss: logistic, rounds: 4, clip: "
            "1, rate: 1}",
            "job.yml:11:27: stages[0].batch: is a table, not a single value: write it like "
            "100");
    refused_of_number(
        "{task: update, batch: 9, share: 1, loss: linear, rounds: 4, clip: 1, rate: 1}",
        "job.yml:11:46: stages[0].loss: judges experts, and none can be learned by it: "
        "write squared or huber");
}

Test(job_asking, streams_and_forecasters)
{
    taken("local", ONLINE "t0: 50}");
    refused(ONLINE "t0: 50, theta: 0.5}",
            "job.yml:11:71: stages[0].theta: theta must lie above 1/2 and below 1: outside, no "
            "bound is known on what one record can move");
    refused(ONLINE "t0: 1}",
            "job.yml:11:60: stages[0].t0: t0 = 1 is too small, or above 2^52: t0^theta must be at "
            "least kappa^2 + 1, so take t0 = 3 or more");
    refused(ONLINE "t0: 50, batch: 5}",
            "job.yml:11:71: stages[0].batch: is for tasks that read one batch a round: remove it");
    refused("{task: online, rounds: 50, share: 1, grid_bits: 32, t0: 50}",
            "job.yml:11:28: stages[0].rounds: puts the last release behind 1000000000 records, as "
            "each waits for twice as many as the one before: lower it, or t0");
    refused("{task: losses, loss: zero_one, rounds: 2, batch: 5, share: 1, forecasters: [{name: a, "
            "features: [age, age]}]}",
            "job.yml:11:80: stages[0].forecasters: names one feature twice: add the weights up");
    refused("{task: losses, loss: zero_one, rounds: 2, batch: 5, share: 1, forecasters: [{name: a, "
            "features: [sex]}]}",
            "job.yml:11:80: stages[0].forecasters: names something that is no feature by itself: "
            "write a number's column or a lag, for example lag_7");
}
