/* query_kind.h - what the kinds of questions differ in, one row each. Inside query alone; what released sums say is in
 * query_answers.c. A new kind is an enumerator, a row here and there, and its files. */

#ifndef QUERY_QUERY_KIND_H
#define QUERY_QUERY_KIND_H

#include "query/query.h"
#include "query/reader.h"

struct reading {
    struct reader reader;
    struct query *query;
};

/* What a record is asked. */
struct query_asked {
    const struct query *query;
    const struct row *row;
    uint64_t holds; /* the mask of the where */
    unsigned grid_bits;
    double threshold; /* of a quantile */
};

struct query_kind_row {
    const char *word; /* that the text begins with; of two kinds with one word the first reads */

    /** Reads the text after the colon. Fails with STATUS_INVALID. */
    enum status (*read)(struct reading *reading);

    /** As query_add; even. */
    void (*add)(int64_t *sum, const struct query_asked *asked);

    /** As query_sensitivity_l1; one: 2^grid_bits. */
    uint64_t (*sensitivity)(const struct query *query, uint64_t one);

    /** As query_plan; NULL: the text says all. */
    void (*plan)(struct query *query, const struct query_public *known);

    /** As query_sensitivity_squared; one: 2^grid_bits. NULL: it is not asked with Gaussian noise. */
    double (*squared)(const struct query *query, double one);
};

enum { QUERY_OUTCOME_LEVELS = 8 /* of a regress of numbers */ };

extern const struct query_kind_row query_kinds[QUERY_KINDS];

enum status query_read_count(struct reading *reading);
enum status query_read_mean(struct reading *reading);
enum status query_read_histogram(struct reading *reading);
enum status query_read_quantile(struct reading *reading);
enum status query_read_survival(struct reading *reading);
enum status query_read_crosstab(struct reading *reading);
enum status query_read_table1(struct reading *reading);
void query_add_survival(int64_t *sum, const struct query_asked *asked);
void query_add_crosstab(int64_t *sum, const struct query_asked *asked);
void query_plan_survival(struct query *query, const struct query_public *known);
uint64_t query_sensitivity_survival(const struct query *query, uint64_t one);
double query_squared_survival(const struct query *query, double one);
enum status query_read_evaluate(struct reading *reading);
void query_add_evaluate(int64_t *sum, const struct query_asked *asked);
void query_plan_evaluate(struct query *query, const struct query_public *known);
enum status query_read_concordance(struct reading *reading);
void query_add_concordance(int64_t *sum, const struct query_asked *asked);
void query_plan_concordance(struct query *query, const struct query_public *known);
enum status query_read_regress(struct reading *reading);
void query_add_regress(int64_t *sum, const struct query_asked *asked);
void query_plan_regress(struct query *query, const struct query_public *known);
enum status query_read_correlate(struct reading *reading);
void query_add_correlate(int64_t *sum, const struct query_asked *asked);
uint64_t query_sensitivity_correlate(const struct query *query, uint64_t one);
double query_squared_correlate(const struct query *query, double one);
void query_plan_correlate(struct query *query, const struct query_public *known);
void query_add_table1(int64_t *sum, const struct query_asked *asked);
uint64_t query_sensitivity_table1(const struct query *query, uint64_t one);
double query_squared_table1(const struct query *query, double one);
void query_plan_table1(struct query *query, const struct query_public *known);

/** For readers: a column into *column and *index, of numbers (with its public range in the query), or of categories; and a
 * `where`. Fail with STATUS_INVALID. */
enum status query_read_column(struct reading *reading, bool number_only);
enum status query_read_factor(struct reading *reading);
enum status query_read_where(struct reading *reading);

/* What a number of something may be: of these, from the least to the most, what is a multiple of each. */
struct query_number {
    const char *word; /* such as intervals */
    unsigned least;
    unsigned most;
    unsigned each;
    const char *remedy; /* NULL: a whole number from the least to the most */
};

/** Reads `8 intervals`, after the word in. Fails with STATUS_INVALID. */
MUST_USE enum status query_read_number(size_t *out, struct reading *reading,
                                       const struct query_number *asked);

/** What is counted: the second category of a column of two, the positive one of two classes, or a predicate. Also after the
 * word event. */
enum status query_read_event(struct reading *reading);
enum status query_read_word_event(struct reading *reading);

/** Answers whether a column stands here by itself, and not in a comparison; and which. */
bool query_is_column_alone(struct reader reader, size_t *index);

/** The comma, `to` and the last time of a survival; and before it the event and the groups. */
enum status query_read_end(struct reading *reading);
enum status query_read_until_end(struct reading *reading);

/** Returns the edge below level k of `levels` that are even over a column's public range, 0 < k < levels; unit: the file's. */
double query_even_edge(const struct column *column, size_t k, size_t levels);

/** Returns how many whole numbers a column's public range has; 0: it has more than REGRESS_ATOMS_MAX, or no number. */
size_t query_whole_numbers(const struct column *column);

/** Answers whether a column may have whole numbers alone, and so few that it is not as good as smooth: its public range goes
 * from one, or a half, on, and has 2 to REGRESS_ATOMS_MAX of them. */
bool query_may_be_whole(const struct column *column);

/** Makes a term's column one of the whole numbers in its public range, as categories; or as the values of a number. Fails with
 * STATUS_INVALID. */
MUST_USE enum status query_take_factor(struct query_variable *variable,
                                       const struct reader *at_column);
MUST_USE enum status query_take_whole(struct query_variable *variable,
                                      const struct reader *at_column);

/** Sets the edges between at most `levels` levels of a variable of whole numbers: each lies between two of these. */
void query_set_whole_levels(struct query_variable *variable, size_t levels);

/** Sets the values that a variable of whole numbers takes. */
void query_set_atoms(struct regress_predictor *out, const struct query_variable *variable);

/** How much of `part` a number leaves to each step (levels, rising), and to `missing` after them: to the two around it, so that
 * their mean is the number. Even. */
void query_split_number(uint64_t *out, const double *step, size_t levels, uint64_t part,
                        double cell);

/** Sets edge i of the score, and its key: among the model's answers where one is judged. */
void query_set_score_edge(struct query *query, size_t i, double edge);

/** Returns the record's score, to be compared with these keys. Even. */
double query_score_of(const struct query_asked *asked, size_t column_index);

/** What stands after `by`: a column of SURVIVAL_GROUPS_MAX categories at most, or a predicate. */
enum status query_read_groups(struct reading *reading);

/** The same of a question about an event, and its time where it has one: refused where the groups are made of these. */
enum status query_read_groups_of_event(struct reading *reading, bool has_time);

/** Any column, made from the label if it is that. Fails with STATUS_INVALID. */
enum status query_read_any(struct column *column, size_t *index, struct reading *reading);

/** Counts the variable that was read last, unless it was read before: then `again` is said of its place. Fails with
 * STATUS_INVALID. */
MUST_USE enum status query_take_variable(struct query *query, const struct reader *at_column,
                                         const char *again);

/** Returns the group that a record is in, by its index; none, of a column, where its cell is none of the categories. */
double query_group_of(const struct query_asked *asked);

/** Returns how many outcomes a regress has. */
size_t query_regress_outcomes(const struct query *query);

/** Returns the record's cell of a column; of a label of two classes 1 or 0. */
double query_cell_of(const struct row *row, size_t column_index, enum label_kind label_kind);

#endif
