/* predicate.h - a question about one record that is answered yes or no: comparisons of columns with
 * constants, joined by not, and, or. Read once into a short program in postfix order.
 *
 *     age >= 65 and (sex == F or not creatinine < 1.2) and death != 0
 *
 * `not` binds closest, then `and`, then `or`. Numbers know < <= > >= == !=, categories and
 * classes only == and !=. A name with spaces or signs in it, or one that is a word of the language,
 * stands in quotes. Constants are in the units of the file's column.
 *
 * Cells are as they stand in the file, neither clamped nor imputed. A missing cell satisfies no
 * comparison, not even !=; so `not age >= 65` holds for it and `age < 65` does not. A text that is
 * none of its column's categories, or none of the label's classes, is != each of them. */

#ifndef QUERY_PREDICATE_H
#define QUERY_PREDICATE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stddef.h>

enum { PREDICATE_STEPS_MAX = 64, PREDICATE_DEPTH_MAX = 32 };

enum predicate_verb {
    PREDICATE_LESS,
    PREDICATE_LESS_EQUAL,
    PREDICATE_GREATER,
    PREDICATE_GREATER_EQUAL,
    PREDICATE_EQUAL,
    PREDICATE_UNEQUAL, /* up to here they push a truth, the others take theirs from the stack */
    PREDICATE_NOT,
    PREDICATE_AND,
    PREDICATE_OR
};

struct predicate_step {
    enum predicate_verb verb;
    size_t column;   /* of a comparison; column_count stands for the label */
    double constant; /* unit: the file's; of categories and classes as in struct row */
};

struct predicate {
    struct predicate_step step[PREDICATE_STEPS_MAX];
    size_t step_count; /* 0: holds for every record */
    size_t column_count;
    size_t outside_at; /* the character, from 1, of the first constant that lies outside its
                          column's public range, where few cells are expected; 0: there is none */
};

/* One record, as questions see it: dataset.h's raw. */
struct row {
    const double *cell;  /* (column_count) a number as in the file, or a category's index */
    size_t column_count; /* the schema's */
    double label;        /* +1 or -1; a number as in the file; or a class's index */
    uint64_t place; /* which of the site's records it is: public, and no matter of its content */
    const double *feature; /* (feature_count) for questions about a model; else NULL */
    size_t feature_count;
    const double *model; /* (feature_count) that goes with the round; NULL: none does */
};

/**
 * Reads a predicate.
 *
 * text    in  READER_TEXT_BYTES at most, not zero-terminated
 * schema  in  one that schema_check accepts; needed no longer afterwards
 *
 * Fails with STATUS_INVALID; why (may be NULL) names the character and the remedy.
 */
MUST_USE enum status predicate_parse(struct predicate *predicate, struct slice text,
                                     const struct schema *schema, struct why *why);

/**
 * Answers whether it holds for the record. A comparison with a cell that is not a number is false,
 * whichever it is. CHECKs that the record has the schema's columns.
 * Privacy: the same instructions and addresses whatever the record is.
 */
bool predicate_holds(const struct predicate *predicate, const struct row *row);

/** Answers whether a comparison is with this column; and whether one tells its categories or classes apart, ==. */
bool predicate_compares(const struct predicate *predicate, size_t column);
bool predicate_picks(const struct predicate *predicate, size_t column);

/** From the units of the file's column to those that its public range is given in, and back; both are
 * monotone, up to rounding. The first is as even as predicate_holds. */
double predicate_cell(const struct column *column, double value);
double predicate_value(const struct column *column, double cell);

struct reader;

/** Reads a predicate inside a longer text, up to the first token that cannot continue it, and stays there. For query
 * alone. Fails with STATUS_INVALID. */
MUST_USE enum status predicate_read(struct predicate *predicate, struct reader *reader);

#endif
