/* The question `regress`: its text, a record's cells, and its answers. */

#include "query/query_run.h"

#include "tests/support/seeded_random.h"
#include "toy_question.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { BITS = 8, ONE = 1 << BITS };

static int64_t sum[QUERY_CELLS_MAX];
static struct query_answer answer[16]; /* of the last question */

/* A figure's note has the words in it. */
static void expect_said(const struct query_answer *answer, const char *words)
{
    cr_expect(strstr(answer->note, words) != NULL, "\"%s\" in %s", words, answer->note);
}

static void add(const struct query *query, double age, double sex, double kappa, double label)
{
    const double cell[TOY_COLUMNS] = {age, sex, kappa, 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    int64_t all = 0;
    memset(sum, 0, sizeof sum);
    query_add(sum, query, BITS, 0, &row);
    for (size_t i = 0; i < QUERY_CELLS_MAX; i++) {
        cr_assert(sum[i] >= 0 && (sum[i] == 0 || i < query->cell_count));
        all += sum[i];
    }
    cr_assert(all == ONE, "a record adds one");
}

/* The one cell of a record whose outcome is no number. */
static size_t cell_of(const struct query *query, double age, double sex, double kappa, double label)
{
    size_t found = 0;
    add(query, age, sex, kappa, label);
    while (sum[found] == 0) {
        found++;
    }
    cr_assert(sum[found] == ONE, "a record is in one cell");
    return found;
}

/* Levels of the age are sixteen years wide, from 50 to 98; of log1p(kappa) 0.6 wide, from 0.15 to 1.95. */
Test(regress_question, puts_a_record_into_its_point)
{
    const struct query query = parsed("regress: death ~ age + sex + kappa in 3 levels");
    const size_t last = 3 * 2 * 3 * 2;
    cr_assert(query.cell_count == last + 1 && query.family == REGRESS_LOGISTIC);
    cr_expect(cell_of(&query, 50, 0, 0.5, -1) == 0);
    cr_expect(cell_of(&query, 50, 0, 0.5, 1) == 1);
    cr_expect(cell_of(&query, 20, 0, 0, -1) == 0, "below the range: the first");
    cr_expect(cell_of(&query, 50, 0, expm1(0.76), -1) == 2);
    cr_expect(cell_of(&query, 50, 1, 0.5, -1) == 6);
    cr_expect(cell_of(&query, 66, 0, 0.5, -1) == 12, "at an edge: above it");
    cr_expect(cell_of(&query, 200, 1, 99, 1) == last - 1, "beyond the range: the last");
    cr_expect(cell_of(&query, NAN, 1, 1, 1) == last);
    cr_expect(cell_of(&query, 60, NAN, 1, 1) == last);
    cr_expect(cell_of(&query, 60, -1, 1, 1) == last, "an unlisted text");
    cr_expect(cell_of(&query, 60, 0, NAN, 1) == last);
}

Test(regress_question, explains_events_counts_numbers_and_times)
{
    const struct query logs = parsed("regress: sex ~ log(age) in 2 levels where death == 1");
    const double middle = exp((log(50) + log(98)) / 2);
    cr_expect(cell_of(&logs, middle - 0.01, 1, 1, 1) == 1 &&
              cell_of(&logs, middle + 0.01, 0, 1, 1) == 2);
    cr_expect(cell_of(&logs, 60, NAN, 1, 1) == 4 && cell_of(&logs, 60, 1, 1, -1) == 4);
    const struct query predicate = parsed("regress: age >= 65 and death == 1 ~ sex");
    cr_expect(cell_of(&predicate, 65, 1, 1, 1) == 3 && cell_of(&predicate, NAN, 1, 1, 1) == 2);

    const struct query number = parsed("regress: age ~ sex");
    cr_expect(number.family == REGRESS_LINEAR && number.cell_count == 2 * 8 + 1);
    add(&number, 50 + 48.0 / 7 * 2.25, 1, 1, 1);
    cr_expect(sum[8 + 2] == ONE * 3 / 4 && sum[8 + 3] == ONE / 4, "their mean is the number");
    cr_expect(cell_of(&number, 12, 0, 1, 1) == 0 && cell_of(&number, 200, 0, 1, 1) == 7);
    cr_expect(cell_of(&number, NAN, 0, 1, 1) == 16);
    cr_expect(parsed("regress: counts age ~ sex").family == REGRESS_POISSON);

    const struct query time = parsed("regress: time age event death ~ sex, to 98 in 2 intervals");
    cr_expect(time.family == REGRESS_HAZARD && time.cell_count == 2 * 5 + 1);
    cr_expect(cell_of(&time, 49, 0, 1, 1) == 0 && cell_of(&time, 49.1, 0, 1, 1) == 1);
    cr_expect(cell_of(&time, 48.9, 1, 1, -1) == 7 && cell_of(&time, 49, 1, 1, -1) == 8);
    cr_expect(cell_of(&time, 98, 1, 1, -1) == 9 && cell_of(&time, 99, 1, 1, 1) == 9);
    cr_expect(cell_of(&time, -1, 1, 1, 1) == 10 && cell_of(&time, 50, NAN, 1, 1) == 10);
    cr_expect(cell_of(&time, 0.1, 1, 1, 1) == 5 && cell_of(&time, 0, 1, 1, 1) == 10, "at time 0");
    cr_expect(cell_of(&time, 0, 1, 1, -1) == 10);
}

/* The whole numbers of kappa's range, 0.16 to 6.03, are 1 to 6. */
Test(regress_question, takes_whole_numbers_as_categories)
{
    const struct query query = parsed("regress: death ~ factor(kappa) + sex");
    const size_t last = 6 * 2 * 2;
    cr_assert(query.cell_count == last + 1);
    for (size_t k = 0; k < 6; k++) {
        cr_expect(cell_of(&query, 60, 1, 1 + (double)k, 1) == 4 * k + 3);
    }
    cr_expect(cell_of(&query, 60, 0, -0.0, -1) == 0 && cell_of(&query, 60, 0, -7, -1) == 0);
    cr_expect(cell_of(&query, 60, 0, 6.5, -1) == 20 && cell_of(&query, 60, 0, INFINITY, 1) == 21);
    cr_expect(cell_of(&query, 60, 0, 2.5, -1) == last, "between two");
    cr_expect(cell_of(&query, 60, 0, nextafter(2, 3), -1) == last);
    cr_expect(cell_of(&query, 60, 0, NAN, -1) == last);
}

Test(regress_question, refuses_with_the_place_and_the_remedy)
{
    refuses("regress: death ~ factor(age)", "2 to 16 whole numbers in its public range");
    refuses("regress: death ~ factor(sex)", "this column has categories already");
    refuses("regress: death ~ factor(kappa", "the bracket of factor( is not closed");
    refuses("regress: death ~ age + as.factor(kappa)", "\"as.factor\": a term is a column, log(");
    refuses("regress: death ~ age*sex", "products of columns are not fitted");
    refuses("regress: Surv(age, death) ~ sex", "a time is written as time COLUMN event EVENT");
    refuses("regress: age ~ sex, to 80", "a last time belong to times");
    refuses("regress: death ~ factor(kappa) + kappa", "in the question already");
    refuses("regress: death ~ factor(log(kappa))", "a term is a column, log(");
    refuses("regress: death ~ whole(sex)", "write it without whole()");
    refuses("regress: death ~ whole(kappa", "the bracket of whole( is not closed");
    refuses("regress: death ~ log(whole(age)", "the bracket of log( is not closed");
    refuses("regress: death ~ whole(log(age))", "a term is a column, log(");
    refuses("regress: death ~ whole(kappa) + kappa", "in the question already");
    refuses("regress: death + age", "~ between spaces");
    refuses("regress: death ~", "the name of a column");
    refuses("regress: death ~ age+sex", "write a space before and behind + and ~");
    refuses("regress: death ~ age + age", "in the question already");
    refuses("regress: death ~ age + log(age)", "in the question already");
    refuses("regress: age ~ sex + age", "does not explain itself");
    refuses("regress: 'home region' ~ age", "this column does not have two categories");
    refuses("regress: death ~ log(kappa)", "log needs a column");
    refuses("regress: death ~ log(sex)", "log needs a column");
    refuses("regress: death ~ log(age", "not closed");
    refuses("regress: counts sex ~ age", "character 17, \"sex\"");
    refuses("regress: time age event death ~ sex", "the last time");
    refuses("regress: death ~ age in 1 levels", "from 2 to 16");
    refuses("regress: death ~ age in 3 intervals", "the word levels");
    refuses("regress: time age event death ~ sex, to 98 in 13 intervals", "from 2 to 12");
    refuses("regress: death ~ age + sex + kappa + 'home region' in 100 levels", "from 2 to 16");
    refuses(
        "regress: time age event death ~ sex + kappa + 'home region', to 98 in 16 levels in 12 intervals in 16",
        "levels or intervals");
}

/* 100 records in each point; the event in 20 of them for F, 40 for M: an odds ratio of 8/3. */
Test(regress_question, answers_from_its_cells)
{
    const char *const text[] = {"regress: death ~ age + sex in 2 levels"};
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    memset(sum, 0, sizeof sum);
    for (size_t point = 0; point < 4; point++) {
        const int64_t events = point % 2 == 1 ? 40 : 20;
        sum[2 * point] = (100 - events) * ONE;
        sum[2 * point + 1] = events * ONE;
    }
    for (int noisy = 0; noisy < 2; noisy++) {
        const double scale = noisy == 0 ? 1e-9 : 100;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, 400);
        cr_assert(query_run_answer_count(&set) == 3 + 2 * 3);
        query_run_answers(answer, &run);
        cr_assert_str_eq(
            answer[0].name,
            "regress: death ~ age + sex in 2 levels: records in which nothing is missing");
        cr_assert_str_eq(
            answer[8].name,
            "regress: death ~ age + sex in 2 levels: (intercept), all at 0, coefficient");
        cr_assert_str_eq(answer[6].variable, "sex");
        cr_assert_str_eq(answer[6].figure, "M to F");
        cr_assert_str_eq(answer[6].group, "odds ratio");
        if (noisy == 0) {
            cr_expect(fabs(answer[0].value - 400) < 1e-3 && fabs(answer[1].value - 120) < 1e-3);
        } else { /* their bars are wider than all records */
            cr_expect(isnan(answer[0].value) && isnan(answer[1].value));
        }
        if (noisy == 1) {
            cr_expect(isnan(answer[5].value) && isnan(answer[7].value));
            expect_said(&answer[5], "would be enough");
        } else {
            const double error = sqrt(1 / 40.0 + 1 / 160.0 + 1 / 80.0 + 1 / 120.0);
            cr_expect(fabs(answer[8].value - log(0.25)) < 1e-6);
            cr_expect(fabs(answer[2].value) < 1e-6 && fabs(answer[4].value - 1) < 1e-5, "no slope");
            cr_expect(fabs(answer[5].value - log(8.0 / 3)) < 1e-6);
            cr_expect(fabs(answer[5].sampling - error) < 1e-6, "%g is not %g", answer[5].sampling,
                      error);
            cr_expect(fabs(answer[6].value - 8.0 / 3) < 1e-6);
            const double reach = 1.971957 * sqrt(200.0 / 199) * error; /* t of 199 */
            cr_expect(fabs(answer[6].total_high - 8.0 / 3 * exp(reach)) < 1e-4);
            cr_expect(answer[7].value < 1e-4 && answer[7].value > 0);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* A slope of 2 years a step of the logarithm, in the units of the file. */
Test(regress_question, tells_slopes_in_the_file_s_unit)
{
    const char *const text[] = {"regress: age ~ kappa in 2 levels"};
    struct query_set set;
    struct query_run run;
    static struct query_answer answer[8];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    memset(sum, 0, sizeof sum);
    for (size_t level = 0; level < 2; level++) { /* ages half at the range's ends, and more above */
        sum[8 * level] = (level == 0 ? 60 : 40) * ONE;
        sum[8 * level + 7] = (level == 0 ? 40 : 60) * ONE;
    }
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = 1e-9 * ONE, .draws = 1}, 200);
    query_run_answers(answer, &run);
    cr_assert(query_run_answer_count(&set) == 4);
    const double slope = (0.2 * 48) / 0.9; /* 9.6 years between two middles that are 0.9 apart */
    cr_assert_str_eq(answer[1].variable, "log1p(kappa)");
    cr_expect(fabs(answer[1].value - slope) < 1e-6, "%g", answer[1].value);
    cr_expect(fabs(answer[3].value - (74 - slope * 1.05)) < 1e-6, "%g", answer[3].value);
    query_run_free(&run);
    query_set_free(&set);
}

/* One release of a logistic regression: records and events at each point, of levels of the age by two categories. */
static void answer_points(struct query_answer *answer, const char *question, const double *records,
                          const double *events, size_t points, double scale)
{
    const char *const text[] = {question};
    struct query_set set;
    struct query_run run;
    uint64_t all = 0;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    memset(sum, 0, sizeof sum);
    for (size_t point = 0; point < points; point++) {
        sum[2 * point] = (int64_t)(records[point] - events[point]) * ONE;
        sum[2 * point + 1] = (int64_t)events[point] * ONE;
        all += (uint64_t)records[point];
    }
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, all);
    query_run_answers(answer, &run);
    query_run_free(&run);
    query_set_free(&set);
}

