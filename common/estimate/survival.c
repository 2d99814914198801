/* survival.c - one group's curve and what follows from it: points, band, median, restricted mean. */

#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

static const double deviation_most = 0.35;
static const struct estimate unknown = {NAN, NAN, NAN, NAN, NAN};

static const double *cells_of(const struct survival_cells *cells, size_t group)
{
    return cells->cell + group * (2 * cells->intervals + 1);
}

/* For a figure of one group's cells. */
static double variance_of(const struct survival_cells *cells, const double *by)
{
    const double weighed = survival_weigh(cells, by);
    return survival_covariance(cells, survival_inner(cells, by, by), weighed, weighed);
}

/* Y and the standard deviation of its noise. Every later cell counts fully, the interval's censorings by half. */
static void fill_risk(struct survival_group *out, const struct survival_cells *cells, size_t group)
{
    const size_t k = cells->intervals;
    const double *death = cells_of(cells, group);
    const double *censored = death + k;
    double later = censored[k];
    double by[SURVIVAL_GROUP_CELLS_MAX] = {0};
    by[2 * k] = 1;
    for (size_t j = k; j-- > 0;) {
        by[j] = 1;
        by[k + j] = 0.5;
        out->at_risk[j] = later + death[j] + censored[j] / 2;
        out->at_risk_noise[j] = sqrt(fmax(0, variance_of(cells, by)));
        by[k + j] = 1;
        later += death[j] + censored[j];
    }
}

/* Of L_J by the group's cells: an interval before a cell has it in Y alone. */
static void fill_gradient(struct survival_group *out, const struct survival_cells *cells,
                          const double *death)
{
    const size_t k = cells->intervals;
    for (size_t last = 0; last < out->valid; last++) {
        double *by = out->gradient[last];
        double before = 0; /* the sum of 1/(Y - d) - 1/Y of the intervals before, up to J */
        for (size_t i = 0; i < k; i++) {
            const double y = out->at_risk[i];
            const double here = i <= last ? 1 / (y - death[i]) - 1 / y : 0;
            by[i] = before - (i <= last ? 1 / y : 0);
            by[k + i] = before + here / 2;
            before += here;
        }
        by[2 * k] = before;
        out->gradient_sum[last] = survival_weigh(cells, by);
    }
}

static void fill_noise(struct survival_group *out, const struct survival_cells *cells)
{
    for (size_t i = 0; i < out->valid; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double inner = survival_inner(cells, out->gradient[i], out->gradient[j]);
            out->noise[i][j] =
                survival_covariance(cells, inner, out->gradient_sum[i], out->gradient_sum[j]);
            out->noise[j][i] = out->noise[i][j];
        }
    }
}

void survival_group_fill(struct survival_group *out, const struct survival_cells *cells,
                         size_t group)
{
    const size_t k = cells->intervals;
    const double *death = cells_of(cells, group);
    double so_far[SURVIVAL_GROUP_CELLS_MAX] = {0};
    double log_survival = 0;
    double greenwood = 0;
    double deaths = 0;

    CHECK(k >= 1 && k <= SURVIVAL_INTERVALS_MAX && cells->groups <= SURVIVAL_GROUPS_MAX);
    memset(out, 0, sizeof *out);
    out->size_over = INFINITY;
    fill_risk(out, cells, group);
    for (size_t j = 0; j < k; j++) {
        const double y = out->at_risk[j];
        if (!(y > SURVIVAL_RISK_OVER_NOISE * out->at_risk_noise[j]) || !(y - death[j] > 0) ||
            !(y > 0)) {
            break;
        }
        log_survival += log((y - death[j]) / y);
        greenwood += death[j] / (y * (y - death[j]));
        out->log_survival[j] = log_survival;
        out->greenwood[j] = fmax(greenwood, 0);
        out->valid = j + 1;
    }
    fill_gradient(out, cells, death);
    fill_noise(out, cells);
    for (size_t j = 0; j < out->valid; j++) {
        so_far[j] = 1;
        const double noise = sqrt(variance_of(cells, so_far));
        deaths += death[j];
        out->given[j] = survival_deviation(out, j) < deviation_most &&
                        deaths > SURVIVAL_DEATHS_LEAST &&
                        deaths > SURVIVAL_DEATHS_OVER_NOISE * noise;
    }
}

double survival_deviation(const struct survival_group *group, size_t interval)
{
    return sqrt(group->greenwood[interval] + fmax(group->noise[interval][interval], 0));
}

double survival_reach(double noise, double sampling)
{
    return hypot(ESTIMATE_Z_NOISE * noise, ESTIMATE_Z * sampling);
}

static double clipped(double share)
{
    return fmin(fmax(share, 0), 1);
}

/* The band's ends on the arcsine-root scale: d asin(sqrt S) = sqrt(S / (1 - S)) / 2 dL. It holds the point's own interval. */
static void set_band(struct survival_point *point, double log_survival, double reach)
{
    const double share = fmin(exp(log_survival), 1 - 1e-9);
    const double angle = asin(sqrt(share));
    const double width = reach * sqrt(share / (1 - share)) / 2;
    const double right = 3.14159265358979323846 / 2;
    const double low = sin(fmax(angle - width, 0));
    const double high = sin(fmin(angle + width, right));
    point->band_low = fmin(low * low, point->survival.low);
    point->band_high = fmax(high * high, point->survival.high);
}

