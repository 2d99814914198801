/* What the vectors do not reach: lists of unlike events against sums written out, and limits. */

#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include <criterion/criterion.h>
#include <math.h>

static struct privacy_event event(enum mechanism mechanism, double parameter, double sensitivity,
                                  uint64_t count, double sampling)
{
    return (struct privacy_event){
        mechanism, NEIGHBOURS_ADD_REMOVE, parameter, sensitivity, count, sampling, 0};
}

static struct interval epsilon_of(const struct privacy_event *events, size_t count, double delta)
{
    struct interval out = {NAN, NAN};
    cr_assert(pld_epsilon(&out, events, count, delta) == STATUS_OK);
    cr_assert(out.low <= out.high, "%g > %g", out.low, out.high);
    return out;
}

static struct interval delta_of(const struct privacy_event *events, size_t count, double epsilon)
{
    struct interval out = {NAN, NAN};
    cr_assert(pld_delta(&out, events, count, epsilon) == STATUS_OK);
    cr_assert(out.low <= out.high, "%g > %g", out.low, out.high);
    return out;
}

/* delta of a Gaussian at any epsilon, by its formula; good enough where delta > 1e-12. */
static double gaussian_delta(double mu, double epsilon)
{
    return erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2 -
           exp(epsilon) * erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2;
}

/* delta of a Gaussian and randomised responses and discrete Laplace noise, all outcomes of those in
 * turn. */
static double written_out(double mu, const double *responses, size_t count, int s, double scale,
                          double epsilon)
{
    double total = 0;
    for (size_t signs = 0; signs < (size_t)1 << count; signs++) {
        double mass = 1;
        double loss = 0;
        for (size_t i = 0; i < count; i++) {
            double e = (signs >> i) & 1 ? responses[i] : -responses[i];
            mass /= 1 + exp(-e);
            loss += e;
        }
        for (int z = 0; z <= s; z++) {
            double end = 1 / (1 + exp(-1 / scale));
            double inner = tanh(1 / (2 * scale)) * exp(-z / scale);
            double p = z == 0 ? end : z == s ? end * exp(-s / scale) : inner;
            total += mass * p * gaussian_delta(mu, epsilon - loss - (s - 2 * z) / scale);
        }
    }
    return total;
}

Test(pld, unlike_events_enclose_the_sum_written_out)
{
    static const double responses[] = {0.1, 0.73, 0.31, 0.05};
    struct privacy_event events[] = {
        event(MECHANISM_GAUSSIAN, 2.5, 1, 1, 1), event(MECHANISM_PURE, 0.1, 1, 1, 1),
        event(MECHANISM_PURE, 0.73, 1, 1, 1),    event(MECHANISM_PURE, 0.31, 1, 1, 1),
        event(MECHANISM_PURE, 0.05, 1, 1, 1),    event(MECHANISM_DISCRETE_LAPLACE, 7, 3, 1, 1)};
    for (size_t count = 1; count <= 4; count++) {
        struct privacy_event list[6];
        list[0] = events[0];
        list[1] = events[5];
        for (size_t i = 0; i < count; i++) {
            list[2 + i] = events[1 + i];
        }
        for (unsigned i = 0; i < 8; i++) {
            double epsilon = 0.37 * i;
            double truth = written_out(1 / 2.5, responses, count, 3, 7, epsilon);
            struct interval delta = delta_of(list, 2 + count, epsilon);
            cr_expect(delta.high >= truth && delta.high <= truth * 1.002, "%g: %g for %g", epsilon,
                      delta.high, truth);
            cr_expect(delta.low <= truth && delta.low > 0, "%g: %g for %g", epsilon, delta.low,
                      truth);
            struct interval back = epsilon_of(list, 2 + count, truth);
            cr_expect(back.high >= epsilon * (1 - 1e-12) && back.high <= epsilon * 1.001 + 1e-4);
            cr_expect(back.low <= epsilon + 1e-12 && back.low >= 0.97 * epsilon - 0.02);
        }
    }
}

