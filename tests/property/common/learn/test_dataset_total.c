/* For every text of a record's line the table is read, has as many records as before, and all other
 * records are the same. Seeds are fixed: nothing here can fail by chance. */

#include "learn/csv.h"
#include "learn/dataset.h"

#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) /* where a trial takes several times as long */
enum { TRIALS = 1000 };
#else
enum { TRIALS = 4000 };
#endif
enum { ROWS = 12, LINE_BYTES = 64, SCHEMAS = 4 };

static struct column column[] = {
    {.name = "a", .kind = COLUMN_NUMBER, .centre = 1, .half_width = 2, .has_indicator = true},
    {.name = "b",
     .kind = COLUMN_NUMBER,
     .transform = TRANSFORM_LOG1P,
     .half_width = 1,
     .has_missing = true,
     .missing = 3},
    {.name = "c", .kind = COLUMN_CATEGORY, .category_count = 3, .category = {"x", "y", "z"}},
    {.name = "d",
     .kind = COLUMN_CATEGORY,
     .category_count = 2,
     .category = {"x", "y"},
     .has_other = true,
     .other = 1,
     .has_indicator = true}};
static double landmark[] = {1, 1, 0, 0, 0, 0, 2, 1};
static const struct schema schemas[SCHEMAS] = {
    {.column = column, .column_count = 4, .label = {"l", "1", "0"}, .keeps_raw = true},
    {.column = column,
     .column_count = 4,
     .label = {.name = "l", .kind = LABEL_NUMBER, .centre = 1, .half_width = 0.5},
     .keeps_raw = true},
    {.column = column,
     .column_count = 4,
     .label = {.name = "l", .kind = LABEL_NUMBER, .centre = 1, .half_width = 0.5},
     .lag_count = 2,
     .lag = {1, 3},
     .map = {.kind = MAP_FOURIER,
             .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 2},
             .feature_count = 6,
             .seed = 1}},
    {.column = column,
     .column_count = 4,
     .label = {.name = "l", .kind = LABEL_CLASSES, .class_count = 3, .class_name = {"0", "1", "2"}},
     .map = {.kind = MAP_NYSTROM,
             .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 2},
             .landmark_count = 2,
             .landmark = landmark},
     .keeps_raw = true}};

/* A table: its lines, joined. */
struct text {
    char *byte;
    size_t size;
};

static void append(struct text *text, const void *bytes, size_t size)
{
    text->byte = realloc(text->byte, text->size + size + 1);
    cr_assert(text->byte != NULL);
    memcpy(text->byte + text->size, bytes, size);
    text->size += size;
}

/* Bytes that have a meaning in tables, and a few that have none. */
static size_t draw_line(struct dice *dice, char line[static LINE_BYTES])
{
    static const char likely[] = "\"\",,,,;\t\r 01259.-+eExyzNAnaif\\";
    const size_t size = dice_below(dice, LINE_BYTES);
    for (size_t i = 0; i < size; i++) {
        line[i] = dice_one_in(dice, 8) ? (char)dice_below(dice, 256)
                                       : likely[dice_below(dice, sizeof likely - 1)];
        line[i] = (char)(line[i] == '\n' ? '"' : line[i]);
    }
    return size;
}

/* Lines of every kind; now and then one that is too long to be kept. */
static struct text draw_table(struct dice *dice, size_t changed, const char *line, size_t size,
                              bool is_long)
{
    static char block[CSV_RECORD_BYTES_MAX / 4];
    struct text text = {0};
    append(&text, "a,b,c,d,l\n", 10);
    for (size_t row = 0; row < ROWS; row++) {
        char own[LINE_BYTES];
        const size_t own_size = draw_line(dice, own);
        append(&text, row == changed ? line : own, row == changed ? size : own_size);
        for (int i = 0; row == changed && is_long && i < 5; i++) {
            memset(block, i % 2 == 0 ? ',' : '"', sizeof block);
            append(&text, block, sizeof block);
        }
        append(&text, "\n", 1);
    }
    return text;
}

static bool record_can_be(const struct dataset *data, size_t at, const struct label *label)
{
    double norm = 0;
    for (size_t j = 0; j < data->feature_count; j++) {
        const double x = data->x[at * data->feature_count + j];
        norm += isfinite(x) ? x * x : 2;
    }
    const double y = data->y[at];
    const bool is_label = label->kind == LABEL_SIGN     ? fabs(y) == 1
                          : label->kind == LABEL_NUMBER ? fabs(y) <= 1
                                                        : y == 0 || y == 1 || y == 2;
    return norm <= 1 + 1e-12 && is_label;
}

