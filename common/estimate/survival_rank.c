/* survival_rank.c - the log-rank test: U_g = sum over j of d_gj - Y_gj d_j / Y_j, for all groups but the last. Its variance is
 * the hypergeometric one and the noise's, by U's gradient in the cells. Groups without records, or with so few that they say
 * nothing, are left out: else nobody would be at risk in one of them, and no interval be used. There is no test where intervals are
 * so long that it would be biased. */

#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>
#include <string.h>

enum { TESTED_MAX = SURVIVAL_GROUPS_MAX - 1, HALVINGS = 32 };

static const double deaths_least = 10;
static const double deaths_over_noise = 2;
static const double bias_over_deviation = 0.3; /* of U: a test at 5 % then rejects in 6 % */
static const double many = 0.1;                /* of those at the begin */
static const double hazard_most = 8;           /* of an interval */

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

/* Writes dU_g / d cell. Groups' cells stand one after another; those of groups that are not tested, and that of the records in
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

/* The hazard of an interval, times its length, if a group of that many at risk had the share q of all groups' deaths, and
 * losses come evenly over the interval. Of N at its begin, and E = 1 - e^-h, N E + lost h e^-h / E - lost die: of those who
 * would be lost at some time within it some die before. A loss is counted as half an interval at risk, which is right where few
 * die. */
static double hazard_of(double q, double at_risk, double lost)
{
    const double begin = at_risk + lost / 2;
    double low = 0;
    double high = hazard_most;
    for (int i = 0; i < HALVINGS; i++) {
        const double h = (low + high) / 2;
        const double dies = -expm1(-h);
        if (begin * dies + lost * h * (1 - dies) / dies - lost < q * at_risk) {
            low = h;
        } else {
            high = h;
        }
    }
    return (low + high) / 2;
}

/* A tenth of each group or more: where few are left, noise and chance make shares that say nothing, and U has little. */
static bool has_many(const struct rank *rank, size_t interval)
{
    bool has = true;
    for (size_t g = 0; g < rank->groups; g++) {
        has = has && rank->at_risk[g][interval] >= many * rank->at_risk[g][0];
    }
    return has;
}

/* What U_g has in the mean though all groups have one hazard: where groups are not lost alike, the same share of deaths is of
 * another hazard in each of them. Small, but where many die and many are lost in one interval: an end far beyond most times. */
static void expect_bias(double *bias, const struct rank *rank)
{
    const size_t k = rank->cells->intervals;
    for (size_t j = 0; j < rank->used; j++) {
        const double q = fmin(rank->death[j] / rank->all[j], 1);
        double hazard[SURVIVAL_GROUPS_MAX] = {0};
        double mean = 0;
        if (!has_many(rank, j)) {
            break;
        }
        for (size_t g = 0; g < rank->groups && q > 0; g++) {
            const double *own = rank->cells->cell + rank->group[g] * (2 * k + 1);
            hazard[g] = hazard_of(q, rank->at_risk[g][j], fmax(own[k + j], 0));
            mean += hazard[g] * rank->at_risk[g][j] / rank->all[j];
        }
        for (size_t g = 0; g + 1 < rank->groups && q > 0; g++) {
            bias[g] += rank->at_risk[g][j] * (1 - q) * (mean - hazard[g]);
        }
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
    double bias[TESTED_MAX] = {0};
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
    if (cholesky(covariance, tested) != 0) {
        return;
    }
    expect_bias(bias, &rank);
    out->log_rank_is_biased =
        cholesky_form(covariance, bias, tested) > cells_square(bias_over_deviation);
    if (!out->log_rank_is_biased) {
        out->log_rank = cholesky_form(covariance, u, tested);
        out->log_rank_p = chi_squared_above(out->log_rank, tested);
    }
}
