/* The questions `correlate` and `pca`: their text, what a record adds, and its answers. */

#include "query/query_run.h"

#include "toy_question.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BITS = 10, ONE = 1 << BITS, CELLS = 6 };

static void add(int64_t *sum, const struct query *query, double age, double sex, uint64_t place)
{
    const double cell[TOY_COLUMNS] = {age, sex, 1, 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1, .place = place};
    query_add(sum, query, BITS, 0, &row);
}

static void is(const int64_t *sum, const int64_t *expected, const char *what)
{
    for (size_t k = 0; k < CELLS; k++) {
        cr_expect(sum[k] == expected[k], "%s: cell %zu is %ld, not %ld", what, k, sum[k],
                  expected[k]);
    }
}

/* Age 74 is the middle of 50 to 98; sex is -1 or 1. */
Test(correlate_question, adds_a_record_s_moments)
{
    const struct query query = parsed("correlate: [age, sex] where age < 97");
    int64_t sum[CELLS] = {0};
    cr_assert(query.cell_count == CELLS && query.parts == 1);
    add(sum, &query, 50, 1, 0);
    is(sum, (const int64_t[]){ONE / 2, -ONE, ONE, ONE / 2, -ONE, ONE / 2}, "the lowest");
    memset(sum, 0, sizeof sum);
    add(sum, &query, 86, 0, 0);
    is(sum, (const int64_t[]){ONE / 2, ONE / 2, -ONE, ONE / 8, -ONE / 2, ONE / 2}, "86");
    add(sum, &query, 86, NAN, 0);
    add(sum, &query, NAN, 1, 0);
    add(sum, &query, 98, 1, 0);
    is(sum, (const int64_t[]){ONE / 2, ONE / 2, -ONE, ONE / 8, -ONE / 2, ONE / 2},
       "nothing of who lacks a column, or whom the where leaves out");
    memset(sum, 0, sizeof sum);
    add(sum, &query, -500, 1, 0);
    is(sum, (const int64_t[]){ONE / 2, -ONE, ONE, ONE / 2, -ONE, ONE / 2}, "below the range");
}

Test(correlate_question, maps_numbers_as_the_schema_does)
{
    const struct query query = parsed("correlate: [kappa, death]");
    int64_t sum[CELLS] = {0};
    const double cell[TOY_COLUMNS] = {50, 0, expm1(1.05 + 0.45), 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = -1};
    query_add(sum, &query, BITS, 0, &row);
    is(sum, (const int64_t[]){ONE / 2, ONE / 2, -ONE, ONE / 8, -ONE / 2, ONE / 2}, "a logarithm");
}

/* 86 is 1/2, 56 is -3/4; sex is -1 or 1. */
Test(correlate_question, adds_a_record_s_fourth_moments)
{
    enum { FINE = 20, FOURTHS = 9 };
    struct query query = parsed("correlate: [age, sex]");
    query_plan(&query, &(struct query_public){.records = 1000, .variance = 20, .grid_bits = FINE});
    cr_assert(query.fourth == 2 && query.cell_count == CELLS + FOURTHS);
    for (int way = 0; way < 2; way++) {
        const double x = way == 0 ? 0.5 : -0.75;
        const double y = way == 0 ? -1 : 1;
        const double cell[TOY_COLUMNS] = {74 + 24 * x, y > 0 ? 1 : 0, 1, 2};
        const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1};
        const double of[FOURTHS] = {
            x * x * x / 4, x * x * x * x / 4, y / 4, 0.25, x * x * y, x, x * x * x * y / 2,
            x * x,         x * y / 2};
        int64_t sum[CELLS + FOURTHS] = {0};
        query_add(sum, &query, FINE, 0, &row);
        for (size_t k = 0; k < FOURTHS; k++) {
            cr_expect(sum[CELLS + k] == (int64_t)(of[k] / 2 * (1 << FINE)), "%zu: %ld, not %g", k,
                      sum[CELLS + k], of[k] / 2 * (1 << FINE));
        }
    }
    query_plan(&query, &(struct query_public){.records = 1000, .variance = 20, .grid_bits = 13});
    cr_expect(query.fourth == 0 && query.cell_count == CELLS, "the grid is too coarse");
    struct query of_two = parsed("correlate: [sex, death]");
    query_plan(&of_two, &(struct query_public){.records = 1000, .variance = 20, .grid_bits = FINE});
    cr_expect(of_two.fourth == 0, "a table of two values follows from its moments");
}

