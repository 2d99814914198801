/* The optimistic distribution: its curve is nowhere above the true one, on any grid, also between its points, and
 * hardly below it; planted beside it, losses rounded to the nearest point and the pessimistic distribution, which
 * are above it somewhere. Then what comes of it: two sampled runs against their integral, and a million,
 * whose interval is narrow. */

#include "lab/composition/account.h"
#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"
#include "lab/composition/pld_run.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* delta of Gaussian (mu) or Laplace noise (epsilon a), unsampled. */
static long double whole_delta(const struct pld_part *part, long double epsilon)
{
    const long double a = part->size;
    const long double root = sqrtl(2);
    if (part->kind == PLD_RUN_LAPLACE) {
        return epsilon >= a ? 0 : epsilon <= -a ? -expm1l(epsilon) : -expm1l((epsilon - a) / 2);
    }
    return erfcl((epsilon / a - a / 2) / root) / 2 -
           expl(epsilon) * erfcl((epsilon / a + a / 2) / root) / 2;
}

/* delta of a sampled record: removed, q delta(ln(1 + (e^epsilon - 1)/q)); added, by its
 * reflection. */
static long double delta_of(const struct pld_part *part, long double epsilon)
{
    const long double q = part->sampling;
    if (part->side == PLD_RUN_ADD) {
        const long double rest = expm1l(-epsilon) / q;
        return rest <= -1 ? 0 : expl(epsilon) * q * (1 + rest) * whole_delta(part, -log1pl(rest));
    }
    const long double rest = expm1l(epsilon) / q;
    return rest <= -1 ? -expm1l(epsilon) : q * whole_delta(part, log1pl(rest));
}

static long double curve_of(const struct pld_run *law, long double epsilon)
{
    long double sum = 0;
    for (size_t i = 0; i < law->count; i++) {
        const long double loss = law->grid.offset + (long double)i * law->grid.step;
        sum += loss > epsilon ? expl(law->log_mass[i]) * -expm1l(epsilon - loss) : 0;
    }
    return sum;
}

/* How far the curve is above the truth at most, and below it, at and between the points. */
static void compare(long double *above, long double *below, const struct pld_run *law,
                    const struct pld_part *part)
{
    *above = 0;
    *below = 0;
    for (size_t i = 0; i < 4 * law->count; i += 1 + law->count / 50 * 2) {
        const long double epsilon = law->grid.offset + (long double)i / 4 * law->grid.step;
        const long double gap = curve_of(law, epsilon) - delta_of(part, epsilon);
        *above = fmaxl(*above, gap);
        *below = fmaxl(*below, -gap);
    }
}

static const struct pld_part parts[] = {{PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 0.3, 1, 1, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 3, 1, 1, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 1, 1, 0.01, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_ADD, 1, 1, 0.01, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 2, 1, 0.6, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_ADD, 2, 1, 0.6, 0, 1},
                                        {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 0.05, 1, 0.1, 0, 1},
                                        {PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 1, 1, 1, 0, 1},
                                        {PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 2, 1, 0.05, 0, 1},
                                        {PLD_RUN_LAPLACE, PLD_RUN_ADD, 2, 1, 0.05, 0, 1}};

enum { PARTS = sizeof parts / sizeof parts[0] };

/* A grid with about this many cells, on which Laplace's single losses lie. */
static struct pld_grid grid_of(const struct pld_part *part, double cells)
{
    double least = 0;
    double largest = 0;
    pld_run_range(&least, &largest, part);
    const double step = (largest - least) / cells;
    return part->kind == PLD_RUN_LAPLACE
               ? (struct pld_grid){least, step}
               : (struct pld_grid){step * (floor(least / step) + 0.3 * (part->size > 1)), step};
}

/* Merging takes the curvature of two cells or so, what spreading adds is that of one; where they are wide,
 * merging takes all. */
