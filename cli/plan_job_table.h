/* plan_job_table.h - tables of a plan: figures below each other, whose they are beside each other. */

#ifndef CLI_PLAN_JOB_TABLE_H
#define CLI_PLAN_JOB_TABLE_H

#include "base/status.h"
#include "job/terms.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TABLE_WIDTH = 99, /* columns of a terminal that a table may take */
    TABLE_COLUMNS = 9,
    TABLE_CELL_BYTES = 160
};

/* The first column names its row. A column without a word in any row is not printed. */
struct table {
    char (*cell)[TABLE_COLUMNS][TABLE_CELL_BYTES]; /* (rows), owned */
    size_t rows;
    bool is_left; /* the cells begin below each other; else they end so */
};

/** Starts a table of empty cells; table_free. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status table_init(struct table *table, size_t rows);
void table_free(struct table *table);

/** Prints it. A name that leaves no room for its cells stands above them. */
void table_print(const struct table *table, int indent);

/**
 * Prints the table of a question's widths where a line is the first of one.
 *
 * is_told  out  the line stands in a table, printed now or before
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status table_print_question(bool *is_told, const struct terms *terms, size_t index);

#endif
