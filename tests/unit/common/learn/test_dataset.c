/* From a table to features, by public knowledge alone. Every text in a cell can be read. Only the
 * header line can be refused, and no refusal repeats its text. */

#include "learn/dataset.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "age,sex,sample.yr,kappa,lambda,creatinine,mgus,death\n";

static enum status read_text(struct dataset *out, const char *text, enum dataset_use use,
                             struct why *why)
{
    struct schema schema;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    const enum status status = dataset_parse(out, (struct slice){text, strlen(text)}, "site.csv",
                                             &schema, &(struct dataset_options){.use = use}, why);
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
    cr_assert(data.counts[2].clamped == 1 && data.counts[3].clamped == 1 &&
              dataset_count(&data).clamped == 2);
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
    cr_assert(dataset_read(&data, file, "flchain.csv", &schema,
                           &(struct dataset_options){.use = DATASET_LEARN}, &why) == STATUS_OK,
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
    cr_assert(data.counts[0].clamped == 2 && data.counts[2].clamped == 2);
    /* 1.5 is creatinine's bound itself, though (1.5 - 1.1)/0.4 rounds to more than 1. */
    cr_assert(dataset_count(&data).clamped == 4);
    dataset_free(&data);
}

/* A row as the second of three: the others stay what they are, and its features times sqrt(8) are
 * `want`. Returns the dataset's counts of column `column`, which may be the label's. */
static struct cell_counts met(const char *row, const double want[7], double label, size_t column)
{
    struct dataset data;
    char rows[256];
    snprintf(rows, sizeof rows, "98,M,1999,2,2,1.5,1,1\n%s\n50,F,1999,2,2,0.7,0,0\n", row);
    cr_assert(read_rows(&data, rows, NULL) == STATUS_OK && data.record_count == 3, "%s", row);
    cr_assert(data.x[0] == schema_scale(8) && data.y[0] == 1 && data.x[16] == -schema_scale(8) &&
                  data.y[2] == -1,
              "%s: another record has changed", row);
    for (int j = 0; j < 7; j++) {
        cr_assert(fabs(data.x[8 + j] * sqrt(8) - want[j]) < 1e-12, "%s: feature %d is %g", row, j,
                  data.x[8 + j] * sqrt(8));
    }
    cr_assert(data.x[15] == schema_scale(8) && data.y[1] == label, "%s", row);
    const struct cell_counts counts = data.counts[column];
    dataset_free(&data);
    return counts;
}

/* Centres: age 74, year 1999, kappa and lambda's logarithms 1.05, creatinine 1.1 with missing: 1.1.
 * 98 is age's bound, 2 is where log1p gives 1.0986: 0.054 of the half width 0.9. */
Test(dataset, gives_every_cell_a_meaning)
{
    const double k = (log1p(2) - 1.05) / 0.9;
    const double good[7] = {1, 1, k, k, 1, 1, 0};
    static const char *const no_number[] = {"secret", "98 ",  "nan", "inf",    "0x62", "\"9,8\"",
                                            "1e999",  "9\"8", "-",   "98\x01", "\"98"};
    const double no_age[7] = {0, 1, k, k, 1, 1, 0};
    const double nothing[7] = {0, 0, 0, 0, -.25, 0, 0};
    cr_assert(met("98,M,1999,2,2,1.5,1,1", good, 1, 0).unlisted == 0);
    cr_assert(met(",M,1999,2,2,1.5,1,1", no_age, 1, 0).missing == 1);
    cr_assert(met("NA,M,1999,2,2,1.5,1,1", no_age, 1, 0).missing == 1);
    for (size_t i = 0; i + 1 < sizeof no_number / sizeof no_number[0]; i++) {
        char row[128];
        snprintf(row, sizeof row, "%s,M,1999,2,2,1.5,1,1", no_number[i]);
        const struct cell_counts counts = met(row, no_age, 1, 0);
        cr_assert(counts.unlisted == 1 && counts.missing == 0 && counts.line == 3, "%s", row);
        cr_assert(counts.commas == (no_number[i][0] == '"' ? 1 : 0), "%s", row);
    }
    const double no_sex[7] = {1, 0, k, k, 1, 1, 0};
    cr_assert(met("98,secret,1999,2,2,1.5,1,1", no_sex, 1, 1).unlisted == 1);
    cr_assert(met("98,,1999,2,2,1.5,1,1", no_sex, 1, 1).missing == 1);
    cr_assert(met("98,M,1999,2,2,1.5,1,secret", good, -1, 7).unlisted == 1);
    cr_assert(met("98,M,1999,2,2,1.5,1,", good, -1, 7).missing == 1);
    cr_assert(met("98,M,1999,2,2,1.5,1", good, -1, 7).missing == 1, "a row that is too short");
    cr_assert(met("98,M,1999,2,2,1.5,1,1,5,6,7", good, 1, 7).missing == 0, "one that is too long");
    cr_assert(met("", nothing, -1, 7).missing == 1, "a blank line");
    cr_assert(met("\"98,M,1999,2,2,1.5,1,1", nothing, -1, 7).missing == 1, "an open quote");
}

Test(dataset, needs_two_records)
{
    struct dataset data;
    struct why why = {{0}};
    cr_assert(read_rows(&data, "70,M,1999,2,2,1,1,1\n", &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "1 records") != NULL && strstr(why.text, "at least 2") != NULL);
    cr_assert(data.x == NULL && data.y == NULL && data.counts == NULL);
    cr_assert(read_rows(&data, "", &why) == STATUS_INVALID);
}

/* The number of records is what is asked for, whatever the file has. */
Test(dataset, reads_as_many_rows_as_it_is_told)
{
    static const char *const rows[] = {"", "\n\n\n", "70,M,1999,2,2,1,1,1\n",
                                       "70,M,1999,2,2,1,1,1\n80,M,1999,2,2,1,1,1\n",
                                       "70,M,1999,2,2,1,1,1\n80,M,1999,2,2,1,1,1\n1\n2\n3\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dataset data;
        struct schema schema;
        char text[512];
        const struct dataset_options options = {.use = DATASET_LEARN, .row_count = 3};
        snprintf(text, sizeof text, "%s%s", header, rows[i]);
        cr_assert(flchain_schema(&schema) == STATUS_OK);
        cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema, &options,
                                NULL) == STATUS_OK);
        cr_assert(data.record_count == 3, "%zu", i);
        cr_assert(data.filled_rows == (i < 2    ? 3
                                       : i == 2 ? 2
                                       : i == 3 ? 1
                                                : 0),
                  "%zu: %zu", i, data.filled_rows);
        cr_assert(dataset_count(&data).missing == (i == 4 ? 7 : 0), "%zu: %zu", i,
                  dataset_count(&data).missing);
        cr_assert(data.x[2 * 8] == (i == 4 ? -schema_scale(8) : 0) && data.y[2] == -1);
        dataset_free(&data);
        schema_free(&schema);
    }
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
    refused_text("\nage\n", "line 1 is blank");
    refused_text("age,\"secret\n", "quote that never closes");
    refused_text("sex,sample.yr,kappa,lambda,creatinine,mgus,death\n", "column age is missing");
    refused_text("age|sex|secret\n1|2|3\n", "with commas between them");
    refused_text("age,age,sex,sample.yr,kappa,lambda,creatinine,mgus,death\n", "twice");
    refused_text("age,sex,sample.yr,kappa,lambda,creatinine,mgus\n", "column death is missing");
    refused_text("secret,M,1999,2,2,1,1,1\n70,M,1999,2,2,1,1,1\n", "column age is missing");
}

