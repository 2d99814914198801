/* How long a table's reading takes at most, and that no table of that size takes longer. */

#include "learn/reading.h"

#include "learn/dataset.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A clock that does not look at the time. */
static int64_t clock_ns;
static int64_t step_ns;

static int64_t looked_at(void)
{
    clock_ns += step_ns;
    return clock_ns;
}

static uint64_t longest_at(int64_t step, struct reading reading)
{
    struct schema schema;
    clock_ns = 0;
    step_ns = step;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    const uint64_t longest = reading_longest_ms(&schema, &reading, looked_at);
    schema_free(&schema);
    return longest;
}

/* 256 made-up lines in one look of 25.6 ms: 0.1 ms a line, and 4096 bytes are 41 us from a disk. The 13 steps from
 * the first look to the last are the trying itself. */
static void expect(int64_t step, struct reading reading, double disk_ms)
{
    const double trying_ms = 13 * (double)step / 1e6;
    const double read_ms = (double)reading.row_count / 256 * (double)step / 1e6;
    const double longest = (double)longest_at(step, reading);
    cr_expect_lt(fabs(longest - (4 * (read_ms + trying_ms) + disk_ms)), 1.001, "%g", longest);
}

Test(reading, counts_the_lines_their_bytes_the_unpacking_and_the_trying)
{
    const struct reading plain = {.row_count = 10000, .line_bytes = 4096, .separator = ','};
    struct reading packed = plain;
    struct reading longer = plain;
    packed.packed = true;
    longer.row_count = 20000;
    expect(25600000, plain, 409.6);
    expect(25600000, packed, 1228.8);
    expect(25600000, longer, 819.2);
    expect(51200000, plain, 409.6);
}

/* A line of at most `room` bytes, of each kind that a hostile record may have. */
static size_t put_line(char *line, size_t room, unsigned kind, unsigned row)
{
    static const char *const cell[] = {
        "98,M,1995,0,1.857651118063164,1.5,1,1",
        "4.9406564584124654e-324,M,4.9406564584124654e-324,0,0,0,1,1",
        ",,,,,,,",
        "\"a\"\"b\",\"\"\"\",,,,,,1",
        "\"",
        "NA,NA,NA,NA,NA,NA,NA,NA"};
    static const char filler[] = {'\0', '0', ',', '"', 'x', ','};
    const size_t used = (size_t)snprintf(line, room, "%s", cell[(kind + row / 7) % 6]);
    if (filler[kind] == '\0') {
        return used;
    }
    memset(line + used, filler[kind], room - used);
    return room;
}

/* The processor's time of one reading, the best of three. */
static double read_ms(struct slice text, const struct dataset_options *options)
{
    struct schema schema;
    double best = HUGE_VAL;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    for (int i = 0; i < 3; i++) {
        struct dataset data;
        const int64_t before = speed_thread_ns();
        cr_assert(dataset_parse(&data, text, "t", &schema, options, NULL) == STATUS_OK);
        best = fmin(best, (double)(speed_thread_ns() - before) / 1e6);
        dataset_free(&data);
    }
    schema_free(&schema);
    return best;
}

static uint64_t longest_here(struct reading reading)
{
    struct schema schema;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    const uint64_t longest = reading_longest_ms(&schema, &reading, speed_thread_ns);
    schema_free(&schema);
    return longest;
}

/* Hostile tables of every kind, whose lines are as long as they may be, and one line that is ten thousand times longer.
 * The time is the processor's: other programs change it little, and the bound is four times what was measured. */
Test(reading, no_table_takes_longer)
{
    enum { ROWS = 2000, LINE = 512, LONG = 1 << 22 };
    static const char header[] = "age,sex,sample.yr,kappa,lambda,creatinine,mgus,death\n";
    const struct reading reading = {.row_count = ROWS, .line_bytes = LINE, .separator = ','};
    const struct dataset_options options = {
        .use = DATASET_LEARN, .separator = ',', .line_bytes = LINE, .row_count = ROWS};
    char *text = malloc(sizeof header + ROWS * (LINE + 1) + LONG);
    cr_assert_not_null(text);
    const uint64_t longest = longest_here(reading);
    for (unsigned kind = 0; kind < 6; kind++) {
        size_t size = sizeof header - 1;
        memcpy(text, header, size);
        for (unsigned row = 0; row < ROWS; row++) {
            size += put_line(text + size, LINE, kind, row);
            if (row == ROWS / 2) {
                memset(text + size, '9', LONG);
                size += LONG;
            }
            text[size++] = '\n';
        }
        const double took = read_ms((struct slice){text, size}, &options);
        cr_expect_leq(took, (double)longest, "kind %u: %g ms of %llu", kind, took,
                      (unsigned long long)longest);
    }
    free(text);
}
