/* made_rows.h - made-up records on which questions are told apart, from their texts and the schema alone. A number is made
 * at every constant that a question compares it with, between each two neighbouring ones, beyond the last ones, and missing:
 * any other number is on the same side of all constants as one of these. No record is read. */

#ifndef QUERY_MADE_ROWS_H
#define QUERY_MADE_ROWS_H

#include "base/status.h"
#include "learn/schema.h"
#include "query/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MADE_COMBINATIONS_MAX = 1 << 16 };

/* A column that a question looks at, and what it compares it with. */
struct made_mark {
    size_t column;
    double at; /* unit: the file's; -INFINITY: nothing */
    bool
        is_exact; /* what is added depends on the constants alone, not on the number between them */
};

/* A column's marks: of (mark_count) some that stand together. */
struct made_column {
    size_t column;
    const double *edge; /* (edges) rising */
    size_t edges;
    size_t classes; /* that its cells are of */
    bool is_exact;
};

struct made_rows {
    const struct schema *schema;
    struct made_mark *mark; /* (mark_count) owned */
    size_t mark_count;
    size_t mark_room;
    double *edge;               /* owned */
    struct made_column *column; /* (column_count) owned */
    size_t column_count;
    double *cell;    /* (schema->column_count) owned */
    double *feature; /* (feature_count) owned, then the model; NULL: no question judges a model */
    size_t feature_count;
    bool wants_features;
    bool is_complete;
    uint64_t combinations; /* of classes of exact columns; 0: more than MADE_COMBINATIONS_MAX */
    uint64_t repeats;      /* of each, with other numbers of the same class */
};

/** Starts without questions. Keeps schema. made_rows_free */
void made_rows_init(struct made_rows *rows, const struct schema *schema);
void made_rows_free(struct made_rows *rows);

/** Adds what a question looks at. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status made_rows_add(struct made_rows *rows, const struct query *query);

struct made_kind {
    bool of_all; /* each combination of the exact columns' classes is made; else all are drawn */
    bool is_complete; /* no cell is missing or unlisted */
};

/** Once all are added: chooses the rows. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status made_rows_settle(struct made_rows *rows, struct made_kind kind);

/** Makes row number `index`, below combinations times repeats where all are made; *row borrows from rows until the next one is made.
 * The same numbers always. Returns a number in (0, 1), as if it were drawn, for the threshold of a quantile. */
double made_rows_make(struct row *row, struct made_rows *rows, uint64_t index);

/** Returns 64 bits that look random, for each number its own (Steele, Lea and Flood's SplitMix64, 2014). */
uint64_t made_mix(uint64_t number);

#endif
