/* What a table does not tell: why it has no test, which cell is too small, and which category need only be left out; and which
 * figures are of smaller tables alone. */

#include "base/decimal.h"
#include "estimate/crosstab.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether a test is given of the table that a job without one of the categories asks for: its records are in no cell then. */
static bool is_tested_without(const struct crosstab_cells *cells, size_t factor, size_t left)
{
    double cell[CROSSTAB_CELLS_MAX];
    double p = NAN;
    struct crosstab_cells with = *cells;
    size_t count = 0;
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            if ((factor == 0 ? i : j) != left) {
                cell[count++] = cells->cell[i * cells->columns + j];
            }
        }
    }
    with.cell = cell;
    with.rows -= factor == 0;
    with.columns -= factor == 1;
    with.m -= cells->rows * cells->columns - count;
    if (with.rows > 1 && with.columns > 1) {
        (void)crosstab_test(&p, &with);
    }
    return !isnan(p);
}

/* Names stand whole, or the sentence does without them. */
void crosstab_say_least(char why[static CROSSTAB_WHY_BYTES], char leave[static CROSSTAB_WHY_BYTES],
                        const struct query *query, const struct crosstab_cells *cells)
{
    const struct crosstab_least least = crosstab_least_of(cells);
    const size_t at[2] = {least.row, least.column};
    const struct column *of[2] = {&query->factor[0].column, &query->factor[1].column};
    int size = CROSSTAB_WHY_BYTES;
    leave[0] = '\0';
    if (least.expected < least.wanted) {
        size = snprintf(why, CROSSTAB_WHY_BYTES,
                        ": %s %s, %s %s is expected to hold about %.0f records, and needs %.0f",
                        of[0]->name, of[0]->category[at[0]], of[1]->name, of[1]->category[at[1]],
                        floor(fmax(0, least.expected)), ceil(least.wanted));
    }
    if (size >= CROSSTAB_WHY_BYTES) {
        (void)snprintf(why, CROSSTAB_WHY_BYTES, ": a cell is expected to hold too few records");
    }
    for (size_t factor = 0; factor < 2 && !isnan(least.expected) && leave[0] == '\0'; factor++) {
        if (is_tested_without(cells, factor, at[factor])) {
            size = snprintf(
                leave, CROSSTAB_WHY_BYTES,
                "; or leave \"%s\" out of the categories of %s: the others may have enough",
                of[factor]->category[at[factor]], of[factor]->name);
            leave[0] = size >= CROSSTAB_WHY_BYTES ? '\0' : ';';
        }
    }
}

enum { INSTEAD_BYTES = 3 * SCHEMA_NAME_BYTES + 80 };

/* What would tell the rest, of two columns. */
static void say_instead(char text[static INSTEAD_BYTES], const struct query *query)
{
    const char *row = query->factor[0].column.name;
    const char *column = query->factor[1].column.name;
    text[0] = '\0';
    if (crosstab_has_shares(query)) {
        (void)snprintf(text, INSTEAD_BYTES,
                       "; a regress of %s by %s tells each category's odds ratio to the first",
                       column, row);
    } else if (query->factor[0].column.category_count == 2) {
        (void)snprintf(text, INSTEAD_BYTES, "; write %s x %s for the shares of %s in each category",
                       column, row, row);
    }
}

void crosstab_say_kind(struct query_answer *answer, const struct query *query)
{
    char instead[INSTEAD_BYTES] = "";
    const size_t used = strlen(answer->note);
    const char *begin = used > 0 ? "; " : "";
    if (crosstab_is_fourfold(query)) {
        return;
    }
    if (query->factor_count > 2) {
        (void)snprintf(answer->note + used, sizeof answer->note - used,
                       "%sof a table of more than two columns counts alone are told: no share, no "
                       "odds ratio and no test",
                       begin);
        return;
    }
    say_instead(instead, query);
    (void)snprintf(answer->note + used, sizeof answer->note - used,
                   "%sthe odds ratio and the difference of shares are of tables of 2 x 2 alone%s%s",
                   begin, crosstab_has_test(query) ? "" : ", and the test of smaller tables",
                   instead);
}

void crosstab_say_lowered(struct query_answer *answer, double statistic, double found)
{
    const size_t used = strlen(answer->note);
    if (found > 1.005 * statistic) { /* else it is the same as it is told */
        (void)snprintf(answer->note + used, sizeof answer->note - used,
                       "; lowered from %s, as its smallest expected cell is near the least that is "
                       "tested, where noise may have made it larger",
                       decimal_short(found, 4).text);
    }
}
