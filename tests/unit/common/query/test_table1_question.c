/* The question `table1`: its text, how its price is split, a record's cells, and its answers, against R. */

#include "query/query_run.h"

#include "estimate/cells.h"
#include "tests/unit/common/estimate/vectors.h"
#include "toy_question.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BITS = 10, STEPS = 9, VALUES_MAX = 128 };

static int64_t sum[QUERY_CELLS_MAX];

static void add_only(const struct query *query, double age, double sex, double kappa, double label)
{
    const double cell[TOY_COLUMNS] = {age, sex, kappa, 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    memset(sum, 0, sizeof sum);
    query_add(sum, query, BITS, 0, &row);
}

Test(table1_question, puts_a_record_into_each_variable_s_cells_of_its_group)
{
    const struct query query = parsed("table1: [age, sex] by death in 9 steps");
    const int64_t part = (int64_t)query_part_of(&query.variable[0], 1 << BITS);
    const int64_t sexes = (int64_t)query_part_of(&query.variable[1], 1 << BITS);
    const size_t group = STEPS + 1;
    const size_t second = 2 * group + 1; /* where sex begins */
    cr_assert(query.cell_count == second + 2 * 3 + 1 && query_groups(&query) == 2);
    cr_assert(part == 1 << BITS && sexes < part, "a number needs more");
    add_only(&query, 62, 1, 1, 1); /* steps are 6 years apart, from 50 */
    cr_expect(sum[group + 2] == part && sum[second + 3 + 1] == sexes);
    add_only(&query, 60.5, 0, 1, -1);
    cr_expect(sum[1] == part / 4 && sum[2] == 3 * part / 4 && sum[second] == sexes);
    add_only(&query, 1000, -1, 1, -1);
    cr_expect(sum[STEPS - 1] == part && sum[second + 2] == sexes, "clamped; unlisted");
    add_only(&query, NAN, NAN, 1, 1);
    cr_expect(sum[group + STEPS] == part && sum[second + 3 + 2] == sexes, "missing");
    const struct query where = parsed("table1: [age] by sex in 9 steps where age < 60");
    add_only(&where, 70, 1, 1, 1);
    cr_expect(sum[2 * group] == part, "the where leaves it out");
    add_only(&where, 55, NAN, 1, 1);
    cr_expect(sum[2 * group] == part, "no group");
}

/* Whatever the value, the steps weighted by what is added are the value, clamped, to the grid's fineness. */
Test(table1_question, splits_a_number_so_that_the_steps_mean_is_the_number)
{
    const struct query query = parsed("table1: [kappa] in 9 steps");
    const struct query_variable *variable = &query.variable[0];
    const double end = variable->step[STEPS - 1];
    cr_assert(fabs(variable->step[0] - expm1(0.15)) < 1e-12 && fabs(end - expm1(1.95)) < 1e-12);
    for (double value = 0; value < 8; value += 0.0137) {
        double weighted = 0;
        int64_t total = 0;
        add_only(&query, 60, 0, value, 1);
        for (size_t k = 0; k < STEPS; k++) {
            cr_assert(sum[k] >= 0);
            weighted += variable->step[k] * (double)sum[k] / (1 << BITS);
            total += sum[k];
        }
        cr_expect(total == 1 << BITS);
        const double clamped = fmin(fmax(value, variable->step[0]), end);
        cr_expect(fabs(weighted - clamped) < (end - variable->step[0]) / (1 << BITS), "%g: %g",
                  value, weighted);
    }
}

Test(table1_question, refuses_with_the_place_and_the_remedy)
{
    refuses("table1: age by death", "character 9, \"age\": variables in brackets");
    refuses("table1: [age, agee]", "character 15, \"agee\": no column of that name");
    refuses("table1: [age, sex, age]", "character 20, \"age\": this variable is in the table");
    refuses("table1: [age sex]", "character 14, \"sex\": a comma and a variable, or ]");
    refuses("table1: [age, sex", "the text ends here: a comma and a variable, or ]");
    refuses("table1: [age, death] by death", "this is a variable of the table");
    refuses("table1: [age] by kappa", "column of numbers");
    refuses("table1: [age] in 7 steps", "from 8 to 64");
    refuses("table1: [age] in 9", "the word steps");
    refuses("table1: [age] by sex by death", "should end here");
    refuses("table1: []", "the name of a column");
}

/* The price is the sum of the parts, and each variable's noise is the whole one over its part. */
Test(table1_question, plans_steps_and_splits_the_price_by_need)
{
    struct query query = parsed("table1: [age, sex, 'home region'] by death");
    const struct query_public much = {.records = 25000, .variance = 8};
    const struct query_public little = {.records = 1000, .variance = 500};
    query_plan(&query, &much);
    const size_t many = query.variable[0].levels;
    const uint32_t category = query.variable[1].weight;
    cr_expect(query.variable[0].weight == 1u << QUERY_WEIGHT_BITS);
    cr_expect(query.variable[1].weight == query.variable[2].weight);
    cr_expect(query_sensitivity_l1(&query, BITS) ==
              2 * ((1 << BITS) + 2 * query_part_of(&query.variable[1], 1 << BITS)));
    query_plan(&query, &little);
    cr_expect(query.variable[0].levels < many && query.variable[1].weight > category);
    cr_expect(query.cell_count == 2 * (query.variable[0].levels + 1) + 1 + 7 + 9);
    struct query told = parsed("table1: [age, sex] by death in 10 steps");
    query_plan(&told, &much);
    cr_expect(told.variable[0].levels == 10);
    for (unsigned bits = QUERY_BITS_MIN; bits <= QUERY_BITS_MAX; bits++) {
        cr_expect(query_part_of(&told.variable[1], UINT64_C(1) << bits) >= 1);
    }
}

static const struct query_answer *answer_of(const struct query_answer *answer, size_t count,
                                            const char *variable, const char *figure,
                                            const char *group)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(answer[i].variable, variable) == 0 && strcmp(answer[i].figure, figure) == 0 &&
            strcmp(answer[i].group, group) == 0) {
            return &answer[i];
        }
    }
    cr_assert_fail("no %s, %s, %s", variable, figure, group);
    return NULL;
}

