/* study_intervals_regress.h - the records of simulated regressions. Inside their study alone. */

#ifndef STUDY_INTERVALS_REGRESS_H
#define STUDY_INTERVALS_REGRESS_H

#include "estimate/regress.h"
#include "lab/study/study_intervals.h"

enum { SLOPES = 4, DESIGNS = 8, PREDICTORS = 3, INTERVALS = 4, OUTCOME_LEVELS = 8 };
enum { FAMILIES = REGRESS_HAZARD + 1 };

/* A family's baseline and its slopes; of hazards one baseline for all intervals. */
struct model {
    double baseline;
    double slope[SLOPES];
};

/* How a predictor's levels come about; z is the first column's normal variable. */
struct column {
    enum { NORMAL, SKEWED, EVEN, FALLING, WHOLE, UNSAID, CATEGORY } kind;
    size_t categories;     /* or whole numbers */
    double centre, spread; /* of a number */
    double correlation;    /* with z; of a category how its odds' logarithm grows with z */
    double end[2];         /* of a category: shares up to each level but the last, at z = 0 */
};

struct regress_world_design {
    const char *name;
    size_t slopes;
    struct column column[PREDICTORS];
    struct model model[FAMILIES];
};
extern const struct regress_world_design regress_world_designs[DESIGNS];

struct simulated {
    struct regress_design design;
    struct regress_predictor predictor[PREDICTORS];
    struct regress_predictor whole[PREDICTORS]; /* the other reading of numbers that may be whole */
    struct regress_design other;                /* with it */
    bool is_unsaid;                             /* whether there is another */
    double outcome[OUTCOME_LEVELS];
    size_t which; /* of designs */
};

/** Returns which family a setting simulates, and the words for its design. */
enum regress_family regress_world_family(const struct intervals_setting *setting);
const char *regress_world_name(const struct intervals_setting *setting);

/** Plans the levels as query_regress.c. variance: of the noise on a cell. out is not to be copied. */
void regress_world_init(struct simulated *out, const struct intervals_setting *setting,
                        double variance);

/** Makes what records are drawn from; intervals_source_free, also after a failure. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status regress_world_source(struct intervals_source *out,
                                          const struct simulated *from);

/** Returns the true slopes (regress_world_slope_count). */
const double *regress_world_slopes(const struct simulated *from);
size_t regress_world_slope_count(const struct simulated *from);

#endif