/* Which part a record is in follows from its place, and not from what is in it. A program of protocol version 6 or before asked so. */
Test(correlate_question, deals_records_of_jobs_of_before_to_parts_by_their_place)
{
    struct query query = parsed("correlate: [age, sex] in 8 parts");
    int64_t sum[8 * CELLS] = {0};
    query_plan(&query, &(struct query_public){
                           .records = 1000, .variance = 20, .grid_bits = 20, .in_parts = true});
    cr_assert(query.cell_count == 8 * CELLS && query.fourth == 0);
    for (uint64_t place = 0; place < 20; place++) {
        add(sum, &query, place % 2 == 0 ? 50 : 98, 1, place);
    }
    for (size_t part = 0; part < 8; part++) {
        const int64_t records = part < 4 ? 3 : 2;
        const int64_t sign = part % 2 == 0 ? -1 : 1;
        cr_expect(sum[part * CELLS] == records * ONE / 2, "part %zu", part);
        cr_expect(sum[part * CELLS + 1] == sign * records * ONE, "part %zu", part);
    }
}

/* A journal's text is read before its age is known. */
Test(correlate_question, reads_that_parts_are_asked_for_and_says_that_it_has_no_effect)
{
    struct query query = parsed("correlate: [age, sex] in 8 parts");
    struct why note = {{0}};
    query_plan(&query, &(struct query_public){.records = 1000, .variance = 20, .grid_bits = 20});
    cr_expect(query.parts == 1 && query.fourth == 2);
    cr_expect(query_has_note(&query, &note));
    cr_expect(strstr(note.text, "has no effect") != NULL, "%s", note.text);
}

/* How many parts version 6 planned: 1 where the noise exceeds the sampling error, else what made intervals shortest. */
Test(correlate_question, plans_the_parts_that_a_program_of_before_has_planned)
{
    static const struct {
        double records, variance;
        size_t parts;
    } planned[] = {{1000, 2000, 1}, {1000, 5, 8}, {5000, 20, 8}, {25000, 5, 16}, {25000, 60, 8}};
    for (size_t i = 0; i < sizeof planned / sizeof planned[0]; i++) {
        struct query query = parsed("correlate: [age, kappa]");
        query_plan(&query, &(struct query_public){.records = planned[i].records,
                                                  .variance = planned[i].variance,
                                                  .in_parts = true});
        cr_expect(query.parts == planned[i].parts, "%zu: %zu", i, query.parts);
    }
}

Test(correlate_question, refuses_with_the_place_and_the_remedy)
{
    refuses("correlate: age", "columns in brackets");
    refuses("correlate: [age]", "name two or more");
    refuses("correlate: [age, 'home region']", "not of two");
    refuses("correlate: [age, sex, age]", "in the list already");
    refuses("correlate: [age, sex", "a comma and a column");
    refuses("correlate: [age, sex] in 9 parts", "1, 8, 16 or 32");
    refuses("correlate: [age, sex] in 8", "the word parts");
    refuses("correlate: [age, sex] by death", "should end here");
    refuses("pca: [age, sex] in 8 parts", "should end here");
    refuses("pca: [age]", "name two or more");
}

/* 1,000 records, half of them old men and half young women, but 50 of either. */
static void add_old_men_and_young_women(int64_t *sum, const struct query *query)
{
    for (uint64_t i = 0; i < 1000; i++) {
        const bool is_man = i % 2 == 0;
        add(sum, query, is_man != (i < 100) ? 92 : 56, is_man ? 1 : 0, i);
    }
}

Test(correlate_question, answers_from_its_cells)
{
    const char *const text[] = {"correlate: [age, sex]"};
    struct query_set set;
    struct query_run run;
    int64_t sum[CELLS] = {0};
    static struct query_answer answer[4];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    add_old_men_and_young_women(sum, &set.query[0]);
    for (int noisy = 0; noisy < 2; noisy++) {
        const double scale = noisy == 0 ? 1e-9 : 200;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, 1000);
        cr_assert(query_run_answer_count(&set) == 3);
        query_run_answers(answer, &run);
        cr_assert_str_eq(answer[1].name, "correlate: [age, sex]: age with sex");
        cr_assert_str_eq(answer[2].variable, "age");
        cr_assert_str_eq(answer[2].group, "sex");
        cr_assert_str_eq(answer[2].figure, "p-value");
        cr_assert(answer[1].table[0] == '\0', "it is no table of groups");
        cr_assert_str_eq(answer[2].unit, "p-value");
        if (noisy == 1) {
            cr_expect(isnan(answer[1].value) && isnan(answer[2].value));
            cr_expect(strstr(answer[1].note, "would be enough") != NULL, "%s", answer[1].note);
        } else {
            cr_expect(answer[0].value == 1000);
            cr_expect(fabs(answer[1].value - 0.8) < 1e-3, "%g", answer[1].value);
            cr_expect(answer[1].total_low < 0.78 && answer[1].total_high > 0.82);
            cr_expect(answer[2].value < 1e-12);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* Each record lacks a column, and the noise makes some. */
Test(correlate_question, says_that_no_record_has_all_columns)
{
    const char *const text[] = {"correlate: [age, sex]"};
    struct query_set set;
    struct query_run run;
    const int64_t sum[CELLS] = {2 * ONE, -3 * ONE, ONE, 4 * ONE, -ONE};
    static struct query_answer answer[4];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = 4 * ONE, .draws = 1}, 1000);
    query_run_answers(answer, &run);
    cr_expect(strstr(answer[1].note, ": no record was found in which nothing is missing") != NULL,
              "%s", answer[1].note);
    query_run_free(&run);
    query_set_free(&set);
}

