#include "describe/describe.h"
#include "dictionary/dictionary.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum status describe(char **text, const char *table, const struct describe_options *options,
                            struct why *why)
{
    char *copy = strdup(table);
    struct describe_counts counts;
    FILE *file = fmemopen(copy, strlen(copy) > 0 ? strlen(copy) : 1, "r");
    cr_assert_not_null(file);
    const enum status status = describe_table(text, &counts, file, "t.csv", options, why);
    (void)fclose(file);
    free(copy);
    return status;
}

/* rows times the line, which says the row's number where it has a %d. */
static char *table_of(const char *header, const char *line, int rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)fprintf(out, "%s\n", header);
    for (int i = 0; i < rows; i++) {
        const char *at = strstr(line, "%d");
        (void)fprintf(out, "%.*s", at == NULL ? (int)strlen(line) : (int)(at - line), line);
        if (at != NULL) {
            (void)fprintf(out, "%d%s", i, at + 2);
        }
        (void)fputc('\n', out);
    }
    (void)fclose(out);
    return text;
}

/* The draft's lines after the header's comment. */
static const char *body(const char *text)
{
    const char *at = strstr(text, "\nhedgerow: 1\n");
    cr_assert_not_null(at);
    return at + 1;
}

Test(describe, tells_numbers_from_categories_and_leaves_rare_texts_out)
{
    struct why why = {{0}};
    const struct describe_options options = {.exact = true};
    char *text = NULL;
    /* Column c has a text that four records hold; d has 40 texts; e has one cell of ten that is none. */
    char table[8192] = "a,b,\"c \"\"q\"\"\",d,e\n";
    for (int i = 0; i < 40; i++) {
        (void)snprintf(table + strlen(table), sizeof table - strlen(table), "%d,NA,%s,t%d,%s\n", i,
                       i < 4   ? "rare"
                       : i % 2 ? "no: x"
                               : "yes",
                       i, i % 10 == 0 ? "old" : "1.5");
    }
    cr_assert_eq(describe(&text, table, &options, &why), STATUS_OK, "%s", why.text);
    cr_assert_str_eq(
        body(text),
        "hedgerow: 1\ndata_sets:\n  - records: 40\n    line_bytes: 1024\n    columns:\n"
        "      - {name: \"a\", kind: number}\n"
        "      - {name: \"b\", kind: number}\n"
        "      - {name: \"c \\\"q\\\"\", kind: category, categories: [\"no: x\", \"yes\"]}\n"
        "      - {name: \"d\", kind: category}\n"
        "      - {name: \"e\", kind: number}\n");
    struct dictionary d;
    cr_assert_eq(dictionary_parse(&d, (struct slice){text, strlen(text)}, "data.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(dictionary_find(&d, "c \"q\"")->category_count, 2);
    dictionary_free(&d);
    free(text);
}

Test(describe, says_that_it_is_a_draft_and_becomes_public)
{
    struct why why = {{0}};
    char *table = table_of("a", "1", 3);
    char *text = NULL;
    cr_assert_eq(describe(&text, table, &(struct describe_options){0}, &why), STATUS_OK);
    cr_assert_not_null(strstr(text, "BECOMES PUBLIC"));
    cr_assert_not_null(strstr(text, "COME FROM THE RECORDS"));
    free(text);
    free(table);
}

Test(describe, rounds_the_number_of_records_down)
{
    static const uint64_t rounded[][2] = {
        {2, 2},       {9, 2},       {10, 10},     {97, 90},       {100, 100},      {109, 100},
        {1256, 1200}, {7874, 7800}, {9999, 9900}, {10000, 10000}, {123456, 120000}};
    struct why why = {{0}};
    char *table = table_of("a,b", "%d,x", 1256);
    char *text = NULL;
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
        cr_expect_eq(describe_rounded(rounded[i][0]), rounded[i][1], "%" PRIu64, rounded[i][0]);
    }
    cr_assert_eq(describe(&text, table, &(struct describe_options){0}, &why), STATUS_OK);
    cr_expect_not_null(strstr(text, "records: 1200\n"));
    cr_expect_null(strstr(text, "1256"), "the exact number is not in the file");
    free(text);
    cr_assert_eq(describe(&text, table, &(struct describe_options){.record_count = 700}, &why),
                 STATUS_OK);
    cr_expect_not_null(strstr(text, "records: 700\n"));
    cr_expect_null(strstr(text, "1256"));
    free(text);
    free(table);
}

Test(describe, drafts_what_a_job_names_where_it_is_asked_to)
{
    struct column column = {.name = "b"};
    const struct schema schema = {.column = &column, .column_count = 1, .label = {.name = "y"}};
    const struct describe_options options = {.only = &schema, .exact = true};
    struct why why = {{0}};
    char *table = table_of("a,b,y,z", "1,2,3,4", 5);
    char *text = NULL;
    cr_assert_eq(describe(&text, table, &options, &why), STATUS_OK);
    cr_assert_str_eq(body(text),
                     "hedgerow: 1\ndata_sets:\n  - records: 5\n    line_bytes: 1024\n    columns:\n"
                     "      - {name: \"b\", kind: number}\n"
                     "      - {name: \"y\", kind: number}\n");
    free(text);
    free(table);
}