Test(pld_below, a_law_from_below_is_nowhere_above_the_truth)
{
    unsigned above_seen = 0;
    for (size_t i = 0; i < 5 * PARTS; i++) {
        const struct pld_part *part = &parts[i % PARTS];
        const double cells = floor(ldexp(5.3, (int)(i / PARTS) * 2));
        const struct pld_grid grid = grid_of(part, cells);
        struct pld_run law;
        struct pld_run other;
        long double above = 0;
        long double below = 0;
        long double faulty = 0;
        long double unused = 0;
        cr_assert(pld_run_init_optimistic(&law, part, grid) == STATUS_OK);
        cr_assert(pld_run_init(&other, part, grid) == STATUS_OK);
        compare(&above, &below, &law, part);
        compare(&faulty, &unused, &other, part);
        cr_expect(above <= 1e-14L, "part %zu, %g cells: %.3Lg above", i % PARTS, cells, above);
        cr_expect(cells < 1000 || below <= 16 * faulty + 1e-13L,
                  "part %zu, %g cells: %.3Lg below, %.3Lg above", i % PARTS, cells, below, faulty);
        above_seen += faulty > 1e-12L;
        pld_run_free(&law);
        pld_run_free(&other);
    }
    cr_expect_geq(above_seen, 3 * PARTS, "the law from above is caught in %u cases", above_seen);
}

/* Each loss at the nearest point: as near to the truth, and above it (but where nearly all losses crowd
 * just above a point). */
Test(pld_below, losses_at_the_nearest_point_are_above_the_truth)
{
    unsigned caught = 0;
    for (size_t i = 0; i < PARTS; i++) {
        const struct pld_part *part = &parts[i];
        const struct pld_grid grid = grid_of(part, 512);
        const struct pld_grid fine = {grid.offset, grid.step / 16};
        struct pld_run law;
        struct pld_run rounded;
        long double above = 0;
        long double below = 0;
        cr_assert(pld_run_init_optimistic(&law, part, fine) == STATUS_OK);
        cr_assert(pld_run_init_optimistic(&rounded, part, grid) == STATUS_OK);
        for (size_t j = 0; j < rounded.count; j++) {
            rounded.log_mass[j] = 0;
        }
        for (size_t j = 0; j < law.count; j++) {
            const size_t nearest = (j + 8) / 16;
            rounded.log_mass[nearest < rounded.count ? nearest : rounded.count - 1] +=
                exp(law.log_mass[j]);
        }
        for (size_t j = 0; j < rounded.count; j++) {
            rounded.log_mass[j] = log(rounded.log_mass[j]);
        }
        compare(&above, &below, &rounded, part);
        caught += above > 1e-9L;
        pld_run_free(&law);
        pld_run_free(&rounded);
    }
    cr_expect_geq(caught, PARTS - 1, "%u of %u", caught, PARTS);
}

static struct privacy_event sampled(double sigma, double rate, uint64_t count,
                                    enum neighbours neighbours)
{
    return (struct privacy_event){MECHANISM_GAUSSIAN, neighbours, sigma, 1, count, rate, 0};
}

/* delta of two runs, a record removed, or added: the mean over the first one's outcomes of the second
 * one's curve. Their integrand is analytic, so that the trapezoidal rule's error falls faster than any
 * power of its step; halving it changes nothing. */
static long double two_runs(double sigma, double rate, enum pld_run_side side, long double epsilon)
{
    const struct pld_part part = {PLD_RUN_GAUSSIAN, side, 1 / sigma, 1, rate, 0, 1};
    const long double mu = part.size;
    const long double step = 1 / 1024.0L;
    long double sum = 0;
    for (int i = 0; (long double)i * step < 17 + mu; i++) {
        const long double x = -8.5L + (long double)i * step;
        const long double without = expl(-x * x / 2);
        const long double with = expl(-(x - mu) * (x - mu) / 2);
        const long double mixed = (1 - part.sampling) * without + part.sampling * with;
        const long double loss = log1pl(part.sampling * expm1l(x * mu - mu * mu / 2));
        sum += side == PLD_RUN_ADD ? without * delta_of(&part, epsilon + loss)
                                   : mixed * delta_of(&part, epsilon - loss);
    }
    return sum * step / sqrtl(2 * acosl(-1.0L));
}

