/* query_answers_notes.h - what figures are said with that are not given: query_answers_*_notes.c. Inside query alone. */

#ifndef QUERY_QUERY_ANSWERS_NOTES_H
#define QUERY_QUERY_ANSWERS_NOTES_H

#include "query/query_advice.h"
#include "query/query_answers.h"
#include "query/query_kind.h"

enum crosstab_figure { CROSSTAB_SHARE, CROSSTAB_DIFFERENCE, CROSSTAB_ODDS, CROSSTAB_TEST };

/** Writes of a figure that is not given what is missing, and what would do. row: of a share */
void crosstab_say_refused(struct query_answer *answer, const struct answering *answering,
                          const struct crosstab_cells *cells, enum crosstab_figure figure,
                          size_t row);

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

/* Why a coefficient is not given. */
struct regress_lacking {
    enum regress_lack why;
    const struct regress_replay *replay;
    double factor;        /* of less noise; NAN: none was found */
    struct advice advice; /* by it */
    double needed;        /* records, by the noise alone; NAN: none is known */
    const char *number;   /* the one that REGRESS_LACKS_RANGE or REGRESS_LACKS_SMOOTH is of */
    const char *function; /* that takes its whole numbers, so few that each has a level; or NULL */
    const char *column;   /* of that number */
    bool is_log;          /* its term is that of the logarithm */
};

/** Appends to a refusal what is missing, or how many times the epsilon, or the records, was found to do. */
void regress_say_lack(struct query_answer *answer, const struct query *query,
                      const struct regress_lacking *lacking);

/** Appends which intervals of time are left out of hazards. */
void regress_say_intervals(struct query_answer *answer, const struct query *query,
                           const struct regress_fit *fit);

/** Appends what a number's coefficient is of, and whether outcomes do not follow the model over its levels. covers_both: of numbers
 * that may be whole, whether its interval is of both readings */
void regress_say_rounded(struct query_answer *answer, const struct query_variable *variable,
                         const char *name, bool is_bent, bool covers_both);

#endif
