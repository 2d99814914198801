/* From a table to features, by public knowledge alone; every refusal names the place and the
 * remedy, and no value. */

#include "learn/dataset.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "age,sex,sample.yr,kappa,lambda,creatinine,mgus,death\n";

static enum status read_text(struct dataset *out, const char *text, enum dataset_use use,
                             struct why *why)
{
    struct schema schema;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    const enum status status =
        dataset_parse(out, (struct slice){text, strlen(text)}, "site.csv", &schema, use, why);
    schema_free(&schema);
    return status;
}

static enum status read_rows(struct dataset *out, const char *rows, struct why *why)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", header, rows);
    return read_text(out, text, DATASET_LEARN, why);
}

Test(dataset, builds_features_by_the_schema)
{
    struct dataset data;
    const double scale = 1 / sqrt(8);
    cr_assert(read_rows(&data,
                        "98,M,1995,0,1.857651118063164,1.5,1,1\n"
                        "74,F,2003,1.857651118063164,0,NA,0,0\n",
                        NULL) == STATUS_OK);
    const double expected[2][8] = {{1, 1, -1, 0, 1, 1, -1, 1}, {0, -1, 0, -1, -.25, -1, 1, 1}};
    cr_assert(data.record_count == 2 && data.feature_count == 8);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 8; j++) {
            double want = expected[i][j];
            want = i == 0 && j == 2 ? -1 : want;
            cr_assert(fabs(data.x[i * 8 + j] - scale * want) < 1e-12, "%d %d", i, j);
        }
    }
    cr_assert(data.y[0] == 1 && data.y[1] == -1);
    /* log1p(0) lies below the bound 1.05 - 0.9 of kappa and lambda. */
    cr_assert(data.clamped[2] == 1 && data.clamped[3] == 1 && dataset_clamped_total(&data) == 2);
    dataset_free(&data);
    dataset_free(NULL);
}

