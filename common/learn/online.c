/* Stochastic gradient descent on a regularised square loss, and its influences.
 *
 * With A = I - eta (x x^T + lambda I): w_{t+1} = A_t w_t + eta_t y_t x_t. As eta_t lambda_t = 1/(t
 * + t0) and eta_t kappa^2 <= 1 - 1/t0 (from t0^theta >= kappa^2 + 1), ||A_t|| <= 1 - 1/(t + t0):
 * this holds up to eta kappa^2 = 2 (1 - eta lambda), so that the condition needs no rounding down.
 *
 *  (a) ||w_{t+1}|| <= (1 - 1/(t+t0)) ||w_t|| + kappa M (t+t0)^-theta. Times t + t0, and summed:
 *      u ||w_t|| <= kappa M sum_{j<t} (j+t0)^(1-theta) <= kappa M t u^(1-theta), and t <= u.
 *  (b) A record replaced at s: |<w_s, x> - y| <= (kappa^2 + 1) M (s+t0)^(1-theta) by (a), twice,
 *      hence ||w_{s+1} - w'_{s+1}|| <= 2 kappa (kappa^2 + 1) M (s+t0)^(1 - 2 theta).
 *  (c) From s + 1 on both streams apply the same A: the distance shrinks by prod (j+t0-1)/(j+t0),
 *      j = s+1 .. t-1, which is (s+t0)/u. Together Delta_2(s, t); it grows with s.
 *  (d) Releases at u_1 < u_2 < .., each at least twice the one before, of scale Delta_2(t_j - 1,
 *      t_j)/epsilon: a record at s pays ((s+t0)/u_j)^(2 - 2 theta) epsilon at each after s, a
 *      geometric series below 1/(1 - 2^-(2 - 2 theta)) epsilon.
 *
 * Rounding. With e = 2^-53 and v = j + t0, a step errs by at most e (3 ||w|| + eta kappa ((D + 2)
 * kappa ||w|| + 6 |r|)) <= e kappa M v^(1-theta) (3 + (D + 8)(kappa^2 + 1) v^-theta) to first
 * order; errors shrink as in (c), the sum over j of v/u times it is at most half of
 * online_rounding, which takes t times the largest term. Norms that exceed kappa by the rounding of
 * a dot product, and the rounding of the bounds themselves, are in slack(). */

#include "learn/online.h"

#include "base/check.h"
#include "learn/dense.h"

#include <float.h>
#include <math.h>

static const double whole_max = 9007199254740992.0; /* 2^53 */
static const double grid_share_min = 1048576;       /* 2^20 */
static const double field_max = 1048576;
enum { GRID_BITS_MAX = 52 };

static enum status refuse(struct why *why, const char *what)
{
    why_set(why, "%s", what);
    return STATUS_INVALID;
}

enum status online_check(const struct online_problem *problem, struct why *why)
{
    if (!(problem->theta > 0.5 && problem->theta < 1)) {
        return refuse(why,
                      "theta must lie above 1/2 and below 1: outside, no bound is known on what "
                      "one record can move");
    }
    if (!(problem->kappa >= 1 / field_max && problem->kappa <= field_max)) {
        return refuse(why, "kappa, the features' largest norm, must lie between 2^-20 and 2^20");
    }
    if (!(problem->bound >= 1 / field_max && problem->bound <= field_max)) {
        return refuse(why, "bound, the largest |y|, must lie between 2^-20 and 2^20");
    }
    const double needed = problem->kappa * problem->kappa + 1;
    if (problem->t0 < 1 || problem->t0 > UINT64_C(1) << ONLINE_TIME_MAX_LOG2 ||
        !(pow((double)problem->t0, problem->theta) >= needed)) {
        why_set(why,
                "t0 = %.17g is too small, or above 2^%d: t0^theta must be at least kappa^2 + 1, so "
                "take t0 = %.0f or more",
                (double)problem->t0, ONLINE_TIME_MAX_LOG2, ceil(pow(needed, 1 / problem->theta)));
        return STATUS_INVALID;
    }
    if (problem->grid_bits > GRID_BITS_MAX) {
        return refuse(why, "grid_bits must be at most 52");
    }
    if (problem->feature_count < 1 || problem->feature_count > (size_t)1 << 24) {
        return refuse(why, "there must be 1 to 2^24 features");
    }
    return STATUS_OK;
}

