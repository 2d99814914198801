/* study_intervals_table1.h - the records of a simulated Table 1. Inside its study alone. */

#ifndef STUDY_INTERVALS_TABLE1_H
#define STUDY_INTERVALS_TABLE1_H

#include "estimate/table1.h"
#include "lab/study/study_intervals.h"

enum { GROUPS = 2, VARIABLES = 3, CATEGORIES = 3 }; /* two numbers, and a category */
enum { CELLS_MAX = GROUPS * (TABLE1_LEVELS_MAX + 1) + 1 };

/* What is true of a number in a group, or in both. */
struct truth {
    double mean;
    double deviation;
    double quantile[3];
};

struct world {
    const struct intervals_setting *setting;
    struct truth truth[2][GROUPS + 1];
    size_t steps;
    double step[2][TABLE1_LEVELS_MAX];
    double variance[VARIABLES]; /* that the analysis is told */
    struct intervals_noise noise[VARIABLES];
    struct intervals_source source[VARIABLES][GROUPS]; /* of a record's cells in its group */
};

/** Plans and splits the price as query_table1.c. table1_world_free, also after a failure. Fails with STATUS_INVALID (no such noise),
 * STATUS_NO_MEMORY. */
MUST_USE enum status table1_world_init(struct world *world,
                                       const struct intervals_setting *setting);
void table1_world_free(struct world *world);

/** Returns the share of the records in a group, GROUPS: all; of those, of a category's known ones, level k's. */
double table1_world_group(size_t group);
double table1_world_category(size_t k);

/** Returns the share of a variable's values that are there. */
double table1_world_present(void);

/** Write the cells of simulated records; and what they are on average. */
void table1_world_draw(double cell[VARIABLES][CELLS_MAX], const struct world *world,
                       struct seeded_random *seeded);
void table1_world_expect(double cell[VARIABLES][CELLS_MAX], const struct world *world);

/** Adds the noise of each variable. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status table1_world_add_noise(double cell[VARIABLES][CELLS_MAX],
                                            const struct world *world,
                                            struct seeded_random *seeded);

/** Makes blocks (VARIABLES) of cells, which keep these, and what they agree on. told: of the noise, the share that they are told */
void table1_world_agree(struct table1_sizes *sizes, struct table1_block *block,
                        double cell[VARIABLES][CELLS_MAX], const struct world *world, double told);

#endif
