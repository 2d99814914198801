/* between_survival.c - what each site's survival curves say: restricted means, their difference, and the hazards' ratio.
 *
 * The ratio is e^b where b solves U(b) = sum over j of d_1j - d_j p_j = 0, p_j = T_1j e^b / (T_0j + T_1j e^b): of the deaths in an
 * interval, the second group has the share that its time at risk and its hazard give it. It is the log-rank test's statistic where
 * b = 0. T_gj = later cells + d_gj/2 + c_gj/2: a death and a censoring lie in the interval's middle on average. */

#include "estimate/between.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>
#include <string.h>

enum { STEPS = 50, PAIR = 2 };

static const struct between_site unknown = {NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
static const double deaths_least = 10;
static const double deaths_over_noise = 4;
static const double information_noise_most = 0.3;
static const double log_ratio_most = 5;

/* All sites' cells as one site's. cell: (SURVIVAL_CELLS) */
static struct survival_cells pool(double *cell, const struct survival_cells *site, size_t count)
{
    struct survival_cells out = site[0];
    const size_t m = SURVIVAL_CELLS(out.groups, out.intervals);
    memset(cell, 0, m * sizeof *cell);
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < m; c++) {
            cell[c] += site[i].cell[c];
        }
    }
    out.cell = cell;
    out.variance *= (double)count;
    return out;
}

/* The sampling variance of a group's mean in a site, if its curve were that of all sites: for by its own curve a site would weigh
 * more that chance let live long. */
static double sampling_variance(const struct estimate *own, const struct survival_cells *site,
                                const struct survival_cells *all, size_t group)
{
    double sum = 0;
    const double pooled = survival_alone(&sum, all, group).sampling;
    return isnan(pooled)
               ? own->sampling * own->sampling
               : pooled * pooled * survival_records(all, group) / survival_records(site, group);
}

void between_means(struct between_site *out, const struct survival_cells *site, size_t count,
                   size_t group, bool is_difference)
{
    double cell[SURVIVAL_CELLS_MAX];
    const struct survival_cells pooled = pool(cell, site, count);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        double first_sum = 0;
        struct estimate own = survival_alone(&sum, &site[i], group);
        double variance =
            isnan(own.value) ? NAN : sampling_variance(&own, &site[i], &pooled, group);
        if (is_difference) {
            const struct estimate first = survival_alone(&first_sum, &site[i], 0);
            own =
                survival_difference(&own, &first, survival_covariance(&site[i], 0, sum, first_sum));
            variance += sampling_variance(&first, &site[i], &pooled, 0);
        }
        out[i] = isnan(own.value) ? unknown
                                  : (struct between_site){.value = own.value,
                                                          .sampling = sqrt(variance),
                                                          .noise = own.noise,
                                                          .low = own.low,
                                                          .high = own.high,
                                                          .weight = NAN};
    }
}

/* No end where the curve's intervals do not cross one half before the last time. */
void between_medians(struct between_site *out, const struct survival_cells *site, size_t count,
                     size_t group)
{
    for (size_t i = 0; i < count; i++) {
        struct survival own;
        survival_estimate(&own, &site[i]);
        out[i] = unknown;
        out[i].value = own.curve[group].median.value;
        out[i].low = own.curve[group].median.low;
        out[i].high = own.curve[group].median.high;
    }
}

/* The first group and another. */
struct pair {
    const struct survival_cells *cells;
    size_t group[PAIR];
    double time[PAIR][SURVIVAL_INTERVALS_MAX];
    size_t used; /* the first intervals in which both are at risk */
};

static double death_of(const struct pair *pair, size_t side, size_t interval)
{
    return pair->cells->cell[pair->group[side] * (2 * pair->cells->intervals + 1) + interval];
}

static void fill(struct pair *pair, const struct survival_cells *cells, size_t group)
{
    *pair = (struct pair){.cells = cells, .group = {0, group}, .used = cells->intervals};
    for (size_t side = 0; side < PAIR; side++) {
        struct survival_group filled;
        survival_group_fill(&filled, cells, pair->group[side]);
        pair->used = filled.valid < pair->used ? filled.valid : pair->used;
        for (size_t j = 0; j < cells->intervals; j++) {
            pair->time[side][j] = filled.at_risk[j] - death_of(pair, side, j) / 2;
        }
    }
}

/* Each group has deaths beyond what the noise alone may show. */
static bool has_deaths(const struct pair *pair)
{
    double counted[SURVIVAL_GROUP_CELLS_MAX] = {0};
    for (size_t j = 0; j < pair->used; j++) {
        counted[j] = 1;
    }
    const double noise =
        sqrt(pair->cells->variance * survival_inner(pair->cells, counted, counted));
    for (size_t side = 0; side < PAIR; side++) {
        double deaths = 0;
        for (size_t j = 0; j < pair->used; j++) {
            deaths += death_of(pair, side, j);
        }
        if (!(deaths > deaths_least) || !(deaths > deaths_over_noise * noise)) {
            return false;
        }
    }
    return pair->used > 0;
}