Test(pld, list_and_count_agree)
{
    static const enum mechanism kinds[] = {MECHANISM_PURE, MECHANISM_LAPLACE, MECHANISM_GAUSSIAN,
                                           MECHANISM_DISCRETE_LAPLACE};
    for (size_t k = 0; k < 4; k++) {
        struct privacy_event list[30];
        for (size_t i = 0; i < 30; i++) {
            list[i] = event(kinds[k], kinds[k] == MECHANISM_PURE ? 0.2 : 5, 1, 1, 1);
        }
        struct privacy_event many = event(kinds[k], list[0].parameter, 1, 30, 1);
        struct interval a = epsilon_of(list, 30, 1e-6);
        struct interval b = epsilon_of(&many, 1, 1e-6);
        cr_expect(fabs(a.high - b.high) < 1e-3 * a.high && a.high >= b.low && b.high >= a.low);
        struct interval one = epsilon_of(list, 1, 1e-6);
        cr_expect(one.high < b.low, "a count that is ignored is below the truth");
    }
}

Test(pld, own_deltas_are_taken_off)
{
    struct privacy_event e = event(MECHANISM_PURE, 0.5, 1, 10, 1);
    struct interval clean = epsilon_of(&e, 1, 1e-6);
    e.delta = 5e-8;
    struct interval some = epsilon_of(&e, 1, 1e-6);
    cr_expect(some.high > clean.high && some.high < 5);
    e.delta = 1e-6;
    struct interval none = epsilon_of(&e, 1, 1e-6);
    cr_expect(isinf(none.high));
    cr_expect(delta_of(&e, 1, 100).high >= 1e-5 * (1 - 1e-4));
    cr_expect(delta_of(&e, 1, 100).high <= 1e-5);
}

Test(pld, at_the_limits)
{
    struct privacy_event e = event(MECHANISM_PURE, 0.5, 1, 10, 1);
    cr_expect(fabs(epsilon_of(&e, 1, 0).high - 5) < 1e-12);
    cr_expect(epsilon_of(&e, 1, 0.999).high <= 1e-12);
    cr_expect(delta_of(&e, 1, 5.1).high <= 1e-15);
    e.count = 0;
    cr_expect(epsilon_of(&e, 1, 0).high <= 0 && delta_of(&e, 1, 0).high <= 0);
    e = event(MECHANISM_GAUSSIAN, 3, 1, 4, 1);
    cr_expect(isinf(epsilon_of(&e, 1, 0).high));
    e = event(MECHANISM_PURE, 1e-7, 1, UINT64_C(1) << 53, 1);
    double mu = 1e-7 * sqrt(0x1p53); /* nearly Gaussian */
    cr_expect(delta_of(&e, 1, mu * mu).high >= gaussian_delta(mu, mu * mu) * 0.999);
    e = event(MECHANISM_PURE, 900, 1, 3, 1);
    cr_expect(epsilon_of(&e, 1, 1e-6).high <= 2700.001);
    e = event(MECHANISM_LAPLACE, 1e-3, 1, 2, 1);
    struct interval loud = epsilon_of(&e, 1, 1e-6);
    cr_expect(loud.high <= 2000.001 && loud.high > 1999);
    e = event(MECHANISM_DISCRETE_LAPLACE, 0x1p40, 0x1p38, 5, 1);
    struct privacy_event real = event(MECHANISM_LAPLACE, 4, 1, 5, 1);
    cr_expect(fabs(epsilon_of(&e, 1, 1e-6).high - epsilon_of(&real, 1, 1e-6).high) < 1e-4);
    e = event(MECHANISM_DISCRETE_GAUSSIAN, 0x1p40, 0x1p38, 5, 1);
    real = event(MECHANISM_GAUSSIAN, 4, 1, 5, 1);
    cr_expect(fabs(epsilon_of(&e, 1, 1e-6).high - epsilon_of(&real, 1, 1e-6).high) < 1e-3);
    cr_expect(epsilon_of(&e, 1, 1e-6).high >= epsilon_of(&real, 1, 1e-6).low - 1e-9);
}

Test(pld, replaced_records_cost_no_less_than_added_ones)
{
    static const enum mechanism kinds[] = {MECHANISM_LAPLACE, MECHANISM_GAUSSIAN};
    for (size_t k = 0; k < 2; k++) {
        for (uint64_t count = 1; count <= 100; count *= 10) {
            struct privacy_event e = event(kinds[k], 2, 1, count, 0.1);
            struct interval added = epsilon_of(&e, 1, 1e-5);
            e.neighbours = NEIGHBOURS_REPLACE_ONE;
            struct interval replaced = epsilon_of(&e, 1, 1e-5);
            e.sampling = 1;
            struct interval whole = epsilon_of(&e, 1, 1e-5);
            cr_expect(replaced.high >= added.low && replaced.high < whole.high);
            cr_expect(replaced.low <= 0, "an upper bound only");
        }
    }
}

