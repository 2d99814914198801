/* query_same.h - whether two questions are one under two names: whether each record adds the same to both, up to the order of
 * their cells. Computed from the texts on made-up records (made_rows.h); no record is read. */

#ifndef QUERY_QUERY_SAME_H
#define QUERY_QUERY_SAME_H

#include "base/status.h"
#include "learn/schema.h"
#include "query/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum query_likeness {
    QUERY_OTHER, /* or not known */
    QUERY_SAME_IF_THERE, /* but of records with a missing or unlisted cell; and not the same of all records */
    QUERY_SAME
};

/** Answers whether the planner chooses for the question; and chooses as if its noise were like any other's: what it chooses
 * depends on the epsilon, and is no part of the question. */
bool query_is_planned(const struct query *query);
void query_plan_as_any(struct query *query);

/**
 * Tells how alike two questions are that one schema was read for. Both are planned as any, where they are planned: what a text asks
 * for is part of the question, such as a number of steps.
 *
 * Never says so of questions that differ in a record: whatever predicates and categories decide is tried in every
 * combination. Where these are too many, two questions are the same only if their texts are.
 *
 * work  in/out  what may be done for that, and what is left: about one for each cell of each combination. Public, like all else here
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status query_compare(enum query_likeness *out, const struct query *a,
                                   const struct query *b, const struct schema *schema,
                                   uint64_t *work);

/**
 * Finds whether each cell of a count or a histogram is a sum of cells that a histogram or a crosstab tells.
 *
 * cells  out  how many, of the cell that is a sum of the most; 0: they are not, or it is not known
 *
 * Never finds it where it does not hold of a record: as query_compare. Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status query_find_sums(size_t *cells, const struct query *question,
                                     const struct query *other, const struct schema *schema,
                                     uint64_t *work);

/**
 * Writes a number for each question that is equal where two are not QUERY_OTHER. Else it seldom is.
 *
 * print   out  (count)
 * query   in   (count) planned as any
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status query_prints(uint64_t *print, const struct query *const *query, size_t count,
                                  const struct schema *schema);

#endif
