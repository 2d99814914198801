/* conjunction.h - learns a conjunction of yes-or-no features by statistical queries alone: the data
 * answers questions of query.h, with noise, and everything here works on the answers. */

#ifndef QUERY_CONJUNCTION_H
#define QUERY_CONJUNCTION_H

#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"
#include "query/query.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Writes the question of one feature: how often it fails on a positive record.
 *
 * text      out  "count: (positive) and not (feature)"
 * feature   in   a predicate, for a literal of the conjunction
 * positive  in   the predicate that says what a positive record is, such as "death == 1"
 *
 * The questions do not wait for each other's answers: asked in one round, J of them move by J grid
 * units for one replaced record.
 *
 * Fails with STATUS_INVALID when one of the two is no predicate by itself, or both are too long
 * together; why may be NULL.
 */
MUST_USE enum status conjunction_question(char text[static QUERY_TEXT_BYTES], const char *feature,
                                          const char *positive, const struct schema *schema,
                                          struct why *why);

/**
 * Keeps the features that hardly ever fail on a positive record.
 *
 * kept       out  (count)
 * share      in   (count) released answers to the questions, over the number of records
 * tolerance  in   tau > 0: every answer is meant to be this near to its probability
 *
 * Ensures, when positive records are exactly those on which a conjunction of some of the features
 * holds and every share is within tau of its probability p_j: each feature of that conjunction is
 * kept (its p_j is 0, its share at most tau), so what is learned never calls a negative record
 * positive; and it misses positive ones with probability at most 2 J tau, as every feature kept has
 * p_j <= 2 tau. For error alpha ask for tau = alpha/(2 J).
 * Returns how many are kept. Works on released numbers: free.
 * Source: Valiant 1984, with Kearns' statistical queries (J. ACM 1998), section 3; Dwork and Roth
 * 11.1 for their private answers. Deviation: features are predicates, negations are further ones.
 */
size_t conjunction_learn(bool *kept, const double *share, size_t count, double tolerance);

#endif
