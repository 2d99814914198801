/* between_columns.c - what each site's Table 1 and regressions say. */

#include "estimate/between.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/regress_density.h"
#include "estimate/table1_private.h"

#include <math.h>

static const struct between_site unknown = {NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};

static struct table1_figure figure_of(const struct table1_column *column, size_t level)
{
    return column->step != NULL ? table1_mean(column) : table1_share(column, level);
}

/* What a level counts as, and as much more. */
static void base_of(double *a, const struct table1_column *site, size_t level, double by)
{
    for (size_t k = 0; k < site->levels; k++) {
        a[k] = by + (site->step != NULL ? site->step[k] : k == level ? 1 : 0);
    }
}

/* A mean or a share is one sum of cells over another. To be joined it is not cut off at the ends of what can be, as noise that makes
 * it less than nothing makes up for noise that makes it more; and what the noise of the second sum adds to it, second order, is taken
 * off: `own` in its place. */
static double joined_of(const struct table1_column *site, size_t level, double own)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    double more[TABLE1_LEVELS_MAX + 1] = {0};
    double less[TABLE1_LEVELS_MAX + 1] = {0};
    const struct linear n = present_of(site, table1_every);
    base_of(a, site, level, 0);
    base_of(more, site, level, 1);
    base_of(less, site, level, -1);
    const double covariance = (linear_of(more, site).variance - linear_of(less, site).variance) / 4;
    const double bias = (own * n.variance - covariance) / (n.value * n.value);
    return linear_of(a, site).value / n.value - bias;
}

/* The number of records with a value of each site, for its weight. By its own noisy number a site would weigh more where noise makes
 * that number larger, and the share of it less. So noise is taken out as far as sites are alike: the share of the public number is
 * between the site's own and that of all, by how much sites differ beside noise. */
static void find_present(double *out, const struct table1_column *site, size_t count)
{
    double share[BETWEEN_SITES_MAX];
    double noise[BETWEEN_SITES_MAX];
    double mean = 0;
    double spread = 0;
    bool are_known = true;
    CHECK(count <= BETWEEN_SITES_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct linear present = present_of(&site[i], table1_every);
        out[i] = present.value;
        are_known = are_known && site[i].records > 0;
        share[i] = present.value / site[i].records;
        noise[i] = present.variance / (site[i].records * site[i].records);
        mean += share[i] / (double)count;
    }
    for (size_t i = 0; i < count && are_known && count > 1; i++) {
        spread += ((share[i] - mean) * (share[i] - mean)) / (double)(count - 1) -
                  noise[i] / (double)count;
    }
    for (size_t i = 0; i < count && are_known && mean > 0; i++) {
        const double own = spread > 0 ? spread / (spread + noise[i]) : 0;
        out[i] = fmax((mean + own * (share[i] - mean)) * site[i].records, 1);
    }
}

/* Each site's own interval is its own. Joined, its sampling and noise are by how values lie at all sites: for by its own a site would
 * weigh more where chance makes them lie close. */
void between_columns(struct between_site *out, const struct table1_column *site, size_t count,
                     size_t level)
{
    struct table1_column all = site[0];
    double present[BETWEEN_SITES_MAX];
    for (size_t i = 1; i < count; i++) {
        CHECK(site[i].levels == all.levels);
        for (size_t k = 0; k <= all.levels; k++) {
            all.cell[k] += site[i].cell[k];
        }
        all.variance += site[i].variance;
        all.size_variance += site[i].size_variance;
    }
    const struct table1_figure pooled = figure_of(&all, level);
    const double of_all = present_of(&all, table1_every).value;
    find_present(present, site, count);
    for (size_t i = 0; i < count; i++) {
        const struct estimate own = figure_of(&site[i], level).estimate;
        const double as_all = pooled.estimate.sampling * sqrt(of_all / present[i]);
        double a[TABLE1_LEVELS_MAX + 1] = {0};
        base_of(a, &site[i], level, isnan(as_all) ? -own.value : -pooled.estimate.value);
        out[i] = unknown;
        if (isnan(own.value)) {
            continue;
        }
        out[i] = (struct between_site){.value = joined_of(&site[i], level, own.value),
                                       .sampling = isnan(as_all) ? own.sampling : as_all,
                                       .noise = sqrt(linear_of(a, &site[i]).variance) / present[i],
                                       .low = own.low,
                                       .high = own.high,
                                       .weight = NAN,
                                       .from = site[i].step != NULL ? site[i].step[0] : 0,
                                       .to = site[i].step != NULL ? site[i].step[site[i].levels - 1]
                                                                  : 1};
    }
}

void between_quantiles(struct between_site *out, const struct table1_column *site, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct estimate own = table1_quantile(&site[i], 0.5).estimate;
        out[i] = unknown;
        out[i].value = own.value;
        out[i].low = own.low;
        out[i].high = own.high;
    }
}

/* How far a coefficient is moved as its information may be too large where it is given just yet. */
static double moved_by_choice(const struct regress_choice *choice)
{
    const double above = log(BETWEEN_DOUBT_MOST / choice->factor) / choice->deviation;
    return choice->factor > 0 ? normal_shown_most(above) * choice->moves : 0;
}

/* What widens the site's interval beyond sampling and noise, as its denominator is noisy, is noise too. */
void between_slope(struct between_site *out, const struct regress_fit *fit, const double *weight)
{
    const struct estimate own = regress_figure(fit, weight).estimate;
    const struct regress_choice choice = regress_choice(fit, weight);
    *out = unknown;
    if (!isnan(own.value) && choice.factor < BETWEEN_DOUBT_MOST) {
        const double moved = moved_by_choice(&choice);
        const double low = own.low - fmax(moved, 0);
        const double high = own.high + fmax(-moved, 0);
        const double whole = fmax(own.value - low, high - own.value) / ESTIMATE_Z;
        const double sampling = own.sampling * regress_by_few(fit, weight);
        const double noise = sqrt(fmax(whole * whole - sampling * sampling, 0));
        *out = (struct between_site){.value = own.value,
                                     .sampling = sampling,
                                     .noise = noise,
                                     .low = low,
                                     .high = high,
                                     .weight = NAN};
    }
}
