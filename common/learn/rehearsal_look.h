/* rehearsal_look.h - the looks of a plan (learn/rehearsal.h) at a made-up table: one of all sites, or two of a set of them each. */

#ifndef LEARN_REHEARSAL_LOOK_H
#define LEARN_REHEARSAL_LOOK_H

#include "learn/rehearsal.h"
#include "learn/rehearsal_table.h"

/** Draws the noise on one number: Laplace numbers, or a normal one, of that deviation together. */
double rehearsal_noise(const struct rehearsal *plan, double deviation,
                       struct public_random *random);

/**
 * Plays the look, or both, or none where there is none.
 *
 * state  in/out  of selftune_begin(), of a number of selftune_number_begin()
 * look   out     (rehearsal_look_numbers()) scratch
 *
 * Fails as selftune_take_look().
 */
MUST_USE enum status rehearsal_look(double *state, double *look, const struct rehearsal *plan,
                                    const struct rehearsal_table *table,
                                    struct public_random *random);

/** Returns how many numbers it writes on. */
size_t rehearsal_look_numbers(const struct rehearsal *plan);

#endif
