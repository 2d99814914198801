/* Events that may fail altogether: what their deltas leave and take, in long double, and that every
 * accountant counts them, all runs of them, once. */

#include "account/delta.h"
#include "account/pure.h"
#include "account/renyi.h"
#include "lab/composition/account.h"

#include <criterion/criterion.h>
#include <math.h>

static struct privacy_event failing(enum mechanism mechanism, double parameter, uint64_t count,
                                    double delta)
{
    return (struct privacy_event){.mechanism = mechanism,
                                  .parameter = parameter,
                                  .sensitivity = 1,
                                  .count = count,
                                  .sampling = 1,
                                  .delta = delta};
}

/* 1 - (1 - delta)/product of (1 - own delta)^count */
static long double left_of(const struct privacy_event *events, size_t count, long double delta)
{
    long double kept = log1pl(-delta);
    for (size_t i = 0; i < count; i++) {
        kept -= (long double)events[i].count * log1pl(-(long double)events[i].delta);
    }
    return -expm1l(kept);
}

Test(own_deltas, what_is_left_and_spent_is_rounded_against_the_spender)
{
    static const double own[] = {1e-18, 1e-12, 3e-9, 1e-7, 0.01};
    static const double deltas[] = {1e-9, 1e-6, 1e-3, 0.3, 0.999};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            for (uint64_t runs = 1; runs < 100000; runs = runs * 7 + 1) {
                struct privacy_event events[] = {failing(MECHANISM_PURE, 1, runs, own[i]),
                                                 failing(MECHANISM_PURE, 1, 3, own[i] / 3)};
                long double left = left_of(events, 2, deltas[j]);
                double spare = delta_left(events, 2, deltas[j]);
                double above = delta_left_above(events, 2, deltas[j]);
                cr_expect(left > 0 ? spare <= left && above >= left : spare <= 0,
                          "%g %g %lu: %.20Lg in [%.17g, %.17g]", own[i], deltas[j],
                          (unsigned long)runs, left, spare, above);
                cr_expect(left < 1e-9L * deltas[j] || spare >= left * (1 - 1e-5L));
                long double spent = -left_of(events, 2, 0); /* of own / (1 - own) */
                spent = (spent + deltas[j]) / (1 + spent);
                cr_expect(delta_spent(events, 2, deltas[j]) >= spent * (1 - 1e-18L) &&
                              delta_spent(events, 2, deltas[j]) <= spent * (1 + 1e-12L),
                          "%.20Lg", spent);
                cr_expect(delta_spent_below(events, 2, deltas[j]) <= spent);
            }
        }
    }
}

/* Below what the runs fail with, nobody has a bound; far beyond every loss, everybody's delta is just
 * that; in between it is taken off before the events are asked. */
Test(own_deltas, every_accountant_counts_them_all_and_once)
{
    static const enum mechanism mechanism[] = {MECHANISM_PURE, MECHANISM_LAPLACE,
                                               MECHANISM_GAUSSIAN, MECHANISM_EXPONENTIAL,
                                               MECHANISM_DISCRETE_LAPLACE};
    for (size_t i = 0; i < 5; i++) {
        struct privacy_event event = failing(mechanism[i], 2, 50, 1e-8);
        struct privacy_event clean = failing(mechanism[i], 2, 50, 0);
        long double own = -expm1l(50 * log1pl(-1e-8L));
        struct account far;
        struct account none;
        struct account some;
        struct account spared;
        cr_assert_eq(account_ask(&far, &event, 1, (struct composition_question){.at = 2000}, NULL),
                     STATUS_OK);
        cr_assert_eq(
            account_ask(&none, &event, 1,
                        (struct composition_question){.wants_epsilon = true, .at = 0.999e-8 * 50},
                        NULL),
            STATUS_OK);
        cr_assert_eq(account_ask(&some, &event, 1,
                                 (struct composition_question){.wants_epsilon = true, .at = 1e-6},
                                 NULL),
                     STATUS_OK);
        double spare = (double)left_of(&event, 1, 1e-6L);
        cr_assert_eq(account_ask(&spared, &clean, 1,
                                 (struct composition_question){.wants_epsilon = true, .at = spare},
                                 NULL),
                     STATUS_OK);
        for (size_t j = 0; j < ACCOUNTANT_COUNT; j++) {
            const char *name = accountant_name((enum accountant)j);
            cr_expect(isnan(far.bound[j]) ||
                          (far.bound[j] >= own * (1 - 1e-16L) && far.bound[j] <= own * (1 + 1e-9L)),
                      "%zu, %s: %.17g", i, name, far.bound[j]);
            cr_expect(isnan(none.bound[j]) || isinf(none.bound[j]), "%zu, %s: %.17g", i, name,
                      none.bound[j]);
            cr_expect(isnan(some.bound[j]) ||
                          fabs(some.bound[j] - spared.bound[j]) <= 1e-6 * spared.bound[j],
                      "%zu, %s: %.17g, not %.17g", i, name, some.bound[j], spared.bound[j]);
            cr_expect(isnan(some.bound[j]) || some.bound[j] >= spared.bound[j] * (1 - 1e-9));
        }
        cr_expect(far.low <= own && isinf(none.high));
    }
}
