/* evaluate_benefit.c - what a risk is worth: net benefits of a decision curve, and how far risks are from shares at large. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double treated_least = 10;     /* records from the threshold on */
static const double treated_over_noise = 5; /* in standard deviations of their noise */
static const double benefit_noise_most = 0.05;

/* The mean of base over all whose score is there. */
struct worth {
    const double *base; /* (levels) */
    double square;      /* the mean of its square, at the estimate */
    double slope;       /* and what it grows by with the mean that is tested */
    double range[2];
};

static struct table1_figure mean_of(const struct worth *worth, const struct table1_column *column,
                                    double n)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    struct ratio ratio = {
        table1_every, worth->base, {worth->range[0], worth->range[1]}, {0, 0, 0}, 0};
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = worth->base[k];
    }
    const double value = linear_of(a, column).value / n;
    for (int i = 0; i < 3; i++) {
        const double at = worth->range[0] + (worth->range[1] - worth->range[0]) * i / 2;
        ratio.sampling[i] = worth->square + worth->slope * (at - value) - at * at;
    }
    ratio.at_value = fmax(worth->square - value * value, 0);
    return ratio_of(column, &ratio);
}

/* Those that are treated: foretold from a level on, half a record at least, with the event and without. */
struct treated {
    double right;
    double wrong;
    double all;
    double noise; /* on all of them: standard deviation */
    double least; /* that are shown */
};

static struct treated treated_from(const struct table1_column *column, size_t level)
{
    const size_t n = column->levels / 2;
    bool of[TABLE1_LEVELS_MAX] = {false};
    struct treated out = {0};
    for (size_t k = level; k < n; k++) {
        of[k] = of[n + k] = true;
        out.wrong += column->cell[k];
        out.right += column->cell[n + k];
    }
    const struct linear all = present_of(column, of);
    out.all = all.value;
    out.noise = sqrt(all.variance);
    out.right = fmax(out.right, 0.5);
    out.wrong = fmax(out.wrong, 0.5);
    out.least = fmax(treated_over_noise * out.noise, treated_least);
    return out;
}

/* How far the net benefit of all records was moved, on average, where hardly enough are treated for it to be shown: these are
 * more than there are. Of noise, half is on either count; of chance, on each by its size. */
static double moved_by(const struct treated *treated, double odds)
{
    const double noise = treated->noise * treated->noise;
    const double variance = noise + treated->right + treated->wrong;
    const double joint = noise * (1 - odds) / 2 + treated->right - odds * treated->wrong;
    const double spare = (treated->all - treated->least) / sqrt(variance);
    return (spare - normal_shown(spare)) * fabs(joint) / sqrt(variance);
}

struct table1_figure evaluate_net_benefit(const struct table1_column *column, size_t level,
                                          double threshold)
{
    const size_t n = column->levels / 2;
    const double odds = threshold / (1 - threshold);
    const struct linear present = present_of(column, table1_every);
    const struct treated treated = treated_from(column, level);
    double base[TABLE1_LEVELS_MAX] = {0};
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    CHECK(threshold > 0 && threshold < 1 && level < n);
    for (size_t k = level; k < n; k++) {
        a[k] = base[k] = -odds;
        a[n + k] = base[n + k] = 1;
    }
    const double size = size_factor(&present);
    if (isnan(size) || !(treated.all > 0)) {
        return figure_refused(NAN);
    }
    const double own = sqrt(linear_of(a, column).variance) / present.value / benefit_noise_most;
    const double factor = fmax(fmax(size, own), treated.least / treated.all);
    if (!(factor < 1) || !(present.value > 1)) {
        return figure_refused(factor);
    }
    /* The two counts that a tested net benefit allows: each moves by its part of the variance, so that what it varies by moves
     * too. */
    const double square = treated.right + odds * odds * treated.wrong;
    const double slope = (treated.right - odds * odds * odds * treated.wrong) / square;
    const struct worth worth = {base, square / present.value, slope, {-odds, 1}};
    struct table1_figure out = mean_of(&worth, column, present.value);
    const double moved = moved_by(&treated, odds) / present.value;
    out.estimate.low = fmax(out.estimate.low - moved, -odds);
    out.estimate.high = fmin(out.estimate.high + moved, 1);
    out.noise_low = fmax(out.noise_low - moved, -odds);
    out.noise_high = fmin(out.noise_high + moved, 1);
    out.factor = factor;
    return out;
}

struct table1_figure evaluate_in_the_large(const struct table1_column *column, const double *edge)
{
    const size_t n = column->levels / 2;
    const struct linear present = present_of(column, table1_every);
    const double factor = size_factor(&present);
    double base[TABLE1_LEVELS_MAX] = {0};
    double square = 1; /* a record more, as far away as there can be one */
    double widest = 0;
    if (!(factor < 1) || !(present.value > 1)) {
        return figure_refused(factor);
    }
    for (size_t k = 0; k < n; k++) {
        const double middle = (edge[k] + edge[k + 1]) / 2;
        base[k] = -middle;
        base[n + k] = 1 - middle;
        square +=
            column->cell[k] * base[k] * base[k] + column->cell[n + k] * base[n + k] * base[n + k];
        widest = fmax(widest, (edge[k + 1] - edge[k]) / 2);
    }
    const struct worth worth = {base, fmax(square, 1) / present.value, 0, {-1, 1}};
    struct table1_figure out = mean_of(&worth, column, present.value);
    out.estimate.low = fmax(out.estimate.low - widest, -1);
    out.estimate.high = fmin(out.estimate.high + widest, 1);
    out.noise_low = fmax(out.noise_low - widest, -1);
    out.noise_high = fmin(out.noise_high + widest, 1);
    out.factor = factor;
    return out;
}
