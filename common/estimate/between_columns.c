/* between_columns.c - what each site's Table 1 and regressions say. */

#include "estimate/between.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>

static const struct between_site unknown = {NAN, NAN, NAN, NAN, NAN, NAN};

static struct table1_figure figure_of(const struct table1_column *column, size_t level)
{
    return column->step != NULL ? table1_mean(column) : table1_share(column, level);
}

/* How many records have a value. */
static double present_of(const struct table1_column *column)
{
    double sum = 0;
    for (size_t k = 0; k < column->levels; k++) {
        sum += column->cell[k];
    }
    return sum;
}

/* Each site's own interval is its own. Joined, its sampling is by how values spread at all sites: for by its own a site would weigh
 * more where chance makes them lie close. */
void between_columns(struct between_site *out, const struct table1_column *site, size_t count,
                     size_t level)
{
    struct table1_column all = site[0];
    for (size_t i = 1; i < count; i++) {
        CHECK(site[i].levels == all.levels);
        for (size_t k = 0; k <= all.levels; k++) {
            all.cell[k] += site[i].cell[k];
        }
        all.variance += site[i].variance;
        all.size_variance += site[i].size_variance;
    }
    const struct table1_figure pooled = figure_of(&all, level);
    for (size_t i = 0; i < count; i++) {
        const struct estimate own = figure_of(&site[i], level).estimate;
        out[i] = unknown;
        if (isnan(own.value)) {
            continue;
        }
        const double as_all =
            pooled.estimate.sampling * sqrt(present_of(&all) / present_of(&site[i]));
        out[i] = (struct between_site){.value = own.value,
                                       .sampling = isnan(as_all) ? own.sampling : as_all,
                                       .noise = own.noise,
                                       .low = own.low,
                                       .high = own.high,
                                       .weight = NAN};
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

/* A coefficient that is given just yet may be one of which a hundredth are: then its information is 2.665 deviations too large, and
 * what goes with it too. Above one deviation from the limit it is less, and from three on nothing. */
static double too_large(const struct regress_choice *choice)
{
    static const double upper_hundredth = 2.6652142;
    const double above = log(BETWEEN_DOUBT_MOST / choice->factor) / choice->deviation;
    return upper_hundredth * fmin(fmax((3 - above) / 2, 0), 1);
}

/* What widens the site's interval beyond sampling and noise, as its denominator is noisy, is noise too. */
void between_slope(struct between_site *out, const struct regress_fit *fit, const double *weight)
{
    const struct estimate own = regress_figure(fit, weight).estimate;
    const struct regress_choice choice = regress_choice(fit, weight);
    *out = unknown;
    if (!isnan(own.value) && choice.factor < BETWEEN_DOUBT_MOST) {
        const double moved = choice.factor > 0 ? too_large(&choice) * choice.moves : 0;
        const double low = own.low - fmax(moved, 0);
        const double high = own.high + fmax(-moved, 0);
        const double whole = fmax(own.value - low, high - own.value) / ESTIMATE_Z;
        const double noise = sqrt(fmax(whole * whole - own.sampling * own.sampling, 0));
        *out = (struct between_site){.value = own.value,
                                     .sampling = own.sampling,
                                     .noise = noise,
                                     .low = low,
                                     .high = high,
                                     .weight = NAN};
    }
}
