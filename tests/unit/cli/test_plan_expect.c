/* What plan job says of a learn stage: what it looks at, and what half a point takes. */

#include "cli/plan_job.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 30

static const char classes[] = "{column: y, positive: \"1\", negative: \"0\"}";
static const char number[] = "{column: y, centre: 0, half_width: 1}";

static struct job_plan *plan_of(struct job_source *source, const char *label, size_t columns,
                                const char *epsilon)
{
    static char text[8192];
    struct job_plan *plan = malloc(sizeof *plan);
    struct why why = {""};
    int used = snprintf(text, sizeof text,
                        "hedgerow: 1\njob: toy\ndata:\n  label: %s\n  features:\n", label);
    cr_assert(plan != NULL && columns <= COLUMNS_MAX);
    for (size_t i = 0; i < columns; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "    - {column: c%zu, centre: 0, half_width: 1}\n", i);
    }
    (void)snprintf(text + used, sizeof text - (size_t)used,
                   "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: %s, "
                   "delta: 0}\ncohort: {minimum: 3, records: 10000, join_deadline_s: 1, "
                   "deadline_s: 1}\nstages:\n  - {task: learn}\n",
                   epsilon);
    *source = (struct job_source){.text = {text, strlen(text)}, .name = "toy"};
    cr_assert(job_plan_make(plan, source, NULL, &why) == STATUS_OK, "%s", why.text);
    return plan;
}

static void give_back(struct job_plan *plan)
{
    job_plan_free(plan);
    free(plan);
}

/* The label of a number is a column like the others to the arithmetic, and to nobody else. */
Test(plan_expect, counts_the_label_of_a_number_by_itself)
{
    static const char *const says[] = {"the sums of 2 columns and the label",
                                       "the sums of products of 2 columns and the label"};
    struct job_source source;
    struct job_plan *plan = plan_of(&source, number, 2, "8");
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        bool said = false;
        for (size_t j = 0; j < plan->stage[0].line_count; j++) {
            said = said || strcmp(plan->stage[0].line[j].what, says[i]) == 0;
        }
        cr_expect(said, "%s", says[i]);
    }
    give_back(plan);
}

static double floor_of(size_t columns)
{
    struct job_source source;
    struct job_plan *plan = plan_of(&source, classes, columns, "0.005");
    struct job_expected *expected = malloc(sizeof *expected);
    cr_assert_not_null(expected);
    cr_assert_eq(job_expect(expected, &source, plan, 0), STATUS_OK);
    cr_assert(expected->enough.known && expected->enough.has_floor);
    const double floor = expected->enough.floor;
    free(expected);
    give_back(plan);
    return floor;
}

/* With many correlated columns the learner loses some accuracy even without noise. The plan must not blame the job's
 * size. */
Test(plan_expect, knows_what_the_learner_itself_loses)
{
    const double of_one = floor_of(1);
    const double of_many = floor_of(COLUMNS_MAX);
    cr_expect(of_one < JOB_ENOUGH && of_one > -JOB_ENOUGH, "%g", of_one);
    cr_expect(of_many > of_one + 0.001, "%g, %g", of_many, of_one);
}

/* Prints into text (size). */
static void print(char *text, size_t size, const struct job_expected *expected)
{
    FILE *terminal = stdout;
    FILE *out = fmemopen(text, size, "w");
    cr_assert_not_null(out);
    stdout = out;
    job_expected_print(expected);
    stdout = terminal;
    (void)fclose(out);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at; /* lines are wrapped */
    }
}

