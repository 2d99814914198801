/* Renyi divergences of sampled noise at every order, whole or not, against the integrals themselves by
 * the trapezoidal rule in long double (for Gaussians its error falls faster than any power) or
 * Simpson's (Laplace's loss is constant outside [0, 1] and smooth inside), in both directions; and what
 * replacing a record costs more than removing it. */

#include "account/curve.h"
#include "account/pure.h"
#include "account/renyi.h"
#include "unit/common/account/closed_vectors.h"

#include <stdbool.h>
#include <stdlib.h>

static struct privacy_event sampled(enum mechanism mechanism, double parameter, double rate,
                                    enum neighbours neighbours)
{
    struct privacy_event event = event_of(mechanism, parameter, 1);
    event.sampling = rate;
    event.neighbours = neighbours;
    return event;
}

/* The part of (moment - 1) that outcomes of this mu_0-mass and this ratio mu_1/mu_0 contribute; added: P
 * is mu_0. The mean of the ratio is 1, so a multiple of (ratio - 1) is subtracted and nothing cancels. */
static long double term(long double mass, long double r, long double rate, long double alpha,
                        bool added)
{
    long double more = rate * (r - 1);
    long double power = added ? 1 - alpha : alpha;
    return mass * (expm1l(power * log1pl(more)) - power * more);
}

static long double gaussian(long double sigma, long double rate, long double alpha, bool added)
{
    const long double step = 1 / 32.0L;
    long double sum = 0;
    for (int i = 0; i < (60 + alpha / sigma) / step; i++) {
        long double x = -30 + i * step;
        long double mass = expl(-x * x / 2) * step / sqrtl(2 * acosl(-1.0L));
        sum += term(mass, expl(x / sigma - 1 / (2 * sigma * sigma)), rate, alpha, added);
    }
    return log1pl(sum) / (alpha - 1);
}

static long double laplace(long double scale, long double rate, long double alpha, bool added)
{
    enum { CELLS = 2000 };
    long double e = 1 / scale;
    long double sum = term(0.5L, expl(-e), rate, alpha, added) +
                      term(0.5L * expl(-e), expl(e), rate, alpha, added);
    for (int i = 0; i <= 2 * CELLS; i++) { /* Simpson's rule */
        long double x = (long double)i / (2 * CELLS);
        long double weight = (i == 0 || i == 2 * CELLS ? 1 : i % 2 == 1 ? 4 : 2) / (6.0L * CELLS);
        sum += term(weight * e / 2 * expl(-x * e), expl((2 * x - 1) * e), rate, alpha, added);
    }
    return log1pl(sum) / (alpha - 1);
}

static const double orders[] = {1.01, 1.25, 1.5, 1.9, 2, 2.3, 2.5, 3, 4.7, 8, 20.5, 64};

enum { ORDERS = sizeof orders / sizeof orders[0] };

/* Gaussian noise by its sums of cells, at whole orders exactly; of Laplace's the other orders are chords
 * between them: near the truth from 8 up, up to three times it near order 1. */
Test(renyi_sampled, every_order_is_above_both_directions)
{
    static const double rates[] = {0.001, 0.1, 0.6};
    static const double sizes[] = {0.7, 1.5, 6};
    for (size_t i = 0; i < 9 * ORDERS; i++) {
        double rate = rates[i % 3];
        double size = sizes[i / 3 % 3];
        double alpha = orders[i / 9];
        struct privacy_event noise[] = {
            sampled(MECHANISM_GAUSSIAN, size, rate, NEIGHBOURS_ADD_REMOVE),
            sampled(MECHANISM_LAPLACE, size, rate, NEIGHBOURS_ADD_REMOVE)};
        long double truth[2][2] = {
            {gaussian(size, rate, alpha, false), gaussian(size, rate, alpha, true)},
            {laplace(size, rate, alpha, false), laplace(size, rate, alpha, true)}};
        for (size_t j = 0; j < 2; j++) {
            long double worse = fmaxl(truth[j][0], truth[j][1]);
            double bound = renyi_divergence(&noise[j], alpha);
            long double slack = j == 0 ? 1e-13L : 1e-7L;
            long double chord = j == 0 ? 0.01L : alpha < 2 ? 2.5L : 0.7L;
            long double above = floor(alpha) == alpha ? 1e-6L : chord;
            cr_expect(bound >= worse * (1 - slack) && bound <= worse * (1 + above),
                      "%s %g, rate %g, order %g: %.17g, truth %.17Lg",
                      event_mechanism_name(noise[j].mechanism), size, rate, alpha, bound, worse);
        }
    }
}