/* 100 MB without a line's end: one record, in the memory of a megabyte. */
Test(dataset, reads_a_100_MB_line_as_one_record)
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
    fputs("\n98,M,1999,2,2,1,1,1\n", file);
    rewind(file);
    cr_assert(dataset_read(&data, file, "site.csv", &schema,
                           &(struct dataset_options){.use = DATASET_LEARN}, &why) == STATUS_OK);
    cr_assert(data.record_count == 2 && data.wrong_rows == 1 && data.x[0] == 0 &&
              data.x[8] == schema_scale(8));
    dataset_free(&data);
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
    const char *text = "y,c\np,a\nn,NA\nn,\nn,d\n";
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema,
                            &(struct dataset_options){.use = DATASET_LEARN}, NULL) == STATUS_OK);
    const double sign[4][4] = {{1, -1, -1, 1}, {-1, -1, 1, 1}, {-1, 1, -1, 1}, {0, 0, 0, 1}};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            cr_assert(data.x[i * 4 + j] == sign[i][j] * schema_scale(4));
        }
    }
    dataset_free(&data);
}

/* `other`, `missing` and the indicator, for a number, two and three categories: columns n, t, c. */
Test(dataset, takes_the_schema_at_its_word_for_other_and_missing_cells)
{
    struct column column[3] = {{.name = "n",
                                .kind = COLUMN_NUMBER,
                                .half_width = 2,
                                .has_missing = true,
                                .missing = 1,
                                .has_indicator = true},
                               {.name = "t",
                                .kind = COLUMN_CATEGORY,
                                .category_count = 2,
                                .category = {"a", "b"},
                                .has_other = true,
                                .other = 1},
                               {.name = "c",
                                .kind = COLUMN_CATEGORY,
                                .category_count = 3,
                                .category = {"a", "b", "d"},
                                .has_other = true,
                                .other = 2,
                                .has_missing = true,
                                .missing = 0,
                                .has_indicator = true}};
    const struct schema schema = {column,
                                  3,
                                  {.name = "y",
                                   .kind = LABEL_CLASSES,
                                   .class_count = 3,
                                   .class_name = {"k", "l", "m"},
                                   .has_other = true,
                                   .other = 1}};
    struct dataset data;
    struct why why = {{0}};
    const char *text = "y,n,t,c\nm,2,a,b\nz,x,z,z\n,,,\n";
    cr_assert(schema_check(&schema, &why) == STATUS_OK, "%s", why.text);
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema,
                            &(struct dataset_options){.use = DATASET_LEARN}, NULL) == STATUS_OK);
    const double want[3][8] = {
        {1, -1, -1, -1, 1, -1, -1, 1}, {.5, 1, 1, -1, -1, 1, 1, 1}, {.5, 1, 1, 1, -1, -1, 1, 1}};
    const double label[3] = {2, 1, 1};
    cr_assert(data.feature_count == 8);
    for (int i = 0; i < 3; i++) {
        cr_assert(data.y[i] == label[i]);
        for (int j = 0; j < 8; j++) {
            cr_assert(fabs(data.x[i * 8 + j] - want[i][j] * schema_scale(8)) < 1e-15, "%d %d", i,
                      j);
        }
    }
    cr_assert(dataset_count(&data).missing == 4 && dataset_count(&data).unlisted == 4);
    dataset_free(&data);
}

