/* The bounds on what one record of a stream moves are nearly reached, whatever kappa, theta, t0 and
 * the position: by an adversary who first drives the weights as far out as they go, keeping every
 * answer where the step gains most, and then replaces a record by its mirror image. Bounds a
 * quarter lower, and those of wrong proofs, are exceeded. Nothing is drawn, so nothing fails by
 * chance. */

#include "learn/online.h"
#include "tests/support/online_kernel.h"

#include "dp/encode.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { D = 6, LONGEST = 20000 };

static double length(const double *w)
{
    double sum = 0;
    for (size_t j = 0; j < D; j++) {
        sum += w[j] * w[j];
    }
    return sqrt(sum);
}

/* w = out (cos, sin) in a plane that the diagonal is orthogonal to: the point at `along` on w's own
 * line and at `across` on the line orthogonal to it in that plane. */
static void place(double *x, const double *w, double along, double across)
{
    const double out = length(w);
    const double cosine = out > 0 ? (w[0] - w[1]) / sqrt(2) / out : 1;
    const double sine = out > 0 ? (w[2] - w[3]) / sqrt(2) / out : 0;
    const double first = (along * cosine - across * sine) / sqrt(2);
    const double second = (along * sine + across * cosine) / sqrt(2);
    const double point[D] = {first, -first, second, -second, 0, 0};
    memcpy(x, point, sizeof point);
}

/* The record at t that drives w out: its answer is the one at which ||w'|| is the largest, or as
 * near as it can come. */
static void drive(double *w, const struct online_problem *problem, uint64_t t)
{
    const double v = (double)(t + problem->t0);
    const double a = 1 - 1 / v;
    const double c = pow(v, -problem->theta) * problem->kappa * problem->kappa;
    const double out = length(w);
    const double best = problem->bound * (a - c) / (2 * a - c);
    const double along = out > 0 ? fmin(best / out, problem->kappa) : problem->kappa;
    const double across = sqrt(fmax(0, problem->kappa * problem->kappa - along * along));
    double x[D];
    place(x, w, along, across);
    online_run(w, problem, x, &problem->bound, t, 1);
}

/* Two records at s, on either side of w, that push in opposite directions along the diagonal. */
static void part(double pair[2][D], const struct online_problem *problem, uint64_t s)
{
    const double r = problem->kappa * length(pair[0]) / problem->bound;
    const double cosine = 2 * r / (1 + sqrt(1 + 8 * r * r));
    const double y = -problem->bound;
    for (size_t side = 0; side < 2; side++) {
        const double sine = (side == 0 ? 1 : -1) * sqrt(1 - cosine * cosine);
        double x[D];
        place(x, pair[side], problem->kappa * cosine, 0);
        for (size_t j = 0; j < D; j++) {
            x[j] += problem->kappa * sine / sqrt(D);
        }
        online_run(pair[side], problem, x, &y, s, 1);
    }
}

/* Empty records: what was moved fades by the regularisation alone. */
static void fade(double pair[2][D], const struct online_problem *problem, uint64_t from,
                 uint64_t to)
{
    const double x[D] = {0};
    const double y = 0;
    for (uint64_t t = from; t < to; t++) {
        online_run(pair[0], problem, x, &y, t, 1);
        online_run(pair[1], problem, x, &y, t, 1);
    }
}

static double distance(double pair[2][D])
{
    double difference[D];
    for (size_t j = 0; j < D; j++) {
        difference[j] = pair[0][j] - pair[1][j];
    }
    return length(difference);
}

/* Streams alike up to s, driven, and parted there. */
static void until(double pair[2][D], const struct online_problem *problem, uint64_t s)
{
    memset(pair, 0, 2 * sizeof pair[0]);
    for (uint64_t t = 0; t < s; t++) {
        drive(pair[0], problem, t);
    }
    memcpy(pair[1], pair[0], sizeof pair[0]);
    part(pair, problem, s);
}

static struct online_problem problem_of(double theta, double kappa, uint64_t times)
{
    struct online_problem problem = {
        .theta = theta, .kappa = kappa, .bound = 3, .grid_bits = 30, .feature_count = D};
    problem.t0 = (uint64_t)ceil(pow(kappa * kappa + 1, 1 / theta) * (1 + 1e-12)) * times;
    cr_assert(online_check(&problem, NULL) == STATUS_OK);
    return problem;
}