/* E_Q[max(0, dP/dQ - c)] of a sampled Gaussian record removed, at c = 1 + q (e^u - 1). */
static long double curve_at(long double m, long double rate, long double u)
{
    const long double root = sqrtl(2);
    return rate * (erfcl((u / m - m / 2) / root) - expl(u) * erfcl((u / m + m / 2) / root)) / 2;
}

/* What sampled.c says of the pair that dominates replaced records: alpha (alpha - 1) times the integral
 * over c >= 1 of (c^(alpha-2) + c^(-alpha-1)) H_c, by Simpson's rule; with `one_order`, what is left of
 * it when one order of the neighbours is forgotten. */
static long double from_curve(double sigma, double q, long double alpha, bool one_order)
{
    enum { CELLS = 3000 };
    const long double m = 1 / (long double)sigma;
    const long double rate = q;
    const long double width = (m * (12 + alpha * m)) / CELLS;
    long double sum = 0;
    for (int i = 0; i <= CELLS; i++) {
        const long double u = i * width;
        const long double log_c = log1pl(rate * expm1l(u));
        const long double weight = i == 0 || i == CELLS ? 1 : i % 2 == 1 ? 4 : 2;
        const long double powers =
            expl((alpha - 2) * log_c) + (one_order ? 0 : expl(-(alpha + 1) * log_c));
        sum += weight * width / 3 * powers * curve_at(m, rate, u) * rate * expl(u);
    }
    return log1pl(alpha * (alpha - 1) * sum) / (alpha - 1);
}

/* The pair itself: a record that moves the sum by a is replaced by one that moves it by b. */
static long double exchanged(double sigma, double q, long double alpha, long double a,
                             long double b)
{
    const long double rate = q;
    const long double s = sigma;
    const long double step = 1 / 32.0L;
    long double sum = 0;
    for (int i = 0; i * step < 60 + 2 * alpha / s; i++) {
        const long double x = -30 - alpha / s + i * step;
        const long double without = (1 - rate) * expl(-x * x / 2);
        const long double p = without + rate * expl(-(x - a / s) * (x - a / s) / 2);
        const long double r = without + rate * expl(-(x - b / s) * (x - b / s) / 2);
        sum += r > 0 ? r * (expm1l(alpha * logl(p / r)) - alpha * (p - r) / r) : 0;
    }
    return log1pl(sum * step / sqrtl(2 * acosl(-1.0L))) / (alpha - 1);
}

/* Above both that integral, hardly, and every exchange of a record for another; one order of the
 * neighbours alone would not be. */
Test(renyi_sampled, a_record_replaced_costs_what_the_symmetric_pair_costs)
{
    static const double rates[] = {0.001, 0.02, 0.3, 0.9};
    static const double sigmas[] = {0.8, 2, 20};
    unsigned caught = 0;
    for (size_t i = 0; i < 12 * ORDERS; i++) {
        const double rate = rates[i % 4];
        const double sigma = sigmas[i / 4 % 3];
        const double alpha = orders[i / 12];
        if (alpha / sigma > 20) {
            continue; /* the unsampled bound is the lesser one */
        }
        const struct privacy_event whole = event_of(MECHANISM_GAUSSIAN, sigma, 1);
        const struct privacy_event event =
            sampled(MECHANISM_GAUSSIAN, sigma, rate, NEIGHBOURS_REPLACE_ONE);
        const double bound = renyi_divergence(&event, alpha);
        const long double pair =
            fminl(from_curve(sigma, rate, alpha, false), renyi_divergence(&whole, alpha));
        cr_expect(bound >= pair * (1 - 1e-9L) && bound <= pair * 1.02L,
                  "sigma %g, rate %g, order %g: %.12g, not %.12Lg", sigma, rate, alpha, bound,
                  pair);
        for (int j = 0; j <= 4; j++) {
            const long double a = 1 - j / 4.0L;
            const long double truth = exchanged(sigma, rate, alpha, a, a - 1);
            cr_expect(truth <= bound * (1 + 1e-9L) + 1e-15L,
                      "sigma %g, rate %g, order %g, from %Lg: %.12Lg of %.12g", sigma, rate, alpha,
                      a, truth, bound);
        }
        caught += from_curve(sigma, rate, alpha, true) < exchanged(sigma, rate, alpha, 0.5L, -0.5L);
    }
    cr_expect_gt(caught, 10);
}

