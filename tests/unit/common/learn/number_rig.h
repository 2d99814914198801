/* number_rig.h - the self-tuning learner of a number on one made-up table, with noise of a known size and fixed seeds. */

#ifndef TESTS_UNIT_LEARN_NUMBER_RIG_H
#define TESTS_UNIT_LEARN_NUMBER_RIG_H

#include "learn/selftune_number.h"

#include <stdint.h>

enum { D = 6, WIDTH = D + 1, RECORDS = 3000, PRODUCTS = WIDTH * (WIDTH + 1) / 2, STATE_MOST = 200 };

struct number_table {
    double z[RECORDS * D];
    double y[RECORDS];
    double squares[WIDTH]; /* the weights of least squares */
};

struct number_way {
    struct loss loss;
    enum selftune_sight sight;
    bool gaussian;
    uint32_t steps;
    double noise; /* of a mean that a record moves by 1 */
    double most; /* the loss beyond the best, of what there is to learn: roots of both, of a mean */
};

enum { NUMBER_WAYS = 25 };
extern const struct number_way number_ways[NUMBER_WAYS];

/** Draws columns that have a part in common, of different lengths, and a skewed rest. */
void number_rig_draw(struct number_table *t);

/** Returns the least loss over its constant of the best weights times `part`. */
double number_rig_least(double part, const struct loss *loss, const struct number_table *t);

struct selftune_number number_rig_stage(const struct number_way *way);

/** Begins, looks and takes a step, with noise of one seed. state  out  (selftune_number_state_count) */
void number_rig_first(double *state, const struct selftune_number *stage,
                      const struct number_table *t);

/** Learns in this way with noise of the seed. Returns the model's error. */
double number_rig_learn(const struct number_way *way, const struct number_table *t, uint64_t seed);

#endif
