/* The distributions of all parts on one grid, the tilt, and the step.
 *
 * With K(t) = ln E[e^(t S)] of the sum S and (1 - e^-y)+ <= c e^(t y), c = t^t/(1+t)^(1+t):
 * delta(epsilon) <= c e^(K(t) - t epsilon), Chernoff's bound (the conversion of Canonne, Kamath,
 * Steinke 2020 is the same). The t that makes it least is where the tilted distribution e^(t S) P has its
 * mean near epsilon: the tail that is asked for becomes the middle of what is transformed.
 *
 * The grid of step h adds variance v to the tilted distribution, and so about t (t + 1) v/2 to K and
 * (t + 1) v/2 to epsilon; v goes as h^2. The step is chosen by that. It only decides how good the
 * bound is; that it is a bound does not rest on it. */

#include "lab/composition/pld_private.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define CHEAP         2 /* a fourth of the largest transform */
#define HALVINGS_MAX  6
#define COARSE_CELLS  256
#define LATTICE_CELLS 0x1p17 /* a lattice of its own is worth this many */
#define GOLDEN        0.61803398874989484820
#define TILT_STEPS    26 /* of the golden section: ln tilt to within 2e-4 of the coarse optimum */
#define SIGMAS        18 /* the width of a window, first guess */

static double run_moments(struct pld_moments *moments, const struct pld_run *run, double tilt)
{
    double slope = tilt * run->grid.step;
    double most = -INFINITY;
    for (size_t i = 0; i < run->count; i++) {
        double x = run->log_mass[i] + slope * (double)i;
        most = x > most ? x : most; /* fmax would be a call */
    }
    double total = 0;
    double first = 0;
    double second = 0;
    double added = 0;
    for (size_t i = 0; i < run->count; i++) {
        double x = run->log_mass[i] + slope * (double)i - most;
        if (x < -60) {
            continue; /* below the rounding of the sum */
        }
        double mass = exp(x);
        total += mass;
        first += mass * (double)i;
        second += mass * (double)i * (double)i;
        added += mass * run->spread[i];
    }
    if (moments != NULL) {
        double mean = first / total;
        moments->log_mass = most + log(total);
        moments->mean = mean * run->grid.step;
        moments->variance = fmax(0, second / total - mean * mean) * run->grid.step * run->grid.step;
        moments->added = added / total;
    }
    return most + log(total);
}

double pld_mix_moments(struct pld_moments *moments, const struct pld_mix *mix, double tilt)
{
    struct pld_moments sum = {0, 0, 0, 0};
    for (size_t i = 0; i < mix->count; i++) {
        struct pld_moments one = {0, 0, 0, 0};
        double count = mix->parts[i].count;
        double log_mass = run_moments(moments != NULL ? &one : NULL, &mix->runs[i], tilt);
        sum.log_mass += count * log_mass;
        sum.mean += count * one.mean;
        sum.variance += count * one.variance;
        sum.added += count * one.added;
    }
    if (moments != NULL) {
        *moments = sum;
    }
    return sum.log_mass;
}

/* Chernoff's bound on how far the tilted distribution reaches, up (side 1) or down (side -1), from the moment
 * at this many standard deviations. */
static double reach_at(const struct pld_mix *mix, const struct pld_moments *at, double side,
                       double sigmas)
{
    double sigma = fmax(sqrt(at->variance), mix->step * 1e-3);
    double more = side * sigmas / sigma;
    double log_mass = pld_mix_moments(NULL, mix, mix->tilt + more);
    double slack = 0.5 + 64 * DBL_EPSILON * fabs(log_mass);
    double reach = (log_mass - at->log_mass - more * at->mean + PLD_OUTSIDE + slack) / fabs(more);
    return isnan(reach) ? INFINITY : reach;
}

/* The least of those: it falls, then rises, so a step in the wrong direction ends the search. */
static double reach_of(const struct pld_mix *mix, const struct pld_moments *at, double side)
{
    static const double sigmas[] = {0.9, 1.3, 1.8, 2.5, 3.3, 4.5, 6, 8, 11, 16};
    enum { COUNT = sizeof sigmas / sizeof sigmas[0], USUAL = 7 /* of a normal distribution */ };
    double best = reach_at(mix, at, side, sigmas[USUAL]);
    double next = reach_at(mix, at, side, sigmas[USUAL - 1]);
    if (next < best) {
        for (size_t i = USUAL - 1; i > 0 && next < best; i--) {
            best = next;
            next = reach_at(mix, at, side, sigmas[i - 1]);
        }
    } else {
        for (size_t i = USUAL + 1; i < COUNT; i++) {
            next = reach_at(mix, at, side, sigmas[i]);
            if (!(next < best)) {
                break;
            }
            best = next;
        }
    }
    return fmax(fmin(best, next), mix->step);
}