Test(plan_expect, says_what_half_a_point_takes_and_blames_the_size_for_no_more)
{
    static const struct {
        struct job_enough enough;
        const char *says;
        const char *not_said;
    } way[] = {
        {{true, false, 0, {100, 100}, {5, 5}}, "As it is, this job loses at most half", "roughly"},
        {{true, true, 0.001, {4000, 4000}, {0, 256}},
         "with roughly 4000 records of each agent (set cohort.records to the same number); not even "
         "with 256 agents (set cohort.minimum to the same number)",
         "itself"},
        {{true, true, 0.001, {0, 9000}, {0, 256}}, "not even with 9000 records", "itself"},
        {{true, true, 0.008, {0, 9000}, {0, 256}},
         "This learner itself loses about 0.8 points on half of the tables",
         "not even"},
        {{true, true, 0.008, {4000, 4000}, {0, 256}}, "roughly 4000 records", "itself"},
        {{false, false, 0, {0, 0}, {0, 0}}, "Compare the column 'points lost'", "half"},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        char text[4096];
        struct job_expected expected = {
            .size = {.records = 100}, .enough = way[i].enough, .count = 1};
        expected.row[0] = (struct job_expected_row){.trust = "local", .is_own = true};
        print(text, sizeof text, &expected);
        cr_expect(strstr(text, way[i].says) != NULL, "%zu: %s", i, text);
        cr_expect(strstr(text, way[i].not_said) == NULL, "%zu: %s", i, text);
    }
}

/* Made-up labels are of linear models: of the rows that try products it is said, and of no other. */
Test(plan_expect, marks_plans_that_try_products_of_columns)
{
    struct job_source source;
    struct job_plan *plan = plan_of(&source, classes, 5, "0.3");
    struct job_expected *expected = calloc(1, sizeof *expected);
    char text[4096];
    cr_assert_not_null(expected);
    cr_assert(job_expect(expected, &source, plan, 0) == STATUS_OK);
    for (size_t i = 0; i < expected->count; i++) {
        const bool rich = expected->row[i].epsilon_micro == 10000000;
        const bool poor = expected->row[i].epsilon_micro == 100000;
        cr_expect(!rich || expected->row[i].tries_products);
        cr_expect(!poor || !expected->row[i].tries_products);
    }
    print(text, sizeof text, expected);
    cr_expect_not_null(strstr(text, "* This plan also tries products of columns"), "%s", text);
    for (size_t i = 0; i < expected->count; i++) {
        expected->row[i].tries_products = false;
    }
    print(text, sizeof text, expected);
    cr_expect_null(strstr(text, "*"), "%s", text);
    free(expected);
    give_back(plan);
}

/* A row of a rehearsal of four tables. */
static struct job_expected_row row_of(const char *trust, uint64_t micro, double lost)
{
    return (struct job_expected_row){
        .trust = trust,
        .epsilon_micro = micro,
        .is_own = micro == 1000000,
        .answer = {.tables = 4, .lost = {.mean = lost, .error = 0.021}}};
}

Test(plan_expect, says_where_more_epsilon_loses_more_and_how_sure_a_mean_is)
{
    char text[4096];
    struct job_expected expected = {.count = 4};
    expected.row[0] = row_of("local", 300000, 0.036);
    expected.row[1] = row_of("central", 300000, 0.043);
    expected.row[2] = row_of("local", 1000000, 0.070);
    expected.row[3] = row_of("central", 1000000, 0.047);
    expected.row[3].is_own = false;
    print(text, sizeof text, &expected);
    cr_expect(strstr(text, "Under trust local these tables lose more at epsilon 1 than at 0.3.") !=
                  NULL,
              "%s", text);
    cr_expect(strstr(text,
                     "This job's 7.0 points lost are a mean over 4 tables: other tables would "
                     "move it by 2.1") != NULL,
              "%s", text);
    /* Less than half a point, as between the rows of central, is nothing; nor is another trust's row. */
    expected.row[2].answer.lost.mean = 0.037;
    expected.row[0].answer.lost.mean = 0.050;
    print(text, sizeof text, &expected);
    cr_expect(strstr(text, "these tables lose more") == NULL, "%s", text);
}

static const char several[] = "{column: y, classes: [a, b, c]}";

/* The same epsilons under all trusts, the job's own first; and more noise under distributed than under central, as all sites
 * add a share and fewer shares would be enough. */
