/* query_answers_crosstab.h - what a cross table's figures are said with. Inside query alone. */

#ifndef QUERY_QUERY_ANSWERS_CROSSTAB_H
#define QUERY_QUERY_ANSWERS_CROSSTAB_H

#include "estimate/crosstab.h"
#include "query/query_answers.h"

enum crosstab_figure { CROSSTAB_SHARE, CROSSTAB_DIFFERENCE, CROSSTAB_ODDS, CROSSTAB_TEST };

/** Writes of a figure that is not given what is missing, and what would do. row: of a share */
void crosstab_say_refused(struct query_answer *answer, const struct answering *answering,
                          const struct crosstab_cells *cells, enum crosstab_figure figure,
                          size_t row);

#endif
