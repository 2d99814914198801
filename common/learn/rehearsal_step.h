/* rehearsal_step.h - what sites would release of a made-up table, step by step, and the coordinator's part in it: for
 * learn/rehearsal.c alone. */

#ifndef LEARN_REHEARSAL_STEP_H
#define LEARN_REHEARSAL_STEP_H

#include "learn/rehearsal.h"
#include "learn/rehearsal_table.h"
#include "learn/selftune_number.h"

/** Returns the plan of a number's learner. */
struct selftune_number rehearsal_number(const struct rehearsal *plan);

/**
 * Plays one step.
 *
 * state  in/out  of selftune_begin(), of a number of selftune_number_begin()
 * sum    out     ((outputs + 1) (d + 1) + 1) scratch
 *
 * Fails as selftune_take_gradient().
 */
MUST_USE enum status rehearsal_step(double *state, double *sum, uint32_t step,
                                    const struct rehearsal *plan,
                                    const struct rehearsal_table *table,
                                    struct public_random *random);

#endif