enum { AGE = 2, SEX = 5, INTERCEPT = 8 }; /* coefficients of age + sex */

Test(regress_question, tells_the_rest_where_a_column_has_one_level)
{
    static const double records[] = {500, 0, 500, 0, 500, 0};
    static const double events[] = {100, 0, 150, 0, 200, 0};
    answer_points(answer, "regress: death ~ age + sex in 3 levels", records, events, 6, 1);
    cr_expect(!isnan(answer[AGE].value) && answer[AGE].total_low > 0);
    for (size_t i = SEX; i <= INTERCEPT; i++) {
        cr_expect(i == INTERCEPT || isnan(answer[i].value));
        cr_expect(strstr(answer[i].note, "would be enough") == NULL, "%s", answer[i].note);
    }
    expect_said(&answer[SEX], "only one of its levels");
    cr_expect(!isnan(answer[INTERCEPT].value), "of the first category, which is there");
}

Test(regress_question, says_that_events_are_few_and_names_no_factor)
{
    static const double records[] = {500, 500, 500, 500, 500, 500};
    static const double events[] = {40, -30, 20, -15, -10, 5}; /* few records, hidden by noise */
    answer_points(answer, "regress: death ~ age + sex in 3 levels", records, events, 6, 30);
    cr_expect(isnan(answer[AGE].value));
    expect_said(
        &answer[AGE],
        "too few events: at most 231, which the noise hides; for the noise alone, about 692 events "
        "would be enough");
}

