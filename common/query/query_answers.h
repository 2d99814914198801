/* query_answers.h - the parts of query_answers.c. Inside query alone. */

#ifndef QUERY_QUERY_ANSWERS_H
#define QUERY_QUERY_ANSWERS_H

#include "estimate/crosstab.h"
#include "query/query_kind.h"
#include "query/query_run.h"

/* A question at its end. */
struct answering {
    const struct query_run *run;
    const struct query *query;
    const struct bisection *bisection; /* of a quantile */
    const int64_t *sum;                /* (cell_count) the question's own */
    double bar;                        /* of a cell, 95 %, unit: grid steps */
    double bar_of_ratio;               /* query_noise_bar with ratio 1/2 */
};

struct query_answers_row {
    size_t (*count)(const struct query *query);

    /** Writes `count` answers, zeroed and named after the question before. */
    void (*write)(struct query_answer *answer, const struct answering *answering);

    size_t (*point_count)(const struct query *query); /* NULL: it has no curve */
    void (*points)(struct query_point *point, const struct answering *answering);
};

/** Names an answer, or what is like one, after the question and a part of it. */
void query_part_name(char name[static QUERY_NAME_BYTES], const struct query *query,
                     const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Appends to an answer's note. */
void query_say(struct query_answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Returns the variance of the noise on a cell of the released sum; unit: records^2. */
double query_cell_variance(const struct query_run *run);

/** Returns how many records a group needs by the noise alone, or a cross table's row; where there are none, all. NAN: no number
 * is known. */
double query_records_needed(const struct answering *answering);

/** Appends to a note how many records would be enough by the noise alone; nothing if that is not
 * known. */
void query_say_enough(char *note, size_t bytes, const struct answering *answering);

/** Writes a count and the noise's bar, both within what records there can be; where the bar is wider than all records there is
 * none. answer: its records are set */
void query_tell_count(struct query_answer *answer, const struct answering *answering, double value,
                      double noise);

enum { AGREE_MAX = CROSSTAB_CELLS_MAX + 1 };

/** Moves x (count) to the nearest numbers, by least squares, that are all at least 0 and sum to total, at least 0. The true
 * numbers are such numbers, so x is never farther from them afterwards. */
void query_agree(double *x, size_t count, double total);

/** Tells a count that is given as another one, which agrees with others: within the interval, or its end. */
void query_tell_agreed(struct query_answer *answer, double value);

/** Appends to a test's note a category, or a group, that it is not of; after the first that it is told of, to the list. column: its
 * name; empty: none */
void query_say_left_out(struct query_answer *answer, const char *column, const char *name);

/** The same of an interval of time in which no event was found, from "3250 to 3900". */
void query_say_left_out_interval(struct query_answer *answer, const char *name);

/** Writes the question's cells in records, balanced to the public number of records. */
void query_balanced_cells(double *cell, const struct answering *answering);

size_t survival_answers(const struct query *query);
void answer_survival(struct query_answer *answer, const struct answering *answering);
size_t crosstab_answers(const struct query *query);
void answer_crosstab(struct query_answer *answer, const struct answering *answering);

/** Whether it is of two columns of two categories each; and the names of what such a table says beside its shares. */
bool crosstab_is_fourfold(const struct query *query);
bool crosstab_has_shares(
    const struct query *query); /* of two columns, the second of two categories */
bool crosstab_has_test(
    const struct query *query); /* of two columns that the chi-squared test is for */
void crosstab_name_difference(char name[static QUERY_NAME_BYTES], const struct query *query);
void crosstab_name_odds(char name[static QUERY_NAME_BYTES], const struct query *query);

/** A survival's cells in records; and the names of a group's median, of its mean, and of what it has more than the first
 * group's. */
struct survival_cells survival_cells_of(double *cell, const struct answering *answering);
void survival_name_median(char name[static QUERY_NAME_BYTES], const struct query *query,
                          size_t group);
void survival_name_mean(char name[static QUERY_NAME_BYTES], const struct query *query,
                        size_t group);
void survival_name_difference(char name[static QUERY_NAME_BYTES], const struct query *query,
                              size_t group);

/* A coefficient of a regression. */
struct regress_slope {
    char variable[SCHEMA_NAME_BYTES];
    char row[SCHEMA_NAME_BYTES + 16]; /* "by 1"; "B to A" */
    double unit;                      /* what 1 of the design is in the file's unit */
};
size_t regress_slopes_of(const struct query_variable *variable);

/** Returns how many effects by site a table1's variable has. */
size_t table1_effects_of(const struct query_variable *variable);

void regress_slope_of(struct regress_slope *out, const struct query *query,
                      const struct query_variable *variable, size_t slope);

/** Returns what e to a coefficient is, "odds ratio"; NULL: nothing. */
const char *regress_ratio(const struct query *query);

/* A table1's cells in records. */
struct table1 {
    const struct answering *answering; /* to be set before table1_set_blocks */
    struct table1_sizes sizes;
    struct table1_block block[QUERY_VARIABLES_MAX];
    double cell[QUERY_CELLS_MAX];
};
void table1_set_blocks(struct table1 *table);

/** For answers in a table: how many columns it has, the groups and all of them together; an answer's place and name; and its
 * figures, with what would do where it is not given. */
size_t table_columns(const struct query *query);
const char *table_group(const struct query *query, size_t group);
void table_place(struct query_answer *answer, const struct query *query, const char *variable,
                 const char *figure, size_t group);
void table_tell(struct query_answer *answer, const struct answering *answering,
                const struct table1_figure *figure, const char *unit);

/** The same, with another advice than that of table1_factor_told. */
struct advice;
void table_tell_advised(struct query_answer *answer, const struct answering *answering,
                        const struct table1_figure *figure, const char *unit,
                        const struct advice *advice);

enum { TABLE_COLUMNS_MAX = SURVIVAL_GROUPS_MAX + 1 };

/** Tells the sizes of all groups, and after them of all, which agree. told: out, also where they are not given */
void table_tell_sizes(struct query_answer *answer, double told[static TABLE_COLUMNS_MAX],
                      const struct answering *answering, const struct table1_sizes *sizes);

/** Says of a figure that is not given that nobody was found in its group, where that is so. */
void table_say_empty(struct query_answer *answer, const struct answering *answering,
                     const struct table1_figure *size);

/** Writes a correlate's or pca's sums in records, and which columns have two values. cell: (cell_count); is_two: (columns) */
void query_moments(struct correlate_moments *out, double *cell, bool *is_two,
                   const struct answering *answering);
size_t pca_answers(const struct query *query);
void answer_pca(struct query_answer *answer, const struct answering *answering);
size_t correlate_answers(const struct query *query);
void answer_correlate(struct query_answer *answer, const struct answering *answering);
size_t regress_answers(const struct query *query);
void answer_regress(struct query_answer *answer, const struct answering *answering);
size_t concordance_answers(const struct query *query);
void answer_concordance(struct query_answer *answer, const struct answering *answering);
size_t evaluate_answers(const struct query *query);
void answer_evaluate(struct query_answer *answer, const struct answering *answering);
size_t evaluate_points(const struct query *query);
void point_evaluate(struct query_point *point, const struct answering *answering);
size_t table1_answers(const struct query *query);
void answer_table1(struct query_answer *answer, const struct answering *answering);
size_t survival_points(const struct query *query);
void point_survival(struct query_point *point, const struct answering *answering);

#endif
