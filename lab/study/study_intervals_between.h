/* study_intervals_between.h - the drawing of sites whose effects differ. Inside study_intervals_between*.c alone. */

#ifndef STUDY_INTERVALS_BETWEEN_H
#define STUDY_INTERVALS_BETWEEN_H

#include "estimate/between.h"
#include "lab/study/study_intervals.h"

enum { DRAWING_SITES_MAX = 40, BETWEEN_FAMILIES = 4 };

enum effect {
    BETWEEN_SHARE,
    BETWEEN_DIFFERENCE,
    BETWEEN_LOG_ODDS,
    BETWEEN_MEAN_LIFE,
    BETWEEN_HAZARD,
    BETWEEN_SLOPE,
    BETWEEN_TABLE_MEAN,
    BETWEEN_NUMBERS, /* coefficients of a number on a fresh design, a family each */
    BETWEEN_DRAWN = BETWEEN_NUMBERS + BETWEEN_FAMILIES, /* kinds that have settings */
    BETWEEN_CATEGORIES = BETWEEN_DRAWN,                 /* of a category, beside each number's */
    BETWEEN_TABLE_SHARE = BETWEEN_CATEGORIES + BETWEEN_FAMILIES, /* of few records */
    BETWEEN_EFFECTS
};

/** Returns whether answers by site have no intervals of the setting's effect. */
bool between_is_withheld(const struct intervals_setting *setting);

/** Writes a setting, as intervals_kind's at. */
bool between_at(struct intervals_setting *out, const struct study_request *request, size_t *at);

struct drawing {
    const struct intervals_setting *setting;
    struct seeded_random seeded;
    struct random random;
    struct intervals_noise noise; /* where a record moves one cell, and two */
    struct intervals_noise noise_of_table;
    bool is_clean;  /* nothing is added to what is released, but it is planned as if */
    size_t planned; /* intervals, levels or steps: of the setting, 0 before the first study */
};

double drawing_normal(struct drawing *drawing);

/** Returns a site's number of records, and that of all. */
uint64_t drawing_size(const struct intervals_setting *setting, size_t site);
double drawing_records(const struct intervals_setting *setting);

/** Return the variance of the noise on a cell of a site's table: as it is planned, and as the analysis is told. */
double drawing_variance(const struct drawing *drawing);
double drawing_told(const struct drawing *drawing);

/** Adds noise to released cells (count), which are then made to sum to the records. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status drawing_release(double *cell, size_t count, double records,
                                     const struct drawing *drawing);

/* Each draws the records of every site, truth (sites) being its effects, releases them and tells the effects. They may move a truth
 * into what is possible. Fail with STATUS_NO_MEMORY. */
MUST_USE enum status drawing_sums(struct between_site *out, double *truth, struct drawing *drawing);
MUST_USE enum status drawing_tables(struct between_site *out, double *truth,
                                    struct drawing *drawing, bool is_odds);
MUST_USE enum status drawing_mean_lives(struct between_site *out, double *truth,
                                        struct drawing *drawing);
MUST_USE enum status drawing_hazards(struct between_site *out, double *truth,
                                     struct drawing *drawing);

/* A regression's coefficients at each site, and which design has them. */
struct drawing_slopes {
    enum regress_family family;
    size_t design;
    const double *number;
    const double *category;
};
MUST_USE enum status drawing_slopes(struct between_site *out, struct between_site *of_category,
                                    const struct drawing_slopes *slopes, struct drawing *drawing);
MUST_USE enum status drawing_means(struct between_site *out, double *truth,
                                   struct drawing *drawing);
MUST_USE enum status drawing_shares(struct between_site *out, double *truth,
                                    struct drawing *drawing);

#endif
