/* query_advice.h - with how much more epsilon, or how many more records, an answer would be given. Inside query alone. */

#ifndef QUERY_QUERY_ADVICE_H
#define QUERY_QUERY_ADVICE_H

#include "estimate/crosstab.h"
#include "query/query_answers.h"

#include <stdbool.h>

/* The largest factor that is told. */
#define ADVICE_FACTOR_MOST 64.0

/* A question as it would be asked again. */
struct advised {
    struct query query; /* planned anew: more epsilon or records make more steps, levels or parts */
    double variance;    /* of the noise on a cell; unit: records^2 */
    double times;       /* how many times the records there would be */
};

/** Writes it for a factor of the epsilon, or of the records. The set's other questions stay as they are. */
void advised_init(struct advised *out, const struct answering *answering, double factor,
                  bool is_of_records);

/** Answers whether an answer would be given, allowing for the noise of now and then. of: handed on */
typedef bool advice_does(const struct advised *advised, const void *of);

/** Returns about the least factor of the epsilon, and as well of the records, that would do, of those that a note prints; NAN: none up
 * to ADVICE_FACTOR_MOST. */
double advice_factor(const struct answering *answering, advice_does *does, const void *of);

/** Returns about the least factor of the epsilon, or of the records, likewise. */
double advice_factor_of(const struct answering *answering, advice_does *does, const void *of,
                        bool is_of_records);

/* A figure of a column, and one that was refused. */
typedef struct table1_figure table1_figure_of(const struct table1_column *column);
struct table1_refused {
    const struct table1_column *column;
    size_t group;    /* as table1_column_of's */
    size_t variable; /* of a table1 */
    size_t classes;  /* as table1_column_again's */
    table1_figure_of *figure;
};

/** Returns advice_factor of a figure of a table1's number, or of an evaluate. */
double table1_advice(const struct answering *answering, const struct table1_refused *refused);

/* Whether a figure of a cross table is given. row: of a share */
typedef bool crosstab_is_given(const struct crosstab_cells *cells, size_t row);

/** Return advice_factor of a figure of a cross table that was refused; and that of the epsilon, or of the records, alone, where there is
 * no row. */
double crosstab_advice(const struct answering *answering, const struct crosstab_cells *cells,
                       crosstab_is_given *given, size_t row);
double crosstab_advice_of(const struct answering *answering, const struct crosstab_cells *cells,
                          crosstab_is_given *given, bool is_of_records);

/** Returns how many times less the noise deviates with `factor` times the epsilon. multiplier: of Gaussian noise, its deviation
 * over the L2 sensitivity; of Laplace noise 0. The delta is taken to be 1e-5, or less. */
double advice_quieter(double factor, double multiplier);

#endif
