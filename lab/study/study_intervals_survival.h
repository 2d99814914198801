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

/** Plans the release by the records and noise of all sites, and prepares the noise; intervals_noise_free, also after a failure. Fails as
 * intervals_noise_init. */
MUST_USE enum status world_plan(struct survival_public *known, struct survival_release *release,
                                struct intervals_noise *noise,
                                const struct intervals_setting *setting);

/** Makes what records are drawn from, of k intervals; intervals_source_free, also after a failure. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status world_source(struct intervals_source *out, size_t k,
                                  const struct intervals_setting *setting);

/** Writes the sums of blocks behind the cells. */
void world_put_sums(double *cell, size_t groups, size_t k, size_t block);

#endif
