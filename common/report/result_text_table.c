/* result_text_table.c - a paper's Table 1, to be copied: figures down, groups across, each with its interval. */

#include "base/decimal.h"
#include "report/result_text_private.h"

#include <math.h>
#include <string.h>

enum { CELL_BYTES = 96, LABEL_BYTES = 2 * RESULT_NAME_BYTES + 8 };

/* The answers of one table: count of them, from first on. */
struct block {
    const struct result_answer *first;
    size_t count;
    size_t groups; /* the first answers are the groups' sizes */
};

static bool is_of(const struct result_answer *a, const struct result_answer *b)
{
    return a->round == b->round && strcmp(a->table, b->table) == 0;
}

static struct block block_at(const struct result *result, size_t at)
{
    struct block block = {.first = &result->answer[at]};
    while (at + block.count < result->answer_count &&
           is_of(block.first, &result->answer[at + block.count])) {
        block.count++;
    }
    while (block.groups < block.count &&
           strcmp(block.first[block.groups].variable, block.first->variable) == 0 &&
           strcmp(block.first[block.groups].figure, block.first->figure) == 0) {
        block.groups++;
    }
    return block;
}

/* The same figure of another group; NULL where a file has none. */
static const struct result_answer *in_group(const struct block *block,
                                            const struct result_answer *figure, size_t group)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct result_answer *answer = &block->first[i];
        if (strcmp(answer->figure, figure->figure) == 0 &&
            strcmp(answer->variable, figure->variable) == 0 &&
            strcmp(answer->group, block->first[group].group) == 0) {
            return answer;
        }
    }
    return NULL;
}

static bool is_count(const struct result_answer *answer)
{
    return strcmp(answer->unit, "records") == 0;
}

/* A count of -0.3 is 0, not -0: the sum has no sign. One that noise made less than 0 is 0 too, but for programs. */
static double nearest(double value, double digit)
{
    return round(value / digit) * digit + 0.0;
}

static void write_number(char text[static CELL_BYTES], const struct result_answer *answer,
                         double value)
{
    const bool is_share = strcmp(answer->unit, "share") == 0;
    text[0] = '\0';
    if (isfinite(value)) {
        if (is_share) {
            (void)snprintf(text, CELL_BYTES, "%.1f %%", nearest(100 * value, 0.1));
        } else if (is_count(answer)) {
            (void)snprintf(text, CELL_BYTES, "%.0f", fmax(nearest(value, 1), 0));
        } else {
            (void)snprintf(text, CELL_BYTES, "%s", decimal_short(value, 4).text);
        }
    }
}

/* A p-value has no interval, so that its group has no column for one. */
static bool has_interval(const struct block *block, size_t group)
{
    return strcmp(block->first[group].unit, "p-value") != 0;
}

static size_t columns_of(const struct block *block)
{
    size_t columns = 1;
    for (size_t g = 0; g < block->groups; g++) {
        columns += has_interval(block, g) ? 2 : 1;
    }
    return columns;
}

static void label_of(char label[static LABEL_BYTES], const struct result_answer *answer)
{
    (void)snprintf(label, LABEL_BYTES, "%s%s%s", answer->variable,
                   answer->variable[0] == '\0' ? "" : ", ", answer->figure);
}

/* A count's interval is of the noise alone: all records there are were counted. NULL: this row has no such figure. */
static void put_figure(FILE *out, const struct layout *layout, const struct result_answer *answer,
                       bool with_interval)
{
    char value[CELL_BYTES] = "";
    char low[CELL_BYTES] = "";
    char high[CELL_BYTES] = "";
    char interval[2 * CELL_BYTES + 8] = "";
    const double from = answer == NULL ? NAN : is_count(answer) ? answer->low : answer->total_low;
    const double to = answer == NULL ? NAN : is_count(answer) ? answer->high : answer->total_high;
    if (layout->is_raw) {
        const double number[3] = {answer == NULL ? NAN : answer->value, from, to};
        for (size_t i = 0; i < (with_interval ? 3 : 1); i++) {
            (void)fputs(layout->between, out);
            if (isfinite(number[i])) {
                (void)fprintf(out, "%.*g", layout->digits, number[i]);
            }
        }
        return;
    }
    if (answer != NULL) {
        write_number(value, answer, answer->value);
        write_number(low, answer, from);
        write_number(high, answer, to);
    }
    if (low[0] != '\0' && high[0] != '\0') {
        (void)snprintf(interval, sizeof interval, "%s to %s", low, high);
    }
    (void)fputs(layout->between, out);
    layout->put(out, value[0] == '\0' && answer != NULL ? "not enough data" : value);
    if (with_interval) {
        (void)fputs(layout->between, out);
        layout->put(out, interval);
    }
}

