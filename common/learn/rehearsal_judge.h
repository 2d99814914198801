/* rehearsal_judge.h - how good a model is on a made-up table's new records: for learn/rehearsal.c alone. */

#ifndef LEARN_REHEARSAL_JUDGE_H
#define LEARN_REHEARSAL_JUDGE_H

#include "learn/rehearsal.h"
#include "learn/rehearsal_table.h"

/* What of a model is judged: struct rehearsal_answer. */
enum rehearsal_part { PART_REACHED, PART_LOST, PART_EXPLAINED, PART_COUNT };

/* On one table: in expectation, and the variance of what one held-out record adds to what many show. */
struct rehearsal_shown {
    double mean;
    double variance;
};

/**
 * Judges a model beside the one without privacy.
 *
 * shown  out  (PART_COUNT); what is explained is NAN of classes and with pinball
 * w      in   (outputs, d + 1)
 * best   in   (outputs, d + 1)
 */
void rehearsal_judge(struct rehearsal_shown *shown, const double *w, const double *best,
                     const struct rehearsal *plan, const struct rehearsal_table *table);

/**
 * Fits the model without privacy. w  out  (outputs, d + 1) with pinball that of least squares, moved to the quantile: the made-up
 * rest is alike for all records.
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status rehearsal_free_model(double *w, const struct rehearsal *plan,
                                          const struct rehearsal_table *table);

#endif
