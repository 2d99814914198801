/* Questions: how their text is read, and what one record adds to them. */

#include "query/query.h"
#include "query/query_set.h"

#include "learn/dataset.h"

#include "toy_question.h"

#include <criterion/criterion.h>

enum { BITS = 8, ONE = 1 << BITS };

static void adds(const char *text, double age, double kappa, double threshold,
                 const int64_t *expected)
{
    const struct query query = parsed(text);
    const double cell[TOY_COLUMNS] = {age, 1, kappa, 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1};
    int64_t sum[QUERY_CELLS_MAX] = {0};
    query_add(sum, &query, BITS, threshold, &row);
    for (size_t i = 0; i < query.cell_count; i++) {
        cr_expect(sum[i] == expected[i], "%s cell %zu: %ld", text, i, sum[i]);
    }
}

Test(query, adds_what_it_says)
{
    adds("count: age >= 65", 70, 1, 0, (int64_t[]){ONE});
    adds("count: age >= 65", 60, 1, 0, (int64_t[]){0});
    adds("mean: age", 50, 1, 0, (int64_t[]){-ONE / 2});
    adds("mean: age", 98, 1, 0, (int64_t[]){ONE / 2});
    adds("mean: age", 74, 1, 0, (int64_t[]){0});
    adds("mean: age", NAN, 1, 0, (int64_t[]){0}); /* the centre stands for a missing one */
    adds("mean: age", 120, 1, 0, (int64_t[]){ONE / 2});
    adds("mean: age where sex == M", 62, 1, 0, (int64_t[]){-ONE / 4, ONE});
    adds("mean: age where sex == F", 62, 1, 0, (int64_t[]){0, 0});
    adds("histogram: age by 20", 59.99, 1, 0, (int64_t[]){ONE, 0, 0});
    adds("histogram: age by 20", 60, 1, 0, (int64_t[]){0, ONE, 0});
    adds("histogram: age by 20", 98, 1, 0, (int64_t[]){0, 0, ONE});
    adds("histogram: age by 20", NAN, 1, 0, (int64_t[]){0, 0, 0});
    adds("histogram: age by 20", 49.9, 1, 0, (int64_t[]){0, 0, 0});
    adds("histogram: age by 20", 98.1, 1, 0, (int64_t[]){0, 0, 0});
    adds("count: age > 98", 99, 1, 0, (int64_t[]){ONE});
    adds("count: age == 98", 99, 1, 0, (int64_t[]){0});
    adds("histogram: sex", 60, 1, 0, (int64_t[]){0, ONE});
    adds("histogram: 'home region'", 60, 1, 0, (int64_t[]){0, 0, ONE});
    adds("histogram: death where sex == M", 60, 1, 0, (int64_t[]){0, ONE});
    adds("quantile: 0.25 of age", 60, 1, 60, (int64_t[]){ONE - ONE / 4});
    adds("quantile: 0.25 of age", 61, 1, 60, (int64_t[]){-ONE / 4});
    adds("quantile: 0.25 of age where sex == F in 3 rounds", 61, 1, 60, (int64_t[]){0});
    adds("quantile: 0.5 of age", NAN, 1, 60, (int64_t[]){0});
    adds("quantile: 0.5 of age", 120, 1, 98, (int64_t[]){-ONE / 2});
    adds("histogram: kappa at 1, 2", 60, 1.5, 0, (int64_t[]){0, ONE, 0});
    adds("histogram: kappa at 1, 2", 60, 1, 0, (int64_t[]){0, ONE, 0});
    adds("histogram: kappa at 1, 2", 60, 2, 0, (int64_t[]){0, 0, ONE});
}

Test(query, reads_edges_and_names_cells)
{
    const struct query by = parsed("histogram: age by 10");
    const struct query at = parsed("histogram: age at 51, 60.5, 97");
    const struct query of_category = parsed("histogram: sex");
    char name[64];
    cr_assert(by.cell_count == 5);
    for (size_t i = 0; i < 4; i++) {
        cr_assert(by.edge[i] == 60 + 10.0 * (double)i);
    }
    query_cell_name(name, sizeof name, &by, 0);
    cr_assert_str_eq(name, "age [50, 60)");
    query_cell_name(name, sizeof name, &by, 4);
    cr_assert_str_eq(name, "age [90, 98]");
    cr_assert(at.cell_count == 4 && at.edge[1] == 60.5);
    query_cell_name(name, sizeof name, &of_category, 1);
    cr_assert_str_eq(name, "sex M");
    cr_assert(parsed("quantile: 0.5 of age").rounds == QUERY_ROUNDS_DEFAULT);
    cr_assert(parsed("quantile: 0.5 of age in 40 rounds").rounds == 40);
    cr_assert(parsed("mean: age").cell_count == 1);
    cr_assert(parsed("mean: age where sex == F").cell_count == 2);
}

