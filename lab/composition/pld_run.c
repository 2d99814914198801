/* Privacy losses on a grid, by connecting the dots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
 * 2022, arXiv 2207.04380).
 *
 * A cell of the grid holds outcomes whose losses lie between two grid points, P-mass p and Q-mass
 * q. Its mass moves to the two ends so that both p and q stay: an outcome of loss d above the lower
 * end goes up with probability (1 - e^-d)/(1 - e^-step). The new pair dominates the true one (its
 * hockey-stick curve joins the true curve's values at the grid points by straight lines in
 * e^epsilon, and the curve is convex), so compositions of new pairs dominate compositions of true
 * ones. From there on only distributions under P matter: E[(1 - e^(epsilon - L))+] grows when mass moves to
 * larger losses, so the share that goes up is rounded up by what rounding may have made of it.
 *
 * How much it adds. With e = new loss - true loss, E[e^-e | L] = 1 and |e| <= step. For a share t
 * up, d(t) = -ln(1 - t (1 - e^-step)) is convex with d'' <= (e^step - 1)^2, so E[e | L] = t step -
 * d <= t (1 - t) (e^step - 1)^2/2, and at most step - d; E[e^2 | L] = t (1 - t) step^2 + E[e |
 * L]^2; t (1 - t) is concave, so the cell's mean share serves. On wide steps 1 - t is lost to
 * rounding where (e^step - 1)^2 is not, so both bounds are of the t (1 - t) that can be meant. drift
 * and variance add these up: they make the lower bound of pld.c where no optimistic
 * distribution (pld_run_optimistic.c) does.
 *
 * Bounded range e. The losses of one draw lie in [t - e, t] for some t in [0, e], which an adversary may
 * choose anew for every draw. For given t the hockey-stick curve is largest when they are the two ends
 * alone (H_a is an expectation of a convex function of P/Q, whose mean is 1): q (e^t - a), with q =
 * (e^(e-t) - 1)/(e^e - 1) (Dong, Durfee, Rogers 2020). Over t that is largest at t = (e + ln a)/2:
 *
 *     H_a = (e^(e/2) - sqrt(a))^2/(e^e - 1), e^-e <= a <= e^e.
 *
 * It is convex and its own reflection, so a pair has it, and dominates every draw in both orders: the
 * losses have density e^(l/2) under P and e^(-l/2) under Q on [-e, e], but for one factor. Laplace noise
 * without its two single losses.
 *
 * Sampling. With mu_0 the output without the record and mu_1 with it, P = (1-q) mu_0 + q mu_1, Q =
 * mu_0 (record removed; added: the other way round). A record replaced is another pair: (1-q) mu_0
 * + q mu_1 against (1-q) mu_0 + q mu_1'. With a = 1 + q (e^eps - 1) >= 1, advanced joint
 * convexity (Balle, Barthe, Gaboardi 2018, theorem 2) makes its H_a q times H_(e^eps) of mu_1
 * against (1-b) mu_0 + b mu_1', b = a e^-eps, at most q H_(e^eps)(S), which IS the
 * remove pair's H_a. In both orders; and H_a(P, Q) = 1 - a + a H_(1/a)(Q, P) turns that into a
 * bound for a < 1, where the remove pair's own curve, being the add pair's, is SMALLER: the remove
 * pair alone dominates one run but not several. The pair that has the remove pair's curve at a >= 1
 * and its reflection at a < 1 dominates both orders (Zhu, Dong, Wang 2022): the remove pair's
 * positive losses, their mirror images, the rest at loss 0. */

#include "lab/composition/pld_run.h"

#include "account/law.h"
#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDING  (DBL_EPSILON / 2)
#define TAIL      12.0 /* standard deviations; the normal tail beyond is below 2e-33 */
#define TAIL_MASS 4e-33

static double loss_of(double base, double q)
{
    if (q >= 1) {
        return base;
    }
    return base < 500 ? log1p(q * expm1(base)) : base + log(q) + (1 - q) / q * exp(-base);
}

static double base_of(double loss, double q)
{
    if (q >= 1) {
        return loss;
    }
    if (loss < 500) {
        double x = expm1(loss) / q;
        return x <= -1 ? -INFINITY : log1p(x);
    }
    return loss - log(q) + log1p(-(1 - q) * exp(-loss));
}

