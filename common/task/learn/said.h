/* said.h - what a learn stage says of itself in the log, the result and the page, and what it expects to lose to noise. */

#ifndef TASK_LEARN_SAID_H
#define TASK_LEARN_SAID_H

#include "task/close.h"

enum {
    LEARN_EXPECTED_NUMBERS =
        3 /* what the model is expected to lose to noise, and the band's ends: of accuracy, or of a number's range */
};

/** Returns how many numbers the stage's state has: the learner's own, then what is expected. */
size_t learn_state_count(const struct stage *stage);

/** Fills what stands where nothing was rehearsed. expected  out  (LEARN_EXPECTED_NUMBERS) */
void learn_expect_nothing(double *expected);

/**
 * Rehearses the stage on made-up tables: its plan, with as many agents as have answered.
 *
 * expected  out  (LEARN_EXPECTED_NUMBERS) of nothing where a stage is not rehearsed or takes too long
 *
 * Fails with STATUS_NO_MEMORY. Cost: half a second at most. Privacy: from public numbers alone.
 */
MUST_USE enum status learn_expect(double *expected, const struct closing *closing);

/** As struct task_close's describe. */
MUST_USE enum status learn_describe(struct outcome_round *round, const struct outcome *outcome,
                                    const struct job *job, const struct stage *stage,
                                    const struct record *record);

#endif
