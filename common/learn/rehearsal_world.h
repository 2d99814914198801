/* rehearsal_world.h - what the rows of one made-up table have in common: for learn/rehearsal_table.c alone, which draws them. The
 * prior is in learn/rehearsal.h. */

#ifndef LEARN_REHEARSAL_WORLD_H
#define LEARN_REHEARSAL_WORLD_H

#include "learn/rehearsal_table.h"

#include <stdbool.h>

enum { REHEARSAL_FACTORS = 8 };

/* One latent normal number of every column, by the table's factors. */
struct rehearsal_latent {
    double load[REHEARSAL_FACTORS]; /* of length at most 1 */
    double own;                     /* weight of the column's own part */
    double weight;                  /* in a score */
};

/* How the public ranges of a table suit its columns. */
enum rehearsal_ranges {
    RANGES_FIT,
    RANGES_NARROW, /* the columns' ends are cut off */
    RANGES_WIDE    /* the columns use a part alone, anywhere */
};

struct rehearsal_world {
    size_t d;
    struct rehearsal_latent *latent; /* (d) */
    double *form;                    /* (d, 3) what a column makes of its latent number */
    double *weight; /* (outputs, d) of scores of variance 1, or along one cause of place^2 */
    double *place;  /* (outputs) of several classes along one cause */
    double importance[REHEARSAL_FACTORS]; /* of factors */
    double factor[REHEARSAL_FACTORS];     /* their weights in a score */
    double factors_share;                 /* of the score */
    bool one_cause;

    /* Where the label is first: it moves the factors and the columns' own parts. P = REHEARSAL_FACTORS + d */
    bool label_first;
    size_t classes;
    double share[SCHEMA_CATEGORIES_MAX]; /* of classes */
    double *mean;                        /* (classes, P) */
    double *centre;                      /* (P) of all records */
    double *spread;                      /* (P) likewise */
};

/** Draws columns, factors and the weights of a table's scores. Fails with STATUS_NO_MEMORY; then there is nothing to free. */
MUST_USE enum status rehearsal_world_init(struct rehearsal_world *world,
                                          const struct rehearsal_table *table,
                                          enum rehearsal_ranges ranges,
                                          struct public_random *random);
void rehearsal_world_free(struct rehearsal_world *world);

/** Makes the label of classes the first: as hard to tell as by a score whose standard deviation is `strength`. positive: of
 * two classes, the second one's share. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status rehearsal_world_label_first(struct rehearsal_world *world,
                                                 const struct rehearsal_table *table,
                                                 double strength, double positive,
                                                 struct public_random *random);

/** Draws a row's columns and its scores: of the label's model where that is first, else of variance 1. latent  out  (REHEARSAL_FACTORS + d), of
 * which the last d are the columns' latent numbers */
void rehearsal_world_row(double *z, double *score, double *latent,
                         const struct rehearsal_world *world, const struct schema *schema,
                         struct public_random *random);

/** Draws what a column weighs by itself: on half of them nothing. */
double rehearsal_weight(struct public_random *random);

/** Draws the factors' weights in one more score: along one cause it is the same factor, with another weight. */
void rehearsal_world_factors(struct rehearsal_world *world, struct public_random *random);

/** Draws count normal numbers. */
void rehearsal_normals(double *x, size_t count, struct public_random *random);

/** Returns a number in its range, from a normal one. form  in  (3) mean, spread, skewness */
double rehearsal_number_of(double latent, const double *form);

#endif
