/* How far one record moves a stream's weights, and what it pays for all releases together.
 *
 * With A = I - eta (x x^T + lambda I): w_{t+1} = A_t w_t + eta_t y_t x_t. Write v = t + t0 for the
 * record at t, u = t - 1 + t0 for the weights w_t, a = 1 - 1/v = 1 - eta_t lambda_t, c = eta_t
 * kappa^2 and q = c/a. From t0^theta >= kappa^2 + 1, which needs t0 >= 2: q = kappa^2 v^(1-theta)/
 * (v - 1) falls with v, and at v = t0 it is at most (t0 - t0^(1-theta))/(t0 - 1) <= 1. So ||A_t||
 * <= a. (It is so up to c = 2 a: the condition needs no rounding down.)
 *
 *  (a) Small kappa. ||w_{t+1}|| <= a ||w_t|| + kappa M v^-theta. Times v, and summed: u ||w_t|| <=
 *      kappa M sum_{j<t} (j + t0)^(1-theta) <= kappa M t ((t0 + u)/2)^(1-theta) by concavity.
 *  (b) Any kappa. With f = <w, x>, ||x|| <= kappa, |y| <= M:
 *          ||w'||^2 = a^2 ||w||^2 + eta [-2 a f (f - y) + eta ||x||^2 (f - y)^2]
 *                  <= a^2 ||w||^2 + eta [-(2a - c) f^2 + 2 (a - c) f y + c y^2],
 *      at most a^2 ||w||^2 + eta y^2 a^2/(2a - c) for any f, the last term eta a M^2/(2 - q) at
 *      most, and q <= q0, its value at t0: an answer that is far out pulls itself back. Times v^2,
 *      and summed: u^2 ||w_t||^2 <= M^2/(2 - q0) sum_{v=t0}^u v^(1-theta) (v - 1). With p = 3 -
 *      theta, v^(p-2) (v - 1) <= v^(p-1) (1 - 1/(2v))^2 <= (v - 1/2)^(p-1), which is at most the
 *      integral of r^(p-1) from v - 1 to v, as p - 1 is between 1 and 2. Hence
 *          ||w_t||^2 <= M^2 u^(1-theta) (1 - ((t0 - 1)/u)^(3-theta))/((2 - q0) (3 - theta)).
 *      online_norm, W_t, is the smaller of (a) and (b); each grows with t.
 *  (c) A record replaced. The first difference is eta_s (g - g'), g = (<w, x> - y) x, w = w_s.
 *      Along n, ||n|| = 1, <g - g', n> is the largest when |y| = |y'| = M, the signs are the worst
 *      and x, x' have the norm kappa and lie in the plane of w and n, at angles alpha, beta from w;
 *      n at phi. With sigma, delta half the sum and difference of alpha and beta it is then
 *          -kappa^2 ||w|| sin(2 sigma - phi) sin(2 delta) - 2 kappa M sin(sigma - phi) sin(delta)
 *          <= max over delta of kappa^2 ||w|| sin(2 delta) + 2 kappa M sin(delta) = S(||w||),
 *      reached by two records on either side of w: sigma = 0, phi = pi/2. Two that both push along
 *      w push in one direction, whatever their signs: so S(W) is below 2 kappa (M + kappa W), even
 *      below kappa (2 M + kappa W). cos(delta) = 2r/(1 + sqrt(1 + 8 r^2)), r = kappa W/M, is best.
 *  (d) From s + 1 on both streams apply the same A: the distance shrinks by prod (j+t0-1)/(j+t0),
 *      j = s+1 .. t-1, which is (s+t0)/u. Together Delta_2(s, t) = (s+t0)^(1-theta) S(W_s)/u; it
 *      grows with s.
 *  (e) Releases at u_1 < u_2 < .., each at least twice the one before, of scale Delta_2(t_j - 1,
 *      t_j)/epsilon: as S(W) grows, a record at s pays at most ((s+t0)/u_j)^(1 - theta) epsilon at
 *      each after s, a geometric series below 1/(1 - 2^-(1 - theta)) epsilon. online_stream_factor
 *      adds up the ratios themselves.
 *
 * All this holds in any inner product space, so for the exact kernel form in the kernel's own;
 * there |f(x)| <= kappa ||f||.
 *
 * Rounding. With e = 2^-53 and W = W_t, which no earlier norm exceeds, a step errs by at most
 * e (3 W + eta kappa ((D + 2) kappa W + 6 |r|)), |r| <= kappa W + M, to first order; errors shrink
 * as in (d), and eta v/u <= u^-theta, so that t e (3 W + kappa u^-theta (D + 8)(kappa W + M))
 * bounds their sum: half of online_rounding. Norms that exceed kappa by the rounding of a dot
 * product, and the rounding of the bounds themselves, are in slack(). */

