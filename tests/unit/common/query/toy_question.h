/* toy_question.h - questions about the toy schema: what they are, and how they are refused. */

#ifndef TESTS_TOY_QUESTION_H
#define TESTS_TOY_QUESTION_H

#include "query/query.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <string.h>

static inline struct query parsed(const char *text)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_OK, "%s: %s", text,
              why.text);
    return query;
}

/* The one cell that a record counts in. cell: (TOY_COLUMNS) */
static inline size_t only_cell_of(const struct query *query, const double *cell, double label,
                                  unsigned bits)
{
    static int64_t sum[QUERY_CELLS_MAX];
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    size_t found = query->cell_count;
    memset(sum, 0, sizeof sum);
    query_add(sum, query, bits, 0, &row);
    for (size_t i = 0; i < QUERY_CELLS_MAX; i++) {
        cr_assert(sum[i] == 0 || (sum[i] == 1 << bits && i < query->cell_count));
        cr_assert(sum[i] == 0 || found == query->cell_count, "a record is in one cell");
        found = sum[i] != 0 ? i : found;
    }
    cr_assert(found < query->cell_count);
    return found;
}

/* part: of the message */
static inline void refuses(const char *text, const char *part)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_INVALID, "%s", text);
    cr_expect(strstr(why.text, part) != NULL, "%s: %s", text, why.text);
}

#endif
