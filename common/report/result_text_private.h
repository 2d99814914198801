/* result_text_private.h - what the tables to copy differ in by format. Inside result_text*.c alone. */

#ifndef REPORT_RESULT_TEXT_PRIVATE_H
#define REPORT_RESULT_TEXT_PRIVATE_H

#include "report/result.h"

#include <stdbool.h>
#include <stdio.h>

struct layout {
    const char *name;
    const char *open; /* a row's begin, between cells, end */
    const char *between;
    const char *close;
    int digits;
    void (*put)(FILE *out, const char *text); /* a text, escaped */
    bool is_raw; /* for a program: every number in a cell of its own, and the price in every row */
    bool is_ruled;     /* a line of dashes is below the head */
    const char *begin; /* of a table, its cells' kinds between the two; may be empty */
    const char *ready;
    const char *rule;
    const char *end;
};

/** Writes what the answers of that round cost, with all others of their stage, and whether they are private at all; nothing where
 * each row says it. */
void result_put_price(FILE *out, const struct layout *layout, const struct result *result,
                      uint32_t round);

/** Writes the same into a row of numbers: what result_put_price_head names. */
void result_put_price_cells(FILE *out, const struct result *result, uint32_t round);
void result_put_price_head(FILE *out);

/** Writes the answers that are of a table, a table each: figures down, groups across. */
void result_put_tables(FILE *out, const struct layout *layout, const struct result *result);

/** Writes each effect by site as a table: the sites, their mean, another such site; and below it how much they differ. */
void result_put_effects(FILE *out, const struct layout *layout, const struct result *result);

#endif