static void check(const struct online_problem *problem)
{
    CHECK(online_check(problem, NULL) == STATUS_OK);
}

/* y as the bound says. Without branches on it: fmin and fmax take the number where one is none. */
static double clamped(double y, double bound)
{
    return isnan(y) ? 0 : fmin(fmax(y, -bound), bound);
}

/* What x is multiplied with, so that its norm is at most kappa: 1 as a rule. */
static double shrink_of(const double *x, size_t count, double kappa)
{
    const double norm = sqrt(dense_dot(x, x, count));
    const double shrink = isfinite(norm) ? kappa / fmax(norm, DBL_MIN) : 0;
    return fmin(shrink, 1);
}

/* Residuals this small are taken for 0, so that no product of theirs is subnormal:
 * dense_flushed. */
static double flushed(double residual)
{
    return fabs(residual) < 0x1p-100 ? 0 : residual;
}

void online_run(double *w, const struct online_problem *problem, const double *x, const double *y,
                uint64_t first, size_t count)
{
    check(problem);
    const size_t d = problem->feature_count;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)(first + i) + (double)problem->t0;
        const double *row = x + i * d;
        const double shrink = shrink_of(row, d, problem->kappa);
        const double residual =
            flushed(shrink * dense_dot(w, row, d) - clamped(y[i], problem->bound));
        const double keep = (v - 1) / v; /* 1 - eta lambda */
        const double step = -pow(v, -problem->theta) * residual * shrink;
        for (size_t j = 0; j < d; j++) {
            w[j] = keep * w[j] + step * row[j];
        }
    }
}

/* The bounds' own roundings, and norms above kappa by the rounding of D products. */
static double slack(const struct online_problem *problem)
{
    return 1 + 0x1p-49 * ((double)problem->feature_count + 16);
}

/* u = t - 1 + t0 */
static double stream_age(const struct online_problem *problem, uint64_t t)
{
    CHECK(t >= 1 && t <= UINT64_C(1) << ONLINE_TIME_MAX_LOG2);
    return (double)(t - 1 + problem->t0);
}

double online_rounding(const struct online_problem *problem, uint64_t t)
{
    check(problem);
    const double u = stream_age(problem, t);
    const double kappa = problem->kappa;
    const double d = (double)problem->feature_count;
    return DBL_EPSILON * kappa * problem->bound * (double)t *
           (3 * pow(u, 1 - problem->theta) +
            (d + 16) * (kappa * kappa + 1) * pow(u, 1 - 2 * problem->theta)) *
           slack(problem);
}

double online_influence_l2(const struct online_problem *problem, uint64_t s, uint64_t t)
{
    check(problem);
    CHECK(s < t);
    const double kappa = problem->kappa;
    const double seen = (double)(s + problem->t0);
    const double exact = 2 * kappa * (kappa * kappa + 1) * problem->bound *
                         (pow(seen, 2 - 2 * problem->theta) / stream_age(problem, t));
    return exact * slack(problem) + 2 * online_rounding(problem, t);
}

double online_sensitivity_point(const struct online_problem *problem, uint64_t t)
{
    check(problem);
    const double square = problem->kappa * problem->kappa;
    return 2 * square * (square + 1) * problem->bound *
           pow(stream_age(problem, t), 1 - 2 * problem->theta) * (1 + 8 * DBL_EPSILON);
}

/* How far position s moves the release at t in the L1 norm, in grid steps, before it is made
 * whole. */
