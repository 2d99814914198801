/* score.h - a public model that a question judges: from a record's features to one number, and that number's place among
 * public levels. The model's weights stand in the job's text, or go with the round. */

#ifndef QUERY_SCORE_H
#define QUERY_SCORE_H

#include "learn/schema.h"
#include "query/predicate.h"

#include <stdbool.h>
#include <stddef.h>

/* f = <weight, features>, features as the job's schema makes them, without a map. */
struct query_score {
    char name[SCHEMA_NAME_BYTES];
    bool
        is_number; /* the answer is centre + half_width f, f clamped to [-1, 1]; else a risk, 1/(1 + exp(-f)) */
    double centre;     /* of a number */
    double half_width; /* of a number; > 0 */
    const double
        *weight; /* (row.feature_count) finite, dense_flushed; NULL: the round's own, row.model */
};

/** Returns the model's answers as if they were a column of numbers. */
struct column query_score_column(const struct query_score *score);

/** Returns f; NAN where the round's model is no number. CHECKs that the record has features. Even. */
double query_score_value(const struct query_score *score, const struct row *row);

/** Returns the f from which on an answer is `edge` or more; edge lies inside the answer's public range. */
double query_score_edge(const struct query_score *score, double edge);

/** Returns the first feature of a column, of schema_plain_count; *count: how many it has. CHECKs the column. */
size_t query_score_feature(size_t *count, const struct schema *schema, size_t column);

#endif