#include "learn/online.h"

#include "base/check.h"

#include <float.h>
#include <math.h>

static const double whole_max = 9007199254740992.0; /* 2^53 */
static const double grid_share_min = 1048576;       /* 2^20 */

static void check(const struct online_problem *problem)
{
    CHECK(online_check(problem, NULL) == STATUS_OK);
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

/* (a): for kappa so small that answers never come near the bound. */
static double norm_small(const struct online_problem *problem, uint64_t t)
{
    const double u = stream_age(problem, t);
    const double middle = ((double)problem->t0 + u) / 2;
    return problem->kappa * problem->bound * ((double)t / u) * pow(middle, 1 - problem->theta);
}

/* (b) */
static double norm_pulled_back(const struct online_problem *problem, uint64_t t)
{
    const double u = stream_age(problem, t);
    const double t0 = (double)problem->t0;
    const double square = problem->kappa * problem->kappa;
    const double q = fmin(1, square * pow(t0, 1 - problem->theta) / (t0 - 1));
    const double begun = -expm1((3 - problem->theta) * log1p(-(double)t / u));
    return problem->bound *
           sqrt(pow(u, 1 - problem->theta) * begun / ((2 - q) * (3 - problem->theta)));
}

double online_norm(const struct online_problem *problem, uint64_t t)
{
    check(problem);
    if (t == 0) {
        return 0;
    }
    return fmin(norm_small(problem, t), norm_pulled_back(problem, t)) * slack(problem);
}

double online_rounding(const struct online_problem *problem, uint64_t t)
{
    check(problem);
    const double norm = online_norm(problem, t);
    const double kappa = problem->kappa;
    const double d = (double)problem->feature_count;
    const double eta = pow(stream_age(problem, t), -problem->theta);
    return DBL_EPSILON * (double)t *
           (3 * norm + kappa * eta * (d + 16) * (kappa * norm + problem->bound)) * slack(problem);
}

/* S of (c): how far apart (<w, x> - y) x can be for two records, ||w|| <= norm. */
static double step_width(const struct online_problem *problem, double norm)
{
    const double r = problem->kappa * norm / problem->bound;
    const double cosine = 2 * r / (1 + sqrt(1 + 8 * r * r));
    return 2 * problem->kappa * problem->bound * (1 + r * cosine) * sqrt(1 - cosine * cosine);
}

double online_influence_l2(const struct online_problem *problem, uint64_t s, uint64_t t)
{
    check(problem);
    CHECK(s < t);
    const double seen = (double)(s + problem->t0);
    const double exact = step_width(problem, online_norm(problem, s)) *
                         (pow(seen, 1 - problem->theta) / stream_age(problem, t));
    return exact * slack(problem) + 2 * online_rounding(problem, t);
}

double online_influence_point(const struct online_problem *problem, uint64_t t)
{
    check(problem);
    return problem->kappa * step_width(problem, online_norm(problem, t - 1)) *
           pow(stream_age(problem, t), -problem->theta) * slack(problem);
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
        return why_refuse(why, "a release needs a time of 1 to 2^52 records");
    }
    return STATUS_OK;
}

static enum status to_whole(uint64_t *whole, double value, struct why *why)
{
    if (!(value < whole_max)) {
        return why_refuse(why,
                          "the stream's weights are 2^53 grid steps or more: take a coarser grid "
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
        return why_refuse(
            why,
            "after %.17g records the grid of 2^-%u is too coarse for a stream, whose records all "
            "pay for it: take grid_bits %u or more, or stop the stream earlier",
            (double)t, problem->grid_bits, problem->grid_bits + finer_bits(problem, t, least));
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
    const double norm = online_norm(problem, t) + online_rounding(problem, t);
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

double online_endless_factor(double decay)
{
    CHECK(decay > 0);
    /* 1 - 2^-decay, without cancellation as it nears 0 */
    return 1 / -expm1(-decay * log(2)) * (1 + 16 * DBL_EPSILON);
}