Test(plan_expect, has_a_curve_for_each_trust_and_every_kind_of_label)
{
    static const char *const labels[] = {classes, several, number};
    static const char *const measures[] = {"accuracy", "accuracy", "root_mean_square"};
    for (size_t l = 0; l < 3; l++) {
        struct job_source source;
        struct job_plan *plan = plan_of(&source, labels[l], 3, "1");
        struct job_expected *expected = calloc(1, sizeof *expected);
        size_t rows[TRUST_COUNT] = {0};
        cr_assert_not_null(expected);
        cr_assert(job_expect(expected, &source, plan, 0) == STATUS_OK);
        cr_assert(expected->count == JOB_EXPECTED_MAX - TRUST_COUNT, "%zu rows", expected->count);
        for (size_t i = 0; i < expected->count; i++) {
            const struct job_expected_row *row = &expected->row[i];
            for (unsigned trust = 0; trust < TRUST_COUNT; trust++) {
                rows[trust] += strcmp(row->trust, job_trust_name(trust)) == 0;
            }
            cr_expect(row->is_own ==
                      (row->epsilon_micro == 1000000 && strcmp(row->trust, "central") == 0));
            cr_expect(row->answer.reached.low <= row->answer.reached.mean &&
                      row->answer.reached.mean <= row->answer.reached.high);
        }
        for (unsigned trust = 0; trust < TRUST_COUNT; trust++) {
            cr_expect(rows[trust] == 5, "%s: %zu", job_trust_name(trust), rows[trust]);
        }
        cr_expect_str_eq(job_expected_measure(expected), measures[l]);
        cr_expect(expected->enough.known);
        json_t *object = job_expected_json(expected);
        const json_t *first = json_array_get(json_object_get(object, "plans"), 0);
        cr_expect_not_null(json_object_get(first, measures[l]));
        cr_expect((json_object_get(first, "explained") != NULL) == (l == 2));
        cr_expect((json_object_get(object, "range") != NULL) == (l == 2));
        json_decref(object);
        free(expected);
        give_back(plan);
    }
}

Test(plan_expect, tells_a_number_in_its_own_unit)
{
    char text[4096];
    struct job_expected expected = {.count = 1, .kind = LABEL_NUMBER, .label = "kappa", .range = 4};
    expected.row[0] = row_of("local", 1000000, 0.02);
    expected.row[0].answer.inside = 0.9;
    expected.row[0].answer.reached.mean = 0.134;
    expected.row[0].answer.explained =
        (struct rehearsal_figure){.low = 0.1, .high = 0.9, .median = 0.4};
    expected.row[0].answer.free_explained.median = 0.55;
    print(text, sizeof text, &expected);
    cr_expect_not_null(
        strstr(text, "of the width of the range of kappa, which is 4: a point is 0.04."), "%s",
        text);
    cr_expect_not_null(strstr(text, "13.4 ("), "%s", text);
    cr_expect_not_null(strstr(text,
                              "explains 40 % of the label's variance or more (90 %: 10 to 90), "
                              "and without privacy 55 %"),
                       "%s", text);
    cr_expect_null(strstr(text, "accuracy"), "%s", text);
    expected.is_pinball = true;
    expected.row[0].answer.explained.median = NAN;
    print(text, sizeof text, &expected);
    cr_expect_not_null(strstr(text, "mean pinball loss"), "%s", text);
    cr_expect_null(strstr(text, "explains"), "%s", text);
}

/* Bands of several classes are wider, and it is said. */
Test(plan_expect, says_how_much_a_band_holds)
{
    char text[4096];
    struct job_expected expected = {.count = 1, .kind = LABEL_CLASSES};
    expected.row[0] = row_of("local", 1000000, 0.02);
    expected.row[0].answer.inside = 0.96;
    print(text, sizeof text, &expected);
    cr_expect_not_null(strstr(text, "what 96 % lie between"), "%s", text);
}
