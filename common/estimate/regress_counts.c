/* regress_counts.c - what noise does to a logarithm of counts, and what is shown of it. */

#include "estimate/regress_counts.h"

#include "estimate/cells.h"

#include <math.h>

/* The noise of the counts that tell a category, over them, up to which it is given. */
static const double own_noise_most = 0.3;

/* A logarithm of a mean turns around where noise is as large as the mean. Of counts the noise of their sum over it, else 0. */
double regress_mean_noise(const struct regress_cells *cells, const double *sum)
{
    const struct regress_design *design = cells->design;
    double all = 0;
    double square = 0;
    for (size_t y = 0; y < design->outcomes && design->family == REGRESS_POISSON; y++) {
        all += sum[y] * design->outcome[y];
        square += design->outcome[y] * design->outcome[y];
    }
    const double noise = sqrt(cells->variance * (double)regress_points(design) * square);
    return noise > 0 ? noise / fmax(all, 0) : 0;
}

/* Counts are shown where their sum is, so that noise has made it larger in the mean: the part of that which is in each cell, as the
 * cell's noise goes with the sum's. */
void regress_set_lifted(struct regress_fit *fit, const double *sum)
{
    const struct regress_design *design = fit->cells->design;
    const double points = (double)regress_points(design);
    const double m = (double)fit->cells->m;
    double all = 0;
    double outcomes = 0;
    double square = 0;
    for (size_t y = 0; y < design->outcomes && design->family == REGRESS_POISSON; y++) {
        all += sum[y] * design->outcome[y];
        outcomes += points * design->outcome[y];
        square += points * design->outcome[y] * design->outcome[y];
    }
    const double deviation = sqrt(fit->cells->variance * (square - outcomes * outcomes / m));
    if (!(deviation > 0) || !(fit->mean_noise <= REGRESS_MEAN_NOISE_MOST)) {
        return;
    }
    const double limit = all * fit->mean_noise / REGRESS_MEAN_NOISE_MOST;
    const double above = normal_shown((all - limit) / deviation);
    const double lifted = fit->cells->variance * normal_mean_above(above) / deviation;
    for (size_t y = 0; y < design->outcomes; y++) {
        fit->lifted[y] = lifted * (design->outcome[y] - outcomes / m);
    }
}

void regress_count(struct regress_counting_of *of, double counts, double moves)
{
    of->sum += counts;
    of->square += counts * counts;
    of->joint += counts * moves;
}

bool regress_is_of_category(const struct regress_fit *fit, const double *weight)
{
    const struct regress_design *design = fit->cells->design;
    bool is = false;
    for (size_t i = 0, term = design->intervals; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        const size_t slopes = predictor->is_number ? 1 : predictor->levels - 1;
        for (size_t k = 0; k < slopes; k++, term++) {
            is = is || (weight[term] != 0 && !predictor->is_number);
        }
    }
    return is;
}

struct regress_counted regress_counted(const struct regress_fit *fit, const double *weight,
                                       const struct regress_counting *counting, double moves,
                                       double inverse)
{
    const struct regress_counting_of *all = &counting->all;
    const struct regress_counting_of *own = &counting->own;
    const double v = fit->cells->variance;
    const double m = (double)fit->cells->m;
    struct regress_counted out = {.factor = 0};
    if (!(all->square > 0) || !(fit->mean_noise > 0)) {
        return out;
    }
    /* What is shown just yet is what noise made larger: the ends are further out by what that moves on average. */
    out.moved_by_all = normal_mean_above(1 / fit->mean_noise - 1 / REGRESS_MEAN_NOISE_MOST) *
                       sqrt(v) * fabs(all->joint - moves * all->sum / m) /
                       sqrt(all->square - all->sum * all->sum / m);
    /* A category's own counts may be as many by chance as one study in a hundred has. Without that noise their logarithm would be
     * lower by more than its slope at those that were found: -log(1 - t noise) in place of t noise. */
    const double deviation = sqrt(v * fmax(own->square - own->sum * own->sum / m, 0));
    const double noise = deviation / inverse;
    out.factor = regress_is_of_category(fit, weight) ? noise / own_noise_most : 0;
    if (out.factor > 0 && out.factor < 1) {
        const double by_chance = normal_shown_most(1 / noise - 1 / own_noise_most);
        const double moved = v * (own->joint - moves * own->sum / m) / deviation *
                             -log1p(-by_chance * noise) / noise;
        out.too_high = fmax(moved, 0);
        out.too_low = fmax(-moved, 0);
    }
    return out;
}