static double share_of(const struct pair *pair, double b, size_t j)
{
    const double second = pair->time[1][j] * exp(b);
    return second / (pair->time[0][j] + second);
}

static double score(double *information, const struct pair *pair, double b)
{
    double u = 0;
    *information = 0;
    for (size_t j = 0; j < pair->used; j++) {
        const double all = death_of(pair, 0, j) + death_of(pair, 1, j);
        const double p = share_of(pair, b, j);
        u += death_of(pair, 1, j) - all * p;
        *information += all * p * (1 - p);
    }
    return u;
}

/* U falls in b. */
static double solve(const struct pair *pair)
{
    double low = -log_ratio_most;
    double high = log_ratio_most;
    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        double information = 0;
        *(score(&information, pair, middle) > 0 ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* The variance of U by the noise, from its gradient in both groups' cells. */
static double noise_of_score(const struct pair *pair, double b)
{
    const size_t k = pair->cells->intervals;
    double inner = 0;
    double weighed = 0;
    for (size_t side = 0; side < PAIR; side++) {
        double by[SURVIVAL_GROUP_CELLS_MAX] = {0};
        double before = 0; /* by the time at risk of the intervals before */
        for (size_t j = 0; j <= k; j++) {
            const bool is_used = j < pair->used;
            const double p = is_used ? share_of(pair, b, j) : 0;
            const double all = is_used ? death_of(pair, 0, j) + death_of(pair, 1, j) : 0;
            const double by_time =
                is_used ? (side == 1 ? -1 : 1) * all * p * (1 - p) / pair->time[side][j] : 0;
            by[k + j] = before + by_time / 2; /* of j = k: still there */
            if (j < k) {
                by[j] = by[k + j] + (is_used ? (double)side - p : 0);
            }
            before += by_time;
        }
        inner += survival_inner(pair->cells, by, by);
        weighed += survival_weigh(pair->cells, by);
    }
    return survival_covariance(pair->cells, inner, weighed, weighed);
}

static double noise_of_information(const struct pair *pair, double b)
{
    double by[SURVIVAL_GROUP_CELLS_MAX] = {0};
    for (size_t j = 0; j < pair->used; j++) {
        const double p = share_of(pair, b, j);
        by[j] = p * (1 - p);
    }
    return sqrt(pair->cells->variance * PAIR * survival_inner(pair->cells, by, by));
}

void between_hazards(struct between_site *out, const struct survival_cells *site, size_t count,
                     size_t group)
{
    double cell[SURVIVAL_CELLS_MAX];
    struct pair all;
    const struct survival_cells pooled = pool(cell, site, count);
    CHECK(group > 0 && group < site->groups);
    fill(&all, &pooled, group);
    const double common = has_deaths(&all) ? solve(&all) : 0;
    for (size_t i = 0; i < count; i++) {
        struct pair own;
        double information = 0;
        double as_all = 0;
        out[i] = unknown;
        fill(&own, &site[i], group);
        if (!has_deaths(&own)) {
            continue;
        }
        const double b = solve(&own);
        (void)score(&information, &own, b);
        (void)score(&as_all, &own, common);
        const double doubt = noise_of_information(&own, b) / information;
        if (!(information > 0) || !(as_all > 0) || !(doubt < information_noise_most) ||
            !(fabs(b) < log_ratio_most - 1)) {
            continue;
        }
        const double noise = sqrt(fmax(0, noise_of_score(&own, b)));
        /* b is a quotient of noisy sums: its interval is wider as Fieller's is. */
        const double fieller = 1 - ESTIMATE_Z * ESTIMATE_Z * doubt * doubt;
        const double reach = ESTIMATE_Z *
                             sqrt(1 / information + noise * noise / information / information) /
                             fieller;
        out[i] = (struct between_site){.value = b,
                                       .sampling = 1 / sqrt(as_all),
                                       .noise = noise / information,
                                       .low = b - reach,
                                       .high = b + reach,
                                       .weight = NAN};
    }
}

double between_expect_hazards(const struct survival_public *known, size_t intervals)
{
    double cell[SURVIVAL_CELLS_MAX];
    struct between_site site;
    const struct survival_cells cells = {cell, known->groups,   intervals,
                                         1,    known->variance, known->block};
    survival_expect_cells(cell, known, intervals);
    between_hazards(&site, &cells, 1, 1);
    return (site.high - site.low) / 2;
}

/* What a site of some number of records is asked for. */
struct asked_of_site {
    const struct survival_public *known;
    size_t intervals;
};

static bool has_hazards(double records, const void *of)
{
    const struct asked_of_site *asked = of;
    struct survival_public with = *asked->known;
    with.records = records;
    return !isnan(between_expect_hazards(&with, asked->intervals));
}

double between_need_hazards(const struct survival_public *known, size_t intervals)
{
    const struct asked_of_site asked = {known, intervals};
    return cells_fewest_records(has_hazards, &asked);
}