static void put_head(FILE *out, const struct layout *layout, const struct block *block)
{
    (void)fputs(layout->open, out);
    layout->put(out, layout->is_raw ? block->first->table : "");
    for (size_t g = 0; g < block->groups; g++) {
        const char *name = block->first[g].group;
        (void)fputs(layout->between, out);
        layout->put(out, name[0] == '\0' ? "value" : name);
        if (!has_interval(block, g)) {
            continue;
        }
        (void)fputs(layout->between, out);
        layout->put(out, layout->is_raw ? "from" : "95 % interval");
        if (layout->is_raw) {
            (void)fputs(layout->between, out);
            layout->put(out, "to");
        }
    }
    if (layout->is_raw) {
        result_put_price_head(out);
        (void)fputs(",\"note\"", out);
    }
    (void)fputs(layout->close, out);
    for (size_t i = 0; layout->is_ruled && i < columns_of(block); i++) {
        (void)fputs(i == 0 ? "|---" : "|---:", out);
    }
    (void)fputs(layout->is_ruled ? "|\n" : layout->rule, out);
}

/* How many answers before this one have its note. */
static size_t same_before(const struct block *block, size_t at)
{
    size_t count = 0;
    for (size_t i = 0; i < at; i++) {
        count += strcmp(block->first[i].note, block->first[at].note) == 0 ? 1 : 0;
    }
    return count;
}

/* Below the table, each note once: what a figure is of, or what a missing one lacks. */
static void put_notes(FILE *out, const struct layout *layout, const struct block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct result_answer *answer = &block->first[i];
        char label[LABEL_BYTES];
        char more[CELL_BYTES] = "";
        size_t others = 0;
        if (answer->note[0] == '\0' || same_before(block, i) > 0) {
            continue;
        }
        for (size_t j = i + 1; j < block->count; j++) {
            others += strcmp(block->first[j].note, answer->note) == 0 ? 1 : 0;
        }
        if (others > 0) {
            (void)snprintf(more, sizeof more, " and %zu more", others);
        }
        label_of(label, answer);
        layout->put(out, label);
        layout->put(out, answer->group[0] == '\0' ? "" : ", ");
        layout->put(out, answer->group);
        layout->put(out, more);
        layout->put(out, ": ");
        layout->put(out, answer->note);
        (void)fputs("\n\n", out);
    }
}

/* The notes of a row in its last cell, each once. */
static void put_notes_of_row(FILE *out, const struct layout *layout, const struct block *block,
                             const struct result_answer *row)
{
    enum { NOTES_MOST = 4 };
    char text[NOTES_MOST * RESULT_TEXT_BYTES] = "";
    for (size_t g = 0; g < block->groups; g++) {
        const struct result_answer *answer = in_group(block, row, g);
        const size_t used = strlen(text);
        if (answer != NULL && answer->note[0] != '\0' && strstr(text, answer->note) == NULL &&
            used + RESULT_TEXT_BYTES + 2 < sizeof text) {
            (void)snprintf(text + used, RESULT_TEXT_BYTES + 2, "%s%s", used > 0 ? "; " : "",
                           answer->note);
        }
    }
    (void)fputs(layout->between, out);
    layout->put(out, text);
}

static void put_block(FILE *out, const struct layout *layout, const struct result *result,
                      const struct block *block)
{
    result_put_price(out, layout, result, block->first->round);
    if (!layout->is_raw) {
        layout->put(out, block->first->table);
        layout->put(out, ". Intervals are of sampling and noise, those of counts of the noise.");
        (void)fputs("\n\n", out);
    }
    (void)fputs(layout->begin, out);
    for (size_t i = 0; layout->begin[0] != '\0' && i < columns_of(block); i++) {
        (void)fputs(i == 0 ? "l" : "r", out);
    }
    (void)fputs(layout->ready, out);
    put_head(out, layout, block);
    for (size_t i = 0; i < block->count; i++) {
        const struct result_answer *answer = &block->first[i];
        char label[LABEL_BYTES];
        if (strcmp(answer->group, block->first->group) != 0) {
            continue;
        }
        label_of(label, answer);
        (void)fputs(layout->open, out);
        layout->put(out, label);
        for (size_t g = 0; g < block->groups; g++) {
            put_figure(out, layout, in_group(block, answer, g), has_interval(block, g));
        }
        if (layout->is_raw) {
            result_put_price_cells(out, result, answer->round);
            put_notes_of_row(out, layout, block, answer);
        }
        (void)fputs(layout->close, out);
    }
    (void)fputs(layout->end, out);
    if (!layout->is_raw) {
        put_notes(out, layout, block);
    }
}

void result_put_tables(FILE *out, const struct layout *layout, const struct result *result)
{
    size_t at = 0;
    while (at < result->answer_count) {
        if (result->answer[at].table[0] == '\0') {
            at++;
            continue;
        }
        const struct block block = block_at(result, at);
        put_block(out, layout, result, &block);
        at += block.count;
    }
}
