/* query_set.h - all questions of a job's stage: how their whole numbers lie in one vector, and how
 * far one record can move it.
 *
 * In round 0 every question is asked, in order; in later rounds only the quantiles that still have
 * rounds left. A round's vector is its questions' cells, one question after another. */

#ifndef QUERY_QUERY_SET_H
#define QUERY_QUERY_SET_H

#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"
#include "query/query.h"

#include <stddef.h>
#include <stdint.h>

enum { QUERY_SET_MAX = 256 };

struct query_set {
    struct query *query; /* (count), owned */
    size_t count;
    size_t written; /* of these by a person; later ones are a learner's. query_set_init: all */
    unsigned grid_bits;
    uint32_t round_count; /* the most that one question has */
};

/**
 * Reads the questions.
 *
 * out        out  whole, or zeroed on failure; query_set_free
 * text       in   (count) zero-terminated
 * count      in   1 .. QUERY_SET_MAX
 * grid_bits  in   QUERY_BITS_MIN .. QUERY_BITS_MAX
 * names      in   models to judge are kept
 *
 * Fails with STATUS_INVALID (why, which may be NULL, names question, character and remedy), or
 * STATUS_NO_MEMORY.
 */
MUST_USE enum status query_set_init(struct query_set *out, const char *const *text, size_t count,
                                    unsigned grid_bits, const struct query_names *names,
                                    struct why *why);
void query_set_free(struct query_set *set);

/** Chooses what the texts leave to the planner: query_plan. Before anything is asked. */
void query_set_plan(struct query_set *set, const struct query_public *known);

/** Answers whether a question judges the model that goes with the round. */
bool query_set_wants_model(const struct query_set *set);

/** Answers whether the question is asked in that round. */
bool query_is_asked(const struct query *query, uint32_t round);

/** Returns how many whole numbers the round's vector has. */
size_t query_set_cells(const struct query_set *set, uint32_t round);

/**
 * Returns the L1 sensitivity of the round's vector in grid steps: the sum of the questions' own. It
 * is the least one for questions whose answers can all change at once.
 * Privacy: neighbours differ in one record (replace-one). Each round is a release and a charge of
 * its own.
 */
uint64_t query_set_sensitivity_l1(const struct query_set *set, uint32_t round);

/** Returns the L2 sensitivity of the round's vector in grid steps, rounded up: the questions' squares add up. Likewise. */
uint64_t query_set_sensitivity_l2(const struct query_set *set, uint32_t round);

/**
 * Adds one record's contributions.
 *
 * sum        in/out  (query_set_cells)  exact, for the gate alone
 * threshold  in      (count) of each question; read for quantiles alone
 *
 * Ensures |what is added| <= 2^grid_bits in every cell.
 */
void query_set_add(int64_t *sum, const struct query_set *set, uint32_t round,
                   const double *threshold, const struct row *row);

#endif