static double influence_l1(const struct online_problem *problem, uint64_t s, uint64_t t)
{
    const double root = sqrt((double)problem->feature_count) * (1 + 4 * DBL_EPSILON);
    return ldexp(root * online_influence_l2(problem, s, t), (int)problem->grid_bits);
}

static double sensitivity_l1(const struct online_problem *problem, uint64_t t)
{
    return ceil(influence_l1(problem, t - 1, t)) + (double)problem->feature_count;
}

static enum status time_fits(uint64_t t, struct why *why)
{
    if (t < 1 || t > UINT64_C(1) << ONLINE_TIME_MAX_LOG2) {
        return refuse(why, "a release needs a time of 1 to 2^52 records");
    }
    return STATUS_OK;
}

static enum status to_whole(uint64_t *whole, double value, struct why *why)
{
    if (!(value < whole_max)) {
        return refuse(why, "the stream's weights are 2^53 grid steps or more: take a coarser grid "
                           "(fewer grid_bits)");
    }
    *whole = (uint64_t)value;
    return STATUS_OK;
}

/* How many bits more bring the sensitivity to `least`; those of a rounded-off step are not
 * counted. */
static unsigned finer_bits(const struct online_problem *problem, uint64_t t, double least)
{
    const double more = least / influence_l1(problem, t - 1, t);
    return (unsigned)ceil(log2(more));
}

enum status online_sensitivity_l1(const struct online_problem *problem, uint64_t t,
                                  uint64_t *delta_1, struct why *why)
{
    check(problem);
    const enum status status = time_fits(t, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double least = grid_share_min * (double)problem->feature_count;
    const double value = sensitivity_l1(problem, t);
    if (value < least) {
        why_set(
            why,
            "after %.17g records the grid of 2^-%u is too coarse for a stream, whose records all "
            "pay for it: take grid_bits %u or more, or stop the stream earlier",
            (double)t, problem->grid_bits, problem->grid_bits + finer_bits(problem, t, least));
        return STATUS_INVALID;
    }
    return to_whole(delta_1, value, why);
}

enum status online_range(const struct online_problem *problem, uint64_t t, uint64_t *range,
                         struct why *why)
{
    check(problem);
    const enum status status = time_fits(t, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double norm = problem->kappa * problem->bound *
                            pow(stream_age(problem, t), 1 - problem->theta) * slack(problem) +
                        online_rounding(problem, t);
    return to_whole(range, ceil(ldexp(norm, (int)problem->grid_bits)) + 1, why);
}

void online_release_times(const struct online_problem *problem, uint64_t T, uint64_t *times,
                          size_t *count)
{
    check(problem);
    const uint64_t last = UINT64_C(1) << ONLINE_TIME_MAX_LOG2;
    const uint64_t end = T < last ? T : last;
    *count = 0;
    for (uint64_t u = 2 * problem->t0; u + 1 - problem->t0 <= end; u *= 2) {
        times[(*count)++] = u + 1 - problem->t0;
    }
}

double online_stream_factor(const struct online_problem *problem, size_t releases)
{
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    double most = 0;
    online_release_times(problem, UINT64_C(1) << ONLINE_TIME_MAX_LOG2, times, &count);
    CHECK(releases <= count);
    for (size_t i = 0; i < releases; i++) {
        double sum = 0;
        for (size_t j = i; j < releases; j++) {
            const double moved =
                influence_l1(problem, times[i] - 1, times[j]) + (double)problem->feature_count;
            sum += fmin(1, moved / sensitivity_l1(problem, times[j]) * (1 + 4 * DBL_EPSILON));
        }
        most = fmax(most, sum * (1 + ONLINE_RELEASES_MAX * DBL_EPSILON));
    }
    return most;
}

double online_endless_factor(double theta)
{
    /* 1 - 2^-a, without cancellation as theta nears 1 */
    return 1 / -expm1((2 * theta - 2) * log(2)) * (1 + 16 * DBL_EPSILON);
}
