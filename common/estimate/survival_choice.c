/* survival_choice.c - what is shown of a curve, and so moved: those at risk and the group's records are enough, and noise and chance have
 * made more of these larger than smaller. The ends of intervals lie further out by what that moves. */

#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>

static const double choice_far = 3;

/* How far a normal variable is moved, in its deviations, if it is shown where it is above a limit and a hundredth are shown: the mean
 * of its upper hundredth. What is found far above the limit would be shown anyway. Noise has heavier tails, so that "far" is 3. */
static double choice_moves(double over)
{
    const double upper_hundredth = 2.6652142;
    const double near = 1;
    return upper_hundredth * fmin(fmax((choice_far - over) / (choice_far - near), 0), 1);
}

static struct survival_choice choice_of(double noise, double all)
{
    return (struct survival_choice){.up = fmax(all, 0),
                                    .down = fmax(-all, 0),
                                    .noise_up = fmax(noise, 0),
                                    .noise_down = fmax(-noise, 0)};
}

/* by: (2K + 1) the figure's gradient; sampled: its covariance with those at risk by sampling */
static struct survival_choice moved_by_choice(const double *by, double sampled,
                                              const struct survival_group *group,
                                              const struct survival_cells *cells, size_t interval)
{
    const size_t k = cells->intervals;
    const double noise = group->at_risk_noise[interval];
    const double left = group->at_risk[interval];
    double by_risk[SURVIVAL_GROUP_CELLS_MAX] = {0};
    if (!(noise > 1e-9 * left)) {
        return choice_of(0, 0);
    }
    for (size_t j = interval; j < k; j++) {
        by_risk[j] = 1;
        by_risk[k + j] = j == interval ? 0.5 : 1;
    }
    by_risk[2 * k] = 1;
    const double joint =
        survival_covariance(cells, survival_inner(cells, by, by_risk), survival_weigh(cells, by),
                            survival_weigh(cells, by_risk));
    const double both = hypot(noise, sqrt(left * fmax(1 - left / group->at_risk[0], 0)));
    const double moves = choice_moves((left - SURVIVAL_RISK_OVER_NOISE * noise) / both) / both;
    return choice_of(joint * moves, (joint + sampled) * moves);
}

/* The same of the group's records, which are shown where they are enough. Their sampling tells nothing of the curve. */
static struct survival_choice moved_by_size(const double *by, const struct survival_group *group,
                                            const struct survival_cells *cells)
{
    double all[SURVIVAL_GROUP_CELLS_MAX];
    if (isinf(group->size_over)) {
        return choice_of(0, 0);
    }
    for (size_t i = 0; i < 2 * cells->intervals + 1; i++) {
        all[i] = 1;
    }
    const double joint = survival_covariance(cells, survival_inner(cells, by, all),
                                             survival_weigh(cells, by), survival_weigh(cells, all));
    const double moved = joint * choice_moves(group->size_over) / group->size_deviation;
    return choice_of(moved, moved);
}

static struct survival_choice added(struct survival_choice a, struct survival_choice b)
{
    return (struct survival_choice){a.up + b.up, a.down + b.down, a.noise_up + b.noise_up,
                                    a.noise_down + b.noise_down};
}

/* Of two that go together: what moves further. */
static struct survival_choice further(struct survival_choice a, struct survival_choice b)
{
    return (struct survival_choice){fmax(a.up, b.up), fmax(a.down, b.down),
                                    fmax(a.noise_up, b.noise_up), fmax(a.noise_down, b.noise_down)};
}

double survival_records(const struct survival_cells *cells, size_t group)
{
    const double *own = cells->cell + group * (2 * cells->intervals + 1);
    double records = 0;
    for (size_t i = 0; i < 2 * cells->intervals + 1; i++) {
        records += own[i];
    }
    return records;
}

static double noise_of_records(const struct survival_cells *cells)
{
    double all[SURVIVAL_GROUP_CELLS_MAX];
    for (size_t i = 0; i < 2 * cells->intervals + 1; i++) {
        all[i] = 1;
    }
    const double weighed = survival_weigh(cells, all);
    return sqrt(
        fmax(0, survival_covariance(cells, survival_inner(cells, all, all), weighed, weighed)));
}

bool survival_is_hidden(const struct survival_cells *cells, size_t group)
{
    const double noise = noise_of_records(cells);
    double all = 0;
    for (size_t g = 0; g < cells->groups; g++) {
        all += survival_records(cells, g);
    }
    return cells_is_hidden(survival_records(cells, group), noise * noise, all);
}

void survival_set_size_over(struct survival_group *out, const struct survival_cells *cells,
                            size_t group)
{
    enum { HALVINGS = 6 };
    const struct survival_public known = {
        .groups = cells->groups, .variance = cells->variance, .block = cells->block};
    const double records = survival_records(cells, group);
    const double noise = noise_of_records(cells);
    out->size_deviation = hypot(noise, sqrt(records));
    double low = records - choice_far * out->size_deviation;
    double high = records;
    if (!(noise > 1e-9 * records) ||
        (low > 0 && survival_suffices(low, &known, cells->intervals))) {
        return;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = fmax((low + high) / 2, 1);
        *(survival_suffices(middle, &known, cells->intervals) ? &high : &low) = middle;
    }
    out->size_over = (records - high) / out->size_deviation;
}

/* Of L_J, by those at risk in an interval. */
static struct survival_choice moved_by_risk(const struct survival_group *group,
                                            const struct survival_cells *cells, size_t last,
                                            size_t interval)
{
    return moved_by_choice(group->gradient[last], group->at_risk[interval] * group->greenwood[last],
                           group, cells, interval);
}

/* Half of the points are shown, or none: a point before also needs those at risk in the last of that half. */
struct survival_choice survival_point_moves(const struct survival_group *group,
                                            const struct survival_cells *cells, size_t point)
{
    const size_t half = (cells->intervals - 1) / 2;
    return added(further(moved_by_risk(group, cells, point, point),
                         moved_by_risk(group, cells, point, point < half ? half : point)),
                 moved_by_size(group->gradient[point], group, cells));
}

/* A mean is shown where enough are at risk in the last interval. */
struct survival_choice survival_mean_moves(const double *weight, const struct survival_group *group,
                                           const struct survival_cells *cells)
{
    const size_t k = cells->intervals;
    double by[SURVIVAL_GROUP_CELLS_MAX] = {0};
    double sampled = 0;
    for (size_t j = 0; j < k; j++) {
        sampled += group->at_risk[k - 1] * weight[j] * group->greenwood[j];
        for (size_t i = 0; i < 2 * k + 1; i++) {
            by[i] += weight[j] * group->gradient[j][i];
        }
    }
    return added(moved_by_choice(by, sampled, group, cells, k - 1),
                 moved_by_size(by, group, cells));
}