/* ln of the moment that sampled.c has for noise other than Gaussian: e^moment, of a record removed, and the
 * lesser of its two surcharges, this part of it, with alpha - 1 + further in place of alpha - 1. */
static long double surcharged(long double moment, long double second, long double alpha,
                              long double part, long double further)
{
    const long double growth = alpha * (alpha - 1 + further) / 2 * expm1l(second);
    return logl(expl(moment) + part * fminl(growth, expm1l(moment)));
}

/* Laplace noise, in one integer too, pays that surcharge and no other: each of the two where it is the
 * lesser one. Planted: a thousandth less, or more, of it; alpha^2 in place of alpha (alpha - 1). */
Test(renyi_sampled, a_record_replaced_pays_all_of_its_surcharge)
{
    static const enum mechanism noises[] = {MECHANISM_LAPLACE, MECHANISM_DISCRETE_LAPLACE};
    static const double rates[] = {0.001, 0.05, 0.3};
    static const double scales[] = {0.3, 1.5, 6};
    unsigned by_growth = 0;
    unsigned by_itself = 0;
    unsigned less = 0;
    unsigned more = 0;
    unsigned squared = 0;
    for (size_t i = 0; i < 18 * ORDERS; i++) {
        const double alpha = orders[i / 18];
        struct privacy_event event =
            sampled(noises[i % 2], scales[i / 6 % 3], rates[i / 2 % 3], NEIGHBOURS_REPLACE_ONE);
        const double bound = renyi_divergence(&event, alpha);
        const double pure = curve_pure(pure_epsilon(&event), alpha);
        event.neighbours = NEIGHBOURS_ADD_REMOVE;
        const long double moment = (alpha - 1) * (long double)renyi_divergence(&event, alpha);
        const long double second = renyi_divergence(&event, 2);
        const long double wanted = surcharged(moment, second, alpha, 1, 0) / (alpha - 1);
        event.sampling = 1;
        const long double least = fminl(wanted, fmin(pure, renyi_divergence(&event, alpha)));
        cr_expect(bound >= least * (1 - 1e-9L) && bound <= least * (1 + 1e-9L),
                  "%s %g, rate %g, order %g: %.17g, not %.17Lg",
                  event_mechanism_name(event.mechanism), event.parameter, rates[i / 2 % 3], alpha,
                  bound, least);
        if (wanted > least) {
            continue;
        }
        const bool grows = alpha * (alpha - 1) / 2 * expm1l(second) < expm1l(moment);
        by_growth += grows;
        by_itself += !grows;
        less += surcharged(moment, second, alpha, 0.999L, 0) / (alpha - 1) < bound * (1 - 1e-9);
        more += surcharged(moment, second, alpha, 1.001L, 0) / (alpha - 1) > bound * (1 + 1e-9);
        squared +=
            grows && surcharged(moment, second, alpha, 1, 1) / (alpha - 1) > bound * (1 + 1e-9);
    }
    cr_expect(by_growth >= 50 && by_itself >= 5, "%u and %u", by_growth, by_itself);
    cr_expect(less >= 50 && more >= 50 && squared >= 50, "%u, %u, %u", less, more, squared);
}

enum { SPAN = 25, BALL = 3 };

/* Discrete noise on two integers, on a square that leaves out less than 1e-11. */
struct cells {
    long double mass[SPAN][SPAN];
};

