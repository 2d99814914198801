/* query_answers_survival.h - what a survival's figures are said with. Inside query alone. */

#ifndef QUERY_QUERY_ANSWERS_SURVIVAL_H
#define QUERY_QUERY_ANSWERS_SURVIVAL_H

#include "query/query_answers.h"

/* Of what a figure is made: some of the groups. */
struct survival_of {
    bool of[SURVIVAL_GROUPS_MAX];
};
struct survival_of survival_of_two(size_t g, size_t h);

/** Writes why a figure of some groups is not given, and what would do. */
void survival_say_too_few(struct query_answer *answer, const struct answering *answering,
                          const struct survival_cells *cells, const struct survival_of *groups);

/** Writes of a log-rank test its degrees of freedom and which groups it is not of; where it is not given, what would do for those that
 * have records. */
void survival_say_test(struct query_answer *answer, const struct answering *answering,
                       const struct survival *survival, const struct survival_cells *cells);

#endif