Test(pld, extreme_events_are_bounded_too)
{
    static const double sizes[] = {1e-308, 1e-300, 1e-120, 1e-20, 1e5, 1e120, 1e300, 1e308};
    for (unsigned kind = 0; kind < MECHANISM_COUNT; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
                bool noisy = kind != MECHANISM_PURE && kind != MECHANISM_EXPONENTIAL;
                double sensitivity = noisy ? ceil(sizes[j]) : 1;
                struct privacy_event e = event((enum mechanism)kind, sizes[i], sensitivity, 3, 1);
                struct interval got = {NAN, NAN};
                bool fine = (i + j) % 4 == 0;
                cr_assert((fine ? pld_epsilon(&got, &e, 1, 1e-6)
                                : pld_epsilon_within(&got, &e, 1, 1e-6,
                                                     pld_precision_quick(&e, 1))) == STATUS_OK);
                cr_expect(got.high >= 0 && got.low >= 0 && got.low <= got.high, "%u %g %g", kind,
                          sizes[i], sensitivity);
                cr_assert(pld_delta_within(&got, &e, 1, 1, pld_precision_quick(&e, 1)) ==
                          STATUS_OK);
                cr_expect(got.high >= 0 && got.high <= 1 && got.low >= 0);
                double ratio = noisy ? sensitivity / sizes[i] : sizes[i];
                cr_expect(ratio < 1e4 || got.high > 0.99, "%u %g %g", kind, sizes[i], sensitivity);
            }
        }
    }
}

/* Losses of millions on a grid of hundreds: the lowest a run can lose is nearly all it ever loses, and
 * the most that all can lose is little more. A share that rounds to 1 said that such a grid adds
 * nothing, and low was above what the events can cost at all. */
Test(pld, low_stays_below_what_all_events_can_lose_on_the_widest_grids)
{
    for (unsigned i = 0; i < 8; i++) {
        double sigma = 0.0655 + 1e-4 * i;
        struct privacy_event list[] = {event(MECHANISM_DISCRETE_GAUSSIAN, sigma, 256, 55288, 1),
                                       event(MECHANISM_LAPLACE, 0.64, 1, 1126, 1)};
        double most = 55288 * 32768 / (sigma * sigma) + 1126 / 0.64; /* but for 10^-45 */
        struct interval got = epsilon_of(list, 2, 0.18);
        cr_expect(got.low <= most * (1 + 1e-12), "%g: %.12g above %.12g", sigma, got.low, most);
        cr_expect(got.high >= most - 2 * 1126 / 0.64 && got.high < most * 1.0001);
    }
}

/* Planted: tiny losses above the last grid point were left out, with half of all mass, and so were
 * those near ln(1 - q). */
Test(pld, no_mass_is_lost_on_any_grid)
{
    static const double ratios[] = {1e-12, 1e-6, 1e-2, 1, 30, 72, 300};
    static const double rates[] = {1e-9, 1e-4, 0.01, 0.1, 0.5, 1 - 1e-12, 1};
    static const double steps[] = {0.01, 1, 16};
    for (size_t i = 0; i < 7 * 7 * 3 * 3 * 2; i++) {
        enum pld_run_kind kind = i % 2 == 0 ? PLD_RUN_LAPLACE : PLD_RUN_GAUSSIAN;
        enum pld_run_side side = (enum pld_run_side)(i / 2 % 3);
        struct pld_part part = {kind, side, ratios[i / 42 % 7], 1, rates[i / 6 % 7], 0, 1};
        double step = steps[i / 294];
        double least = 0;
        double largest = 0;
        struct pld_run law;
        pld_run_range(&least, &largest, &part);
        if (largest - least > 1e6 * step) {
            continue;
        }
        struct pld_grid grid = {step * floor(least / step), step};
        cr_assert(pld_run_init(&law, &part, grid) == STATUS_OK);
        double p = 0;
        for (size_t j = 0; j < law.count; j++) {
            p += exp(law.log_mass[j]);
        }
        cr_expect(fabs(p - 1) < 1e-9 && law.infinite < 1e-30,
                  "kind %d side %d size %g q %g step %g: %.12g and %g", kind, side, part.size,
                  part.sampling, step, p, law.infinite);
        pld_run_free(&law);
    }
}

