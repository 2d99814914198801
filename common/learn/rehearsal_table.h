/* rehearsal_table.h - a made-up table of a schema's columns, with labels: for learn/rehearsal.c alone, whose header
 * states the prior. */

#ifndef LEARN_REHEARSAL_TABLE_H
#define LEARN_REHEARSAL_TABLE_H

#include "base/status.h"
#include "learn/features_normal.h"
#include "learn/schema.h"

#include <stddef.h>

enum { REHEARSAL_TEST_ROWS = 1000 };

/* What all rows of one kind are called below: all = rows + REHEARSAL_TEST_ROWS. The first five are its shape. */
struct rehearsal_table {
    enum label_kind kind;
    size_t outputs; /* 1; of several classes their number */
    size_t d;
    size_t rows;   /* to learn from; REHEARSAL_TEST_ROWS more follow */
    size_t labels; /* how many records a row stands for: each has a label of its own */
    double *z;     /* (all, d + 1) columns in [-1, 1] and a constant */
    double *score; /* (all, outputs) scores of the model that the labels follow */
    double *
        lean; /* (rows) two classes: share of positive records less that of others, of those a row stands for; a number: mean label */
    double *
        share; /* (all, outputs) of several classes: the records' shares of each, and of test rows the chances */
    double *y; /* (all, draws) of a number: labels of as many records as are drawn */
    size_t draws;
    double *spare; /* (all) */
};

/** Makes room for a table of that shape. Fails with STATUS_NO_MEMORY; then there is nothing to free. */
MUST_USE enum status rehearsal_table_init(struct rehearsal_table *table);
void rehearsal_table_free(struct rehearsal_table *table);

/**
 * Draws a table.
 *
 * schema  in  its lags and columns make d numbers (CHECKed)
 * index   in  below count: which part of the range of strengths it is from; of two classes the label is first in odd ones, of several in three of four
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status rehearsal_table_draw(struct rehearsal_table *table,
                                          const struct schema *schema, size_t index, size_t count,
                                          struct public_random *random);

/** Returns the share of class c, 0 or above, among the records that a row stands for. */
double rehearsal_table_share(const struct rehearsal_table *table, size_t row, size_t c);

/** Returns the share of new records that the model w (outputs, d + 1) of classes gets right: in expectation over their labels. */
double rehearsal_table_accuracy(const double *w, const struct rehearsal_table *table);

/** Returns the share of new records of which the models a and b (outputs, d + 1) say different classes. */
double rehearsal_table_differ(const double *a, const double *b,
                              const struct rehearsal_table *table);

/** Returns a number between low and high. */
double rehearsal_uniform(struct public_random *random, double low, double high);

/** Returns 1/(1 + exp(-score)). */
double rehearsal_chance(double score);

/** Orders two doubles, for qsort. */
int rehearsal_by_size(const void *a, const void *b);

#endif