void pld_mix_window(struct pld_moments *at, double *up, double *down, const struct pld_mix *mix)
{
    (void)pld_mix_moments(at, mix, mix->tilt);
    *up = reach_of(mix, at, 1);
    *down = reach_of(mix, at, -1);
}

static double log_peak(double tilt)
{
    return tilt > 0 ? -tilt * log1p(1 / tilt) - log1p(tilt) : 0;
}

/* What rounding can have made of ln of the tilted mass. */
static double mass_slack(const struct pld_mix *mix, double tilt, double log_mass)
{
    double slack = 16 * DBL_EPSILON * fabs(log_mass);
    for (size_t i = 0; i < mix->count; i++) {
        const struct pld_run *run = &mix->runs[i];
        double reach = tilt * run->grid.step * (double)run->count;
        slack += mix->parts[i].count * (run->error + tilt * run->slip + 1e-25 +
                                        DBL_EPSILON * (16 + (double)run->count + reach) +
                                        DBL_EPSILON * (double)mix->count * reach);
    }
    return slack;
}

double pld_mix_epsilon(const struct pld_mix *mix, double tilt, double log_delta)
{
    double k = pld_mix_moments(NULL, mix, tilt);
    k += mass_slack(mix, tilt, k) + 4 * DBL_EPSILON * fabs(log_delta);
    double slack = 4 * DBL_EPSILON * fabs(mix->offset) * (double)mix->count;
    return mix->offset + slack + (k + log_peak(tilt) - log_delta) / tilt;
}

double pld_mix_log_delta(const struct pld_mix *mix, double tilt, double epsilon)
{
    double k = pld_mix_moments(NULL, mix, tilt);
    k += mass_slack(mix, tilt, k) + 4 * DBL_EPSILON * tilt * (fabs(epsilon) + fabs(mix->offset));
    return k + log_peak(tilt) - tilt * (epsilon - mix->offset);
}

static double objective(const struct pld_mix *mix, double log_tilt,
                        struct composition_question question)
{
    double tilt = exp(log_tilt);
    double value = question.wants_epsilon ? pld_mix_epsilon(mix, tilt, question.at)
                                          : pld_mix_log_delta(mix, tilt, question.at);
    return isnan(value) ? INFINITY : value;
}

/* Golden-section search for the best ln tilt. */
static double best_tilt(const struct pld_mix *mix, double low, double high, unsigned steps,
                        struct composition_question question)
{
    double a = high - GOLDEN * (high - low);
    double b = low + GOLDEN * (high - low);
    double at_a = objective(mix, a, question);
    double at_b = objective(mix, b, question);
    for (unsigned i = 0; i < steps; i++) {
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - GOLDEN * (high - low);
            at_a = objective(mix, a, question);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + GOLDEN * (high - low);
            at_b = objective(mix, b, question);
        }
    }
    return exp(at_a <= at_b ? a : b);
}

static void free_runs(struct pld_mix *mix)
{
    for (size_t i = 0; i < mix->count && mix->runs != NULL; i++) {
        pld_run_free(&mix->runs[i]);
    }
}

void pld_mix_free(struct pld_mix *mix)
{
    free_runs(mix);
    free(mix->runs);
    mix->runs = NULL;
}

/* Where a part's grid starts: on its lowest loss where that is a single outcome, on a multiple of
 * the step where 0 is one. */
static struct pld_grid part_grid(const struct pld_part *part, double step)
{
    struct pld_grid grid = pld_run_natural_grid(part);
    if (grid.step == 0 || part->kind == PLD_RUN_DISCRETE_GAUSSIAN) {
        bool aligned = grid.step > 0 && fabs(step / grid.step - 1) < 1e-9;
        if (!aligned) {
            grid.offset = step * floor(grid.offset / step);
        }
    }
    grid.step = step;
    return grid;
}

