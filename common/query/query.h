/* query.h - one statistical question about an institution's records, in one line of a job, and the
 * whole numbers that one record adds to its answer.
 *
 *     count: age >= 65 and sex == F
 *     mean: creatinine where age >= 65
 *     histogram: age by 10                      or: at 60, 65, 80; a category: histogram: sex
 *     quantile: 0.5 of kappa where sex == F in 12 rounds
 *     survival: time futime event death by sex, to 5000
 *     crosstab: sex x death
 *     table1: [age, sex, kappa] by death
 *     evaluate: risk for death by sex, cut at 0.25
 *     evaluate: risk for time futime event death by sex, to 5000     a concordance
 *     correlate: [age, kappa, creatinine]
 *     pca: [age, kappa, creatinine]
 *     regress: death ~ age + sex + log(kappa) + whole(nodes)
 *
 * `where` takes a predicate and may be left out. Everything here but query_add is public. */

#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "estimate/correlate.h"
#include "estimate/regress.h"
#include "estimate/survival.h"
#include "estimate/table1.h"
#include "learn/schema.h"
#include "query/predicate.h"
#include "query/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUERY_TEXT_BYTES = 256,   /* with the final zero */
    QUERY_EDGES_MAX = 128,    /* and cells of a histogram */
    QUERY_VARIABLES_MAX = 16, /* of a table1 */
    QUERY_CELLS_MAX = QUERY_VARIABLES_MAX * (SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1),
    QUERY_INTERVALS_DEFAULT = 20, /* of survival, before query_plan */
    QUERY_ROUNDS_MAX = 40,
    QUERY_ROUNDS_DEFAULT = 12, /* a quantile within 1/4096 of the public range */
    QUERY_BITS_MIN = 1,
    QUERY_BITS_MAX = 24 /* sums of 2^38 records fit */
};

enum query_kind {
    QUERY_COUNT,
    QUERY_MEAN,
    QUERY_HISTOGRAM,
    QUERY_QUANTILE,
    QUERY_SURVIVAL,
    QUERY_CROSSTAB,
    QUERY_TABLE1,
    QUERY_EVALUATE,
    QUERY_CORRELATE,
    QUERY_PCA,
    QUERY_REGRESS,
    QUERY_CONCORDANCE
};

enum { QUERY_KINDS = QUERY_CONCORDANCE + 1 };

/* A column of categories that a question splits records by. */
struct query_factor {
    struct column column; /* made from the label if it is that */
    size_t column_index;
};

enum { QUERY_FACTORS_MAX = 4, QUERY_WEIGHT_BITS = 16 };

/* A variable of a table1. Its cells: each group's levels and missing ones, group after group; and those in no group. */
struct query_variable {
    struct column column; /* made from the label if it is that */
    size_t column_index;
    size_t levels;                  /* categories, or steps over the public range of a number */
    double step[TABLE1_LEVELS_MAX]; /* (levels) of a number; unit: the file's */
    bool
        is_log; /* of a regress: its levels are even in the logarithm; step: the edges between them */
    bool
        is_factor; /* of a regress: its categories are a number's whole values, step: these, rising */
    bool is_whole;   /* of a regress: a number that takes whole values alone */
    uint32_t weight; /* its part of the epsilon over the largest part, times 2^QUERY_WEIGHT_BITS */
};

/* What is known before anything is asked: how many records there will be, and the noise. */
struct query_public {
    double records;
    double variance; /* of the noise on a count's sum; unit: records^2 */
    bool is_gaussian;
    double
        moves; /* how far a record moves all that is asked with it, before the plan; unit: records */
    unsigned grid_bits; /* of the set */
    bool in_parts; /* a correlate deals its records out to parts, as up to protocol version 6 */
    size_t
        sites; /* that are answered one by one, each with its part of records and noise; 0: none is */
};

