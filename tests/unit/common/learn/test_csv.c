/* The table reader: a line is a record whatever its bytes are, in bounded memory. */

#include "learn/csv.h"

#include <criterion/criterion.h>
#include <malloc.h>
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
    cr_assert(csv_new(&reading.csv, reading.file, "table.csv", ',') == STATUS_OK);
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

static void next(struct reading *reading)
{
    bool done = false;
    cr_assert(csv_next(reading->csv, &done, &reading->why) == STATUS_OK && !done);
}

static void ends(struct reading *reading)
{
    bool done = false;
    cr_assert(csv_next(reading->csv, &done, &reading->why) == STATUS_OK && done);
}

Test(csv, reads_quotes_line_ends_and_a_byte_order_mark)
{
    const char text[] = "\xef\xbb\xbf"
                        "a,\"b,\"\"c\"\"d\"\r\n,\n\"\",last";
    struct reading reading = reading_of(text, sizeof text - 1);
    next(&reading);
    cr_assert(csv_field_count(reading.csv) == 2 && csv_line(reading.csv) == 1);
    cr_assert(field_is(reading.csv, 0, "a") && field_is(reading.csv, 1, "b,\"c\"d"));
    cr_assert(!csv_is_broken(reading.csv));
    next(&reading);
    cr_assert(csv_field_count(reading.csv) == 2 && csv_line(reading.csv) == 2);
    cr_assert(field_is(reading.csv, 0, "") && field_is(reading.csv, 1, ""));
    next(&reading);
    cr_assert(field_is(reading.csv, 0, "") && field_is(reading.csv, 1, "last"));
    cr_assert(field_is(reading.csv, 2, ""), "a field that is not there is empty");
    cr_assert(csv_raw(reading.csv).size == 7);
    ends(&reading);
    reading_end(&reading);
}

/* One line alone: its only record has these fields, and the next one is untouched. */
static void line_is(const char *line, size_t size, const char *const *field, size_t count,
                    bool is_broken)
{
    char text[256];
    memcpy(text, line, size);
    memcpy(text + size, "\nnext,1\n", 8);
    struct reading reading = reading_of(text, size + 8);
    next(&reading);
    cr_assert(csv_field_count(reading.csv) == count, "%s: %zu", line, csv_field_count(reading.csv));
    for (size_t i = 0; i < count; i++) {
        cr_assert(field_is(reading.csv, i, field[i]), "%s: %zu", line, i);
    }
    cr_assert(csv_is_broken(reading.csv) == is_broken, "%s", line);
    next(&reading);
    cr_assert(csv_line(reading.csv) == 2 && field_is(reading.csv, 0, "next") &&
              field_is(reading.csv, 1, "1") && !csv_is_broken(reading.csv));
    ends(&reading);
    reading_end(&reading);
}

#define LINE(text, is_broken, ...)                                                                 \
    line_is(text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__},                            \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), is_broken)

Test(csv, gives_every_line_a_meaning)
{
    LINE("a\"x,b", false, "a\"x", "b");
    LINE("\"a\"x,b", false, "ax", "b");
    LINE("\"a,b", true, "\"a,b");
    LINE("1,\"a\"\",b", true, "1", "\"a\"\",b");
    LINE("\"", true, "\"");
    LINE("\"\"\"\",2", false, "\"", "2");
    LINE("a\rb,c\r", false, "a\rb", "c");
    LINE(",", false, "", "");
    LINE("\xff\xfe,\x01", false, "\xff\xfe", "\x01");
}

Test(csv, keeps_nul_bytes_as_they_are)
{
    struct reading reading = reading_of("a\0b,c\n", 6);
    next(&reading);
    cr_assert(csv_field_count(reading.csv) == 2 && csv_field(reading.csv, 0).size == 3);
    ends(&reading);
    reading_end(&reading);
}

Test(csv, divides_at_the_separator_that_is_asked_for)
{
    FILE *file = tmpfile();
    struct csv *csv = NULL;
    bool done = false;
    cr_assert(file != NULL && fputs("a;\"b;c\";1,5\n", file) >= 0);
    rewind(file);
    cr_assert(csv_new(&csv, file, "table.csv", ';') == STATUS_OK);
    cr_assert(csv_next(csv, &done, NULL) == STATUS_OK && !done && csv_field_count(csv) == 3);
    cr_assert(field_is(csv, 1, "b;c") && field_is(csv, 2, "1,5"));
    csv_free(csv);
    fclose(file);
}

/* A blank line between records is a record. Otherwise a person who blanks a record would move the
 * others. */
