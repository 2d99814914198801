/* candidates.h - a finite class of classifiers to select from: stumps over columns and predicates as
 * the job writes them, each with its negation. Labels are +1 and -1.
 *
 * Errors are counted through few whole numbers. All stumps of a column predict alike within a cell
 * between two thresholds, so the column's cells, each the sum of the labels of the records in it,
 * tell the errors of them all: 2 errors = n - sum over cells of prediction * cell. A record is in
 * one cell - a missing number in the lowest, a text that is none of three or more categories in one of
 * its own - so replacing it moves a column's cells by 2, not by 1 for every threshold, and noise added
 * to T + 1 cells of scale 2/eps leaves an error count about sqrt(T/2) times as exact as noise of
 * scale T/eps on each of T counts. */

#ifndef QUERY_CANDIDATES_H
#define QUERY_CANDIDATES_H

#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"
#include "query/bar.h"
#include "query/predicate.h"
#include "query/query.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CANDIDATES_COLUMNS_MAX = 256,
    CANDIDATES_THRESHOLDS_MAX = 1000,
    CANDIDATES_PREDICATES_MAX = 256,
    CANDIDATES_NAME_BYTES = QUERY_TEXT_BYTES + 16,
    CANDIDATES_SCORE_SENSITIVITY = 2
};

struct candidates_request {
    const char *const *column; /* (column_count) names of the stumps' columns */
    size_t column_count;
    size_t threshold_count; /* inside each public range of numbers, evenly spaced as cells are */
    const char *const *predicate; /* (predicate_count), read as predicate.h says */
    size_t predicate_count;
};

struct candidates {
    struct schema schema; /* a copy, owned */
    size_t *column;       /* (column_count), owned */
    size_t column_count;
    size_t threshold_count;
    int64_t *threshold_key; /* (column_count, threshold_count), base/even.h; of numbers; owned */
    struct predicate *predicate;              /* (predicate_count), owned */
    char (*predicate_text)[QUERY_TEXT_BYTES]; /* (predicate_count), owned */
    size_t predicate_count;
};

/**
 * Builds the class.
 *
 * out     out  whole, or zeroed on failure; candidates_free
 * schema  in   copied; its label has two classes
 *
 * Fails with STATUS_INVALID when there is no candidate, too many, one unknown or one twice (why,
 * which may be NULL, names it and the remedy), or STATUS_NO_MEMORY.
 */
MUST_USE enum status candidates_init(struct candidates *out, const struct schema *schema,
                                     const struct candidates_request *request, struct why *why);
void candidates_free(struct candidates *candidates);

/** Returns how many candidates there are: candidate 2 q answers question q with +1 where it holds,
 * candidate 2 q + 1 with -1. Public. */
size_t candidates_count(const struct candidates *candidates);

/** Returns whether some stump is of a column of numbers. */
bool candidates_have_thresholds(const struct candidates *candidates);

/** Returns how many whole numbers tell all their errors. */
size_t candidates_cells(const struct candidates *candidates);

/** Returns the L1 sensitivity of these numbers' sums for one replaced record: 2 for each column, 1
 * for each predicate. Two records that are so far apart exist, where cells do. */
uint64_t candidates_sensitivity_l1(const struct candidates *candidates);

/** Adds one record: its label in one cell of each column, 1 for each predicate that errs on it. sum
 * is (candidates_cells), exact; |what is added| <= 1. The same instructions and addresses whatever the
 * record is: all cells are gone through. */
void candidates_add(int64_t *sum, const struct candidates *candidates, const struct row *row);

/**
 * Writes every candidate's score: twice its errors.
 *
 * score         out  (candidates_count)  smaller is better
 * sum           in   (candidates_cells)  exact, then the scores are for select.h alone, of
 *                    sensitivity CANDIDATES_SCORE_SENSITIVITY each (an error more or less is 2); or
 *                    released, then the scores are as public as it is
 * record_count  in   of all that were added: public
 *
 * Ensures that sums from outside wrap modulo 2^64 rather than overflow.
 */
void candidates_scores(int64_t *score, const struct candidates *candidates, const int64_t *sum,
                       uint64_t record_count);

/** Returns how far noise on every released cell carries a candidate's errors (half its score), as a
 * standard deviation, at most: half a cell's deviation times the square root of the cells of its
 * column; a predicate's own is a cell's. */
double candidates_error_deviation(const struct candidates *candidates, size_t candidate,
                                  const struct query_noise *noise);

/** Returns the index of the least score, the first of equals: for scores from released sums. */
size_t candidates_best(const int64_t *score, size_t count);

/** Writes the question that the candidate answers with +1, such as "age >= 71.5"; cut to fit. */
void candidates_name(char *text, size_t text_bytes, const struct candidates *candidates,
                     size_t candidate);

#endif
