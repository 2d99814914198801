/* survival_rank.c - the log-rank test: U_g = sum over j of d_gj - Y_gj d_j / Y_j, for all groups but the last. Its variance is
 * the hypergeometric one and the noise's, by U's gradient in the cells. Groups without records, or with so few that they say
 * nothing, are left out: else nobody would be at risk in one of them, and no interval be used. */

#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>
#include <string.h>

enum { TESTED_MAX = SURVIVAL_GROUPS_MAX - 1 };

static const double deaths_least = 10;
static const double deaths_over_noise = 2;

struct rank {
    const struct survival_cells *cells;
    size_t groups;                     /* that are tested */
    size_t group[SURVIVAL_GROUPS_MAX]; /* which ones; all below is by the place in this list */
    double at_risk[SURVIVAL_GROUPS_MAX][SURVIVAL_INTERVALS_MAX]; /* Y_gj */
    double all[SURVIVAL_INTERVALS_MAX];                          /* Y_j */
    double death[SURVIVAL_INTERVALS_MAX];                        /* d_j */
    size_t used; /* the first intervals in which every group is at risk */
};

static double death_of(const struct rank *rank, size_t g, size_t interval)
{
    return rank->cells->cell[rank->group[g] * (2 * rank->cells->intervals + 1) + interval];
}

/* With as many at risk as a figure of the group needs, and as a curve needs deaths. */
static bool is_tested(const struct survival_group *group)
{
    return group->at_risk[0] > SURVIVAL_RISK_OVER_NOISE * group->at_risk_noise[0] &&
           group->at_risk[0] > SURVIVAL_DEATHS_LEAST;
}

static void fill(struct rank *rank, const struct survival_cells *cells)
{
    *rank = (struct rank){.cells = cells, .used = cells->intervals};
    for (size_t i = 0; i < cells->groups; i++) {
        struct survival_group group;
        survival_group_fill(&group, cells, i);
        if (!is_tested(&group)) {
            continue;
        }
        const size_t g = rank->groups++;
        rank->group[g] = i;
        rank->used = group.valid < rank->used ? group.valid : rank->used;
        for (size_t j = 0; j < cells->intervals; j++) {
            rank->at_risk[g][j] = group.at_risk[j];
            rank->all[j] += group.at_risk[j];
            rank->death[j] += death_of(rank, g, j);
        }
    }
}

static double statistic(const struct rank *rank, size_t g)
{
    double sum = 0;
    for (size_t j = 0; j < rank->used; j++) {
        sum += death_of(rank, g, j) - rank->at_risk[g][j] * rank->death[j] / rank->all[j];
    }
    return sum;
}

static double hypergeometric(const struct rank *rank, size_t g, size_t h)
{
    double sum = 0;
    for (size_t j = 0; j < rank->used; j++) {
        const double y = rank->all[j];
        const double p = rank->at_risk[g][j] / y;
        const double q = rank->at_risk[h][j] / y;
        if (y > 1) {
            sum += rank->death[j] * (y - rank->death[j]) / (y - 1) * p * ((g == h ? 1 : 0) - q);
        }
    }
    return sum;
}

/* Writes dU_g / d cell. Groups' cells stand one behind the other; those of groups that are not tested, and that of the records in
 * none, have no part. */
static void gradient(double *by, const struct rank *rank, size_t g)
{
    const size_t k = rank->cells->intervals;
    for (size_t h = 0; h < rank->groups; h++) {
        double *own = by + rank->group[h] * (2 * k + 1);
        double before = 0; /* of Y_hj, over the intervals before */
        for (size_t j = 0; j < k; j++) {
            const double y = rank->all[j];
            const bool is_used = j < rank->used;
            const double share = is_used ? rank->at_risk[g][j] / y : 0;
            const double one = is_used && g == h ? 1 : 0;
            const double here = is_used ? -rank->death[j] * (one - share) / y : 0;
            own[j] = one - share + before + here;
            own[k + j] = before + here / 2;
            before += here;
        }
        own[2 * k] = before;
    }
}

/* Deaths beyond what the noise alone may show. */
static bool has_deaths(const struct rank *rank)
{
    double counted[SURVIVAL_GROUP_CELLS_MAX] = {0};
    double deaths = 0;
    for (size_t j = 0; j < rank->used; j++) {
        deaths += rank->death[j];
        counted[j] = 1;
    }
    const double noise = rank->cells->variance * (double)rank->groups *
                         survival_inner(rank->cells, counted, counted);
    return deaths > deaths_least && deaths > deaths_over_noise * sqrt(noise);
}

void survival_log_rank(struct survival *out, const struct survival_cells *cells)
{
    const size_t width = 2 * cells->intervals + 1;
    double by[TESTED_MAX][SURVIVAL_CELLS_MAX];
    double sum[TESTED_MAX] = {0};
    double covariance[TESTED_MAX * TESTED_MAX];
    double u[TESTED_MAX];
    struct rank rank;

    fill(&rank, cells);
    out->tested = rank.groups;
    for (size_t g = 0; g < rank.groups; g++) {
        out->is_tested[rank.group[g]] = true;
    }
    const size_t tested = rank.groups > 0 ? rank.groups - 1 : 0;
    if (tested == 0 || rank.used == 0 || !has_deaths(&rank)) {
        return;
    }
    memset(by, 0, sizeof by);
    for (size_t g = 0; g < tested; g++) {
        gradient(by[g], &rank, g);
        u[g] = statistic(&rank, g);
        for (size_t h = 0; h < cells->groups; h++) {
            sum[g] += survival_weigh(cells, by[g] + h * width);
        }
    }
    for (size_t g = 0; g < tested; g++) {
        for (size_t h = 0; h <= g; h++) {
            double inner = 0;
            for (size_t i = 0; i < cells->groups; i++) {
                inner += survival_inner(cells, by[g] + i * width, by[h] + i * width);
            }
            covariance[g * tested + h] =
                hypergeometric(&rank, g, h) + survival_covariance(cells, inner, sum[g], sum[h]);
        }
    }
    if (cholesky(covariance, tested) == 0) {
        out->log_rank = cholesky_form(covariance, u, tested);
        out->log_rank_p = chi_squared_above(out->log_rank, tested);
    }
}