Test(csv, takes_blank_lines_between_records_as_records)
{
    struct reading reading = reading_of("h\n\n\r\nb\n", 7);
    next(&reading);
    for (size_t line = 2; line <= 3; line++) {
        next(&reading);
        cr_assert(csv_line(reading.csv) == line && csv_field_count(reading.csv) == 1);
        cr_assert(field_is(reading.csv, 0, "") && csv_raw(reading.csv).size == 0);
    }
    next(&reading);
    cr_assert(csv_line(reading.csv) == 4 && field_is(reading.csv, 0, "b"));
    ends(&reading);
    reading_end(&reading);
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

/* A field that does not fit is missing as a whole, and so is everything after it. */
Test(csv, cuts_a_record_that_is_too_long)
{
    for (size_t over = 0; over <= 1; over++) {
        const size_t size = CSV_RECORD_BYTES_MAX + over;
        char *text = malloc(size + 8);
        cr_assert(text != NULL);
        memset(text, 'x', size);
        memcpy(text, "1,2,", 4);
        memcpy(text + size, "\nnext\n", 6);
        struct reading reading = reading_of(text, size + 6);
        next(&reading);
        cr_assert(csv_field_count(reading.csv) == (over == 0 ? 3 : 2));
        cr_assert(field_is(reading.csv, 1, "2") && csv_is_broken(reading.csv) == (over == 1));
        next(&reading);
        cr_assert(csv_line(reading.csv) == 2 && field_is(reading.csv, 0, "next"));
        ends(&reading);
        reading_end(&reading);
        free(text);
    }
}

Test(csv, ignores_fields_beyond_the_most)
{
    char *text = malloc(CSV_FIELDS_MAX + 1);
    cr_assert(text != NULL);
    memset(text, ',', CSV_FIELDS_MAX);
    text[CSV_FIELDS_MAX] = '\n';
    struct reading reading = reading_of(text, CSV_FIELDS_MAX + 1);
    next(&reading);
    cr_assert(csv_field_count(reading.csv) == CSV_FIELDS_MAX);
    ends(&reading);
    reading_end(&reading);
    free(text);
}

Test(csv, splits_records_into_shares_that_each_have_the_header)
{
    FILE *table = tmpfile();
    FILE *share[2] = {tmpfile(), tmpfile()};
    const size_t share_of[4] = {1, 0, 0, 1};
    char text[2][64] = {{0}};
    fputs("h,i\r\n1,\"a,b\"\n2,x\n\n3,y", table);
    rewind(table);
    cr_assert(csv_split(table, "t", ',', share, 2, share_of, 4, NULL) == STATUS_OK);
    for (int i = 0; i < 2; i++) {
        rewind(share[i]);
        cr_assert(fread(text[i], 1, 63, share[i]) > 0);
        fclose(share[i]);
    }
    cr_assert_str_eq(text[0], "h,i\n2,x\n,\n");
    cr_assert_str_eq(text[1], "h,i\n1,\"a,b\"\n3,y\n");
    rewind(table);
    FILE *one = tmpfile();
    const size_t wrong[2] = {0, 0};
    cr_assert(csv_split(table, "t", ',', &one, 1, wrong, 2, NULL) == STATUS_INVALID);
    fclose(one);
    fclose(table);
}

#if !defined(__SANITIZE_ADDRESS__) /* the sanitizer's heap does not tell its size */
/* What the heap holds after the first record of a table, beside its text. */
static size_t heap_of(const char *text, size_t size)
{
    FILE *file = fmemopen((void *)text, size, "r");
    struct csv *csv = NULL;
    bool done = false;
    cr_assert(file != NULL && setvbuf(file, NULL, _IONBF, 0) == 0);
    const struct mallinfo2 before = mallinfo2();
    cr_assert(csv_new(&csv, file, "t", ',') == STATUS_OK);
    while (!done) {
        cr_assert(csv_next(csv, &done, NULL) == STATUS_OK);
    }
    const struct mallinfo2 after = mallinfo2();
    csv_free(csv);
    (void)fclose(file);
    return after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
}

/* Whether there is memory for a table must not depend on a record. The planted fault, buffers that double as
 * far as a line needs, takes more for the longer lines. */
Test(csv, takes_the_same_memory_for_long_lines_and_for_many_fields)
{
    static const size_t length[] = {3000, 100000, CSV_RECORD_BYTES_MAX, 3 * CSV_RECORD_BYTES_MAX};
    cr_assert(mallopt(M_MMAP_THRESHOLD, 128 * 1024) == 1); /* and not what was freed before */
    const size_t least = heap_of("a,b\n1,2\n", 8);
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        char *text = malloc(length[i]);
        cr_assert_not_null(text);
        memset(text, i % 2 == 0 ? 'x' : ',', length[i]);
        memcpy(text, "a,b\n", 4);
        cr_expect_eq(heap_of(text, length[i]), least, "%zu", length[i]);
        memset(text + 4, '"', length[i] - 4);
        cr_expect_eq(heap_of(text, length[i]), least, "%zu quotes", length[i]);
        free(text);
    }
}
#endif