/* A share that rounds to 0 or 1 is no quantile. */
Test(query, rounds_a_share_to_the_grid_and_never_to_its_ends)
{
    const struct query most = parsed("quantile: 0.999 of age");
    const struct query least = parsed("quantile: 0.01 of age");
    const struct query quarter = parsed("quantile: 0.25 of age");
    cr_assert(query_share_steps(&most, 1) == 1 && query_share_steps(&most, 20) == 1047527);
    cr_assert(query_share_steps(&least, 1) == 1 && query_share_steps(&least, 8) == 3);
    cr_assert(query_share_steps(&quarter, 8) == 64);
}

Test(query, notes_a_constant_that_no_record_can_reach)
{
    struct why note = {{0}};
    const struct query inside = parsed("count: age > 60");
    const struct query outside = parsed("mean: age where sex == F and age > 120");
    cr_assert(!query_has_note(&inside, &note) && note.text[0] == '\0');
    cr_assert(query_has_note(&outside, &note));
    cr_assert(strncmp(note.text, "character 36 of \"mean: age", 26) == 0, "%s", note.text);
    cr_assert(query_has_note(&outside, NULL));
}

Test(query, measures_labels_that_are_numbers_or_classes)
{
    struct schema schema = toy;
    struct query query;
    int64_t sum[3] = {0};
    const double cell[TOY_COLUMNS] = {60, 0, 1, 0};
    struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 12};
    schema.label.kind = LABEL_NUMBER;
    schema.label.centre = 10;
    schema.label.half_width = 4;
    cr_assert(query_parse(&query, slice_of("mean: death"), &(struct query_names){.schema = &schema},
                          NULL) == STATUS_OK);
    cr_assert(query.low == 6 && query.high == 14);
    query_add(sum, &query, BITS, 0, &row);
    cr_assert(sum[0] == ONE / 4);
    schema.label.kind = LABEL_CLASSES;
    schema.label.class_count = 3;
    strcpy(schema.label.class_name[0], "a");
    strcpy(schema.label.class_name[1], "b");
    strcpy(schema.label.class_name[2], "c");
    row.label = 2;
    sum[0] = 0;
    cr_assert(query_parse(&query, slice_of("histogram: death"),
                          &(struct query_names){.schema = &schema}, NULL) == STATUS_OK);
    query_add(sum, &query, BITS, 0, &row);
    cr_assert(query.cell_count == 3 && sum[0] == 0 && sum[1] == 0 && sum[2] == ONE);
}

static void refused(const char *text, const char *place, const char *remedy)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_INVALID, "%s", text);
    cr_expect(strstr(why.text, place) != NULL && strstr(why.text, remedy) != NULL, "%s: %s", text,
              why.text);
}

Test(query, refuses_with_place_and_remedy)
{
    refused("", "character 1:", "count:");
    refused("sum: age", "character 1, \"sum\"", "count:, mean:");
    refused("count age", "character 7, \"age\"", "colon");
    refused("count: age >= 65 where sex == F", "character 18, \"where\"", "end here");
    refused("mean: sex", "character 7, \"sex\"", "order");
    refused("mean: age if sex == F", "character 11, \"if\"", "end here");
    refused("mean: age 'where' sex == F", "character 11, \"where\"", "end here");
    refused("mean: age where", "character 16:", "column");
    refused("histogram: age", "character 15:", "by");
    refused("histogram: age by 0", "character 19, \"0\"", "above 0");
    refused("histogram: age by -1", "character 19", "above 0");
    refused("histogram: age by 0.01", "character 19", "more than 128");
    refused("histogram: age by 1e-300", "character 19", "more than 128");
    refused("histogram: age by 100", "character 22", "smaller width");
    refused("histogram: age at 50", "character 19, \"50\"", "inside");
    refused("histogram: age at 60, 60", "character 23, \"60\"", "rise");
    refused("histogram: age at 60, 98", "character 23, \"98\"", "inside");
    refused("histogram: age at 60,", "character 22:", "edge");
    refused("quantile: 0 of age", "character 11, \"0\"", "between 0 and 1");
    refused("quantile: 1 of age", "character 11, \"1\"", "between 0 and 1");
    refused("quantile: age", "character 11, \"age\"", "share");
    refused("quantile: 0.5 age", "character 15, \"age\"", "of");
    refused("quantile: 0.5 of 'home region'", "character 18, \"home region\"", "order");
    refused("quantile: 0.5 of age in 0 rounds", "character 25, \"0\"", "1 to 40");
    refused("quantile: 0.5 of age in 41 rounds", "character 25, \"41\"", "1 to 40");
    refused("quantile: 0.5 of age in 1.5 rounds", "character 25", "whole");
    refused("quantile: 0.5 of age in 5", "character 26:", "rounds");
    refused("mean: death", "character 7, \"death\"", "order");
}

