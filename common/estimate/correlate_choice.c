/* correlate_choice.c - a pair of columns is shown where noise has made both variances large enough: what that moves. */

#include "estimate/advice.h"
#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include <math.h>

enum { SHOWN_MOST = 2, SHOWN_SLOPE = 2 };

/* For a column that one Laplace variable's upper hundredth shows: how far it is below the least, in deviations of the noise. */
static const double hundredth = 2.766;

/* What is found within `near` of the least may be such a column's. Such a column is found further above it one time in three, and
 * more than `far` above it one time in twelve: with nearer limits intervals hold too seldom where few are shown. */
static const double near = 0.75;
static const double far = 1.75;

static double squares(const struct correlate_gradient *gradient)
{
    double sum = 0;
    for (size_t k = 0; k < PAIR_CELLS; k++) {
        sum += gradient->by[k] * gradient->by[k];
    }
    return sum;
}

double correlate_noise_by(const struct correlate *all, const struct correlate_gradient *gradient)
{
    return all->moments->variance * squares(gradient);
}

/* Of a column's variance, as the first of a pair. */
static struct correlate_gradient by_variance(const struct correlate *all, size_t i)
{
    const double n = all->records;
    const double m = all->mean[i];
    return (struct correlate_gradient){{[CELL_HALF] = 2 * (m * m - all->covariance[i][i]) / n,
                                        [CELL_FIRST] = -2 * m / n,
                                        [CELL_SQUARE] = 2 / n}};
}

double correlate_noise_of_variance(const struct correlate *all, size_t i)
{
    const struct correlate_gradient gradient = by_variance(all, i);
    return sqrt(correlate_noise_by(all, &gradient));
}

double correlate_over(const struct correlate *all, size_t i)
{
    return all->covariance[i][i] / correlate_noise_of_variance(all, i) -
           1 / correlate_variance_noise_most;
}

/* A column's variance is shown where it is above the rule's least: of these, noise has made more larger than smaller. So the
 * one is taken that would be, in the mean of the shown, what was found; noise as the normal distribution's. With a = its
 * distance from the least, in standard deviations of the noise: a + phi(a)/Phi(a) is what was found. */
static struct correlate_shown shown_variance(const struct correlate *all, size_t i)
{
    const double found = all->covariance[i][i];
    const double noise = correlate_noise_of_variance(all, i);
    if (!(noise > 1e-9 * found)) {
        return (struct correlate_shown){found, 1, 0};
    }
    const double over = correlate_over(all, i);
    const double low = normal_shown(over);
    const double ratio = normal_mean_above(low);
    const double off = fmin(over - low, SHOWN_MOST);
    return (struct correlate_shown){.variance = found - noise * off,
                                    .share = off / noise,
                                    .slope = fmin(1 / (1 - ratio * (ratio + low)), SHOWN_SLOPE)};
}

/* How the noise of c_ij goes with that of c_ii: their covariance, through the sum of z_i and the count. */
static double shared_noise(const struct correlate *all, size_t i, size_t j)
{
    const double n = all->records;
    const struct correlate_gradient gradient = by_variance(all, i);
    const double by_half = 2 * (all->mean[i] * all->mean[j] - all->covariance[i][j]) / n;
    return all->moments->variance *
           (by_half * gradient.by[CELL_HALF] - all->mean[j] / n * gradient.by[CELL_FIRST]);
}

struct correlate_two correlate_found(const struct correlate *all, size_t i, size_t j)
{
    struct correlate_two out = {
        .i = i, .j = j, .first = shown_variance(all, i), .second = shown_variance(all, j)};
    const double covariance = all->covariance[i][j] - out.first.share * shared_noise(all, i, j) -
                              out.second.share * shared_noise(all, j, i);
    out.r = covariance / sqrt(out.first.variance * out.second.variance);
    return out;
}

bool correlate_is_near(const struct correlate *all, size_t i)
{
    return correlate_noise_of_variance(all, i) > 1e-9 * all->covariance[i][i] &&
           correlate_over(all, i) < far;
}

struct correlate_two correlate_let_through(const struct correlate *all, size_t i, size_t j,
                                           double share)
{
    const double noise = correlate_noise_of_variance(all, i);
    const double over = correlate_over(all, i);
    const double off =
        (over + hundredth) * fmin(fmax((far - over) / (far - near), 0), 1); /* deviations */
    struct correlate_two out = correlate_found(all, i, j);
    out.first = (struct correlate_shown){
        .variance = all->covariance[i][i] - noise * off, .slope = 1, .share = off / noise};
    out.is_pinned = true;
    const double covariance = all->covariance[i][j] -
                              share * out.first.share * shared_noise(all, i, j) -
                              out.second.share * shared_noise(all, j, i);
    out.r = covariance / sqrt(out.first.variance * out.second.variance);
    return out;
}

