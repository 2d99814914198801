/* The question `crosstab`: its text, a record's cell, and its answers. */

#include "base/bytes.h"
#include "estimate/crosstab.h"
#include "query/query_answers.h"
#include "query/query_run.h"

#include "toy_question.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 8, ONE = 1 << BITS, ANSWERS = 13 };

static size_t cell_of(const char *text, double sex, double region, double label)
{
    struct query query;
    struct why why = {{0}};
    const double cell[TOY_COLUMNS] = {70, sex, 1, region};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    int64_t sum[QUERY_CELLS_MAX] = {0};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_OK, "%s: %s", text,
              why.text);
    query_add(sum, &query, BITS, 0, &row);
    size_t found = query.cell_count;
    for (size_t i = 0; i < query.cell_count; i++) {
        cr_assert(sum[i] == 0 || (sum[i] == ONE && found == query.cell_count));
        found = sum[i] != 0 ? i : found;
    }
    cr_assert(found < query.cell_count, "a record is in one cell");
    return found;
}

Test(crosstab_question, puts_a_record_into_the_cell_of_its_categories)
{
    cr_expect(cell_of("crosstab: sex x death", 0, 0, -1) == 0);
    cr_expect(cell_of("crosstab: sex x death", 0, 0, 1) == 1);
    cr_expect(cell_of("crosstab: sex x death", 1, 0, -1) == 2);
    cr_expect(cell_of("crosstab: sex x death", 1, 0, 1) == 3);
    cr_expect(cell_of("crosstab: sex x death", NAN, 0, 1) == 4);
    cr_expect(cell_of("crosstab: sex x death where age < 60", 1, 0, 1) == 4);
    cr_expect(cell_of("crosstab: sex x 'home region' x death", 1, 2, 1) == 6 + 2 * 2 + 1);
    cr_expect(cell_of("crosstab: sex x 'home region' x death", 1, -1, 1) == 12);
}

Test(crosstab_question, refuses_with_the_place_and_the_remedy)
{
    refuses("crosstab: sex", "the text ends here: x and another column");
    refuses("crosstab: sex x sex", "character 17, \"sex\": this column is in the table already");
    refuses("crosstab: sex x age", "column of numbers");
    refuses("crosstab: sex x death x", "the name of a column");
    refuses("crosstab: sex by death", "x and another column");
    refuses("crosstab: sex x deat", "death");
}

/* Noise makes a count negative, and another one larger than all records: both are shown within what is possible, and no
 * interval has two equal ends. Where the bar is wider than all records no count is told. */
Test(crosstab_question, tells_counts_that_can_be)
{
    const char *const text[] = {"crosstab: sex x death"};
    const struct query_noise noise = {.scale = ONE * 4.0, .draws = 1};
    const int64_t sum[5] = {-20 * ONE, 420 * ONE, 10 * ONE, 0, 0};
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &noise, 410);
    query_run_answers(answer, &run);
    cr_expect(answer[0].value == 0 && answer[0].low == 0 && answer[0].high > 5);
    cr_expect(answer[1].value == 410 && answer[1].high == 410 && answer[1].low < 405);
    cr_expect(answer[2].low == 0 && answer[2].high > 0);
    cr_expect(answer[4].value == 410 && answer[5].value == 0 && answer[4].note[0] == '\0');
    query_run_free(&run);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = ONE * 400.0, .draws = 1}, 410);
    query_run_answers(answer, &run);
    cr_expect(isnan(answer[0].value) && isnan(answer[0].error) && isnan(answer[0].high));
    cr_expect(strstr(answer[0].note, "the noise's bar is wider than all records; 5.3 times") !=
                  NULL,
              "%s", answer[0].note);
    query_run_free(&run);
    query_set_free(&set);
}

/* Sex tells who dies: shares of 0 and 1, a difference of 1, and a ratio without a value. */
Test(crosstab_question, keeps_bars_within_what_a_figure_can_be)
{
    const char *const text[] = {"crosstab: sex x death"};
    const struct query_noise noise = {.scale = ONE * 4.0, .draws = 1};
    const int64_t sum[5] = {503 * ONE, -3 * ONE, -2 * ONE, 502 * ONE, 0};
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &noise, 1000);
    query_run_answers(answer, &run);
    for (size_t i = 8; i < 11; i++) { /* two shares, their difference */
        cr_expect(answer[i].low >= (i == 10 ? -1 : 0) && answer[i].high <= 1, "%s: %g to %g",
                  answer[i].name, answer[i].low, answer[i].high);
    }
    cr_expect(isnan(answer[11].value) && isnan(answer[11].low) && isnan(answer[11].high));
    cr_expect(strstr(answer[11].note, "a cell is empty") != NULL, "%s", answer[11].note);
    query_run_free(&run);
    query_set_free(&set);
}