/* b = grid_bits, of the set; a record's contribution is a whole number of steps of 2^-b. */
struct query {
    char text[QUERY_TEXT_BYTES]; /* as written, which serves as its name */
    enum query_kind kind;
    bool is_partial; /* it has a `where` */
    struct predicate where;
    struct column column; /* of a mean, histogram or quantile; made from the label if it is that */
    size_t column_index;  /* the number of columns stands for the label */
    const struct query_score
        *score; /* of an evaluate: the model that it judges, borrowed; NULL: a column */
    enum label_kind label_kind;
    double low, high;             /* the column's public range, unit: the file's */
    size_t cell_count;            /* whole numbers in a round */
    double edge[QUERY_EDGES_MAX]; /* (cell_count - 1) of a histogram of numbers, unit: the file's;
                                     (intervals) the ends of a survival's; of a concordance, behind
                                     them the (intervals - 1) edges of the score */
    int64_t edge_key[QUERY_EDGES_MAX]; /* their keys (base/even.h) */
    double imputed;                    /* query_imputed, of a mean */
    double share;                      /* of a quantile, in (0, 1) */
    uint32_t rounds;                   /* of a quantile; all others are answered in one */

    struct query_factor factor
        [QUERY_FACTORS_MAX]; /* (factor_count) of a survival or table1: none or the groups'; of a
                                                      crosstab: its columns, the last runs fastest */
    size_t factor_count;
    struct predicate event; /* of a survival */
    struct predicate
        split; /* of one by a predicate: the groups are those that it does not hold for, and does */
    char group_name[2][QUERY_TEXT_BYTES]; /* then */
    double end;       /* of a survival or concordance: the last interval's, unit: the file's */
    size_t block;     /* of a survival: cells whose sum is asked, too; 0: no sums are */
    size_t intervals; /* of a survival or concordance; of an evaluate the score's levels */
    bool intervals_are_asked; /* by the text; else query_plan chooses them */
    struct query_variable
        variable[QUERY_VARIABLES_MAX]; /* (variable_count) of a table1, correlate, pca or regress;
                                          of a concordance [0] is the score */
    size_t variable_count;
    uint32_t fourth; /* of a correlate: the weight of its fourth moments, a power of 2; 0: none */
    size_t parts;    /* of a correlate: 1 since protocol version 7 */
    size_t parts_asked; /* by the text, which no longer has an effect; 0: it says nothing */
    enum regress_family family;
    bool steps_are_asked;        /* by the text; else query_plan chooses them */
    struct query_public planned; /* what query_plan was told; records 0: it was not asked */
    size_t
        cut_band; /* of an evaluate: the event is foretold from this eighth of the range on; 0: no cut is asked */
};

/* The names that a question may use. */
struct query_names {
    const struct schema
        *schema; /* one that schema_check accepts; needed no longer once a question is read */
    const struct query_score
        *score; /* (score_count) models to judge, kept by the questions that do */
    size_t score_count;
};

/**
 * Reads one question.
 *
 * text  in  below QUERY_TEXT_BYTES, one line
 *
 * Fails with STATUS_INVALID; why (may be NULL) names the character and the remedy.
 */
MUST_USE enum status query_parse(struct query *query, struct slice text,
                                 const struct query_names *names, struct why *why);

/** Answers whether a constant of the `where` lies outside its column's public range, where few cells are expected, or it picks
 * a category of a column that the question is of: allowed, but seldom meant. note (may be NULL) then says so. */
bool query_has_note(const struct query *query, struct why *note);

