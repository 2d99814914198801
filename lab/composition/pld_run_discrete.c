/* Losses of noise on the integers: z = 0 is the true answer of one neighbour, z = s that of the
 * other.
 *
 * Discrete Laplace, scale b: outcomes j <= 0 have the loss s/b, j >= s the loss -s/b, those between
 * (s - 2 j)/b; their masses are terms of geometric series, which have closed sums. Discrete
 * Gaussian: the loss of x is s (s - 2 x)/(2 sigma^2), the masses are added up one by one (Canonne,
 * Kamath, Steinke 2020, theorem 7 has the same sum for one run). */

#include "lab/composition/pld_run.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#define ATOMS_MAX 0x1p20

/* The outcomes first <= j < last of discrete Laplace noise with `rate` 1/b, 1 <= first. */
static double geometric_mass(double first, double last, double rate)
{
    return exp(-first * rate) * -expm1((first - last) * rate) / (1 + exp(-rate));
}

static double first_at_most(double loss, const struct pld_part *part)
{
    double j = ceil((part->shift - loss * part->size) / 2);
    return fmin(fmax(j, 1), part->shift);
}

void pld_run_fill_discrete_laplace(struct pld_run *run, const struct pld_part *part)
{
    double s = part->shift;
    double rate = 1 / part->size;
    double end = 1 / (1 + exp(-rate));

    pld_run_put_atom(run, s / part->size, end);
    pld_run_put_atom(run, -s / part->size, end * exp(-s / part->size));
    run->error = (16 + s / part->size + run->grid.step * part->size) * DBL_EPSILON;
    if (s <= ATOMS_MAX) {
        for (uint64_t i = 1; i < (uint64_t)s; i++) {
            double j = (double)i;
            pld_run_put_atom(run, (s - 2 * j) / part->size, geometric_mass(j, j + 1, rate));
        }
        return;
    }
    for (size_t i = 0; i + 1 < run->count; i++) {
        double lower = run->grid.offset + (double)i * run->grid.step;
        double first = first_at_most(lower + run->grid.step, part);
        double last = first_at_most(lower, part);
        if (last > first) {
            double p = geometric_mass(first, last, rate);
            double q = geometric_mass(s - last + 1, s - first + 1, rate);
            pld_run_put_cell(run, i, p, q, 2 * run->error);
        }
    }
    run->slip = fmax(run->slip, 16 * DBL_EPSILON * (s / part->size));
}

/* The sum of exp(-x^2/(2 sigma^2)) over |x| <= last, by Kahan's summation. */
static double gaussian_sum(double sigma, double last)
{
    double sum = 0;
    double lost = 0;
    for (uint64_t i = (uint64_t)last; i >= 1; i--) {
        double x = (double)i;
        double term = 2 * exp(-(x / sigma) * (x / sigma) / 2) - lost;
        double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum + 1;
}

void pld_run_fill_discrete_gaussian(struct pld_run *run, const struct pld_part *part,
                                    double outcome_max, double tail_mass)
{
    double sigma = part->size;
    double s = part->shift;
    double total = gaussian_sum(sigma, outcome_max);
    for (uint64_t i = 0; i <= 2 * (uint64_t)outcome_max; i++) {
        double x = (double)i - outcome_max;
        double mass = exp(-(x / sigma) * (x / sigma) / 2) / total;
        if (mass > 0) {
            pld_run_put_atom(run, s * (s - 2 * x) / (2 * sigma * sigma), mass);
        }
    }
    double exponent = fmin((outcome_max / sigma) * (outcome_max / sigma) / 2, 745);
    double atoms = run->grid.step * sigma * sigma / s; /* that share a cell */
    run->error = (112 + 4 * exponent + atoms) * DBL_EPSILON;
    run->infinite += 2 * tail_mass;
}