Test(pld, a_faint_event_in_a_loud_list_takes_nothing_away)
{
    struct privacy_event list[] = {event(MECHANISM_PURE, 50, 1, 10, 1),
                                   event(MECHANISM_GAUSSIAN, 1e6, 1, 100, 1e-9)};
    struct interval loud = epsilon_of(list, 1, 1e-6);
    struct interval both = epsilon_of(list, 2, 1e-6);
    cr_expect(both.high >= loud.low, "%.12g below %.12g", both.high, loud.low);
}

/* Turned round it is itself: what bounds one order of the neighbours bounds the other. */
Test(pld, pair_for_replaced_records_is_symmetric)
{
    struct pld_part part = {PLD_RUN_LAPLACE, PLD_RUN_BOTH, 1, 1, 0.2, 0, 1};
    double least = 0;
    double largest = 0;
    pld_run_range(&least, &largest, &part);
    double step = largest / 64;
    struct pld_run law;
    cr_assert(pld_run_init(&law, &part, (struct pld_grid){-64 * step, step}) == STATUS_OK);
    double p = 0;
    double q = 0;
    for (size_t i = 0; i < law.count; i++) {
        p += exp(law.log_mass[i]);
        q += exp(law.log_mass[i] - (law.grid.offset + (double)i * step));
        double there = law.log_mass[i] - (law.grid.offset + (double)i * step);
        double here = law.log_mass[law.count - 1 - i];
        cr_expect(fabs(exp(here) - exp(there)) < 1e-12);
    }
    cr_expect(fabs(p - 1) < 1e-12 && fabs(q - 1) < 1e-12);
    pld_run_free(&law);
}

/* The search for epsilon goes from the top in leaps; delta at an epsilon is added up cell by cell. What
 * one finds the other confirms, and would not a hair further. */
Test(pld, epsilon_found_in_leaps_is_where_delta_crosses)
{
    static const double log_delta[] = {-3, -14, -30};
    const struct pld_part parts[] = {{PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 0.5, 1, 1, 0, 50},
                                     {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 0.3, 1, 0.1, 0, 200}};
    for (size_t i = 0; i < 6; i++) {
        struct composition_question question = {true, log_delta[i / 2]};
        struct pld_mix mix;
        struct pld_sum sum;
        cr_assert(pld_mix_init(&mix, &parts[i % 2], 1, question,
                               (struct pld_precision){1e-8, 16, PLD_HIGH}) == STATUS_OK);
        cr_assert(pld_sum_init(&sum, &mix, 16) == STATUS_OK);
        cr_assert_geq(sum.count, 4096);
        double high = pld_sum_epsilon(&sum, question.at, true) + sum.slip;
        double low = pld_sum_epsilon(&sum, question.at, false) - sum.slip;
        double hair = 1e-6 * high;
        cr_expect(low <= high && high - low <= hair, "%g %g", low, high);
        cr_expect(pld_sum_log_delta(&sum, high, true) <= question.at + 1e-9);
        cr_expect(pld_sum_log_delta(&sum, high - hair, true) > question.at);
        cr_expect(pld_sum_log_delta(&sum, low, false) >= question.at - 1e-9);
        cr_expect(pld_sum_log_delta(&sum, low + hair, false) < question.at);
        pld_sum_free(&sum);
        pld_mix_free(&mix);
    }
}

/* All mass on one place: every frequency has the size 1, and is off by the transform's bound there and
 * once more on the way back. The bound on each mass has to hold both, of conjugates as well. */
Test(pld, bound_on_rounding_counts_every_frequency)
{
    const struct pld_part part = {PLD_RUN_RESPONSE, PLD_RUN_REMOVE, 1, 1, 1, 0, 1};
    struct pld_mix mix;
    struct pld_sum sum;
    cr_assert(pld_mix_init(&mix, &part, 1, (struct composition_question){true, -3},
                           (struct pld_precision){1e-6, 12, PLD_HIGH}) == STATUS_OK);
    mix.tilt = 40;
    cr_assert(pld_sum_init(&sum, &mix, 12) == STATUS_OK);
    unsigned bits = 0;
    while ((size_t)1 << bits < sum.count) {
        bits++;
    }
    cr_expect(sum.cell_error >= 1.999 * fft_real_error(bits - 1), "%g of %g", sum.cell_error,
              fft_real_error(bits - 1));
    pld_sum_free(&sum);
    pld_mix_free(&mix);
}