static const double theta_of[] = {0.51, 0.6, 0.75, 0.9, 0.99};
static const double kappa_of[] = {0.1, 0.5, 1, 3};
static const uint64_t times_of[] = {1, 10, 100};
enum { THETAS = 5, KAPPAS = 4, TIMES = 3, PROBLEMS = THETAS * KAPPAS * TIMES };

static struct online_problem problem_at(size_t i)
{
    return problem_of(theta_of[i % THETAS], kappa_of[i / THETAS % KAPPAS],
                      times_of[i / THETAS / KAPPAS]);
}

Test(online_reach, at_every_position_for_every_kappa_theta_and_t0)
{
    double least = 1;
    double least_norm = 1;
    for (size_t i = 0; i < PROBLEMS; i++) {
        const struct online_problem problem = problem_at(i);
        const uint64_t position[] = {0, 1, 5, problem.t0, 7 * problem.t0};
        for (size_t k = 0; k < sizeof position / sizeof *position; k++) {
            const uint64_t s = position[k] < LONGEST ? position[k] : LONGEST;
            double pair[2][D];
            until(pair, &problem, s);
            const double bound = online_influence_l2(&problem, s, s + 1);
            const double share = distance(pair) / bound;
            cr_assert(share <= 1, "%zu, s %zu: %.17g", i, (size_t)s, share);
            least = fmin(least, share);
            fade(pair, &problem, s + 1, 2 * s + 20);
            const double later = distance(pair) / online_influence_l2(&problem, s, 2 * s + 20);
            cr_assert(later <= 1 && later > 0.999 * share, "fades as the bound does");
        }
        double w[D] = {0};
        for (uint64_t t = 0; t < 1000; t++) {
            drive(w, &problem, t);
            const double share = length(w) / online_norm(&problem, t + 1);
            cr_assert(share <= 1 + 1e-12, "%zu, t %zu: %.17g", i, (size_t)t, share);
            least_norm = fmin(least_norm, share);
        }
    }
    cr_log_info("at least %g of the influence's bound, %g of the norm's", least, least_norm);
    /* Planted: a quarter lower is exceeded everywhere, a third lower for the norm. */
    cr_assert(least > 0.75 && least_norm > 2. / 3, "%g %g", least, least_norm);
}

enum fault {
    NO_FAULT,
    ANSWERS_FORGOTTEN, /* as if <w, x> were 0 */
    PULL_TOO_STRONG,   /* the regularisation counted twice */
    STEP_TOO_SMALL,    /* q left out: as if steps were infinitely small */
    BEGUN_TOO_LATE,    /* planted: as if half as many records had driven w */
    FADES_TWICE,       /* the square of the decay */
    FAULTS
};

/* The formulas of online_influence.c, or one with a fault. */
static double bound_with(enum fault fault, const struct online_problem *problem, uint64_t s,
                         uint64_t t)
{
    const double theta = problem->theta;
    const double kappa = problem->kappa;
    const double t0 = (double)problem->t0;
    const double seen = (double)s / (fault == BEGUN_TOO_LATE ? 2 : 1);
    const double u = (double)s - 1 + t0;
    const double q = fault == STEP_TOO_SMALL ? 0 : kappa * kappa * pow(t0, 1 - theta) / (t0 - 1);
    const double power = (fault == PULL_TOO_STRONG ? 5 : 3) - theta;
    double out = sqrt(pow(u, 1 - theta) * (1 - pow(1 - seen / u, power)) / ((2 - q) * power));
    const double small = kappa * seen / u * pow((t0 + u) / 2, 1 - theta);
    out = fault == ANSWERS_FORGOTTEN ? 0 : fmin(out, small);
    const double r = kappa * out;
    const double cosine = 2 * r / (1 + sqrt(1 + 8 * r * r));
    const double width = 2 * kappa * (1 + r * cosine) * sqrt(1 - cosine * cosine);
    const double fading = ((double)s + t0) / ((double)t - 1 + t0);
    return problem->bound * width * pow((double)s + t0, -theta) * fading *
           (fault == FADES_TWICE ? fading : 1);
}

Test(online_reach, every_wrong_bound_is_exceeded)
{
    bool seen[FAULTS] = {false};
    for (size_t i = 0; i < PROBLEMS; i++) {
        const struct online_problem problem = problem_at(i);
        for (uint64_t s = 5; s < 2000; s *= 3) {
            const uint64_t t = s + 40;
            double pair[2][D];
            until(pair, &problem, s);
            fade(pair, &problem, s + 1, t);
            const double moved = distance(pair);
            const double bound = online_influence_l2(&problem, s, t);
            cr_assert(fabs(bound_with(NO_FAULT, &problem, s, t) - bound) < 1e-6 * bound);
            for (enum fault fault = NO_FAULT; fault < FAULTS; fault++) {
                seen[fault] = seen[fault] || moved > 1.001 * bound_with(fault, &problem, s, t);
            }
        }
    }
    for (enum fault fault = NO_FAULT; fault < FAULTS; fault++) {
        cr_assert(seen[fault] == (fault != NO_FAULT), "fault %d", (int)fault);
    }
}