/* A column like creatinine: most records lie in two of five levels. The coefficients and the intercept cannot be told, the
 * numbers of records can. */
Test(regress_question, refuses_where_values_lie_too_close_together)
{
    enum { ROWS = 9 };
    static const double narrow[] = {2, 0, 2000, 0, 2000, 0, 4, 0, 0, 0};
    static const double events[] = {1, 0, 400, 0, 600, 0, 2, 0, 0, 0};
    answer_points(answer, "regress: death ~ age + sex in 5 levels", narrow, events, 10, 1);
    cr_expect(answer[0].value > 4000 && answer[1].value > 1000);
    for (size_t i = AGE; i < ROWS; i++) {
        cr_expect(isnan(answer[i].value), "%s", answer[i].name);
    }
    expect_said(&answer[AGE], "the values of age lie too close together for "
                              "levels of its range");
    cr_expect_str_eq(answer[AGE].note, answer[ROWS - 1].note);
}

/* Three of five levels are empty: a column of two values. Its slope and the intercept depend on where these lie, the other slope
 * does not. */
Test(regress_question, refuses_the_slope_of_a_column_of_few_values_alone)
{
    static const double two[] = {700, 600, 0, 0, 0, 0, 0, 0, 300, 400};
    static const double events[] = {100, 140, 0, 0, 0, 0, 0, 0, 80, 150};
    static const double fewer[] = {700, 600, 300, 250, 200, 180, 300, 260, 500, 420};
    static const double happened[] = {100, 140, 50, 60, 40, 50, 65, 80, 130, 150};
    answer_points(answer, "regress: death ~ age + sex in 5 levels", two, events, 10, 1);
    cr_expect(isnan(answer[AGE].value) && isnan(answer[INTERCEPT].value));
    expect_said(&answer[AGE], "of age are not those of a smooth column");
    cr_expect_str_eq(answer[AGE].note, answer[INTERCEPT].note);
    cr_expect(answer[SEX].total_low > 0);
    expect_said(&answer[AGE], "ask without it");
    answer_points(answer, "regress: death ~ kappa + sex in 5 levels", two, events, 10, 1);
    expect_said(&answer[AGE], "ask for whole(kappa)");
    answer_points(answer, "regress: death ~ age + sex in 5 levels", two, events, 10, 80);
    cr_expect(strstr(answer[AGE].note, "smooth column") == NULL, "noise: %s", answer[AGE].note);
    answer_points(answer, "regress: death ~ age + sex in 5 levels", fewer, happened, 10, 1);
    cr_expect(answer[AGE].total_low < answer[AGE].value, "a dent is no hole: %s", answer[AGE].note);
}