/* The unsampled losses that matter. */
static void base_range(double *least, double *largest, const struct pld_part *part)
{
    double a = part->size;
    if (part->kind == PLD_RUN_GAUSSIAN) {
        *least = -a * (TAIL + a / 2);
        *largest = a * (TAIL + a / 2);
    } else {
        *least = -a;
        *largest = a;
    }
}

static double tail_outcome(const struct pld_part *part)
{
    return ceil(TAIL * part->size) + 1;
}

void pld_run_range(double *least, double *largest, const struct pld_part *part)
{
    double s = part->shift;
    double low = 0;
    double high = 0;

    switch (part->kind) {
    case PLD_RUN_RESPONSE:
        *least = -part->size;
        *largest = part->size;
        break;
    case PLD_RUN_DISCRETE_LAPLACE:
        *least = -s / part->size;
        *largest = s / part->size;
        break;
    case PLD_RUN_DISCRETE_GAUSSIAN:
        *largest = s * (s + 2 * tail_outcome(part)) / (2 * part->size * part->size);
        *least = -*largest;
        break;
    case PLD_RUN_LAPLACE:
    case PLD_RUN_GAUSSIAN:
    case PLD_RUN_RANGE:
    default:
        base_range(&low, &high, part);
        low = loss_of(low, part->sampling);
        high = loss_of(high, part->sampling);
        *least = part->side == PLD_RUN_REMOVE ? low : -high;
        *largest = part->side == PLD_RUN_ADD ? -low : high;
        break;
    }
}

bool pld_run_is_on_grid(const struct pld_part *part)
{
    return part->kind == PLD_RUN_RESPONSE || part->kind == PLD_RUN_DISCRETE_LAPLACE ||
           part->kind == PLD_RUN_DISCRETE_GAUSSIAN;
}

struct pld_grid pld_run_natural_grid(const struct pld_part *part)
{
    double least = 0;
    double largest = 0;
    double step = 0;

    pld_run_range(&least, &largest, part);
    if (part->kind == PLD_RUN_DISCRETE_LAPLACE) {
        step = 2 / part->size;
    } else if (part->kind == PLD_RUN_DISCRETE_GAUSSIAN) {
        step = part->shift / (part->size * part->size);
    } else if (part->kind == PLD_RUN_RESPONSE ||
               (part->kind != PLD_RUN_GAUSSIAN && part->side != PLD_RUN_BOTH)) {
        step = largest - least;
    }
    return (struct pld_grid){least, step};
}

/* Adds `mass` at grid point i; what the grid does not reach is as if lost altogether. */
static void put(struct pld_run *run, size_t i, double mass, double spread)
{
    if (i >= run->count) {
        run->infinite += mass;
        return;
    }
    run->log_mass[i] += mass;
    run->spread[i] += mass * spread;
}

void pld_run_put_atom(struct pld_run *run, double loss, double mass)
{
    double step = run->grid.step;
    double position = (loss - run->grid.offset) / step;
    double nearest = round(position);
    if (fabs(position - nearest) < 1e-9 || position < 0) {
        double off = (fabs(position - nearest) + 4 * ROUNDING * fabs(position)) * step;
        run->slip = fmax(run->slip, off + 4 * ROUNDING * fabs(loss));
        put(run, position < 0.5 ? 0 : (size_t)nearest, mass, 0);
        return;
    }
    double below = floor(position);
    double up = (below + 1 - position) * step;
    double share = fmin(1, -expm1((below - position) * step) / run->fall);
    double both = share * (1 - share + 8 * ROUNDING);
    double spread = both * step * step;
    double mean = fmin(up, both * run->bend);
    run->drift += mass * mean;
    run->variance += mass * (spread + mean * mean);
    run->slip = fmax(run->slip, 8 * ROUNDING * (fabs(loss) + fabs(run->grid.offset) + step));
    put(run, (size_t)below, mass * (1 - share), spread);
    put(run, (size_t)below + 1, mass * share, spread);
}

