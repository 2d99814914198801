/* query_advice.h - with how much more epsilon, or how many more records, an answer would be given. Inside query alone. */

#ifndef QUERY_QUERY_ADVICE_H
#define QUERY_QUERY_ADVICE_H

#include "query/query_answers.h"

#include <stdbool.h>

/* The largest factor that is told. */
#define ADVICE_FACTOR_MOST 64.0

/* A question as it would be asked again. */
struct advised {
    struct query query; /* planned anew: more epsilon or records make more steps or levels */
    double variance;    /* of the noise on a cell; unit: records^2 */
    double times;       /* how many times the records there would be */
};

/** Writes it for a factor of the epsilon, or of the records. The set's other questions stay as they are. */
void advised_init(struct advised *out, const struct answering *answering, double factor,
                  bool is_of_records);

/** Answers whether an answer would be given, allowing for the noise of now and then. of: handed on */
typedef bool advice_does(const struct advised *advised, const void *of);

/* The factors of the epsilon and of the records that would be enough; NAN: none is known. */
struct advice {
    double epsilon;
    double records;
};

/** Returns about the least factors of the epsilon and of the records that would be enough, among those that a note prints:
 * up to ADVICE_FACTOR_MOST. */
struct advice advice_search(const struct answering *answering, advice_does *does, const void *of);

/** Returns the advice if dividing the noise by factor would be enough, or as many times the records. factor: NAN: none is
 * known */
struct advice advice_of_noise(const struct answering *answering, double factor);

enum { ADVICE_BYTES = 80 }; /* that its text needs */

/** Write that it would be enough, rounded up; and append this to a note. Return false, and write nothing, if none is
 * known. */
bool advice_text(char *text, size_t bytes, const struct advice *advice);
bool advice_say(char *note, size_t bytes, const struct advice *advice);

/* Cells as they were released: m of them, whose total is public where is_counts. */
struct advice_cells {
    const double *cell;
    size_t m;
    double variance; /* of the noise on each; unit: records^2 */
    bool is_counts;

    /** NULL, or sets those cells of a trial of which more is known than their noise. at: (0, 1), over the trials; of: handed on */
    void (*suppose)(double *cell, double at, const void *of);
};

/* Whether an answer would be given of such cells. of: handed on */
typedef bool advice_given(const struct advice_cells *cells, const struct advised *advised,
                          const void *of);

/** Answers whether it would be in five of six trials: of what was found, with the noise that it may have, and what is drawn
 * then. The draws hide nothing, so that a fixed seed serves: the same release always says the same. */
bool advice_in_trials(const struct advice_cells *found, const struct advised *advised,
                      advice_given *given, const void *of);

/* A figure of a column, and one that was refused. */
typedef struct table1_figure table1_figure_of(const struct table1_column *column);
struct table1_refused {
    const struct table1_column *column;
    size_t group;    /* as table1_column_of's */
    size_t variable; /* of a table1 */
    size_t classes;  /* as table1_column_again's */
    table1_figure_of *figure;
    unsigned
        parts; /* of an evaluate's share: of whose records it is (EVALUATE_PARTS); 0: a figure */
};

/** Returns advice_search of a figure of a table1's number, or of an evaluate. */
struct advice table1_advice(const struct answering *answering,
                            const struct table1_refused *refused);

/** Returns how many times less the noise deviates with `factor` times the epsilon. multiplier: of Gaussian noise, its deviation
 * over the L2 sensitivity; of Laplace noise 0. The delta is taken to be 1e-5, or less. */
double advice_quieter(double factor, double multiplier);

#endif