/* What is refused is given with as much more epsilon as the note says. */
Test(crosstab_question, says_of_each_refused_figure_what_is_enough)
{
    const char *const text[] = {"crosstab: sex x death"};
    const int64_t sum[5] = {140 * ONE, 60 * ONE, 100 * ONE, 100 * ONE, 10 * ONE};
    const size_t figure[] = {8, 9, 10, 11, 12}; /* two shares, their difference, odds ratio, test */
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++) {
        double scale = 30;
        for (int asked = 0; asked < 2; asked++) {
            struct query_answer answer[ANSWERS];
            struct query_set set;
            struct query_run run;
            double times = 1;
            const struct query_noise noise = {.scale = ONE * scale, .draws = 1};
            cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
            cr_assert(query_run_init(&run, &set) == STATUS_OK);
            query_run_observe(&run, sum, &noise, 410);
            query_run_answers(answer, &run);
            const struct query_answer *own = &answer[figure[i]];
            const char *would = strstr(own->note, "; ");
            cr_expect(isnan(own->value) == (asked == 0), "%s: %s", own->name, own->note);
            if (asked == 0) {
                cr_assert(would != NULL && sscanf(would, "; %lg times the epsilon", &times) == 1,
                          "%s: %s", own->name, own->note);
                cr_expect(times > 1);
                scale /= times * 1.001; /* the note has three digits */
            }
            query_run_free(&run);
            query_set_free(&set);
        }
    }
}

/* The second row, or every row, is empty: the noise there is not taken for records that more epsilon would show. */
Test(crosstab_question, says_that_nobody_was_found_in_a_row)
{
    const char *const text[] = {"crosstab: sex x death"};
    const struct query_noise noise = {.scale = ONE * 2.0, .draws = 1};
    const int64_t row[] = {200, 1}; /* of the first row, in each cell */
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const int64_t sum[5] = {row[i] * ONE, row[i] * ONE, ONE, 2 * ONE, (407 - 2 * row[i]) * ONE};
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, 410);
        query_run_answers(answer, &run);
        for (size_t figure = 9; figure < 12; figure++) { /* share, difference, odds ratio */
            const char *note = answer[figure].note;
            cr_expect(isnan(answer[figure].value));
            cr_expect(strstr(note, i == 0 ? "no record was found in sex M, as far as the noise"
                                          : "no record was found in sex ") != NULL,
                      "%s", note);
            cr_expect(strstr(note, "times the") == NULL, "%s", note);
        }
        cr_expect(isnan(answer[8].value) == (i == 1));
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* With 10 records a cell has 2 expected ones. A test needs 5, and no epsilon changes that. */
Test(crosstab_question, says_how_many_records_a_test_of_few_needs)
{
    const char *const text[] = {"crosstab: sex x death"};
    const struct query_noise noise = {.scale = ONE / 1000.0, .draws = 1};
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    double times = 0;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (int asked = 0; asked < 2; asked++) {
        const double more = asked == 0 ? 1 : times * 1.001;
        const int64_t records = (int64_t)ceil(10 * more);
        const int64_t sum[5] = {2 * records * ONE / 10, 2 * records * ONE / 10,
                                3 * records * ONE / 10, 3 * records * ONE / 10, 0};
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, (uint64_t)records);
        query_run_answers(answer, &run);
        const struct query_answer *test = &answer[ANSWERS - 1];
        const char *would = strstr(test->note, "; ");
        cr_expect(isnan(test->value) == (asked == 0), "%s", test->note);
        cr_assert(asked == 1 ||
                      (would != NULL &&
                       sscanf(would, "; %lg times the records would be enough", &times) == 1 &&
                       strstr(would, "epsilon") == NULL),
                  "%s", test->note);
        query_run_free(&run);
    }
    cr_expect(times >= 2.5 && times < 6, "%g", times); /* with chance allowed for */
    query_set_free(&set);
}