void pld_run_put_cell(struct pld_run *run, size_t i, double p, double q, double error)
{
    double step = run->grid.step;
    double lower = run->grid.offset + (double)i * step;
    if (!(p > 0)) {
        run->infinite += DBL_MIN;
        return;
    }
    double ratio = exp(lower + log(q / p));
    double slack = (error + 4 * ROUNDING * (1 + fabs(lower))) / run->fall;
    double share = (1 - ratio) / run->fall;
    bool odd = !(share >= -2 * slack && share <= 1 + 2 * slack);
    share = odd ? 1 : fmin(1, fmax(0, share + slack));
    double both = share * (1 - share + 2 * slack);
    double spread = both * step * step;
    double mean = fmin(step, run->bend * both) + 2 * slack * step;
    double square = fmin(step, run->bend / 4 + 2 * slack * step);
    run->drift += p * (odd ? step : mean);
    run->variance += p * (odd ? step * step : spread + square * square);
    put(run, i, p * (1 - share), spread);
    put(run, i + 1, p * share, spread);
}

/* Masses of the outcomes whose unsampled loss lies in [from, to], with the record (p) and without.
 */
static double base_masses(double *p, double *q, const struct pld_part *part, double from, double to)
{
    double a = part->size;
    if (part->kind != PLD_RUN_GAUSSIAN) {
        double whole = part->kind == PLD_RUN_LAPLACE ? 2 : -expm1(-a);
        double part_mass = -expm1((from - to) / 2) / whole;
        *p = part_mass * exp((to - a) / 2);
        *q = part_mass * exp((-a - from) / 2);
        return (16 + a) * ROUNDING;
    }
    double x = from / a + a / 2; /* the outcome, in standard deviations */
    double y = to / a + a / 2;
    double middle = x + (y - x) / 2;
    *q = law_normal(middle, y - x);
    *p = law_normal(middle - a, y - x);
    return law_normal_error(middle, y - x) + law_normal_error(middle - a, y - x);
}

/* The cell of losses [from, to] of the remove pair, 0 < sampling <= 1, put at grid cell i; turned
 * round when mirrored. */
static void put_part(struct pld_run *run, const struct pld_part *part, size_t i, double from,
                     double to, bool mirrored)
{
    double least = 0;
    double largest = 0;
    double q = part->sampling;
    base_range(&least, &largest, part);
    double low = fmin(fmax(base_of(mirrored ? -to : from, q), least), largest);
    double high = fmin(fmax(base_of(mirrored ? -from : to, q), least), largest);
    if (!(high > low)) {
        return;
    }
    double with = 0;
    double without = 0;
    double error = base_masses(&with, &without, part, low, high) + 8 * ROUNDING;
    double mixed = (1 - q) * without + q * with;
    run->error = fmax(run->error, error);
    (run->optimistic ? pld_run_merge_cell : pld_run_put_cell)(
        run, i, mirrored ? without : mixed, mirrored ? mixed : without, 2 * error);
}

/* The two ends of the range: single losses of Laplace noise, the tails of a Gaussian. */
static void put_ends(struct pld_run *run, const struct pld_part *part)
{
    double least = 0;
    double largest = 0;
    double q = part->sampling;

    base_range(&least, &largest, part);
    if (part->kind == PLD_RUN_GAUSSIAN) {
        if (run->optimistic) {
            return;
        }
        run->infinite += TAIL_MASS;
        put(run, 0, TAIL_MASS, 0);
        run->drift += TAIL_MASS * (2 * largest + 1000);
        return;
    }
    if (part->kind == PLD_RUN_RANGE) {
        return;
    }
    double near = 0.5;
    double far = 0.5 * exp(-part->size);
    double top = loss_of(largest, q);
    double bottom = loss_of(least, q);
    if (part->side != PLD_RUN_ADD) {
        pld_run_put_atom(run, top, (1 - q) * far + q * near);
    } else {
        pld_run_put_atom(run, -top, far);
    }
    if (part->side == PLD_RUN_REMOVE) {
        pld_run_put_atom(run, bottom, (1 - q) * near + q * far);
    } else if (part->side == PLD_RUN_ADD) {
        pld_run_put_atom(run, -bottom, near);
    } else {
        pld_run_put_atom(run, -top, far);
    }
}