static void centre(struct cells *cells, const struct privacy_event *noise, int x, int y)
{
    long double sum = 0;
    for (int i = 0; i < SPAN * SPAN; i++) {
        const int row = i / SPAN - SPAN / 2 - x;
        const int column = i % SPAN - SPAN / 2 - y;
        const long double a = row;
        const long double b = column;
        const long double s = noise->parameter;
        const long double mass =
            expl(noise->mechanism == MECHANISM_DISCRETE_GAUSSIAN ? -(a * a + b * b) / (2 * s * s)
                                                                 : -(fabsl(a) + fabsl(b)) / s);
        cells->mass[i / SPAN][i % SPAN] = mass;
        sum += mass;
    }
    for (int i = 0; i < SPAN * SPAN; i++) {
        cells->mass[i / SPAN][i % SPAN] /= sum;
    }
}

static long double replaced(const struct cells cells[3], long double rate, long double alpha)
{
    long double sum = 0;
    for (int i = 0; i < SPAN * SPAN; i++) {
        const long double without = (1 - rate) * cells[0].mass[i / SPAN][i % SPAN];
        const long double p = without + rate * cells[1].mass[i / SPAN][i % SPAN];
        const long double q = without + rate * cells[2].mass[i / SPAN][i % SPAN];
        sum += q * (expm1l(alpha * log1pl((p - q) / q)) - alpha * (p - q) / q);
    }
    return log1pl(sum) / (alpha - 1);
}

static bool is_within(const struct privacy_event *noise, int x, int y)
{
    return noise->mechanism == MECHANISM_DISCRETE_GAUSSIAN
               ? x * x + y * y <= (int)(noise->sensitivity * noise->sensitivity)
               : abs(x) + abs(y) <= (int)noise->sensitivity;
}

/* Every pair of two whole numbers that a record and its replacement may add. The curves of such vectors
 * are not ordered by their length alone, as those of one real number are, on which sampled.c's proof
 * rests; nothing is above it here either. Planted: half the sensitivity. */
Test(renyi_sampled, nothing_that_replaces_two_integers_is_above)
{
    static const struct {
        enum mechanism mechanism;
        double parameter;
        double rate;
    } noises[] = {
        {MECHANISM_DISCRETE_GAUSSIAN, 0.5, 0.3}, {MECHANISM_DISCRETE_GAUSSIAN, 1, 0.05},
        {MECHANISM_DISCRETE_GAUSSIAN, 1, 0.9},   {MECHANISM_DISCRETE_GAUSSIAN, 1.3, 0.4},
        {MECHANISM_DISCRETE_LAPLACE, 0.3, 0.5},  {MECHANISM_DISCRETE_LAPLACE, 0.35, 0.05}};
    static const double few[] = {1.05, 1.5, 1.95, 2.5, 6};
    unsigned caught = 0;
    for (size_t n = 0; n < sizeof noises / sizeof noises[0]; n++) {
        struct privacy_event noise = sampled(noises[n].mechanism, noises[n].parameter,
                                             noises[n].rate, NEIGHBOURS_REPLACE_ONE);
        struct privacy_event half = noise;
        struct cells cells[3];
        noise.sensitivity = BALL;
        half.sensitivity = 1;
        centre(&cells[0], &noise, 0, 0);
        for (int pair = 0; pair < 16 * (2 * BALL + 1) * (2 * BALL + 1); pair++) {
            const int side = 2 * BALL + 1;
            const int x = pair / (4 * side * side);
            const int y = pair / (side * side) % 4;
            const int u = pair / side % side - BALL;
            const int v = pair % side - BALL;
            if (y > x || !is_within(&noise, x, y) || !is_within(&noise, u, v) ||
                !is_within(&noise, x - u, y - v)) {
                continue;
            }
            centre(&cells[1], &noise, x, y);
            centre(&cells[2], &noise, u, v);
            for (size_t o = 0; o < sizeof few / sizeof few[0]; o++) {
                const long double truth = replaced(cells, noise.sampling, few[o]);
                const double bound = renyi_divergence(&noise, few[o]);
                cr_expect(truth <= bound * (1 + 1e-9L) + 1e-15L,
                          "noise %zu, order %g, (%d, %d) for (%d, %d): %.17Lg of %.17g", n, few[o],
                          x, y, u, v, truth, bound);
                caught += truth > renyi_divergence(&half, few[o]);
            }
        }
    }
    cr_expect_gt(caught, 1000);
}
