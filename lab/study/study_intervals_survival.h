/* study_intervals_survival.h - the records of simulated survival. Inside the study's files of survival and medians alone. */

#ifndef STUDY_INTERVALS_SURVIVAL_H
#define STUDY_INTERVALS_SURVIVAL_H

#include "estimate/survival.h"
#include "lab/study/study_intervals.h"

/* A setting's variants: each design, and with one hazard for all groups (a true null). */
enum {
    WORLD_DESIGNS_OF_TWO = 4,
    WORLD_DESIGNS_OF_GROUPS = 2, /* three and four groups */
    WORLD_VARIANTS_OF_TWO = 2 * WORLD_DESIGNS_OF_TWO,
    WORLD_VARIANTS_OF_GROUPS = 2 * WORLD_DESIGNS_OF_GROUPS
};

bool world_is_null(const struct intervals_setting *setting);
const char *world_name(const struct intervals_setting *setting);
size_t world_groups(const struct intervals_setting *setting);

/** Return what is true of a group: the cumulative hazard, the mean up to 1, the time at which half are left. */
double world_cumulative(size_t group, const struct intervals_setting *setting, double t);
double world_mean(size_t group, const struct intervals_setting *setting);
double world_median(size_t group, const struct intervals_setting *setting);

/* A setting's studies, and what is planned of their release. */
struct world_lives {
    struct intervals_studies studies;
    size_t groups;
    struct survival_release release;
};

/** Plans the release by the records and noise of all sites, and prepares the studies; intervals_studies_free, also after a failure. Fails
 * as intervals_studies_init. */
MUST_USE enum status world_init(struct world_lives *out, const struct intervals_setting *setting);

/** Returns a study's cells, as the analysis takes them. It keeps cell. */
struct survival_cells world_cells(const struct world_lives *lives, const double *cell,
                                  double variance);

/** Draws a study: its cells without noise, and what is released, from which the cells are then made. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status world_draw(double *cell, double *exact, struct world_lives *lives);

#endif
