/* look.h - a look's sum as the learner takes it: numbers of records, columns and products from the grid, and how much noise each
 * column has where columns were dealt out to groups of sites. */

#ifndef TASK_LEARN_LOOK_H
#define TASK_LEARN_LOOK_H

#include "task/learn/stage.h"

#include <stddef.h>
#include <stdint.h>

/* A look's sum, as it was released. */
struct learn_summed {
    const int64_t *sum; /* (round_answer_count) */
    double records;     /* of all sites, >= 1 */
    double sites;       /* that have answered, >= 1 */
    double deviation;   /* of the noise on a number that all of them gave, in grid steps */
};

/** Returns how many numbers learn_read_look() needs. */
size_t learn_look_numbers(const struct stage *stage);

/**
 * Reads a look at classes. A column of which fewer sites have told is scaled to all records, with its noise. Of one that no site has
 * told the noise is HUGE_VAL.
 *
 * out    out  borrows value
 * value  out  (learn_look_numbers)
 */
void learn_read_look(struct selftune_look *out, double *value, const struct stage *stage,
                     const struct learn_summed *summed);

#endif