/* Of r, as if it were `at`: the gradient of c_ij / s_i s_j less at/2 that of log c_ii and log c_jj. */
struct correlate_gradient correlate_by_pair(const struct correlate *all,
                                            const struct correlate_two *pair, double at)
{
    const double n = all->records;
    const double m_i = all->mean[pair->i];
    const double m_j = all->mean[pair->j];
    const double spread = sqrt(pair->first.variance * pair->second.variance);
    const struct correlate_gradient first = by_variance(all, pair->i);
    const struct correlate_gradient second = by_variance(all, pair->j);
    const double of_first = at / 2 * pair->first.slope / pair->first.variance;
    const double of_second = at / 2 * pair->second.slope / pair->second.variance;
    struct correlate_gradient out = {{0}};
    out.by[CELL_HALF] = 2 * (m_i * m_j - all->covariance[pair->i][pair->j]) / n / spread -
                        of_first * first.by[CELL_HALF] - of_second * second.by[CELL_HALF];
    out.by[CELL_FIRST] = -m_j / n / spread - of_first * first.by[CELL_FIRST];
    out.by[CELL_SECOND] = -m_i / n / spread - of_second * second.by[CELL_FIRST];
    out.by[CELL_SQUARE] = -of_first * first.by[CELL_SQUARE];
    out.by[CELL_OTHER_SQUARE] = -of_second * second.by[CELL_SQUARE];
    out.by[CELL_PRODUCT] = 1 / n / spread;
    return out;
}

/* A pinned variance has no noise left, and the covariance none that goes with it. */
struct correlate_gradient correlate_by_pair_noise(const struct correlate *all,
                                                  const struct correlate_two *pair, double at)
{
    struct correlate_two own = *pair;
    own.first.slope = pair->is_pinned ? 0 : pair->first.slope;
    struct correlate_gradient out = correlate_by_pair(all, &own, at);
    if (pair->is_pinned) {
        const struct correlate_gradient by = by_variance(all, pair->i);
        const double share = shared_noise(all, pair->i, pair->j) / correlate_noise_by(all, &by) /
                             sqrt(pair->first.variance * pair->second.variance);
        for (size_t k = 0; k < PAIR_CELLS; k++) {
            out.by[k] -= share * by.by[k];
        }
    }
    return out;
}

/* Whether a pair would be given if it were asked again, with less noise or more records. */

enum { PAIR = 2 };

/* What only noise can have made is not counted, as in correlate_pair. Returns false where there may be nothing. */
static bool set_like(struct correlate_like *out, const struct correlate *all, const size_t *both,
                     const struct correlate_again *again)
{
    const double most = all->moments->records;
    const struct advice_asked records = {.found = fmin(all->records, most),
                                         .deviation = 2 * sqrt(all->moments->variance),
                                         .times = again->times,
                                         .deviation_again = 2 * sqrt(again->variance)};
    out->records = advice_least(&records);
    bool is_there = out->records > 0;
    for (size_t k = 0; k < PAIR; k++) {
        const double variance = fmin(all->covariance[both[k]][both[k]], most / all->records);
        out->mean[k] = fmin(fmax(all->mean[both[k]], -1), 1);
        out->variance[k] = advice_found(variance, correlate_noise_of_variance(all, both[k]));
        is_there = is_there && out->variance[k] > 0;
    }
    return is_there;
}

bool correlate_would_do(const struct correlate *all, size_t i, size_t j,
                        const struct correlate_again *again)
{
    const size_t both[PAIR] = {i, j};
    const bool is_two[PAIR] = {all->moments->is_two[i], all->moments->is_two[j]};
    double cell[CORRELATE_CELLS_OF_TWO];
    const struct correlate_moments moments = {.cell = cell,
                                              .columns = PAIR,
                                              .fourth = again->fourth,
                                              .is_two = is_two,
                                              .variance = again->variance,
                                              .records = all->moments->records * again->times};
    struct correlate_like like;
    struct correlate next;
    if (!set_like(&like, all, both, again)) {
        return false;
    }
    correlate_fill(cell, &like, again->fourth);
    correlate_init(&next, &moments);
    for (size_t k = 0; k < PAIR; k++) {
        like.variance[k] -= ADVICE_MOVED * correlate_noise_of_variance(&next, k);
        if (!(like.variance[k] > 0)) {
            return false;
        }
    }
    correlate_fill(cell, &like, again->fourth);
    correlate_init(&next, &moments);
    return !isnan(correlate_pair(&next, 0, 1).estimate.value);
}
