/* look.h - a look's sum as the learner takes it: numbers of records, columns and products from the grid, and how much noise each
 * column has where columns were dealt out to groups of sites. */

#ifndef TASK_LEARN_LOOK_H
#define TASK_LEARN_LOOK_H

#include "task/learn/stage.h"

#include <stddef.h>
#include <stdint.h>

/* A look's sum, as it was released. */
struct learn_summed {
    uint32_t within;
    const double *shown; /* of the second look: the state that agents have seen */
    const int64_t *sum;  /* (round_answer_count) */
    double records;      /* of all sites, >= 1 */
    double sites;        /* that have answered, >= 1 */
    double deviation;    /* of the noise on a number that all of them gave, in grid steps */
};

/** Returns how many numbers learn_read_look() needs. */
size_t learn_look_numbers(const struct stage *stage);

/** Returns how many numbers of the first look a stage keeps for the second: 0 where all sites look once. */
size_t learn_told_count(const struct stage *stage);

/**
 * Takes a look at classes into the learner's state, the first of two or the second, too.
 *
 * state  in/out  (selftune_state_count)
 * told   in/out  (learn_told_count): the first look writes it, and the second reads it
 * value  out     (learn_look_numbers) scratch
 *
 * Fails as selftune_take_look().
 */
MUST_USE enum status learn_take_look(double *state, double *told, double *value,
                                     const struct stage *stage, const struct learn_summed *summed);

/**
 * Reads a look at classes. Of two looks the records are those of the sites that have looked. A column that fewer sites have told is scaled to all records, with its noise. For one that no site has
 * told the noise is HUGE_VAL.
 *
 * out    out  borrows value
 * value  out  (learn_look_numbers)
 */
void learn_read_look(struct selftune_look *out, double *value, const struct stage *stage,
                     const struct learn_summed *summed);

#endif