/* The hospitals' records with a range for creatinine; without noise, in 64 steps. */
static struct column hospital_column[] = {
    {.name = "age", .kind = COLUMN_NUMBER, .centre = 75.5, .half_width = 25.5},
    {.name = "creatinine", .kind = COLUMN_NUMBER, .centre = 5.7, .half_width = 5.3},
    {.name = "sex", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"F", "M"}}};
static const struct schema hospitals = {
    .column = hospital_column,
    .column_count = 3,
    .label = {.name = "death", .positive = "1", .negative = "0"}};

/* Adds records that differ in one column, the others as they are in `cell`. */
static uint64_t add_column(int64_t *all, const struct query_set *set, size_t column,
                           const char *name)
{
    const json_t *known = vectors("table1");
    double value[VALUES_MAX];
    double count[2 * VALUES_MAX];
    char key[64];
    uint64_t records = 0;
    (void)snprintf(key, sizeof key, "%s_values", name);
    const size_t values = vector_read(value, VALUES_MAX, known, key);
    (void)snprintf(key, sizeof key, "%s_counts", name);
    cr_assert(vector_read(count, 2 * VALUES_MAX, known, key) == 2 * values);
    for (size_t i = 0; i < 2 * values; i++) {
        double cell[3] = {NAN, NAN, NAN};
        int64_t one[512] = {0};
        cell[column] = value[i % values];
        const struct row row = {.cell = cell, .column_count = 3, .label = i < values ? -1 : 1};
        cr_assert(query_set_cells(set, 0) <= 512);
        query_set_add(one, set, 0, NULL, &row);
        for (size_t k = 0; k < query_set_cells(set, 0); k++) {
            all[k] += one[k] * (int64_t)count[i];
        }
        records += (uint64_t)count[i];
    }
    return records;
}