/* 60 of 200 women and 100 of 200 men died; ten records are in no cell, and the noise has added five to all. */
Test(crosstab_question, answers_with_counts_that_agree)
{
    const char *const text[] = {"crosstab: sex x death"};
    const struct query_noise noise = {.scale = ONE / 4.0, .draws = 1};
    const double balanced[8] = {140, 60, 100, 100, 200, 200, 240, 160};
    const int64_t sum[5] = {141 * ONE, 61 * ONE, 101 * ONE, 101 * ONE, 11 * ONE};
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    cr_assert(query_run_answer_count(&set) == ANSWERS && query_run_point_count(&set) == 0);
    query_run_observe(&run, sum, &noise, 410);
    query_run_answers(answer, &run);
    for (size_t i = 0; i < 8; i++) {
        cr_expect(fabs(answer[i].value - balanced[i]) < 1e-9, "%s %g", answer[i].name,
                  answer[i].value);
        cr_expect(answer[i].low < answer[i].value && answer[i].value < answer[i].high);
    }
    cr_assert_str_eq(answer[1].name, "crosstab: sex x death: sex F, death 1");
    cr_assert_str_eq(answer[5].name, "crosstab: sex x death: all sex M");
    cr_assert_str_eq(answer[8].name, "crosstab: sex x death: share of death 1, sex F");
    cr_expect(fabs(answer[8].value - 0.3) < 1e-9 && fabs(answer[9].value - 0.5) < 1e-9);
    cr_assert_str_eq(answer[10].name, "crosstab: sex x death: share of death 1, sex M less F");
    cr_expect(fabs(answer[10].value - 0.2) < 1e-9 && answer[10].total_low < 0.2);
    cr_expect(fabs(answer[11].value - 100.0 * 140 / (100.0 * 60)) < 1e-9);
    cr_expect(answer[11].total_low > 1 && answer[11].total_high > answer[11].value);
    cr_expect(answer[12].value < 0.001 && strstr(answer[12].note, "chi-squared") != NULL);
    query_run_free(&run);
    query_set_free(&set);
}

/* Nobody is in the third region: the test is of the two others; with nobody in the second either there is none, and no remedy. */
Test(crosstab_question, leaves_empty_categories_out_of_the_test_and_says_so)
{
    const char *const text[] = {"crosstab: 'home region' x death"};
    const struct query_noise noise = {.scale = ONE / 2.0, .draws = 1};
    for (int more = 0; more < 2; more++) {
        const int64_t sum[7] = {
            140 * ONE, 60 * ONE, more ? 100 * ONE : 0, more ? 100 * ONE : ONE, 0, ONE, 0};
        struct query_answer answer[15];
        struct query_set set;
        struct query_run run;
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        cr_assert(query_run_answer_count(&set) == 15);
        query_run_observe(&run, sum, &noise, more ? 400 : 200);
        query_run_answers(answer, &run);
        const char *note = answer[14].note;
        cr_expect(isnan(answer[14].value) == (more == 0), "%s", note);
        cr_expect(more == 0 ||
                      (strstr(note, "with 1 degree of freedom") != NULL &&
                       strstr(note, "left out") != NULL && strstr(note, ": home region 3")),
                  "%s", note);
        cr_expect(more == 1 ||
                      (strstr(note, "home region has records in only one category") != NULL &&
                       strstr(note, "would be enough") == NULL),
                  "%s", note);
        query_run_free(&run);
        query_set_free(&set);
    }
}

/* The third region is neither empty nor large enough. The test follows the note: more records, or a table without
 * it. */
Test(crosstab_question, names_the_category_that_keeps_the_others_from_a_test)
{
    const char *const text[] = {"crosstab: 'home region' x death"};
    const struct query_noise noise = {.scale = ONE / 2.0, .draws = 1};
    double times = 1;
    for (int more = 0; more < 2; more++) {
        const int64_t one = (int64_t)ceil(ONE * (more ? times * 1.001 : 1));
        const int64_t sum[7] = {140 * one, 60 * one, 100 * one, 100 * one, 5 * one, 4 * one, 0};
        struct query_answer answer[15];
        struct query_set set;
        struct query_run run;
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, more ? (uint64_t)(409 * times * 1.001) : 409);
        query_run_answers(answer, &run);
        const char *note = answer[14].note;
        const char *would = strstr(note, "; ");
        cr_expect(isnan(answer[14].value) == (more == 0), "%s", note);
        if (more == 0) {
            cr_expect(strstr(note, ": home region 3, death 1 is expected to hold about 3 records, "
                                   "and needs 5; ") != NULL,
                      "%s", note);
            cr_assert(sscanf(would, "; %lg times the records would be enough", &times) == 1, "%s",
                      note);
            cr_expect(strstr(note, "; or leave \"3\" out of the categories of home region: ") !=
                          NULL,
                      "%s", note);
        }
        query_run_free(&run);
        query_set_free(&set);
    }
    const double without[5] = {140, 60, 100, 100, 9};
    double p = NAN;
    (void)crosstab_test(&p, &(struct crosstab_cells){without, 2, 2, 5, 0.5});
    cr_expect(!isnan(p));
    /* If the rest is too small as well, the note does not propose to leave a category out. */
    const int64_t few[7] = {7 * ONE, 6 * ONE, 6 * ONE, 7 * ONE, 4 * ONE, 4 * ONE, 0};
    struct query_answer answer[15];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, few, &(struct query_noise){.scale = ONE, .draws = 1}, 34);
    query_run_answers(answer, &run);
    cr_expect(isnan(answer[14].value) && strstr(answer[14].note, "leave") == NULL, "%s",
              answer[14].note);
    query_run_free(&run);
    query_set_free(&set);
}