Test(regress_question, names_the_values_of_factors)
{
    static const double records[] = {300, 250, 200, 150, 90, 80};
    static const double events[] = {60, 60, 60, 50, 40, 40};
    static struct query_answer answer[32];
    answer_points(answer, "regress: death ~ factor(kappa)", records, events, 6, 1);
    cr_expect_str_eq(answer[AGE].variable, "factor(kappa)");
    cr_expect_str_eq(answer[AGE].figure, "2 to 1");
    cr_expect(fabs(answer[AGE].value - log(60.0 / 190 / (60.0 / 240))) < 0.02, "%g",
              answer[AGE].value);
    cr_expect_str_eq(answer[AGE + 12].figure, "6 to 1");
    cr_expect_str_empty(answer[AGE].note);
}

/* Ages 50 to 98 that are whole, in 7 levels of 7 each; of kappa's six values each has a level. */
Test(regress_question, takes_whole_numbers_by_their_values)
{
    const struct query query = parsed("regress: death ~ whole(age) + whole(kappa) in 7 levels");
    struct query_regress regress;
    cr_assert(query.variable[0].levels == 7 && query.variable[1].levels == 6);
    for (size_t age = 50; age <= 98; age++) {
        for (size_t kappa = 1; kappa <= 6; kappa++) {
            const size_t cell = cell_of(&query, (double)age, 0, (double)kappa, 1);
            cr_expect(cell == 2 * ((age - 50) / 7 * 6 + kappa - 1) + 1, "%zu, %zu: %zu", age, kappa,
                      cell);
        }
    }
    cr_expect(cell_of(&query, 12, 0, 9, 1) == 2 * 5 + 1, "what is beyond is in the first or last");
    query_regress_design(&regress, &query);
    cr_expect(regress.predictor[0].atoms == 49 && regress.predictor[0].atom_end[1] == 14);
    cr_expect(regress.predictor[0].atom[0] == -1 && regress.predictor[0].atom[48] == 1);
    cr_expect(fabs(regress.predictor[0].value[3]) < 1e-12 && regress.predictor[1].atoms == 6);
    cr_expect(!query_regress_design_whole(&regress, &query), "there is no other reading");
}

