/* What a site's person is told about cells that no job can use. */

#include "describe/describe.h"
#include "describe/warnings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char said[4096];

static void keep(const char *text)
{
    (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static FILE *file_of(const char *table)
{
    static char copy[8192];
    (void)snprintf(copy, sizeof copy, "%s", table);
    FILE *file = fmemopen(copy, strlen(copy), "r");
    cr_assert_not_null(file);
    return file;
}

/* The sentences about a label, each ended by a line's end. */
static const char *of_label(const struct label *label, const char *table, size_t rows)
{
    struct warnings warnings = {.say = keep};
    struct why why = {{0}};
    FILE *file = file_of(table);
    said[0] = '\0';
    cr_assert_eq(warnings_of_label(&warnings, file, "t.csv", label,
                                   &(struct dataset_options){.row_count = rows}, &why),
                 STATUS_OK, "%s", why.text);
    (void)fclose(file);
    cr_assert_eq(warnings.count > 0, said[0] != '\0');
    return said;
}

static const struct label died = {.name = "died", .positive = "1", .negative = "0"};
static const struct label died_or_rest = {.name = "died", .positive = "1", .negative = "rest"};

Test(warnings, a_label_in_another_spelling_is_shown_with_its_line)
{
    cr_expect_str_eq(
        of_label(&died, "age,died\n1,1.0\n2,0.0\n", 0),
        "none of 2 cells of the label \"died\" is \"1\"; line 2 has \"1.0\": all count "
        "as \"0\"\n");
    cr_expect_str_eq(of_label(&died_or_rest, "age,died\n1,0\n2,+1\n", 0),
                     "none of 2 cells of the label \"died\" is \"1\"; line 2 has another text: all "
                     "count as \"rest\"\n");
    /* Half of a file that was put together from two. */
    cr_expect_str_eq(of_label(&died, "died\n1\n0\n1.0\n0.0\nNA\n", 0),
                     "2 of 5 cells of the label \"died\" are neither \"1\" nor \"0\"; line 4 has "
                     "\"1.0\": they count as \"0\"\n");
    const struct label yes = {.name = "died", .positive = "yes", .negative = "no"};
    cr_expect_str_eq(of_label(&yes, "died\nno\n Yes\n", 0),
                     "none of 2 cells of the label \"died\" is \"yes\"; line 3 has \" Yes\": all "
                     "count as \"no\"\n");
}

/* No message holds a value of a record. A text that the job does not list is told only by its line. */
Test(warnings, another_text_is_not_repeated)
{
    cr_expect_str_eq(of_label(&died, "died\nsecret\n0\n", 0),
                     "none of 2 cells of the label \"died\" is \"1\"; line 2 has another text: all "
                     "count as \"0\"\n");
    const struct label ill = {.name = "died", .positive = "ill", .negative = "well"};
    cr_expect_null(strstr(of_label(&ill, "died\nille\n11\n", 0), "ille"));
    cr_expect_null(strstr(of_label(&died, "died\n2\n11\n", 0), "\"2\""));
}

Test(warnings, a_class_without_a_cell_is_told)
{
    cr_expect_str_eq(of_label(&died, "died\n0\n0\n", 0),
                     "none of 2 cells of the label \"died\" is \"1\": all are \"0\"\n");
    cr_expect_str_eq(of_label(&died, "died,x\n,1\nNA,2\n", 0),
                     "none of 2 cells of the label \"died\" is \"1\"; 2 are empty: all count as "
                     "\"0\"\n");
    cr_expect_str_eq(of_label(&died, "died\n1\n1\n", 0),
                     "all 2 cells of the label \"died\" are \"1\"\n");
    cr_expect_str_eq(of_label(&died_or_rest, "died\n1\n1\n", 0),
                     "all 2 cells of the label \"died\" are \"1\"\n");
    cr_expect_str_eq(of_label(&died, "died\n1\nNA\n", 0),
                     "none of 2 cells of the label \"died\" is \"0\"; 1 are empty: all but the "
                     "positive ones count as \"0\"\n");
    const struct label stage = {
        .name = "stage", .kind = LABEL_CLASSES, .class_count = 3, .class_name = {"I", "II", "III"}};
    cr_expect_str_eq(of_label(&stage, "stage\nI\niii\n", 0),
                     "none of 2 cells of the label \"stage\" is \"II\" or \"III\"; line 3 has "
                     "\"iii\": all such cells count as \"III\"\n");
}

Test(warnings, a_label_in_order_is_not_told)
{
    static const struct label number = {.name = "died", .kind = LABEL_NUMBER, .half_width = 1};
    cr_expect_str_empty(of_label(&died, "died\n1\n0\nNA\n", 0));
    cr_expect_str_empty(of_label(&died_or_rest, "died\n1\n7\n", 0));
    cr_expect_str_empty(of_label(&number, "died\nx\n", 0));
    cr_expect_str_empty(of_label(&died, "died\n", 0));
    /* Rows that the dictionary does not admit are not looked at. */
    cr_expect_str_empty(of_label(&died, "died\n1\n0\n1.0\n", 2));
    cr_expect_not(of_label(&died, "died\n1\n0\n1.0\n", 3)[0] == '\0');
}

static struct column columns[] = {
    {.name = "crp", .centre = 50, .half_width = 50},
    {.name = "log", .transform = TRANSFORM_LOG1P, .centre = 1, .half_width = 1},
    {.name = "sex", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"F", "M"}}};

static const char *of_columns(const struct label *label, const char *table, size_t rows)
{
    struct schema schema = {.column = columns, .column_count = 3, .label = *label};
    struct warnings warnings = {.say = keep};
    struct dataset data;
    struct why why = {{0}};
    said[0] = '\0';
    FILE *file = file_of(table);
    cr_assert_eq(dataset_read(&data, file, "t.csv", &schema,
                              &(struct dataset_options){.separator = ',', .row_count = rows}, &why),
                 STATUS_OK, "%s", why.text);
    (void)fclose(file);
    warnings_of_columns(&warnings, &data, &schema);
    dataset_free(&data);
    return said;
}

Test(warnings, a_column_in_another_unit_or_without_a_meaning_is_told)
{
    cr_expect_str_eq(
        of_columns(&died, "crp,log,sex,died\n5000,1,0,1\nNA,8,1,0\n100.5,9,NA,0\n", 0),
        "2 of 2 numbers of column \"crp\" are outside 0 to 100: another unit?\n"
        "none of 3 cells of column \"sex\" is one of its categories; line 2 has another "
        "text\n");
    cr_expect_str_eq(of_columns(&died, "crp,log,sex,died\nx,7,F,1\nNA,8,F,0\n", 0),
                     "none of 2 cells of column \"crp\" is a number; line 2 has another text\n"
                     "2 of 2 numbers of column \"log\" are outside 0 to 6.38906: another unit?\n");
    const struct label days = {
        .name = "died", .kind = LABEL_NUMBER, .centre = 10, .half_width = 10};
    /* Rows of missing cells that the agent makes up are no rows of the file. */
    cr_expect_str_eq(of_columns(&days, "crp,log,sex,died\n,1,F,30\n,2,M,40\n", 8),
                     "all 2 cells of column \"crp\" are empty\n"
                     "2 of 2 numbers of column \"died\" are outside 0 to 20: another unit?\n");
}

/* Ten numbers of crp, the first ones 0. */
static const char *of_ten(int zeros)
{
    char table[1024] = "crp,log,sex,died\n";
    for (int i = 0; i < 10; i++) {
        (void)snprintf(table + strlen(table), sizeof table - strlen(table), "%d,1,F,%d\n",
                       i < zeros ? 0 : 4000, i % 2);
    }
    return of_columns(&died, table, 0);
}

/* A 0 is 0 in every unit. */
Test(warnings, a_column_is_told_from_nine_clamped_numbers_in_ten)
{
    cr_expect_str_eq(of_ten(1),
                     "9 of 10 numbers of column \"crp\" are outside 0 to 100: another unit?\n");
    cr_expect_str_empty(of_ten(2));
}

Test(warnings, a_dictionary_s_own_range_is_looked_at_too)
{
    static struct dictionary_column own[] = {
        {.name = "crp", .kind = DICTIONARY_NUMBER, .low = 0, .high = 100},
        {.name = "sex", .kind = DICTIONARY_CATEGORY}};
    const struct dictionary dictionary = {
        .separator = ',', .record_count = 2, .line_bytes = 64, .column = own, .column_count = 2};
    struct warnings warnings = {.say = keep};
    struct dataset data;
    struct why why = {{0}};
    said[0] = '\0';
    FILE *file = file_of("sex,crp\nany,101\n0,-1\nF,50\n");
    cr_assert_eq(describe_cells(&data, file, "t.csv", &dictionary, &why), STATUS_OK, "%s",
                 why.text);
    (void)fclose(file);
    warnings_of_dictionary(&warnings, &data, &dictionary);
    cr_expect_str_eq(said,
                     "2 of 2 numbers of column \"crp\" are outside 0 to 100: another unit?\n");
    cr_expect_eq(warnings.count, 1);
    dataset_free(&data);
}

/* rows: how often each number is in the first column */
static const char *of_heap(const double *number, const size_t *times, size_t count)
{
    static const char header[] = "crp,log,sex,died\n";
    static char table[1 << 16];
    struct schema schema = {.column = columns, .column_count = 3, .label = died, .keeps_raw = true};
    struct warnings warnings = {.say = keep};
    struct dataset data;
    struct why why = {{0}};
    size_t used = sizeof header - 1;
    memcpy(table, header, sizeof header);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < times[i]; k++) {
            used += (size_t)snprintf(table + used, sizeof table - used, "%g,1,M,1\n", number[i]);
        }
    }
    said[0] = '\0';
    FILE *file = file_of(table);
    cr_assert_eq(dataset_read(&data, file, "t.csv", &schema,
                              &(struct dataset_options){.separator = ','}, &why),
                 STATUS_OK, "%s", why.text);
    (void)fclose(file);
    cr_assert_eq(warnings_of_heap(&warnings, &data, &schema, 0), STATUS_OK);
    dataset_free(&data);
    return said;
}

Test(warnings, a_column_of_few_values_or_with_a_heap_is_told)
{
    size_t even[100];
    double number[100];
    size_t heaped[100];
    for (size_t i = 0; i < 100; i++) {
        number[i] = (double)i + 0.5;
        even[i] = 1;
        heaped[i] = i == 7 ? 12 : 1;
    }
    cr_expect_str_empty(of_heap(number, even, 100));
    cr_expect_str_eq(
        of_heap(number, heaped, 100),
        "12 of 111 numbers of column \"crp\" are 7.5, and 100 values are different: a regression "
        "may take them to lie smoothly over the range, and its intervals may then miss. If they are "
        "whole numbers, write whole(crp). If the heap is at a limit of detection, let the public "
        "range begin there\n");
    cr_expect_str_empty(of_heap(number, even, 20));
    cr_expect(strstr(of_heap((const double[]){0, 1, 2}, (const size_t[]){9, 10, 8}, 3),
                     "10 of 27 numbers of column \"crp\" are 1, and 3 values") != NULL);
}