static void check_column(size_t column, const char *name)
{
    static const char *const figures[] = {"mean", "standard deviation", "lower quartile", "median",
                                          "upper quartile"};
    static const char *const groups[] = {"0", "1", "all"};
    char question[64];
    double known[18];
    struct query_set set;
    struct query_run run;
    struct why why = {{0}};
    static int64_t all[512];
    static struct query_answer answer[64];
    (void)snprintf(question, sizeof question, "table1: [%s] by death in 64 steps", name);
    const char *const text[] = {question};
    cr_assert(query_set_init(&set, text, 1, 20, &(struct query_names){.schema = &hospitals},
                             &why) == STATUS_OK,
              "%s", why.text);
    memset(all, 0, sizeof all);
    const uint64_t records = add_column(all, &set, column, name);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, all, &(struct query_noise){.scale = 1e-9, .draws = 1}, records);
    const size_t count = query_run_answer_count(&set);
    cr_assert(count <= 64);
    query_run_answers(answer, &run);
    cr_assert(vector_read(known, 18, vectors("table1"), name) == 18);
    for (size_t g = 0; g < 3; g++) {
        for (size_t i = 0; i < 5; i++) {
            const struct query_answer *own = answer_of(answer, count, name, figures[i], groups[g]);
            const double expected = known[6 * g + i];
            const double step = set.query[0].variable[0].step[1] - set.query[0].variable[0].step[0];
            cr_expect(own->total_low <= expected && expected <= own->total_high,
                      "%s %s of %s: %g is not in %g .. %g", figures[i], name, groups[g], expected,
                      own->total_low, own->total_high);
            /* A mean is exact, to the grid; else what lies between two steps is not known. */
            const double by = i == 0 ? 1e-4 * step : i == 1 ? step * step / own->value / 4 : step;
            cr_expect(fabs(own->value - expected) <= by, "%s %s of %s: %g is not %g", figures[i],
                      name, groups[g], own->value, expected);
        }
    }
    query_run_free(&run);
    query_set_free(&set);
}

Test(table1_question, without_noise_is_r_s)
{
    check_column(0, "age");
    check_column(1, "creatinine");
}

/* 300 and 200 records of either sex, 10 of neither; without and with noise. */
Test(table1_question, answers_with_intervals_and_refuses_with_what_is_enough)
{
    const char *const text[] = {"count: age >= 65", "table1: [sex]"};
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 2, BITS, &toy_names, NULL) == STATUS_OK);
    int64_t cells[1 + 4] = {5 << BITS, 300 << BITS, 200 << BITS, 10 << BITS, 0};
    static struct query_answer answer[8];
    cr_assert(query_set_cells(&set, 0) == 5 && query_run_answer_count(&set) == 1 + 1 + 5);
    for (int noisy = 0; noisy < 2; noisy++) {
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        const double scale = noisy == 0 ? 1e-9 : 200;
        query_run_observe(&run, cells,
                          &(struct query_noise){.scale = ldexp(scale, BITS), .draws = 1}, 510);
        query_run_answers(answer, &run);
        const struct query_answer *share = answer_of(answer + 1, 6, "sex", "F, share", "");
        const struct query_answer *count = answer_of(answer + 1, 6, "sex", "F", "");
        const struct query_answer *missing = answer_of(answer + 1, 6, "sex", "missing", "");
        cr_expect(answer[0].table[0] == '\0' && strcmp(count->table, "table1: [sex]") == 0);
        if (noisy == 0) {
            cr_expect(fabs(count->value - 300) < 1e-6 && fabs(missing->value - 10) < 1e-6);
            cr_expect(fabs(share->value - 0.6) < 1e-9 && share->note[0] == '\0');
            /* R: prop.test(300, 500, correct = FALSE)$conf.int */
            cr_expect(fabs(share->total_low - 0.5564541) < 1e-6, "%.9g", share->total_low);
            cr_expect(fabs(share->total_high - 0.6420210) < 1e-6, "%.9g", share->total_high);
        } else {
            cr_expect(isnan(share->value) && isnan(share->total_low));
            cr_expect(strstr(share->note, "times the epsilon, or the records, would be enough") !=
                          NULL,
                      "%s", share->note);
            cr_expect(isnan(count->value) && isnan(count->low) && isnan(missing->value));
            cr_expect(strstr(count->note, "the noise's bar is wider than all records") != NULL,
                      "%s", count->note);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}