/* A range of logarithms that begins less above 0 than a range's end is rounded by has 0 among its whole numbers. */
Test(regress_question, whole_numbers_of_logarithms_are_finite)
{
    const char *const text[] = {"regress: death ~ log(whole(age)) in 3 levels",
                                "regress: death ~ log(age) in 3 levels"};
    toy_column[0].half_width = 2.5 - 0.5e-10;
    toy_column[0].centre = 2.5 + 0.5e-10;
    for (size_t i = 0; i < 2; i++) {
        const struct query query = parsed(text[i]);
        struct query_regress regress;
        query_regress_design(&regress, &query);
        cr_expect(query_regress_design_whole(&regress, &query) == (i == 1));
        cr_expect(regress.predictor[0].atoms == 6 && regress.predictor[0].atom[0] == -1);
    }
}

/* Whether ages are whole is not said: the interval covers both readings. */
Test(regress_question, covers_both_readings_of_numbers_that_may_be_whole)
{
    static const double records[] = {700, 600, 500, 450, 400, 380, 300, 260, 200, 120};
    static const double events[] = {100, 140, 90, 110, 80, 90, 75, 90, 60, 60};
    static struct query_answer open[16];
    static struct query_answer whole[16];
    answer_points(open, "regress: death ~ age + sex in 5 levels", records, events, 10, 1);
    answer_points(whole, "regress: death ~ whole(age) + sex in 5 levels", records, events, 10, 1);
    cr_expect(strstr(open[AGE].note, "or to be whole numbers: the interval covers both") != NULL,
              "%s", open[AGE].note);
    cr_expect(strstr(whole[AGE].note, "over 50 to 98, of whole numbers alone") != NULL, "%s",
              whole[AGE].note);
    cr_expect_str_eq(whole[AGE].variable, "age");
    answer_points(whole, "regress: death ~ log(age) + sex in 5 levels", records, events, 10, 1);
    cr_expect(strstr(whole[AGE].note, "ask for log(whole(age)) if they are whole") != NULL, "%s",
              whole[AGE].note);
    answer_points(whole, "regress: death ~ whole(age) + sex in 5 levels", records, events, 10, 1);
    cr_expect(open[AGE].total_high - open[AGE].total_low >
                  1.002 * (whole[AGE].total_high - whole[AGE].total_low),
              "%g to %g, %g to %g", open[AGE].total_low, open[AGE].total_high, whole[AGE].total_low,
              whole[AGE].total_high);
}