static bool same(const struct dataset *a, const struct dataset *b, size_t at)
{
    const size_t d = a->feature_count;
    const size_t k = a->column_count;
    return memcmp(a->x + at * d, b->x + at * d, d * sizeof *a->x) == 0 &&
           memcmp(a->y + at, b->y + at, sizeof *a->y) == 0 &&
           (a->raw == NULL || memcmp(a->raw + at * k, b->raw + at * k, k * sizeof *a->raw) == 0);
}

/* Whether the row `changed` of both tables makes a difference only where it may. */
static bool is_total(const struct schema *schema, const struct text text[2], size_t changed)
{
    const struct dataset_options options = {.use = DATASET_LEARN, .row_count = ROWS};
    struct dataset data[2];
    size_t differing = 0;
    bool good = true;
    for (size_t i = 0; i < 2; i++) {
        struct why why = {{0}};
        cr_assert(dataset_parse(&data[i], (struct slice){text[i].byte, text[i].size}, "t", schema,
                                &options, &why) == STATUS_OK,
                  "%s", why.text);
    }
    const size_t history = schema_history(schema);
    good = data[0].record_count == ROWS - history && data[1].record_count == ROWS - history;
    for (size_t at = 0; good && at < ROWS - history; at++) {
        const size_t back = at + history - changed; /* wraps where the day is before the change */
        bool may = at + history == changed;
        for (size_t lag = 0; lag < schema->lag_count; lag++) {
            may = may || (at + history > changed && back == schema->lag[lag]);
        }
        const bool differs = !same(&data[0], &data[1], at);
        differing += differs ? 1 : 0;
        good = (may || !differs) && record_can_be(&data[0], at, &schema->label) &&
               record_can_be(&data[1], at, &schema->label);
    }
    dataset_free(&data[0]);
    dataset_free(&data[1]);
    return good && differing <= 1 + schema->lag_count;
}

/* Two tables that differ in one line. Where `spans`, the line holds a line's end, as a field in quotes
 * may elsewhere: the planted fault. */
static bool trial(uint64_t seed, bool spans)
{
    struct dice dice = {seed};
    const size_t changed = dice_below(&dice, ROWS);
    const struct dice others = {dice_word(&dice)};
    struct text text[2];
    for (size_t i = 0; i < 2; i++) {
        char line[LINE_BYTES];
        struct dice same_dice = others;
        const size_t size = draw_line(&dice, line);
        if (spans && i == 1 && size > 0) {
            line[size / 2] = '\n';
        }
        text[i] = draw_table(&same_dice, changed, line, size, dice_one_in(&dice, 400));
    }
    const bool good = is_total(&schemas[seed % SCHEMAS], text, changed);
    free(text[0].byte);
    free(text[1].byte);
    return good;
}

Test(dataset_total, a_line_is_a_record_and_changes_no_other)
{
    for (size_t i = 0; i < SCHEMAS; i++) {
        struct why why = {{0}};
        cr_assert(schema_check(&schemas[i], &why) == STATUS_OK, "%s", why.text);
    }
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        cr_assert(trial(seed, false), "seed %llu", (unsigned long long)seed);
    }
}

Test(dataset_total, a_record_of_two_lines_would_be_seen)
{
    size_t seen = 0;
    for (uint64_t seed = 0; seed < TRIALS / 10; seed++) {
        seen += trial(seed, true) ? 0 : 1;
    }
    cr_assert(seen > TRIALS / 100, "%zu", seen);
}

/* Any bytes: every line that is not blank is a record. */
Test(dataset_total, every_line_of_any_bytes_is_a_record)
{
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct dice dice = {seed};
        struct text text = {0};
        struct dataset data;
        size_t lines = 0;
        append(&text, "a,b,c,d,l\n", 10);
        for (size_t left = dice_below(&dice, 20); left > 0; left--, lines++) {
            char line[LINE_BYTES];
            append(&text, line, draw_line(&dice, line));
            append(&text, "\n", 1);
        }
        append(&text, "end\n,\n", 6);
        cr_assert(dataset_parse(&data, (struct slice){text.byte, text.size}, "t", &schemas[0],
                                &(struct dataset_options){.use = DATASET_LEARN},
                                NULL) == STATUS_OK);
        cr_assert(data.record_count == lines + 2, "seed %llu", (unsigned long long)seed);
        dataset_free(&data);
        free(text.byte);
    }
}
