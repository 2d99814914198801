/* The models that a query stage judges: from a job's text, and the whole message where they may not be. A written model puts each
 * record where its prediction by the same model's file would. */

#include "base/even.h"
#include "job/job.h"
#include "job/round.h"
#include "learn/model.h"
#include "task/query/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 400, BITS = 4 };

#define RISK "models: [{name: risk, constant: -0.5, columns: [{column: age, weights: [2.5]}]}]"

static enum status parse(struct job *job, struct why *why, const char *data, const char *stages)
{
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: trial\ndata:\n%s"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                   "cohort: {minimum: 3, records: 500, deadline_s: 30}\nstages:\n%s\n",
                   data, stages);
    return job_parse(job, (struct slice){text, strlen(text)}, "job.yml", why);
}

static const char *const plain = "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                                 "  features:\n"
                                 "    - {column: age, centre: 74, half_width: 24, missing: 60}\n"
                                 "    - {column: region, categories: [a, b, c], missing_indicator: "
                                 "true}\n"
                                 "    - {column: sex, categories: [F, M]}\n";

/* message: a part of it */
static void refuses(const char *data, const char *stages, const char *message)
{
    struct job job;
    struct why why = {{0}};
    cr_expect_eq(parse(&job, &why, data, stages), STATUS_INVALID, "%s", stages);
    cr_expect(strstr(why.text, message) != NULL, "%s\n%s", message, why.text);
}

#define ASK(model, rest)                                                                           \
    "  - {task: query, queries: [\"evaluate: risk for y\"" rest "], batch: 500, share: 1, " model  \
    "}"

Test(job_models, are_refused_with_the_place_and_the_remedy)
{
    refuses(plain, ASK("models: [{name: risk}]", ""),
            "stages[0].models[0]: lacks columns: write `columns: [{column: age, weights: [1.9]}]`");
    refuses(plain, ASK("models: [{name: risk, columns: [{column: height, weights: [1]}]}]", ""),
            "needs the column height, which data.features does not declare: add it there");
    refuses(plain,
            ASK("models: [{name: risk, columns: [{column: region, weights: [1, 2, 3]}]}]", ""),
            "has 3 weights for the column region, which has 4 features: write as many");
    refuses(plain, ASK("models: [{name: age, columns: [{column: age, weights: [1]}]}]", ""),
            "has the name of a column");
    refuses(plain, ASK("models: [{name: risk, columns: [{column: y, weights: [1]}]}]", ""),
            "needs the column y, which data.features does not declare");
    refuses(plain, ASK("models: [{name: risk, chosen: true}]", ""),
            "is to be chosen, but no stage before this one makes a model");
    refuses(
        plain,
        ASK("models: [{name: risk, columns: [{column: age, weights: [1]}, {column: age, weights: "
            "[2]}]}]",
            ""),
        "has one column twice");
    refuses(
        plain,
        ASK("models: [{name: risk, columns: [{column: age, weights: [1]}]}, {name: risk, columns: "
            "[{column: age, weights: [1]}]}]",
            ""),
        "stages[0].models[1]: has the name of another");
    refuses(
        plain,
        ASK("models: [{name: risk, columns: [{column: age, weights: [1]}]}, {name: two, columns: "
            "[{column: age, weights: [1]}]}]",
            ""),
        "stages[0].models[1]: is used by no question");
    refuses(plain, ASK("models: [{name: other, columns: [{column: age, weights: [1]}]}]", ""),
            "character 11, \"risk\": no column of that name");
    refuses(plain, ASK("models: [{name: risk, columns: [{column: age, weights: [1e7]}]}]", ""),
            "weights");
    refuses(
        "  label: {column: y, positive: \"1\"}\n  features: [{column: age, centre: 74, half_width: "
        "24}]\n  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 8, seed: 1}\n",
        "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.5}\n"
        "  - {task: query, queries: [\"evaluate: risk for y\"], batch: 500, share: 0.5, " RISK "}",
        "which data.map or data.series replaces");
    refuses("  label: {column: y, classes: [a, b, c]}\n  features: [{column: age, centre: 74, "
            "half_width: 24}]\n",
            "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.5}\n"
            "  - {task: query, queries: [\"evaluate: own for age > 70\"], batch: 500, share: 0.5,\n"
            "     models: [{name: own, chosen: true}]}",
            "is one of several classes");
    refuses(
        plain,
        "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.5}\n"
        "  - {task: query, queries: [\"evaluate: own for y\", \"quantile: 0.5 of age\"], batch: 500,\n"
        "     share: 0.5, models: [{name: own, chosen: true}]}",
        "goes with a stage of one round");
    refuses(plain, "  - {task: query, queries: [\"mean: risk\"], batch: 500, share: 1, " RISK "}",
            "no column of that name");
}