static void set_bands(struct survival_curve *curve, const struct survival_group *group, size_t k)
{
    double factor[SURVIVAL_INTERVALS_MAX * SURVIVAL_INTERVALS_MAX];
    size_t at[SURVIVAL_INTERVALS_MAX];
    size_t n = 0;
    for (size_t j = 0; j < k; j++) {
        if (group->given[j]) {
            at[n++] = j;
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double joint = group->greenwood[at[j]] + group->noise[at[i]][at[j]];
            factor[i * n + j] = i == j ? joint * (1 + 1e-9) : joint;
        }
    }
    /* Greenwood's terms of noisy deaths may be negative, so that no normal process has them: the union bound then. */
    const bool is_process = cholesky(factor, n) == 0;
    const double union_bound = 3.7; /* 0.05 / 40 on both sides: 3.23, and some for the tails */
    const double width = is_process ? band_width(factor, n) : union_bound;
    for (size_t i = 0; i < n; i++) {
        set_band(&curve->point[at[i]], group->log_survival[at[i]],
                 width * survival_deviation(group, at[i]));
    }
}

static void set_points(struct survival_curve *curve, const struct survival_group *group,
                       const struct survival_cells *cells)
{
    for (size_t j = 0; j < cells->intervals; j++) {
        struct survival_point *point = &curve->point[j];
        *point = (struct survival_point){.survival = unknown,
                                         .noise_low = NAN,
                                         .noise_high = NAN,
                                         .band_low = NAN,
                                         .band_high = NAN};
        point->time = cells->end * (double)(j + 1) / (double)cells->intervals;
        point->at_risk = fmax(group->at_risk[j], 0);
        if (!group->given[j]) {
            continue;
        }
        const double l = group->log_survival[j];
        const double noise = sqrt(fmax(group->noise[j][j], 0));
        const double reach = survival_reach(noise, sqrt(group->greenwood[j]));
        const struct survival_choice moved = survival_point_moves(group, cells, j);
        point->survival = (struct estimate){.value = clipped(exp(l)),
                                            .low = clipped(exp(l - reach - moved.up)),
                                            .high = clipped(exp(l + reach + moved.down)),
                                            .noise = exp(l) * noise,
                                            .sampling = exp(l) * sqrt(group->greenwood[j])};
        point->noise_low = clipped(exp(l - ESTIMATE_Z_NOISE * noise - moved.noise_up));
        point->noise_high = clipped(exp(l + ESTIMATE_Z_NOISE * noise + moved.noise_down));
        curve->shown++;
    }
}

/* Where the pointwise intervals hold one half, widened to the intervals' ends. */
static void set_median(struct survival_curve *curve, size_t k)
{
    double time = 0;
    double share = 1;
    bool crossed = false;
    bool below = false;
    struct estimate median = unknown;
    for (size_t j = 0; j < k; j++) {
        const struct survival_point *point = &curve->point[j];
        if (isnan(point->survival.value)) {
            continue;
        }
        if (isnan(median.low) && point->survival.low <= 0.5) {
            median.low = time;
        }
        if (!crossed && point->survival.value <= 0.5) {
            crossed = true;
            median.value =
                time + (point->time - time) * (share - 0.5) / (share - point->survival.value);
        }
        if (!below && point->survival.high < 0.5) {
            below = true;
            median.high = point->time;
        }
        time = point->time;
        share = point->survival.value;
    }
    curve->median_beyond = curve->shown > 0 && !crossed;
    curve->median = crossed ? median : unknown;
}

struct estimate survival_mean(double *gradient_sum, const struct survival_group *group,
                              const struct survival_cells *cells)
{
    const size_t k = cells->intervals;
    const double width = cells->end / (double)k;
    double weight[SURVIVAL_INTERVALS_MAX];
    double mean = width / 2;
    double noise = 0;
    double sampling = 0;

    *gradient_sum = 0;
    if (group->valid < k || !(survival_deviation(group, k - 1) < deviation_most)) {
        return unknown;
    }
    for (size_t j = 0; j < k; j++) {
        weight[j] = (j + 1 == k ? width / 2 : width) * exp(group->log_survival[j]);
        mean += weight[j];
        *gradient_sum += weight[j] * group->gradient_sum[j];
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < k; j++) {
            noise += weight[i] * weight[j] * group->noise[i][j];
            sampling += weight[i] * weight[j] * group->greenwood[i < j ? i : j];
        }
    }
    noise = fmax(noise, 0);
    sampling = fmax(sampling, 0);
    const double reach = survival_reach(sqrt(noise), sqrt(sampling));
    const struct survival_choice moved = survival_mean_moves(weight, group, cells);
    return (struct estimate){.value = fmin(fmax(mean, 0), cells->end),
                             .low = fmin(fmax(mean - reach - moved.up, 0), cells->end),
                             .high = fmin(fmax(mean + reach + moved.down, 0), cells->end),
                             .noise = sqrt(noise),
                             .sampling = sqrt(sampling)};
}

