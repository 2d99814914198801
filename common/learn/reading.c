/* What a line can cost: its bytes, the fields they are divided into, the numbers in them, and the record that is
 * made of it. The made-up lines have all of these at once, so no line of a table costs more. */

#include "learn/reading.h"

#include "base/text.h"
#include "learn/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_BYTES = 1 << 20, SAMPLE_ROWS = 256, TRIES = 3 };

/* Halfway between two doubles, or nearly: strtod needs all its digits. As long as a cell's number may be. */
static const char SLOW_NUMBER[] = "2.22507385850720113605740979670913197593481954635164564e-308";

/* A column's name as a field, whatever it holds. */
static void put_name(FILE *out, const char *name, char separator)
{
    (void)fputc('"', out);
    for (; *name != '\0'; name++) {
        (void)fputs(*name == '"' ? "\"\"" : (const char[]){*name, '\0'}, out);
    }
    (void)fprintf(out, "\"%c", separator);
}

static void put_header(FILE *out, const struct schema *schema, char separator)
{
    bool named = false;
    for (size_t i = 0; i < schema->column_count; i++) {
        named = named || strcmp(schema->column[i].name, schema->label.name) == 0;
        put_name(out, schema->column[i].name, separator);
    }
    if (!named) {
        put_name(out, schema->label.name, separator);
    }
    (void)fputs("\"\"\n", out);
}

/* The schema's cells, as far as there is room, and after them nothing but filler: separators or quotes. */
static void put_line(FILE *out, const struct schema *schema, const struct reading *reading,
                     char filler)
{
    const size_t cell_bytes = sizeof SLOW_NUMBER; /* with its separator */
    size_t left = reading->line_bytes;
    for (size_t i = 0; i <= schema->column_count && left >= cell_bytes; i++, left -= cell_bytes) {
        (void)fprintf(out, "%s%c", SLOW_NUMBER, reading->separator);
    }
    for (; left > 0; left--) {
        (void)fputc(filler, out);
    }
    (void)fputc('\n', out);
}

static size_t sample_rows(const struct reading *reading)
{
    const size_t rows = SAMPLE_BYTES / reading->line_bytes;
    const size_t some = rows < 2 ? 2 : rows < SAMPLE_ROWS ? rows : SAMPLE_ROWS;
    return reading->row_count < some ? (size_t)reading->row_count : some;
}

/* A made-up table. NULL: no memory. */
static char *make_up(size_t *size, const struct schema *schema, const struct reading *reading,
                     char filler)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (out == NULL) {
        return NULL;
    }
    put_header(out, schema, reading->separator);
    for (size_t i = 0; i < sample_rows(reading); i++) {
        put_line(out, schema, reading, filler);
    }
    (void)!text_close(&text, out);
    return text;
}

/* The fastest of some tries, in nanoseconds; infinite where one fails. */
static double try_ns(struct slice text, const struct schema *schema, const struct reading *reading,
                     speed_clock *now_ns)
{
    /* A series' first days give no record: rows of missing cells take their place. */
    const struct dataset_options options = {.use = DATASET_LEARN,
                                            .separator = reading->separator,
                                            .line_bytes = reading->line_bytes,
                                            .row_count =
                                                sample_rows(reading) + schema_history(schema)};
    double fastest = HUGE_VAL;
    for (int i = 0; i < TRIES; i++) {
        struct dataset data;
        const int64_t before_ns = now_ns();
        if (dataset_parse(&data, text, "made-up lines", schema, &options, NULL) != STATUS_OK) {
            return HUGE_VAL;
        }
        fastest = fmin(fastest, (double)(now_ns() - before_ns));
        dataset_free(&data);
    }
    return fastest;
}

static double line_ns(const struct schema *schema, const struct reading *reading,
                      speed_clock *now_ns)
{
    const char filler[] = {reading->separator, '"'};
    double slowest = 0;
    for (size_t i = 0; i < sizeof filler; i++) {
        size_t size = 0;
        char *text = make_up(&size, schema, reading, filler[i]);
        if (text == NULL) {
            return HUGE_VAL;
        }
        slowest = fmax(slowest, try_ns((struct slice){text, size}, schema, reading, now_ns));
        free(text);
    }
    return slowest / (double)sample_rows(reading);
}

uint64_t reading_longest_ms(const struct schema *schema, const struct reading *reading,
                            speed_clock *now_ns)
{
    const int64_t before_ns = now_ns();
    const double rows = (double)reading->row_count;
    const double passes = reading->packed ? 3 : 1; /* from the disk, and unpacked twice */
    const double read_ns = rows * line_ns(schema, reading, now_ns);
    const double tried_ns = (double)(now_ns() - before_ns);
    const double disk_s = rows * passes * (double)reading->line_bytes / READING_BYTES_PER_S;
    const double ms = READING_FACTOR * (read_ns + tried_ns) / 1e6 + disk_s * 1e3;
    return ms < 0x1p53 ? (uint64_t)ms + 1 : UINT64_MAX;
}