/* Ages 0 to 4, some of which do not occur. Levels of one whole number each fit any column. So nothing is given unless the job
 * says that the numbers are whole. */
Test(regress_question, gives_nothing_where_only_whole_numbers_would_help)
{
    static const double records[] = {900, 0, 700, 0, 800};
    static const double events[] = {100, 0, 140, 0, 260};
    static const double bent[] = {100, 0, 400, 0, 100};
    toy_column[0].centre = toy_column[0].half_width = 2;
    answer_points(answer, "regress: death ~ age in 5 levels", records, events, 5, 1);
    cr_expect(isnan(answer[AGE].value));
    expect_said(&answer[AGE], "ask for whole(age)");
    answer_points(answer, "regress: death ~ whole(age) in 5 levels", records, events, 5, 1);
    cr_expect(answer[AGE].total_low > 0);
    cr_expect(strstr(answer[AGE].note, "do not follow") == NULL, "%s", answer[AGE].note);
    answer_points(answer, "regress: death ~ whole(age) in 5 levels", records, bent, 5, 1);
    expect_said(&answer[AGE], "do not follow the model");
    toy_column[0].centre = 4; /* 1 to 7: the logarithm's term is the one to ask for */
    toy_column[0].half_width = 3;
    answer_points(answer, "regress: death ~ log(age) in 5 levels", records, events, 5, 1);
    cr_expect(isnan(answer[AGE].value));
    expect_said(&answer[AGE], "ask for log(whole(age))");
}

