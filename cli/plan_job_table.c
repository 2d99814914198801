/* A question's lines are a table's cells, by the place that each has. Lines of one place are a range. */

#include "cli/plan_job_table.h"
#include "base/decimal.h"

#include "base/text.h"
#include "cli/plan_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, GAP = 2 };

/* The columns of a question's table: their widths, and then from how many records on there are any. Another site's figure has no
 * column: it is a multiple of the figure of all sites, as the legend says. */
enum place { NAME, ALIKE, SMALL, GROUP_FROM, ALL, ALL_FROM, SITE, SITES, SITE_FROM };

static const struct {
    enum place width;
    enum place from;
    const char *head;
} column_of[TERMS_OF_COUNT] = {
    [TERMS_OF_ALIKE] = {ALIKE, GROUP_FROM, "a group"},
    [TERMS_OF_SMALL] = {SMALL, GROUP_FROM, "a tenth"},
    [TERMS_OF_ALL] = {ALL, ALL_FROM, "all"},
    [TERMS_OF_SITE] = {SITE, SITE_FROM, "a site"},
    [TERMS_OF_SITES] = {SITES, SITE_FROM, "all sites"},
};

enum status table_init(struct table *table, size_t rows)
{
    *table = (struct table){.cell = calloc(rows, sizeof *table->cell), .rows = rows};
    return table->cell == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

void table_free(struct table *table)
{
    free(table->cell);
    *table = (struct table){.rows = 0};
}

void table_print(const struct table *table, int indent)
{
    int width[TABLE_COLUMNS] = {0};
    int room = TABLE_WIDTH - indent;
    for (size_t j = 0; j < TABLE_COLUMNS; j++) {
        for (size_t i = 0; i < table->rows; i++) {
            const int length = (int)strlen(table->cell[i][j]);
            width[j] = length > width[j] ? length : width[j];
        }
        room -= j > 0 && width[j] > 0 ? width[j] + GAP : 0;
    }
    const int name = width[0] < room ? width[0] : room;
    for (size_t i = 0; i < table->rows; i++) {
        int column = printf("%*s%s", indent, "", table->cell[i][0]) - indent;
        if (column > name) {
            column = printf("\n%*s", indent, "") - 1 - indent;
        }
        int due = name - column; /* spaces, which no line ends in */
        for (size_t j = 1; j < TABLE_COLUMNS; j++) {
            const char *cell = table->cell[i][j];
            const int length = (int)strlen(cell);
            due += width[j] > 0 ? GAP : 0;
            if (length > 0) {
                (void)printf("%*s%s", due + (table->is_left ? 0 : width[j] - length), "", cell);
                due = table->is_left ? width[j] - length : 0;
            } else {
                due += width[j];
            }
        }
        (void)putchar('\n');
    }
}

/* A line's figure as a cell: "0.0425", "refused". */
static void put_width(char text[static TABLE_CELL_BYTES], const struct terms_line *line)
{
    const double value = isfinite(line->bar) ? line->bar : line->noise;
    const bool is_of_sites = job_plan_is_of_sites(line);
    const bool has_few =
        !is_of_sites || (line->place.has > 0 && !(line->place.has >= line->place.needs));
    (void)snprintf(text, TABLE_CELL_BYTES, "%s",
                   has_few                            ? "refused"
                   : line->place.of == TERMS_OF_SITES ? "-"
                                                      : "alone");
    if (isfinite(value)) {
        const double shown = line->place.is_ratio ? exp(value) : value;
        (void)snprintf(text, TABLE_CELL_BYTES, "%s", decimal_short(shown, 3).text);
    }
}

static bool is_of(const struct terms_line *line, const struct terms_line *other)
{
    const size_t bytes = other->place.question;
    return line->place.question == bytes && strncmp(line->what, other->what, bytes) == 0;
}

/* Writes a line's figure into its cell, or makes a range of what is there. */
static void put(char *cell, const struct terms_line *line)
{
    char text[TABLE_CELL_BYTES];
    put_width(text, line);
    const char *dots = strstr(cell, "..");
    const double low = strtod(cell, NULL);
    const double high = dots != NULL ? strtod(dots + 2, NULL) : low;
    char *end = NULL;
    const double value = strtod(text, &end);
    if (cell[0] == '\0') {
        (void)snprintf(cell, TABLE_CELL_BYTES, "%s", text);
    } else if (end != text && low > 0) {
        if (value != low || value != high) {
            (void)snprintf(cell, TABLE_CELL_BYTES, "%s..%s",
                           decimal_short(fmin(low, value), 3).text,
                           decimal_short(fmax(high, value), 3).text);
        }
    } else if (strcmp(cell, text) != 0 && strstr(cell, " or ") == NULL) {
        text_add(cell, TABLE_CELL_BYTES, " or %.16s", text);
    }
}

static void put_number(char *cell, double number)
{
    if (isnan(number)) {
        (void)snprintf(cell, TABLE_CELL_BYTES, "never");
    } else if (strcmp(cell, "never") != 0 && number > 0 && number > strtod(cell, NULL)) {
        (void)snprintf(cell, TABLE_CELL_BYTES, "%.0f", ceil(number));
    }
}

/* A word for what is counted, where the row does not say it. */
static void name_row(char *cell, const struct terms_line *line)
{
    const bool says = strstr(line->place.row, line->unit) != NULL || line->place.is_ratio ||
                      strcmp(line->unit, "w") == 0 || strcmp(line->unit, "coefficient") == 0 ||
                      strcmp(line->unit, "benefit") == 0 || strcmp(line->unit, "share") == 0;
    (void)snprintf(cell, TABLE_CELL_BYTES, "%s", line->place.row);
    if (!says) {
        (void)snprintf(cell, TABLE_CELL_BYTES, "%.100s, %.32s", line->place.row, line->unit);
    }
}

static void put_line(struct table *table, const struct terms_line *line)
{
    const enum place width = column_of[line->place.of].width;
    char name[TABLE_CELL_BYTES];
    size_t row = HEADS;
    name_row(name, line);
    while (row < table->rows && strcmp(table->cell[row][NAME], name) != 0) {
        row++;
    }
    if (row == table->rows) {
        (void)snprintf(table->cell[table->rows++][NAME], TABLE_CELL_BYTES, "%s", name);
    }
    char *cell = table->cell[row][width];
    const bool was_drowned = strchr(cell, '!') != NULL;
    put(cell, line);
    if ((was_drowned ||
         (line->noise_to_signal > 1 && (isfinite(line->bar) || isfinite(line->noise)))) &&
        strchr(cell, '!') == NULL) {
        text_add(cell, TABLE_CELL_BYTES, " !");
    }
    if (line->place.of != TERMS_OF_SITES) {
        put_number(table->cell[row][column_of[line->place.of].from], line->place.needs);
        (void)snprintf(table->cell[0][column_of[line->place.of].from], TABLE_CELL_BYTES, "from");
        put_number(table->cell[1][width], line->place.has);
    }
    (void)snprintf(table->cell[0][width], TABLE_CELL_BYTES, "%s", column_of[line->place.of].head);
}

/* "noise: +- 25.3 records on each of 67 plain cells" of all its columns, and what the widths take. */
static void print_noise(const struct terms *terms, size_t index)
{
    const struct terms_line *first = &terms->line[index];
    char text[WRAP_BYTES] = "";
    const char *taken = NULL;
    for (size_t i = index; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (line->place.question == 0 || !is_of(line, first)) {
            continue;
        }
        taken = line->place.taken != NULL ? line->place.taken : taken;
        if (line->place.row[0] == '\0') {
            text_add(text, sizeof text, "%s+- %s on %s%s", text[0] != '\0' ? "; " : "",
                     decimal_short(line->noise, 3).text, line->what + line->place.question + 2,
                     line->noise_to_signal > 1 ? " DROWNED" : "");
        }
    }
    if (text[0] != '\0') {
        text_wrap_in(stdout, TABLE_WIDTH, 0, 6, "    noise: %s%s%s", text,
                     taken != NULL ? "; taken: " : "", taken != NULL ? taken : "");
    }
}

enum status table_print_question(bool *is_told, const struct terms *terms, size_t index)
{
    const struct terms_line *first = &terms->line[index];
    struct table table;
    *is_told = first->place.question > 0;
    for (size_t i = 0; i < index && *is_told; i++) {
        if (is_of(&terms->line[i], first)) {
            return STATUS_OK; /* printed before */
        }
    }
    if (!*is_told) {
        return STATUS_OK;
    }
    const enum status status = table_init(&table, HEADS + terms->line_count);
    if (status != STATUS_OK) {
        return status;
    }
    table.rows = HEADS;
    (void)snprintf(table.cell[0][NAME], TABLE_CELL_BYTES, "half of the 95 %% interval of");
    (void)snprintf(table.cell[1][NAME], TABLE_CELL_BYTES, "  of so many records");
    for (size_t i = index; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (is_of(line, first) && line->place.row[0] != '\0' && line->place.of != TERMS_OF_NEXT) {
            put_line(&table, line);
        }
    }
    text_wrap(stdout, 0, 4, "  %.*s", (int)first->place.question, first->what);
    print_noise(terms, index);
    if (table.rows > HEADS) {
        table_print(&table, 4);
    }
    table_free(&table);
    return STATUS_OK;
}
