/* query_answers_regress.h - what a regression's coefficients are said with. Inside query alone. */

#ifndef QUERY_QUERY_ANSWERS_REGRESS_H
#define QUERY_QUERY_ANSWERS_REGRESS_H

#include "query/query_advice.h"
#include "query/query_kind.h"

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