/* By how much an end is further out than sampling and noise alone would have it; squared. */
static double square_beyond(const struct estimate *own, double reach)
{
    const double plain = survival_reach(own->noise, own->sampling);
    return fmax(reach * reach - plain * plain, 0);
}

/* Zou and Donner's interval, with the noise that the two share. */
struct estimate survival_difference(const struct estimate *a, const struct estimate *b,
                                    double noise_covariance)
{
    const double noise = fmax(0, a->noise * a->noise + b->noise * b->noise - 2 * noise_covariance);
    const double sampling = a->sampling * a->sampling + b->sampling * b->sampling;
    const double value = a->value - b->value;
    const double reach = survival_reach(sqrt(noise), sqrt(sampling));
    const double plain = reach * reach;
    const double below = square_beyond(a, a->value - a->low) + square_beyond(b, b->high - b->value);
    const double above = square_beyond(a, a->high - a->value) + square_beyond(b, b->value - b->low);
    return (struct estimate){value, value - sqrt(plain + below), value + sqrt(plain + above),
                             sqrt(noise), sqrt(sampling)};
}

/* From the intervals of two that are apart: an end is as far out as the two ends that make it, together. */
static struct estimate difference_of_medians(const struct estimate *a, const struct estimate *b)
{
    const double value = a->value - b->value;
    return (struct estimate){.value = value,
                             .low = value - hypot(a->value - a->low, b->high - b->value),
                             .high = value + hypot(a->high - a->value, b->value - b->low),
                             .noise = NAN,
                             .sampling = NAN};
}

static bool has_half(const struct survival_group *group, size_t k)
{
    size_t shown = 0;
    for (size_t j = 0; j < k; j++) {
        shown += group->given[j];
    }
    return 2 * shown >= k;
}

/* How many records the group has is told by many cells, so its noise is small beside it. A rule on the curve alone would
 * let through those of the too small groups whose noise happens to be kind, and their intervals miss. */
bool survival_is_large(const struct survival_cells *cells, size_t group)
{
    const struct survival_public known = {
        .groups = cells->groups, .variance = cells->variance, .block = cells->block};
    const double records = survival_records(cells, group);
    return records > 0 && survival_suffices(records, &known, cells->intervals);
}

struct survival_lack survival_lacks(const struct survival_cells *cells, size_t group)
{
    const size_t place[] = {(cells->intervals + 1) / 2 - 1, cells->intervals - 1};
    struct survival_group own;
    survival_group_fill(&own, cells, group);
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        const struct survival_lack lack = {.is_at_end = i > 0,
                                           .found = own.at_risk[place[i]],
                                           .needed = SURVIVAL_RISK_OVER_NOISE *
                                                     own.at_risk_noise[place[i]]};
        if (!(lack.found > lack.needed)) {
            return lack;
        }
    }
    return (struct survival_lack){.found = NAN, .needed = NAN};
}

void survival_estimate(struct survival *out, const struct survival_cells *cells)
{
    const size_t k = cells->intervals;
    struct survival_group group;
    double first_sum = 0;

    *out = (struct survival){.log_rank = NAN, .log_rank_p = NAN};
    for (size_t g = 0; g < cells->groups; g++) {
        struct survival_curve *curve = &out->curve[g];
        double sum = 0;
        survival_group_fill(&group, cells, g);
        if (has_half(&group, k) && survival_is_large(cells, g)) {
            survival_set_size_over(&group, cells, g);
        } else {
            memset(group.given, 0, sizeof group.given);
        }
        set_points(curve, &group, cells);
        set_bands(curve, &group, k);
        set_median(curve, k);
        curve->mean = curve->shown > 0 ? survival_mean(&sum, &group, cells) : unknown;
        first_sum = g == 0 ? sum : first_sum;
        out->mean_difference[g] =
            g == 0 ? unknown
                   : survival_difference(&curve->mean, &out->curve[0].mean,
                                         survival_covariance(cells, 0, sum, first_sum));
        out->median_difference[g] =
            g == 0 || isnan(curve->median.value) || isnan(out->curve[0].median.value)
                ? unknown
                : difference_of_medians(&curve->median, &out->curve[0].median);
    }
    survival_log_rank(out, cells);
}

bool survival_has_whole(const struct survival_cells *cells, size_t group)
{
    struct survival_group filled;
    double sum = 0;
    survival_group_fill(&filled, cells, group);
    return has_half(&filled, cells->intervals) && !isnan(survival_mean(&sum, &filled, cells).value);
}

struct estimate survival_alone(double *gradient_sum, const struct survival_cells *cells,
                               size_t group)
{
    struct survival_group filled;
    *gradient_sum = 0;
    if (!survival_is_large(cells, group) || !survival_has_whole(cells, group)) {
        return unknown;
    }
    survival_group_fill(&filled, cells, group);
    survival_set_size_over(&filled, cells, group);
    return survival_mean(gradient_sum, &filled, cells);
}