Test(job_models, chosen_goes_with_the_round)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(
        parse(&job, &why, plain,
              "  - {task: fit, loss: logistic, lambdas: [0.1], share: 0.5}\n"
              "  - {task: query, queries: [\"evaluate: own for y\"], batch: 500, share: 0.5,\n"
              "     models: [{name: own, chosen: true}]}"),
        STATUS_OK, "%s", why.text);
    cr_expect_eq(round_input(&job.stage[1], 0), INPUT_STATE);
    cr_expect_eq(round_state_count(&job.stage[1]), round_width(&job));
    job_free(&job);
    cr_assert_eq(parse(&job, &why, plain, ASK(RISK, "")), STATUS_OK, "%s", why.text);
    cr_expect_eq(round_input(&job.stage[0], 0), INPUT_NONE);
    cr_expect_eq(query_set_sensitivity_l1(round_queries(job.stage), 0), 2u << 20);
    job_free(&job);
}

/* Ages beyond the range and missing, regions missing and unlisted. */
static void write_table(char *text, size_t bytes)
{
    static const char *const region[] = {"a", "b", "c", "", "elsewhere"};
    size_t used = (size_t)snprintf(text, bytes, "y,age,region,sex\n");
    for (int i = 0; i < RECORDS; i++) {
        char age[32] = "";
        if (i % 17 != 0) {
            (void)snprintf(age, sizeof age, "%.2f", 40 + 0.17 * i);
        }
        used += (size_t)snprintf(text + used, bytes - used, "%d,%s,%s,%c\n", i % 3 == 0, age,
                                 region[i % 5], i % 2 == 0 ? 'F' : 'M');
        cr_assert(used < bytes);
    }
}

/* Weights of a file, and the same in a job's text: over features of -1 to 1. */
static void same_as_predicted(bool is_number)
{
    static char table[RECORDS * 32];
    static const double weight[] = {2.5, 0.75,   -1.25,  0.5,
                                    3,   -0.375, -0.4871}; /* the last: constant */
    static double predicted[RECORDS];
    const char *label = is_number ? "  label: {column: y, centre: 1, half_width: 4}\n"
                                  : "  label: {column: y, positive: \"1\", negative: \"0\"}\n";
    char data[1024];
    char stages[1024];
    struct job job;
    struct why why = {{0}};
    struct dataset rows;
    (void)snprintf(data, sizeof data, "%s%s", label, strchr(plain, '\n') + 1);
    (void)snprintf(
        stages, sizeof stages,
        "  - {task: query, queries: [\"evaluate: risk for sex in 16 levels\"], batch: 400,\n"
        "     share: 1, grid_bits: %d, models: [{name: risk, constant: -0.4871, %s columns:\n"
        "     [{column: sex, weights: [-0.375]}, {column: region, weights: [0.75, -1.25, 0.5, 3]},\n"
        "      {column: age, weights: [2.5]}]}]}",
        BITS, is_number ? "centre: 1, half_width: 4," : "");
    cr_assert_eq(parse(&job, &why, data, stages), STATUS_OK, "%s", why.text);
    write_table(table, sizeof table);
    cr_assert_eq(dataset_parse(&rows, (struct slice){table, strlen(table)}, "table", &job.schema,
                               &(struct dataset_options){.use = DATASET_LEARN}, &why),
                 STATUS_OK, "%s", why.text);
    double wide[7];
    for (size_t i = 0; i < 7; i++) {
        wide[i] = weight[i] / schema_scale(7);
    }
    const struct model model = {.schema = job.schema, .weight = wide, .weight_count = 7};
    model_predict(predicted, &model, &rows);

    const struct query *query = &round_queries(job.stage)->query[0];
    const double low = is_number ? -3 : 0;
    const double width = (is_number ? 8 : 1) / 16.0;
    size_t seen[16] = {0};
    for (size_t i = 0; i < RECORDS; i++) {
        int64_t sum[2 * 16 + 2] = {0};
        const struct row row = {.cell = rows.raw + i * rows.column_count,
                                .column_count = rows.column_count,
                                .label = rows.raw_label[i],
                                .feature = rows.x + i * rows.feature_count,
                                .feature_count = rows.feature_count};
        query_add(sum, query, BITS, 0, &row);
        const size_t level = (size_t)fmin(fmax(floor((predicted[i] - low) / width), 0), 15);
        size_t at = 0;
        while (at < 32 && sum[at] == 0) {
            at++;
        }
        cr_expect(at % 16 == level, "%zu: %.17g in %zu, not in %zu", i, predicted[i], at, level);
        seen[level]++;
    }
    for (size_t k = 1; k < 15; k++) {
        cr_expect(is_number || seen[k] > 0, "level %zu is tried by no record", k);
    }
    dataset_free(&rows);
    job_free(&job);
}

Test(job_models, put_each_record_where_its_prediction_is)
{
    same_as_predicted(false);
    same_as_predicted(true);
}