Test(dataset, reads_all_of_flchain_with_norms_at_most_1)
{
    struct schema schema;
    struct dataset data;
    struct why why;
    FILE *file = fopen(TEST_VECTORS "/../../compose/hospitals/flchain.csv", "r");
    cr_assert(file != NULL);
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    cr_assert(dataset_read(&data, file, "flchain.csv", &schema, DATASET_LEARN, &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(data.record_count == 7874);
    size_t deaths = 0;
    for (size_t i = 0; i < data.record_count; i++) {
        long double square = 0;
        for (size_t j = 0; j < 8; j++) {
            square += (long double)data.x[i * 8 + j] * data.x[i * 8 + j];
        }
        cr_assert(square <= 1.0L);
        deaths += data.y[i] > 0 ? 1 : 0;
    }
    cr_assert(deaths == 2169);
    fclose(file);
    dataset_free(&data);
    schema_free(&schema);
}

Test(dataset, clamps_and_counts_values_out_of_bounds)
{
    struct dataset data;
    cr_assert(read_rows(&data,
                        "150,M,1999,1e300,2,1,1,1\n"
                        "-9,F,1999,-5,2,1.5,0,0\n",
                        NULL) == STATUS_OK);
    cr_assert(data.x[0] == schema_scale(8) && data.x[8] == -schema_scale(8));
    cr_assert(data.x[2] == schema_scale(8) && data.x[10] == -schema_scale(8));
    cr_assert(data.clamped[0] == 2 && data.clamped[2] == 2);
    /* 1.5 is creatinine's bound itself, though (1.5 - 1.1)/0.4 rounds to more than 1. */
    cr_assert(dataset_clamped_total(&data) == 4);
    dataset_free(&data);
}

static void refused(const char *rows, const char *place, const char *hint)
{
    struct dataset data;
    struct why why = {{0}};
    cr_assert(read_rows(&data, rows, &why) == STATUS_INVALID, "%s", rows);
    cr_assert(strstr(why.text, "site.csv") != NULL, "%s", why.text);
    cr_assert(strstr(why.text, place) != NULL, "%s", why.text);
    cr_assert(strstr(why.text, hint) != NULL, "%s", why.text);
    cr_assert(strstr(why.text, "666") == NULL && strstr(why.text, "secret") == NULL, "%s",
              why.text);
    cr_assert(data.x == NULL && data.y == NULL && data.clamped == NULL);
}

#define GOOD "70,M,1999,2,2,1,1,1\n"

Test(dataset, refuses_bad_values_without_repeating_them)
{
    refused(GOOD "secret,M,1999,2,2,1,1,1\n", "line 3, column age", "not a number");
    refused(GOOD "66.6 ,M,1999,2,2,1,1,1\n", "line 3, column age", "not a number");
    refused(GOOD "70,M,1999,nan,2,1,1,1\n", "line 3, column kappa", "not a number");
    refused(GOOD "70,M,1999,inf,2,1,1,1\n", "line 3, column kappa", "not a number");
    refused(GOOD "70,M,1999,2,0x29a,1,1,1\n", "line 3, column lambda", "not a number");
    refused(GOOD "70,M,1999,\"66,6\",2,1,1,1\n", "line 3, column kappa", "not a number");
    refused(GOOD "70,secret,1999,2,2,1,1,1\n", "line 3, column sex", "categories");
    refused(GOOD "70,,1999,2,2,1,1,1\n", "line 3, column sex", "no value");
    refused(GOOD ",M,1999,2,2,1,1,1\n", "line 3, column age", "no value");
    refused(GOOD "70,M,1999,NA,2,1,1,1\n", "line 3, column kappa", "no value");
    refused(GOOD "70,M,1999,2,2,1,1,secret\n", "line 3, column death", "two classes");
    refused(GOOD "70,M,1999,2,2,1,1,\n", "line 3, column death", "two classes");
    refused(GOOD "70,M,1999,2,2,1,1\n", "line 3", "7 fields");
    refused(GOOD "70,M,1999,2,2,1,1,1,666\n", "line 3", "9 fields");
    refused(GOOD, "1 records", "at least 2");
    refused("", "0 records", "at least 2");
}

static void refused_text(const char *text, const char *hint)
{
    struct dataset data;
    struct why why = {{0}};
    cr_assert(read_text(&data, text, DATASET_LEARN, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, hint) != NULL, "%s", why.text);
    cr_assert(strstr(why.text, "secret") == NULL, "%s", why.text);
}

Test(dataset, refuses_bad_headers)
{
    refused_text("", "empty");
    refused_text("\n\n", "empty");
    refused_text("sex,sample.yr,kappa,lambda,creatinine,mgus,death\n", "column age is missing");
    refused_text("age;sex;secret\n1;2;3\n", "separated by commas");
    refused_text("age,age,sex,sample.yr,kappa,lambda,creatinine,mgus,death\n", "twice");
    refused_text("age,sex,sample.yr,kappa,lambda,creatinine,mgus\n", "column death is missing");
    refused_text("secret,M,1999,2,2,1,1,1\n" GOOD, "column age is missing");
}

/* 100 MB without a line's end: given up after the first megabyte. The file is sparse. */
Test(dataset, refuses_a_100_MB_line_quickly)
{
    struct schema schema;
    struct dataset data;
    struct why why = {{0}};
    FILE *file = tmpfile();
    cr_assert(flchain_schema(&schema) == STATUS_OK && file != NULL);
    fputs(header, file);
    for (int i = 0; i < 100 * 1024; i++) {
        static const char block[1024] = {[0 ... 1023] = '7'};
        cr_assert(fwrite(block, 1, sizeof block, file) == sizeof block);
    }
    rewind(file);
    cr_assert(dataset_read(&data, file, "site.csv", &schema, DATASET_LEARN, &why) ==
              STATUS_INVALID);
    cr_assert(strstr(why.text, "line 2 is longer") != NULL, "%s", why.text);
    cr_assert(ftell(file) < 2 * 1024 * 1024);
    fclose(file);
    schema_free(&schema);
}

Test(dataset, predicts_without_a_label)
{
    struct dataset data;
    const char *text = "id,age,sex,sample.yr,kappa,lambda,creatinine,mgus\n"
                       "x,70,M,1999,2,2,1,1\n";
    cr_assert(read_text(&data, text, DATASET_PREDICT, NULL) == STATUS_OK);
    cr_assert(data.record_count == 1 && data.y == NULL);
    dataset_free(&data);
}

Test(dataset, expands_three_categories)
{
    struct column column = {.name = "c",
                            .kind = COLUMN_CATEGORY,
                            .category_count = 3,
                            .category = {"a", "b", "NA"},
                            .has_missing = true,
                            .missing = 1};
    const struct schema schema = {&column, 1, {.name = "y", .positive = "p", .negative = "n"}};
    struct dataset data;
    const char *text = "y,c\np,a\nn,NA\nn,\n";
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema, DATASET_LEARN,
                            NULL) == STATUS_OK);
    const double sign[3][4] = {{1, -1, -1, 1}, {-1, -1, 1, 1}, {-1, 1, -1, 1}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            cr_assert(data.x[i * 4 + j] == sign[i][j] * schema_scale(4));
        }
    }
    dataset_free(&data);
}

Test(dataset, concatenates)
{
    struct dataset one;
    struct dataset two;
    struct dataset both;
    cr_assert(read_rows(&one, "50,M,1999,2,2,1,1,1\n60,M,1999,2,2,1,1,0\n", NULL) == STATUS_OK);
    cr_assert(read_rows(&two, "70,M,1999,2,2,1,1,1\n80,M,1999,2,2,1,1,0\n", NULL) == STATUS_OK);
    const struct dataset *parts[] = {&one, &two};
    cr_assert(dataset_concat(&both, parts, 2) == STATUS_OK);
    cr_assert(both.record_count == 4 && both.x[0] == one.x[0] && both.x[2 * 8] == two.x[0] &&
              both.y[1] == one.y[1] && both.y[2] == two.y[0]);
    dataset_free(&one);
    dataset_free(&two);
    dataset_free(&both);
}

Test(dataset, holds_no_number_whose_arithmetic_takes_longer)
{
    struct column column = {.name = "a", .kind = COLUMN_NUMBER, .centre = 0, .half_width = 1};
    struct schema schema = {.column = &column,
                            .column_count = 1,
                            .label = {.name = "y", .positive = "1", .negative = "0"}};
    struct dataset data;
    const char *text = "a,y\n1e-310,1\n-4e-200,0\n0,0\n";
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema, DATASET_LEARN,
                            NULL) == STATUS_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert(data.x[i * 2] == 0, "record %d", i);
    }
    dataset_free(&data);
}