/* Puts every part on grids of this step; each on its own coarse one when step is 0. */
static enum status lay(struct pld_mix *mix, double step)
{
    free_runs(mix);
    mix->step = step;
    mix->offset = 0;
    for (size_t i = 0; i < mix->count; i++) {
        const struct pld_part *part = &mix->parts[i];
        struct pld_grid natural = pld_run_natural_grid(part);
        double own = step;
        if (own == 0) {
            double least = 0;
            double largest = 0;
            pld_run_range(&least, &largest, part);
            own = (largest - least) / COARSE_CELLS;
            own = pld_run_is_on_grid(part) ? fmax(own, natural.step) : own;
        }
        if ((mix->optimistic ? pld_run_init_optimistic : pld_run_init)(
                &mix->runs[i], part, part_grid(part, own)) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        mix->offset += part->count * mix->runs[i].grid.offset;
    }
    return STATUS_OK;
}

static double widest(const struct pld_mix *mix)
{
    double width = 0;
    for (size_t i = 0; i < mix->count; i++) {
        double least = 0;
        double largest = 0;
        pld_run_range(&least, &largest, &mix->parts[i]);
        width = fmax(width, largest - least);
    }
    return width;
}

/* A step near `wish`: one that the losses of a single part lie on, where there is one. */
static double rounded_step(const struct pld_mix *mix, double wish)
{
    struct pld_grid natural = pld_run_natural_grid(&mix->parts[0]);
    if (mix->count > 1 || natural.step == 0) {
        return wish;
    }
    if (pld_run_is_on_grid(&mix->parts[0])) {
        return natural.step * fmax(1, ceil(wish / natural.step - 1e-9));
    }
    return natural.step / fmax(1, ceil(natural.step / wish));
}

/* Takes larger steps until the window fits into the largest transform. */
static enum status fit(struct pld_mix *mix, struct pld_precision precision)
{
    double cells = ldexp(1, (int)precision.log2_size_max) - 8;
    for (unsigned round = 0; round < 8; round++) {
        struct pld_moments at = {0, 0, 0, 0};
        double up = 0;
        double down = 0;
        pld_mix_window(&at, &up, &down, mix);
        double excess = (up + down) / (mix->step * cells);
        if (!(excess > 1)) {
            break;
        }
        double step = rounded_step(mix, mix->step * fmin(excess * 1.02, 1e6));
        step = step > mix->step ? step : 2 * mix->step;
        if (lay(mix, step) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

/* The step that keeps what the grid adds below the tolerance. */
static enum status refine(struct pld_mix *mix, struct composition_question question,
                          struct pld_precision precision)
{
    struct pld_moments at = {0, 0, 0, 0};
    double width = widest(mix);
    double cells = ldexp(1, (int)precision.log2_size_max - (mix->count > PLD_SHORT ? 1 : 0));
    (void)pld_mix_moments(&at, mix, mix->tilt);
    double floor_step = fmax(SIGMAS * sqrt(at.variance) / cells, width / cells);
    double step = fmax(SIGMAS * sqrt(at.variance) / 2048, width / 4096);
    double natural = pld_run_natural_grid(&mix->parts[0]).step;
    bool lattice = mix->count == 1 && pld_run_is_on_grid(&mix->parts[0]) &&
                   fmax(SIGMAS * sqrt(at.variance), width) <= natural * fmin(cells, LATTICE_CELLS);
    double before = INFINITY;

    for (unsigned round = 0; round < 8; round++) {
        step = rounded_step(mix, lattice ? floor_step : fmax(step, floor_step));
        if (lay(mix, step) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        if (round == 0 || mix->count <= PLD_SHORT) { /* a long list's tilt moves no more */
            double base = log(mix->tilt);
            double reach = before > 4 ? 3 : 0.5;
            mix->tilt = best_tilt(mix, base - reach, base + reach, before > 4 ? 14 : 8, question);
        }
        (void)pld_mix_moments(&at, mix, mix->tilt);
        floor_step = fmax(SIGMAS * sqrt(at.variance) / cells, width / cells);
        double epsilon = question.wants_epsilon ? pld_mix_epsilon(mix, mix->tilt, question.at)
                                                : fmax(question.at, 1 / mix->tilt);
        double excess = (1 + mix->tilt) * at.added / 2 / (precision.tolerance * fabs(epsilon));
        if (lattice || excess <= 1 || step <= floor_step * 1.01) {
            break;
        }
        step *= 0.9 / sqrt(excess);
        before = excess;
    }
    return fit(mix, precision);
}

enum status pld_mix_init(struct pld_mix *mix, const struct pld_part *parts, size_t count,
                         struct composition_question question, struct pld_precision precision)
{
    CHECK(count >= 1);
    *mix = (struct pld_mix){.parts = parts, .count = count};
    mix->runs = calloc(count, sizeof *mix->runs);
    enum status status = mix->runs != NULL ? lay(mix, 0) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        double width = widest(mix);
        mix->tilt = best_tilt(mix, log(1e-8 / width), log(1e12 / width), TILT_STEPS, question);
        status = refine(mix, question, precision);
    }
    if (status != STATUS_OK) {
        pld_mix_free(mix);
    }
    return status;
}

/* Also finer, where that is cheap: below, cells that are wider than the losses of a run hide them all. */
enum status pld_mix_optimistic(struct pld_mix *mix, unsigned log2_size_max)
{
    struct pld_moments at = {0, 0, 0, 0};
    double room = ldexp(1, (int)log2_size_max - CHEAP);
    double up = 0;
    double down = 0;
    int halvings = 0;
    pld_mix_window(&at, &up, &down, mix);
    double cells = fmax(up + down, widest(mix)) / mix->step;
    while (mix->count <= PLD_SHORT && halvings < HALVINGS_MAX &&
           ldexp(cells, halvings + 1) <= room) {
        halvings++;
    }
    mix->optimistic = true;
    return lay(mix, ldexp(mix->step, -halvings));
}
