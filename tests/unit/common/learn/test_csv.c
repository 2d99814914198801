/* The table reader: RFC 4180, bounded, and silent about contents. */

#include "learn/csv.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    FILE *file;
    struct csv *csv;
    struct why why;
};

static struct reading reading_of(const char *text, size_t size)
{
    struct reading reading = {.file = tmpfile()};
    cr_assert(reading.file != NULL);
    cr_assert(fwrite(text, 1, size, reading.file) == size);
    rewind(reading.file);
    cr_assert(csv_new(&reading.csv, reading.file, "table.csv") == STATUS_OK);
    return reading;
}

static void reading_end(struct reading *reading)
{
    csv_free(reading->csv);
    fclose(reading->file);
}

static bool field_is(const struct csv *csv, size_t field, const char *text)
{
    const struct slice slice = csv_field(csv, field);
    return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

Test(csv, reads_quotes_line_ends_and_a_byte_order_mark)
{
    const char text[] = "\xef\xbb\xbf"
                        "a,\"b,\"\"c\"\"\r\nd\"\r\n,\n\"\",last";
    struct reading reading = reading_of(text, sizeof text - 1);
    bool done = false;
    cr_assert(csv_next(reading.csv, &done, &reading.why) == STATUS_OK && !done);
    cr_assert(csv_field_count(reading.csv) == 2 && csv_line(reading.csv) == 1);
    cr_assert(field_is(reading.csv, 0, "a") && field_is(reading.csv, 1, "b,\"c\"\r\nd"));
    cr_assert(csv_next(reading.csv, &done, &reading.why) == STATUS_OK && !done);
    cr_assert(csv_field_count(reading.csv) == 2 && csv_line(reading.csv) == 3);
    cr_assert(field_is(reading.csv, 0, "") && field_is(reading.csv, 1, ""));
    cr_assert(csv_next(reading.csv, &done, &reading.why) == STATUS_OK && !done);
    cr_assert(field_is(reading.csv, 0, "") && field_is(reading.csv, 1, "last"));
    cr_assert(csv_raw(reading.csv).size == 7);
    cr_assert(csv_next(reading.csv, &done, &reading.why) == STATUS_OK && done);
    reading_end(&reading);
}

static void refused(const char *text, size_t size, const char *line, const char *hint)
{
    struct reading reading = reading_of(text, size);
    bool done = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !done) {
        status = csv_next(reading.csv, &done, &reading.why);
    }
    cr_assert(status == STATUS_INVALID, "%s", text);
    cr_assert(strstr(reading.why.text, "table.csv") != NULL);
    cr_assert(strstr(reading.why.text, line) != NULL, "%s", reading.why.text);
    cr_assert(strstr(reading.why.text, hint) != NULL, "%s", reading.why.text);
    cr_assert(strstr(reading.why.text, "secret") == NULL, "%s", reading.why.text);
    reading_end(&reading);
}

Test(csv, refuses_what_is_malformed_and_names_the_place)
{
    refused("a\nsecret\"x\n", 11, "line 2", "quote inside");
    refused("a\n\"secret\"x\n", 13, "line 2", "after a closing quote");
    refused("a\nb\n\"secret", 11, "line 3", "never closed");
    refused("a\nsecret\rx\n", 11, "line 2", "carriage return");
    refused("a\nsecret\r", 9, "line 2", "carriage return");
    refused("a\nsec\0ret\n", 11, "line 2", "NUL");
    refused("a\nsecret\n\nb\n", 12, "line 3", "blank");
    refused("\nsecret\n", 8, "line 1", "blank");
}

Test(csv, ignores_blank_lines_at_the_end)
{
    struct reading reading = reading_of("a\nb\n\n\r\n\n", 8);
    bool done = false;
    cr_assert(csv_next(reading.csv, &done, NULL) == STATUS_OK && !done);
    cr_assert(csv_next(reading.csv, &done, NULL) == STATUS_OK && !done);
    cr_assert(csv_next(reading.csv, &done, NULL) == STATUS_OK && done);
    reading_end(&reading);
}

Test(csv, takes_the_longest_record_and_no_longer_one)
{
    for (size_t over = 0; over <= 1; over++) {
        const size_t size = CSV_RECORD_BYTES_MAX + over;
        char *text = malloc(size + 1);
        cr_assert(text != NULL);
        memset(text, 'x', size);
        text[size] = '\n';
        struct reading reading = reading_of(text, size + 1);
        bool done = false;
        const enum status status = csv_next(reading.csv, &done, &reading.why);
        cr_assert(status == (over == 0 ? STATUS_OK : STATUS_INVALID));
        reading_end(&reading);
        free(text);
    }
}

Test(csv, refuses_too_many_fields)
{
    char *text = malloc(CSV_FIELDS_MAX + 1);
    cr_assert(text != NULL);
    memset(text, ',', CSV_FIELDS_MAX);
    text[CSV_FIELDS_MAX] = '\n';
    refused(text, CSV_FIELDS_MAX + 1, "line 1", "fields");
    free(text);
}

Test(csv, splits_records_into_shares_that_each_have_the_header)
{
    FILE *table = tmpfile();
    FILE *share[2] = {tmpfile(), tmpfile()};
    const size_t share_of[3] = {1, 0, 1};
    char text[2][64] = {{0}};
    fputs("h,i\r\n1,\"a\nb\"\n2,x\n3,y", table);
    rewind(table);
    cr_assert(csv_split(table, "t", share, 2, share_of, 3, NULL) == STATUS_OK);
    for (int i = 0; i < 2; i++) {
        rewind(share[i]);
        cr_assert(fread(text[i], 1, 63, share[i]) > 0);
        fclose(share[i]);
    }
    cr_assert_str_eq(text[0], "h,i\n2,x\n");
    cr_assert_str_eq(text[1], "h,i\n1,\"a\nb\"\n3,y\n");
    rewind(table);
    FILE *one = tmpfile();
    const size_t wrong[2] = {0, 0};
    cr_assert(csv_split(table, "t", &one, 1, wrong, 2, NULL) == STATUS_INVALID);
    fclose(one);
    fclose(table);
}