Test(dataset, takes_every_other_text_as_the_rest)
{
    struct column column = {.name = "c", .kind = COLUMN_NUMBER, .half_width = 1};
    const struct schema schema = {
        &column, 1, {.name = "y", .positive = "p", .negative = SCHEMA_REST}};
    struct dataset data;
    const char *text = "y,c\np,1\nq,1\n,1\nrest,1\n";
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema,
                            &(struct dataset_options){.use = DATASET_LEARN}, NULL) == STATUS_OK);
    cr_assert(data.y[0] == 1 && data.y[1] == -1 && data.y[2] == -1 && data.y[3] == -1);
    cr_assert(data.counts[1].unlisted == 0 && data.counts[1].missing == 1);
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
    cr_assert(dataset_parse(&data, (struct slice){text, strlen(text)}, "t", &schema,
                            &(struct dataset_options){.use = DATASET_LEARN}, NULL) == STATUS_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert(data.x[i * 2] == 0, "record %d", i);
    }
    dataset_free(&data);
}

/* A line is cut where the dictionary says, and what is cut changes no other record; the header line is not cut. */
Test(dataset, a_line_beyond_its_limit_is_cut_and_moves_no_other_record)
{
    char text[8192];
    struct schema schema;
    struct dataset plain;
    struct dataset cut;
    struct dataset_options options = {.use = DATASET_LEARN, .separator = ',', .line_bytes = 40};
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    cr_assert_gt(strlen(header), 40);
    const char *const row[] = {"98,M,1995,0,1.8,1.5,1,1\n", "74,F,2003,1.8,0,NA,0,0\n"};
    int size = snprintf(text, sizeof text, "%s%s%s%s", header, row[0], row[1], row[0]);
    cr_assert(dataset_parse(&plain, (struct slice){text, (size_t)size}, "t", &schema, &options,
                            NULL) == STATUS_OK);
    cr_assert_eq(plain.wrong_rows, 0);
    size = snprintf(text, sizeof text, "%s%s74,F,2003,1.8,%05000d,NA,0,1\n%s", header, row[0], 0,
                    row[0]);
    cr_assert(dataset_parse(&cut, (struct slice){text, (size_t)size}, "t", &schema, &options,
                            NULL) == STATUS_OK);
    const size_t row_bytes = plain.feature_count * sizeof *plain.x;
    cr_assert(cut.record_count == 3 && cut.wrong_rows == 1);
    cr_expect_eq(memcmp(plain.x, cut.x, row_bytes), 0);
    cr_expect_eq(
        memcmp(plain.x + 2 * plain.feature_count, cut.x + 2 * plain.feature_count, row_bytes), 0);
    cr_expect_eq(cut.counts[4].missing, 1, "the cell that is cut does not exist");
    cr_expect(cut.y[0] == plain.y[0] && cut.y[1] == -1 && cut.y[2] == plain.y[2]);
    options.line_bytes = 0;
    dataset_free(&cut);
    cr_assert(dataset_parse(&cut, (struct slice){text, (size_t)size}, "t", &schema, &options,
                            NULL) == STATUS_OK);
    cr_expect_eq(cut.wrong_rows, 0);
    dataset_free(&plain);
    dataset_free(&cut);
    schema_free(&schema);
}