static void fill_real(struct pld_run *run, const struct pld_part *part)
{
    struct pld_grid grid = run->grid;
    for (size_t i = 0; i + 1 < run->count; i++) {
        double from = grid.offset + (double)i * grid.step;
        double to = grid.offset + (double)(i + 1) * grid.step;
        bool mirrored = part->side == PLD_RUN_ADD || (part->side == PLD_RUN_BOTH && to <= 0);
        /* The ends take what rounding leaves beyond them, which can be much: sampled losses crowd
         * at ln(1 - q), closer than doubles tell apart */
        put_part(run, part, i, i == 0 ? -INFINITY : from, i + 2 == run->count ? INFINITY : to,
                 mirrored);
    }
    if (run->optimistic) {
        pld_run_merge_rest(run);
    }
    put_ends(run, part);
    if (part->side == PLD_RUN_BOTH) { /* what is left, at loss 0 */
        double sum = 0;
        for (size_t i = 0; i < run->count; i++) {
            sum += run->log_mass[i];
        }
        double rest = fmax(0, 1 - sum - run->infinite) + (double)run->count * DBL_EPSILON;
        pld_run_put_atom(run, 0, rest);
    }
    run->slip =
        fmax(run->slip, 32 * ROUNDING * (fabs(grid.offset) + (double)run->count * grid.step));
}

static enum status allocate(struct pld_run *run, const struct pld_part *part)
{
    double least = 0;
    double largest = 0;
    pld_run_range(&least, &largest, part);
    double cells = ceil((largest - run->grid.offset) / run->grid.step - 1e-9);
    CHECK(cells < 0x1p40);
    run->count = cells > 1 ? (size_t)cells + 1 : 2;
    if (run->grid.offset + (double)(run->count - 1) * run->grid.step < largest &&
        !pld_run_is_on_grid(part)) {
        run->count++; /* a tiny loss above a grid point is a loss nonetheless */
    }
    run->log_mass = calloc(run->count, sizeof run->log_mass[0]);
    run->spread = calloc(run->count, sizeof run->spread[0]);
    return run->log_mass != NULL && run->spread != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

bool pld_run_has_density(const struct pld_part *part)
{
    return (part->kind == PLD_RUN_LAPLACE || part->kind == PLD_RUN_GAUSSIAN) &&
           part->side != PLD_RUN_BOTH;
}

static enum status init(struct pld_run *run, const struct pld_part *part, struct pld_grid grid,
                        bool optimistic)
{
    CHECK(grid.step > 0 && isfinite(grid.step));
    *run = (struct pld_run){
        .grid = grid, .error = 16 * ROUNDING, .reach = grid.step, .optimistic = optimistic};
    run->bend = expm1(grid.step) * expm1(grid.step) / 2;
    run->fall = -expm1(-grid.step);
    if (allocate(run, part) != STATUS_OK) {
        pld_run_free(run);
        return STATUS_NO_MEMORY;
    }
    switch (part->kind) {
    case PLD_RUN_RESPONSE:
        pld_run_put_atom(run, part->size, 1 / (1 + exp(-part->size)));
        pld_run_put_atom(run, -part->size, 1 / (1 + exp(part->size)));
        break;
    case PLD_RUN_DISCRETE_LAPLACE:
        pld_run_fill_discrete_laplace(run, part);
        break;
    case PLD_RUN_DISCRETE_GAUSSIAN:
        pld_run_fill_discrete_gaussian(run, part, tail_outcome(part), TAIL_MASS);
        break;
    case PLD_RUN_LAPLACE:
    case PLD_RUN_GAUSSIAN:
    case PLD_RUN_RANGE:
    default:
        fill_real(run, part);
        break;
    }
    double missing = 1 - run->infinite;
    for (size_t i = 0; i < run->count; i++) {
        missing -= run->log_mass[i];
        run->spread[i] = run->log_mass[i] > 0 ? run->spread[i] / run->log_mass[i] : 0;
        run->log_mass[i] = log(run->log_mass[i]);
    }
    if (missing > 4 * run->error + (double)run->count * DBL_EPSILON + 1e-12) {
        run->infinite += missing; /* no rounding takes this much: never to be a bound too low */
    }
    run->error += part->slack;
    run->slip += 2.01 * part->slack;
    return STATUS_OK;
}

enum status pld_run_init(struct pld_run *run, const struct pld_part *part, struct pld_grid grid)
{
    return init(run, part, grid, false);
}

enum status pld_run_init_optimistic(struct pld_run *run, const struct pld_part *part,
                                    struct pld_grid grid)
{
    return init(run, part, grid, pld_run_has_density(part));
}

void pld_run_free(struct pld_run *run)
{
    free(run->log_mass);
    free(run->spread);
    run->log_mass = NULL;
    run->spread = NULL;
}