Test(describe, refuses_what_is_no_table)
{
    struct why why = {{0}};
    char *text = NULL;
    cr_assert_eq(describe(&text, "a,b\n1,2\n", &(struct describe_options){0}, &why),
                 STATUS_INVALID);
    cr_assert_str_eq(why.text, "t.csv: it holds 1 records: at least 2 are needed");
    cr_assert_null(text);
    cr_assert_eq(
        describe(&text, "a,town\n1,Ulm\n2,M\374nchen\n", &(struct describe_options){0}, &why),
        STATUS_INVALID);
    cr_assert_str_eq(
        why.text,
        "t.csv: line 3, column town: the text is not UTF-8: save the table as UTF-8 text");
    cr_assert_eq(describe(&text, "a,gr\366\337e\n1,2\n2,2\n", &(struct describe_options){0}, &why),
                 STATUS_INVALID);
    cr_assert_str_eq(
        why.text, "t.csv: line 1, column 2: the name is not UTF-8: save the table as UTF-8 text");
    cr_assert_null(text);
}

Test(describe, finds_the_separator_and_counts_decimal_commas)
{
    struct why why = {{0}};
    char *text = NULL;
    char *table = table_of("a;\"b,c\"", "%d,5;x", 20);
    struct describe_counts counts;
    FILE *file = fmemopen(table, strlen(table), "r");
    cr_assert_not_null(file);
    cr_assert_eq(describe_table(&text, &counts, file, "t.csv", &(struct describe_options){0}, &why),
                 STATUS_OK, "%s", why.text);
    (void)fclose(file);
    cr_expect_eq(counts.commas, 20);
    cr_expect_str_eq(body(text), "hedgerow: 1\ndata_sets:\n  - records: 20\n"
                                 "    separator: semicolon\n    line_bytes: 1024\n    columns:\n"
                                 "      - {name: \"a\", kind: number}\n"
                                 "      - {name: \"b,c\", kind: category, categories: [\"x\"]}\n");
    struct dictionary d;
    cr_assert_eq(dictionary_parse(&d, (struct slice){text, strlen(text)}, "data.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_expect_eq(d.separator, ';');
    dictionary_free(&d);
    free(text);
    cr_assert_eq(describe(&text, table, &(struct describe_options){.separator = ','}, &why),
                 STATUS_OK);
    cr_expect_null(strstr(text, "separator:"));
    free(text);
    free(table);
}

/* The room of a line follows from the header line. What is longer is told to the site's person alone. */
Test(describe, gives_every_column_of_a_wide_table_room_and_counts_longer_lines)
{
    struct why why = {{0}};
    struct describe_counts counts;
    char *text = NULL;
    char table[16384] = "c0";
    for (int i = 1; i < 100; i++) {
        (void)snprintf(table + strlen(table), sizeof table - strlen(table), ",c%d", i);
    }
    (void)snprintf(table + strlen(table), sizeof table - strlen(table), "\n1\n%06400d\n%06401d\n",
                   1, 2);
    FILE *file = fmemopen(table, strlen(table), "r");
    cr_assert_not_null(file);
    cr_assert_eq(describe_table(&text, &counts, file, "t.csv",
                                &(struct describe_options){.exact = true}, &why),
                 STATUS_OK, "%s", why.text);
    (void)fclose(file);
    cr_expect_not_null(strstr(text, "    line_bytes: 6400\n"));
    cr_expect_eq(counts.cut, 1);
    free(text);
}

/* By the dictionary alone, all its columns: a list longer than a job's may be, and no row beyond those admitted. */
Test(describe, cells_are_counted_by_the_dictionary)
{
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "hedgerow: 1\ndata_sets:\n  - records: 5\n    columns:\n"
                        "      - {name: age, kind: number, low: 0, high: 120}\n"
                        "      - {name: note, kind: category}\n"
                        "      - {name: ward, kind: category, categories: [w0");
    for (int i = 1; i < 40; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, ", w%d", i);
    }
    (void)snprintf(text + used, sizeof text - (size_t)used, "]}\n");
    static char table[] = "ward,note,age\n"
                          "w39,any,64\n"
                          "w0,,121\n"
                          "X,NA,-1\n"
                          "w1,text,\"1,5\"\n"
                          "w2,short\n"
                          "beyond,,beyond\n";
    static const struct cell_counts wanted[] = {
        {.missing = 1, .unlisted = 1, .clamped = 2, .commas = 1, .line = 5},
        {.missing = 2},
        {.unlisted = 1, .line = 4}};
    struct dictionary dictionary;
    struct dataset data;
    struct why why = {{0}};
    cr_assert_eq(
        dictionary_parse(&dictionary, (struct slice){text, strlen(text)}, "data.yml", &why),
        STATUS_OK, "%s", why.text);
    FILE *file = fmemopen(table, sizeof table - 1, "r");
    cr_assert_eq(describe_cells(&data, file, "t.csv", &dictionary, &why), STATUS_OK, "%s",
                 why.text);
    (void)fclose(file);
    cr_expect_eq(data.record_count, 6);
    cr_expect_eq(data.wrong_rows, 1);
    cr_expect_gt(data.wrong_line, 1);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(memcmp(&data.counts[i], &wanted[i], sizeof wanted[i]), 0, "column %zu", i);
    }
    dataset_free(&data);
    dictionary_free(&dictionary);
}
