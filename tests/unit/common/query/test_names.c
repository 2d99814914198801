/* Names of columns and categories may be long, of letters of several bytes: the names of answers are UTF-8, and no two are equal.
 * Otherwise a result that was paid for could not be written. */

#include "query/query_answers.h"
#include "query/query_set.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, BITS = 10, LETTERS = 20 };

static struct column column[COLUMNS];
static const struct schema schema = {
    .column = column,
    .column_count = COLUMNS,
    .label = {.name = "death", .positive = "1", .negative = "0"},
};
static const struct query_names names = {.schema = &schema};

/* Some letters of two bytes after some of one. */
static void write_name(char name[static SCHEMA_NAME_BYTES], int letters, int pad, int number)
{
    int size = snprintf(name, SCHEMA_NAME_BYTES, "%d%.*s", number, pad, "xx");
    for (int i = 0; i < letters && size + 2 < SCHEMA_NAME_BYTES; i++) {
        size += snprintf(name + size, 3, "\xc3\xb6");
    }
}

/* Four columns of two categories, and two of numbers. */
static void make_columns(int pad)
{
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = (struct column){.kind = i < 4 ? COLUMN_CATEGORY : COLUMN_NUMBER,
                                    .centre = 50,
                                    .half_width = 50,
                                    .category_count = i < 4 ? 2 : 0};
        write_name(column[i].name, i < 4 ? LETTERS : SCHEMA_NAME_BYTES, pad, i);
        for (int k = 0; k < 2 && i < 4; k++) {
            write_name(column[i].category[k], SCHEMA_NAME_BYTES, pad, k);
        }
    }
}

static bool is_utf8(const char *text)
{
    return slice_is_utf8((struct slice){text, strlen(text)});
}

static void expect_names(const char *text, double scale)
{
    struct query_set set;
    struct query_run run;
    struct why why = {{0}};
    cr_assert(query_set_init(&set, &text, 1, BITS, &names, &why) == STATUS_OK, "%s", why.text);
    query_set_plan(&set, &(struct query_public){.records = 1000, .variance = 10});
    const size_t count = query_run_answer_count(&set);
    int64_t *sum = calloc(query_set_cells(&set, 0), sizeof *sum);
    struct query_answer *answer = calloc(count, sizeof *answer);
    cr_assert(sum != NULL && answer != NULL);
    sum[0] = 1000 << BITS;
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = ldexp(scale, BITS), .draws = 1},
                      1000);
    query_run_answers(answer, &run);
    for (size_t i = 0; i < count; i++) {
        cr_expect(is_utf8(answer[i].name) && is_utf8(answer[i].note), "%s", answer[i].name);
        cr_expect(is_utf8(answer[i].figure) && is_utf8(answer[i].variable) &&
                      is_utf8(answer[i].group) && is_utf8(answer[i].unit),
                  "%s: %s", answer[i].name, answer[i].figure);
        for (size_t j = 0; j < i; j++) {
            cr_expect(strcmp(answer[i].name, answer[j].name) != 0, "%s", answer[i].name);
        }
    }
    query_run_free(&run);
    query_set_free(&set);
    free(answer);
    free(sum);
}

Test(names, of_answers_are_utf8_and_differ)
{
    for (int pad = 0; pad < 2; pad++) {
        char text[2 * QUERY_TEXT_BYTES];
        make_columns(pad);
        for (double scale = 1; scale < 1000; scale *= 20) {
            (void)snprintf(text, sizeof text, "crosstab: %s x %s x %s x %s", column[0].name,
                           column[1].name, column[2].name, column[3].name);
            expect_names(text, scale);
            (void)snprintf(text, sizeof text, "crosstab: %s x %s", column[0].name, column[1].name);
            expect_names(text, scale);
            (void)snprintf(text, sizeof text, "regress: death ~ %s + %s + %s", column[0].name,
                           column[1].name, column[4].name);
            expect_names(text, scale);
            (void)snprintf(text, sizeof text, "table1: [%s, %s] by %s", column[0].name,
                           column[4].name, column[1].name);
            expect_names(text, scale);
            (void)snprintf(text, sizeof text, "survival: time %s event death by %s>91.5, to 50",
                           column[4].name, column[5].name);
            expect_names(text, scale);
        }
    }
}