/**
 * Adds what one record contributes in a round.
 *
 * sum        in/out  (cell_count)  unit: grid steps; exact, for the gate alone
 * threshold  in      where a quantile is asked this round, unit: of the public range; else
 *                   without meaning
 *
 * count      2^b when it holds.
 * mean       the value, clamped to its public range and mapped to [-1/2, 1/2]; a missing one is what
 *            the schema says, or the centre; with a `where`, when it holds, and then 2^b in a
 *            second cell.
 * histogram  2^b in the one cell whose edges enclose the value, low <= value < high, the last one
 *            with its end; nothing where no cell does: a missing or unlisted cell, or a number
 *            beyond the public range.
 * quantile   2^b - r when the value is at most the threshold, else -r; r = share * 2^b, rounded:
 *            what is summed is at least 0 exactly when the quantile is at most the threshold. Nothing
 *            where the cell is missing: the quantile is of those that are there.
 *
 * survival   2^b in one cell, laid out as estimate/survival.h says. A death at time t is in the interval that
 *            holds t with its end, a censoring in the one that holds t with its beginning: at the end of the
 *            last, nobody is censored but still there. A record whose time is missing or below 0, or whose
 *            group is missing or unlisted, or that the where leaves out, is in the last cell. With blocks it is
 *            query_survival_part instead, and the same in its block's sum, which the last cell has not.
 * crosstab   2^b in one cell; in the last where a category is missing or unlisted, or the where leaves the record out.
 * table1     for each variable query_part_of in its group's cell of the category, or of missing; a number is clamped to its
 *            public range, and the part is split between the two steps around it so that the mean of the steps is the
 *            number; in the variable's last cell where the group is missing or the where leaves the record out.
 * evaluate   2^b in one cell, laid out as estimate/evaluate.h says: the level holds the score, low <= score < high,
 *            the first and last one with what is beyond; in the last cell where the group is missing or the where leaves it out.
 * concordance 2^b in one cell, laid out as estimate/concordance.h says, by score as an evaluate and by time as a survival; in the last cell
 *            where score, time or group is missing, the time is below 0, or the where leaves the record out.
 * correlate  laid out as estimate/correlate.h says: the number over its public range as the schema maps it to [-1, 1], clamped,
 *            rounded to 2^-24 and the products to the grid; of a column of two categories -1 and 1. Nothing where a column is
 *            missing or the where leaves the record out. For a job that protocol version 6 has begun, in the part of the record's place.
 * pca        as a correlate without fourth moments.
 * regress    2^b in the cells of one point (query_regress.c), laid out as estimate/regress.h says: in that of its event or
 *            interval; a number that is explained is clamped, and split as in a table1 between the two levels around it. A number behind
 *            factor( is in the category that it is equal to, or in the first or last one beyond them. In the last cell where a column is
 *            missing or unlisted or lies between two such categories, or the where leaves the record out.
 *
 * Ensures that no value, not even NaN, adds anything else. The same instructions and addresses whatever
 * the record is: a histogram goes through all its cells.
 */
void query_add(int64_t *sum, const struct query *query, unsigned grid_bits, double threshold,
               const struct row *row);

/**
 * Returns how far one replaced record moves the contributions of query_add in the L1 norm, at most;
 * two records exist that are so far apart, save where a predicate cannot hold. Unit: grid steps.
 *
 * count 2^b; quantile 2^b, as two contributions differ in the comparison alone, or in the where or in
 * whether the cell is there, and 0 lies between them; survival with blocks 4 query_survival_part; histogram, survival, crosstab, evaluate and concordance 2 * 2^b, as a record is in one cell at most; regress 2 * 2^b, as a record adds 2^b in all, and nothing below 0; table1
 * twice the sum of all query_part_of, as what a record adds to a variable's cells is at least 0 and sums to its part; correlate and pca
 * (d + 1)^2 2^b / 2 + d (d + 3) / 2: query_sensitivity_correlate; mean without where 2^b; with where 2^b + 2^(b-1):
 * (v, 1) and (v', 1) are at most 1 apart, (v, 1) and (0, 0) at most 3/2. Values in [0, 1] would make
 * that 2: this is why they are centred.
 *
 * Privacy: neighbours differ in one record (replace-one).
 */
uint64_t query_sensitivity_l1(const struct query *query, unsigned grid_bits);

/** Answers whether a question may have Gaussian noise. */
bool query_takes_gaussian(const struct query *query);