Test(query, of_a_set_is_named_when_refused)
{
    static const char *const text[] = {"mean: age", "count: age >", "mean: age"};
    struct query_set set;
    struct why why = {{0}};
    cr_assert(query_set_init(&set, text, 3, 10, &toy_names, &why) == STATUS_INVALID);
    cr_assert(strncmp(why.text, "question 2: character 13:", 25) == 0, "%s", why.text);
    cr_assert(set.query == NULL && set.count == 0);
    cr_assert(query_set_init(&set, text, 0, 10, &toy_names, &why) == STATUS_INVALID);
    cr_assert(query_set_init(&set, text, 1, 0, &toy_names, &why) == STATUS_INVALID);
    cr_assert(query_set_init(&set, text, 1, 25, &toy_names, &why) == STATUS_INVALID);
    cr_assert(query_set_init(&set, text, 1, 24, &toy_names, &why) == STATUS_OK);
    query_set_free(&set);
    query_set_free(NULL);
}

/* The cells that a data set keeps are those that questions look at, to the last bit: on a constant,
 * beyond a range, after a transform; missing, no number, and none of the categories. */
Test(query, asks_the_cells_of_a_data_set)
{
    static const char table[] = "kappa,home region,age,sex,death\n"
                                "1.5,north,65,F,1\n"
                                "1.4999999,and,64.9,F,0\n"
                                "9,3,120,M,1\n"
                                "0,3,50,M,0\n"
                                ",east,x,,\n";
    static const char *const text[] = {"count: kappa >= 1.5",
                                       "count: kappa == 1.5",
                                       "count: age >= 65 and age == 65",
                                       "count: age > 98",
                                       "count: sex == M",
                                       "histogram: 'home region'",
                                       "count: death == 1",
                                       "mean: age where kappa > 6.02",
                                       "histogram: kappa at 1.5"};
    const int64_t expected[] = {2, 1, 1, 1, 2, 1, 1, 2, 2, -1, 1, 1, 1};
    struct schema schema = toy;
    struct dataset data;
    struct query_set set;
    struct why why = {{0}};
    int64_t sum[13] = {0};
    schema.keeps_raw = true;
    cr_assert(dataset_parse(&data, (struct slice){table, sizeof table - 1}, "table", &schema,
                            &(struct dataset_options){.use = DATASET_LEARN}, &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(query_set_init(&set, text, 9, 4, &(struct query_names){.schema = &schema}, &why) ==
                  STATUS_OK,
              "%s", why.text);
    cr_assert(query_set_cells(&set, 0) == 13);
    for (size_t i = 0; i < data.record_count; i++) {
        const struct row row = {data.raw + i * data.column_count, data.column_count,
                                data.raw_label[i]};
        query_set_add(sum, &set, 0, NULL, &row);
    }
    for (size_t i = 0; i < 13; i++) {
        /* the one mean is of an age above the range: half a step up */
        cr_expect(i == 9 ? sum[i] == 8 : sum[i] == expected[i] * 16, "cell %zu: %ld", i, sum[i]);
    }
    query_set_free(&set);
    dataset_free(&data);
}

Test(query, notes_a_where_that_picks_a_category_of_what_is_asked)
{
    static const char *const own[] = {
        "crosstab: sex x death where death == 1", "regress: death ~ age where death == 1",
        "correlate: [age, sex] where sex == F", "evaluate: age for death where death == 1",
        "survival: time age event death by sex, to 80 where sex == F"};
    static const char *const others[] = {
        "crosstab: sex x death where age > 60", "regress: death ~ age where sex == F",
        "correlate: [age, kappa] where age > 60", "evaluate: age for death where sex == F",
        "count: sex == F"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        struct why note = {{0}};
        const struct query query = parsed(own[i]);
        cr_expect(query_has_note(&query, &note) && strstr(note.text, "picks a category") != NULL,
                  "%s", own[i]);
        const struct query other = parsed(others[i]);
        cr_expect(!query_has_note(&other, NULL), "%s", others[i]);
    }
}