Test(regress_question, says_that_outcomes_do_not_follow_the_model)
{
    static const double even[] = {800, 800, 800, 800, 800};
    static const double bent[] = {500, 200, 100, 200, 480};
    static const double straight[] = {119, 183, 269, 376, 490}; /* a logistic curve's */
    answer_points(answer, "regress: death ~ age in 5 levels", even, bent, 5, 1);
    expect_said(&answer[AGE], "do not follow the model");
    answer_points(answer, "regress: death ~ age in 5 levels", even, straight, 5, 1);
    cr_expect_str_eq(
        answer[AGE].note,
        "from 5 levels of age over 50 to 98, within which values are taken to lie "
        "smoothly, or to be whole numbers: the interval covers both; ask for whole(age) "
        "if they are whole");
}

Test(regress_question, says_that_nothing_is_there)
{
    static const double records[] = {0, 0, 0, 0, 0, 0};
    answer_points(answer, "regress: death ~ age + sex in 3 levels", records, records, 6, 1);
    expect_said(&answer[AGE], "no record was found in which");
}

Test(regress_question, says_that_all_have_the_event)
{
    static const double records[] = {500, 500, 500, 500, 500, 500};
    static const double events[] = {540, 470, 505,
                                    490, 510, 500}; /* all records, hidden by noise */
    answer_points(answer, "regress: death ~ age + sex in 3 levels", records, events, 6, 30);
    cr_expect(isnan(answer[AGE].value));
    expect_said(&answer[AGE], "all records have the event");
    cr_expect(strstr(answer[AGE].note, "would be enough") == NULL, "%s", answer[AGE].note);
    cr_expect(answer[1].value <= answer[0].value, "%g of %g", answer[1].value, answer[0].value);
}

/* deaths: of the first category in each interval, half as many more of the second; 100 of each leave in each interval alive */
static void answer_times(struct query_answer *answer, const double *deaths, uint64_t seed)
{
    const char *const text[] = {"regress: time age event death ~ sex, to 98 in 4 intervals"};
    struct seeded_random seeded;
    struct query_set set;
    struct query_run run;
    double all = 0;
    seeded_random_init(&seeded, seed);
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    memset(sum, 0, sizeof sum);
    for (size_t c = 0; c < 19; c++) {
        const size_t category = c / 9;
        const size_t outcome = c % 9;
        const double exact = category == 2 ? 0
                             : outcome < 4 ? deaths[outcome] * (category == 0 ? 1 : 1.5)
                             : outcome < 8 ? 100
                                           : 0;
        all += exact;
        sum[c] = llround((exact + (seed > 0 ? seeded_random_laplace(&seeded, 0.5) : 0)) * ONE);
    }
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum,
                      &(struct query_noise){.scale = (seed > 0 ? 0.5 : 1e-9) * ONE, .draws = 1},
                      (uint64_t)llround(all));
    query_run_answers(answer, &run);
    query_run_free(&run);
    query_set_free(&set);
}

/* A chance of 0.002 at each seed that the noise shows 3 deviations of events where there are none; the seeds are fixed. */
Test(regress_question, leaves_out_times_without_events_and_says_so)
{
    enum { COEFFICIENT = 2, P_VALUE = 4 };
    static const double last_empty[] = {120, 90, 60, 0};
    static const double ties[] = {0, 240, 0, 0};
    static struct query_answer answer[8];
    for (uint64_t seed = 0; seed <= 8; seed++) { /* 0: without noise */
        answer_times(answer, last_empty, seed);
        cr_assert_str_eq(answer[COEFFICIENT].group, "coefficient");
        cr_expect(answer[COEFFICIENT].total_low > 0 && answer[P_VALUE].value < 0.05);
        cr_expect_str_eq(answer[COEFFICIENT].note,
                         "left out, with no event or too few to tell by this noise: the time 73.5 "
                         "to 98");
        cr_expect_str_eq(query_left_out(answer[COEFFICIENT].note), answer[COEFFICIENT].note);
        answer_times(answer, ties, seed);
        cr_expect(answer[COEFFICIENT].total_low > 0);
        cr_expect_str_eq(answer[COEFFICIENT].note,
                         "left out, with no event or too few to tell by this noise: the time 0 to "
                         "24.5, 49 to 98");
    }
}