/* The same records: with a correlation of 0.8 the first of two components explains 0.9. */
Test(correlate_question, components_follow_from_the_same_cells)
{
    const char *const text[] = {"pca: [age, sex]"};
    struct query_set set;
    struct query_run run;
    int64_t sum[CELLS] = {0};
    static struct query_answer answer[7];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    add_old_men_and_young_women(sum, &set.query[0]);
    for (int noisy = 0; noisy < 2; noisy++) {
        const double scale = noisy == 0 ? 1e-9 : 200;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, 1000);
        cr_assert(query_run_answer_count(&set) == 7);
        query_run_answers(answer, &run);
        cr_assert_str_eq(answer[1].name, "pca: [age, sex]: component 1, explained share");
        cr_assert_str_eq(answer[4].name, "pca: [age, sex]: component 1, loading of sex");
        if (noisy == 1) {
            cr_expect(isnan(answer[1].value) && isnan(answer[3].value));
            cr_expect(strstr(answer[1].note, "would be enough") != NULL, "%s", answer[1].note);
        } else {
            cr_expect(fabs(answer[1].value - 0.9) < 1e-3 && fabs(answer[2].value - 0.1) < 1e-3);
            cr_expect(fabs(answer[3].value - sqrt(0.5)) < 1e-9, "%g", answer[3].value);
            cr_expect(isnan(answer[1].total_low) && strstr(answer[1].note, "without") != NULL);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* A column that is the same for all records: no epsilon is enough, and none is named, whatever the noise. */
Test(correlate_question, names_no_factor_for_a_column_that_hardly_varies)
{
    const char *const text[] = {"correlate: [age, sex]"};
    struct query_set set;
    struct query_run run;
    static struct query_answer answer[4];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (int noise = -2; noise <= 2; noise++) {
        int64_t sum[CELLS] = {0};
        for (uint64_t i = 0; i < 1000; i++) {
            add(sum, &set.query[0], 74, i % 2 == 0 ? 1 : 0, i);
        }
        sum[3] += noise * ONE; /* of the age's squares */
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = ONE, .draws = 1}, 1000);
        query_run_answers(answer, &run);
        for (size_t k = 1; k < 3; k++) {
            cr_expect(isnan(answer[k].value));
            cr_expect(strstr(answer[k].note, "age hardly varies") != NULL, "%d: %s", noise,
                      answer[k].note);
            cr_expect(strstr(answer[k].note, "would be enough") == NULL, "%d: %s", noise,
                      answer[k].note);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* Noise hides whether the age varies at all: no factor is known, and the answer says how much it may. */
Test(correlate_question, says_how_much_a_column_may_vary_that_noise_hides)
{
    const char *const text[] = {"correlate: [age, sex]"};
    struct query_set set;
    struct query_run run;
    static struct query_answer answer[4];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (int noise = -1; noise <= 1; noise += 2) {
        int64_t sum[CELLS] = {0};
        for (uint64_t i = 0; i < 1000; i++) {
            add(sum, &set.query[0], 74, i % 2 == 0 ? 1 : 0, i);
        }
        sum[3] += noise * 3 * ONE;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = 5 * ONE, .draws = 1}, 1000);
        query_run_answers(answer, &run);
        cr_expect(isnan(answer[1].value) && strstr(answer[1].note, "times the epsilon") == NULL);
        cr_expect(strstr(answer[1].note, "the standard deviation of age is at most 0.") != NULL,
                  "%s", answer[1].note);
        query_run_free(&run);
    }
    query_set_free(&set);
}