/* Names are shown whole, whatever their length, or summed up as "others". */
Test(crosstab_question, names_what_is_left_out_as_far_as_there_is_room)
{
    static const char letters[] = "\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x82\xac\xc3\xa4\xc3\xb6\xc3\xbc";
    for (size_t pad = 0; pad < 24; pad++) {
        struct query_answer answer = {.note = ""};
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s%s", (int)pad, "abcdefghijklmnopqrstuvwxyz",
                       letters);
        for (int i = 0; i < 40; i++) {
            query_say_left_out(&answer, "", name);
        }
        const char *others = strstr(answer.note, ", and others");
        cr_assert_not_null(others, "%s", answer.note);
        cr_expect_str_eq(others, ", and others");
        cr_expect(slice_is_utf8((struct slice){answer.note, strlen(answer.note)}), "%zu", pad);
        cr_expect(strncmp(others - strlen(letters), letters, strlen(letters)) == 0, "%zu", pad);
        cr_expect_str_eq(query_left_out(answer.note), answer.note);
    }
}

/* Also if counts are refused, the category is not left out. A table of 2 x 2 has all figures, and no
 * such note. */
Test(crosstab_question, says_which_figures_its_shape_does_not_have)
{
    static const struct {
        const char *text;
        const char *note;
    } tables[] = {
        {"crosstab: sex x death", ""},
        {"crosstab: 'home region' x death",
         "only tables of 2 x 2 have the odds ratio and the difference of shares; a regress of "
         "death by home region gives the odds ratio of each category to the first"},
        {"crosstab: death x 'home region'",
         "only tables of 2 x 2 have the odds ratio and the difference of shares; write home region "
         "x death for the shares of death in each category"},
        {"crosstab: sex x death x 'home region'",
         "a table of more than two columns has only counts: no share, no odds ratio and no test"},
    };
    static const int64_t sum[16] = {90 * ONE, 80 * ONE, 70 * ONE, 60 * ONE, 50 * ONE, 40 * ONE};
    static struct query_answer answer[32];
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct query_set set;
        struct query_run run;
        cr_assert(query_set_init(&set, &tables[i].text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        for (int wide = 0; wide < 2; wide++) {
            const struct query_noise noise = {.scale = ONE * (wide ? 400.0 : 0.25), .draws = 1};
            cr_assert(query_run_init(&run, &set) == STATUS_OK);
            query_run_observe(&run, sum, &noise, 410);
            cr_assert(query_run_answer_count(&set) <= sizeof answer / sizeof answer[0]);
            query_run_answers(answer, &run);
            const char *own = strstr(answer[0].note, tables[i].note);
            cr_expect(own != NULL && (i == 0 || strcmp(own, tables[i].note) == 0), "%s",
                      answer[0].note);
            cr_expect(wide == (own != answer[0].note) || i == 0, "%s", answer[0].note);
            cr_expect(i > 0 || strstr(answer[0].note, "alone") == NULL, "%s", answer[0].note);
            query_run_free(&run);
        }
        query_set_free(&set);
    }
}

/* Near the least expected cell that is tested noise may have made the columns look dependent: the statistic is lowered, and the answer
 * says from what. Without noise, and where it is far, it says nothing of that. */
Test(crosstab_question, says_where_a_test_is_lowered)
{
    const char *const text[] = {"crosstab: sex x death"};
    const int64_t cell[3][4] = {{60, 110, 400, 300}, {60, 110, 400, 300}, {600, 1100, 4000, 3000}};
    const double scale[3] = {8, 0.01, 8};
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct query_noise noise = {.scale = ONE * scale[i], .draws = 1};
        int64_t sum[5] = {0};
        int64_t records = 0;
        for (size_t k = 0; k < 4; k++) {
            sum[k] = cell[i][k] * ONE;
            records += cell[i][k];
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, (uint64_t)records);
        query_run_answers(answer, &run);
        const char *note = answer[12].note;
        const char *from = strstr(note, "; lowered from ");
        double told = NAN;
        double found = NAN;
        cr_assert(sscanf(note, "chi-squared %lg", &told) == 1, "%s", note);
        cr_expect((from != NULL) == (i == 0), "%zu: %s", i, note);
        if (i == 0) {
            cr_assert(sscanf(from, "; lowered from %lg", &found) == 1);
            cr_expect(found > 1.005 * told && answer[12].value > 0, "%s", note);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}