/* Just before a release or after one: what the record pays for all that follow, on the grid. */
Test(online_reach, the_doubling_schedule_pays_nearly_what_is_charged)
{
    enum { RELEASES = 6 };
    double least = 1;
    for (size_t i = 0; i < PROBLEMS / TIMES; i++) {
        const struct online_problem problem = problem_at(i);
        uint64_t times[ONLINE_RELEASES_MAX];
        size_t count = 0;
        online_release_times(&problem, UINT64_C(1) << 40, times, &count);
        const double factor = online_stream_factor(&problem, RELEASES);
        const uint64_t position[] = {0, times[0] - 1, times[1] - 1, times[1]};
        double most = 0;
        for (size_t k = 0; k < sizeof position / sizeof *position; k++) {
            double pair[2][D];
            uint64_t t = position[k] + 1;
            double paid = 0;
            until(pair, &problem, position[k]);
            for (size_t j = 0; j < RELEASES; j++) {
                uint64_t delta_1 = 0;
                double moved = 0;
                if (times[j] <= position[k]) {
                    continue;
                }
                fade(pair, &problem, t, times[j]);
                t = times[j];
                for (size_t d = 0; d < D; d++) {
                    moved += fabs((double)(encode_value(pair[0][d], problem.grid_bits) -
                                           encode_value(pair[1][d], problem.grid_bits)));
                }
                const double real = online_influence_l2(&problem, t - 1, t);
                delta_1 = (uint64_t)ceil(ldexp(sqrt(D) * real, (int)problem.grid_bits)) + D;
                paid += moved / (double)delta_1;
            }
            cr_assert(paid <= factor, "%zu, s %zu: %g of %g", i, (size_t)position[k], paid, factor);
            most = fmax(most, paid);
        }
        /* Planted: what is due for one release alone. */
        cr_assert(most > 1.1, "%zu: %g", i, most);
        least = fmin(least, most / factor);
    }
    cr_log_info("at least %g of the charge", least);
    cr_assert(least > 0.75, "%g", least);
}

/* The exact kernel form, a Gaussian kernel: no answer moves further than the bound at a point, and
 * a point unlike all others moves it 0.63 so far. */
Test(online_reach, answers_of_the_exact_kernel_form_move_as_far_as_the_bound_at_a_point)
{
    enum { COUNT = 80 };
    static double gram[COUNT * COUNT];
    double point[COUNT];
    double y[COUNT];
    double alpha[2][COUNT];
    double least = 1;
    for (size_t i = 0; i < THETAS; i++) {
        struct online_problem problem = problem_of(theta_of[i], 1, 1);
        problem.feature_count = COUNT;
        for (uint64_t s = 0; s + 1 < COUNT; s += 13) {
            for (size_t j = 0; j < COUNT; j++) {
                point[j] = j == s ? 100 : (double)(j % 7) / 3;
                y[j] = j % 7 < 3 ? problem.bound : -problem.bound;
            }
            for (size_t j = 0; j < COUNT * COUNT; j++) {
                const double apart = point[j / COUNT] - point[j % COUNT];
                gram[j] = exp(-apart * apart);
            }
            for (size_t side = 0; side < 2; side++) {
                y[s] = side == 0 ? problem.bound : -problem.bound;
                online_run_kernel(alpha[side], &problem, gram, y, COUNT);
            }
            double most = 0;
            for (size_t x = 0; x < COUNT; x++) {
                double moved = 0;
                for (size_t j = 0; j < COUNT; j++) {
                    moved += (alpha[0][j] - alpha[1][j]) * gram[x * COUNT + j];
                }
                most = fmax(most, fabs(moved));
            }
            const double fading = problem.kappa * online_influence_l2(&problem, s, COUNT);
            cr_assert(most <= fading && fading <= 1.001 * online_influence_point(&problem, COUNT));
            least = fmin(least, most / fading);
        }
    }
    cr_log_info("at least %g of the bound at a point", least);
    cr_assert(least > 0.6, "%g", least);
}