/**
 * Returns the square of how far one replaced record moves the contributions of query_add in the L2 norm, at most; reached
 * where query_sensitivity_l1 is. Unit: grid steps^2.
 *
 * count, quantile and mean without where 4^b; mean with where 5/4 4^b; survival with blocks 4 query_survival_part^2; histogram, survival, crosstab, evaluate and concordance 2 4^b; table1 the
 * sum of 2 query_part_of^2, as two vectors that are at least 0 and sum to the part are the farthest apart where each is in one cell of
 * its own; correlate without fourth moments and pca (sqrt((d + 1)^2 - e) 2^b + sqrt(d (d + 3)/2))^2, e = 1 where d is even, else 0: query_squared_correlate.
 *
 * CHECKs query_takes_gaussian.
 * Privacy: neighbours differ in one record (replace-one).
 */
double query_sensitivity_squared(const struct query *query, unsigned grid_bits);

/** Chooses what a question's text leaves to the planner, from public numbers: a survival's intervals and blocks, a table1's
 * steps and weights, an evaluate's levels, a concordance's bins, a correlate's weight of fourth moments. */
void query_plan(struct query *query, const struct query_public *known);

/** Answers whether a question takes a column's numbers to lie smoothly over its public range: as a term of a regress without
 * factor() or whole(). */
bool query_takes_smoothly(const struct query *query, size_t column_index);

/** Answers whether an evaluate's score is a risk: its public range is one of probabilities. */
bool query_is_risk(const struct query *query);

/** Writes the ends of an evaluate's levels. out: (levels + 1) */
void query_score_edges(double *out, const struct query *query);

/** Returns how many groups a survival, table1, evaluate or concordance has: 1 without `by`; and a group's name, empty then. */
size_t query_groups(const struct query *query);
const char *query_group_name(const struct query *query, size_t group);

/* A regress as estimate/regress.h sees it. */
struct query_regress {
    struct regress_design design; /* borrows from the rest: not to be copied */
    struct regress_predictor predictor[REGRESS_PREDICTORS_MAX];
    double outcome[REGRESS_OUTCOMES_MAX];
};
void query_regress_design(struct query_regress *out, const struct query *query);

/** The same, where columns that may have whole numbers alone do, though the question does not say so. Returns false where there
 * is none, and the design is the same. */
bool query_regress_design_whole(struct query_regress *out, const struct query *query);

/** Tells what -1 .. 1 stands for in a regress's number: its own unit, or that of its logarithm or transform. */
void query_regress_unit(double *centre, double *half, const struct query_variable *variable);

/** Sets the weights (terms) of what is told as a regress's intercept, of no hazards: zeroed before. */
void query_regress_intercept(double *weight, const struct query *query);

/** Returns what a record adds to a survival's cell, in grid steps: one = 2^b; with blocks, where it adds so much to a sum as well,
 * 2^b / sqrt(2), rounded down, so that neither way moves the answer further in the L2 norm. */
uint64_t query_survival_part(const struct query *query, uint64_t one);

/** Returns the part over one, and so what a noise on the grid is divided by; in the limit of a fine grid. */
double query_survival_share(const struct query *query);

/** Returns what a record adds to a table1's variable, in grid steps: its weight of one = 2^b, at least 1. */
uint64_t query_part_of(const struct query_variable *variable, uint64_t one);

/** Returns how many cells a variable of a table1 has. */
size_t query_variable_cells(const struct query *query, const struct query_variable *variable);

/** Returns how many cells a crosstab has but the one of the records that are in none; and the category that a cell has of
 * a column. */
size_t query_table_cells(const struct query *query);
size_t query_table_level(const struct query *query, size_t cell, size_t factor);

/** Returns what stands for a missing number in a mean: the schema's choice, or the centre. Unit: the
 * file's. */
double query_imputed(const struct column *column);

/** Returns r, the quantile's share in grid steps: 1 .. 2^b - 1. */
int64_t query_share_steps(const struct query *query, unsigned grid_bits);

/** Writes the name of a histogram's cell, for example "age [60, 70)" or "sex F"; cut to fit. */
void query_cell_name(char *text, size_t text_bytes, const struct query *query, size_t cell);

#endif
