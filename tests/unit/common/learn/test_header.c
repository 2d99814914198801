/* Columns found in a header line: another separator, or nearly the same name, is distinguished from
 * a missing column. A message does not repeat what may be a record. */

#include "learn/header.h"

#include <criterion/criterion.h>
#include <string.h>

static enum status need_shown(bool shows_near, const char *line, char separator, const char *column,
                              struct why *why)
{
    char copy[256];
    struct csv *csv = NULL;
    bool done = false;
    size_t field;
    (void)snprintf(copy, sizeof copy, "%s", line);
    FILE *file = fmemopen(copy, strlen(copy), "r");
    cr_assert(file != NULL && csv_new(&csv, file, "t.csv", separator) == STATUS_OK);
    cr_assert(csv_next(csv, &done, why) == STATUS_OK && !done);
    const struct header header = {.csv = csv,
                                  .name = "t.csv",
                                  .asked_by = "data.yml",
                                  .dictionary = "data.yml",
                                  .field_count = csv_field_count(csv),
                                  .shows_near = shows_near};
    const enum status status = header_need(&field, &header, column, why);
    csv_free(csv);
    (void)fclose(file);
    return status;
}

static enum status need(const char *line, char separator, const char *column, struct why *why)
{
    return need_shown(false, line, separator, column, why);
}

static const struct {
    const char *line;
    char separator;
    const char *column, *wanted;
} wrong[] = {
    {"age;dose;ill\n", ',', "age",
     "t.csv: line 1 has one column with semicolons in it: write `separator: semicolon` in data.yml"},
    {"\"a;,;\"\tdose\till\n", ';', "age",
     "t.csv: line 1 has one column with tabs in it: write `separator: tab` in data.yml"},
    {"age,dose\n", '\t', "age",
     "t.csv: line 1 has one column with commas in it: write `separator: comma` in data.yml"},
    {"age,dose,ill\n", ',', "Age",
     "t.csv: line 1: no column \"Age\", which data.yml names; did you mean \"age\"?"},
    {"Blood pressure ,dose\n", ',', "blood_pressure",
     "t.csv: line 1: no column \"blood_pressure\", which data.yml names; did you mean \"Blood "
     "pressure \"?"},
    {"age,ill,age\n", ',', "age",
     "t.csv: line 1: column age stands there twice: remove or rename one"},
    {"73519,ill\n", ',', "age",
     "t.csv: line 1: column age is missing, which data.yml names: the first line must name the "
     "columns, with commas between them"},
    {"ages,ill\n", ',', "age",
     "t.csv: line 1: column age is missing, which data.yml names: the first line must name the "
     "columns, with commas between them"},
    {"AG\x1b[1mE,ill\n", ',', "age1m",
     "t.csv: line 1: column age1m is missing, which data.yml names: the first line must name the "
     "columns, with commas between them"},
};

Test(header, tells_separators_and_near_names_from_missing_columns)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(need(wrong[i].line, wrong[i].separator, wrong[i].column, &why),
                     STATUS_INVALID);
        cr_expect_str_eq(why.text, wrong[i].wanted);
    }
}

Test(header, finds_a_column_after_each_separator)
{
    struct why why = {{0}};
    cr_expect_eq(need("age;\"x;y\"\n", ';', "x;y", &why), STATUS_OK);
    cr_expect_eq(need("age\tdose\n", '\t', "dose", &why), STATUS_OK);
    cr_expect_eq(need("age\tdose\n", 0, "dose", &why), STATUS_OK);
    cr_expect_eq(need("age;dose\n", 0, "dose", &why), STATUS_OK);
    cr_expect_eq(need("\"a;b;c\",dose\n", 0, "dose", &why), STATUS_OK);
    cr_expect_eq(need("dose\n", 0, "dose", &why), STATUS_OK);
}

/* For a person who holds the table, as in `simulate`: also what is a few slips away, but no number and no guess
 * among two. */
Test(header, shows_the_nearest_name_to_the_holder_of_the_table)
{
    static const struct {
        const char *line, *column, *wanted;
    } rows[] = {
        {"age,ill\n", "aeg", "did you mean \"age\"?"},
        {"ages,ill\n", "age", "did you mean \"ages\"?"},
        {"ill,creatinine\n", "createnin", "did you mean \"creatinine\"?"},
        {"dose1,dose2\n", "dose", "column dose is missing"},
        {"73519,ill\n", "7351", "column 7351 is missing"},
        {"weight,ill\n", "age", "column age is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(need_shown(true, rows[i].line, ',', rows[i].column, &why), STATUS_INVALID);
        cr_expect_not_null(strstr(why.text, rows[i].wanted), "%s: %s", rows[i].column, why.text);
    }
}