Test(pld_below, two_sampled_runs_are_enclosed_closely)
{
    static const double sigmas[] = {0.5, 1, 3};
    static const double rates[] = {0.03, 0.1, 0.7};
    static const double epsilons[] = {0.01, 0.1, 0.5, 1.5};
    for (size_t i = 0; i < 36; i += IS_SANITIZED ? 7 : 1) {
        const double sigma = sigmas[i % 3];
        const double rate = rates[i / 3 % 3];
        const double epsilon = epsilons[i / 9];
        const long double truth = fmaxl(two_runs(sigma, rate, PLD_RUN_REMOVE, epsilon),
                                        two_runs(sigma, rate, PLD_RUN_ADD, epsilon));
        const struct privacy_event event = sampled(sigma, rate, 2, NEIGHBOURS_ADD_REMOVE);
        struct interval out = {0, 1};
        cr_assert(pld_delta(&out, &event, 1, epsilon) == STATUS_OK);
        cr_expect(out.low <= truth * (1 + 1e-12L) + 1e-14L &&
                      out.high >= truth * (1 - 1e-12L) - 1e-14L,
                  "sigma %g, rate %g, epsilon %g: [%.17g, %.17g], truth %.17Lg", sigma, rate,
                  epsilon, out.low, out.high, truth);
        cr_expect(truth < 1e-8L || out.low >= truth * (1 - 1e-4L), "sigma %g, rate %g: %g", sigma,
                  rate, out.low);
    }
}

/* An accountant that distinguishes cells by the coins that spread them, as single losses still are,
 * has 6.11 of 6.71. */
Test(pld_below, many_sampled_runs_have_a_narrow_interval)
{
    static const struct {
        double sigma;
        double rate;
        uint64_t count;
        double wide;
    } rows[] = {{1, 0.001, 1000000, 0.003}, {1, 0.01, 1000, 1e-4},   {0.7, 0.01, 5000, 1e-4},
                {2, 0.1, 1000, 1e-4},       {5, 0.05, 100000, 1e-3}, {10, 0.5, 100, 1e-4}};
    for (size_t i = 0; i < (IS_SANITIZED ? 1 : sizeof rows / sizeof rows[0]); i++) {
        struct account removed;
        struct account replaced;
        struct privacy_event event =
            sampled(rows[i].sigma, rows[i].rate, rows[i].count, NEIGHBOURS_ADD_REMOVE);
        cr_assert(account_ask(&removed, &event, 1,
                              (struct composition_question){.wants_epsilon = true, .at = 1e-6},
                              NULL) == STATUS_OK);
        event.neighbours = NEIGHBOURS_REPLACE_ONE;
        cr_assert(account_ask(&replaced, &event, 1,
                              (struct composition_question){.wants_epsilon = true, .at = 1e-6},
                              NULL) == STATUS_OK);
        cr_expect(removed.low >= removed.high * (1 - rows[i].wide), "row %zu: [%.9g, %.9g]", i,
                  removed.low, removed.high);
        cr_expect(replaced.low >= removed.low * (1 - rows[i].wide) && replaced.low <= removed.high,
                  "row %zu: replaced [%.9g, %.9g], removed [%.9g, %.9g]", i, replaced.low,
                  replaced.high, removed.low, removed.high);
    }
}

/* Looked at 64 points at a time, wherever the blocks begin: on the way down errors outgrow what holds, so
 * that a low end between two looks was passed over, and 0 was left. */
Test(pld_below, low_is_found_wherever_blocks_begin)
{
    const struct pld_part part = {PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 1, 1, 1, 0, 10};
    const struct composition_question question = {true, log(1e-6)};
    const struct pld_precision limits = {3e-6, 20, PLD_BOTH_ENDS};
    struct pld_mix mix;
    struct pld_sum sum;
    cr_assert(pld_mix_init(&mix, &part, 1, question, limits) == STATUS_OK);
    cr_assert(pld_sum_init(&sum, &mix, limits.log2_size_max) == STATUS_OK);
    const size_t count = sum.count;
    const double high = pld_sum_epsilon(&sum, question.at, true);
    cr_assert(count >= 4096 && fabs(high - 9.998978) < 1e-4);
    for (size_t i = 0; i < 64; i++) {
        sum.count = count - i; /* what is left out is empty */
        const double low = pld_sum_epsilon(&sum, question.at, false);
        cr_expect(low >= 0.999 * high && low <= high, "%zu: %g", i, low);
    }
    pld_sum_free(&sum);
    pld_mix_free(&mix);
}
